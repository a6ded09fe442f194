"""Makes the snapshots that a commit adds to a series, with their causes and the values that their runs recorded.

The series of an eval consists of iterations in folders, or of the versions of an overwritten output. Both follow these
rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from posixpath import basename, splitext
from typing import Final

from msgspec.structs import replace

from sitegen.history import problems
from sitegen.history.eval_commit import EvalCommit, IterationFiles
from sitegen.history.eval_state import EvalInputs, SeriesIteration, SeriesState
from sitegen.model.metrics import traits_of
from sitegen.model.recorded import Recorded, read_recorded
from sitegen.model.timeline import Blob, Cause, Snapshot
from sitegen.scoring.run_statements import grades_in, recorded_in

_SHORT: Final = 12
_METRICS: Final = 50
"""The most recorded metrics of a snapshot."""
_COMMIT_ID = r"[0-9a-f]{7,64}"


def new_snapshot(
    eval_commit: EvalCommit, iteration: SeriesIteration, cause: tuple[Cause, ...], iteration_files: IterationFiles
) -> Snapshot:
    """Make a snapshot of an iteration after the commit.

    Every snapshot but its first has the commit's id in the slug.
    """
    inputs = iteration_files.inputs(eval_commit.inputs)
    snapshot = Snapshot(
        iteration=iteration.number,
        label=iteration_files.label,
        slug=f"{iteration.slug}-{eval_commit.commit.sha[:_SHORT]}" if iteration.points else iteration.slug,
        commit=eval_commit.commit,
        cause=cause,
        outputs=iteration_files.outputs,
        **inputs._asdict(),
        runs=iteration_files.runs,
        grades=_grades_in(iteration_files.outputs, inputs.settings, eval_commit),
    )
    return _with_origin(snapshot, iteration_files, eval_commit)


def with_companions(snapshot: Snapshot, iteration_files: IterationFiles, eval_commit: EvalCommit) -> Snapshot:
    """Return the snapshot with the current record and runs beside its output. Another path alone does not change it."""
    if not _same_file(snapshot.recorded, iteration_files.recorded):
        snapshot = _with_origin(snapshot, iteration_files, eval_commit)
    return snapshot if same_files(snapshot.runs, iteration_files.runs) else replace(snapshot, runs=iteration_files.runs)


def _with_origin(snapshot: Snapshot, iteration_files: IterationFiles, eval_commit: EvalCommit) -> Snapshot:
    """Return the snapshot with its run's statements, from the record beside the output or else from the output."""
    beside = _read_record(iteration_files.recorded, eval_commit) if iteration_files.recorded else Recorded()
    inside = Recorded() if beside.git_commit else _read_outputs(iteration_files.outputs, snapshot.settings, eval_commit)
    return replace(
        snapshot,
        recorded=iteration_files.recorded,
        recorded_at=beside.timestamp or inside.timestamp or iteration_files.stated_at,
        made_at=beside.git_commit or inside.git_commit,
        recorded_metrics=beside.metrics,
        usage=beside.usage,
    )


def cause_since(last: Snapshot | None, inputs: EvalInputs, *, waited: bool = False) -> tuple[Cause, ...]:
    """Return which inputs changed since the last snapshot was scored.

    The result is empty if nothing was scored before, unless the outputs ``waited`` for the first ground truth.
    """
    if last is None:
        return ("ground_truth",) if waited else ()
    scored_with = EvalInputs(
        ground_truth=last.ground_truth, mapping=last.mapping, schema=last.schema, settings=last.settings
    )
    return differences(scored_with, inputs)


def differences(old: EvalInputs, new: EvalInputs) -> tuple[Cause, ...]:
    """Return which inputs differ for a scorer."""
    parts: tuple[tuple[Cause, bool], ...] = (
        ("ground_truth", not _same_file(old.ground_truth, new.ground_truth)),
        ("mapping", not _same_file(old.mapping, new.mapping)),
        ("schema", not _same_file(old.schema, new.schema)),
        ("settings", old.settings != new.settings),
    )
    return tuple(name for name, differs in parts if differs)


def same_files(old: tuple[Blob, ...], new: tuple[Blob, ...]) -> bool:
    """Whether two lists of files are the same for a scorer, regardless of their paths."""
    return len(old) == len(new) and all(_same_file(*pair) for pair in zip(old, new, strict=True))


def same_contents(old: tuple[Blob, ...], new: tuple[Blob, ...]) -> bool:
    """Whether two outputs have the same contents. Of several files the names count too, as they identify variants."""
    if len(old) == len(new) == 1:
        return old[0].oid == new[0].oid
    return [(basename(blob.path), blob.oid) for blob in old] == [(basename(blob.path), blob.oid) for blob in new]


def _in_series_order(started: Iterable[tuple[str, Snapshot]]) -> list[tuple[str, Snapshot]]:
    """Sort (iteration's name, snapshot) of all snapshots that a commit started by recorded time, then by number.

    A snapshot without a time follows the snapshot with the preceding number.
    """
    by_number = sorted(started, key=lambda pair: (pair[1].iteration, pair[1].label))
    keyed = []
    latest = datetime.min.replace(tzinfo=UTC)
    for place, pair in enumerate(by_number):
        time = moment_of(pair[1].recorded_at) if pair[1].recorded_at else None
        latest = time or latest
        keyed.append((latest, place, pair))
    return [pair for _, _, pair in sorted(keyed, key=lambda row: row[:2])]


def _same_file(old: Blob | None, new: Blob | None) -> bool:
    """Whether two files are the same for a scorer: their contents, and the suffix that determines the format."""
    if old is None or new is None:
        return old is new
    return old.oid == new.oid and (old.path == new.path or splitext(old.path)[1] == splitext(new.path)[1])


def _read_record(blob: Blob, eval_commit: EvalCommit) -> Recorded:
    read = eval_commit.read(blob.oid)
    recorded = read_recorded(read.content) if read.content is not None else None
    if recorded is None:
        reason = read.reason or "no JSON object"
        eval_commit.report(problems.unreadable_record(eval_commit, blob.path, reason))
        return Recorded()
    return _checked_statement(recorded, eval_commit)


def _read_outputs(outputs: tuple[Blob, ...], settings: str, eval_commit: EvalCommit) -> Recorded:
    """Return the statement of the first file of an output that states anything."""
    for blob in outputs:
        content = eval_commit.read(blob.oid).content
        try:
            recorded = content and recorded_in(eval_commit.kind, blob.path, content, settings)
        except Exception as error:  # a fault of sitegen at one output must not stop the build
            eval_commit.report(problems.fault_at_output(eval_commit, blob.path, error))
            continue
        if recorded:
            return _checked_statement(recorded, eval_commit)
    return Recorded()


def _grades_in(outputs: tuple[Blob, ...], settings: str, eval_commit: EvalCommit) -> tuple[str, ...]:
    """Return the named scores of an output that are grades."""
    grades: dict[str, None] = {}
    for blob in outputs if traits_of(eval_commit.kind).names_scores else ():
        content = eval_commit.read(blob.oid).content
        with suppress(Exception):  # a fault of sitegen is reported where the output is scored
            grades |= dict.fromkeys(grades_in(eval_commit.kind, blob.path, content, settings) if content else ())
    return tuple(grades)


def _checked_statement(recorded: Recorded, eval_commit: EvalCommit) -> Recorded:
    """Return a record without a time or a commit that is invalid."""
    timestamp = recorded.timestamp if recorded.timestamp and moment_of(recorded.timestamp) else None
    commit = recorded.git_commit if recorded.git_commit and re.fullmatch(_COMMIT_ID, recorded.git_commit) else None
    if recorded.git_commit is None and (edited := eval_commit.made_with(recorded)) is not None:
        commit = edited.sha
    metrics = dict(islice(recorded.metrics.items(), _METRICS))
    return replace(recorded, timestamp=timestamp, git_commit=commit, metrics=metrics)


def moment_of(iso: str) -> datetime | None:
    """Parse an ISO 8601 time; without a zone it counts as UTC. None if it cannot be read."""
    try:
        time = datetime.fromisoformat(iso)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def start_snapshots(
    series: SeriesState, eval_commit: EvalCommit, touched: Sequence[str], files_by_name: Mapping[str, IterationFiles]
) -> None:
    """Start the commit's snapshots: of new and changed iterations, and of the newest iteration if its inputs changed.

    ``touched`` names the iterations that the commit touched and left in place; ``files_by_name`` holds the files of
    these, of waiting iterations, and of the newest iteration if inputs changed. If a ground truth is needed and
    missing, nothing is started, and the touched iterations wait for it.
    """
    if not eval_commit.scorable:
        series.waiting |= dict.fromkeys(touched, True)
        return
    started = _new_or_changed(series, eval_commit, touched, files_by_name)
    for name, snapshot in _in_series_order(started):
        series.append(name, snapshot)
    newest = series.newest_scored()
    if newest is None or newest not in files_by_name or not eval_commit.inputs_changed or newest in dict(started):
        return
    # Older iterations keep their scores: only the newest is scored again with other inputs.
    iteration, iteration_files = series.units[newest], files_by_name[newest]
    inputs = iteration_files.inputs(eval_commit.inputs)
    if cause := cause_since(series.last_snapshot(newest), inputs):
        series.append(newest, new_snapshot(eval_commit, iteration, cause, iteration_files))


def _new_or_changed(
    series: SeriesState, eval_commit: EvalCommit, touched: Sequence[str], files_by_name: Mapping[str, IterationFiles]
) -> list[tuple[str, Snapshot]]:
    """Return (name, snapshot) of iterations with new outputs. For the same outputs, update the files beside them."""
    previous = series.snapshots[-1] if series.snapshots else None
    candidates = dict.fromkeys((*touched, *series.waiting))
    series.waiting.clear()
    started = []
    for name in candidates:
        iteration = series.units[name]
        if not iteration.present or name not in files_by_name:
            continue
        iteration_files, last = files_by_name[name], series.last_snapshot(name)
        if last is not None and same_files(last.outputs, iteration_files.outputs):
            series.snapshots[iteration.points[-1]] = with_companions(last, iteration_files, eval_commit)
            continue
        inputs = iteration_files.inputs(eval_commit.inputs)
        cause = cause_since(last or previous, inputs, waited=name not in touched)
        started.append((name, new_snapshot(eval_commit, iteration, ("outputs", *cause), iteration_files)))
    return started
