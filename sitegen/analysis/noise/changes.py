"""Whether a change of the headline is more than chance."""

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
"""Units of which all may move one way by chance less than once in 20: 2 / 2^6."""


def change_verdict(
    before: Scorecard,
    after: Scorecard,
    kind: str,
    flips: Flips,
    *,
    noise: Noise | None = None,
    higher_is_better: bool = True,
) -> ChangeVerdict:
    """Hold a point against an earlier one, over the units that both have.

    ``flips`` are those of the cells between the two, ``noise`` what repeated outputs of the eval tell, if there are
    any. Better or worse takes all of these: the change is larger than repeats differ by, its interval leaves out zero,
    and McNemar's test over the cells finds it. A headline that is no ratio of counts is not a matter of cells: there
    the test is left out, and six units are wanted instead. Of a headline that two judges graded nothing is told.
    """
    if regraded(exchanges(before, after)[1], after.metrics[0].name):
        return _not_told(flips)
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
    """Judge the change of a mean over units by its interval alone: it is no matter of cells."""
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
    """The same of two points, *after* with the flips since *before*; None if the output is the same.

    What ground truth and rules do to one and the same output is certain: there is no chance in it to be judged. Nor can
    it be told of numbers that were only recorded.
    """
    if traits_of(kind).is_recorded or "outputs" not in differing_roles(before.snapshot, after.snapshot):
        return None
    flips = after.flips or Flips()
    return change_verdict(
        before.scorecard, after.scorecard, kind, flips, noise=noise, higher_is_better=higher_is_better
    )


def moved_fields(flips: Flips) -> tuple[FieldMove, ...]:
    """The fields of which a cell flipped, each with McNemar's test, adjusted over these fields; the least p first."""
    fixed, broken = dict(flips.fixed), dict(flips.broken)
    names = tuple(fixed | broken)
    found = [_by_chance(fixed.get(name, 0), broken.get(name, 0)) for name in names]
    moves = (
        FieldMove(
            attribute=name, fixed=fixed.get(name, 0), broken=broken.get(name, 0), p_value=p_value, adjusted_p=adjusted
        )
        for name, p_value, adjusted in zip(names, found, holm(found), strict=True)
        if adjusted is not None
    )
    return tuple(sorted(moves, key=lambda move: (move.p_value, move.attribute)))


class _Movement(NamedTuple):
    """What moved between two points."""

    unit: Unit
    spread: Spread | None
    """The change of the headline over common units; None for fewer than two."""
    change: float | None
    fixed: int
    broken: int
    """Cells; of few documents, ``_events``."""
    p_value: float | None


def _movement(before: Scorecard, after: Scorecard, kind: str, flips: Flips) -> _Movement:
    fixed, broken = _cell_count(flips.fixed), _cell_count(flips.broken)
    if traits_of(kind).answers_cases:
        unit: Unit = "cases"
        # Variants answer the same cases: their flips are averaged, for they are no cases of their own.
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
        p_value=_by_chance(fixed, broken) if tested else None,
    )


def _not_told(flips: Flips) -> ChangeVerdict:
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


def _difference(before: Scorecard, after: Scorecard) -> float | None:
    """Of the headlines as they are, where one unit is all there is."""
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
    """The smallest change that can be told from chance: the largest that units, cells and repeats each allow."""
    spread, limits = movement.spread, []
    if spread and spread.error > ROUNDING:
        limits.append(least_change(spread.error, spread.freedom))
    name = after.metrics[0].name
    counted, right = quotient(name, after.counts), quotient(name, Counts(tp=1))
    if counted and right and counted[1]:
        # A cell that turns from wrong to right is worth as much as a right one, at most.
        net = least_net_flips(counted[1] // right[0], movement.fixed + movement.broken)
        limits += [] if net is None else [net * right[0] / counted[1]]
    if noise and noise.limit is not None:
        limits.append(noise.limit)
    return max(limits, default=None)


def _change_interval(unit: Unit, spread: Spread, scale: float = 1.0) -> Interval:
    """``scale``: no metric can change by more; that of a headline is 0 to 1 for every kind."""
    low, high = around(spread)
    return Interval(
        low=max(-scale, low), high=min(scale, high), unit=unit, n=spread.freedom + 1, method="paired, linearised"
    )


def _by_chance(fixed: int, broken: int) -> float:
    found = mcnemar(broken, fixed, pairs=fixed + broken).p_value
    return 1.0 if found is None else found


def _cell_count(tally: Tally) -> int:
    return sum(number for _, number in tally)


def independent_flips(tally: Tally) -> int:
    """Flips of fields that may be independent.

    A list item that is found or lost takes all its cells with it, so of the fields of one list only the one that
    flipped most is counted. Where documents are the units, their interval knows that cells of one hang together.
    """
    most: dict[str, int] = {}
    for attribute, number in tally:
        name = flipping_together(attribute)
        most[name] = max(number, most.get(name, 0))
    return sum(most.values())


def flipping_together(attribute: str) -> str:
    """What the fields whose cells flip together share: the path of their list; the field itself outside of any list."""
    start, brackets, _ = attribute.rpartition("[]")
    return start + brackets if brackets else attribute
