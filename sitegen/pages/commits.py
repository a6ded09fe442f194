"""The list of all commits that changed an eval, an instruction file or an output: newest first, in pages by age."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import MetricSpec
from sitegen.model.site import Page
from sitegen.pages import links, touched
from sitegen.pages.commit import CommitView, paths
from sitegen.pages.effects import Grade, grades
from sitegen.text.plain import line

COMMITS: Final = 100
"""Number of commits on a full page. The newest page has fewer than twice as many, and fewer only if no more exist."""


class ListedCommit(Frozen):
    """One commit in the list. The memo stores the newest pages, so it has only what the list shows."""

    commit: Commit
    """Without the body of its message."""
    changed: str
    """The changed files, in a few words: ``3 instruction files, outputs of Orders``."""
    grades: tuple[tuple[Grade, int], ...] = ()
    """Number of evals with each grade, losses first."""
    largest: tuple[str, MetricSpec, float | None] | None = None
    """The eval whose headline metric changed most with the commit, and the change, if there is an earlier iteration;
    None if no eval has an iteration of this commit."""


class CommitsView(Frozen):
    """What ``pages/commits.html`` shows."""

    rows: tuple[ListedCommit, ...]
    """Newest first."""
    first: int
    """Number of commits older than the oldest row."""
    newer: str | None
    """Address of the page with the next newer commits; None on the newest page, to which the navigation links."""
    older: str | None


def listed_commit(commit: Commit, view: CommitView | None) -> ListedCommit:
    """Make the row of a commit from the view of its page. ``view``: None if sitegen failed to make that page."""
    row = ListedCommit(commit=replace(commit, body=""), changed=_changed(view) if view else "")
    if view is None or not view.moved:
        return row
    largest = max(view.moved, key=lambda move: move.share)  # later outputs do not change it, unlike effects of edits
    return replace(row, grades=grades(view.moved), largest=(largest.name, largest.spec, largest.change))


def older_than_page(end: int, commits: int) -> int:
    """Return the number of commits that are older than those of a page.

    Args:
        end: number of commits up to the newest one of the page.
        commits: number of all commits.

    """
    return end - COMMITS if end < commits else max(0, commits // COMMITS - 1) * COMMITS


def commits_page(rows: Sequence[ListedCommit], end: int, commits: int) -> Page:
    """Make a page from its rows, newest first. ``end``, ``commits``: as in ``older_than_page``."""
    first = older_than_page(end, commits)
    path, newer = links.commits(), None
    if end < commits:
        is_next_to_newest = end == older_than_page(commits, commits)
        path = links.older_commits(end // COMMITS)
        newer = links.commits() if is_next_to_newest else links.older_commits(end // COMMITS + 1)
    older = links.older_commits(first // COMMITS) if first else None
    return Page(path, "pages/commits.html", CommitsView(rows=tuple(rows), first=first, newer=newer, older=older))


def _changed(view: CommitView) -> str:
    files, changed, names = len(view.instructions), view.inputs.changed, view.inputs.names
    parts = [
        "instructions" if files == 1 else f"{files:,} instruction files" if files else "",
        _of_evals("outputs", [names.get(eval_id, eval_id) for eval_id, _ in touched.outputs(changed, names)]),
        _of_evals("ground truth", [names.get(item.eval_id, "") for item in paths(view, "ground_truth")]),
        "rules" if paths(view, "rules") else "",
    ]
    return ", ".join(filter(None, parts)) or "other files"


def _of_evals(changed: str, names: Sequence[str]) -> str:
    evals = dict.fromkeys(filter(None, names))
    if len(evals) > 1:
        return f"{changed} of {len(evals):,} evals"
    return f"{changed} of {line(next(iter(evals)), 80)}" if evals else changed if names else ""
