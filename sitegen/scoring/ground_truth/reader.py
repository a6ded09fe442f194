"""Reads a ground truth file, by its ending and layout (rules 17 and 18)."""

from __future__ import annotations

from typing import Final, Protocol

from sitegen.data_files.csv_reader import csv_rows
from sitegen.data_files.reading import UnreadableError
from sitegen.scoring.case_files import VALUE, read_case_file
from sitegen.scoring.ground_truth import building_summary_csv, long, wide
from sitegen.scoring.ground_truth.trees import read_tree_truth
from sitegen.scoring.ground_truth.truth import GroundTruth, TruthDocument
from sitegen.scoring.mapping import Mapping


class CsvLayout(Protocol):
    """A module that reads one layout of CSV files; its name is the value of ``ground_truth_format``."""

    def is_layout(self, rows: list[list[str]], mapping: Mapping) -> bool:
        """Whether the rows look like this layout."""

    def read_rows(self, rows: list[list[str]], mapping: Mapping) -> GroundTruth:
        """Read the rows. Raises UnreadableError."""


LAYOUTS: Final[tuple[tuple[str, CsvLayout], ...]] = (
    ("long", long),
    ("building_summary_csv", building_summary_csv),
    ("wide", wide),
)
"""In the order in which ``auto`` tries them; the last takes whatever is left."""

_TREES: Final = ("json", "jsonl", "ndjson", "yaml", "yml")
"""Endings of files that have the form of an output."""


def read_ground_truth(path: str, content: bytes, mapping: Mapping) -> GroundTruth:
    """Read a ground truth file by its ending, CSV by ``ground_truth_format``. Raises UnreadableError."""
    if mapping.ground_truth_format == "cases":
        return _truth_of_cases(path, content, mapping)
    ending = path.rpartition(".")[2].lower()
    if ending in _TREES:
        return read_tree_truth(ending, content, mapping)
    rows = csv_rows(content)
    for name, layout in LAYOUTS:
        if mapping.ground_truth_format == name or (
            mapping.ground_truth_format == "auto" and layout.is_layout(rows, mapping)
        ):
            truth = layout.read_rows(rows, mapping)
            if not any(document.root for document in truth.documents):
                raise UnreadableError(
                    f"nothing of it is mapped (read as {name})", "Map its columns in csv_to_json or array_mappings."
                )
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
    findings = tuple(finding._replace(about="ground_truth") for finding in file.findings)
    return GroundTruth(documents=tuple(documents.values()), written=False, key=None, findings=findings)
