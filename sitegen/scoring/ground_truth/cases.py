"""The expected sides of a file of cases: each case is a document, called by its id."""

from __future__ import annotations

from sitegen.data_files.reading import UnreadableError
from sitegen.scoring.case_files import VALUE, read_case_file
from sitegen.scoring.ground_truth.truth import GroundTruth, TruthDocument
from sitegen.scoring.mapping import Mapping


def expected_documents(path: str, content: bytes, mapping: Mapping) -> GroundTruth:
    """Read the file; of cases with one id the last counts. Raises UnreadableError, also if nothing is expected."""
    read = read_case_file(path, content, mapping.cases)
    documents = {
        case.id: TruthDocument(case.id, case.expected if isinstance(case.expected, dict) else {VALUE: case.expected})
        for case in read.cases
        if case.expected is not None
    }
    if not documents:
        raise UnreadableError("nothing is expected of any case", "Write an expected side for the cases.")
    findings = tuple(each._replace(about="ground_truth") for each in read.findings)
    return GroundTruth(tuple(documents.values()), False, None, findings)
