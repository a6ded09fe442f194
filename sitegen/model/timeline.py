"""The timeline: for each eval its snapshots, for each instruction file its edits, oldest first."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from sitegen.model.commits import ChangedPath, Commit
from sitegen.model.usage import RunUsage

Cause: TypeAlias = Literal["outputs", "ground_truth", "mapping", "schema", "settings"]


class Blob(NamedTuple):
    """A file at a revision: where it stood, and the id of its contents."""

    path: str
    oid: str


class Snapshot(NamedTuple):
    """One point of a series: what was scored, by what, and which commit brought it. A manifest, no contents."""

    iteration: int
    """The number of ``iteration-NNN``, or which version of an overwritten output it is, from 1."""
    label: str
    """``iteration-012``: the folder's own name, or the number written that way for an overwritten output."""
    slug: str
    """File name of the report without ``.html``: ``0012``; ``0012-<sha>`` if re-scored; unique in the eval."""
    commit: Commit
    cause: tuple[Cause, ...]
    """What changed since this iteration was last scored; ``outputs`` stands first if it is among them."""
    outputs: tuple[Blob, ...]
    """The files of the output, by path; empty if the output is missing from the iteration."""
    ground_truth: Blob | None
    mapping: Blob | None
    schema: Blob | None
    settings: str
    """The eval's settings in force, as canonical JSON: what scoring depends on besides blobs."""
    recorded: Blob | None = None
    """``eval-results.json`` beside the output."""
    recorded_at: str | None = None
    """The timestamp that it records, ISO 8601."""
    made_at: str | None = None
    """Id of the commit whose instructions made the output, if the output records it or hashes of instruction files."""
    deleted: bool = False
    """The iteration's folder is gone from the built revision."""
    runs: tuple[Blob, ...] = ()
    """Outputs of repeated runs of this iteration, ``runs/K/extracted.json``."""
    recorded_metrics: tuple[tuple[str, float], ...] = ()
    """(name, value) of what the record says was measured: shown beside what is computed, never in its place."""
    usage: RunUsage | None = None
    """What the record says that the run took, and which model it asked; None if it says nothing of that."""


Layout: TypeAlias = Literal["iterations", "overwritten"]


class EvalHistory(NamedTuple):
    """One eval through history."""

    id: str
    kind: str
    layout: Layout
    snapshots: tuple[Snapshot, ...]
    """In series order: by commit, within one commit by recorded timestamp, then by iteration number."""
    renamed_from: tuple[str, ...] = ()
    """Earlier folder names, oldest first."""
    deleted: bool = False
    """The eval has no ground truth at the built revision any more."""


EditStatus: TypeAlias = Literal["added", "modified", "deleted", "renamed"]


class Edit(NamedTuple):
    """One commit's change of one instruction file."""

    commit: Commit
    path: str
    """The path after the edit (before it, if the file was deleted)."""
    status: EditStatus
    old: Blob | None
    new: Blob | None


class InstructionHistory(NamedTuple):
    """One instruction file through history, renames followed."""

    path: str
    """The last path it had: its name."""
    edits: tuple[Edit, ...]
    """Oldest first; at least one."""
    deleted: bool = False


class CommitRecord(NamedTuple):
    """What one commit did to the things sitegen reads. Commits that touch none of them have no record."""

    commit: Commit
    changes: tuple[ChangedPath, ...]
    """Paths that sitegen reads, by path."""
    other_changes: int
    """How many other paths the commit changed; 0 if the walk did not look at them."""
    snapshots: tuple[tuple[str, str], ...]
    """(eval id, slug) of every snapshot that this commit started."""
    edits: tuple[str, ...]
    """Paths (as in ``Edit.path``) of the instruction files that it edited."""


class EvalUpdate(NamedTuple):
    """An eval that the newest commits touched."""

    history: EvalHistory
    first_new: int
    """Index in ``history.snapshots`` of the first snapshot that the previous build did not have."""


class Update(NamedTuple):
    """What changed in the timeline since the previous build. From nothing, it is the whole timeline."""

    complete: bool
    """Walked from the root: every eval and file is listed, and what is not listed does not exist."""
    evals: tuple[EvalUpdate, ...]
    instructions: tuple[InstructionHistory, ...]
    records: tuple[CommitRecord, ...]
    """Oldest first."""
    removed: tuple[str, ...] = ()
    """Ids under which an eval was known and no longer is, because its folder was renamed."""
