"""Tests whether a change of the headline is more than chance."""

from __future__ import annotations

from typing import Final, NamedTuple

from sitegen.analysis.deltas import differing_roles, exchanges
from sitegen.analysis.noise.samples import cases_of, is_counted, paired_sample_of, variants_of
from sitegen.model.cells import Flips, Tally
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import Counts
from sitegen.model.noise import ChangeVerdict, Decision, FieldMove, Interval, Noise, Unit, Why
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point
from sitegen.model.usage import regraded
from sitegen.stats.counts import quotient
from sitegen.stats.intervals import ROUNDING, Spread, around, ratio_change, share_change
from sitegen.stats.sample_size import least_change, least_net_flips
from sitegen.stats.significance import ALPHA, holm, mcnemar

FEWEST: Final = 6
"""With so many units, all of them move one way by chance less than once in 20: 2 / 2^6."""


def change_verdict(
    before: Scorecard,
    after: Scorecard,
    kind: str,
    flips: Flips,
    *,
    noise: Noise | None = None,
    higher_is_better: bool = True,
) -> ChangeVerdict:
    """Judge the change between two points, over the units that both have.

    The verdict is *better* or *worse* only if the change is larger than repeats differ by, its interval does not hold
    zero, and McNemar's test over the cells is significant. Cells say nothing about a headline that is no ratio of
    counts: there the test is left out, and six units are required instead. A change between the grades of two judges
    is not judged.

    Args:
        before: the earlier point.
        after: the later one.
        kind: of the eval.
        flips: of the cells between the two.
        noise: of repeated outputs of the eval; None if there are none.
        higher_is_better: direction of the headline.

    """
    if regraded(exchanges(before, after)[1], after.metrics[0].name):
        return ChangeVerdict(
            decision="inconclusive",
            why="another judge",
            change=None,
            interval=None,
            fixed=_cell_count(flips.fixed),
            broken=_cell_count(flips.broken),
            p_value=None,
            detectable=None,
            fields=(),
        )
    movement = _movement(before, after, kind, flips)
    why = _decision_reason(movement, noise)
    return ChangeVerdict(
        decision=_decision(why, movement.change, higher_is_better=higher_is_better),
        why=why,
        change=movement.change,
        interval=_change_interval(movement.unit, movement.spread) if movement.spread else None,
        fixed=_cell_count(flips.fixed),
        broken=_cell_count(flips.broken),
        p_value=movement.p_value,
        detectable=_detectable(after, movement, noise),
        fields=moved_fields(flips),
    )


def mean_verdict(unit: Unit, spread: Spread | None, *, scale: float, higher_is_better: bool = True) -> ChangeVerdict:
    """Judge the change of a mean over units by its interval alone, because cells say nothing about it."""
    change = spread.value if spread else None
    why = _decision_reason(_Movement(unit=unit, spread=spread, change=change, fixed=0, broken=0, p_value=None), None)
    return ChangeVerdict(
        decision=_decision(why, change, higher_is_better=higher_is_better),
        why=why,
        change=change,
        interval=_change_interval(unit, spread, scale) if spread else None,
        fixed=0,
        broken=0,
        p_value=None,
        detectable=least_change(spread.error, spread.freedom) if spread and spread.error > ROUNDING else None,
        fields=(),
    )


def output_verdict(
    before: Point, after: Point, kind: str, *, noise: Noise | None = None, higher_is_better: bool = True
) -> ChangeVerdict | None:
    """``change_verdict`` for two points, where *after* has the flips since *before*; None if the output is the same.

    What ground truth and rules change about the same output is certain, so there is no chance to judge. Changes of
    recorded numbers cannot be judged either.
    """
    if traits_of(kind).is_recorded or "outputs" not in differing_roles(before.snapshot, after.snapshot):
        return None
    flips = after.flips or Flips()
    return change_verdict(
        before.scorecard, after.scorecard, kind, flips, noise=noise, higher_is_better=higher_is_better
    )


def moved_fields(flips: Flips) -> tuple[FieldMove, ...]:
    """The fields with a flipped cell, each with McNemar's test, adjusted over these fields; the least p first."""
    fixed, broken = dict(flips.fixed), dict(flips.broken)
    names = tuple(fixed | broken)
    p_values = [_flip_p_value(fixed.get(name, 0), broken.get(name, 0)) for name in names]
    moves = (
        FieldMove(
            attribute=name, fixed=fixed.get(name, 0), broken=broken.get(name, 0), p_value=p_value, adjusted_p=adjusted
        )
        for name, p_value, adjusted in zip(names, p_values, holm(p_values), strict=True)
        if adjusted is not None
    )
    return tuple(sorted(moves, key=lambda move: (move.p_value, move.attribute)))


class _Movement(NamedTuple):
    """The change between two points."""

    unit: Unit
    spread: Spread | None
    """The change of the headline over common units; None for fewer than two."""
    change: float | None
    fixed: int
    broken: int
    """Cells; where fields are the units, the ``independent_flips``."""
    p_value: float | None


def _movement(before: Scorecard, after: Scorecard, kind: str, flips: Flips) -> _Movement:
    fixed, broken = _cell_count(flips.fixed), _cell_count(flips.broken)
    if traits_of(kind).answers_cases:
        unit: Unit = "cases"
        # Variants answer the same cases, so their flips are averaged: they are not further cases.
        variants = variants_of(after)
        spread = share_change(fixed / variants, broken / variants, cases_of(after))
    else:
        unit, pairs = paired_sample_of(before, after)
        spread = ratio_change(pairs)
    if unit == "fields":
        fixed, broken = independent_flips(flips.fixed), independent_flips(flips.broken)
    change = spread.value if spread else _difference(before, after)
    tested = is_counted(after.metrics[0].name) and change is not None
    return _Movement(
        unit=unit,
        spread=spread,
        change=change,
        fixed=fixed,
        broken=broken,
        p_value=_flip_p_value(fixed, broken) if tested else None,
    )


def _difference(before: Scorecard, after: Scorecard) -> float | None:
    """The change of the headline over the same documents, where there are too few units for a spread."""
    first, last = before.metrics[0].value, after.metrics[0].value
    if (
        first is None
        or last is None
        or [document.id for document in before.documents] != [document.id for document in after.documents]
    ):
        return None
    return last - first


def _decision_reason(movement: _Movement, noise: Noise | None) -> Why:
    spread, change, p_value = movement.spread, movement.change, movement.p_value
    if change is None:
        return "nothing to compare"
    if abs(change) < ROUNDING and not movement.fixed and not movement.broken:
        return "nothing moved"
    if spread is None or (p_value is None and spread.freedom + 1 < FEWEST):
        return "too few units"
    if noise and noise.limit is not None and abs(change) <= noise.limit:
        return "within the noise of repeats"
    low, high = around(spread)
    if low <= 0 <= high:
        return "interval holds zero"
    if p_value is not None and p_value >= ALPHA:
        return "flips may be chance"
    if p_value is not None and (movement.fixed > movement.broken) != (change > 0):
        return "flips go the other way"
    return "beyond chance"


def _decision(why: Why, change: float | None, *, higher_is_better: bool) -> Decision:
    if why == "beyond chance":
        return "better" if ((change or 0) > 0) is higher_is_better else "worse"
    return "same" if why == "nothing moved" else "inconclusive"


def _detectable(after: Scorecard, movement: _Movement, noise: Noise | None) -> float | None:
    """The least change that can be told from chance: the largest of the limits by units, by cells and by repeats."""
    spread, limits = movement.spread, []
    if spread and spread.error > ROUNDING:
        limits.append(least_change(spread.error, spread.freedom))
    name = after.metrics[0].name
    counted, right = quotient(name, after.counts), quotient(name, Counts(tp=1))
    if counted and right and counted[1]:
        # A cell that is fixed adds at most as much as a cell that is right.
        net = least_net_flips(counted[1] // right[0], movement.fixed + movement.broken)
        limits += [] if net is None else [net * right[0] / counted[1]]
    if noise and noise.limit is not None:
        limits.append(noise.limit)
    return max(limits, default=None)


def _change_interval(unit: Unit, spread: Spread, scale: float = 1.0) -> Interval:
    """The interval of a change, cut to *scale*, by which the metric can change at most."""
    low, high = around(spread)
    return Interval(
        low=max(-scale, low), high=min(scale, high), unit=unit, n=spread.freedom + 1, method="paired, linearised"
    )


def _flip_p_value(fixed: int, broken: int) -> float:
    p_value = mcnemar(broken, fixed, pairs=fixed + broken).p_value
    return 1.0 if p_value is None else p_value


def _cell_count(tally: Tally) -> int:
    return sum(number for _, number in tally)


def independent_flips(tally: Tally) -> int:
    """The number of flips that may be independent, where fields are the units.

    If a list item is found or lost, all of its cells flip together. So of the fields of a list only the one with the
    most flips counts.
    """
    most: dict[str, int] = {}
    for attribute, number in tally:
        name = flipping_together(attribute)
        most[name] = max(number, most.get(name, 0))
    return sum(most.values())


def flipping_together(attribute: str) -> str:
    """The group of fields whose cells flip together: the path of their list, or the field itself if it is in none."""
    start, brackets, _ = attribute.rpartition("[]")
    return start + brackets if brackets else attribute
