"""What a watched site is made from: where that lies on disk, and whether a change there can matter."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from sitegen import configuring
from sitegen.config import SITE_FILES, Manifest, SiteConfig
from sitegen.configuring.finders.inspect_logs import INSPECT_LOGS
from sitegen.configuring.finders.promptfoo import PROMPTFOO_CONFIGURATIONS, PROMPTFOO_RESULTS
from sitegen.errors import ConfigurationError
from sitegen.history.layout import Layout, Watched
from sitegen.history.repository_place import RepositoryPlace
from sitegen.project import OWN_TEMPLATES
from sitegen.project_files import read_inside
from sitegen.scoring.case_files import kind_of_case_file

GIT_FILES: Final = ("HEAD", "packed-refs", "config", "shallow", "refs", "reftable", "info/exclude")
"""In a repository: what decides which commit is built, and which files count."""

FOUND_AT_TOP: Final = (*PROMPTFOO_CONFIGURATIONS, *PROMPTFOO_RESULTS, INSPECT_LOGS)
"""What makes an eval at the root of a project once it comes."""


class Followed(NamedTuple):
    """Files and folders whose changes matter; they need not be there yet."""

    project: frozenset[Path]
    """In the work tree, and the templates."""
    git: frozenset[Path]
    passed_over: frozenset[Path]
    """Folders in which only what ``git`` names matters."""
    trees: tuple[Path, ...]
    """Folders to look at with all that is below them."""
    inodes: tuple[int, ...]
    """Of the trees: one that was made anew is to be looked at anew."""
    folders: tuple[Path, ...]
    """Folders to look at alone: they hold files that are followed, or will hold what is not there yet."""

    def concerns(self, path: Path) -> bool:
        """Whether a change of this path can change the site."""
        if any(path.is_relative_to(folder) for folder in self.passed_over):
            return path.suffix != ".lock" and _is_below_any(path, self.git)
        return _is_below_any(path, self.project)


def followed(found: RepositoryPlace, templates: Path, cache: Path) -> Followed:
    """What the site of a project is made from, as far as its configuration can be understood now."""
    named = _configured_places(found.root) if found.root else ()
    project = frozenset((templates, *named))
    git = frozenset(folder / name for folder in (found.git_dir, found.common_dir) for name in GIT_FILES)
    every = project | git
    trees = {path: inode for path in sorted(every) if (inode := _inode_of_folder(path)) is not None}
    return Followed(
        project=project,
        git=git,
        passed_over=frozenset((found.git_dir, found.common_dir, cache)),
        trees=tuple(trees),
        inodes=tuple(trees.values()),
        folders=tuple(sorted({_nearest_folder(path) for path in every if path not in trees})),
    )


def _configured_places(root: Path) -> list[Path]:
    """What is read of a work tree by its configuration and its manifest."""
    try:
        site = configuring.read_site(root)
    except ConfigurationError:  # said by the build; the file itself is followed, so that it can be mended
        site = SiteConfig()
    path = f"{site.evals_dir}/manifest.yaml"
    try:
        content = read_inside(root, path, site.limits.max_blob_bytes)
    except OSError:
        content = b""
    stated, _ = configuring.read_manifest_leniently(content, path, site.evals_dir)
    searched = configuring.work_tree_files(root, kind_of_case_file)
    site, manifest = configuring.with_found_evals(site, stated or Manifest(), searched)
    read = Layout(site, manifest, Watched()).pathspecs or ("",)
    return [root / name for name in (*SITE_FILES, *FOUND_AT_TOP, OWN_TEMPLATES, ".gitignore", *read)]


def _is_below_any(path: Path, wanted: frozenset[Path]) -> bool:
    """Whether a path is one of these, lies in one, or leads to one."""
    return any(path.is_relative_to(one) or one.is_relative_to(path) for one in wanted)


def _inode_of_folder(path: Path) -> int | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino if stat.S_ISDIR(found.st_mode) else None


def _nearest_folder(path: Path) -> Path:
    """The nearest folder above a path that is there."""
    return next(parent for parent in path.parents if parent.is_dir())


class ChangeWatcher:
    """Looks at the disk, and tells the paths of each burst of changes that matter."""

    def __init__(self, tell: Callable[[list[Path]], None]) -> None:
        self._tell = tell
        self._followed: Followed | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def follow(self, followed: Followed) -> bool:
        """Look at these from now on. False if that is so already, and nothing can have been missed.

        Raises OSError if the system does not let so many folders be looked at.
        """
        if followed == self._followed:
            return False
        await self.stop()
        self._followed = followed
        self._tasks = [
            asyncio.create_task(self._look(followed, followed.trees, recursive=True)),
            asyncio.create_task(self._look(followed, followed.folders, recursive=False)),
        ]
        await asyncio.sleep(0)  # both run as far as their first wait: from here on they see everything
        failed = [task.exception() for task in self._tasks if task.done()]  # of each, or asyncio complains later
        if first := next(filter(None, failed), None):
            raise first
        return True

    async def stop(self) -> None:
        """Look no more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    async def _look(self, followed: Followed, folders: Sequence[Path], *, recursive: bool) -> None:
        from watchfiles import Change, DefaultFilter, awatch

        passed_over = DefaultFilter(ignore_dirs=[name for name in DefaultFilter.ignore_dirs if name != ".git"])

        def matters(change: Change, path: str) -> bool:
            return passed_over(change, path) and followed.concerns(Path(path))

        async for burst in awatch(*folders, watch_filter=matters, recursive=recursive, ignore_permission_denied=True):
            self._tell(sorted({Path(path) for _, path in burst}))
