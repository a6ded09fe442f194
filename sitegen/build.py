"""Builds a site: git history in, static files out. ``publish`` calls the stages in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sitegen.engine.built_site import LastBuild, Site
from sitegen.engine.memo import Memo
from sitegen.engine.output_folder import Claim, claimed, refuse_project
from sitegen.engine.template_files import find_templates, template_digest
from sitegen.errors import MemoUnreadableError
from sitegen.model.named_tuple import NamedTuple
from sitegen.project import Options, Project, open_project

if TYPE_CHECKING:
    from sitegen.engine.site_files import SiteFiles


class Progress(NamedTuple):
    """Callbacks by which a build reports its progress, called only from the building process."""

    stage: Callable[[str, int], None] = lambda name, steps: None
    """Called when a stage begins, with the number of its steps."""
    step: Callable[[int], None] = lambda steps: None
    """Called with the number of further steps of the stage that are done."""
    first_page: Callable[[str], None] = lambda path: None
    """Called with the path of the overview if it can be opened before the build ends."""


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
        from sitegen.engine.site_files import SiteFiles

        site_files = SiteFiles(project, claim, memo, last)
        site = _publish_in_transaction(project, memo, site_files, progress)
        if site.must_be_made_again and site_files.head:
            # Pages of earlier builds link to the part that has now failed, so all pages are made again.
            site_files = SiteFiles(project, claim, memo, LastBuild(project, claim, memo))
            site = _publish_in_transaction(project, memo, site_files, progress)
        return site


def _publish_in_transaction(project: Project, memo: Memo, site_files: SiteFiles, progress: Progress | None) -> Site:
    """Build in a transaction. The folder is not trusted if the build is killed."""
    memo.mark_dirty(project.site)
    with memo.transaction():
        return publish(project, memo, site_files, progress or Progress())


def publish(project: Project, memo: Memo, site_files: SiteFiles, progress: Progress) -> Site:
    """Run the stages, each of which is a function of the results of earlier stages."""
    from sitegen.engine.commits import write_commits
    from sitegen.engine.evals import score_evals, write_evals, write_older_reports
    from sitegen.engine.instructions import count_effects, write_instructions
    from sitegen.engine.pool import build_pool
    from sitegen.engine.site import SiteWriter
    from sitegen.engine.timeline import keep_end_of_walk, read_timeline

    progress.stage("Reading history", 0)
    with build_pool(project, memo, trusted_head=site_files.head) as pool_for:
        timeline = read_timeline(project, memo, trusted_head=site_files.head, foreign=site_files.foreign)
        pool = pool_for(timeline.new_work, timeline.jobs, timeline.context)

        progress.stage("Scoring", sum(len(changed.history.snapshots) for changed in timeline.update.evals))
        scored = score_evals(timeline, memo, site_files, pool, progress.step)
        evals, expected = scored.evals, count_effects(timeline, scored.evals)
        memo.save()  # a build that is stopped after this is begun again with all scores

        site = SiteWriter(timeline, scored, expected, memo, site_files)
        if overview := site.write_first():
            progress.first_page(overview)
        progress.stage("Writing evals", len(scored.to_write))
        written = write_evals(scored, timeline, memo, site_files, pool, progress.step)
        progress.stage("Writing instruction edits", sum(len(file.edits) for file in timeline.update.instructions))
        instructions = write_instructions(timeline, evals, expected, memo, site_files, pool, progress.step)
        progress.stage("Writing commits", 0)
        commits = write_commits(timeline, evals, instructions.effects, memo, site_files, pool)
        progress.stage("Writing older reports", sum(len(task.reports) for task in written.older))
        failures = write_older_reports(written.older, timeline, memo, site_files, pool, progress.step)

        progress.stage("Writing the site", 0)
        outcome = site.finish(instructions, commits, (*written.failures, *failures))
    keep_end_of_walk(timeline, memo, commits.tail, site.search)
    return site_files.close(outcome, timeline.head.sha, complete=timeline.update.complete)
