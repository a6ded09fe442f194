"""Builds the watched site again after every change that matters."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

from sitegen.build import Progress
from sitegen.errors import SitegenError
from sitegen.frozen import Frozen
from sitegen.project import Options, open_project
from sitegen.render.environment import find_templates
from sitegen.serve.board import Board
from sitegen.serve.following import ChangeWatcher, followed
from sitegen.serve.layers import Layers, build_layers


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


async def rebuild_on_change(options: Options, board: Board, tell: Callable[[WatchedBuild], None]) -> None:
    """Put further builds on the board and pass them to *tell*, until cancelled. A started build is always finished."""
    changed = asyncio.Event()
    paths: set[Path] = set()

    def add_paths(burst: list[Path]) -> None:
        paths.update(burst)
        changed.set()

    follower = ChangeWatcher(add_paths)
    try:
        while True:
            project = open_project(options, "")
            if await follower.follow(followed(project.place, find_templates(), project.cache)):
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
            tell(built)
    finally:
        await follower.stop()
