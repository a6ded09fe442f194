"""``sitegen watch``: builds the site, serves it, and builds it again after every change."""

import asyncio
import os
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from socket import socket

from sitegen.commands.build import stage_progress
from sitegen.commands.printing import print_line, print_text
from sitegen.project import Options, open_project
from sitegen.serve.server import ADDRESS, Server, listen
from sitegen.serve.watch import Board, WatchedBuild, build_attempt, rebuild_on_change
from sitegen.text.values import first_names


def command(options: Options, *, port: int | None, open_browser: bool) -> None:
    """Build, serve and rebuild until Ctrl-C. Raises RepositoryError if there is no repository."""
    root = open_project(options, "").place.top
    with suppress(KeyboardInterrupt), listen(port) as listening:
        with stage_progress(bars=True) if sys.stderr.isatty() else nullcontext() as progress:
            first = build_attempt(options, progress=progress)
        address = f"http://{ADDRESS}:{listening.getsockname()[1]}/"
        print_line(f"{address} shows {root}; Ctrl-C ends it")
        sys.stdout.flush()
        if open_browser:
            import webbrowser

            webbrowser.open(address)
        asyncio.run(_serve(listening, options, first, root))


async def _serve(listening: socket, options: Options, first: WatchedBuild, root: Path) -> None:
    board = Board(first.layers, first.error)
    server, said = Server(board), ""

    def print_build(built: WatchedBuild) -> None:
        nonlocal said
        if built.error and built.error == said:
            return  # the terminal says it already
        said = built.error
        changes = first_names(built.paths, 3, lambda path: os.path.relpath(path, root))
        failed = f"sitegen: {built.error}" if built.error else ""
        print_text(failed or f"{changes or 'Up to date'}: built in {built.seconds:.2f} s", error=True)

    def end(*_: object) -> None:
        server.should_exit = True

    if first.error:
        print_build(first)
    # From here on builds use one process, because forking beside the threads of the watcher and server could hang.
    following = asyncio.create_task(rebuild_on_change(options._replace(jobs=1), board, print_build))
    following.add_done_callback(end)
    await server.serve([listening])
    following.cancel()
    with suppress(asyncio.CancelledError):
        await following
