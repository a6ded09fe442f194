"""Reads the unpacked sizes of the pages of a Parquet file from the headers of the pages.

The footer states sizes as well, but it may be wrong, and pages are unpacked whole. A header is a struct in Thrift's
compact protocol (``PageHeader`` of parquet.thrift). Only the sizes of a page and the number of its values are used. The
other fields are skipped to find the end of the header.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from sitegen.frozen import Frozen

_DEEPEST: Final = 10
_MOST_PAGES: Final = 100_000

_BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 3, 7, 8, 9, 10, 12
_WHOLE: Final = frozenset((4, 5, 6))
"""Types of whole numbers. The types 1 and 2 are true and false, which have no further bytes."""

_UNPACKED, _PACKED = (2,), (3,)
"""Fields of a header with the sizes of its page, in bytes."""
_VALUES: Final = ((5, 1), (7, 1), (8, 1))
"""The number of values in the header of a data page, of a dictionary, and of a data page of version 2."""


class PageSize(Frozen):
    """The header of one page."""

    unpacked: int
    """Bytes."""
    values: int


def page_sizes(content: bytes, chunks: Iterable[Any]) -> Iterator[PageSize]:
    """Yield the pages of column chunks, as pyarrow reads them from the footer. Raises ValueError if one is missing."""
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
            yield PageSize(header.numbers.get(_UNPACKED, 0), values)
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
