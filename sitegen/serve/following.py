"""Watches the files that a site is built from, and filters out changes that cannot matter."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from sitegen.config.finders.searched_files import work_tree_files
from sitegen.config.finders.tool_results import INSPECT_LOGS, PROMPTFOO_CONFIGURATIONS, PROMPTFOO_RESULTS
from sitegen.config.found_evals import with_found_evals
from sitegen.config.manifest import read_manifest
from sitegen.config.models import Manifest, SiteConfig
from sitegen.config.site import read_site
from sitegen.data_files.project_files import SITE_FILES, read_inside
from sitegen.errors import ConfigurationError
from sitegen.history.layout import Layout
from sitegen.history.repository_place import RepositoryPlace
from sitegen.model.frozen import Frozen
from sitegen.project import OWN_TEMPLATES
from sitegen.scoring.case_files import kind_of_case_file

_GIT_FILES: Final = ("HEAD", "packed-refs", "config", "shallow", "refs", "reftable", "info/exclude")
"""Files of a repository that decide which commit is built and which files are ignored."""

_FOUND_AT_TOP: Final = (*PROMPTFOO_CONFIGURATIONS, *PROMPTFOO_RESULTS, INSPECT_LOGS)
"""Files at the root of a project that create an eval when they appear."""


class Followed(Frozen):
    """Files and folders whose changes matter, including those that do not exist yet."""

    project: frozenset[Path]
    """Paths in the work tree, and the templates."""
    git: frozenset[Path]
    passed_over: frozenset[Path]
    """Folders in which only the paths of ``git`` matter."""
    trees: tuple[Path, ...]
    """Folders that are watched recursively."""
    inodes: tuple[int, ...]
    """Of the trees, because a folder that was created again must be watched again."""
    folders: tuple[Path, ...]
    """Folders that are watched without their subfolders, for files in them and for trees that may appear."""

    def concerns(self, path: Path) -> bool:
        """Whether a change of this path can change the site."""
        if any(path.is_relative_to(folder) for folder in self.passed_over):
            return path.suffix != ".lock" and _is_below_any(path, self.git)
        return _is_below_any(path, self.project)


def followed(place: RepositoryPlace, templates: Path, cache: Path) -> Followed:
    """The paths that the site of a project is built from, as far as its configuration can be read."""
    configured = _configured_places(place.root) if place.root else ()
    project = frozenset((templates, *configured))
    git = frozenset(folder / name for folder in (place.git_dir, place.common_dir) for name in _GIT_FILES)
    paths = project | git
    trees = {path: inode for path in sorted(paths) if (inode := _inode_of_folder(path)) is not None}
    return Followed(
        project=project,
        git=git,
        passed_over=frozenset((place.git_dir, place.common_dir, cache)),
        trees=tuple(trees),
        inodes=tuple(trees.values()),
        folders=tuple(
            sorted({next(filter(Path.is_dir, path.parents)) for path in paths if path not in trees})  # the nearest ones
        ),
    )


def _configured_places(root: Path) -> list[Path]:
    """The paths of a work tree that a build reads under the present configuration and manifest."""
    try:
        site = read_site(root).value
    except ConfigurationError:  # the build reports it; the file is followed, so that a correction is noticed
        site = SiteConfig()
    path = f"{site.evals_dir}/manifest.yaml"
    try:
        content = read_inside(root, path, site.limits.max_blob_bytes)
    except OSError:
        content = b""
    stated = read_manifest(content, path, site.evals_dir).value
    searched = work_tree_files(root, kind_of_case_file)
    site, manifest = with_found_evals(site, stated or Manifest(), searched)
    pathspecs = Layout(site, manifest).pathspecs or ("",)
    return [root / name for name in (*SITE_FILES, *_FOUND_AT_TOP, OWN_TEMPLATES, ".gitignore", *pathspecs)]


def _is_below_any(path: Path, roots: frozenset[Path]) -> bool:
    return any(path.is_relative_to(root) or root.is_relative_to(path) for root in roots)


def _inode_of_folder(path: Path) -> int | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino if stat.S_ISDIR(status.st_mode) else None


class ChangeWatcher:
    """Watches the disk, and reports the paths of each burst of changes that matter."""

    def __init__(self, on_change: Callable[[list[Path]], None]) -> None:
        self._on_change = on_change
        self._followed: Followed | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def follow(self, followed: Followed) -> bool:
        """Start to watch these paths. Returns False if they are watched already, so that no change was missed.

        Raises OSError if the system does not allow so many watched folders.
        """
        if followed == self._followed:
            return False
        await self.stop()
        self._followed = followed
        self._tasks = [
            asyncio.create_task(self._look(followed, followed.trees, recursive=True)),
            asyncio.create_task(self._look(followed, followed.folders, recursive=False)),
        ]
        await asyncio.sleep(0)  # lets both tasks start watching
        failed = [task.exception() for task in self._tasks if task.done()]  # read all, or asyncio warns later
        if first := next(filter(None, failed), None):
            raise first
        return True

    async def stop(self) -> None:
        """Stop watching."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    async def _look(self, followed: Followed, folders: Sequence[Path], *, recursive: bool) -> None:
        from watchfiles import Change, DefaultFilter, awatch

        default_filter = DefaultFilter(ignore_dirs=[name for name in DefaultFilter.ignore_dirs if name != ".git"])

        def matters(change: Change, path: str) -> bool:
            return default_filter(change, path) and followed.concerns(Path(path))

        async for burst in awatch(*folders, watch_filter=matters, recursive=recursive, ignore_permission_denied=True):
            self._on_change(sorted({Path(path) for _, path in burst}))
