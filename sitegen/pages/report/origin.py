"""The part of a report on its origin: the files that were scored, and the instructions that made the output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sitegen.frozen import Frozen
from sitegen.model.commits import Commit
from sitegen.model.regressions import EditedFile
from sitegen.model.series import EvalInfo, Point
from sitegen.model.timeline import Blob, Edit, Snapshot
from sitegen.named_tuple import NamedTuple
from sitegen.pages import links
from sitegen.pages.instructions import FileEdit


class Previous(Frozen):
    """The point that changes are counted from."""

    label: str
    file: str


class CommitEdits(Frozen):
    """The edits of one commit."""

    commit: Commit
    edits: tuple[FileEdit, ...]


def previous_of(info: EvalInfo, previous: Point | None, label: str) -> Previous | None:
    """The previous point; its label includes the commit if it is the same iteration, re-scored."""
    if previous is None:
        return None
    before = previous.snapshot
    name = before.label if before.label != label else f"{before.label} at {before.commit.short}"
    return Previous(name, links.file_name(links.report(info.id, before.slug)))


def edits_by_commit(edits: tuple[Edit, ...], moved: Mapping[EditedFile, str]) -> tuple[CommitEdits, ...]:
    """The edits grouped by commit, newest commit first. ``moved`` as in ``EarlierPoints``."""
    by_commit: dict[str, list[FileEdit]] = {}
    for edit in edits:
        sha = edit.commit.sha
        file = moved.get(EditedFile(edit.path, sha), edit.path) if moved else edit.path
        by_commit.setdefault(sha, []).append(FileEdit(edit, file))
    return tuple(CommitEdits(edits[0].edit.commit, tuple(edits)) for edits in reversed(by_commit.values()))


def made_with(snapshot: Snapshot, instructions: Sequence[Commit] = ()) -> str:
    """The evidence for the instructions of an output, in words.

    This is the commit that the output records, else the time that it records, else the commit
    that added it. ``instructions``: as in ``ReportView``.
    """
    if snapshot.made_at:
        return "the commit that the output records, or whose instructions it records by hash or version"
    if snapshot.recorded_at:
        how = "the last edit not after the time that the output records"
        return f"{how}, or the edit that was committed with it" if len(instructions) > 1 else how
    return "the last edit up to this commit, because the output records neither commit nor time"


class SnapshotFile(NamedTuple):
    """A file that a snapshot was scored from."""

    role: str
    blob: Blob | None
    """None if the file is missing."""


def files(snapshot: Snapshot, outputs: int = 5) -> tuple[SnapshotFile, ...]:
    """The files that the snapshot was scored from, with a limit on outputs; only an output may be missing."""
    rest = {"Ground truth": snapshot.ground_truth, "Field mapping": snapshot.mapping, "Schema": snapshot.schema}
    return (
        *(SnapshotFile("Output", blob) for blob in snapshot.outputs[:outputs] or (None,)),
        *(SnapshotFile(role, blob) for role, blob in rest.items() if blob is not None),
    )
