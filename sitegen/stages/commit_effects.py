"""How points changed evals: across each commit that added points, and across each edit that they are attributed to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.copies import first_of_each_output
from sitegen.analysis.deltas import delta, mixtures
from sitegen.analysis.flips import flips, flips_between
from sitegen.analysis.memo import Memo
from sitegen.analysis.noise.changes import output_verdict
from sitegen.analysis.series import SeriesInputs
from sitegen.history.memo_rows import within
from sitegen.model.cells import Flips
from sitegen.model.noise import ChangeVerdict
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import EvalSummary, Point, Series, Window
from sitegen.model.timeline import Cause, CommitRecord, EvalHistory, Snapshot
from sitegen.named_tuple import NamedTuple
from sitegen.pages.commit.effects import CommitEffect, commit_effect, earlier_edits
from sitegen.pages.commit.page import EvalMove
from sitegen.pages.commit.touched import Touched
from sitegen.stages.cached_kinds import COMMIT_EFFECTS, EditOutcome


class EffectOfCommit(NamedTuple):
    """The effect of a commit on an eval."""

    sha: str
    effect: CommitEffect


class OutcomeOfEdit(NamedTuple):
    """How an eval changed across an edit."""

    position: int
    """The position of the edit's commit."""
    outcome: EditOutcome


def mixtures_of_commits(snapshots: Sequence[Snapshot], first_new: int = 0) -> Iterator[Snapshot]:
    """Yield the mixtures that comparisons across commits with several points need, except mixtures of neighbours."""
    for before, after in _spans(snapshots, first_new):
        if after - before > 1:
            yield from mixtures(snapshots[before], snapshots[after])


class SeriesVerdicts:
    """Judges changes between two points of a series, each once: often a commit and an edit changed the same output.

    Repeats do not count. Repeated runs can arrive later, and a stored verdict is not computed again.
    """

    def __init__(self, series: Series) -> None:
        self._series = series
        self._verdicts: dict[tuple[int, int], ChangeVerdict | None] = {}

    def between(self, before: int, after: int, later: Point) -> ChangeVerdict | None:
        """Return the verdict on a change. ``later``: the point at *after*, with its flips since the point *before*."""
        if (before, after) not in self._verdicts:
            series = self._series
            self._verdicts[before, after] = output_verdict(
                series.points[before], later, series.info.kind, higher_is_better=series.specs[0].higher_is_better
            )
        return self._verdicts[before, after]


def effects_of_commits(
    series: Series,
    inputs: SeriesInputs,
    first_new: int,
    card: Callable[[Snapshot], Scorecard],
    verdicts: SeriesVerdicts,
) -> Iterator[EffectOfCommit]:
    """Yield the effect of each commit with new points, except a commit without an earlier point."""
    snapshots = series.history.snapshots
    for before, after in _spans(snapshots, first_new):
        earlier, later = series.points[before], series.points[after]
        if after - before > 1:  # the last point's own delta compares it with another point of the same commit
            change = delta(inputs.metrics_for, earlier, later, card)
            later = replace(later, delta=change, flips=flips(series.cells, before, after), unit_changes=())
        verdict = verdicts.between(before, after, later)
        effect = commit_effect(series.info, series.specs, earlier, later, verdict)
        if effect is not None:
            sha = later.snapshot.commit.sha
            edits = earlier_edits(chain.from_iterable(inputs.edits.beside[before + 1 : after + 1]), sha)
            yield EffectOfCommit(sha, replace(effect, edits=edits))


def outcomes_of_edits(
    series: Series, windows: Sequence[Window], first_new: int, verdicts: SeriesVerdicts
) -> Iterator[OutcomeOfEdit]:
    """Yield how the eval changed across each edit that new points are attributed to."""
    pairs = {
        window.edit: (window.before, window.after)
        for window in windows
        if window.before is not None and window.after >= first_new
    }
    distant = [(before, after) for before, after in pairs.values() if after - before > 1]
    changes = dict(zip(distant, flips_between(series.cells, distant), strict=True))
    for edit, (before, after) in pairs.items():
        later = series.points[after]
        if (before, after) in changes:
            later = replace(later, flips=changes[before, after], unit_changes=())
        yield OutcomeOfEdit(edit, edit_outcome(later, verdicts.between(before, after, later)))


def edit_outcome(after: Point, verdict: ChangeVerdict | None) -> EditOutcome:
    """Reduce the change to the later of two outputs to what is stored."""
    flips = after.flips or Flips()
    return EditOutcome(flips=replace(flips, still=()), verdict=verdict and replace(verdict, fields=()))


def _spans(snapshots: Sequence[Snapshot], first_new: int) -> Iterator[tuple[int, int]]:
    """For each commit, the indices of the last point before it and of its own last point."""
    for _, points in groupby(range(len(snapshots)), key=lambda index: snapshots[index].commit.position):
        first, *rest = points
        last = rest[-1] if rest else first
        if first and last >= first_new:
            yield first - 1, last


CAUSES: Final[tuple[Cause, ...]] = ("outputs", "ground_truth", "mapping", "schema", "settings")
"""In the order in which the page of a commit lists them."""


def names_of_evals(changed: Sequence[Touched], summaries: dict[str, EvalSummary], position: int) -> dict[str, str]:
    """Return the names of touched evals that had a page when the commit was the newest: later evals change nothing."""
    names = {}
    for item in changed:
        summary = summaries.get(item.eval_id)
        if summary and (
            item.role == "ground_truth" or (summary.headlines and summary.headlines[0].commit_position <= position)
        ):
            names[item.eval_id] = summary.info.name
    return names


def moves_of_commit(
    record: CommitRecord,
    summaries: dict[str, EvalSummary],
    histories: dict[str, EvalHistory],
    memo: Memo,
) -> tuple[EvalMove, ...]:
    """Return the change of each eval that has points of the commit, except evals that sitegen failed to make."""
    moves = []
    for eval_id in sorted({eval_id for eval_id, _ in record.snapshots} & summaries.keys()):
        summary = summaries[eval_id]
        start = bisect_left(summary.headlines, record.commit.position, key=attrgetter("commit_position"))
        end = bisect_right(summary.headlines, record.commit.position, key=attrgetter("commit_position"))
        causes = {cause for snapshot in histories[eval_id].snapshots[start:end] for cause in snapshot.cause}
        moves.append(
            EvalMove(
                info=summary.info,
                specs=summary.specs,
                before=summary.headlines[start - 1] if start else None,
                points=summary.headlines[start:end],
                causes=tuple(cause for cause in CAUSES if cause in causes),
                effect=COMMIT_EFFECTS.get(memo, within(eval_id, record.commit.sha)),
                originals=tuple(
                    None if point.first_with_output is None else summary.headlines[point.first_with_output].label
                    for point in summary.headlines[start:end]
                ),
                outputs=len(first_of_each_output(summary.headlines, range(start, end))),
            )
        )
    return tuple(moves)
