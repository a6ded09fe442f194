"""Judges a change of a metric on the cases of two outputs, and computes how far it holds beyond them.

Also estimates the variance of a metric that is due to units alone, for the tests of steps.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import comb
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.deltas import Compared
from sitegen.analysis.flips import number_of_cells
from sitegen.analysis.noise.repeats import difference_of_repeats
from sitegen.analysis.noise.samples import PairedSample, case_pairs, is_counted, number_judged, paired_sample_of
from sitegen.model.changes import ChangeVerdict, Decision, Ends, Noise, Spread, Why
from sitegen.model.metrics import Counts, MetricSpec
from sitegen.model.outcomes import FEWEST_LOST, Flips, Tally
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point
from sitegen.model.usage import regraded
from sitegen.stats.counts import PASSED, Share, judged, share_of
from sitegen.stats.intervals import LEVEL, ROUNDING, Paired, around, ratio_change, student
from sitegen.stats.significance import ALPHA, least_change, least_net_flips, sign_flip_test, sign_test
from sitegen.stats.step_tests import UnitVariance

FEWEST: Final = 6
"""The fewest units that can show more than chance: six all change in one direction with probability 2 / 2^6."""

_LIKELY: Final = 0.8  # level at which chance is excluded if a change is called likely

_ONE_SIDED: Final = 0.01
"""A change whose flips all have one direction, with a smaller p value, is at least likely, however repeats differ."""

_AS_A_WHOLE: Final = 0.8
"""The share of the values of a document, on average, that flip one way if the document fails or recovers as a whole."""

_WORDS: Final[Mapping[bool, tuple[Decision, Decision, Decision]]] = {
    True: ("cannot tell", "likely better", "better"),
    False: ("cannot tell", "likely worse", "worse"),
}
"""Whether a change is for the better -> the word for it by how certain it is: not, likely, sure."""


def change_verdict(
    compared: Compared,
    flips: Flips,
    *,
    noise: tuple[Noise | None, Noise | None] = (None, None),
    higher_is_better: bool = True,
) -> ChangeVerdict:
    """Judge the change between two points, over what both have: on these cases, and beyond them.

    *On these cases*: an exact sign test of what was fixed and what broke, and the differences between repeats if there
    are any. If both exclude chance at 95 %, the decision is *better* or *worse*; at 80 %, *likely better* or *likely
    worse*; else *cannot tell*. For kinds that answer cases, and if the headline is not a ratio of counts, the sign test
    counts the cases in which it rose and fell, however many answers each has; if it did in none, what was fixed and
    what broke. A field that was right wherever it was judged, and is now wrong wherever it is judged, is *worse*,
    whatever else changed. A change between grades of two judges is not judged.

    *Beyond them*: the interval of the change over units, which does not influence the decision.

    ``noise``: that of the repeats up to each of the points, or twice that of the later one if their headlines are not
    over the same cases. ``higher_is_better``: the direction of the headline.
    """
    before, after = compared.before, compared.after
    metric = after.metrics[0].name
    if regraded(compared.exchanges[1], metric):
        fixed, broken = number_of_cells(flips.fixed), number_of_cells(flips.broken)
        return ChangeVerdict(decision="cannot tell", why="another judge", fixed=fixed, broken=broken)
    (unit, pairs), moved = paired_sample_of(compared, metric), None
    if is_counted(metric):
        moved = number_of_cells(flips.fixed), number_of_cells(flips.broken)
    if moved and not after.traits.answers_cases:
        counted = flips.independent
    else:
        counted = moved_units(pairs, higher_is_better=higher_is_better)
        if counted == (0, 0) and not after.traits.answers_cases:  # verdicts may change while scores stay
            counted = flips.independent
    answered = sum([judged(document.counts) > 0 for document in before.documents])
    repeats = max(1, answered // max(1, number_judged(before)))
    # All answers to one case are one value of a lost field.
    lost = tuple((field, values // repeats) for field, values in flips.lost if values // repeats >= FEWEST_LOST)
    loss = _certainty_of_loss(lost, flips.unsteady)
    verdict = _judged((unit, pairs), counted, noise=noise, higher_is_better=higher_is_better, loss=loss)
    if counted == flips.independent:
        verdict = _by_documents(verdict, flips.nets, judged(after.counts) / max(1, len(after.documents)))
    fixed, broken = moved or counted
    return replace(
        verdict,
        fixed=fixed,
        broken=broken,
        detectable=_detectable(after, verdict, ratio_change(pairs), difference_of_repeats(*noise, 0.0)),
        lost_fields=lost,
        doubts=(sum(often for _, often, _ in flips.doubts), sum(labels for _, _, labels in flips.doubts)),
        in_part=moved_in_part(compared, metric if moved and after.traits.answers_cases else PASSED.name),
    )


def moved_in_part(compared: Compared, metric: str) -> tuple[tuple[str, float, float], ...]:
    """Return what ``ChangeVerdict.in_part`` has."""
    first, last = ({each.name: dict(each.metrics).get(metric) for each in side} for side in compared.documents)
    both = [(name, old, new) for name, old in first.items() if old is not None and (new := last[name]) is not None]
    moved = [each for each in both if max(each[1:]) < 1 and abs(each[1] - each[2]) > ROUNDING]
    return tuple(sorted(moved, key=lambda each: -abs(each[1] - each[2])))


def moved_units(pairs: Mapping[Paired, int], *, higher_is_better: bool) -> tuple[int, int]:
    """Count the units in which a mean got better, and those in which it got worse."""
    moves = Counter({1: 0, -1: 0})
    for pair, times in pairs.items():
        moves[_direction(pair)] += times
    return (moves[1], moves[-1]) if higher_is_better else (moves[-1], moves[1])


def moved_cases(compared: Compared, spec: MetricSpec) -> tuple[dict[str, Paired], dict[str, Paired]]:
    """Return the cases in which a metric got better, and those in which it got worse, by name."""
    pairs, better = case_pairs(compared, spec.name), 1 if spec.higher_is_better else -1
    return (
        {case: pair for case, pair in pairs.items() if _direction(pair) == better},
        {case: pair for case, pair in pairs.items() if _direction(pair) == -better},
    )


def _direction(pair: Paired) -> int:
    """Return 1 if the value of a unit rose, -1 if it fell, else 0."""
    (first, last) = pair
    change = last.part * first.whole - first.part * last.whole if first.whole and last.whole else 0.0
    return (change > ROUNDING) - (change < -ROUNDING)


def _certainty_of_loss(lost: Tally, unsteady: int) -> int:
    """Decide whether lost fields are more than chance: 2 if that is sure, 1 if it is likely, else 0.

    If the values of a field are right or wrong by the toss of a coin, all n of them break with a probability of 1 in
    4^n, and of many such fields one will. Another field is as unsteady if half of its values flipped, of which one
    broke; each stands for up to three, because of three such fields only one shows it. The loss is sure if so many of
    all these are lost with a probability of at most 1 in 4^3, as one field of three values alone is; and likely at 1 in
    4^2.
    """
    if not lost:
        return 0
    ways, values_lost = comb(3 * unsteady + len(lost), len(lost)), number_of_cells(lost)
    return sum(ways <= 4 ** (values_lost - fewest) for fewest in (FEWEST_LOST, FEWEST_LOST - 1))


def _judged(
    sample: PairedSample,
    counted: tuple[int, int],
    *,
    noise: tuple[Noise | None, Noise | None] = (None, None),
    higher_is_better: bool,
    loss: int = 0,
    scale: float = 1.0,
) -> ChangeVerdict:
    """Judge a change.

    The interval is computed from ``sample``, and is limited by ``scale``, the largest possible change of the metric.
    ``counted``: what the sign test counts for the better and for the worse; ``loss``: the certainty that whole fields
    were lost, 0 to 2.
    """
    (unit, pairs), (fixed, broken) = sample, counted
    spread = ratio_change(pairs)
    change = spread.value if spread else None
    if not spread:  # of however few units
        first = [sum(pair.before[place] * times for pair, times in pairs.items()) for place in (0, 1)]
        last = [sum(pair.after[place] * times for pair, times in pairs.items()) for place in (0, 1)]
        change = last[0] / last[1] - first[0] / first[1] if first[1] and last[1] else None
    if change is None:
        return ChangeVerdict("cannot tell", "nothing to compare")
    p_value = sign_test(fixed, broken)
    # Units that all moved alike show no scatter, from which an interval could be computed.
    interval = around(spread) if spread and (spread.error > ROUNDING or abs(change) <= ROUNDING) else None
    verdict = ChangeVerdict(
        decision="same",
        why="nothing moved",
        change=change,
        interval=Ends(max(-scale, interval.low), min(scale, interval.high)) if interval else None,
        unit=unit if spread else None,
        n=spread.freedom + 1 if spread else 0,
        fixed=fixed,
        broken=broken,
        p_value=p_value,
        counted=counted,
    )
    if abs(change) < ROUNDING and not fixed and not broken:
        return verdict
    by_flips = _certainty_by(p_value)
    by_repeats = _certainty_beyond_repeats(change, difference_of_repeats(*noise, change))
    why: Why = "flips may be chance" if by_flips <= by_repeats else "within the noise of repeats"
    certainty, why = min(by_flips, by_repeats), "beyond chance" if by_flips == by_repeats == 2 else why
    if (fixed - broken) * (change if higher_is_better else -change) < -ROUNDING:
        certainty, why = max(0, certainty - 1), "flips go the other way"
    if p_value < _ONE_SIDED and not (fixed and broken):
        certainty = max(1, certainty)
    if loss == 2 or (loss == 1 and (fixed < broken or certainty < 2)):
        certainty = max(loss, certainty if fixed < broken else 0)
        return replace(verdict, decision=_WORDS[False][certainty], why="a field was lost")
    return replace(verdict, decision=_WORDS[fixed > broken][certainty], why=why)


def _by_documents(verdict: ChangeVerdict, nets: Sequence[tuple[int, int]], values: float) -> ChangeVerdict:
    """Let documents exclude chance as well, if any flips as a whole and six or more moved; unless a field was lost.

    ``nets``: as in ``Flips``; ``values``: how many a document has on average.
    """
    moved = sum(documents for net, documents in nets if net)
    as_a_whole = any(abs(net) >= max(_AS_A_WHOLE * values, FEWEST_LOST) for net, _ in nets)
    is_doubtful = moved >= FEWEST and as_a_whole
    return also_by(sign_flip_test(nets), verdict, "documents flip as a whole") if is_doubtful else verdict


def also_by(p_value: float, verdict: ChangeVerdict, why: Why) -> ChangeVerdict:
    """Let another test exclude chance as well, unless a field was lost. ``why``: what to say if it does not."""
    words, certainty = _WORDS[verdict.counted[0] > verdict.counted[1]], _certainty_by(p_value)
    if verdict.why == "a field was lost" or verdict.decision not in words[certainty + 1 :]:
        return verdict
    return replace(verdict, decision=words[certainty], why=why)


def _certainty_by(p_value: float) -> int:
    """Decide whether a test excludes chance: 2 at 95 %, 1 at 80 %, else 0."""
    return sum(p_value < level for level in (ALPHA, 1 - _LIKELY))


def _certainty_beyond_repeats(change: float, repeats: Spread | None) -> int:
    """Decide whether repeats differ by less than a change: 2 at 95 %, 1 at 80 %, else 0; 2 without repeats."""
    if repeats is None:
        return 2
    if repeats.value * change < 0:
        return 0
    limits = (repeats.error * student(level, repeats.freedom) for level in (LEVEL, _LIKELY))
    return sum(abs(repeats.value) > limit for limit in limits)


def _detectable(
    after: Scorecard, verdict: ChangeVerdict, spread: Spread | None, repeats: Spread | None
) -> float | None:
    """Return the smallest change that the same tests detect with a power of 0.8."""
    limits = [least_change(repeats)] if repeats else []
    name = after.metrics[0].name
    right = share_of(name, Counts(tp=1))
    counted = Share(0, number_judged(after)) if after.traits.answers_cases else share_of(name, after.counts)
    if counted and right and counted.whole:
        # A fixed cell adds at most as much to the headline as a right cell.
        net = least_net_flips(int(counted.whole // right.part), sum(verdict.counted))
        limits += [] if net is None else [net * right.part / counted.whole]
    elif spread and spread.error > ROUNDING:
        limits.append(least_change(spread))
    return max(limits, default=None)


def metric_verdict(spec: MetricSpec, compared: Compared, flips: Flips) -> ChangeVerdict | None:
    """Judge the change of a metric as ``change_verdict`` does; None if its noise cannot be estimated.

    Noise cannot be estimated if the metric is neither a ratio of counts nor a mean over documents. The noise of repeats
    is that of the headline, and plays no part.
    """
    after, traits = compared.after, compared.after.traits
    if traits.is_recorded:
        return None
    is_headline = after.metrics[0].name == spec.name
    if not is_headline and not _has_units(spec.name, after):
        return None
    if not is_headline and traits.answers_cases:
        pairs = paired_sample_of(compared, spec.name)[1]
        better, spread = spec.higher_is_better, ratio_change(pairs)
        moved = moved_units(pairs, higher_is_better=better)
        verdict = _judged(("cases", pairs), moved, higher_is_better=better, scale=spec.high - spec.low)
        return replace(verdict, detectable=least_change(spread) if spread and spread.error > ROUNDING else None)
    as_headline = [
        replace(card, metrics=tuple(sorted(card.metrics, key=lambda metric: metric.name != spec.name)))
        for card in (compared.before, after)
    ]
    return change_verdict(Compared(*as_headline), flips, higher_is_better=spec.higher_is_better)


def variance_by_units(points: Sequence[Point], metrics: Sequence[str]) -> Callable[[str], UnitVariance]:
    """Return a function that makes the estimate for one of the metrics of the variance of an output by its units.

    The estimate, from how the units of two outputs differ, is half the squared standard error of the change between
    them, over the same units as in a verdict on that change. None if only one side is scored, if anything besides the
    output differs, if there are fewer than ``FEWEST`` units, or if the metric is not a sample of units; for kinds that
    answer cases only the headline is one.
    """

    @cache
    def spreads(before: int, after: int) -> dict[str, Spread | None]:
        """Return the change of each metric over the units that both outputs have; None below two units."""
        first, last = points[before].scorecard, points[after].scorecard
        traits = last.traits
        if first.status != "scored" or last.status != "scored" or traits.is_recorded:
            return {}
        if points[before].snapshot.roles_changed_in(points[after].snapshot) != ("outputs",):
            return {}
        compared = Compared(first, last)
        return {
            name: ratio_change(paired_sample_of(compared, name)[1])
            for name in metrics
            if _has_units(name, last) and (not traits.answers_cases or name == last.metrics[0].name)
        }

    def of_metric(metric: str) -> UnitVariance:
        @cache
        def variance(before: int, after: int) -> float | None:
            change = spreads(before, after).get(metric)
            return change.error**2 / 2 if change and change.freedom + 1 >= FEWEST else None

        return variance

    return of_metric


def _has_units(name: str, card: Scorecard) -> bool:
    return is_counted(name) or any(metric.name == name for document in card.documents for metric in document.metrics)
