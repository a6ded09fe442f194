"""Runs the tasks of a stage, here or wherever a function sends them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from operator import methodcaller
from typing import Any, Final, Generic, TypeVar

from sitegen.named_tuple import NamedTuple

WAITING: Final = 1
"""Number of tasks for each process that are made ahead of their turn."""

COLLECTION: Final = 1_000_000
"""Threshold of the garbage collector: hardly anything that a build makes is cyclic, and scanning all the rest takes
time, the more the longer the history."""
COLLECTION_OF_PAGES: Final = 50_000
"""The threshold where a project has templates of its own: a template that a page includes and a macro that it defines
refer to each other, and hold what the page shows. Of ours, only templates of the overview do."""

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
        self.processes = processes
        self._submit = submit
        self._at_once = processes * (1 + WAITING)
        self._result_of = result_of
        self._later: _Queue[Any, Any] | None = None

    def map(self, run: Callable[[T], R], tasks: Iterable[T]) -> Iterator[FinishedTask[T, R]]:
        """Yield each task with its result, in order. A task is made shortly before it runs, and not held afterwards."""
        if self._submit is None:
            return (FinishedTask(task, run(task)) for task in tasks)
        return self._side_by_side(_Queue(self._submit, run, tasks))

    def map_later(self, run: Callable[[T], R], tasks: Iterable[T]) -> Iterator[FinishedTask[T, R]]:
        """Return what ``map`` returns, for the last stage: its first tasks start while other stages end.

        Without it, processes wait at the end of each stage for its last task.
        """
        if self._submit is None:
            return self.map(run, tasks)
        self._later = _Queue(self._submit, run, tasks)
        return self._side_by_side(self._later)

    def _side_by_side(self, queue: _Queue[T, R]) -> Iterator[FinishedTask[T, R]]:
        """Yield results in the order of the tasks, so long tasks should be first."""
        try:
            while True:
                while len(queue.begun) < self._at_once and queue.begin():
                    pass
                if not queue.begun:
                    return
                if len(queue.begun) < self._at_once and self._later:
                    self._begin_later_tasks(self._at_once - len(queue.begun), self._later)
                task, future = queue.begun.popleft()
                yield FinishedTask(task, self._result_of(future))
                del task  # it is held until its result is taken, and no longer
        finally:
            for _, future in queue.begun:
                future.cancel()

    def _begin_later_tasks(self, free: int, later: _Queue[Any, Any]) -> None:
        """Begin tasks of the last stage for processes that the current stage needs no longer."""
        while later.unfinished < free and len(later.begun) < self._at_once and later.begin():
            pass


class _Queue(Generic[T, R]):
    """The tasks of one stage: those that were begun, in order, and those that are still to be made."""

    def __init__(self, submit: Callable[..., Any], run: Callable[[T], R], tasks: Iterable[T]) -> None:
        self._submit = submit
        self._run = run
        self._tasks = iter(tasks)
        self.begun: deque[tuple[T, Any]] = deque()
        """Tasks whose results were not taken, each with its future."""

    def begin(self) -> bool:
        """Make the next task and start it; False if there is none."""
        for task in self._tasks:
            self.begun.append((task, self._submit(self._run, task)))
            return True
        return False

    @property
    def unfinished(self) -> int:
        """Number of begun tasks without a result."""
        return sum(not future.done() for _, future in self.begun)
