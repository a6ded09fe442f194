"""Reads ground truth files, by their ending and layout (rules 17 and 18).

JSON, YAML and JSON Lines have the form of an output already. CSV files have one of three layouts: ``long`` has a row
for each field, with an id column if there are several documents; ``wide`` has a row for each document;
the module ``building_summary_csv`` reads the third.
"""

from collections import Counter
from typing import Final, Literal

from msgspec.structs import replace

from sitegen.data_files.folders import names_of_documents, unpacked
from sitegen.data_files.project_files import is_pointer
from sitegen.data_files.reading import LINES, UnreadableError, check_distinct, csv_rows, ending
from sitegen.data_files.yaml_reader import read_data
from sitegen.errors import POINTER, MissingObjectsError
from sitegen.importers.case_rows import expected_side
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding, Parsed
from sitegen.scoring.case_files import VALUE, read_case_file
from sitegen.scoring.ground_truth import building_summary_csv
from sitegen.scoring.ground_truth.truth import (
    COLUMNS,
    ENVELOPES,
    GroundTruth,
    Tree,
    TruthDocument,
    is_plain_path,
    mapped_path,
    truth_warning,
    unmapped,
)
from sitegen.scoring.mapping import Mapping
from sitegen.scoring.paths import PathError, follow, parse_path

_FIELD: Final = frozenset({"field", "attribute", "name", "path"})
_VALUE: Final = frozenset({"value", "expected"})
_FIELD_OF_TWO: Final = _FIELD | frozenset(
    {"field name", "field path", "attribute name", "column", "column name", "parameter", "property", "key"}
)
_VALUE_OF_TWO: Final = _VALUE | frozenset({"expected value", "correct value", "true value", "ground truth", "gold"})
"""Words that count only as the two headers of a file of several rows."""


def read_ground_truth(path: str, content: bytes, mapping: Mapping) -> GroundTruth:
    """Read a ground truth file by its ending, CSV by ``ground_truth_format``. Raises UnreadableError.

    The path of a folder ends with a slash; its content is packed.
    """
    if path.endswith("/"):
        return _truth_of_folder(content, mapping)
    if mapping.ground_truth_format == "cases":
        return _truth_of_cases(path, content, mapping)
    suffix = ending(path)
    if suffix in ("json", "yaml", "yml", *LINES):
        # A line that cannot be read makes the file unreadable: its document would be missing from every mean.
        truth = _truth_of_documents(read_data(suffix, content), mapping)
        return replace(truth, written="yaml") if suffix in ("yaml", "yml") else truth
    rows = csv_rows(content)
    layout: str = mapping.ground_truth_format
    if layout == "auto":
        is_summary = building_summary_csv.is_layout(rows)
        layout = "long" if _is_long(rows, mapping) else "building_summary_csv" if is_summary else "wide"
    readers = {"long": _read_long, "wide": _read_wide, "building_summary_csv": building_summary_csv.read_rows}
    truth = readers[layout](rows, mapping)
    if not any(document.root for document in truth.documents):
        how = building_summary_csv.SECTIONS if layout == "building_summary_csv" else COLUMNS
        raise UnreadableError(f"nothing of it is mapped (read as {layout})", f"{how}.")
    return truth


def _truth_of_cases(path: str, content: bytes, mapping: Mapping) -> GroundTruth:
    """Return the expected side of each case as a document named by its id; if an id repeats, the last case counts."""
    file = read_case_file(path, content, mapping.cases)
    documents = {
        case.id: TruthDocument(case.id, case.expected if isinstance(case.expected, dict) else {VALUE: case.expected})
        for case in file.cases
        if case.expected is not None
    }
    if not documents:
        raise UnreadableError("nothing is expected of any case", "Write an expected side for the cases.")
    findings = tuple(replace(finding, about="ground_truth") for finding in file.findings)
    return GroundTruth(documents=tuple(documents.values()), written=False, key=None, findings=findings)


ITEMS: Final = "items"
"""The field of a document that is nothing but a list, in a file of its own."""


def _truth_of_folder(content: bytes, mapping: Mapping) -> GroundTruth:
    """Return a document in each file, named after it. A file that cannot be read loses its own document alone."""
    files = unpacked(content)
    names = names_of_documents(path for path, _ in files)
    documents: dict[str, TruthDocument] = {}
    findings: list[Finding] = []
    written: bool | Literal["yaml"] = False
    for path, content_of_file in files:
        name = names[path]
        try:
            if is_pointer(content_of_file):
                raise UnreadableError(POINTER, MissingObjectsError(in_lfs=True).fix or "")
            read = read_data(ending(path), content_of_file) if ending(path) in ("json", "yaml", "yml") else None
            if read and isinstance(read.value, list) and len(read.value) > 1:
                truth = _truth_of_documents(Parsed({ITEMS: read.value}, read.findings), mapping)
            else:
                truth = read_ground_truth(path, content_of_file, mapping)
            (document, *more) = truth.documents
            if more or name in documents:
                message = f"it holds {len(more) + 1} documents" if more else f"another file is named {name!r} as well"
                raise UnreadableError(message, "Write one document into each file, and name no two of them alike.")
        except UnreadableError as error:
            findings.append(replace(error.finding("This expected document", about="ground_truth"), file=path))
            continue
        documents[name] = replace(document, id=name)
        written = written is True or truth.written or written
        findings += [replace(finding, file=path) for finding in truth.findings]
    if not documents:
        raise UnreadableError("none of its files holds a document that can be read", "Write one into each file.")
    return GroundTruth(
        documents=tuple(documents.values()),
        written=written,
        key=None if any("id" in document.root for document in documents.values()) else "id",
        findings=tuple(findings),
        files={name: path for path, name in names.items()},
    )


def _truth_of_documents(parsed: Parsed[Value], mapping: Mapping) -> GroundTruth:
    """Return an object, a list of objects, or an object with the list at ``documents.path``. Raises UnreadableError."""
    value, findings = parsed
    list_path = mapping.documents.path if mapping.documents else None
    key = mapping.documents.key if mapping.documents else "id"
    about = [replace(finding, about="ground_truth") for finding in findings]
    if list_path and isinstance(value, dict):
        try:
            below = follow(value, parse_path(list_path))
        except PathError:
            below = None
        value = below if isinstance(below, list) else value
    held = _within_envelope(value, key)
    value = held if held is not value or mapping.documents is None else _by_name(value, key) or value
    if isinstance(value, dict):
        return GroundTruth(documents=(TruthDocument("", value),), written=False, key=None, findings=tuple(about))
    if not isinstance(value, list) or not value:
        raise UnreadableError("it holds no object", "Write an object, or a list of objects.")
    documents: list[TruthDocument] = []
    side = expected_side([root for root in value if isinstance(root, dict)], key)
    for number, root in enumerate(value, 1):
        if not isinstance(root, dict):
            raise UnreadableError(f"document {number} is not an object", "Write a list of objects.")
        stated = root.get(key)
        if stated is None or isinstance(stated, dict | list | bool):
            raise UnreadableError(f"document {number} has no {key!r}", f"Add a key {key!r} to every document.")
        expected = root.get(side)
        if side:
            root = expected if isinstance(expected, dict) else {side: expected}
        root = {field: below for field, below in root.items() if field != key}
        documents.append(TruthDocument(str(stated).strip(), root))
    documents, _ = _named_documents(documents, key, mapping, about)
    return GroundTruth(documents=tuple(documents), written=False, key=key, findings=tuple(about), side=side)


def _within_envelope(value: Value, key: str) -> Value:
    """Return the list of documents that an object holds and nothing else, or its documents by name; else itself."""
    ((envelope, below), *more) = value.items() if isinstance(value, dict) and value else [("", None)]
    if more or envelope not in ENVELOPES:
        return value
    if envelope == ENVELOPES[0] and (named := _by_name(below, key)):
        return named
    are_named = isinstance(below, list) and below and all(isinstance(root, dict) and key in root for root in below)
    return below if are_named else value


def _by_name(value: Value, key: str) -> list[Value]:
    """Return the documents that an object holds by names, with these under a key; none if a member is no object."""
    roots = value if isinstance(value, dict) else {}
    named: list[Value] = [{**root, key: name} for name, root in roots.items() if isinstance(root, dict)]
    return named if len(named) == len(roots) else []


def _is_long(rows: list[list[str]], mapping: Mapping) -> bool:
    """Whether each row seems to hold one field, which its first cell (the label) names.

    The first two headers are a word for the field and a word for the value; or there are two headers and at least two
    rows, no label repeats, and one of these is true: the headers are such words in more spellings; labels are mapped;
    every label is a field path and one of them leads to an item of a list. Headers that are mapped themselves are
    fields of the wide layout, unless labels are mapped too.
    """
    line, header = _header(rows)
    if len(header) < 2:
        return False
    labels = [row[0].strip() for row in rows[line:] if any(map(str.strip, row))]
    are_mapped = any(label in mapping.csv_to_json for label in labels)
    if not are_mapped and any(column in mapping.csv_to_json for column in header[:2]):
        return False
    words = [_header_word(column) for column in header]
    if words[0] in _FIELD and words[1] in _VALUE:
        return True
    if len(header) != 2 or len(labels) < 2 or len({*labels}) < len(labels) or _id_column(header, mapping) is not None:
        return False
    if (words[0] in _FIELD_OF_TWO and words[1] in _VALUE_OF_TWO) or are_mapped:
        return True
    return all(map(is_plain_path, labels)) and any("[" in label for label in labels)


def _read_long(rows: list[list[str]], mapping: Mapping) -> GroundTruth:
    """Read the documents. Without a mapping, each field is a path.

    Words of the header identify the columns of field and value. If one of them is not recognised, they are the first
    two columns that do not name the document.
    """
    line, header = _header(rows)
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
    for number, row in enumerate(rows[line:], line + 1):
        if not any(map(str.strip, row)):
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


def _header_word(column: str) -> str:
    return " ".join(column.lower().replace("_", " ").replace("-", " ").split())


def _header(rows: list[list[str]]) -> tuple[int, list[str]]:
    """Return the number of the first row that is not empty, and its cells."""
    line = next((number for number, row in enumerate(rows, 1) if any(map(str.strip, row))), len(rows))
    return line, [cell.strip() for cell in rows[line - 1]] if line else []


def _read_wide(rows: list[list[str]], mapping: Mapping) -> GroundTruth:
    """Layout ``wide``: a header row, then one row for each document. Without a mapping, each header is a field path."""
    line, header = _header(rows)
    check_distinct(header, line)
    id_name = _id_column(header, mapping)
    side = "" if mapping.csv_to_json else expected_side([dict.fromkeys(header)], id_name or "")
    paths = {column: mapped_path(column, mapping) for column in header if side in ("", column)}
    documents: list[TruthDocument] = []
    filled: Counter[str] = Counter()
    findings: list[Finding] = []
    for number, row in enumerate(rows[line:], line + 1):
        if not any(map(str.strip, row)) or row == rows[line - 1]:  # the header of a file that was appended
            continue
        more = any(cell.strip() for cell in row[len(header) :])
        if more or len(row) < len(header):
            message = f"Line {number} has {'more' if more else 'fewer'} cells than the header"
            fix = "Write a cell for each column, and quote those that contain commas."
            findings.append(truth_warning(message, fix, number))
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
        column: filled[column] for column, path in paths.items() if column and not path and column != id_name
    }
    findings += unmapped(left_over)
    return GroundTruth(documents=tuple(documents), written=True, key=key, findings=tuple(findings), side=side)


def _id_column(header: list[str], mapping: Mapping) -> str | None:
    """Return the column that names documents: the configured one, else that of their key in the output, else ``id``."""
    if mapping.id_column is not None:
        if mapping.id_column in header:
            return mapping.id_column
        raise UnreadableError(f"there is no column {mapping.id_column!r}", "Correct id_column.", 1)
    key = mapping.documents.key if mapping.documents else "id"
    mapped = (column for column in header if mapping.csv_to_json.get(column) == key)
    return next((column for column in (*mapped, key, "id") if column in header), None)


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
            said = truth_warning(message, "Give every document a name of its own.", document.lines.get(""))
            findings.append(replace(said, severity="error"))
        distinct.setdefault(document.id, document)
    return list(distinct.values()), (
        mapping.documents.key if mapping.documents else mapping.csv_to_json.get(id_name, "id")
    )
