"""Two iterations of an eval side by side: is the later one better, in which fields, and in which values.

The newest iteration is compared here with the previous one and with the best one. The browser compares any other pair
from the data that ``compare_data`` prepares, or states that it cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sitegen.analysis.best import best_before_newest
from sitegen.analysis.flips import flipped_cells, independent_flips
from sitegen.analysis.series import variant_spread
from sitegen.frozen import Frozen
from sitegen.model.cells import CellFlip, Fate
from sitegen.model.deltas import Change
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Interval
from sitegen.model.series import EvalInfo, Series, VariantSpread
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages import labels, links
from sitegen.pages.compare.compare_data import FATES, CompareData, EditingCommit, compare_data
from sitegen.pages.report.discrepancies import field_file
from sitegen.stats.counts import error_numbers
from sitegen.stats.significance import ALPHA, LEVELS, least_discordant, reach_of_chance, sign_test

ROWS: Final = 50
"""Number of values listed for each fate, except values that are still wrong, which the reports of both sides list."""

FIELDS: Final = 25
"""Number of fields listed: the ones that changed most; the same as in ``assets/js/compare.js``."""


class Move(Frozen):
    """One metric before and after."""

    spec: MetricSpec
    before: float | None
    after: float | None
    change: float | None
    """None if either value is undefined, or if they cannot be compared."""


class ComparedField(Frozen):
    """A field of which any cell changed."""

    attribute: str
    file: str
    """Address of its page, relative to this one."""
    before: int
    """Errors at the earlier point."""
    after: int
    fixed: int
    broken: int
    reach: int
    """The largest imbalance of flipped cells that chance explains."""

    @property
    def net(self) -> int:
        """Number of fixed minus number of broken cells."""
        return self.fixed - self.broken


class PointSide(Frozen):
    """One of the two points."""

    snapshot: Snapshot
    copied: str | None
    """The label of the iteration whose output this one is a copy of."""
    interval: Interval | None
    """The interval around the headline."""
    errors: tuple[int, ...]
    """The number of each of ``ERROR_TYPES``."""
    spread: VariantSpread | None
    """The variants that the headline averages."""


class PointPair(Frozen):
    """One point compared with a later one."""

    title: str
    before: PointSide
    after: PointSide
    change: Change
    fields: tuple[ComparedField, ...]
    """The fields that changed, those that changed most first; at most ``FIELDS``."""
    more_fields: int
    edits: tuple[EditingCommit, ...]
    """The commits in between that edited instructions, newest first."""
    metrics: tuple[Move, ...]
    """Their changes are over the documents that both points have."""
    cells: Mapping[Fate, tuple[CellFlip, ...]]
    """The cells of each fate, in the order of ``FATES``."""
    in_both: str
    """A sentence on documents that only one point has; empty without any."""
    exchanged: tuple[str, ...]
    """Sentences on a changed model or judge."""

    @property
    def counted(self) -> tuple[int, int]:
        """Numbers of fixed and of broken cells that may be independent, which the test uses."""
        return independent_flips(self.change.flips)

    @property
    def below(self) -> float | None:
        """The strictest of ``LEVELS`` above the p value of the sign test; None if there is none."""
        p_value = sign_test(*self.counted)
        return next((level for level in LEVELS if p_value < level), None)

    def listed(self, fate: Fate) -> tuple[CellFlip, ...]:
        """The cells of a fate that are listed: of those that are still wrong none."""
        return self.cells[fate][:ROWS] if fate != "still_wrong" else ()


class CompareView(Frozen):
    """What ``pages/compare.html`` shows."""

    info: EvalInfo
    pairs: tuple[PointPair, ...]
    data: dict[str, Any] | None
    """Data for the script; None if only these pairs can be shown."""
    points: int
    choosable: int
    """Number of points that can be compared with each other."""
    nav: str = "evals"


def compare_page(series: Series, data: CompareData | None = None) -> Page:
    """The page of an eval with two points or more."""
    data = compare_data(series) if data is None else data
    last = len(series.points) - 1
    best = best_before_newest(series.points, series.specs[0], series.info.kind)
    titles = {last - 1: "The newest iteration and the one before it"}
    if best is not None and best != last - 1:
        titles[best] = "The newest iteration and the best one before it"
    pairs = [
        _point_pair(series, earlier, title, data.changes[earlier, last], data.edits)
        for earlier, title in titles.items()
    ]
    view = CompareView(info=series.info, pairs=tuple(pairs), data=data.page, points=last + 1, choosable=data.choosable)
    return Page(links.compare(series.info.id), "pages/compare.html", view)


def _point_pair(series: Series, earlier: int, title: str, change: Change, edits: Sequence[EditingCommit]) -> PointPair:
    """Compare the point at index ``earlier`` with the newest point."""
    first, last = series.points[earlier], series.points[-1]
    newest = len(series.points) - 1
    moved = {delta.name: delta.change for delta in change.metrics}
    flipped = tuple(flipped_cells(series.cells, earlier, newest))
    fields = _compared_fields(series.info, flipped)
    return PointPair(
        title=title,
        before=_point_side(series, earlier),
        after=_point_side(series, newest),
        change=change,
        fields=tuple(fields[:FIELDS]),
        more_fields=max(0, len(fields) - FIELDS),
        edits=tuple(commit for commit in edits if earlier < commit.point)[::-1],
        metrics=tuple(
            Move(
                spec=spec,
                before=first.scorecard.metric(spec.name),
                after=last.scorecard.metric(spec.name),
                change=moved.get(spec.name),
            )
            for spec in series.specs
        ),
        cells={fate: tuple(flip for flip in flipped if flip.fate == fate) for fate in FATES},
        in_both=labels.in_both(change.overlap, series.info.nouns),
        exchanged=labels.exchanges(change.model, change.judge),
    )


def _point_side(series: Series, index: int) -> PointSide:
    point = series.points[index]
    return PointSide(
        snapshot=point.snapshot,
        copied=series.copied_label(index),
        interval=point.interval,
        errors=error_numbers(point.scorecard.counts),
        spread=variant_spread(series.info.kind, series.specs[0], point.scorecard),
    )


def _compared_fields(info: EvalInfo, flips: Iterable[CellFlip]) -> list[ComparedField]:
    """The fields with a flipped cell or a different number of errors, the most changed first."""
    by_field: dict[str, list[CellFlip]] = {}
    for flip in flips:
        by_field.setdefault(flip.cell.attribute, []).append(flip)
    least = least_discordant(ALPHA, max(map(len, by_field.values()), default=0))
    rows = [
        ComparedField(
            attribute=attribute,
            file=field_file(info.id, attribute),
            before=sum(flip.before is not None and flip.before.is_wrong for flip in cells),
            after=sum(flip.after is not None and flip.after.is_wrong for flip in cells),
            fixed=(fixed := sum(flip.fate == "fixed" for flip in cells)),
            broken=(broken := sum(flip.fate == "broken" for flip in cells)),
            reach=reach_of_chance(fixed + broken, least),
        )
        for attribute, cells in by_field.items()
    ]
    changed = [row for row in rows if row.fixed or row.broken or row.before != row.after]
    return sorted(changed, key=lambda row: (-abs(row.net), -row.fixed - row.broken, -abs(row.after - row.before)))
