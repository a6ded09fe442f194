"""Two points of an eval side by side: metrics, errors by type, and which cells were fixed and broken.

The newest point is compared here with the one before it and with the best one. Of any other pair the browser looks up
in the data of ``compare_data`` what became of each cell, and whether so many flips are more than chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from sitegen.analysis.compare import compare_points
from sitegen.analysis.deltas import exchanges as between
from sitegen.analysis.noise.changes import independent_flips
from sitegen.html.values import written
from sitegen.model.cells import CellFlip, Fate, Run, State
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Interval
from sitegen.model.series import EvalInfo, Point, Series
from sitegen.model.site import Page
from sitegen.model.usage import regraded
from sitegen.pages import labels, links
from sitegen.pages.compare.compare_data import FATES, best_before, compare_data
from sitegen.stats.counts import errors_by_type
from sitegen.stats.significance import LEVELS, mcnemar

ROWS: Final = 50
"""Cells of each fate that are listed."""


class ComparedPoint(NamedTuple):
    """One of the two points."""

    slug: str
    label: str
    file: str
    sha: str
    short: str
    subject: str
    committed_at: str


class Valued(NamedTuple):
    """A metric on both sides."""

    spec: MetricSpec
    before: float | None
    after: float | None
    comparable: bool = True
    """False: grades of two judges."""

    @property
    def change(self) -> float | None:
        """After minus before; None unless both are defined, and can be held against each other."""
        return None if self.before is None or self.after is None or not self.comparable else self.after - self.before


class ComparedCell(NamedTuple):
    """A cell that is wrong on one side at least."""

    path: str
    document: str
    extra: bool
    file: str
    """The page of its field, as seen from this one."""
    expected: str | None
    expected_before: str | None
    """None if the same was expected; empty if nothing was."""
    before: tuple[State, str | None]
    after: tuple[State, str | None]


class ByField(NamedTuple):
    """How many cells of one attribute."""

    attribute: str
    file: str
    """Its page, as seen from this one."""
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
    """One point against a later one."""

    before: ComparedPoint
    after: ComparedPoint
    metrics: tuple[Valued, ...]
    errors: tuple[tuple[int, int], ...]
    """(before, after) of each of ``ERROR_TYPES``."""
    lists: tuple[FateCells, ...]
    """In the order of ``FATES``."""
    by_truth: int
    """Of the fixed and broken cells, those whose expected value changed."""
    counted: tuple[int, int]
    """(fixed, broken) of fields that may be independent: what the test is made over."""
    p_value: float | None
    """McNemar's test of these; None if the points hold no document in common."""
    common: int
    only_before: int
    only_after: int
    """Documents that both points hold, and that one of them does."""
    intervals: tuple[Interval | None, Interval | None] = (None, None)
    """Around the headline of either side."""
    exchanged: tuple[str, ...] = ()
    """Sentences on another model and another judge."""

    @property
    def below(self) -> float | None:
        """The strictest of ``LEVELS`` that p is below; None if it is below none of them."""
        return next((level for level in LEVELS if self.p_value is not None and self.p_value < level), None)

    def number(self, fate: Fate) -> int:
        """How many cells."""
        return next(one.total for one in self.lists if one.fate == fate)


class CompareView(NamedTuple):
    """What ``pages/compare.html`` shows."""

    info: EvalInfo
    pairs: tuple[tuple[str, PointPair], ...]
    """(in words what the newest point is compared with, the comparison)."""
    data: dict[str, Any] | None
    """For the script; None if only these pairs can be shown."""
    points: int
    choosable: int
    nav: str = "overview"


def compare_page(series: Series) -> Page:
    """The page of an eval with two points or more."""
    last = len(series.points) - 1
    best = best_before(series)
    pairs = [("The newest point and the one before it", _point_pair(series, last - 1, last))]
    if best is not None and best != last - 1:
        pairs.append(("The newest point and the best one before it", _point_pair(series, best, last)))
    data = compare_data(series)
    view = CompareView(
        info=series.info, pairs=tuple(pairs), data=data, points=last + 1, choosable=len(data["points"]) if data else 0
    )
    return Page(links.compare(series.info.id), "pages/compare.html", view)


def _point_pair(series: Series, before: int, after: int) -> PointPair:
    first, last = series.points[before], series.points[after]
    compared = compare_points(series.cells, before, after)
    model, judge = between(first.scorecard, last.scorecard)
    fixed, broken = independent_flips(compared.flips.fixed), independent_flips(compared.flips.broken)
    return PointPair(
        before=_compared_point(series.info, first),
        after=_compared_point(series.info, last),
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


def _compared_point(info: EvalInfo, point: Point) -> ComparedPoint:
    at = point.snapshot
    file = links.report(info.id, at.slug).rpartition("/")[2]
    return ComparedPoint(
        slug=at.slug,
        label=at.label,
        file=file,
        sha=at.commit.sha,
        short=at.commit.short,
        subject=at.commit.subject,
        committed_at=at.commit.committed_at,
    )


def _field_file(info: EvalInfo, attribute: str) -> str:
    return "fields/" + links.field(info.id, attribute).rpartition("/")[2]


def _by_field(info: EvalInfo, flips: Iterable[CellFlip]) -> tuple[ByField, ...]:
    counts = Counter(flip.cell.attribute for flip in flips)
    return tuple(ByField(attribute, _field_file(info, attribute), number) for attribute, number in counts.most_common())


def _compared_cells(info: EvalInfo, flips: Iterable[CellFlip]) -> tuple[ComparedCell, ...]:
    absent = Run(start=0, state="absent", expected="", actual="")
    found = []
    for flip in flips:
        before, after = flip.before or absent, flip.after or absent
        now = before if after.state == "absent" else after
        both = "absent" not in (before.state, after.state)
        found.append(
            ComparedCell(
                path=flip.cell.label,
                document=flip.cell.document,
                extra=flip.cell.extra,
                file=_field_file(info, flip.cell.attribute),
                expected=written(now.expected),
                expected_before=(written(before.expected) or "")
                if both and before.expected != after.expected
                else None,
                before=(before.state, written(before.actual)),
                after=(after.state, written(after.actual)),
            )
        )
    return tuple(found)
