"""The points of an eval, and what became of it between two of them: the one answer that all pages and commands give.

A point has the scores of an output by both clocks, and the change since the point before.

A change covers what both points have: if their documents differ, it is *bridged* (computed over the common ones), or
*refused* if they have none in common. It is judged with the noise of the outputs that were made again up to the later
of the two points. So every later build, page and command says the same of the same two points. The best output of an
eval is found by the same comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, groupby
from typing import TypeAlias

from msgspec.structs import replace

from sitegen.analysis.deltas import Compared, as_asked, comparable_since, shapley_values, subsets, values_in_common
from sitegen.analysis.edits import OutputEdits
from sitegen.analysis.flips import different_outputs, flips
from sitegen.analysis.noise.repeats import noise_so_far
from sitegen.analysis.noise.samples import interval_of
from sitegen.analysis.series import first_points_with_output, series_of
from sitegen.model.changes import Change, DeltaParts, MetricDelta
from sitegen.model.metrics import Counts, Metric, MetricSpec
from sitegen.model.outcomes import CellMap, Flips
from sitegen.model.scorecards import ANSWERERS, Result, Scorecard
from sitegen.model.series import Derived, Point, Series
from sitegen.model.timeline import RoleSet, Snapshot
from sitegen.model.usage import regraded
from sitegen.scoring.kinds import scorer
from sitegen.scoring.usage import TOTALS, USAGE

ScorecardOf: TypeAlias = Callable[[Snapshot], Scorecard]
"""Returns the scorecard of each of the ``mixtures`` of two points."""

ResultsOf: TypeAlias = Callable[[Sequence[Snapshot]], Iterable[Result]]
"""Returns the results of snapshots, which are scored for it if need be."""


def points(
    edits: OutputEdits,
    specs: Sequence[MetricSpec],
    scorecard_of: ScorecardOf,
    cells: CellMap,
    known: Sequence[Derived] = (),
) -> tuple[Point, ...]:
    """Compute all points, oldest first.

    ``scorecard_of``: scores a snapshot, a repeated run, or a mixture of two; ``known``: the derived values of the
    first points.
    """
    snapshots = edits.snapshots
    if not snapshots:
        return ()
    earliest = first_points_with_output(snapshots, scorecard_of(snapshots[0]).kind)
    scored = [
        Point(
            snapshot=snapshot,
            scorecard=card,
            edits=edits.since_previous[index],
            beside=edits.beside[index],
            stale=edits.stale[index],
            first_with_output=earliest[index],
        )
        for index, (snapshot, card) in enumerate(zip(snapshots, as_asked(snapshots, scorecard_of), strict=True))
    ]
    # Of each the point that has its output first, before it was scored again.
    as_made: Iterable[Point] = accumulate(scored, lambda first, at: at if "outputs" in at.snapshot.cause else first)
    under_newest_rules = [
        point.scorecard if newest is point.snapshot else scorecard_of(newest)
        for point in scored
        for newest in (point.snapshot.under_rules_of(snapshots[-1]),)
    ]
    noises = noise_so_far([(point, [scorecard_of(run) for run in point.snapshot.repeated_runs]) for point in scored])
    here = [replace(point, noise=noise) for point, noise in zip(scored, noises, strict=True)]
    outputs, derived = different_outputs(scored), [*known]
    for index in range(len(known), len(here)):
        moved = None
        if index:
            flipped = flips(cells, index - 1, index, outputs)
            moved = change_between(here[index - 1], here[index], flipped, headline=specs[0], scorecard_of=scorecard_of)
        derived.append((moved, interval_of(here[index].scorecard), here[index].noise))
    return tuple(
        replace(point, now=_if_in_truth(made.scorecard, now), change=moved, interval=interval, noise=noise)
        for point, made, now, (moved, interval, noise) in zip(scored, as_made, under_newest_rules, derived, strict=True)
    )


def _if_in_truth(then: Scorecard, now: Scorecard) -> Scorecard:
    """Return the scores of an output by the newest ground truth and rules; undefined if these have none of its cases.

    Otherwise an output of documents that nobody asks for any more would seem to have got all of today's wrong.
    """
    if now is then or then.status != "scored" or not then.documents:
        return now
    if Compared(then, now).overlap.verdict != "refused":
        return now
    undefined = dict(scorer(now.kind).metrics_for(()))
    metrics = tuple(Metric(name, undefined.get(name, value)) for name, value in now.metrics)
    return replace(now, counts=Counts(), metrics=metrics, documents=(), fields=(), findings=(), variants=())


def change(series: Series, before: int, after: int, scorecard_of: ScorecardOf | None = None) -> Change:
    """Return what became of an eval from one point to another, given by their indices in either order.

    ``scorecard_of``: without it, not all changes of two points that are not neighbours have parts.
    """
    return changes(series, [(before, after)], scorecard_of)[before, after]


def changes(
    series: Series, pairs: Iterable[tuple[int, int]], scorecard_of: ScorecardOf | None = None
) -> dict[tuple[int, int], Change]:
    """Return the ``change`` of each pair of points."""
    points = series.points
    known = {(before, after): points[after].change if before + 1 == after else None for before, after in pairs}
    outputs = different_outputs(points) if None in known.values() else ()
    return {
        (before, after): stored
        or change_between(
            points[before],
            points[after],
            flips(series.cells, before, after, outputs),
            headline=series.specs[0],
            scorecard_of=scorecard_of,
        )
        for (before, after), stored in known.items()
    }


def spans_of_commits(snapshots: Sequence[Snapshot], first_new: int) -> Iterator[tuple[int, int]]:
    """For each commit, the indices of the last point before it and of its own last point."""
    for _, points in groupby(range(len(snapshots)), key=lambda index: snapshots[index].commit.position):
        first, *rest = points
        last = rest[-1] if rest else first
        if first and last >= first_new:
            yield first - 1, last


def change_between(
    before: Point, after: Point, flips: Flips, *, headline: MetricSpec, scorecard_of: ScorecardOf | None = None
) -> Change:
    """Compute a change from the points, each with its noise, and the cells that flipped, for every metric of either."""
    compared = Compared(before.scorecard, after.scorecard)
    roles = before.snapshot.roles_changed_in(after.snapshot)
    model, judge = compared.exchanges
    moved = Change(overlap=compared.overlap, metrics=(), model=model, judge=judge, flips=flips)
    alike = compared_alike(before, after, scorecard_of)
    moved = replace(moved, metrics=_metric_deltas(before, after, moved, alike, scorecard_of))
    if "outputs" not in roles or after.scorecard.traits.is_recorded:
        return moved
    from sitegen.analysis.noise.changes import change_verdict  # takes time to import; new outputs alone need it

    later = max((before.noise, after.noise), key=lambda noise: noise.outputs if noise else 0)
    is_comparable = moved.overlap.verdict == "comparable"
    verdict = change_verdict(
        alike,
        flips,
        noise=(before.noise, after.noise) if roles == ("outputs",) and is_comparable else (later, later),
        higher_is_better=headline.higher_is_better,
    )
    return replace(moved, verdict=verdict)


def _metric_deltas(
    before: Point, after: Point, moved: Change, alike: Compared, scorecard_of: ScorecardOf | None
) -> tuple[MetricDelta, ...]:
    """Return the change of every metric, with its parts. ``alike``: both sides as the later truth and rules judge them.

    Without ``scorecard_of``, it has parts only if one role differs, or one beside outputs that are judged alike.
    """
    names = dict.fromkeys(name for side in (before, after) for name, _ in side.scorecard.metrics)
    if moved.overlap.verdict == "refused":
        return tuple(MetricDelta(name, None, None) for name in names)
    roles = before.snapshot.roles_changed_in(after.snapshot)
    others: RoleSet = tuple(role for role in roles if role != "outputs")
    cards = dict.fromkeys(subsets(others), before.scorecard)  # the earlier output, as each part of the later judges it
    is_alike = alike.before is not before.scorecard or "outputs" not in roles
    if scorecard_of and others[1:] and is_alike:
        cards |= {of: scorecard_of(before.snapshot.with_roles_of(after.snapshot, of)) for of in cards}
    answers = [side.scorecard.usage.answers if side.scorecard.usage else 0 for side in (before, after)]
    same_answers = moved.overlap.verdict == "comparable" and answers[0] == answers[1]
    by = ({tuple(map(one.axes.get, ANSWERERS)) for one in side.scorecard.documents} for side in (before, after))
    not_alike = () if same_answers else TOTALS if len({*map(len, by)}) == 1 else USAGE
    deltas = []
    for name in names:
        delta = MetricDelta(name, None, None)
        sides = [side.scorecard for side in (before, after)]
        if not regraded(moved.judge, name) and name not in not_alike:
            own = [card.metric(name) for card in sides]
            earlier, later = own if name in USAGE else values_in_common(sides, name, moved.overlap)
            if earlier is not None and later is not None:
                whole = later - earlier
                parts = None
                if name in USAGE:  # only outputs cause a change of usage
                    parts = DeltaParts(whole, 0.0, 0.0)
                elif scorecard_of or not others[is_alike:]:
                    by_outputs = alike.difference(name) if "outputs" in roles else 0.0
                    values = dict(zip(cards, values_in_common([*cards.values()], name, moved.overlap), strict=True))
                    of_each = shapley_values(others, values.__getitem__)
                    if by_outputs is not None and of_each is not None:
                        by_others = whole - by_outputs
                        rules = of_each["rules"] if others[1:] else by_others if "rules" in others else 0.0
                        parts = DeltaParts(by_outputs, by_others - rules, rules)
                delta = MetricDelta(name, whole, parts)
        deltas.append(delta)
    return tuple(deltas)


def compared_alike(before: Point, after: Point, scorecard_of: ScorecardOf | None = None) -> Compared:
    """Return the scorecards of two points as the ground truth and rules of the later one judge both outputs.

    So a correction that came with an output is no part of its change. Each by its own without ``scorecard_of``, unless
    those of the later point are the newest; and if these ask for other fields, for which an output has no values.
    """
    own, mixed = (before.scorecard, after.scorecard), before.snapshot.judged_as(after.snapshot)
    is_newest = after.now is None or after.now is after.scorecard
    now = scorecard_of(mixed[0]) if mixed and scorecard_of else before.now if is_newest else None
    if not mixed or now is None or own[1].traits.is_recorded:  # as a rule
        return Compared(*own)
    then = scored_now(replace(before, now=now))
    return Compared(then, own[1]) if own[0].asked_fields == then.asked_fields else Compared(*own)


def compared_now(before: Point, after: Point) -> Compared:
    """Return the scorecards of two points as the newest ground truth and rules judge both outputs.

    Each by its own, if the newest ask for other fields than one of them was asked for.
    """
    return _compared_now(_clocks(before), _clocks(after))


def _clocks(point: Point) -> tuple[Scorecard, Scorecard, bool]:
    """Return the scorecard of a point as judged then, as judged now, and whether both are asked for the same fields."""
    own, now = point.scorecard, scored_now(point)
    return own, now, own is now or own.asked_fields == now.asked_fields


def _compared_now(before: tuple[Scorecard, Scorecard, bool], after: tuple[Scorecard, Scorecard, bool]) -> Compared:
    return Compared(before[1], after[1]) if before[2] and after[2] else Compared(before[0], after[0])


def scored_now(point: Point) -> Scorecard:
    """Return the scorecard of a point by the newest ground truth and rules, over what it was asked for at its time.

    Documents or cases that were added since are left out: the output could not have them.
    """
    now = point.now
    if now is None or now is point.scorecard:  # as a rule
        return point.scorecard
    shared = Compared(point.scorecard, now).overlap
    if shared.verdict == "refused" or not shared.only_after:
        return now
    added = frozenset(shared.only_after)
    values = dict(scorer(now.kind).metrics_for([each for each in now.documents if each.name not in added]))
    metrics = tuple(metric._replace(value=values.get(metric.name)) for metric in now.metrics)
    return replace(now, metrics=metrics, documents=tuple(each for each in now.documents if each.name not in added))


def judged_today(series: Series, pair: tuple[int, int], results_of: ResultsOf) -> tuple[Series, tuple[int, int]]:
    """Return a series in which the newest ground truth and rules judge the outputs of two points, and their indices.

    It is the given one if they score by these as they did at their time. Else it has these two alone. What is told of
    today, of an edit or of going back, is the ``change`` of the two.
    """
    sides = series.points[pair[0]], series.points[pair[1]]
    compared = compared_now(*sides)
    cards = compared.before, compared.after
    if cards == (sides[0].scorecard, sides[1].scorecard):  # as a rule
        return series, pair
    under = [side.snapshot.under_rules_of(series.points[-1].snapshot) for side in sides]
    names = [{document.name for document in card.documents} for card in cards]
    results = [
        replace(result, scorecard=card, judgements=tuple(each for each in result.judgements if each.document in listed))
        for result, card, listed in zip(results_of(under), cards, names, strict=True)
    ]
    noise = sides[1].noise  # of both: the means of repeats are by the rules of their time
    return series_of(series.info, series.specs, under, results, (noise, noise)), (0, 1)


def best_points(points: Sequence[Point], specs: Sequence[MetricSpec]) -> dict[str, tuple[int | None, ...]]:
    """Return by metric, for each point of an eval, the index of the best point up to and including it.

    None before the first value: an undefined value is never the best.
    """
    clocks = [_clocks(point) for point in points]
    compared = cache(lambda before, after: _compared_now(clocks[before], clocks[after]))  # metrics share most pairs
    since = comparable_since([point.scorecard for point in points], [spec.name for spec in specs])
    best: dict[str, tuple[int | None, ...]] = {}
    for spec in specs:
        indices = []
        at: int | None = None
        for index, here in enumerate(clocks):
            if since[spec.name][index] == index:
                at = None
            if here[1].metric(spec.name) is not None and (at is None or compared(at, index).is_gain(spec)):
                at = index
            indices.append(at)
        best[spec.name] = tuple(indices)
    return best
