"""Snapshots: how one is made, what caused it, and which of them a commit starts in a series.

An eval has two candidates for its series, iterations in folders and the versions of an overwritten output; both follow
these rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from posixpath import basename, splitext
from typing import Final, NamedTuple

from sitegen.history import problems
from sitegen.history.eval_commit import EvalCommit, InputsInForce, IterationFiles
from sitegen.history.fold_state import EvalInputs, SeriesIteration, SeriesState
from sitegen.model.recorded import Recorded, read_recorded
from sitegen.model.timeline import Blob, Cause, Snapshot
from sitegen.model.usage import RunUsage

_SHORT: Final = 12
_METRICS: Final = 50
"""Recorded metrics that are kept of a snapshot."""
_COMMIT_ID = re.compile(r"[0-9a-f]{7,64}")


def new_snapshot(
    eval_commit: EvalCommit,
    iteration: SeriesIteration,
    cause: tuple[Cause, ...],
    iteration_files: IterationFiles,
    inputs: EvalInputs,
) -> Snapshot:
    """An iteration as the commit leaves it; its first snapshot has the plain slug, a later one the commit's id too."""
    snapshot = Snapshot(
        iteration=iteration.number,
        label=iteration_files.label,
        slug=f"{iteration.slug}-{eval_commit.commit.sha[:_SHORT]}" if iteration.points else iteration.slug,
        commit=eval_commit.commit,
        cause=cause,
        outputs=iteration_files.outputs,
        ground_truth=inputs.ground_truth,
        mapping=inputs.mapping,
        schema=inputs.schema,
        settings=inputs.settings,
        runs=iteration_files.runs,
    )
    return _with_origin(snapshot, iteration_files, eval_commit)


def with_companions(snapshot: Snapshot, iteration_files: IterationFiles, eval_commit: EvalCommit) -> Snapshot:
    """The snapshot with the record and the runs beside its output as they are now; the same files elsewhere stay."""
    if not _same_file(snapshot.recorded, iteration_files.recorded):
        snapshot = _with_origin(snapshot, iteration_files, eval_commit)
    return snapshot if same_files(snapshot.runs, iteration_files.runs) else snapshot._replace(runs=iteration_files.runs)


def _with_origin(snapshot: Snapshot, iteration_files: IterationFiles, eval_commit: EvalCommit) -> Snapshot:
    """The snapshot with what its run states of itself: in the record beside the output, else in the output."""
    beside = _read_record(iteration_files.recorded, eval_commit) if iteration_files.recorded else _RunStatement()
    inside = _RunStatement() if beside.made_at else _read_outputs(snapshot, iteration_files, eval_commit)
    return snapshot._replace(
        recorded=iteration_files.recorded,
        recorded_at=beside.at or inside.at or iteration_files.stated_at,
        made_at=beside.made_at or inside.made_at,
        recorded_metrics=beside.metrics,
        usage=beside.usage,
    )


def cause_since(last: Snapshot | None, inputs: EvalInputs, *, waited: bool = False) -> tuple[Cause, ...]:
    """What differs from what the last snapshot was scored with, besides outputs.

    Where nothing was scored before, nothing differs, unless the outputs *waited* for the first ground truth.
    """
    if last is None:
        return ("ground_truth",) if waited else ()
    scored_with = EvalInputs(
        ground_truth=last.ground_truth, mapping=last.mapping, schema=last.schema, settings=last.settings
    )
    return differences(scored_with, inputs)


def differences(old: EvalInputs, new: EvalInputs) -> tuple[Cause, ...]:
    """Which inputs are others to a scorer."""
    parts: tuple[tuple[Cause, bool], ...] = (
        ("ground_truth", not _same_file(old.ground_truth, new.ground_truth)),
        ("mapping", not _same_file(old.mapping, new.mapping)),
        ("schema", not _same_file(old.schema, new.schema)),
        ("settings", old.settings != new.settings),
    )
    return tuple(name for name, differs in parts if differs)


def same_files(old: tuple[Blob, ...], new: tuple[Blob, ...]) -> bool:
    """Whether two lists of files are the same to a scorer, wherever they lie."""
    return len(old) == len(new) and all(_same_file(*pair) for pair in zip(old, new, strict=True))


def same_contents(old: tuple[Blob, ...], new: tuple[Blob, ...]) -> bool:
    """Whether two outputs hold the same; of several files their names count, which tell variants apart."""
    if len(old) == len(new) == 1:
        return old[0].oid == new[0].oid
    return [(basename(blob.path), blob.oid) for blob in old] == [(basename(blob.path), blob.oid) for blob in new]


def in_series_order(started: Iterable[tuple[str, Snapshot]]) -> list[tuple[str, Snapshot]]:
    """What one commit started, by recorded time, then number; one without a time stays behind the number before it.

    Both sides are pairs of the iteration's name and its snapshot.
    """
    by_number = sorted(started, key=lambda pair: (pair[1].iteration, pair[1].label))
    keyed = []
    latest = datetime.min.replace(tzinfo=UTC)
    for place, pair in enumerate(by_number):
        time = _moment(pair[1].recorded_at) if pair[1].recorded_at else None
        latest = time or latest
        keyed.append((latest, place, pair))
    return [pair for _, _, pair in sorted(keyed, key=lambda row: row[:2])]


def _same_file(old: Blob | None, new: Blob | None) -> bool:
    """Whether two files are the same to a scorer: contents, and the suffix that says the format."""
    if old is None or new is None:
        return old is new
    return old.oid == new.oid and (old.path == new.path or splitext(old.path)[1] == splitext(new.path)[1])


class _RunStatement(NamedTuple):
    """What a record states; what makes no sense of it is None."""

    at: str | None = None
    made_at: str | None = None
    metrics: tuple[tuple[str, float], ...] = ()
    usage: RunUsage | None = None


def _read_record(blob: Blob, eval_commit: EvalCommit) -> _RunStatement:
    read = eval_commit.read(blob.oid)
    recorded = read_recorded(read.content) if read.content is not None else None
    if recorded is None:
        reason = read.reason or "no JSON object"
        eval_commit.report(problems.unreadable_record(eval_commit.commit, eval_commit.entry.id, blob.path, reason))
        return _RunStatement()
    return _checked_statement(recorded, eval_commit)


def _read_outputs(snapshot: Snapshot, iteration_files: IterationFiles, eval_commit: EvalCommit) -> _RunStatement:
    """What the first of the output's files states that states anything."""
    for blob in iteration_files.outputs:
        content = eval_commit.read(blob.oid).content
        try:
            recorded = content and eval_commit.contents.recorded(
                iteration_files.kind, blob.path, content, snapshot.settings
            )
        except Exception as error:  # a fault of ours in one output; all else can be built
            eval_commit.report(problems.fault_at_output(eval_commit.commit, eval_commit.entry.id, blob.path, error))
            continue
        if recorded:
            return _checked_statement(recorded, eval_commit)
    return _RunStatement()


def _checked_statement(recorded: Recorded, eval_commit: EvalCommit) -> _RunStatement:
    timestamp = recorded.timestamp if recorded.timestamp and _moment(recorded.timestamp) else None
    commit = recorded.git_commit if recorded.git_commit and _COMMIT_ID.fullmatch(recorded.git_commit) else None
    if recorded.git_commit is None and (edited := eval_commit.made_with(recorded)) is not None:
        commit = edited.sha
    return _RunStatement(at=timestamp, made_at=commit, metrics=recorded.metrics[:_METRICS], usage=recorded.usage)


def _moment(timestamp: str) -> datetime | None:
    """A point in time from ISO 8601, taken as UTC if it does not say; None if it is none."""
    try:
        parsed = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def start_snapshots(
    series: SeriesState,
    eval_commit: EvalCommit,
    in_force: InputsInForce,
    touched: Sequence[str],
    files_by_name: Mapping[str, IterationFiles],
) -> None:
    """Start the commit's snapshots: of iterations that came or changed, and of the newest if its inputs changed.

    *touched* names the iterations that the commit touched and left in place; *files_by_name* holds these, those that
    wait, and the newest if inputs changed. Without ground truth, where one is needed, nothing is started, and what was
    touched waits for one.
    """
    if not in_force.scorable:
        series.waiting |= dict.fromkeys(touched, True)
        return
    started = _new_or_changed(series, eval_commit, in_force.inputs, touched, files_by_name)
    for name, snapshot in in_series_order(started):
        _append_snapshot(series, name, snapshot)
    newest = newest_scored(series)
    # Older iterations keep the score that they had: only the newest is scored again by other inputs.
    if (
        in_force.changed
        and newest is not None
        and newest in files_by_name
        and newest not in {name for name, _ in started}
    ):
        _score_again(series, eval_commit, in_force.inputs, newest, files_by_name[newest])


def mark_present(series: SeriesState, iteration: SeriesIteration, present: bool) -> None:
    """Mark an iteration and all its snapshots as there, or as deleted."""
    iteration.present = present
    for index in iteration.points:
        series.snapshots[index] = series.snapshots[index]._replace(deleted=not present)


def last_snapshot(series: SeriesState, iteration: SeriesIteration) -> Snapshot | None:
    """An iteration's last; None if it never was scored."""
    return series.snapshots[iteration.points[-1]] if iteration.points else None


def newest_scored(series: SeriesState) -> str | None:
    """The iteration that came last of those that are there and were scored."""
    return next(
        (name for name, iteration in reversed(series.units.items()) if iteration.present and iteration.points), None
    )


def _new_or_changed(
    series: SeriesState,
    eval_commit: EvalCommit,
    inputs: EvalInputs,
    touched: Sequence[str],
    files_by_name: Mapping[str, IterationFiles],
) -> list[tuple[str, Snapshot]]:
    """(name, snapshot) of iterations with new outputs; where outputs are the same, what lies beside them is taken."""
    previous = series.snapshots[-1] if series.snapshots else None
    candidates = dict.fromkeys((*touched, *series.waiting))
    series.waiting.clear()
    started = []
    for name in candidates:
        iteration = series.units[name]
        if not iteration.present or name not in files_by_name:
            continue
        iteration_files, last = files_by_name[name], last_snapshot(series, iteration)
        if last is not None and same_files(last.outputs, iteration_files.outputs):
            series.snapshots[iteration.points[-1]] = with_companions(last, iteration_files, eval_commit)
            continue
        own = iteration_files.inputs(inputs)
        cause = cause_since(last or previous, own, waited=name not in touched)
        started.append((name, new_snapshot(eval_commit, iteration, ("outputs", *cause), iteration_files, own)))
    return started


def _score_again(
    series: SeriesState, eval_commit: EvalCommit, inputs: EvalInputs, name: str, iteration_files: IterationFiles
) -> None:
    iteration = series.units[name]
    own = iteration_files.inputs(inputs)
    cause = cause_since(last_snapshot(series, iteration), own)
    if cause:
        _append_snapshot(series, name, new_snapshot(eval_commit, iteration, cause, iteration_files, own))


def _append_snapshot(series: SeriesState, name: str, snapshot: Snapshot) -> None:
    iteration = series.units[name]
    if not iteration.points:
        # Iterations stand in the order of their first snapshots.
        series.units[name] = series.units.pop(name)
    iteration.points.append(len(series.snapshots))
    series.snapshots.append(snapshot)
