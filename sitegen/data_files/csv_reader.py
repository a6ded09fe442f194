"""Reads CSV files into rows of cells, within bounds."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Final

from sitegen.data_files.reading import UnreadableError, text_of

_MAX_CELLS: Final = 1_000_000
"""Largest number of cells of a CSV file. Scoring this many values takes about 700 MB."""


def csv_table(content: bytes) -> tuple[list[str], list[list[str]]]:
    """Read the first row as names, stripped of white space, and the other rows without empty ones.

    A column without a name has an empty one. Raises UnreadableError.
    """
    header, *rows = (row for row in csv_rows(content) if any(row))
    names = [name.strip() for name in header]
    check_distinct(names)
    return names, rows


def check_distinct(names: Iterable[str], line: int | None = None) -> None:
    """Raise UnreadableError if two columns have one name: it would be unclear which counts."""
    for name, times in Counter(filter(None, names)).items():  # in one pass, because there may be a million columns
        if times > 1:
            raise UnreadableError(f"the column {name[:80]!r} stands twice", "Rename or remove one.", line)


def csv_rows(content: bytes) -> list[list[str]]:
    """The cells as unchanged text, such as ``NA``, ``None`` and ``00712``. Raises UnreadableError."""
    # Appends a row of two empty cells. Only an unclosed quote swallows it, which csv does not report otherwise.
    reader = csv.reader(chain(_lines_with_ends(text_of(content)), [","]))
    rows: list[list[str]] = []
    start = cells = 0
    try:
        for row in reader:
            rows.append(row)
            cells += len(row)
            if cells > _MAX_CELLS + 2:
                raise UnreadableError(
                    f"it has more than {_MAX_CELLS:,} cells, counted up to this line",
                    "Split the eval into several with fewer documents, or leave out columns that are not scored.",
                    start + 1,
                )
            start = reader.line_num
    except csv.Error as error:
        raise UnreadableError(f"it is not valid CSV: {error}", "Correct the line.", start + 1) from None
    last = rows.pop()
    if last != ["", ""]:
        # The cell runs from the quote to the end of the file.
        line = reader.line_num - max(1, len(list(_lines_with_ends(last[-1][:-1]))))
        raise UnreadableError(f"the quote that opens in line {line} is never closed", "Close it.", line)
    if not any(any(cell.strip() for cell in row) for row in rows):
        raise UnreadableError("it is empty", "Write a header row and the expected values.")
    _refuse_other_delimiter(rows)
    return rows


def _refuse_other_delimiter(rows: list[list[str]]) -> None:
    """Refuse a header of one cell with semicolons or tabs, as spreadsheets write it in some countries."""
    number, header = next((number, row) for number, row in enumerate(rows, 1) if any(map(str.strip, row)))
    for delimiter, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(header) == 1 and delimiter in header[0]:
            raise UnreadableError(
                f"its columns are separated by {name}", "Save it with commas between columns.", number
            )


def _lines_with_ends(text: str) -> Iterable[str]:
    return io.StringIO(text, newline="")
