"""Runs the tasks of a stage, here or wherever a function sends them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import methodcaller
from typing import Any, Final, Generic, TypeVar

from sitegen.model.named_tuple import NamedTuple

WAITING: Final = 1
"""Number of tasks for each process that are made ahead of their turn."""

COLLECTION: Final = 1_000_000
"""Threshold of the garbage collector: hardly anything that a build makes is cyclic, and scanning all the rest takes
time, the more the longer the history."""

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
        rest = iter(tasks)
        try:
            begun.extend((task, submit(run, task)) for task in islice(rest, self._at_once))
            while begun:
                task, future = begun.popleft()
                yield FinishedTask(task, self._result_of(future))
                del task  # it is held until its result is taken, and no longer
                begun.extend((task, submit(run, task)) for task in islice(rest, 1))
        finally:
            for _, future in begun:
                future.cancel()
