"""Two iterations of an eval side by side: is the later one better, in which fields, and in which values.

The newest iteration is compared here with the previous one and with the best one. The browser compares any other pair
from the data that ``compare_data`` prepares, or states that it cannot; ``assets/js/compare.js`` writes the same rows as
``pages/compare.html``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from markupsafe import Markup
from msgspec.structs import replace

from sitegen.analysis.change import best_before_newest
from sitegen.analysis.flips import cases_of, flipped_cells, net_by_item
from sitegen.analysis.series import variant_spread
from sitegen.model.changes import Change
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import ABSENT, CellFlip, Fate, Period
from sitegen.model.series import Point, Series, VariantSpread
from sitegen.model.site import Page
from sitegen.model.timeline import Edit
from sitegen.pages import links
from sitegen.pages.compare_data import FATES, CompareData, EditingCommit, answer, diff_command
from sitegen.pages.edit import RenderedPatch
from sitegen.pages.effects import FlippedFields, fields_and_passages
from sitegen.pages.html.cells import text, where
from sitegen.pages.html.charts import around_zero, tenths
from sitegen.stats.counts import error_numbers
from sitegen.stats.significance import ALPHA, least_discordant, reach_of_chance
from sitegen.text.values import MINUS, written

ROWS: Final = 50
"""Number of values listed for each fate, except values that are still wrong, which the reports of both sides list."""

FIELDS: Final = 25
"""Number of fields listed: the ones that changed most; the same as in ``assets/js/compare.js``."""

EDITS: Final = 8
"""Number of commits with edits that are listed; further ones are counted."""


class CompareView(Frozen):
    """What ``pages/compare.html`` shows."""

    series: Series
    data: CompareData
    earlier: tuple[int, ...]
    """The points that are compared with the newest one: the previous one and, if that is another, the best one."""
    prompts: Mapping[int, dict[str, RenderedPatch]] = {}
    """How instructions differ between these points and the newest, by file, as far as the page has room."""

    def change(self, earlier: int) -> Change:
        """What became of the eval from an earlier point to the newest."""
        return self.data.changes[earlier, len(self.series.points) - 1]

    def verdict(self, earlier: int) -> Markup:
        """The word for the change since an earlier point, its reason and its interval."""
        return answer(self.series, (earlier, len(self.series.points) - 1), self.change(earlier).verdict)

    def flips_since(self, earlier: int) -> list[CellFlip]:
        """The cells that are wrong at an earlier point or at the newest."""
        return list(flipped_cells(self.series.cells, earlier, len(self.series.points) - 1))

    def compared_fields(self, flips: Iterable[CellFlip]) -> list[ComparedField]:
        """The fields with a flipped cell or a different number of errors, the most changed first."""
        cases = cases_of(point.scorecard for point in self.series.points)
        by_field: dict[str, list[CellFlip]] = {}
        for flip in flips:
            by_field.setdefault(flip.cell.attribute, []).append(flip)
        least = least_discordant(ALPHA, max(map(len, by_field.values()), default=0))
        rows = []
        for attribute, of_field in by_field.items():
            nets = net_by_item(of_field, cases)
            better, worse = sum(net > 0 for net in nets), sum(net < 0 for net in nets)
            rows.append(
                ComparedField(
                    attribute=attribute,
                    before=sum(flip.before is not None and flip.before.is_wrong for flip in of_field),
                    after=sum(flip.after is not None and flip.after.is_wrong for flip in of_field),
                    fates={fate: sum(flip.fate == fate for flip in of_field) for fate in FATES},
                    better=better,
                    worse=worse,
                    reach=reach_of_chance(better + worse, least),
                )
            )
        flipped = {row.attribute: row.fates["fixed"] + row.fates["broken"] for row in rows}
        changed = [row for row in rows if flipped[row.attribute] or row.before != row.after]
        return sorted(changed, key=lambda row: (-abs(row.net), -flipped[row.attribute], -abs(row.after - row.before)))

    @property
    def passages(self) -> FlippedFields:
        """The addresses of the passages of all diffs."""
        diffs = ((index, path, patch) for index, files in self.prompts.items() for path, patch in files.items())
        return fields_and_passages((), {f"{index} {path}": patch.hunks for index, path, patch in diffs})

    def edits_between(self, earlier: int) -> list[EditingCommit]:
        """The commits since an earlier point that edited instructions, newest first."""
        return [commit for commit in self.data.edits if earlier < commit.point][::-1]

    def diff_of(self, earlier: int, edits: Iterable[EditingCommit]) -> str:
        """The command that shows all edits since an earlier point as one diff."""
        points = self.series.points
        return diff_command(points[earlier].snapshot.commit, points[-1].snapshot.commit, edits)


class ComparedField(Frozen):
    """A field of which any cell changed."""

    attribute: str
    before: int
    """Errors at the earlier point."""
    after: int
    fates: dict[Fate, int]
    """Numbers of its cells."""
    better: int
    """List items, cases, or else cells of which more was fixed than broke, each counted once."""
    worse: int
    reach: int
    """The largest imbalance of these that chance explains."""

    @property
    def flipped(self) -> int:
        """Number of items that became better or worse."""
        return self.better + self.worse

    @property
    def net(self) -> int:
        """Number of those that became better minus number of those that became worse."""
        return self.better - self.worse

    @property
    def more_than_chance(self) -> bool:
        """Whether more became better than worse, or the reverse, than chance explains."""
        return abs(self.net) > self.reach

    @property
    def ends(self) -> tuple[int, int]:
        """The range of the net number that chance explains."""
        return max(-self.flipped, self.net - self.reach), min(self.flipped, self.net + self.reach)

    def net_bar(self, scale: int) -> Markup:
        """The number of fixed minus broken cells, with the range that chance explains."""
        tone = "n" if not self.more_than_chance else "u" if self.net > 0 else "d"
        return Markup(around_zero(self.ends, self.net, scale, tone))


def compare_page(
    series: Series, data: CompareData, draw: Callable[[Sequence[Edit]], dict[str, RenderedPatch]] | None = None
) -> Page:
    """The page of an eval with two points or more. ``draw`` draws edits as diffs; without it, none are shown."""
    previous = len(series.points) - 2
    best = best_before_newest(series)
    earlier = (previous,) if best in (None, previous) else (previous, best)
    prompts = {index: draw(edits_since(series, index)) for index in earlier} if draw else {}
    view = CompareView(series=series, data=data, earlier=earlier, prompts=prompts)
    return Page(links.compare(series.info.id), "pages/compare.html", view)


def edits_since(series: Series, index: int) -> list[Edit]:
    """The edits from a point to the newest, with those of one file as one: from its first text to its last."""
    first: dict[str, Edit] = {}
    last: dict[str, Edit] = {}
    for point in series.points[index + 1 :]:
        for edit in point.edits:
            first.setdefault(edit.path, edit)
            last[edit.path] = edit
    return [
        edit if edit is first[path] else replace(edit, status="combined", old=first[path].old)
        for path, edit in last.items()
        if edit is first[path] or (first[path].old and edit.new)
    ]


def spread(series: Series, point: Point) -> VariantSpread | None:
    """The variants that the headline of a point averages."""
    return variant_spread(series.specs[0], point.scorecard)


def errors(point: Point) -> tuple[int, ...]:
    """The number of errors of a point of each of ``ERROR_TYPES``."""
    return error_numbers(point.scorecard.counts)


def by_fate(flips: list[CellFlip]) -> dict[Fate, list[CellFlip]]:
    """The cells of each fate, in the order of ``FATES``."""
    return {fate: [flip for flip in flips if flip.fate == fate] for fate in FATES}


def bars(before: float, after: float) -> Markup:
    """Two bars, one below the other; each a share of the whole width."""
    return Markup(
        '<svg class="ab" viewBox="0 0 100 2" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="a" d="M0 .5H{tenths(100 * before)}"/><path class="b" d="M0 1.5H{tenths(100 * after)}"/></svg>'
    )


def signed_count(number: int) -> str:
    """A number with its sign."""
    return f"{'+' if number > 0 else MINUS if number else ''}{abs(number):,}"


def place(flip: CellFlip) -> Markup:
    """The place of a cell."""
    cell = flip.cell
    return Markup(where(cell.label, cell.document, extra=cell.extra, file=links.field_in_eval(cell.attribute)))


def sides(flip: CellFlip) -> tuple[Period, Period]:
    """What a cell was at both points."""
    return flip.before or ABSENT, flip.after or ABSENT


def value(content: str, missing: str) -> Markup:
    """A value of a cell, which has it as bounded JSON. ``missing``: the word for none."""
    shown = written(content)
    return Markup(f"<i>{missing}</i>" if shown is None else text(shown) or "<i>blank</i>")


def was(flip: CellFlip) -> str | None:
    """The value that was expected before, if it is another one."""
    before, after = sides(flip)
    changed = "absent" not in (before.state, after.state) and before.expected != after.expected
    return written(before.expected) or "blank" if changed else None
