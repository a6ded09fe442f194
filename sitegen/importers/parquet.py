"""Reads the rows of Parquet files, with bounds on memory.

A small file can repeat one long value in every row. Texts therefore stay indices into a dictionary, as they are in the
file, until the size of a batch of rows is known.

The footer states the unpacked sizes of pages, but it may be wrong, and pages are unpacked whole, so that their own
headers are read first. A header is a struct in Thrift's compact protocol (``PageHeader`` of parquet.thrift). Only the
sizes of a page and the number of its values are used. The other fields are skipped to find the end of the header.


Reads Parquet files in a process of its own, because pyarrow can end its process at a damaged file.

Its C++ code then calls ``std::terminate``, which no ``except`` catches.
"""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from functools import lru_cache
from io import BytesIO
from threading import Timer
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.parquet import ParquetFile

from sitegen.data_files.reading import MAX_DEPTH, MOST_ROWS, UnreadableError
from sitegen.model.outcomes import Unusable, Value

_DEEPEST: Final = 10
_MOST_PAGES: Final = 100_000

_BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 3, 7, 8, 9, 10, 12
_WHOLE: Final = frozenset((4, 5, 6))
"""Types of whole numbers. The types 1 and 2 are true and false, which have no further bytes."""

_UNPACKED, _PACKED = (2,), (3,)
"""Fields of a header with the sizes of its page, in bytes."""
_VALUES: Final = ((5, 1), (7, 1), (8, 1))
"""The number of values in the header of a data page, of a dictionary, and of a data page of version 2."""


def page_sizes(content: bytes, chunks: Iterable[Any]) -> Iterator[tuple[int, int]]:
    """Yield (bytes when unpacked, values) of each page of column chunks, as pyarrow reads them from the footer.

    Raises ValueError if one is missing.
    """
    left = _MOST_PAGES
    for chunk in chunks:
        position = chunk.data_page_offset
        if chunk.has_dictionary_page and 0 < (chunk.dictionary_page_offset or 0) < position:
            position = chunk.dictionary_page_offset
        end = position + chunk.total_compressed_size
        if not 0 <= position <= end <= len(content):
            raise ValueError("a column lies outside the file")
        while position < end:
            left -= 1
            header = _Header(content, position, end)
            packed = header.numbers.get(_PACKED, -1)
            if packed < 0 or not left:
                raise ValueError("no page, or too many")
            values = max((header.numbers.get(path, 0) for path in _VALUES), default=0)
            yield header.numbers.get(_UNPACKED, 0), values
            position = header.position + packed


class _Header:
    """A header: its whole numbers by the path of their fields, and ``position``, where it ends."""

    def __init__(self, content: bytes, position: int, end: int) -> None:
        self.position = position
        self.numbers: dict[tuple[int, ...], int] = {}
        self._content = content
        self._end = end
        self._struct(())

    def _byte(self) -> int:
        if self.position >= self._end:
            raise ValueError("a header ends too early")
        self.position += 1
        return self._content[self.position - 1]

    def _number(self) -> int:
        """An unsigned number, seven bits in each byte."""
        number = shift = 0
        while shift < 70:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7
        raise ValueError("a number is too long")

    def _signed(self) -> int:
        number = self._number()
        return number >> 1 ^ -(number & 1)

    def _struct(self, path: tuple[int, ...]) -> None:
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            self._value(head & 15, (*path, field))

    def _value(self, kind: int, path: tuple[int, ...]) -> None:
        if len(path) > _DEEPEST:
            raise ValueError("a header is too deep")
        if kind == _STRUCT:
            self._struct(path)
        elif kind in _WHOLE:
            self.numbers[path] = self._signed()
        elif kind in (_LIST, _SET):
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._number()
            for _ in range(min(size, self._end - self.position + 1)):
                self._value(head & 15, (*path, 0))
        elif kind in (_BYTE, _DOUBLE, _BINARY):
            size = {_BYTE: 1, _DOUBLE: 8}.get(kind) or self._number()
            self.position += size
        elif kind not in (1, 2):
            raise ValueError("a header has a field that no page has")


MOST_BYTES: Final = 200_000_000
"""The most bytes of all rows as Python values, and of all unpacked pages according to the file."""
_MOST_VALUES: Final = 5_000_000
"""The most values of all columns, including values inside lists."""
_OF_A_VALUE: Final = 50
"""Approximate bytes of a value besides its text."""
_AT_ONCE: Final = 1_000
"""Number of rows in a batch."""
_FAULTS: Final = (pa.ArrowException, OSError, ValueError, TypeError, NotImplementedError, OverflowError)
_FIX: Final = "Leave out the columns that are not needed."


def rows_of_parquet(content: bytes) -> list[Value]:
    """Read each row as an object. Raises UnreadableError, for example if there are more than ``MOST_ROWS``."""
    try:
        columns = [column for column in ParquetFile(BytesIO(content)).schema if column.physical_type == "BYTE_ARRAY"]
        file = ParquetFile(BytesIO(content), read_dictionary=[column.path for column in columns], pre_buffer=False)
        _check_sizes(content, file.metadata)
        return _rows(file)
    except _FAULTS:
        raise UnreadableError("it is not a valid Parquet file", "Write the table again.") from None


def _check_sizes(content: bytes, metadata: Any) -> None:
    """Check the sizes in the footer, and then the sizes of the pages, each of which is unpacked whole."""
    if metadata.num_rows > MOST_ROWS:
        raise UnreadableError(f"it has more than {MOST_ROWS:,} rows", "Split it into several evals.")
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(metadata.num_columns)]
    if sum(chunk.num_values for chunk in chunks) > _MOST_VALUES:
        raise UnreadableError(f"it has more than {_MOST_VALUES:,} values", _FIX)
    if sum(chunk.total_uncompressed_size for chunk in chunks) > MOST_BYTES:
        raise UnreadableError("it takes too much memory", _FIX)
    unpacked = 0
    for of_page, values in page_sizes(content, chunks):
        unpacked += of_page
        if not 0 <= of_page <= unpacked <= MOST_BYTES or values > _MOST_VALUES:
            raise UnreadableError("it takes too much memory", _FIX)


def _rows(file: ParquetFile) -> list[Value]:
    rows: list[Value] = []
    left = MOST_BYTES
    for batch in file.iter_batches(batch_size=_AT_ONCE, use_threads=False):
        left -= sum(map(_weight, batch.columns))
        if left < 0:
            raise UnreadableError("it takes too much memory", _FIX)
        rows += map(_as_json_value, batch.to_pylist())
    return rows


def _weight(array: Any) -> int:
    """The approximate bytes of an array as values of Python. Repeated values count each time."""
    own = _OF_A_VALUE * len(array)
    kind = array.type
    if pa.types.is_dictionary(kind):
        tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
        if not any(test(kind.value_type) for test in tests):
            return own
        lengths = pc.take(pc.binary_length(array.dictionary), array.indices)
        return own + (pc.sum(lengths).as_py() or 0)
    if pa.types.is_struct(kind):
        return own + sum(map(_weight, array.flatten()))
    if pa.types.is_map(kind):
        return own + _weight(array.keys) + _weight(array.items)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return own + _weight(array.flatten())
    return own + int(array.nbytes)


def _as_json_value(value: Any, depth: int = 0) -> Value:
    """Convert a value to the types that the reader of JSON returns. Values that are nested too deeply become None."""
    if value is None or isinstance(value, bool | int | str | Decimal):
        return value
    if isinstance(value, float):
        return Decimal(repr(value)) if value - value == 0 else Unusable(repr(value), "no finite number")
    if isinstance(value, date):
        return value.isoformat()
    if depth <= MAX_DEPTH and isinstance(value, dict):
        return {str(key): _as_json_value(member, depth + 1) for key, member in value.items()}
    if depth <= MAX_DEPTH and isinstance(value, list | tuple):
        return [_as_json_value(item, depth + 1) for item in value]
    return None


PATIENCE: Final = 120.0
"""Seconds that one file may take. The largest that the bounds allow takes some 20."""

_SERVE: Final = "from sitegen.importers.parquet import serve; serve()"


def read_parquet(content: bytes) -> list[Value]:
    """Read each row as an object. Raises UnreadableError, for example if there are more than ``MOST_ROWS``."""
    return _process_of(os.getpid()).read(content)


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

    def read(self, content: bytes) -> list[Value]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        timer = Timer(PATIENCE, self._process.kill)
        timer.start()
        try:
            pickle.dump(content, self._process.stdin, pickle.HIGHEST_PROTOCOL)
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
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for whatever a library prints
    while True:
        try:
            content = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: object
        try:
            answer = rows_of_parquet(content)
        except UnreadableError as error:
            answer = (error.message, error.fix)
        pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
