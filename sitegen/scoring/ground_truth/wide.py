"""Layout ``wide``: a header row, then one row for each document."""

from __future__ import annotations

from msgspec.structs import replace

from sitegen.data_files.reading import UnreadableError, check_distinct
from sitegen.model.problems import Finding
from sitegen.scoring.ground_truth.truth import GroundTruth, Tree, TruthDocument, mapped_path, truth_warning, unmapped
from sitegen.scoring.mapping import Mapping


def is_layout(rows: list[list[str]], mapping: Mapping) -> bool:
    """Return true for any file, because this layout reads everything that no other layout recognises."""
    return True


def read_rows(rows: list[list[str]], mapping: Mapping) -> GroundTruth:
    """Read the documents. Without a mapping, each header is a field path."""
    start = next(number for number, row in enumerate(rows) if any(cell.strip() for cell in row))
    header = [cell.strip() for cell in rows[start]]
    check_distinct(header, start + 1)
    id_name = id_column(header, mapping)
    paths = {column: mapped_path(column, mapping) for column in header}
    documents: list[TruthDocument] = []
    filled: set[str] = set()
    findings: list[Finding] = []
    for number, row in enumerate(rows[start + 1 :], start + 2):
        if not any(cell.strip() for cell in row):
            continue
        if any(cell.strip() for cell in row[len(header) :]):
            message = f"Line {number} has more cells than the header; the rest is not scored"
            findings.append(truth_warning(message, "Quote cells that contain commas.", number))
        tree = Tree()
        cells = dict(zip(header, [*row, *[""] * len(header)], strict=False))
        for column in header:
            path = paths.get(column)
            if path and column != id_name:
                tree.put(path, cells[column], is_mapped=column in mapping.csv_to_json)
        filled.update(column for column, cell in cells.items() if cell.strip())
        findings += [finding for finding in tree.findings if finding not in findings]
        name = cells[id_name].strip() if id_name is not None else ""
        documents.append(TruthDocument(name, tree.value(), {"": number}))
    if not documents:
        raise UnreadableError("it has a header and no rows", "Write one row a document.")
    documents, key = _named_documents(documents, id_name, mapping, findings)
    left_over: dict[str, int] = {
        column: column in filled for column in header if column and not paths.get(column) and column != id_name
    }
    return GroundTruth(documents=tuple(documents), written=True, key=key, findings=(*findings, *unmapped(left_over)))


def id_column(header: list[str], mapping: Mapping) -> str | None:
    """Return the column that names documents: the configured one, else the one mapped to their key, else ``id``."""
    if mapping.id_column is not None:
        if mapping.id_column in header:
            return mapping.id_column
        raise UnreadableError(f"there is no column {mapping.id_column!r}", "Correct id_column.", 1)
    key = mapping.documents.key if mapping.documents else "id"
    mapped = [column for column in header if mapping.csv_to_json.get(column) == key]
    return mapped[0] if mapped else ("id" if "id" in header else None)


def _named_documents(
    documents: list[TruthDocument], id_name: str | None, mapping: Mapping, findings: list[Finding]
) -> tuple[list[TruthDocument], str | None]:
    """Return the documents with distinct names, and the key that names them in the output."""
    if id_name is None and len(documents) == 1:
        return documents, None
    if id_name is None:
        message = "Several rows and no column that names them; they are paired with the output by their order"
        findings.append(truth_warning(message, "Add a column 'id', or set id_column.", 1))
        return [replace(document, id=str(number)) for number, document in enumerate(documents, 1)], None
    distinct: dict[str, TruthDocument] = {}
    for document in documents:
        if document.id in distinct:
            message = f"The document {document.id[:80]!r} occurs twice; the first one counts"
            findings.append(replace(truth_warning(message, "Give every document a name of its own."), severity="error"))
        distinct.setdefault(document.id, document)
    return list(distinct.values()), (
        mapping.documents.key if mapping.documents else mapping.csv_to_json.get(id_name, "id")
    )
