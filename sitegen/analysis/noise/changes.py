"""Tests whether a change of the headline is more than chance."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from sitegen.analysis.deltas import differing_roles, exchanges
from sitegen.analysis.flips import flip_p_value, independent_flips, moved_fields, number_of_cells
from sitegen.analysis.noise.samples import cases_of, is_counted, paired_sample_of, variants_of
from sitegen.frozen import Frozen
from sitegen.model.cells import Flips
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import Counts
from sitegen.model.noise import ChangeVerdict, Decision, Interval, Noise, Spread, Unit, UnitChange, Why
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point
from sitegen.model.usage import regraded
from sitegen.stats.counts import share_of
from sitegen.stats.intervals import LEVEL, ROUNDING, normal, ratio_change, share_change, student
from sitegen.stats.significance import ALPHA, least_change, least_net_flips

FEWEST: Final = 6
"""The fewest units that can show more than chance: six all change in one direction with probability 2 / 2^6."""

LIKELY: Final = 0.8
"""A change is called likely if its interval at this level excludes zero."""

_EVEN: Final = 0.5
"""A test with a larger p value is no evidence; the width of its interval is computed as at this value."""

_MANY: Final = 1_000_000
"""Degrees of freedom from which on Student's t equals the normal distribution."""


def change_verdict(
    before: Scorecard,
    after: Scorecard,
    kind: str,
    flips: Flips,
    *,
    noise: Noise | None = None,
    units: UnitChange | None = None,
    higher_is_better: bool = True,
) -> ChangeVerdict:
    """Judge the change between two points, over the units that both have.

    Three tests examine the change: its interval over units, McNemar's test over the flipped cells, and the differences
    between repeats. Each yields an interval. If all of them exclude zero at 95 %, the verdict is *better* or *worse*
    and reports the interval over units. If all exclude zero at 80 %, the verdict is *likely better* or *likely worse*,
    else *cannot tell*, and reports the widest interval. If the headline is not a ratio of counts, cells are no evidence
    for it: McNemar's test is skipped, and six units are required instead. A change between grades of two judges is not
    judged.

    Args:
        before: scorecard of the earlier point.
        after: scorecard of the later point.
        kind: kind of the eval.
        flips: flips of the cells between the two points.
        noise: noise of repeated outputs of the eval; None if there are none.
        units: the change of the headline over common units; None: it is computed.
        higher_is_better: direction of the headline.

    """
    if regraded(exchanges(before, after).judge, after.metrics[0].name):
        fixed, broken = number_of_cells(flips.fixed), number_of_cells(flips.broken)
        return ChangeVerdict(decision="cannot tell", why="another judge", fixed=fixed, broken=broken)
    movement = _movement(before, after, kind, flips, units)
    return replace(
        _judged(movement, noise, higher_is_better=higher_is_better),
        fixed=number_of_cells(flips.fixed),
        broken=number_of_cells(flips.broken),
        p_value=movement.p_value,
        detectable=_detectable(after, movement, noise),
        fields=moved_fields(flips),
    )


def mean_verdict(spread: Spread | None, *, scale: float, higher_is_better: bool) -> ChangeVerdict:
    """Judge the change of a mean over cases by its interval alone, because cells are no evidence for it."""
    change = spread.value if spread else None
    movement = _Movement(unit="cases", spread=spread, change=change, fixed=0, broken=0, p_value=None)
    return replace(
        _judged(movement, None, higher_is_better=higher_is_better, scale=scale),
        detectable=least_change(spread.error, spread.freedom) if spread and spread.error > ROUNDING else None,
    )


def output_verdict(
    before: Point,
    after: Point,
    kind: str,
    *,
    noise: Noise | None = None,
    higher_is_better: bool = True,
) -> ChangeVerdict | None:
    """Return ``change_verdict`` for two points; None for the same output.

    *after* has its flips since *before*, and its unit changes since then or none. The effect of ground truth and rules
    on the same output is certain, so there is no chance to judge. Changes of recorded numbers cannot be judged either.
    """
    if traits_of(kind).is_recorded or "outputs" not in differing_roles(before.snapshot, after.snapshot):
        return None
    headline = after.scorecard.metrics[0].name
    return change_verdict(
        before.scorecard,
        after.scorecard,
        kind,
        after.flips or Flips(),
        noise=noise,
        units=next((change for change in after.unit_changes if change.metric == headline), None),
        higher_is_better=higher_is_better,
    )


class _Movement(Frozen):
    """The change between two points, as input of the tests."""

    unit: Unit
    spread: Spread | None
    """The change of the headline over common units; None for fewer than two units."""
    change: float | None
    fixed: int
    broken: int
    """Number of cells; if fields are the units, the ``independent_flips``."""
    p_value: float | None


def change_of_units(before: Scorecard, after: Scorecard, kind: str, flips: Flips) -> UnitChange:
    """Compute the change of the headline over units; *flips* are needed only for kinds that answer cases."""
    metric = after.metrics[0].name
    if traits_of(kind).answers_cases:
        # Variants answer the same cases, so their flips are averaged and do not count as further cases.
        variants = variants_of(after)
        fixed, broken = number_of_cells(flips.fixed) / variants, number_of_cells(flips.broken) / variants
        return UnitChange(metric=metric, unit="cases", spread=share_change(fixed, broken, cases_of(after)))
    sample = paired_sample_of(before, after, metric)
    return UnitChange(metric=metric, unit=sample.unit, spread=ratio_change(sample.pairs))


def _movement(before: Scorecard, after: Scorecard, kind: str, flips: Flips, units: UnitChange | None) -> _Movement:
    fixed, broken = number_of_cells(flips.fixed), number_of_cells(flips.broken)
    if units is None:
        units = change_of_units(before, after, kind, flips)
    spread = units.spread
    if units.unit == "fields":
        fixed, broken = independent_flips(flips.fixed), independent_flips(flips.broken)
    change = spread.value if spread else _difference(before, after)
    tested = is_counted(after.metrics[0].name) and change is not None
    return _Movement(
        unit=units.unit,
        spread=spread,
        change=change,
        fixed=fixed,
        broken=broken,
        p_value=flip_p_value(fixed, broken) if tested else None,
    )


def _difference(before: Scorecard, after: Scorecard) -> float | None:
    """Return the change of the headline over the same documents, if there are too few units for a spread."""
    first, last = before.metrics[0].value, after.metrics[0].value
    if (
        first is None
        or last is None
        or [document.id for document in before.documents] != [document.id for document in after.documents]
    ):
        return None
    return last - first


class _Test(Frozen):
    """The result of one test of a change: how far chance may have moved it."""

    doubt: Why
    """The reason for uncertainty, if this test is the least certain one."""
    method: str
    error: float
    """Standard error of the change."""
    freedom: int | None = None
    """Degrees of freedom of Student's t; None for the normal distribution."""

    def reach(self, level: float) -> float:
        """Return half the width of the interval at a level."""
        return (normal(level) if self.freedom is None else student(level, self.freedom)) * self.error

    @property
    def least_change(self) -> float:
        """Return the smallest change that the test detects with a power of 0.8."""
        return least_change(self.error, self.freedom or _MANY)


def _judged(movement: _Movement, noise: Noise | None, *, higher_is_better: bool, scale: float = 1.0) -> ChangeVerdict:
    """Judge a change by the least certain test, so that word, reason and interval never contradict each other.

    ``scale``: the largest possible change of the metric, which limits the interval.
    """
    spread, change = movement.spread, movement.change
    if change is None:
        return ChangeVerdict("cannot tell", "nothing to compare")
    tests = _tests(movement, noise)
    if abs(change) < ROUNDING and not movement.fixed and not movement.broken:
        interval = _interval(movement, tests[0], scale) if tests else None
        return ChangeVerdict(decision="same", why="nothing moved", change=change, interval=interval)
    if spread is None or (movement.p_value is None and spread.freedom + 1 < FEWEST):
        return ChangeVerdict("cannot tell", "too few units", change)
    doubtful = max(tests, key=lambda test: test.reach(LEVEL))
    improved = (change > 0) is higher_is_better
    why, reported = doubtful.doubt, doubtful
    decision: Decision = "cannot tell"
    if all(test.reach(LEVEL) < abs(change) for test in tests):
        # If all tests agree, report the interval over units, the best estimate of the size of the change.
        why, reported = "beyond chance", tests[0]
        decision = "better" if improved else "worse"
    elif all(test.reach(LIKELY) < abs(change) for test in tests):
        decision = "likely better" if improved else "likely worse"
    return ChangeVerdict(decision=decision, why=why, change=change, interval=_interval(movement, reported, scale))


def _interval(movement: _Movement, test: _Test, scale: float) -> Interval | None:
    """Return the interval of a test at ``LEVEL``, limited to *scale*; None without units."""
    if movement.spread is None or movement.change is None:
        return None
    reach = test.reach(LEVEL)
    return Interval(
        low=max(-scale, movement.change - reach),
        high=min(scale, movement.change + reach),
        unit=movement.unit,
        n=movement.spread.freedom + 1,
        method=test.method,
    )


def _tests(movement: _Movement, noise: Noise | None) -> list[_Test]:
    """Return the applicable tests; the test over units is the first."""
    tests = []
    if movement.spread:
        error, freedom = movement.spread.error, movement.spread.freedom
        tests.append(_Test(doubt="interval holds zero", method="paired, linearised", error=error, freedom=freedom))
    if noise and noise.limit is not None:
        tests.append(_Test("within the noise of repeats", "as far as repeats differ", noise.limit / normal(LEVEL)))
    if movement.p_value is not None and movement.change:
        contradicts = (movement.fixed - movement.broken) * movement.change < 0
        # The test-based interval (Miettinen 1976): the standard error is the change divided by the test's quantile.
        quantile = 0.0 if contradicts else normal(1 - movement.p_value) if movement.p_value < _EVEN else 0.0
        doubt: Why = "flips go the other way" if contradicts and movement.p_value < ALPHA else "flips may be chance"
        tests.append(_Test(doubt, "by what flipped", abs(movement.change) / max(quantile, normal(1 - _EVEN))))
    return tests


def _detectable(after: Scorecard, movement: _Movement, noise: Noise | None) -> float | None:
    """Return the smallest change that all of the same tests detect with a power of 0.8."""
    limits = [test.least_change for test in _tests(replace(movement, p_value=None), noise) if test.error > ROUNDING]
    name = after.metrics[0].name
    counted, right = share_of(name, after.counts), share_of(name, Counts(tp=1))
    if counted and right and counted.whole:
        # A fixed cell adds at most as much to the headline as a right cell.
        net = least_net_flips(int(counted.whole // right.part), movement.fixed + movement.broken)
        limits += [] if net is None else [net * right.part / counted.whole]
    return max(limits, default=None)
