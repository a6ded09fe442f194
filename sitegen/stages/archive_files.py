"""Records which full reports an archive has, while a build writes those that the site has no room for.

The memo lists the files of an archive as it lists those of an output folder, and its list is believed only if the last
build that wrote there has ended.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from sitegen.analysis.memo import Memo, PageRow
from sitegen.errors import ArchiveError, ConfigurationError, Notice, SecretsError
from sitegen.model.problems import Problem
from sitegen.project import ArchivePlace, Project
from sitegen.render.archive import Archive, open_archive
from sitegen.render.writer import CompressedFile, ContentsWriter, WrittenFiles, digest
from sitegen.stages.worker_context import WorkerContext

if TYPE_CHECKING:
    from sitegen.text.secrets import Detector

_ASSETS: Final = "assets"


class ArchiveFiles:
    """The files of an archive while a build adds to it. Only the building process writes there."""

    def __init__(self, project: Project, place: ArchivePlace, memo: Memo, detector: Detector | None) -> None:
        """``detector``: searches files before they are written; None: they may contain secrets."""
        self._project = project
        self._place = place
        self._memo = memo
        # What was written without a search, or by other rules, is written again.
        searched = f", searched by {digest(detector.version)}" if detector else ""
        self._name = f"archive {place.address} of {project.site}{searched}"
        self._detector = detector
        self._held: list[WrittenFiles] | None = []
        """Files that wait for ``admit``; None after it."""
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
        writer = ContentsWriter(self.present_files(_ASSETS))
        for asset in context.renderer().assets():
            writer.write(_ASSETS, asset.path, asset.content)
        self.record(writer.files)

    def present_files(self, owner: str) -> tuple[PageRow, ...]:
        """Return the files of an owner that the archive has."""
        return self._memo.pages(self._name, owner)

    def record(self, files: WrittenFiles) -> None:
        """Write files that a task made. If that fails, nothing more is written, and the site has a problem.

        Raises SecretsError, and writes none of them, if one may contain a secret.
        """
        assert self._archive
        if self._held is not None:
            self._held.append(files)
            return
        if self.failure:
            return
        if self._detector:
            refuse_secrets(self._detector, files.contents)
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

    def admit(self, unmatched: Sequence[str]) -> None:
        """Write what was recorded so far, now that all evals are scored, and from then on everything at once.

        ``unmatched``: globs under ``redact`` that match nothing. If files are searched for secrets, SecretsError is
        raised for them: any report may show what they should hide.
        """
        if self._detector and unmatched:
            raise SecretsError.of_globs(unmatched)
        held, self._held = self._held or [], None
        for files in held:
            self.record(files)

    def close(self) -> None:
        """Store, in the build's transaction, that the list of files can be believed."""
        self._memo.keep_site(self._name, b"{}")


def refuse_secrets(detector: Detector, files: Iterable[CompressedFile]) -> None:
    """Raise SecretsError if a file may contain a secret."""
    places = [
        f"{file.path}:{secret.line} ({secret.rule})"
        for file in files
        for secret in detector.search(
            zlib.decompress(file.content).decode("utf-8", "replace"), markup=file.path.endswith(".html")
        )
    ]
    if places:
        raise SecretsError.of_places(places, removed=True)
