"""The edits of instructions between two iterations, which the page links and git can show as one diff."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from sitegen.frozen import Frozen
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.series import Series
from sitegen.pages import links
from sitegen.text.plain import line


class EditingCommit(Frozen):
    """A commit that edited instructions which drive the eval."""

    point: int
    """Index of the first point after the edit, which is between this point and the previous one."""
    commit: Commit
    page: str
    """Address of its page, relative to the page of comparisons; empty for uncommitted edits."""
    paths: tuple[str, ...]


def editing_commits(series: Series) -> tuple[EditingCommit, ...]:
    """The commits that edited instructions of an eval, oldest first."""
    up = links.up(links.compare(series.info.id))
    commits = []
    for index, point in enumerate(series.points):
        paths: dict[Commit, dict[str, None]] = {}
        for edit in point.edits:
            paths.setdefault(edit.commit, {})[edit.path] = None
        commits += [
            EditingCommit(
                point=index,
                commit=commit,
                page="" if commit.sha == WORKTREE else up + links.commit(commit.sha),
                paths=tuple(edited),
            )
            for commit, edited in paths.items()
        ]
    return tuple(commits)


def shell_word(path: str) -> str:
    """A path as a command in the terminal needs it."""
    return shlex.quote(line(path, 300))


def diff_command(before: Commit, after: Commit, commits: Iterable[EditingCommit]) -> str:
    """The command that shows all edits between two commits as one diff."""
    paths = dict.fromkeys(shell_word(path) for commit in commits for path in commit.paths)
    sides = " ".join(commit.short for commit in (before, after) if commit.sha != WORKTREE)
    return f"git diff {sides} -- {' '.join(paths)}"
