"""Values that the tasks of a build share: each process receives such a value with its first task, and keeps it."""

from __future__ import annotations

import pickle
from functools import lru_cache
from typing import Any, Final, Generic, TypeVar

_KEPT: Final = 4
"""Number of values that a process keeps: evals that the same instruction files drive share one."""

T = TypeVar("T")


class SentOnce(Generic[T]):
    """A value that is pickled once, however many tasks refer to it, and unpickled once by each process.

    The edits of a long history are one: to pickle and unpickle them anew for each eval took a twentieth of a build of
    20,000 commits and 50 evals, and grew with the product of both.
    """

    def __init__(self, value: T) -> None:
        self._values = [value]
        """The value; empty after it was sent: a sender seldom needs it again, and its bytes take a tenth of it."""
        self._pickled = b""

    @property
    def value(self) -> T:
        """The value itself."""
        if not self._values:
            self._values.append(pickle.loads(self._pickled))
        return self._values[0]

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        if not self._pickled:
            self._pickled = pickle.dumps(self._values.pop(), pickle.HIGHEST_PROTOCOL)
        return _received, (self._pickled,)


@lru_cache(maxsize=_KEPT)
def _received(pickled: bytes) -> SentOnce[Any]:
    return SentOnce(pickle.loads(pickled))
