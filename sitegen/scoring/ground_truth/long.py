"""Layout ``long``: a row a field, ``field,value``, with an id column if there are several documents."""

from __future__ import annotations

from typing import Final

from sitegen.model.problems import Finding
from sitegen.scoring.ground_truth.truth import GroundTruth, Tree, unmapped
from sitegen.scoring.ground_truth.wide import check_distinct
from sitegen.scoring.mapping import Mapping
from sitegen.scoring.reading import Document, UnreadableError

_FIELD: Final = frozenset({"field", "attribute", "name", "path"})
_VALUE: Final = frozenset({"value", "expected"})


def fits(rows: list[list[str]]) -> bool:
    """The first two headers are a word for the field and a word for the value."""
    header = _header(rows)
    return len(header) >= 2 and header[0].lower() in _FIELD and header[1].lower() in _VALUE


def read(rows: list[list[str]], mapping: Mapping) -> GroundTruth:
    """Read the documents. Without a mapping the field is a path itself."""
    header = _header(rows)
    check_distinct(header, 1)
    words = [word.lower() for word in header]
    field = next((place for place, word in enumerate(words) if word in _FIELD), None)
    value = next((place for place, word in enumerate(words) if word in _VALUE), None)
    if field is None or value is None:
        raise UnreadableError("there is no column for the field and one for its value", "Name them: field,value.", 1)
    wanted = mapping.id_column or "id"
    named_by = header.index(wanted) if wanted in header else None
    if mapping.id_column is not None and named_by is None:
        raise UnreadableError(f"there is no column {mapping.id_column!r}", "Correct id_column.", 1)
    blanks = [""] * len(header)
    trees: dict[str, Tree] = {}
    left_over: list[str] = []
    for row in rows[rows.index(next(filter(_filled, rows))) + 1 :]:
        if not _filled(row):
            continue
        cells = [*row, *blanks]
        name = cells[field].strip()
        path = mapping.csv_to_json.get(name) if mapping.csv_to_json else name
        tree = trees.setdefault(cells[named_by].strip() if named_by is not None else "", Tree())
        if path:
            tree.put(path, cells[value])
        else:
            left_over.append(name)
    if not trees:
        raise UnreadableError("it has a header and no rows", "Write one row a field.")
    findings: list[Finding] = [finding for tree in trees.values() for finding in tree.findings]
    documents = tuple(Document(name, tree.value()) for name, tree in trees.items())
    key = None if named_by is None else (mapping.documents.key if mapping.documents else "id")
    return GroundTruth(documents, True, key, (*findings, *unmapped(left_over)))


def _filled(row: list[str]) -> bool:
    return any(map(str.strip, row))


def _header(rows: list[list[str]]) -> list[str]:
    return [cell.strip() for cell in next(filter(_filled, rows), [])]
