"""Finds the files to restore for the instructions of an eval's best output, and the values of every eval with them.

All values are by the newest ground truth and rules. No test is computed here: a verdict is given only if an existing
test compared the same two outputs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Final, TypeAlias

from sitegen.analysis.best import values_of_summary
from sitegen.analysis.effects import EffectIndex
from sitegen.model.changes import Decision
from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import EvalSummary, Headline, Window
from sitegen.model.timeline import InstructionHistory

_REVERSED: Final[dict[Decision, Decision]] = {
    "better": "worse",
    "likely better": "likely worse",
    "likely worse": "likely better",
    "worse": "better",
}


FileThen: TypeAlias = tuple[str | None, str | None]
"""An instruction file that differs between an earlier state of the instructions and now: its path then, None if it did
not exist, and its path now, None if it was deleted."""


class EvalThen(Frozen):
    """The value of an eval with the instructions of the best version, compared with its present value."""

    eval_id: str
    name: str
    spec: MetricSpec
    """The headline metric."""
    then: Headline
    """The last output of the eval with these instructions."""
    value: float
    change: float
    """Value then minus value now, in the unit of the metric."""
    decision: Decision | None
    """The verdict on the change, if a test compared these outputs."""
    is_best: bool
    """Whether the version is the best one for this eval."""
    or_edit: Commit | None = None
    """As in ``Peak``, if this is the best version."""

    @property
    def better(self) -> float:
        """The change, with a positive sign if going back is better."""
        return self.change if self.spec.higher_is_better else -self.change


class BestInstructions(Frozen):
    """The state of all instruction files when one or more evals were at their best."""

    commit: Commit
    """The edit that the best outputs are attributed to."""
    evals: tuple[EvalThen, ...]
    """Evals for which this version is the best, then the others, largest loss first."""
    files: tuple[FileThen, ...]
    """Files that differ, by path; empty if the instructions are the same as now."""


def best_instructions(
    files: Sequence[InstructionHistory], summaries: Iterable[EvalSummary], index: EffectIndex
) -> tuple[BestInstructions, ...]:
    """Return the versions that are the best for at least one eval, newest first."""
    alive = [summary for summary in summaries if not summary.deleted and summary.peak]
    commits = {edit.commit.position: edit.commit for file in files for edit in file.edits}
    positions = {summary.peak.edit for summary in alive if summary.peak and summary.peak.edit in commits}
    return tuple(
        version
        for position in sorted(positions, reverse=True)
        for version in _versions(commits[position], files, alive, index)
    )


def _versions(
    commit: Commit, files: Sequence[InstructionHistory], summaries: Sequence[EvalSummary], index: EffectIndex
) -> Iterator[BestInstructions]:
    """Yield a version for the evals whose instructions differ from it now, and one for those that still have it."""
    position = commit.position
    best_for = [summary.info.id for summary in summaries if summary.peak and summary.peak.edit == position]
    driving = [file for file in files if any(index.drives(file.path, eval_id) for eval_id in best_for)]
    changed = [(file, change) for file in driving if (change := _file_then(file, position))]
    moved = {
        summary.info.id for summary in summaries if any(index.drives(file.path, summary.info.id) for file, _ in changed)
    }
    versions = ((moved, tuple(change for _, change in changed)), ({*best_for} - moved, ()))
    for shown, differing in versions:
        evals = [effect for at in summaries if at.info.id in shown if (effect := _eval_then(at, position))]
        evals.sort(key=lambda effect: (not effect.is_best, effect.better, effect.name, effect.eval_id))
        if any(effect.is_best for effect in evals):
            yield BestInstructions(commit=commit, evals=tuple(evals), files=differing)


def _file_then(file: InstructionHistory, position: int) -> FileThen | None:
    """Compare a file with its state at a position; None if it is the same."""
    number = bisect_right(file.edits, position, key=attrgetter("commit.position"))
    earlier = file.edits[number - 1] if number else None
    # In a truncated history, files can exist before their first edit.
    then = earlier.new if earlier else file.edits[0].old
    now = None if file.deleted else file.edits[-1].new
    path = earlier.path if earlier else file.edits[0].path
    before, after = (path, then.oid) if then else None, (file.path, now.oid) if now else None
    return None if before == after else (path if then else None, file.path if now else None)


def _eval_then(summary: EvalSummary, position: int) -> EvalThen | None:
    """Compare an eval; None without an output made with these instructions, or without a value."""
    windows, values = summary.windows, values_of_summary(summary)
    number = bisect_right(windows, position, key=attrgetter("edit"))
    if not number or not values or not summary.peak:
        return None
    is_best = summary.peak.edit == position
    at = summary.peak.at if is_best else windows[number - 1].after
    then, now = values[at], values[-1]
    if then is None or now is None:
        return None
    return EvalThen(
        eval_id=summary.info.id,
        name=summary.info.name,
        spec=summary.specs[0],
        then=summary.headlines[at],
        value=then,
        change=then - now,
        decision=_decision(summary, at, position, windows[number:]),
        is_best=is_best,
        or_edit=summary.peak.or_edit if is_best else None,
    )


def _decision(summary: EvalSummary, at: int, position: int, later: Sequence[Window]) -> Decision | None:
    """Return the verdict on the change from the newest point back to another point, if a test compared them.

    There is none if both may have been made with the same edit, at *position*.
    """
    newest = len(summary.headlines) - 1
    if at in (newest, summary.headlines[newest].first_with_output):
        return "same"
    if later and later[-1].or_edit and later[-1].or_edit.position == position:
        return None  # the newest output may have been made with this very version
    if summary.peak and summary.peak.at == at and summary.since_best:
        return _reversed(summary.since_best.decision)
    window = later[0] if len(later) == 1 else None
    # Verdicts on edits use the ground truth and rules of their time: they are valid if these gave the same value.
    as_scored_then = values_of_summary(summary)[at] == summary.headlines[at].values[0]
    compared = window is not None and (window.before, window.after) == (at, newest) and as_scored_then
    return _reversed(window.verdict.decision) if window and window.verdict and compared else None


def _reversed(decision: Decision) -> Decision:
    return _REVERSED.get(decision, decision)
