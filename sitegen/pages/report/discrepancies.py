"""The discrepancies of a report, and the point since which each value has been wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from sitegen.analysis.noise.repeats import Repeats
from sitegen.frozen import Frozen
from sitegen.model.cells import CellFlip
from sitegen.model.noise import Noise
from sitegen.model.outcomes import ERROR_TYPES, MISSING_ITEM, ErrorType, Judgement
from sitegen.model.regressions import EditedFile
from sitegen.model.scorecards import Result
from sitegen.model.series import EvalInfo
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.pages.report.item_errors import ErrorGroup, error_groups
from sitegen.pages.report.sections import TOP_LEVEL

LOADABLE: Final = 10_000
"""Discrepancies beside those on the page that it can load: a table of more is too slow in a browser."""

_INDEX: Final = re.compile(r"\[(\d+)\]")
_CORRECT: Final = ("correct", "true_negative")


class EarlierPoints(Frozen):
    """What a report needs to know of the points before its own."""

    snapshots: Sequence[Snapshot]
    """Of the series, at least up to the report's own."""
    last: int
    """Index of the report's own snapshot."""
    wrong_since: Callable[[Judgement], int | None]
    """Index of the first point of the streak of errors that a discrepancy belongs to."""
    flipped: Sequence[CellFlip] = ()
    """The cells that are wrong at the report's point or at the one before it."""
    noise: Noise | None = None
    """How far repeated runs up to this point differed."""
    runs: Repeats | None = None
    """The repeated runs of this point, if it has any."""
    moved: Mapping[EditedFile, str] = MappingProxyType({})
    """An edit whose instruction file was moved later -> the file's last path."""


class Since(Frozen):
    """The first point of a streak of errors that lasts up to the report's own point."""

    label: str
    file: str
    points: int
    """Length of the streak in points, the report's own included."""
    new: bool
    """The streak begins here, although the series has an earlier point."""


class Discrepancies(Frozen):
    """The discrepancies of a report, with their numbers among all."""

    drawn: tuple[Discrepancy, ...]
    """The first of each type."""
    loadable: tuple[Discrepancy, ...]
    """Those that the page loads from a file beside it when they are searched for or asked for."""


class Discrepancy(NamedTuple):
    """One row of the table of discrepancies."""

    number: int
    error: Judgement
    section: str
    since: Since
    field: str
    """The page of its attribute, as seen from the report."""
    question: str
    """What the model was asked; empty if it is not known."""
    group: ErrorGroup
    """All errors of its list item."""

    @property
    def path(self) -> str:
        """With list items by their names, where they have any."""
        return self.error.label

    @property
    def indices(self) -> str:
        """The indices of these items, which the filter finds as well: ``13`` of ``windows[13].area``."""
        return ",".join(_INDEX.findall(self.error.path)) if self.error.named_path else ""

    @property
    def note(self) -> str:
        """What values, type and item do not say already."""
        note = self.error.note
        said_already = self.error.outcome == "hallucination" or (note == MISSING_ITEM and self.group.whole)
        return "" if said_already else note


@lru_cache(maxsize=4096)
def field_file(eval_id: str, attribute: str) -> str:
    """The page of an attribute, as seen from a report."""
    return links.field(eval_id, attribute).split("/", 2)[2]


def wrong_in(result: Result) -> list[Judgement]:
    """The judgements that are errors, in their order."""
    return [judgement for judgement in result.judgements if judgement.outcome not in _CORRECT]


def since(info: EvalInfo, wrong: Iterable[Judgement], past: EarlierPoints) -> list[Since]:
    """For each discrepancy the start of its streak."""
    last = past.last
    by_start: dict[int, Since] = {}
    starts = []
    for judgement in wrong:
        index = past.wrong_since(judgement)
        start = last if index is None else index
        if start not in by_start:
            at = past.snapshots[start]
            file = links.report(info.id, at.slug).rpartition("/")[2]
            by_start[start] = Since(label=at.label, file=file, points=last - start + 1, new=start == last > 0)
        starts.append(by_start[start])
    return starts


def discrepancies(
    info: EvalInfo,
    wrong: Sequence[Judgement],
    since: Sequence[Since],
    limit: int,
    sections: set[str],
    group: Callable[[str], str],
    questions: Mapping[str, str],
) -> Discrepancies:
    """The first ``limit`` discrepancies of each type, and up to ``LOADABLE`` others.

    Args:
        info: the eval.
        wrong: all discrepancies.
        since: the start of the streak of each.
        limit: how many of each type are drawn on the page.
        sections: names that the filter of the page offers; an attribute of any other is at the top level.
        group: the section of an attribute.
        questions: path of a judgement -> what the model was asked.

    """
    section_names = {}
    for attribute in {error.attribute for error in wrong}:
        name = group(attribute)
        section_names[attribute] = name if name in sections else TOP_LEVEL
    drawn: list[Discrepancy] = []
    loadable: list[Discrepancy] = []
    room = dict.fromkeys(ERROR_TYPES, limit)
    groups = error_groups(wrong, [start.new for start in since], section_names)
    for number, (judgement, start, of_item) in enumerate(zip(wrong, since, groups, strict=True), 1):
        kind: ErrorType = judgement.outcome  # type: ignore[assignment]
        rows = drawn if room[kind] else loadable
        if rows is drawn:
            room[kind] -= 1
        elif len(loadable) == LOADABLE:
            continue
        attribute = judgement.attribute
        rows.append(
            Discrepancy(
                number=number,
                error=judgement,
                section=section_names[attribute],
                since=start,
                field=field_file(info.id, attribute),
                question=questions.get(judgement.path, "") if questions else "",
                group=of_item,
            )
        )
    return Discrepancies(tuple(drawn), tuple(loadable))


def left_out(wrong: Iterable[Judgement], limit: int) -> dict[ErrorType, int]:
    """How many discrepancies of each type are not drawn on the page, if any."""
    totals = dict.fromkeys(ERROR_TYPES, 0)
    for judgement in wrong:
        totals[judgement.outcome] += 1  # type: ignore[index]
    return {kind: total - limit for kind, total in totals.items() if total > limit}
