"""Reads Parquet files in a process of its own, because pyarrow can end its process at a damaged file.

Its C++ code then calls ``std::terminate``, which no ``except`` catches.
"""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
from functools import lru_cache
from threading import Timer
from typing import Final

from sitegen.data_files.reading import UnreadableError
from sitegen.model.values import Value

PATIENCE: Final = 120.0
"""Seconds that one file may take. The largest that the bounds allow takes some 20."""

_SERVE: Final = "from sitegen.scoring.judged.tables.parquet_process import serve; serve()"


def read_parquet(content: bytes, most_rows: int) -> list[Value]:
    """Read each row as an object. Raises UnreadableError, for example if there are more than *most_rows*."""
    return _process_of(os.getpid()).read(content, most_rows)


class _ParquetProcess:
    def __init__(self) -> None:
        path = os.pathsep.join(map(os.path.abspath, sys.path))  # it imports from where this process does
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        atexit.register(self.close)

    def read(self, content: bytes, most_rows: int) -> list[Value]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        timer = Timer(PATIENCE, self._process.kill)
        timer.start()
        try:
            pickle.dump((content, most_rows), self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
            answer = pickle.load(self._process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            _process_of.cache_clear()
            self.close()
            raise UnreadableError(
                f"pyarrow does not survive it, or takes longer than {PATIENCE:g} s",
                "Write the table again, or as CSV or JSON Lines.",
            ) from None
        finally:
            timer.cancel()
        if isinstance(answer, tuple):
            raise UnreadableError(*answer)
        rows: list[Value] = answer
        return rows

    def close(self) -> None:
        atexit.unregister(self.close)
        self._process.kill()
        self._process.communicate()


@lru_cache(maxsize=1)
def _process_of(parent: int) -> _ParquetProcess:  # a fork of the parent would share the pipes of its process
    return _ParquetProcess()


def serve() -> None:
    """Answer requests until there are no more: the rows of a file, or the message and the fix of its error."""
    from sitegen.scoring.judged.tables.parquet import rows_of_parquet

    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for whatever a library prints
    while True:
        try:
            content, most_rows = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: object
        try:
            answer = rows_of_parquet(content, most_rows)
        except UnreadableError as error:
            answer = (error.message, error.fix)
        pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
