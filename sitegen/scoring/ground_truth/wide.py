"""Layout ``wide``: a header row, then one row a document."""

from __future__ import annotations

from sitegen.data_files.reading import UnreadableError
from sitegen.model.problems import Finding
from sitegen.scoring.ground_truth.truth import GroundTruth, Tree, TruthDocument, mapped_path, unmapped
from sitegen.scoring.mapping import Mapping


def is_layout(rows: list[list[str]], mapping: Mapping) -> bool:
    """Whatever no other layout claims."""
    return True


def read_rows(rows: list[list[str]], mapping: Mapping) -> GroundTruth:
    """Read the documents. Without a mapping a header is a field path itself."""
    start = next(number for number, row in enumerate(rows) if any(cell.strip() for cell in row))
    header = [cell.strip() for cell in rows[start]]
    check_distinct(header, start + 1)
    named_by = id_column(header, mapping)
    paths = {column: mapped_path(column, mapping) for column in header}
    documents: list[TruthDocument] = []
    findings: list[Finding] = []
    for number, row in enumerate(rows[start + 1 :], start + 2):
        if not any(cell.strip() for cell in row):
            continue
        if any(cell.strip() for cell in row[len(header) :]):
            what = f"Line {number} has more cells than the header; the rest is not scored"
            findings.append(
                Finding(
                    severity="warning",
                    what=what,
                    fix="Quote cells that contain commas.",
                    line=number,
                    about="ground_truth",
                )
            )
        tree = Tree()
        cells = dict(zip(header, [*row, *[""] * len(header)], strict=False))
        for column in header:
            path = paths.get(column)
            if path and column != named_by:
                tree.put(path, cells[column])
        findings += [finding for finding in tree.findings if finding not in findings]
        name = cells[named_by].strip() if named_by is not None else ""
        documents.append(TruthDocument(name, tree.value()))
    if not documents:
        raise UnreadableError("it has a header and no rows", "Write one row a document.")
    documents, key = _named_documents(documents, named_by, mapping, findings)
    left_over = [column for column in header if column and not paths.get(column) and column != named_by]
    return GroundTruth(documents=tuple(documents), written=True, key=key, findings=(*findings, *unmapped(left_over)))


def id_column(header: list[str], mapping: Mapping) -> str | None:
    """The column that names documents: as set, else the one mapped to the documents' key, else ``id``."""
    if mapping.id_column is not None:
        if mapping.id_column in header:
            return mapping.id_column
        raise UnreadableError(f"there is no column {mapping.id_column!r}", "Correct id_column.", 1)
    key = mapping.documents.key if mapping.documents else "id"
    mapped = [column for column in header if mapping.csv_to_json.get(column) == key]
    return mapped[0] if mapped else ("id" if "id" in header else None)


def check_distinct(header: list[str], line: int) -> None:
    """A duplicate column is an error: nobody could say which one counts."""
    seen: set[str] = set()
    for column in header:
        if column and column in seen:
            raise UnreadableError(f"the column {column!r} stands twice", "Rename or remove one.", line)
        seen.add(column)


def _named_documents(
    documents: list[TruthDocument], named_by: str | None, mapping: Mapping, findings: list[Finding]
) -> tuple[list[TruthDocument], str | None]:
    """The documents under distinct names, and the key of the output that names them there."""
    if named_by is None and len(documents) == 1:
        return documents, None
    if named_by is None:
        what = "Several rows and no column that names them; they are paired with the output by their order"
        findings.append(
            Finding(
                severity="warning", what=what, fix="Add a column 'id', or set id_column.", line=1, about="ground_truth"
            )
        )
        return [TruthDocument(str(number), document.root) for number, document in enumerate(documents, 1)], None
    seen: set[str] = set()
    distinct = []
    for document in documents:
        if document.id in seen:
            what = f"The document {document.id[:80]!r} stands twice; the first one counts"
            findings.append(
                Finding(
                    severity="error",
                    what=what,
                    fix="Give every document a name of its own.",
                    line=None,
                    about="ground_truth",
                )
            )
        else:
            distinct.append(document)
        seen.add(document.id)
    return distinct, (mapping.documents.key if mapping.documents else mapping.csv_to_json.get(named_by, "id"))
