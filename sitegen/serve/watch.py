"""Watching: build, serve, and build again after every change that matters, until Ctrl-C."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from sitegen.build import Progress
from sitegen.errors import SitegenError
from sitegen.project import Options, open_project
from sitegen.render.environment import find_templates
from sitegen.serve.board import Board
from sitegen.serve.following import ChangeWatcher, followed
from sitegen.serve.layers import Layers, build_layers


class WatchedBuild(NamedTuple):
    """What came of a build."""

    layers: Layers | None
    """None if it failed."""
    error: str
    """Why; empty if it did not."""
    seconds: float
    paths: tuple[Path, ...] = ()
    """What had changed."""


def build_attempt(options: Options, paths: Sequence[Path] = (), progress: Progress | None = None) -> WatchedBuild:
    """Build, whatever comes of it: the watch goes on."""
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
    """Put every further build on the board, until this is cancelled. A build that has begun is always finished.

    ``tell`` hears of each of them.
    """
    changed = asyncio.Event()
    paths: set[Path] = set()

    def note(burst: list[Path]) -> None:
        paths.update(burst)
        changed.set()

    follower = ChangeWatcher(note)
    try:
        while True:
            found = open_project(options, "")
            if await follower.follow(followed(found.place, find_templates(), found.cache)):
                changed.set()  # nobody looked until now
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
