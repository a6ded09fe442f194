"""Watches the files that a site is built from, and builds the site in two layers after every change that matters.

The layers are the site of the commit, and above it the files that uncommitted work changes. The lower layer is an
ordinary site, kept up to date by an ordinary build. The upper layer is the next step of that build, as if the
uncommitted state were one more commit. It is computed again each time from the same state of the memo, which then
forgets it. So an edit costs as much as one more commit, and the two layers together are byte for byte what ``sitegen
build --worktree`` writes.
"""

import asyncio
import traceback
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Final

from sitegen.build import publish
from sitegen.data_files.project_files import SITE_FILES
from sitegen.engine.built_site import LastBuild, Progress, Site
from sitegen.engine.cached_kinds import RESULTS, SCORECARDS
from sitegen.engine.memo import Memo
from sitegen.engine.output_folder import claimed
from sitegen.engine.site_files import LayerFiles
from sitegen.engine.template_files import find_templates, template_digest
from sitegen.errors import ConfigurationError, SitegenError
from sitegen.history.repository_place import RepositoryPlace
from sitegen.model.frozen import Frozen
from sitegen.project import OWN_TEMPLATES, Options, open_project
from sitegen.questions.work_tree import WorktreeProject
from sitegen.recognition.places import INSPECT_LOGS, PROMPTFOO_CONFIGURATIONS, PROMPTFOO_RESULTS
from sitegen.update import build

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
    trees: Mapping[Path, int]
    """Folders that are watched recursively, with their inodes: one that was created again must be watched again."""
    folders: tuple[Path, ...]
    """Folders that are watched without their subfolders, for files in them and for trees that may appear."""

    def concerns(self, path: Path) -> bool:
        """Whether a change of this path can change the site."""
        is_of_git = any(path.is_relative_to(folder) for folder in self.passed_over)
        roots = self.git if is_of_git else self.project
        are_near = any(path.is_relative_to(root) or root.is_relative_to(path) for root in roots)
        return are_near and not (is_of_git and path.suffix == ".lock")


def followed(place: RepositoryPlace, cache: Path) -> Followed:
    """Return the paths that the site of a project is built from, as far as its configuration can be read."""
    configured = _configured_places(place)
    project = frozenset((find_templates(), *configured))
    git = frozenset(folder / name for folder in (place.git_dir, place.common_dir) for name in _GIT_FILES)
    paths = project | git
    trees = {path: path.stat().st_ino for path in sorted(paths) if path.is_dir()}
    return Followed(
        project=project,
        git=git,
        passed_over=frozenset((place.git_dir, place.common_dir, cache)),
        trees=trees,
        folders=tuple(
            sorted({next(filter(Path.is_dir, path.parents)) for path in paths if path not in trees})  # the nearest ones
        ),
    )


def _configured_places(place: RepositoryPlace) -> list[Path]:
    """Return the paths of a work tree that a build reads under the present configuration and manifest."""
    root = place.root
    if root is None:
        return []
    try:
        pathspecs = WorktreeProject.open(root).layout.pathspecs or ("",)
    except ConfigurationError:  # the build reports it; everything is followed, so that a correction is noticed
        pathspecs = ("",)
    return [root / name for name in (*SITE_FILES, *_FOUND_AT_TOP, OWN_TEMPLATES, ".gitignore", *pathspecs)]


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
            asyncio.create_task(self._look(followed, recursive=True)),
            asyncio.create_task(self._look(followed, recursive=False)),
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

    async def _look(self, followed: Followed, *, recursive: bool) -> None:
        from watchfiles import Change, DefaultFilter, awatch

        default_filter = DefaultFilter(ignore_dirs=[name for name in DefaultFilter.ignore_dirs if name != ".git"])

        def matters(change: Change, path: str) -> bool:
            return default_filter(change, path) and followed.concerns(Path(path))

        folders = followed.trees if recursive else followed.folders
        async for burst in awatch(*folders, watch_filter=matters, recursive=recursive, ignore_permission_denied=True):
            self._on_change(sorted({Path(path) for _, path in burst}))


FOLDER = "watch"
"""Folder below that of the memo. It holds both layers, and a memo of their own that no other build changes."""
RETRY: Final = 1.0
"""Seconds until a repository that cannot be opened is tried again."""


class Layers(Frozen):
    """The folders of a watched site."""

    folders: tuple[Path, ...] = ()
    """Upper layer first; the first folder that has a file serves it."""
    gone: frozenset[str] = frozenset()
    """Paths of the lower layer that the site no longer has."""
    site: Site | None = None
    """None before the first successful build."""


def build_layers(options: Options, progress: Progress | None = None) -> Layers:
    """Bring both layers of the project in ``options`` up to date, in folders below its cache. Raises like ``build``.

    ``progress``: follows the lower layer, the only one that can take long.
    """
    opened = open_project(options, "")
    folder = opened.cache / FOLDER
    lower = options._replace(out=folder / "committed", cache=folder, worktree=False, force=False)
    upper = lower._replace(out=folder / "uncommitted", worktree=True)
    build(lower, progress)
    templates = template_digest(find_templates())
    below, project = open_project(lower, templates), open_project(upper, templates)
    with (
        claimed(below.out, force=False),
        claimed(project.out, force=False),
        Memo.open(project.cache) as memo,
        memo.held(),
        memo.tentative(lasting=[SCORECARDS.name, RESULTS.name]),
    ):
        site_files = LayerFiles(LastBuild(below, memo), project.out)
        site = publish(project, site_files, Progress())
    return Layers((project.out, below.out), site_files.gone, site)


class Board:
    """The last successful site and the error of a failed build after it. Used within one event loop."""

    def __init__(self, layers: Layers | None = None, error: str = "") -> None:
        self.layers = layers or Layers()
        self.error = error
        self._open = True
        self._changed = asyncio.Event()

    def show(self, layers: Layers | None, error: str = "") -> None:
        """Show the result of a build: of one that failed the error, beside the last successful site."""
        self.layers = layers or self.layers
        self.error = error
        self._tell()

    def close(self) -> None:
        """End every iteration over ``errors``."""
        self._open = False
        self._tell()

    async def errors(self) -> AsyncIterator[str]:
        """Yield the present error, and the error after each further build; empty after a successful one."""
        while self._open:
            changed = self._changed
            yield self.error
            await changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class WatchedBuild(Frozen):
    """The result of a build."""

    layers: Layers | None
    """None for a failed build."""
    error: str
    seconds: float
    paths: tuple[Path, ...] = ()
    """The changed paths that caused it."""


def build_attempt(options: Options, paths: Sequence[Path] = (), progress: Progress | None = None) -> WatchedBuild:
    """Build, and turn every failure into a result, so that watching goes on."""
    started = perf_counter()
    layers, error = None, ""
    try:
        layers = build_layers(options, progress)
    except (SitegenError, OSError) as failure:
        error = str(failure)
    except Exception as failure:
        traceback.print_exc()
        error = f"sitegen failed: {type(failure).__name__}: {failure}\n  do: The terminal says where; please report it."
    return WatchedBuild(layers=layers, error=error, seconds=perf_counter() - started, paths=tuple(paths))


async def rebuild_on_change(options: Options, board: Board, on_build: Callable[[WatchedBuild], None]) -> None:
    """Put further builds on the board and pass them to ``on_build``, until cancelled. A started build is finished."""
    changed = asyncio.Event()
    paths: set[Path] = set()

    def add_paths(burst: list[Path]) -> None:
        paths.update(burst)
        changed.set()

    follower = ChangeWatcher(add_paths)
    try:
        while True:
            try:
                project = open_project(options, "")
                paths_to_follow = followed(project.place, project.cache)
            except (SitegenError, OSError) as error:  # such as while another program moves the repository
                if board.error != str(error):
                    board.show(None, str(error))
                changed.set()
                await asyncio.sleep(RETRY)
                continue
            if await follower.follow(paths_to_follow):
                changed.set()  # changes may have been missed until now
            await changed.wait()
            changed.clear()
            burst = sorted(paths)
            paths.clear()
            built = await asyncio.to_thread(build_attempt, options, burst)
            board.show(built.layers, built.error)
            on_build(built)
    finally:
        await follower.stop()
