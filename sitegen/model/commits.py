"""Commits and their changes, as the walk over the first-parent line yields them."""

from typing import Literal, NamedTuple, TypeAlias

from sitegen.model.frozen import Frozen

How: TypeAlias = Literal["added", "modified", "deleted"]


class Commit(Frozen):
    """One commit of the first-parent line."""

    sha: str
    """Full object id: 40 hex digits, or 64 in a SHA-256 repository. ``worktree`` for the uncommitted state."""
    position: int = 0
    """0 for the root; grows by one along the first-parent line."""
    author: str = ""
    committed_at: str = ""
    """ISO 8601 with the committer's offset, for example ``2026-02-05T23:59:08-08:00``."""
    subject: str = ""
    body: str = ""

    @property
    def short(self) -> str:
        """The abbreviated id that pages show: seven digits."""
        return short_id(self.sha)


WORKTREE = "worktree"
"""The id that stands for the uncommitted state, which has no commit yet."""


def short_id(sha: str) -> str:
    """Return the first seven letters of a commit's id; ``WORKTREE`` as it is."""
    return sha if sha == WORKTREE else sha[:7]


class ChangedPath(NamedTuple):
    """A path that a commit added, modified or deleted, compared with its first parent."""

    path: str
    """Relative to the root of the repository, ``/`` between folders; undecodable bytes as surrogate escapes."""
    old: str | None
    """Blob id before; None if the path was added."""
    new: str | None
    """Blob id after; None if the path was deleted, or is no longer a regular file."""

    @property
    def how(self) -> How:
        """What became of the file at the path."""
        return "added" if self.old is None else "deleted" if self.new is None else "modified"


class Revision(Frozen):
    """One commit with its changes."""

    commit: Commit
    changes: tuple[ChangedPath, ...]
    irregular: tuple[tuple[str, str], ...] = ()
    """Each path that becomes ``a symbolic link`` or ``a submodule``, and with no text each that is none any more."""
