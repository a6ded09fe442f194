"""Write the pages of some commits: each a function of what the commit did, and of nothing that came later."""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

from sitegen.analysis.memo import PageRow
from sitegen.history.fold_state import encode
from sitegen.model.commits import WORKTREE
from sitegen.model.problems import Problem
from sitegen.model.timeline import CommitRecord
from sitegen.pages import links
from sitegen.pages.commit import CommitView, EvalMove, commit_page
from sitegen.pages.touched import Touched
from sitegen.render.environment import Renderer
from sitegen.render.writer import digest
from sitegen.stages.failures import attempt, write_in_its_place
from sitegen.stages.worker_context import Workshop

OWNER: Final = "commits"


class CommitPageInputs(NamedTuple):
    """What ``commit_page`` is told of one commit."""

    record: CommitRecord
    moves: tuple[EvalMove, ...]
    changed: tuple[Touched, ...]
    files: dict[str, str]
    names: dict[str, str]
    earlier: str | None
    thickened: tuple[str, ...] = ()


class CommitsTask(NamedTuple):
    """Some commits to write."""

    workshop: Workshop
    commits: tuple[CommitPageInputs, ...]
    pages: tuple[PageRow, ...]
    """What surely stands of them in the output folder."""


class CommitsDone(NamedTuple):
    """What came of it."""

    rows: tuple[PageRow, ...]
    written: int
    kept: int
    uncommitted: CommitView | None
    """What the page of the uncommitted state shows, if it is among them."""
    failures: tuple[Problem, ...] = ()
    """The commits whose pages could not be made."""


def write_pages(task: CommitsTask) -> CommitsDone:
    """Write the pages that are not fresh; that of the uncommitted state in any case, for its view is asked for."""
    writer, renderer = task.workshop.writer(task.pages), task.workshop.renderer()
    uncommitted: CommitView | None = None
    failures: list[Problem] = []
    for one in task.commits:
        sha = one.record.commit.sha
        key = digest(encode((task.workshop.templates, one)))
        if sha != WORKTREE and writer.is_fresh(OWNER, links.commit(sha), key):
            continue
        made = attempt("the page of this commit", partial(_made, renderer, one), commit=sha)
        if isinstance(made, Problem):
            failures.append(made)
            write_in_its_place(writer, renderer, OWNER, links.commit(sha), made)
            continue
        view, content = made
        uncommitted = view if sha == WORKTREE else uncommitted
        writer.write(OWNER, links.commit(sha), content, key)
    return CommitsDone(tuple(writer.rows), writer.written, writer.kept, uncommitted, tuple(failures))


def _made(renderer: Renderer, told: CommitPageInputs) -> tuple[CommitView, bytes]:
    page = commit_page(*told)
    assert isinstance(page.view, CommitView)
    return page.view, renderer.render(page)
