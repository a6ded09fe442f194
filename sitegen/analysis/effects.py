"""Effects of instruction edits: how each eval changed from before an edit to its first output. Association, not cause.

A *window* is the points of one eval that are attributed to one edit (``analysis/edits.py``). An *effect* is the change
of the eval across the edit, for the pages. The *best instructions* of an eval are the files to restore for its best
output, with the values of every eval: all by the newest ground truth and rules. No test is computed for them: a
verdict is given only if an existing test compared the same two outputs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final, TypeAlias

from sitegen.analysis.change import compared_now
from sitegen.analysis.deltas import Compared
from sitegen.analysis.edits import BEFORE_ANY, OutputEdits, attributed_to, other_edit
from sitegen.analysis.noise.samples import interval_of
from sitegen.model.changes import Decision
from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import HEADLINES, BestOutput, Effect, EvalInfo, EvalSummary, Headline, Point, Series, Window
from sitegen.model.timeline import InstructionHistory

_SHARING: Final = 3  # largest number of edits before one output, besides the newest, that share its window


def windows(points: Sequence[Point], edits: OutputEdits) -> tuple[Window, ...]:
    """Compute the windows of an eval, by edit: each with its first output and the last point of an earlier edit.

    What was made again with the same instructions is no effect of the edit. The first commit with an output counts, of
    several its last one; if possible an output by the same model and judge as the earlier point, certainly made with
    the edit, readable, no copy, and with the most documents of the earlier point.

    The newest ground truth and rules judge both outputs. Of one that was scored again, the last point is named.

    Several edits before the same output share its window: nothing tells which of them moved it.
    """
    made_by = [attributed_to(commits) for commits in edits.made_with]
    newest: dict[int, int] = {}
    positions: list[int] = []
    found: dict[int, Window] = {}
    flaws: dict[int, tuple[bool, bool, bool, int]] = {}
    for index, (point, position) in enumerate(zip(points, made_by, strict=True)):
        if position not in newest:
            insort(positions, position)
        newest[position] = index
        if position == BEFORE_ANY or "outputs" not in point.snapshot.cause:
            continue
        window, missing = Window(edit=position, before=None, after=index, or_edit=other_edit(edits.made_with[index])), 0
        if earlier := bisect_left(positions, position):
            before = newest[positions[earlier - 1]]
            compared = compared_now(points[before], point)
            (model, judge), missing = compared.exchanges, len(compared.overlap.only_before)
            window = window._replace(before=before, over_common=_over_common(compared), model=model, judge=judge)
        is_no_answer = point.is_copy or point.scorecard.status != "scored"
        flaw = bool(window.model or window.judge), bool(window.or_edit), is_no_answer, missing
        kept, least = points[found.get(position, window).after].snapshot, flaws.get(position, flaw)
        if flaw < least or (flaw == least and kept.commit == point.snapshot.commit):
            found[position], flaws[position] = window, flaw
    commits = {edit.commit.position: edit.commit for edit in edits.edits}
    edited = [*commits]
    starts = [index for index, point in enumerate(points) if "outputs" in point.snapshot.cause]
    ends = [*starts, len(points)]
    for at, window in [*found.items()]:
        last = ends[bisect_right(starts, window.after)] - 1
        if window.before is not None and last != window.after:  # the newest ground truth may have other documents
            window = window._replace(over_common=_over_common(compared_now(points[window.before], points[last])))
        found[at] = window = window._replace(after=last)
        since = at if window.before is None else made_by[window.before]
        for position in edited[bisect_right(edited, since) : bisect_left(edited, at)][-_SHARING:]:
            found[at] = window._replace(or_edit=window.or_edit or commits[position])
            found.setdefault(position, window._replace(edit=position, or_edit=commits[at]))
    return tuple(sorted(found.values()))


def _over_common(compared: Compared) -> tuple[float | None, ...] | None:
    """Return the change of each headline over what both outputs have; None if they can be compared as they are."""
    differences = (compared.difference(metric.name) for metric in compared.after.metrics[:HEADLINES])
    return None if compared.overlap.verdict == "comparable" else tuple(differences)


def best_output(series: Series, best: int | None, made_with: Sequence[Sequence[Commit]]) -> BestOutput | None:
    """Return the best output of an eval, which the ``best`` of its points has; None if no output has a headline.

    ``made_with``: for each point, the commits of the edits that its output can have been made with (``OutputEdits``).
    """
    if best is None:
        return None
    points, spec = series.points, series.specs[0]
    card = compared_now(points[best], points[-1]).before
    value = card.metric(spec.name)
    if value is None:
        return None
    return BestOutput(
        at=best,
        value=value,
        edit=attributed_to(made_with[best]),
        or_edit=other_edit(made_with[best]),
        interval=interval_of(card, spec.name),
    )


class EffectIndex:
    """Looks up the effects of an edit, in time proportional to the evals that it changed, not to history."""

    def __init__(self, summaries: Iterable[EvalSummary], driven_by: Mapping[str, frozenset[str]]) -> None:
        """``driven_by``: maps evals to the paths of the files that drive them; every file drives any other eval."""
        self._driven_by = driven_by
        self._summaries = {summary.info.id: summary for summary in summaries}
        every = ((summary, window) for summary in self._summaries.values() for window in summary.windows)
        self.by_edit = grouped((window.edit, summary.effect_in(window)) for summary, window in every)
        """By the position of an edit, its effects, and those of a later edit before the same output (``is_shared``)."""

    def effects_of(self, position: int, path: str | None = None) -> tuple[Effect, ...]:
        """Return the effects of the edit at a commit's position, in the order of the evals.

        Only evals with an output made between this edit and the next have an effect. ``path``: a file, of
        which only the evals that it drives are listed.
        """
        return tuple(
            effect
            for effect in self.by_edit.get(position, ())
            if not effect.window.is_shared and (path is None or self.drives(path, effect.info.id))
        )

    def drives(self, path: str, eval_id: str) -> bool:
        """Decide whether the file drives the eval."""
        return path in self._driven_by.get(eval_id, (path,))

    def best_instructions(self, files: Sequence[InstructionHistory]) -> tuple[BestInstructions, ...]:
        """Return the versions that are the best for at least one eval, newest first."""
        alive = [summary for summary in self._summaries.values() if not summary.deleted and summary.best_output]
        commits = {edit.commit.position: edit.commit for file in files for edit in file.edits}
        positions = {
            summary.best_output.edit for summary in alive if summary.best_output and summary.best_output.edit in commits
        }
        return tuple(
            version
            for position in sorted(positions, reverse=True)
            for version in self._versions(commits[position], files, alive)
        )

    def _versions(
        self, commit: Commit, files: Sequence[InstructionHistory], summaries: Sequence[EvalSummary]
    ) -> Iterator[BestInstructions]:
        """Yield a version for the evals whose instructions differ from it now, and one for those that still have it."""
        position = commit.position
        best_for = [
            summary.info.id for summary in summaries if summary.best_output and summary.best_output.edit == position
        ]
        driving = [file for file in files if any(self.drives(file.path, eval_id) for eval_id in best_for)]
        changed = [(file, change) for file in driving if (change := _file_then(file, position))]
        moved = {
            summary.info.id
            for summary in summaries
            if any(self.drives(file.path, summary.info.id) for file, _ in changed)
        }
        versions = ((moved, tuple(change for _, change in changed)), ({*best_for} - moved, ()))
        for shown, differing in versions:
            evals = [effect for at in summaries if at.info.id in shown if (effect := _eval_then(at, position))]
            evals.sort(key=lambda effect: (not effect.is_best, effect.better, effect.info.name, effect.info.id))
            if any(effect.is_best for effect in evals):
                yield BestInstructions(commit=commit, evals=tuple(evals), files=differing)


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

    info: EvalInfo
    spec: MetricSpec
    then: Headline
    """The last output of the eval with these instructions."""
    value: float
    change: float
    """Value then minus value now, in the unit of the metric; of the best version, over what both outputs have."""
    decision: Decision | None
    """The verdict on the change, if a test compared these outputs."""
    is_best: bool
    or_edit: Commit | None = None
    """As in ``BestOutput``, if this is the best version."""

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
    windows, values = summary.windows, summary.values_now
    number, best = bisect_right(windows, position, key=attrgetter("edit")), summary.best_output
    if not number or not values or not best:
        return None
    is_best = best.edit == position
    if not is_best and windows[number - 1].is_shared:  # its output may have been made with a later edit
        return None
    until = windows[number].before if number < len(windows) else len(values) - 1
    at = best.at if is_best else max(windows[number - 1].after, until or 0)
    then, now = best.value if is_best else values[at], values[-1]
    if then is None or now is None:
        return None
    over_common = summary.since_best.change if is_best and summary.since_best else None
    return EvalThen(
        info=summary.info,
        spec=summary.specs[0],
        then=summary.headlines[at],
        value=then,
        change=then - now if over_common is None else -over_common,
        decision=_decision(summary, at, position, windows[number:]),
        is_best=is_best,
        or_edit=best.or_edit if is_best else None,
    )


def _decision(summary: EvalSummary, at: int, position: int, later: Sequence[Window]) -> Decision | None:
    """Return the verdict on the change from the newest point back to another point, if a test compared them.

    There is none if both may have been made with the same edit, at ``position``.
    """
    newest = len(summary.headlines) - 1
    if at in (newest, summary.headlines[newest].first_with_output):
        return "same"
    if later and later[-1].or_edit and later[-1].or_edit.position == position:
        return None  # the newest output may have been made with this very version
    if summary.best_output and summary.best_output.at == at and summary.since_best:
        return _REVERSED.get(summary.since_best.decision, summary.since_best.decision)
    window = later[-1] if later and later[0][1:3] == later[-1][1:3] == (at, newest) else None
    found = window.verdict.decision if window and window.verdict else None
    return _REVERSED.get(found, found) if found else None
