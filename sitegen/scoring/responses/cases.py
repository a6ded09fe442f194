"""Reads test cases from ``test_cases.json``, or from a file that holds expected texts and responses.

``test_cases.json`` is a list of cases, or an object with the list under ``test_cases`` or ``cases``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from msgspec.structs import replace

from sitegen.data_files.json_reader import read_json
from sitegen.data_files.reading import UnreadableError
from sitegen.frozen import Frozen
from sitegen.model.problems import Finding, Parsed, Severity
from sitegen.model.values import Value
from sitegen.scoring.case_files import read_case_file
from sitegen.scoring.case_lists import id_text, text_of_value
from sitegen.scoring.mapping import CaseKeys


class TestCase(Frozen):
    """One test case."""

    id: str
    expected: str
    """Blank if nothing is expected; then the exact match is not scored."""
    category: str
    """Empty if the case has none."""
    question: str = ""
    """The input, as text."""

    @property
    def is_scored(self) -> bool:
        """Whether there is a text to compare a response with."""
        return bool(self.expected.strip())


CasesById: TypeAlias = dict[str, TestCase]
"""In the order of the file."""


@lru_cache(maxsize=16)
def read_cases(content: bytes) -> Parsed[CasesById]:
    """Read the cases, and report those that cannot be used. Raises UnreadableError if there is no list of cases."""
    value, findings = read_json(content)
    if isinstance(value, dict):
        value = value.get("test_cases", value.get("cases"))
    if not isinstance(value, list):
        raise UnreadableError("it is no list of test cases", "Write a list of {id, input, expected, category}.")
    reader = _TestCasesReader([replace(finding, about="ground_truth") for finding in findings])
    anonymous = are_anonymous(value)
    for number, case in enumerate(value, 1):
        reader.add(number, {**case, "id": str(number)} if anonymous and isinstance(case, dict) else case)
    return Parsed(reader.cases, tuple(reader.findings))


@lru_cache(maxsize=16)
def expected_cases(path: str, content: bytes, keys: CaseKeys) -> Parsed[CasesById]:
    """Read the expected sides of a file that holds both sides. Raises UnreadableError if it has no list of cases."""
    read = read_case_file(path, content, keys)
    cases = {
        case.id: TestCase(
            id=case.id,
            expected=text_of_value(case.expected),
            category=case.category,
            question=text_of_value(case.question),
        )
        for case in read.cases
    }
    return Parsed(cases, tuple(replace(finding, about="ground_truth") for finding in read.findings))


def are_anonymous(cases: Sequence[Any]) -> bool:
    """Whether no test case has an id. The id of a case is then its number, from 1."""
    return bool(cases) and all(isinstance(case, dict) and "id" not in case for case in cases)


class _TestCasesReader:
    def __init__(self, findings: list[Finding]) -> None:
        self.findings = findings
        self.cases: dict[str, TestCase] = {}

    def add(self, number: int, value: Value) -> None:
        if not isinstance(value, dict):
            self._report("error", f"Test case {number} is no object", "Write {id, input, expected, category}.")
            return
        name = id_text(value.get("id"))
        if not name:
            self._report("error", f"Test case {number} has no id", "Give it one: responses name their case.")
            return
        if name in self.cases:
            self._report("warning", f"The test case {name[:80]!r} stands twice; the last one counts", "Rename one.")
        expected, question = (text_of_value(value.get(key)) for key in ("expected", "input"))
        self.cases[name] = TestCase(
            id=name, expected=expected, category=id_text(value.get("category")), question=question
        )

    def _report(self, severity: Severity, message: str, fix: str) -> None:
        self.findings.append(Finding(severity=severity, message=message, fix=fix, about="ground_truth"))
