"""The values with which a task of a build opens the repository and the templates in any process."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from sitegen.engine.configuration import KeptMappings
from sitegen.engine.environment import Renderer
from sitegen.engine.memo import PageRow
from sitegen.engine.writer import ContentsWriter, Writer
from sitegen.history.repository import Repository
from sitegen.history.repository_place import RepositoryPlace
from sitegen.history.timeline import WorktreeBlob
from sitegen.model.frozen import Frozen
from sitegen.model.site import SiteInfo


class WorkerContext(Frozen):
    """The values that all tasks of a build share. They are sent to other processes."""

    place: RepositoryPlace
    overlay: tuple[WorktreeBlob, ...]
    """Files of the work tree whose contents are not in git."""
    max_blob_bytes: int
    site: SiteInfo
    template_folders: tuple[Path, ...]
    templates: str
    """Digest of the templates: part of every page's key."""
    bytecode: Path | None
    out: Path | None
    """The output folder; None on a remote worker, which returns the contents of files as part of its results."""
    discrepancies_per_type: int
    reports_kept: int | None = None
    """Number of the newest reports of an eval that are full; None: all."""
    redact: tuple[str, ...] = ()
    """Globs of the field paths whose values are hidden. ``Timeline.context_for`` adds those of one eval."""
    mappings: KeptMappings = ()
    """The cached field mappings of the touched evals."""
    foreign: frozenset[str] = frozenset()
    """Files of the output folder that no build wrote and that no page may replace."""
    commits: tuple[str, ...] = ()
    """The commits from which all contents that tasks read can be reached."""
    answers_a_question: bool = False
    """Whether this is no build: outputs whose contents in Git LFS were not fetched are unreadable, and not kept so."""

    def open(self) -> Repository:
        """Open the repository for reading."""
        return Repository(self.place, max_blob_bytes=self.max_blob_bytes, overlay=dict(self.overlay))

    def writer(self, present: Iterable[PageRow] = ()) -> Writer:
        """Return a writer into the output folder. ``present``: files of the owner that are known to be there."""
        return ContentsWriter(present) if self.out is None else Writer(self.out, present, self.foreign)

    def renderer(self) -> Renderer:
        """Return the renderer, whose templates are compiled once in each process; forked processes inherit them."""
        return _renderer(self.template_folders, self.site, self.bytecode, self.templates)


@lru_cache(maxsize=1)
def _renderer(folders: tuple[Path, ...], site: SiteInfo, bytecode: Path | None, templates: str) -> Renderer:
    return Renderer(folders, site, bytecode)
