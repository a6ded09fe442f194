"""Two points of an eval side by side: metrics, errors by type, and which cells were fixed and broken.

The newest point is compared here with the one before it and with the best one. The browser compares any other pair,
from the data that ``compare_data`` prepares, or says that it cannot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from sitegen.analysis.best import best_before_newest
from sitegen.analysis.compare import compare_points
from sitegen.analysis.deltas import exchanges as between
from sitegen.analysis.noise.changes import independent_flips
from sitegen.model.cells import CellFlip, Fate, Run, State
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Interval
from sitegen.model.series import EvalInfo, Series
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.model.usage import regraded
from sitegen.pages import labels, links
from sitegen.pages.compare.compare_data import FATES, CompareData, compare_data
from sitegen.stats.counts import errors_by_type
from sitegen.stats.significance import LEVELS, mcnemar
from sitegen.text.values import written

ROWS: Final = 50
"""Cells of each fate that are listed."""


class Valued(NamedTuple):
    """A metric at both points."""

    spec: MetricSpec
    before: float | None
    after: float | None
    comparable: bool = True
    """False for grades of two judges."""

    @property
    def change(self) -> float | None:
        """After minus before; None if either is undefined, or if they cannot be compared."""
        return None if self.before is None or self.after is None or not self.comparable else self.after - self.before


class CellSide(NamedTuple):
    """A cell at one of the two points."""

    state: State
    actual: str | None


class ComparedCell(NamedTuple):
    """A cell that is wrong at one of the points at least."""

    path: str
    document: str
    extra: bool
    file: str
    """Address of its field's page, relative to this one."""
    expected: str | None
    expected_before: str | None
    """None if it did not change; empty if nothing was expected."""
    before: CellSide
    after: CellSide


class ByField(NamedTuple):
    """The number of cells of one attribute."""

    attribute: str
    file: str
    """Address of its page, relative to this one."""
    number: int


class FateCells(NamedTuple):
    """The cells of one fate."""

    fate: Fate
    total: int
    cells: tuple[ComparedCell, ...]
    """At most ``ROWS``."""
    fields: tuple[ByField, ...]
    """Most cells first."""


class PointPair(NamedTuple):
    """One point compared with a later one."""

    title: str
    before: Snapshot
    after: Snapshot
    metrics: tuple[Valued, ...]
    errors: tuple[tuple[int, int], ...]
    """(before, after) of each of ``ERROR_TYPES``."""
    lists: tuple[FateCells, ...]
    """In the order of ``FATES``."""
    by_truth: int
    """Fixed and broken cells whose expected value changed."""
    counted: tuple[int, int]
    """(fixed, broken) cells of fields that may be independent, over which the test is made."""
    p_value: float | None
    """McNemar's test of these; None if the points have no document in common."""
    common: int
    """Documents that both points have."""
    only_before: int
    only_after: int
    intervals: tuple[Interval | None, Interval | None] = (None, None)
    """Around the headline at both points."""
    exchanged: tuple[str, ...] = ()
    """Sentences that say that the model or the judge changed."""

    @property
    def below(self) -> float | None:
        """The strictest of ``LEVELS`` that p is below; None if it is below none of them."""
        return next((level for level in LEVELS if self.p_value is not None and self.p_value < level), None)

    def number(self, fate: Fate) -> int:
        """The number of cells of a fate."""
        return next(cells.total for cells in self.lists if cells.fate == fate)


class CompareView(NamedTuple):
    """What ``pages/compare.html`` shows."""

    info: EvalInfo
    pairs: tuple[PointPair, ...]
    data: dict[str, Any] | None
    """For the script; None if only these pairs can be shown."""
    points: int
    choosable: int
    """Points that can be compared with any other of them."""
    nav: str = "evals"


def compare_page(series: Series, data: CompareData | None = None) -> Page:
    """The page of an eval with two points or more."""
    data = compare_data(series) if data is None else data
    last = len(series.points) - 1
    best = best_before_newest(series.points, series.specs[0])
    pairs = [_point_pair(series, last - 1, "The newest iteration and the one before it")]
    if best is not None and best != last - 1:
        pairs.append(_point_pair(series, best, "The newest iteration and the best one before it"))
    view = CompareView(info=series.info, pairs=tuple(pairs), data=data.page, points=last + 1, choosable=data.choosable)
    return Page(links.compare(series.info.id), "pages/compare.html", view)


def _point_pair(series: Series, earlier: int, title: str) -> PointPair:
    """The point at index ``earlier`` against the newest one."""
    first, last = series.points[earlier], series.points[-1]
    compared = compare_points(series.cells, earlier, len(series.points) - 1)
    model, judge = between(first.scorecard, last.scorecard)
    fixed, broken = independent_flips(compared.flips.fixed), independent_flips(compared.flips.broken)
    return PointPair(
        title=title,
        before=first.snapshot,
        after=last.snapshot,
        metrics=tuple(
            Valued(
                spec=spec,
                before=first.scorecard.metric(spec.name),
                after=last.scorecard.metric(spec.name),
                comparable=not regraded(judge, spec.name),
            )
            for spec in series.specs
        ),
        errors=tuple(zip(errors_by_type(first.scorecard.counts), errors_by_type(last.scorecard.counts), strict=True)),
        lists=tuple(
            FateCells(
                fate=fate,
                total=len(flipped),
                cells=_compared_cells(series.info, flipped[:ROWS]),
                fields=_by_field(series.info, flipped),
            )
            for fate in FATES
            for flipped in (compared.with_fate(fate),)
        ),
        by_truth=compared.flips.by_truth,
        counted=(fixed, broken),
        p_value=mcnemar(broken, fixed, compared.common).p_value,
        common=compared.common,
        only_before=compared.only_before,
        only_after=compared.only_after,
        intervals=(first.interval, last.interval),
        exchanged=labels.exchanges(model, judge),
    )


def _field_file(info: EvalInfo, attribute: str) -> str:
    return "fields/" + links.field(info.id, attribute).rpartition("/")[2]


def _by_field(info: EvalInfo, flips: Iterable[CellFlip]) -> tuple[ByField, ...]:
    counts = Counter(flip.cell.attribute for flip in flips)
    return tuple(ByField(attribute, _field_file(info, attribute), number) for attribute, number in counts.most_common())


def _compared_cells(info: EvalInfo, flips: Iterable[CellFlip]) -> tuple[ComparedCell, ...]:
    absent = Run(start=0, state="absent", expected="", actual="")
    rows = []
    for flip in flips:
        before, after = flip.before or absent, flip.after or absent
        now = before if after.state == "absent" else after
        both = "absent" not in (before.state, after.state)
        rows.append(
            ComparedCell(
                path=flip.cell.label,
                document=flip.cell.document,
                extra=flip.cell.extra,
                file=_field_file(info, flip.cell.attribute),
                expected=written(now.expected),
                expected_before=(written(before.expected) or "")
                if both and before.expected != after.expected
                else None,
                before=CellSide(before.state, written(before.actual)),
                after=CellSide(after.state, written(after.actual)),
            )
        )
    return tuple(rows)
