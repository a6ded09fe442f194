"""Reads ground truth files, by their ending and layout (rules 17 and 18).

JSON, YAML and JSON Lines have the form of an output already. Each layout of CSV files has a module, which ``_LAYOUTS``
lists.
"""

from __future__ import annotations

from typing import Final, Protocol

from msgspec.structs import replace

from sitegen.data_files.reading import UnreadableError, csv_rows, each_line
from sitegen.data_files.yaml_reader import read_json_or_yaml
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding
from sitegen.scoring.case_files import VALUE, read_case_file
from sitegen.scoring.ground_truth import building_summary_csv, long, wide
from sitegen.scoring.ground_truth.truth import COLUMNS, GroundTruth, TruthDocument
from sitegen.scoring.mapping import Mapping
from sitegen.scoring.paths import PathError, follow, parse_path


class CsvLayout(Protocol):
    """A module that reads one layout of CSV files; its name is the value of ``ground_truth_format``."""

    def is_layout(self, rows: list[list[str]], mapping: Mapping) -> bool:
        """Whether the rows look like this layout."""

    def read_rows(self, rows: list[list[str]], mapping: Mapping) -> GroundTruth:
        """Read the rows. Raises UnreadableError."""


_LAYOUTS: Final[dict[str, CsvLayout]] = {
    "long": long,
    "building_summary_csv": building_summary_csv,
    "wide": wide,
}
"""In the order in which ``auto`` tries them; the last one accepts any file."""

_TREES: Final = ("json", "jsonl", "ndjson", "yaml", "yml")
"""Endings of files that have the form of an output."""


def read_ground_truth(path: str, content: bytes, mapping: Mapping) -> GroundTruth:
    """Read a ground truth file by its ending, CSV by ``ground_truth_format``. Raises UnreadableError."""
    if mapping.ground_truth_format == "cases":
        return _truth_of_cases(path, content, mapping)
    ending = path.rpartition(".")[2].lower()
    if ending in _TREES:
        return _truth_of_tree(ending, content, mapping)
    rows = csv_rows(content)
    for name, layout in _LAYOUTS.items():
        if mapping.ground_truth_format == name or (
            mapping.ground_truth_format == "auto" and layout.is_layout(rows, mapping)
        ):
            truth = layout.read_rows(rows, mapping)
            if not any(document.root for document in truth.documents):
                how = building_summary_csv.SECTIONS if layout is building_summary_csv else COLUMNS
                raise UnreadableError(f"nothing of it is mapped (read as {name})", f"{how}.")
            return truth
    raise UnreadableError("no layout fits", "Set ground_truth_format.")


def _truth_of_cases(path: str, content: bytes, mapping: Mapping) -> GroundTruth:
    """The expected side of each case as a document named by its id; if an id repeats, the last case counts."""
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


def _truth_of_tree(ending: str, content: bytes, mapping: Mapping) -> GroundTruth:
    """One object, a list of objects, or an object with the list at ``documents.path``. Raises UnreadableError.

    A JSON line that cannot be read makes the file unreadable: its document would be missing from every mean.
    """
    if ending not in ("jsonl", "ndjson"):
        value, odd = read_json_or_yaml(ending, content)
        return _truth_of_documents(value, mapping, odd)
    values: list[Value] = []
    findings: list[Finding] = []
    for line in each_line(content):
        value, odd = line.read()
        values.append(value)
        findings += odd
    return _truth_of_documents(values, mapping, tuple(findings))


def _truth_of_documents(value: Value, mapping: Mapping, findings: tuple[Finding, ...]) -> GroundTruth:
    stated = mapping.documents
    key = stated.key if stated else "id"
    about = tuple(replace(finding, about="ground_truth") for finding in findings)
    if stated and stated.path and isinstance(value, dict):
        try:
            below = follow(value, parse_path(stated.path))
        except PathError:
            below = None
        value = below if isinstance(below, list) else value
    if isinstance(value, dict):
        return GroundTruth(documents=(TruthDocument("", value),), written=False, key=None, findings=about)
    if not isinstance(value, list) or not value:
        raise UnreadableError("it holds no object", "Write an object, or a list of objects.")
    documents: dict[str, TruthDocument] = {}
    for number, root in enumerate(value, 1):
        if not isinstance(root, dict):
            raise UnreadableError(f"document {number} is not an object", "Write a list of objects.")
        name = _document_name(root.get(key), number, key)
        if name in documents:
            raise UnreadableError(f"the document {name[:80]!r} stands twice", f"Give every document its own {key!r}.")
        documents[name] = TruthDocument(name, {field: below for field, below in root.items() if field != key})
    return GroundTruth(documents=tuple(documents.values()), written=False, key=key, findings=about)


def _document_name(value: object, number: int, key: str) -> str:
    if value is None or isinstance(value, dict | list | bool):
        raise UnreadableError(f"document {number} has no {key!r}", f"Add a key {key!r} to every document.")
    return str(value).strip()
