"""Records which full reports an archive has, while a build writes those that the site has no room for.

The memo lists the files of an archive as it lists those of an output folder, and its list is believed only if the last
build that wrote there has ended.
"""

from __future__ import annotations

import warnings
from typing import Final

from sitegen.analysis.memo import Memo, PageRow
from sitegen.errors import ArchiveError, ConfigurationError, Notice
from sitegen.model.problems import Problem
from sitegen.project import ArchivePlace, Project
from sitegen.render.archive import Archive, open_archive
from sitegen.render.writer import ContentsWriter, WrittenFiles
from sitegen.stages.worker_context import WorkerContext

_ASSETS: Final = "assets"


class ArchiveFiles:
    """The files of an archive while a build adds to it. Only the building process writes there."""

    def __init__(self, project: Project, place: ArchivePlace, memo: Memo) -> None:
        self._project = project
        self._place = place
        self._memo = memo
        self._name = f"archive {place.address} of {project.site}"
        self._archive: Archive | None = None
        self.is_new = False
        """Whether the list of its files cannot be believed, so that every short report is written again."""
        self.failure: Problem | None = None
        """The problem that the archive could not be written."""
        self.written = 0
        """Number of files that were written to it."""

    def open(self) -> None:
        """Open the archive, before anything of the site is changed. Raises the errors of ``open_archive``."""
        self._archive = open_archive(self._place, self._project.out, self._project.place)
        unknown = self._memo.site(self._name) is None or self._project.options.verify
        self.is_new = self._archive.is_new or unknown
        self._memo.mark_dirty(self._name)

    def begin(self, context: WorkerContext) -> None:
        """Write the assets of pages, in the build's transaction.

        Raises ConfigurationError if pages in the archive could not link to the site.
        """
        if not context.way_from_archive:
            raise ConfigurationError(
                "Pages in an archive with a public address link to the site, whose address is not known.",
                fix="Name it: base_url in sitegen.toml, or --base-url.",
            )
        if self.is_new:
            self._memo.forget_pages(self._name, self._memo.pages(self._name))
        writer = ContentsWriter(self.standing_files(_ASSETS))
        for asset in context.renderer().assets():
            writer.write(_ASSETS, asset.path, asset.content)
        self.record(writer.files)

    def standing_files(self, owner: str) -> tuple[PageRow, ...]:
        """Return the files of an owner that the archive has."""
        return self._memo.pages(self._name, owner)

    def record(self, files: WrittenFiles) -> None:
        """Write files that a task made. If that fails, nothing more is written, and the site has a problem."""
        assert self._archive
        if self.failure:
            return
        try:
            self._archive.store(files.contents)
        except ArchiveError as error:
            warnings.warn(str(error), Notice, stacklevel=1)
            # The page is public: it names neither the address nor what the store answered.
            self.failure = Problem(
                "error",
                "Full reports could not be written to the archive, so that links of short pages lead to no report.",
                "Do what the build printed, and build again: the next build writes them.",
            )
        else:
            self._memo.keep_pages(self._name, files.rows)
            self.written += len(files.contents)

    def close(self) -> None:
        """Store, in the build's transaction, that the list of files can be believed."""
        self._memo.keep_site(self._name, b"{}")
