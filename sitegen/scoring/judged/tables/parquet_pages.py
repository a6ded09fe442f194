"""What the pages of a Parquet file take when they are unpacked, by their own headers.

The footer says so too, but nothing holds it to the pages, and a page is unpacked as a whole. A header is a struct of
Thrift's compact protocol (``PageHeader`` of parquet.thrift): of each page its sizes and the number of its values are
read, and the rest is passed over to find where the next one begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

_DEEPEST: Final = 10
_MOST_PAGES: Final = 100_000

_BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 3, 7, 8, 9, 10, 12
_WHOLE: Final = frozenset((4, 5, 6))
"""Types of a field, by the protocol; 1 and 2 are truth values, which have no bytes of their own."""

_UNPACKED, _PACKED = (2,), (3,)
"""Fields of a header: the sizes of its page in bytes."""
_VALUES: Final = ((5, 1), (7, 1), (8, 1))
"""The number of values in the header of a data page, of a dictionary, and of a data page of version 2."""


class PageSize(NamedTuple):
    """What one page says of itself."""

    unpacked: int
    """Bytes."""
    values: int


def page_sizes(content: bytes, chunks: Iterable[Any]) -> Iterator[PageSize]:
    """The pages of column chunks, which pyarrow describes by the footer. Raises ValueError where there is no page."""
    left = _MOST_PAGES
    for chunk in chunks:
        at = chunk.data_page_offset
        if chunk.has_dictionary_page and 0 < (chunk.dictionary_page_offset or 0) < at:
            at = chunk.dictionary_page_offset
        end = at + chunk.total_compressed_size
        if not 0 <= at <= end <= len(content):
            raise ValueError("a column lies outside the file")
        while at < end:
            left -= 1
            header = _Header(content, at, end)
            packed = header.numbers.get(_PACKED, -1)
            if packed < 0 or not left:
                raise ValueError("no page, or too many")
            values = max((header.numbers.get(path, 0) for path in _VALUES), default=0)
            yield PageSize(header.numbers.get(_UNPACKED, 0), values)
            at = header.at + packed


class _Header:
    """The header that begins at a place: its whole numbers by the path of their fields, and where it ends."""

    def __init__(self, content: bytes, at: int, end: int) -> None:
        self.at = at
        self.numbers: dict[tuple[int, ...], int] = {}
        self._content = content
        self._end = end
        self._struct(())

    def _byte(self) -> int:
        if self.at >= self._end:
            raise ValueError("a header ends too early")
        self.at += 1
        return self._content[self.at - 1]

    def _number(self) -> int:
        """An unsigned number, seven bits a byte."""
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
            for _ in range(min(size, self._end - self.at + 1)):
                self._value(head & 15, (*path, 0))
        elif kind in (_BYTE, _DOUBLE, _BINARY):
            size = {_BYTE: 1, _DOUBLE: 8}.get(kind) or self._number()
            self.at += size
        elif kind not in (1, 2):
            raise ValueError("a header has a field that no page has")
