"""Runs the tasks of a stage: in this process, in several, or on a dask cluster. The only module that knows which."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from operator import methodcaller
from typing import Any, Final, TypeVar

from sitegen.engine.worker_context import WorkerContext
from sitegen.errors import WorkerError
from sitegen.history.process import end_shared_processes, share_processes, share_processes_until_exit

WAITING: Final = 1
"""Number of tasks for each process that are made ahead of their turn."""

T = TypeVar("T")
R = TypeVar("R")


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
        self.processes = processes
        self._submit = submit
        self._at_once = processes * (1 + WAITING)
        self._result_of = result_of

    def map(self, run: Callable[[T], R], tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Yield each task with its result, in order: long tasks should be first.

        A task is made shortly before it runs, and not held afterwards.
        """
        if self._submit is None:
            yield from ((task, run(task)) for task in tasks)
            return
        submit = self._submit
        begun: deque[tuple[T, Any]] = deque()
        rest = iter(tasks)
        try:
            begun.extend((task, submit(run, task)) for task in islice(rest, self._at_once))
            while begun:
                task, future = begun.popleft()
                yield task, self._result_of(future)
                del task  # it is held until its result is taken, and no longer
                begun.extend((task, submit(run, task)) for task in islice(rest, 1))
        finally:
            for _, future in begun:
                future.cancel()


_WORTH_A_PROCESS: Final = 300  # snapshots, edits and commits, a millisecond each, that make a second one worthwhile
_PROCESSES_A_CORE: Final = 4  # the most, whatever ``--jobs`` says: more would only take memory
_M_ARENA_MAX: Final = -8  # number of glibc's option for the number of heaps, from its header ``malloc.h``


def _explained(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls another, and says what to do if a worker process was ended from outside."""
    from concurrent.futures import BrokenExecutor

    def explained(*arguments: Any) -> Any:
        try:
            return call(*arguments)
        except BrokenExecutor as error:
            raise WorkerError(
                "A process of this build was ended from outside, most likely by the system for want of memory.",
                fix="Build with fewer processes: --jobs 1.",
            ) from error

    return explained


@contextmanager
def pool_for(
    units: int, jobs: int | None = None, dask: str | None = None, context: WorkerContext | None = None
) -> Iterator[Pool]:
    """Open the pool for a number of units of work: a dask cluster if one is named, otherwise as many processes as pay.

    ``dask``: the address of the scheduler; ``context``: the context of the tasks, which workers of a cluster need.
    Raises the errors of ``cluster.cluster_workers``.
    """
    if dask and context:
        from sitegen.engine.cluster import cluster_workers

        with cluster_workers(dask, context) as workers:
            yield Pool(*workers)
        return
    processes = processes_for(units, jobs)
    if processes == 1:
        with share_processes():
            yield Pool()
        return
    import multiprocessing  # takes milliseconds, which a build with few new commits does not spend
    from concurrent.futures import ProcessPoolExecutor

    end_shared_processes()
    _share_one_heap()
    # A forked process inherits imports and values. No thread of ours runs, so no lock is held while memory is copied.
    with ProcessPoolExecutor(processes, multiprocessing.get_context("fork"), initializer=_begin_worker) as executor:
        executor.submit(int)  # starts the processes now, while no git process runs whose pipes they would inherit
        yield Pool(_explained(executor.submit), processes, _explained(methodcaller("result")))


def processes_for(units: int, jobs: int | None) -> int:
    """Return how many processes to start for some units of work. ``jobs``: the user's choice; None: as many as pay."""
    cores = os.cpu_count() or 1
    return min(cores, units // _WORTH_A_PROCESS + 1) if jobs is None else max(1, min(jobs, _PROCESSES_A_CORE * cores))


def _share_one_heap() -> None:
    """Let all threads of this process and of its workers allocate from one heap, if the C library is glibc.

    Tasks and results go to the workers through two threads. glibc would give each a heap of its own, which keeps free
    memory that no other thread can use. Python runs one thread at a time, so that none waits for another's allocation.
    """
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION")
    except ValueError:  # other C libraries do not know the name
        return
    if libc:
        import ctypes

        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def _begin_worker() -> None:
    """Prepare a worker process, whose tasks all read the repository through one git process.

    It imports what most tasks need before the first of them comes: Jinja, the parser of Markdown, rapidfuzz.
    """
    share_processes_until_exit()
    _end_with_parent()
    import sitegen.engine.jinja_setup  # noqa: F401
    from sitegen.text import markdown, similarity

    markdown.document("")
    similarity.similarity(["a"], ["b"])


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
