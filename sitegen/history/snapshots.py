"""What differs between the inputs of two snapshots, and the order of the snapshots that a commit starts."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from posixpath import basename, splitext

from sitegen.history.eval_state import EvalInputs
from sitegen.model.timeline import Blob, Cause, Snapshot


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
        ("ground_truth", not same_file(old.ground_truth, new.ground_truth)),
        ("mapping", not same_file(old.mapping, new.mapping)),
        ("schema", not same_file(old.schema, new.schema)),
        ("settings", old.settings != new.settings),
    )
    return tuple(name for name, differs in parts if differs)


def same_files(old: tuple[Blob, ...], new: tuple[Blob, ...]) -> bool:
    """Whether two lists of files are the same for a scorer, regardless of their paths."""
    return len(old) == len(new) and all(same_file(*pair) for pair in zip(old, new, strict=True))


def same_contents(old: tuple[Blob, ...], new: tuple[Blob, ...]) -> bool:
    """Whether two outputs have the same contents. Of several files the names count too, as they identify variants."""
    if len(old) == len(new) == 1:
        return old[0].oid == new[0].oid
    return [(basename(blob.path), blob.oid) for blob in old] == [(basename(blob.path), blob.oid) for blob in new]


def in_series_order(started: Iterable[tuple[str, Snapshot]]) -> list[tuple[str, Snapshot]]:
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


def same_file(old: Blob | None, new: Blob | None) -> bool:
    """Whether two files are the same for a scorer: their contents, and the suffix that determines the format."""
    if old is None or new is None:
        return old is new
    return old.oid == new.oid and (old.path == new.path or splitext(old.path)[1] == splitext(new.path)[1])


def moment_of(iso: str) -> datetime | None:
    """Parse an ISO 8601 time; without a zone it counts as UTC. None if it cannot be read."""
    try:
        time = datetime.fromisoformat(iso)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
