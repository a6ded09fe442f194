"""The discrepancies of a report, and since when each has been one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from sitegen.analysis.noise.repeats import Repeats
from sitegen.html.values import DisplayValue, shown_pair
from sitegen.model.cells import CellFlip
from sitegen.model.noise import Noise
from sitegen.model.outcomes import ERROR_TYPES, ErrorType, Judgement
from sitegen.model.scorecards import Result
from sitegen.model.series import EvalInfo
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.pages.report.sections import TOP_LEVEL

_CORRECT: Final = ("correct", "true_negative")


class EarlierPoints(NamedTuple):
    """What came before a report."""

    snapshots: Sequence[Snapshot]
    """Of the series: all up to its own, and whatever follows."""
    last: int
    """Index of its own."""
    wrong_since: Callable[[Judgement], int | None]
    """The first point of the streak of errors that a discrepancy belongs to."""
    flipped: Sequence[CellFlip] = ()
    """The cells that are wrong at its point or at the one before it."""
    noise: Noise | None = None
    """What outputs that were made again had told by then."""
    runs: Repeats | None = None
    """Its repeated runs, if it has any."""
    moved: Mapping[tuple[str, str], str] = MappingProxyType({})
    """(path, commit) of an edit of instructions whose file was moved since -> the file's last path."""


class Since(NamedTuple):
    """The point from which on something has been wrong without a break."""

    label: str
    file: str
    short: str
    points: int
    """How many points it has been wrong, this one included."""
    new: bool
    """It was not wrong in the point before this one."""


class Discrepancy(NamedTuple):
    """An error as the table shows it."""

    number: int
    type: ErrorType
    section: str
    path: str
    document: str
    expected: DisplayValue
    actual: DisplayValue
    note: str
    since: Since
    field: str
    """The page of its attribute, as seen from the report."""
    question: str
    """What the model was asked; empty if it is not known."""

    @property
    def new(self) -> bool:
        """Not wrong in the previous point."""
        return self.since.new


@lru_cache(maxsize=4096)
def field_file(eval_id: str, attribute: str) -> str:
    """The page of an attribute, as seen from a report."""
    return links.field(eval_id, attribute).split("/", 2)[2]


def wrong_in(result: Result) -> list[Judgement]:
    """Its discrepancies, in the order of its judgements."""
    return [judgement for judgement in result.judgements if judgement.outcome not in _CORRECT]


def since(info: EvalInfo, wrong: Iterable[Judgement], past: EarlierPoints) -> list[Since]:
    """Since when each discrepancy has been one."""
    last = past.last
    known: dict[int, Since] = {}
    out = []
    for one in wrong:
        index = past.wrong_since(one)
        start = last if index is None else index
        if start not in known:
            at = past.snapshots[start]
            file = links.report(info.id, at.slug).rpartition("/")[2]
            known[start] = Since(
                label=at.label, file=file, short=at.commit.short, points=last - start + 1, new=start == last > 0
            )
        out.append(known[start])
    return out


def discrepancies(
    info: EvalInfo,
    wrong: Iterable[Judgement],
    since: Iterable[Since],
    limit: int,
    sections: set[str],
    group: Callable[[str], str],
    questions: Mapping[str, str],
) -> tuple[Discrepancy, ...]:
    """The first ``limit`` of each type, numbered among all."""
    out: list[Discrepancy] = []
    left = dict.fromkeys(ERROR_TYPES, limit)
    for number, (one, start) in enumerate(zip(wrong, since, strict=True), 1):
        kind: ErrorType = one.outcome  # type: ignore[assignment]
        if not left[kind]:
            continue
        left[kind] -= 1
        expected, actual = shown_pair(one)
        name = group(one.attribute)
        out.append(
            Discrepancy(
                number=number,
                type=kind,
                section=name if name in sections else TOP_LEVEL,
                path=one.label,
                document=one.document,
                expected=expected,
                actual=actual,
                note="" if kind == "hallucination" else one.note,
                since=start,
                field=field_file(info.id, one.attribute),
                question=questions.get(one.path, ""),
            )
        )
    return tuple(out)


def left_out(wrong: Iterable[Judgement], limit: int) -> tuple[tuple[ErrorType, int], ...]:
    """How many discrepancies of each type are not shown."""
    totals = dict.fromkeys(ERROR_TYPES, 0)
    for one in wrong:
        totals[one.outcome] += 1  # type: ignore[index]
    return tuple((kind, total - limit) for kind, total in totals.items() if total > limit)
