"""The git command that brings a version of an instruction file back."""

from __future__ import annotations

from shlex import quote
from typing import Final

from sitegen.model.commits import WORKTREE
from sitegen.model.timeline import Edit
from sitegen.text.plain import line

_PATTERN: Final = frozenset("*?[\\:")
"""Characters that git reads as a pattern in a path, not as themselves."""


def restore(edit: Edit, now: str) -> str | None:
    """Puts the file where it is now, as an edit left it.

    None if the edit left no file, is not committed, or if a path cannot be shown as it is: no command is better than
    one for another file.

    Args:
        edit: the edit that made the version.
        now: the file's path now.

    """
    if edit.new is None or edit.commit.sha == WORKTREE or line(edit.path) != edit.path or line(now) != now:
        return None
    if edit.path != now:
        return f"git show {quote(f'{edit.commit.short}:{edit.path}')} > {quote(now)}"
    literal = "--literal-pathspecs " if _PATTERN & set(now) else ""
    return f"git {literal}checkout {edit.commit.short} -- {quote(now)}"
