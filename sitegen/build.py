"""Builds a site: git history in, static files out. ``publish`` says what becomes what."""

import gc

from sitegen.engine.built_site import Progress, Site
from sitegen.engine.commits import write_commits
from sitegen.engine.evals import score_evals, write_evals
from sitegen.engine.instructions import count_effects, write_instructions
from sitegen.engine.pool import pool_for
from sitegen.engine.site import SiteWriter
from sitegen.engine.site_files import SiteFiles
from sitegen.engine.timeline import Build, read_timeline
from sitegen.engine.worker_context import COLLECTION
from sitegen.history.process import share_processes
from sitegen.project import Project


@share_processes()  # most builds read history and run their tasks in this process
def publish(project: Project, files: SiteFiles, progress: Progress) -> Site:
    """Run the stages, each of which is a function of the results of earlier stages."""
    gc.set_threshold(COLLECTION)
    progress.stage("Reading history", 0)
    timeline = read_timeline(project, files)  # git in; evals, edits and commits out
    with pool_for(timeline.new_work, timeline.jobs, project.dask, timeline.context) as pool:
        build = Build(timeline=timeline, files=files, pool=pool, step=progress.step)

        changed = [history for history in timeline.evals if history.id in timeline.changed]
        progress.stage("Scoring", sum(len(history.snapshots) for history in changed))
        evals, scored = score_evals(build)  # results by content, a record for each eval
        expected = count_effects(evals)
        build.memo.save()  # a build that is stopped after this is begun again with all scores

        site = SiteWriter(evals, expected)
        if overview := site.write_first(scored):  # after placeholders, so that no link is ever broken
            progress.first_page(overview)
        progress.stage("Writing evals", len(scored))
        older, failures = write_evals(scored, build)
        progress.stage("Writing instruction edits", sum(len(file.edits) for file in timeline.edited))
        instructions = write_instructions(evals, expected)
        progress.stage("Writing commits", 0)
        uncommitted, of_commits = write_commits(evals, instructions.effects)
        progress.stage("Writing older reports", sum(len(task.reports) for task in older))
        failures += write_evals(older, build)[1]

        progress.stage("Writing the site", 0)
        outcome = site.finish(instructions, uncommitted, (*of_commits, *failures))
    return files.close(outcome, timeline.head.sha, complete=timeline.is_complete)
