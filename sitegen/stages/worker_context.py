"""What a task opens for itself, wherever it runs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from sitegen.analysis.memo import PageRow
from sitegen.history.repository import Repository
from sitegen.history.repository_place import RepositoryPlace
from sitegen.model.site import SiteInfo
from sitegen.render.environment import Renderer
from sitegen.render.writer import Writer
from sitegen.stages.mapping_cache import KeptMappings


class WorkerContext(NamedTuple):
    """Where everything is that the tasks of a build share."""

    place: RepositoryPlace
    overlay: tuple[tuple[str, Path], ...]
    """(blob id, file) of contents that are in the work tree only."""
    max_blob_bytes: int
    site: SiteInfo
    template_folders: tuple[Path, ...]
    templates: str
    """Digest of the templates: part of every page's key."""
    bytecode: Path | None
    out: Path
    discrepancies_per_type: int
    reports_kept: int | None = None
    """Full reports of an eval, the newest ones; None: all."""
    redact: tuple[str, ...] = ()
    """Globs of the field paths whose values are hidden; those of one eval once ``Timeline.context_for`` was asked."""
    mappings: KeptMappings = ()
    """What the memo knows of the mappings that the evals are scored by."""
    foreign: frozenset[str] = frozenset()
    """Files of the output folder that no build wrote and no page may replace."""

    def open(self) -> Repository:
        """The repository, read only."""
        return Repository(self.place, max_blob_bytes=self.max_blob_bytes, overlay=dict(self.overlay))

    def writer(self, known: Iterable[PageRow] = ()) -> Writer:
        """A writer into the output folder, where these files of the owner stand surely."""
        return Writer(self.out, known, self.foreign)

    def renderer(self) -> Renderer:
        """The templates; compiled once in each process, and by those that begin as its copies not at all."""
        return _renderer(self.template_folders, self.site, self.bytecode, self.templates)


@lru_cache(maxsize=1)
def _renderer(folders: tuple[Path, ...], site: SiteInfo, bytecode: Path | None, templates: str) -> Renderer:
    return Renderer(folders, site, bytecode)
