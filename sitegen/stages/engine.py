"""Runs the tasks of a build: in this process, in several, or on a dask cluster. The only module that knows which."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import methodcaller
from typing import Any, Final, Generic, NamedTuple, TypeVar

from sitegen.errors import WorkerError
from sitegen.history.process import share_processes, share_processes_until_exit
from sitegen.stages.worker_context import WorkerContext

WORTH_A_PROCESS: Final = 300
"""Number of snapshots, edits and commits (about a millisecond each) that makes a second process worthwhile."""
PROCESSES_A_CORE: Final = 4
"""Largest number of processes for each core, whatever ``--jobs`` says: more would only take memory."""
WAITING: Final = 1
"""Number of tasks for each process that are made ahead of their turn."""

COLLECTION: Final = (50_000, 50, 100)
"""Thresholds of the garbage collector where many pages are written. Almost nothing is cyclic, so it may run rarely, but
contexts of some templates are, and hold whole pages."""

T = TypeVar("T")
R = TypeVar("R")


class FinishedTask(NamedTuple, Generic[T, R]):
    """A task with its result."""

    task: T
    result: R


class Pool:
    """Runs tasks: in the caller's process, or in others, which are given a few more tasks than there are processes."""

    def __init__(
        self,
        submit: Callable[..., Any] | None = None,
        processes: int = 1,
        result_of: Callable[[Any], Any] = methodcaller("result"),
    ) -> None:
        """``submit``: starts a function with one argument, as ``Executor.submit`` does; None: tasks run here.

        ``result_of``: waits for the result of what ``submit`` returned.
        """
        self._submit = submit
        self._at_once = processes * (1 + WAITING)
        self._result_of = result_of

    def map(self, run: Callable[[T], R], tasks: Iterable[T]) -> Iterator[FinishedTask[T, R]]:
        """Yield each task with its result, in order. A task is made shortly before it runs, and not held afterwards."""
        if self._submit is None:
            return (FinishedTask(task, run(task)) for task in tasks)
        return self._side_by_side(self._submit, run, tasks)

    def _side_by_side(
        self, submit: Callable[..., Any], run: Callable[[T], R], tasks: Iterable[T]
    ) -> Iterator[FinishedTask[T, R]]:
        """Yield results in the order of the tasks, so long tasks should be first."""
        begun: deque[tuple[T, Any]] = deque()
        try:
            for task in tasks:
                if len(begun) == self._at_once:
                    yield self._oldest(begun)
                begun.append((task, submit(run, task)))
            while begun:
                yield self._oldest(begun)
        finally:
            for _, future in begun:
                future.cancel()

    def _oldest(self, begun: deque[tuple[T, Any]]) -> FinishedTask[T, Any]:
        task, future = begun.popleft()
        return FinishedTask(task, self._result_of(future))


@contextmanager
def _workers_named() -> Iterator[None]:
    """Explain what to do when a worker process was ended from outside."""
    from concurrent.futures import BrokenExecutor

    try:
        yield
    except BrokenExecutor as error:
        raise WorkerError(
            "A process of this build was ended from outside, most likely by the system for want of memory.",
            fix="Build with less at a time: --jobs 1.",
        ) from error


@contextmanager
def pool_for(
    units: int, jobs: int | None = None, dask: str | None = None, context: WorkerContext | None = None
) -> Iterator[Pool]:
    """Open the pool for a number of units of work: a dask cluster if one is named, otherwise as many processes as pay.

    ``dask``: the address of the scheduler; ``context``: the context of the tasks, which workers of a cluster need.
    Raises the errors of ``cluster.cluster_pool``.
    """
    if dask and context:
        from sitegen.stages.cluster import cluster_pool

        with cluster_pool(dask, context) as pool:
            yield pool
        return
    processes = processes_for(units, jobs)
    if processes == 1:
        with share_processes():
            yield Pool()
        return
    import multiprocessing  # takes milliseconds, which a build with few new commits does not spend
    from concurrent.futures import ProcessPoolExecutor

    # A forked process inherits imports and values. No thread of ours runs, so no lock is held while memory is copied.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() and os.name == "posix" else "spawn"
    start = multiprocessing.get_context(method)
    with ProcessPoolExecutor(processes, start, initializer=_begin_worker) as executor, _workers_named():
        yield Pool(executor.submit, processes)


def processes_for(units: int, jobs: int | None = None) -> int:
    """Return how many processes to start for some units of work. ``jobs``: the user's choice; None: as many as pay."""
    cores = os.cpu_count() or 1
    if jobs is None:
        return min(cores, units // WORTH_A_PROCESS + 1)
    return max(1, min(jobs, PROCESSES_A_CORE * cores))


def _begin_worker() -> None:
    """Prepare a worker process, whose tasks all read the repository through one git process."""
    share_processes_until_exit()
    _end_with_parent()


def _end_with_parent() -> None:
    """End this worker when the build ends: a worker that outlived the build could overwrite pages of the next one."""
    import multiprocessing
    from multiprocessing.connection import wait
    from threading import Thread

    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    Thread(target=watch, daemon=True).start()
