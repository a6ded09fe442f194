"""Writes the pages that can be opened long before a large build ends: overview, pages of all evals, placeholders.

At this time, the trend page and the newest report of every eval exist. So that none of their links is broken, every
page that is not yet written gets a placeholder. All placeholders of a folder are hard links to one small file. The
build replaces them one by one, and deletes the ones that remain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sitegen.analysis.memo import Memo
from sitegen.pages import links
from sitegen.pages.commits import COMMITS
from sitegen.pages.placeholders import unfinished_page
from sitegen.render.writer import Writer
from sitegen.stages.commits import Commits, newest_commit
from sitegen.stages.evals import Evals
from sitegen.stages.instructions import counted_effects
from sitegen.stages.site import problems_of, render_once, write_files
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.site_pages import SitePages
from sitegen.stages.timeline import Timeline


def write_first_pages(
    timeline: Timeline, evals: Evals, memo: Memo, site_files: SiteFiles, writer: Writer
) -> str | None:
    """Write the overview and the placeholders. Returns the path of the overview; None if it cannot be made yet.

    The last stage makes these pages again, most of them with the same bytes. ``writer``: the writer of the last stage.
    """
    if timeline.project.options.worktree or not evals.summaries:
        return None  # the overview shows uncommitted changes, or the sizes of edits, which are not known yet
    instructions = counted_effects(timeline, evals)
    commits = Commits(newest=newest_commit(timeline, memo), uncommitted=None)
    problems = problems_of(timeline, evals, evals.failures)
    pages = SitePages.of(timeline, evals, instructions, commits, memo, 0)
    renderer = timeline.context.renderer()
    rendered = render_once(renderer, pages, problems, writer, without=links.instructions())
    if rendered.failures:
        return None
    by_root = defaultdict(list)
    for path in _later_pages(timeline, evals):
        by_root[links.up(path)].append(path)
    for root, paths in by_root.items():
        site_files.reserve(paths, renderer.render(unfinished_page(root)))
    write_files(rendered.files, writer)
    return str(timeline.project.out / links.overview())


def _later_pages(timeline: Timeline, evals: Evals) -> Iterator[str]:
    """Yield the paths of the pages that other pages link to and that later stages write."""
    yield links.instructions()
    for summary in evals.summaries:
        for at in reversed(summary.headlines):
            yield links.report(summary.info.id, at.slug)
    for file in timeline.instructions:
        yield links.instruction(file.path)
        for edit in file.edits:
            yield links.edit(file.path, edit.commit.sha)
    yield links.commits()
    for record in timeline.update.records:
        yield links.commit(record.commit.sha)
    for number in range(timeline.commits // COMMITS):
        yield links.older_commits(number + 1)
