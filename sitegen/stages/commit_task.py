"""Write the pages of some commits: each a function of what the commit did, and of nothing that came later."""

from __future__ import annotations

from typing import Final, NamedTuple

from sitegen.analysis.memo import PageRow
from sitegen.history.state import encode
from sitegen.model.commits import WORKTREE
from sitegen.model.timeline import CommitRecord
from sitegen.pages import links
from sitegen.pages.commit import CommitView, EvalMove, commit_page
from sitegen.pages.touched import Touched
from sitegen.render.writer import Writer, digest
from sitegen.stages.workshop import Workshop

OWNER: Final = "commits"


class Told(NamedTuple):
    """What ``commit_page`` is told of one commit."""

    record: CommitRecord
    moves: tuple[EvalMove, ...]
    changed: tuple[Touched, ...]
    files: dict[str, str]
    names: dict[str, str]
    earlier: str | None


class CommitsTask(NamedTuple):
    """Some commits to write."""

    workshop: Workshop
    commits: tuple[Told, ...]
    pages: tuple[PageRow, ...]
    """What surely stands of them in the output folder."""


class CommitsDone(NamedTuple):
    """What came of it."""

    rows: tuple[PageRow, ...]
    written: int
    kept: int
    uncommitted: CommitView | None
    """What the page of the uncommitted state shows, if it is among them."""


def write_pages(task: CommitsTask) -> CommitsDone:
    """Write the pages that are not fresh; that of the uncommitted state in any case, for its view is asked for."""
    writer, renderer = Writer(task.workshop.out, task.pages), task.workshop.renderer()
    uncommitted: CommitView | None = None
    for one in task.commits:
        sha = one.record.commit.sha
        key = digest(encode((task.workshop.templates, one)))
        if sha != WORKTREE and writer.is_fresh(OWNER, links.commit(sha), key):
            continue
        page = commit_page(*one)
        if sha == WORKTREE:
            assert isinstance(page.view, CommitView)
            uncommitted = page.view
        writer.write(OWNER, page.path, renderer.render(page), key)
    return CommitsDone(tuple(writer.rows), writer.written, writer.kept, uncommitted)
