"""Parquet files as rows, weighed before they are made: a file of a few bytes can state one long value for every row.

Texts stay what they are in the file, places in a dictionary, until the weight of a batch is known.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from io import BytesIO
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.parquet import ParquetFile

from sitegen.data_files.reading import MAX_DEPTH, UnreadableError
from sitegen.model.values import Unusable, Value
from sitegen.scoring.judged.tables.parquet_pages import page_sizes

MOST_BYTES: Final = 200_000_000
"""Of all rows as values of Python, and of all pages as the file says that they are unpacked."""
_MOST_VALUES: Final = 5_000_000
"""Of all columns, those inside lists counted each."""
_OF_A_VALUE: Final = 50
"""Bytes that a value takes besides its text, about."""
_AT_ONCE: Final = 1_000
"""Rows."""
_FAULTS: Final = (pa.ArrowException, OSError, ValueError, TypeError, NotImplementedError, OverflowError)
_FIX: Final = "Leave out the columns that are not needed."


def read_parquet(content: bytes, most_rows: int) -> list[Value]:
    """The rows, each as an object; no more than are allowed. Raises UnreadableError."""
    try:
        columns = [column for column in ParquetFile(BytesIO(content)).schema if column.physical_type == "BYTE_ARRAY"]
        file = ParquetFile(BytesIO(content), read_dictionary=[column.path for column in columns], pre_buffer=False)
        _check_sizes(content, file.metadata, most_rows)
        return _rows(file)
    except _FAULTS:
        raise UnreadableError("it is no valid Parquet file", "Write the table again.") from None


def _check_sizes(content: bytes, metadata: Any, most_rows: int) -> None:
    """What the footer says, and then what the pages say: a page is unpacked whole, whatever the footer says of it."""
    if metadata.num_rows > most_rows:
        raise UnreadableError(f"it has more than {most_rows:,} rows", "Split it into several evals.")
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(metadata.num_columns)]
    if sum(chunk.num_values for chunk in chunks) > _MOST_VALUES:
        raise UnreadableError(f"it has more than {_MOST_VALUES:,} values", _FIX)
    if sum(chunk.total_uncompressed_size for chunk in chunks) > MOST_BYTES:
        raise UnreadableError("it takes too much memory", _FIX)
    unpacked = 0
    for page in page_sizes(content, chunks):
        unpacked += page.unpacked
        if not 0 <= page.unpacked <= unpacked <= MOST_BYTES or page.values > _MOST_VALUES:
            raise UnreadableError("it takes too much memory", _FIX)


def _rows(file: ParquetFile) -> list[Value]:
    rows: list[Value] = []
    left = MOST_BYTES
    for batch in file.iter_batches(batch_size=_AT_ONCE, use_threads=False):
        left -= sum(map(_weight, batch.columns))
        if left < 0:
            raise UnreadableError("it takes too much memory", _FIX)
        rows += [{str(name): _plain(each) for name, each in row.items()} for row in batch.to_pylist()]
    return rows


def _weight(array: Any) -> int:
    """The bytes that an array takes as values of Python, about; what stands in it again and again counts each time."""
    own = _OF_A_VALUE * len(array)
    kind = array.type
    if pa.types.is_dictionary(kind):
        if not _is_bytes(kind.value_type):
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


def _is_bytes(kind: Any) -> bool:
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(test(kind) for test in tests)


def _plain(value: Any, depth: int = 0) -> Value:
    """A value as the reader of JSON would give it."""
    if value is None or isinstance(value, bool | int | str | Decimal):
        return value
    if isinstance(value, float):
        return Decimal(repr(value)) if value - value == 0 else Unusable(repr(value), "no finite number")
    if isinstance(value, date):
        return value.isoformat()
    if depth < MAX_DEPTH and isinstance(value, dict):
        return {str(key): _plain(each, depth + 1) for key, each in value.items()}
    if depth < MAX_DEPTH and isinstance(value, list | tuple):
        return [_plain(each, depth + 1) for each in value]
    return None
