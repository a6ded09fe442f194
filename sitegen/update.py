"""Brings the site of a project up to date: decides whether there is anything to build."""

import warnings
from contextlib import suppress

from sitegen.engine.built_site import LastBuild, Progress, Site
from sitegen.engine.memo import Memo
from sitegen.engine.output_folder import claimed, refuse_project
from sitegen.engine.template_files import find_templates, template_digest
from sitegen.errors import MemoUnreadableError, Notice
from sitegen.project import MARKER, Options, Project, open_project


def build(options: Options, progress: Progress | None = None) -> Site:
    """Bring the site of a project up to date.

    Raises a SitegenError if there is no repository, commit or eval, if the configuration is wrong, or if the output
    folder is not ours. Any other error is listed on the problems page and does not stop the build, even if sitegen
    itself failed to make a part of the site (``Site.failed``).
    """
    project = open_project(options, template_digest(find_templates()))
    refuse_project(project)
    with claimed(project.out, force=options.force) as is_new:
        if is_new and project.place.root and project.out.is_relative_to(project.place.root):
            # Once only: whoever commits the site deletes this file.
            with suppress(FileExistsError), open(project.out / ".gitignore", "x", encoding="utf-8") as file:
                file.write("*\n")
        if is_new and not options.out and (project.place.top / "public" / MARKER).exists():
            warnings.warn("The site is in site/ now. That in public/ is of an earlier build.", Notice, stacklevel=1)
        try:
            return _up_to_date(project, progress or Progress())
        except MemoUnreadableError:  # it was thrown away, so that a new one is created
            return _up_to_date(project, progress or Progress())


def _up_to_date(project: Project, progress: Progress) -> Site:
    with Memo.open(project.cache) as memo, memo.held():
        last = LastBuild(project, memo)
        if last.is_up_to_date and not project.options.worktree:
            return last.unchanged()
        from sitegen.build import publish  # a build with nothing new needs none of the stages
        from sitegen.engine.site_files import SiteFiles

        def made() -> Site:
            files = SiteFiles(LastBuild(project, memo))
            memo.mark_dirty(project.site)  # the folder is not trusted if the build is killed
            with memo.transaction():
                return publish(project, files, progress)

        site = made()
        if site.must_be_made_again and last.head:
            return made()  # all pages: those of earlier builds link to the part that has now failed
        return site
