"""Going back to an earlier version of instruction files, and telling an agent's definition from its instructions.

An agent's definition should stay short: its instructions belong in separate files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from shlex import quote
from typing import Final

from sitegen.analysis.go_back import FileThen
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.text.plain import line

_PATTERN: Final = frozenset("*?[\\:")
"""Characters that make git read a path as a pattern."""

MOST_FILES: Final = 100
"""Largest number of files that one command restores."""


def restore(edit: Edit, now: str) -> str | None:
    """The command that restores the file, at its present path, as an edit left it; None if it left no file.

    Args:
        edit: the edit that made the version.
        now: the file's path now.

    """
    return None if edit.new is None else go_back_command(edit.commit, [FileThen(then=edit.path, now=now)])


def go_back_command(commit: Commit, files: Sequence[FileThen], *, parent: bool = False) -> str | None:
    """One command that restores files to their state at a commit; files that were added since are removed.

    With *parent*, to their state before the commit. None if there are no files, or too many; if the changes are
    uncommitted; and if a path has characters that a page cannot show, because a wrong command would be worse than none.
    """
    paths = [path for file in files for path in file if path is not None]
    if not 0 < len(files) <= MOST_FILES or commit.sha == WORKTREE or any(line(path) != path for path in paths):
        return None
    literal = "--literal-pathspecs " if any(_PATTERN & set(path) for path in paths) else ""
    revision = f"{commit.short}~1" if parent else commit.short
    checked_out = [file.then for file in files if file.then and file.now in (file.then, None)]
    added = [file.now for file in files if file.now and not file.then]
    moved = [(file.then, file.now) for file in files if file.then and file.now and file.then != file.now]
    commands = [f"git {literal}checkout {revision} -- {' '.join(map(quote, checked_out))}"] * bool(checked_out)
    commands += [f"git show {quote(f'{revision}:{then}')} > {quote(now)}" for then, now in moved]
    commands += [f"git {literal}rm -q -- {' '.join(map(quote, added))}"] * bool(added)
    return " && ".join(commands)


def is_definition(path: str) -> bool:
    """Whether a path is the definition of an agent."""
    return "/.claude/agents/" in f"/{path}"


def apart_since(files: Iterable[InstructionHistory]) -> int | None:
    """Position of the first commit with instructions of agents in separate files; None if there is none."""
    positions = (
        edit.commit.position for file in files for edit in file.edits if "/.claude/instructions/" in f"/{edit.path}"
    )
    return min(positions, default=None)


def thickens(edit: Edit, apart: int | None) -> bool:
    """Whether the edit changes a definition although instructions have separate files since position ``apart``.

    The commit that moves the instructions out of the definition does not count.
    """
    return edit.status == "modified" and is_definition(edit.path) and apart is not None and edit.commit.position > apart
