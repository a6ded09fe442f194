"""Where a report comes from: its files, and the instructions that made its output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sitegen.model.commits import Commit
from sitegen.model.series import EvalInfo, Point
from sitegen.model.timeline import Blob, Edit, EditStatus, Snapshot
from sitegen.pages import links


class Previous(NamedTuple):
    """The point that changes are counted from."""

    label: str
    file: str
    short: str


class EditLink(NamedTuple):
    """An edit of instructions since the previous point."""

    path: str
    """As the file was called after it."""
    file: str
    """The file's name: the last path it had."""
    status: EditStatus


class CommitEdits(NamedTuple):
    """The edits of one commit."""

    commit: Commit
    edits: tuple[EditLink, ...]


def previous_of(info: EvalInfo, previous: Point | None, label: str) -> Previous | None:
    """The point before, as pages name it; with its commit if it is the same iteration, scored again."""
    if previous is None:
        return None
    at = previous.snapshot
    name = at.label if at.label != label else f"{at.label} at {at.commit.short}"
    return Previous(name, links.report(info.id, at.slug).rpartition("/")[2], at.commit.short)


def edits_by_commit(edits: tuple[Edit, ...], moved: Mapping[tuple[str, str], str]) -> tuple[CommitEdits, ...]:
    """The edits, those of the newest commit first. ``moved`` as in ``EarlierPoints``."""
    found: dict[Commit, list[EditLink]] = {}
    for edit in edits:
        file = moved.get((edit.path, edit.commit.sha), edit.path)
        found.setdefault(edit.commit, []).append(EditLink(edit.path, file, edit.status))
    return tuple(CommitEdits(commit, tuple(each)) for commit, each in reversed(found.items()))


def made_with(at: Snapshot, edits: Iterable[Edit] = ()) -> str:
    """Rule of the data contract: what the output records, else its time, else the commit that brought it.

    ``edits``: those that stand beside the point.
    """
    if at.made_at:
        return "the commit that the output records, or whose instructions it records by hash or version"
    if at.recorded_at:
        how = "the last edit not after the time that the output records"
        draft = "outputs" in at.cause and any(edit.commit == at.commit for edit in edits)
        return f"{how}; the edit that came with it may have been at work" if draft else how
    return "the last edit up to this commit, for the output records neither commit nor time"


def files(at: Snapshot) -> tuple[tuple[str, Blob | None], ...]:
    """What the snapshot was scored from; the output alone may be missing."""
    rest = (("Ground truth", at.ground_truth), ("Field mapping", at.mapping), ("Schema", at.schema))
    outputs: tuple[tuple[str, Blob | None], ...] = tuple(("Output", blob) for blob in at.outputs[:5])
    return (outputs or (("Output", None),)) + tuple(file for file in rest if file[1] is not None)
