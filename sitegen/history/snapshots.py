"""One snapshot: how it is made, what caused it, and where it stands among those of the same commit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from posixpath import basename, splitext
from typing import Final, NamedTuple

from sitegen.history import problems
from sitegen.history.state import EvalInputs, Unit
from sitegen.history.touch import EvalCommit, View
from sitegen.model.recorded import Recorded, read_recorded
from sitegen.model.timeline import Blob, Cause, Snapshot
from sitegen.model.usage import RunUsage

_SHORT: Final = 12
_METRICS: Final = 50
"""Recorded metrics that are kept of a snapshot."""
_COMMIT_ID = re.compile(r"[0-9a-f]{7,64}")


def snapshot(touch: EvalCommit, unit: Unit, cause: tuple[Cause, ...], view: View, inputs: EvalInputs) -> Snapshot:
    """An iteration as the commit leaves it; its first snapshot has the plain slug, a later one the commit's id too."""
    made = Snapshot(
        iteration=unit.number,
        label=view.label,
        slug=f"{unit.slug}-{touch.commit.sha[:_SHORT]}" if unit.points else unit.slug,
        commit=touch.commit,
        cause=cause,
        outputs=view.outputs,
        ground_truth=inputs.ground_truth,
        mapping=inputs.mapping,
        schema=inputs.schema,
        settings=inputs.settings,
        runs=view.runs,
    )
    return _with_origin(made, view, touch)


def with_companions(made: Snapshot, view: View, touch: EvalCommit) -> Snapshot:
    """The snapshot with the record and the runs beside its output as they are now; the same files elsewhere stay."""
    if not _same_file(made.recorded, view.recorded):
        made = _with_origin(made, view, touch)
    return made if same_files(made.runs, view.runs) else made._replace(runs=view.runs)


def _with_origin(made: Snapshot, view: View, touch: EvalCommit) -> Snapshot:
    """The snapshot with what its run states of itself: in the record beside the output, else in the output."""
    beside = _read_record(view.recorded, touch) if view.recorded else _Record()
    inside = _Record() if beside.made_at else _read_outputs(made, view, touch)
    return made._replace(
        recorded=view.recorded,
        recorded_at=beside.at or inside.at or view.stated_at,
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
    return differences(EvalInputs(last.ground_truth, last.mapping, last.schema, last.settings), inputs)


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


def in_order(started: Iterable[tuple[str, Snapshot]]) -> list[tuple[str, Snapshot]]:
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


class _Record(NamedTuple):
    """What a record states; what makes no sense of it is None."""

    at: str | None = None
    made_at: str | None = None
    metrics: tuple[tuple[str, float], ...] = ()
    usage: RunUsage | None = None


def _read_record(blob: Blob, touch: EvalCommit) -> _Record:
    read = touch.read(blob.oid)
    recorded = read_recorded(read.content) if read.content is not None else None
    if recorded is None:
        reason = read.reason or "no JSON object"
        touch.report(problems.unreadable_record(touch.commit, touch.entry.id, blob.path, reason))
        return _Record()
    return _checked(recorded, touch)


def _read_outputs(made: Snapshot, view: View, touch: EvalCommit) -> _Record:
    """What the first of the output's files states that states anything."""
    for blob in view.outputs:
        content = touch.read(blob.oid).content
        try:
            recorded = content and touch.contents.recorded(view.kind, blob.path, content, made.settings)
        except Exception as error:  # a fault of ours in one output; all else can be built
            touch.report(problems.fault_at_output(touch.commit, touch.entry.id, blob.path, error))
            continue
        if recorded:
            return _checked(recorded, touch)
    return _Record()


def _checked(recorded: Recorded, touch: EvalCommit) -> _Record:
    timestamp = recorded.timestamp if recorded.timestamp and _moment(recorded.timestamp) else None
    commit = recorded.git_commit if recorded.git_commit and _COMMIT_ID.fullmatch(recorded.git_commit) else None
    if recorded.git_commit is None and (edited := touch.made_with(recorded)) is not None:
        commit = edited.sha
    return _Record(timestamp, commit, recorded.metrics[:_METRICS], recorded.usage)


def _moment(timestamp: str) -> datetime | None:
    """A point in time from ISO 8601, taken as UTC if it does not say; None if it is none."""
    try:
        parsed = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
