"""Layout ``long``: one row for each field, ``field,value``, with an id column if there are several documents."""

from __future__ import annotations

from collections import Counter
from typing import Final

from sitegen.data_files.reading import UnreadableError, check_distinct
from sitegen.scoring.ground_truth.truth import GroundTruth, Tree, TruthDocument, is_plain_path, mapped_path, unmapped
from sitegen.scoring.ground_truth.wide import id_column
from sitegen.scoring.mapping import Mapping

_FIELD: Final = frozenset({"field", "attribute", "name", "path"})
_VALUE: Final = frozenset({"value", "expected"})
_FIELD_OF_TWO: Final = _FIELD | frozenset(
    {"field name", "field path", "attribute name", "column", "column name", "parameter", "property", "key"}
)
_VALUE_OF_TWO: Final = _VALUE | frozenset({"expected value", "correct value", "true value", "ground truth", "gold"})
"""Words that count only as the two headers of a file of several rows."""


def is_layout(rows: list[list[str]], mapping: Mapping) -> bool:
    """Whether each row seems to hold one field, which its first cell (the label) names.

    The first two headers are a word for the field and a word for the value; or there are two headers and at least two
    rows, no label repeats, and one of these is true: the headers are such words in more spellings; labels are mapped;
    every label is a field path and one of them leads to an item of a list. Headers that are mapped themselves are
    fields of the wide layout, unless labels are mapped too.
    """
    header = _header_row(rows)
    if len(header) < 2:
        return False
    labels = [row[0].strip() for row in rows[_first_data_row(rows) :] if _has_cells(row)]
    are_mapped = any(label in mapping.csv_to_json for label in labels)
    if not are_mapped and any(column in mapping.csv_to_json for column in header[:2]):
        return False
    words = [_header_word(column) for column in header]
    if words[0] in _FIELD and words[1] in _VALUE:
        return True
    if len(header) != 2 or len(labels) < 2 or len({*labels}) < len(labels) or id_column(header, mapping) is not None:
        return False
    if (words[0] in _FIELD_OF_TWO and words[1] in _VALUE_OF_TWO) or are_mapped:
        return True
    return all(map(is_plain_path, labels)) and any("[" in label for label in labels)


def read_rows(rows: list[list[str]], mapping: Mapping) -> GroundTruth:
    """Read the documents. Without a mapping, each field is a path.

    Words of the header identify the columns of field and value. If one of them is not recognised, they are the first
    two columns that do not name the document.
    """
    header = _header_row(rows)
    check_distinct(header, 1)
    words = [_header_word(column) for column in header]
    field = next((place for place, word in enumerate(words) if word in _FIELD_OF_TWO), None)
    value = next((place for place, word in enumerate(words) if word in _VALUE_OF_TWO), None)
    if field is None or value is None:
        first_two = [place for place, column in enumerate(header) if column != (mapping.id_column or "id")][:2]
        if len(first_two) < 2:
            raise UnreadableError("it has no column for the field and one for its value", "Write both columns.", 1)
        field, value = first_two
    id_name = mapping.id_column or "id"
    id_place = header.index(id_name) if id_name in header else None
    if mapping.id_column is not None and id_place is None:
        raise UnreadableError(f"there is no column {mapping.id_column!r}", "Correct id_column.", 1)
    blanks = [""] * len(header)
    trees: dict[str, Tree] = {}
    left_over: Counter[str] = Counter()
    for number, row in enumerate(rows[_first_data_row(rows) :], _first_data_row(rows) + 1):
        if not _has_cells(row):
            continue
        cells = [*row, *blanks]
        name = cells[field].strip()
        path = mapped_path(name, mapping)
        tree = trees.setdefault(cells[id_place].strip() if id_place is not None else "", Tree())
        if path:
            tree.put(path, cells[value], number, is_mapped=name in mapping.csv_to_json)
        else:
            left_over[name] += bool(cells[value].strip())
    if not trees:
        raise UnreadableError("it has a header and no rows", "Write one row a field.")
    findings = [finding for tree in trees.values() for finding in tree.findings]
    documents = tuple(TruthDocument(name, tree.value(), tree.lines) for name, tree in trees.items())
    key = None if id_place is None else (mapping.documents.key if mapping.documents else "id")
    return GroundTruth(documents=documents, written=True, key=key, findings=(*findings, *unmapped(left_over)))


def _has_cells(row: list[str]) -> bool:
    return any(map(str.strip, row))


def _first_data_row(rows: list[list[str]]) -> int:
    return next((place for place, row in enumerate(rows, 1) if _has_cells(row)), len(rows))


def _header_word(column: str) -> str:
    return " ".join(column.lower().replace("_", " ").replace("-", " ").split())


def _header_row(rows: list[list[str]]) -> list[str]:
    return [cell.strip() for cell in next(filter(_has_cells, rows), [])]
