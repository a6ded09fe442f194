"""Builds a site: git history in, static files out. ``publish`` calls the stages in order."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Final

from sitegen.analysis.memo import Memo
from sitegen.errors import MemoUnreadableError
from sitegen.named_tuple import NamedTuple
from sitegen.project import Options, Project, open_project
from sitegen.render.output_folder import Claim, claimed, refuse_project
from sitegen.render.template_files import find_templates, template_digest
from sitegen.stages.built_site import LastBuild, Site

if TYPE_CHECKING:
    from sitegen.stages.site_files import SiteFiles

FEW: Final = 150
"""New outputs, edits and commits up to which no page need be opened before the end."""


class Progress(NamedTuple):
    """Callbacks by which a build reports its progress, called only from the building process."""

    stage: Callable[[str, int], None] = lambda name, steps: None
    """Called when a stage begins, with the number of its steps."""
    step: Callable[[int], None] = lambda steps: None
    """Called with the number of further steps of the stage that are done."""
    first_page: Callable[[str], None] = lambda path: None
    """Called with the path of the overview if it can be opened long before the build ends."""


def build(options: Options, progress: Progress | None = None) -> Site:
    """Bring the site of a project up to date.

    Raises a SitegenError if there is no repository, commit or eval, if the configuration is wrong, or if the output
    folder is not ours. Any other error is listed on the problems page and does not stop the build, even if sitegen
    itself failed to make a part of the site (``Site.failed``).
    """
    project = open_project(options, template_digest(find_templates()))
    refuse_project(project.asked_out, project.out, project.place)
    with claimed(project.out, force=options.force) as claim:
        try:
            return _bring_up_to_date(project, claim, progress)
        except MemoUnreadableError:  # it was thrown away, so that a new one is created
            return _bring_up_to_date(project, claim, progress)


def _bring_up_to_date(project: Project, claim: Claim, progress: Progress | None) -> Site:
    with Memo.open(project.cache) as memo, memo.held():
        last = LastBuild(project, claim, memo)
        if last.is_up_to_date and not project.options.worktree:
            return last.unchanged()
        from sitegen.stages.site_files import SiteFiles

        site_files = SiteFiles(project, claim, memo, last)
        site = _publish_in_transaction(project, memo, site_files, progress)
        if site.must_be_made_again and site_files.head:
            # Pages of earlier builds link to the part that has now failed, so all pages are made again.
            site_files = SiteFiles(project, claim, memo, LastBuild(project, claim, memo))
            site = _publish_in_transaction(project, memo, site_files, progress)
        return site


def _publish_in_transaction(project: Project, memo: Memo, site_files: SiteFiles, progress: Progress | None) -> Site:
    """Build in a transaction, of which ``SiteFiles`` saves parts. A folder is not trusted after a killed build."""
    memo.mark_dirty(project.site)
    with memo.transaction():
        return publish(project, memo, site_files, progress or Progress())


def publish(project: Project, memo: Memo, site_files: SiteFiles, progress: Progress) -> Site:
    """Run the stages, each of which is a function of the results of earlier stages."""
    from msgspec.structs import replace

    from sitegen.history.process import share_processes
    from sitegen.stages.commits import write_commits
    from sitegen.stages.engine import early_pool, pool_for
    from sitegen.stages.evals import ScoredEvals
    from sitegen.stages.instructions import write_instructions
    from sitegen.stages.pool import COLLECTION, COLLECTION_OF_PAGES
    from sitegen.stages.report_files import WaitingParts
    from sitegen.stages.site import OWNER, write_first_pages, write_site
    from sitegen.stages.timeline import keep_built_head, read_timeline

    gc.set_threshold(COLLECTION_OF_PAGES if project.own_templates else COLLECTION)
    progress.stage("Reading history", 0)
    with ExitStack() as opened:
        pool = opened.enter_context(early_pool(project, memo, trusted_head=site_files.head))
        if pool is None:
            opened.enter_context(share_processes())  # most builds read history and run their tasks in this process
        timeline = read_timeline(project, memo, trusted_head=site_files.head, foreign=site_files.foreign)
        early = timeline.new_work > FEW and not project.options.worktree  # uncommitted changes are shown at the end
        writer = site_files.writer(OWNER)  # its pages are the last ones, so they are not held
        site_files.begin(complete=timeline.update.complete, hold=not early)
        context = replace(timeline.context, holds_pages=site_files.holds_pages)
        until_last = replace(timeline, context=context)

        parts = opened.enter_context(closing(WaitingParts()))
        if pool is None:
            pools = pool_for(timeline.new_work, timeline.jobs, project.dask, context)
            pool = opened.enter_context(pools)
        progress.stage("Scoring", sum(len(changed.history.snapshots) for changed in timeline.update.evals))
        scored = ScoredEvals(until_last, memo, site_files, parts)
        scored.score(pool, progress.step, first_only=early)
        if early:
            page = write_first_pages(timeline, scored, memo, site_files, writer)
            if page:
                progress.first_page(page)
            scored.begin_older_reports(pool)
            progress.stage("Writing comparisons and fields", scored.waiting_series)
            scored.write_series_pages(pool, progress.step)

        failures = None
        while failures != (evals := scored.result()).failures:  # again if an eval fails at its older reports
            failures = evals.failures
            progress.stage("Writing instruction edits", sum(len(file.edits) for file in timeline.update.instructions))
            instructions = write_instructions(until_last, evals, memo, site_files, pool, progress.step)
            progress.stage("Writing commits", 0)
            commits = write_commits(until_last, evals, instructions.effects, memo, site_files, pool)
            if scored.waiting_reports:
                progress.stage("Writing older reports", scored.waiting_reports)
            scored.write_older_reports(pool, progress.step)
        commits.keep(memo)

        progress.stage("Writing the site", 0)
        site = write_site(timeline, evals, instructions, commits, memo, site_files, writer)
    keep_built_head(timeline, memo)
    return site_files.close(site, timeline.head.sha, complete=timeline.update.complete)
