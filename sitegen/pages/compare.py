"""Two iterations of an eval side by side: is the later one better, in which fields, and in which values.

The newest iteration is compared here with the previous one and with the best one. The browser compares any other pair
from the data that ``compare_data`` prepares, or states that it cannot. Only ``assets/js/compare.js`` writes tables:
without scripts the page gives verdicts, metrics, numbers of values and edits, and says where the values are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from markupsafe import Markup
from msgspec.structs import replace

from sitegen.analysis.change import best_before_newest
from sitegen.model.changes import Change
from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen
from sitegen.model.series import Series
from sitegen.model.site import Page
from sitegen.model.timeline import Edit
from sitegen.pages import links
from sitegen.pages.compare_data import CompareData, EditingCommit, answer, diff_command
from sitegen.pages.edit import RenderedPatch
from sitegen.pages.effects import FlippedFields, fields_and_passages

EDITS: Final = 8
"""Number of commits with edits that are listed; further ones are counted."""


class CompareView(Frozen):
    """What ``pages/compare.html`` shows."""

    series: Series
    data: CompareData
    earlier: tuple[int, ...]
    """The points that are compared with the newest one: the previous one and, if that is another, the best one."""
    answers: CompareData | None = None
    """The variants and models of the newest output; None if there is nothing to compare."""
    prompts: Mapping[int, dict[str, RenderedPatch]] = {}
    """How instructions differ between these points and the newest, by file, as far as the page has room."""

    def change(self, earlier: int) -> Change:
        """What became of the eval from an earlier point to the newest."""
        return self.data.changes[earlier, len(self.series.points) - 1]

    def verdict(self, earlier: int) -> tuple[Markup, bool]:
        """The answer for the change since an earlier point; whether it says what was fixed and broke."""
        return answer(self.series, (earlier, len(self.series.points) - 1), self.change(earlier).verdict)

    @property
    def passages(self) -> FlippedFields:
        """The addresses of the passages of all diffs."""
        diffs = ((index, path, patch) for index, files in self.prompts.items() for path, patch in files.items())
        return fields_and_passages((), {f"{index} {path}": patch.hunks for index, path, patch in diffs})

    def diff_of(self, earlier: int, edits: Iterable[EditingCommit]) -> str:
        """The command that shows all edits since an earlier point as one diff."""
        points = self.series.points
        return diff_command(points[earlier].snapshot.commit, points[-1].snapshot.commit, edits)


def compare_page(
    series: Series,
    data: CompareData,
    draw: Callable[[Sequence[Edit], Commit], dict[str, RenderedPatch]] | None = None,
    answers: CompareData | None = None,
) -> Page:
    """The page of an eval with two points or more, or with ``answers`` of several variants or models to compare.

    ``draw`` draws edits since a commit as diffs, if they are shown.
    """
    before = len(series.points) - 2, best_before_newest(series)
    earlier = tuple(dict.fromkeys(place for place in before if place is not None and place >= 0))
    prompts = {at: draw(edits_since(series, at), series.points[at].snapshot.commit) for at in earlier} if draw else {}
    view = CompareView(series=series, data=data, earlier=earlier, answers=answers, prompts=prompts)
    return Page(links.compare(series.info.id), "pages/compare.html", view)


def address(where: Mapping[str, str]) -> str:
    """The address of the answers with a value on each of some axes beside the best others."""
    return f"compare.html#{urlencode({'m': ','.join(map('='.join, where.items()))})}"


def edits_since(series: Series, index: int) -> list[Edit]:
    """The edits from a point to the newest, with those of one file as one: from its first text to its last."""
    spans: dict[str, tuple[Edit, Edit]] = {}  # the first edit of each file and the last, by its path then
    for edit in (edit for point in series.points[index + 1 :] for edit in point.edits):
        moved = spans.pop(edit.old.path, None) if edit.status == "renamed" and edit.old else None
        first, _ = moved or spans.get(edit.path, (edit, edit))
        spans[edit.path] = (first, edit)
    return [
        edit if edit is first else replace(edit, status="combined", old=first.old)
        for first, edit in spans.values()
        if edit is first or (first.old and edit.new)
    ]
