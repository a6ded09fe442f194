"""The one seam for running work side by side: in this process, in several, or on a dask cluster."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from sitegen.config import Engine
from sitegen.errors import ConfigurationError

WORTH_A_PROCESS: Final = 300
"""Units of work (a scored snapshot, a rendered edit: about a millisecond each) from which a second process pays."""

T = TypeVar("T")


class InlineExecutor(Executor):
    """Runs each call in the caller's process, when its result is asked for: for little work, and for debugging."""

    def map(
        self, fn: Callable[..., T], *iterables: Iterable[Any], timeout: float | None = None, chunksize: int = 1
    ) -> Iterator[T]:
        """The results in order, one held at a time."""
        return map(fn, *iterables)


@contextmanager
def executor(engine: Engine, units: int) -> Iterator[Executor]:
    """The executor for so many units of work, to be used by its ``map``: a result is forgotten when it was handed out.

    Raises ConfigurationError if dask is asked for and not installed.
    """
    if engine.dask:
        try:
            from distributed import Client  # type: ignore[import-not-found,unused-ignore]
        except ImportError as error:
            raise ConfigurationError(
                "[engine] dask is set, but dask is not installed.", fix="pip install 'sitegen-evals[dask]'"
            ) from error
        with Client(engine.dask) as client:
            yield client.get_executor()
        return
    jobs = engine.jobs or min(os.cpu_count() or 1, units // WORTH_A_PROCESS + 1)
    if jobs == 1:
        yield InlineExecutor()
        return
    from concurrent.futures import ProcessPoolExecutor

    # A forked child has the imports and the values of its parent for nothing. No thread of ours runs at this moment.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() and os.name == "posix" else "spawn"
    with ProcessPoolExecutor(jobs, multiprocessing.get_context(method), initializer=_end_with_parent) as pool:
        yield pool


def _end_with_parent() -> None:
    """Let this worker die with the build: one that outlived it could write over the pages of the next."""
    from multiprocessing.connection import wait
    from threading import Thread

    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    Thread(target=watch, daemon=True).start()
