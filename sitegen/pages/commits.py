"""The list of all commits that changed an eval, an instruction file or an output: newest first, in pages by age."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from sitegen.frozen import Frozen
from sitegen.model.commits import Commit
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.pages.commit.page import CommitView
from sitegen.pages.edit.effects import GradeCount
from sitegen.pages.labels import subject_of
from sitegen.text.plain import line

COMMITS: Final = 100
"""Number of commits on a full page. The newest page has fewer than twice as many, and fewer only if no more exist."""


class LargestChange(Frozen):
    """The eval whose headline metric changed most with a commit."""

    name: str
    change: float | None
    """None without an earlier iteration."""
    lower_is_better: bool
    unit: str


class ListedCommit(Frozen):
    """One commit in the list. The memo stores the newest pages, so it has only the fields that the list shows."""

    sha: str
    short: str
    subject: str
    author: str
    committed_at: str
    changed: str
    """The changed files, in a few words: ``3 instruction files, outputs of Orders``."""
    grades: tuple[GradeCount, ...] = ()
    """Number of evals with each grade, losses first."""
    largest: LargestChange | None = None
    """None if no eval has an iteration of this commit."""


class CommitsView(Frozen):
    """What ``pages/commits.html`` shows."""

    rows: tuple[ListedCommit, ...]
    """Newest first."""
    first: int
    """Number of commits older than the oldest row."""
    newest: bool
    """Whether it is the page to which the navigation links."""
    newer: str | None
    """Address of the page with the next newer commits."""
    older: str | None
    nav: str = "commits"


def listed_commit(commit: Commit, view: CommitView | None) -> ListedCommit:
    """Make the row of a commit from the view of its page. ``view``: None if sitegen failed to make that page."""
    row = ListedCommit(
        sha=commit.sha,
        short=commit.short,
        subject=subject_of(commit, 160),
        author=line(commit.author, 60),
        committed_at=commit.committed_at,
        changed=_changed(view) if view else "",
    )
    if view is None or not view.moves:
        return row
    largest = view.moved.largest or view.moves[0].row  # later outputs do not change it, unlike the effects of edits
    return replace(
        row,
        grades=view.moved.counts,
        largest=LargestChange(
            name=largest.name,
            change=largest.headline.change,
            lower_is_better=not largest.headline.spec.higher_is_better,
            unit=largest.headline.spec.unit,
        ),
    )


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
    view = CommitsView(
        rows=tuple(rows),
        first=first,
        newest=newer is None,
        newer=newer,
        older=links.older_commits(first // COMMITS) if first else None,
    )
    return Page(path, "pages/commits.html", view)


def _changed(view: CommitView) -> str:
    files = len(view.instructions)
    parts = [
        "instructions" if files == 1 else f"{files:,} instruction files" if files else "",
        _of_evals("outputs", [change.name for change in view.outputs]),
        _of_evals("ground truth", [change.name for change in view.ground_truths]),
        "rules" if view.rules else "",
    ]
    return ", ".join(filter(None, parts)) or "other files"


def _of_evals(changed: str, names: Sequence[str]) -> str:
    evals = dict.fromkeys(filter(None, names))
    if len(evals) > 1:
        return f"{changed} of {len(evals):,} evals"
    return f"{changed} of {next(iter(evals))}" if evals else changed if names else ""
