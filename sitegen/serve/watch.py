"""Builds the watched site in two layers, and builds it again after every change that matters.

The layers are the site of the commit, and above it the files that uncommitted work changes. The lower layer is an
ordinary site, kept up to date by an ordinary build. The upper layer is the next step of that build, as if the
uncommitted state were one more commit. It is computed again each time from the same state of the memo, which then
forgets it. So an edit costs as much as one more commit, and the two layers together are byte for byte what ``sitegen
build --worktree`` writes.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Final

from sitegen.build import Progress, build, publish
from sitegen.engine.built_site import Site
from sitegen.engine.cached_kinds import RESULTS, SCORECARDS
from sitegen.engine.layer_files import LayerFiles
from sitegen.engine.memo import Memo
from sitegen.engine.output_folder import claimed
from sitegen.engine.template_files import find_templates, template_digest
from sitegen.errors import SitegenError
from sitegen.model.frozen import Frozen
from sitegen.project import Options, open_project
from sitegen.serve.following import ChangeWatcher, followed

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
    """Bring both layers of the project in *options* up to date, in folders below its cache. Raises like ``build``.

    *progress* follows the lower layer, the only one that can take long.
    """
    opened = open_project(options, "")
    folder = opened.cache / FOLDER
    lower = options._replace(out=folder / "committed", cache=folder, worktree=False)
    upper = lower._replace(out=folder / "uncommitted", worktree=True)
    build(lower, progress)
    templates = template_digest(find_templates())
    below, project = open_project(lower, templates), open_project(upper, templates)
    with (
        claimed(below.out, force=False) as claim_below,
        claimed(project.out, force=False) as claim,
        Memo.open(project.cache) as memo,
        memo.held(),
        memo.tentative(lasting=[SCORECARDS.name, RESULTS.name]),
    ):
        site_files = LayerFiles(below, claim_below, claim, memo)
        site = publish(project, memo, site_files, Progress())
    return Layers((project.out, below.out), site_files.gone, site)


class Board:
    """The last successful site and the error of a failed build after it. Used within one event loop."""

    def __init__(self, layers: Layers | None = None, error: str = "") -> None:
        self.layers = layers or Layers()
        self.error = error
        self._open = True
        self._changed = asyncio.Event()

    def show(self, layers: Layers) -> None:
        """Show the result of a successful build."""
        self.layers, self.error = layers, ""
        self._tell()

    def fail(self, error: str) -> None:
        """Show why a build failed, beside the last successful site."""
        self.error = error
        self._tell()

    def close(self) -> None:
        """End every iteration over ``errors``."""
        self._open = False
        self._tell()

    async def errors(self) -> AsyncIterator[str]:
        """The present error, and the error after each further build; empty after a successful one."""
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
    """Why it failed; empty for a successful build."""
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
    """Put further builds on the board and pass them to *on_build*, until cancelled. A started build is finished."""
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
                paths_to_follow = followed(project.place, find_templates(), project.cache)
            except (SitegenError, OSError) as error:  # such as while another program moves the repository
                if board.error != str(error):
                    board.fail(str(error))
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
            if built.layers:
                board.show(built.layers)
            else:
                board.fail(built.error)
            on_build(built)
    finally:
        await follower.stop()
