"""Estimates noise from outputs that were made again: how often each field flips, and how far the headline varies.

Outputs far from their repeats are bad runs: they are excluded from the estimate, and their names are reported.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import accumulate, chain, groupby
from math import comb, sqrt
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.analysis.cells import CellTracker
from sitegen.analysis.deltas import Compared, judged_documents, values_in_common
from sitegen.model.changes import FlipRate, Noise, Overlap, Spread
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import CellMap, State
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.series import Point
from sitegen.model.usage import regraded
from sitegen.stats.agreement import RepeatedValues, differing_pairs, repeatability, repeated_values
from sitegen.stats.intervals import LEVEL, mean, student
from sitegen.stats.outliers import FAR_CASES

FEWEST: Final = 2
"""Fewest degrees of freedom for a noise limit: three repeats, or two pairs of repeats."""

_OUTPUTS_ONLY: Final = ("outputs",)


class Repeat(Frozen):
    """One of several outputs made under the same instructions."""

    name: str
    """Its name on pages: the label of its point, or ``run 2`` of a point."""
    headline: float | None
    weight: float = 0.0
    """By how much one case moves the headline; 0 if unknown."""


_Group: TypeAlias = tuple[Sequence[Repeat], RepeatedValues | None]
"""Outputs that repeat each other, two or more, and the headlines of those that have one, if these are several."""


class Repeats(Frozen):
    """A group of outputs made under the same instructions, with the same ground truth and rules."""

    cells: CellMap
    indices: tuple[int, ...]
    """Indices of the group's points in the cell map."""
    outputs: tuple[Repeat, ...]


def repeats_among(points: Sequence[Point], cells: CellMap) -> tuple[Repeats, ...]:
    """Return the groups of points of a series whose outputs were made again under unchanged instructions.

    A point repeats the previous point if only the outputs changed, no instruction file that drives the eval was edited
    in between, and the model and the judge of the headline are the same as far as both state them. The points must also
    be of different commits: it is unknown with which instructions several outputs of one commit were made, unless they
    record the same commit. An unreadable output repeats nothing, nor does one that shares less than half of its
    documents with its group. A copy is not a separate output: it belongs to no group, and the output after it can
    repeat the output before it.
    """
    of_groups = {group[0]: (group, common) for group, common in _groups_so_far(points) if len(group) > 1}
    return tuple(
        Repeats(cells, group, tuple(_repeat(points[at].snapshot.label, points[at].scorecard, common) for at in group))
        for group, common in of_groups.values()
    )


def _groups_so_far(points: Sequence[Point]) -> Iterator[tuple[tuple[int, ...], frozenset[str]]]:
    """Yield for each point the indices of its group up to it, and the documents that all of this group judge."""
    group: tuple[int, ...] = ()
    common = frozenset[str]()
    for index, point in enumerate(points):
        judged = frozenset([each.name for each in judged_documents(point.scorecard)])
        is_other = 2 * len(judged & common) < max(len(judged), len(common))
        if is_other or not index or not _repeats(points[index - 1], point):
            group, common = (), judged
        common &= judged
        group = group if point.is_copy else (*group, index)
        yield group, common


def repeats_of_runs(results: Sequence[Result]) -> Repeats:
    """Group the repeated runs of one iteration, all scored by the same rules; unreadable runs are left out."""
    tracker = CellTracker()
    outputs = _repeats_of_run_cards({f"run {number}": run.scorecard for number, run in enumerate(results, 1)})
    for result in (each for each in results if each.scorecard.status == "scored"):
        tracker.follow_result(result)
    return Repeats(tracker.cells(), tuple(range(len(outputs))), outputs)


def noise_so_far(points: Sequence[tuple[Point, Sequence[Scorecard]]]) -> Iterator[Noise | None]:
    """Yield the noise of the headline among the repeats up to each point of a series; None without repeats.

    ``points``: each with the scorecards of its repeated runs.
    """
    finished: list[_Group] = []  # the groups that no later point can join, and all repeated runs
    repeats: list[Repeat] = []  # the outputs of the group that the point belongs to, over the documents of all of these
    before: tuple[tuple[int, ...], frozenset[str]] = (), frozenset()
    noise: Noise | None = None
    bad: Sequence[Repeat] = ()
    for index, (group, common) in enumerate(_groups_so_far([point for point, _ in points])):
        point, runs = points[index]
        if group[:1] != before[0][:1]:
            finished, repeats = finished + _group(repeats), []
        elif common != before[1]:
            repeats = []  # each of them over fewer documents than before
        before = group, common
        made = [points[at][0] for at in group[len(repeats) :]]
        repeats += [_repeat(one.snapshot.label, one.scorecard, common) for one in made]
        label = point.snapshot.label
        runs_of_point = _repeats_of_run_cards({f"{label}, run {number}": run for number, run in enumerate(runs, 1)})
        finished += _group(runs_of_point)
        if len(repeats) > 1 or len(runs_of_point) > 1:  # a point that repeats nothing does not change the noise
            noise, bad = _measured(finished + _group(repeats))
        own = [one.headline for one in repeats if one not in bad and one.headline is not None]
        if len(common) < len(judged_documents(point.scorecard)):
            own = []  # they are over fewer documents than the headline of the point
        first = group[0] if group else index
        yield noise and replace(noise, first=first, repeats=len(own), mean=mean(own) if own else 0.0)


def _group(outputs: Sequence[Repeat]) -> list[_Group]:
    """Return a list of the group, which is empty if there are not two outputs."""
    if len(outputs) < 2:
        return []
    values = [output.headline for output in outputs if output.headline is not None]
    least = FAR_CASES * max(output.weight for output in outputs)
    return [(outputs, repeated_values(values, least) if len(values) > 1 else None)]


def _measured(groups: Sequence[_Group]) -> tuple[Noise | None, Sequence[Repeat]]:
    """Compute the noise of the headline, which is None without groups, and return the bad runs."""
    if not groups:
        return None, ()
    valued = [([one for one in outputs if one.headline is not None], values) for outputs, values in groups if values]
    scatter = repeatability([values for _, values in valued])
    bad = [valued[index][0][place] for index, places in scatter.bad.items() for place in places]
    # The repeatability limit of ISO 5725-6, with Student's t because few repeats say little about their scatter;
    # none of a single pair, whose distance may be due to chance.
    few = scatter.deviation is None or scatter.freedom < FEWEST
    limit = None if few else student(LEVEL, scatter.freedom) * sqrt(2) * (scatter.deviation or 0.0)
    noise = Noise(
        groups=len(groups),
        outputs=sum([len(outputs) for outputs, _ in groups]),
        deviation=scatter.deviation,
        limit=limit,
        bad_runs=tuple([output.name for output in bad]),
    )
    return noise, bad


def difference_of_repeats(before: Noise | None, after: Noise | None, change: float) -> Spread | None:
    """Estimate the change between two points, and its error, from the outputs that repeat each of them.

    Outputs that were made under the same instructions as a point say more of these than the point alone, so the means
    of both groups are compared. If the groups are the same or unknown, it is the ``change`` between two outputs. None
    without a noise limit.
    """
    known = [noise for noise in (before, after) if noise and noise.limit is not None]
    if not known:
        return None
    noise = max(known, key=lambda noise: noise.outputs)
    error = (noise.limit or 0.0) / student(LEVEL, noise.freedom)
    if not before or not after or before.first == after.first or not before.repeats or not after.repeats:
        return Spread(change, error, noise.freedom)
    share = (1 / before.repeats + 1 / after.repeats) / 2
    return Spread(after.mean - before.mean, error * sqrt(share), noise.freedom)


def noise_of(groups: Iterable[Repeats]) -> Noise | None:
    """Compute the noise of repeated outputs; None if no group has two outputs."""
    several = [group for group in groups if len(group.outputs) > 1]
    noise, bad = _measured([*chain.from_iterable(_group(group.outputs) for group in several)])
    if noise is None:
        return None
    for place, group in enumerate(several) if bad else ():
        outputs = zip(group.indices, group.outputs, strict=True)
        several[place] = replace(group, indices=tuple([index for index, output in outputs if output not in bad]))
    rates = _flip_rates(several)
    pooled = FlipRate("", sum(rate.flips for rate in rates), sum(rate.pairs for rate in rates))
    return replace(noise, pooled=pooled, fields=rates)


def _repeats_of_run_cards(runs: Mapping[str, Scorecard]) -> tuple[Repeat, ...]:
    """Return the readable runs of one iteration. ``runs``: all of them by name."""
    scored = {name: run for name, run in runs.items() if run.status == "scored"}
    judged = [frozenset([each.name for each in judged_documents(run)]) for run in scored.values()]
    common = frozenset[str].intersection(*judged) if judged else frozenset[str]()
    return tuple(_repeat(name, run, common) for name, run in scored.items())


def _repeat(name: str, card: Scorecard, common: Set[str]) -> Repeat:
    others = tuple([each.name for each in judged_documents(card) if each.name not in common])
    shared = Overlap(len(common), others)
    headline = next(values_in_common([card], card.metrics[0].name, shared)) if card.metrics else None
    cases = len(common) if others else card.expected_values or len(card.documents)
    return Repeat(name, headline, 1 / cases if cases else 0.0)


def _repeats(before: Point, point: Point) -> bool:
    if point.snapshot.cause != _OUTPUTS_ONLY or point.edits:
        return False
    if before.scorecard.status != "scored" or point.scorecard.status != "scored":
        return False
    if before.snapshot.roles_changed_in(point.snapshot) not in ((), _OUTPUTS_ONLY):
        return False
    model, judge = Compared(before.scorecard, point.scorecard).exchanges
    if model or (judge and regraded(judge, point.scorecard.metrics[0].name)):
        return False
    made_at = point.snapshot.made_at
    if made_at is not None and before.snapshot.made_at is not None:
        return made_at == before.snapshot.made_at
    return point.snapshot.commit.sha != before.snapshot.commit.sha


def _flip_rates(groups: Iterable[Repeats]) -> tuple[FlipRate, ...]:
    flips: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    by_cells = groupby((group for group in groups if len(group.indices) > 1), lambda group: id(group.cells))
    for alike in [list(several) for _, several in by_cells]:  # oldest first, as in their series
        firsts, lasts = [group.indices[0] for group in alike], [group.indices[-1] for group in alike]
        pairs_before = list(accumulate([comb(len(group.indices), 2) for group in alike], initial=0))
        for cell in alike[0].cells.cells:
            starts = [period.start for period in cell.periods]
            changing: dict[int, None] = {}  # the groups in which the cell changes
            for period, end in zip(cell.periods, [*starts[1:], lasts[-1] + 1], strict=True):
                first, after = bisect_left(firsts, period.start), bisect_left(lasts, end)
                if first < after and period.state != "absent":  # the cell is the same at all points of these groups
                    pairs[cell.attribute] += pairs_before[after] - pairs_before[first]
                changing |= dict.fromkeys(range(bisect_left(lasts, period.start), first))
            for number in changing:
                numbers = [bisect_right(starts, index) for index in alike[number].indices]
                states: list[State] = [cell.periods[at - 1].state if at else "absent" for at in numbers]
                judged = [state for state in states if state != "absent"]
                # *absent* counts only if the cell is a hallucination at another of these points.
                differing, compared = differing_pairs(states if set(judged) == {"hallucination"} else judged)
                flips[cell.attribute] += differing
                pairs[cell.attribute] += compared
    rates = (FlipRate(attribute, flips[attribute], number) for attribute, number in pairs.items() if number)
    return tuple(sorted(rates, key=lambda rate: (-rate.flips / rate.pairs, rate.attribute)))
