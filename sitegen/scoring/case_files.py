"""Files of cases: what was asked, what is expected and what was given, of every case in one file.

The file is written anew at every run. Cases are a list: of a JSON or YAML file the first list below any key whose
members have both sides, of JSON Lines the lines, of CSV the rows. Which key is which side is known by its name, or
stated in the eval's settings as ``cases: {list, id, input, expected, output, category}``, each a key or a path of keys.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, cast

from sitegen.config import case_settings
from sitegen.data_files.csv_reader import csv_rows
from sitegen.data_files.json_reader import json_lines, read_json
from sitegen.data_files.reading import UnreadableError
from sitegen.data_files.yaml_reader import read_yaml
from sitegen.model.contents import CaseSides
from sitegen.model.problems import Finding
from sitegen.model.usage import RunUsage, stated
from sitegen.model.values import Value
from sitegen.scoring.mapping import CaseKeys
from sitegen.scoring.mapping_reader import read_mapping
from sitegen.scoring.newest_run import newest_run
from sitegen.scoring.paths import PathError, follow, parse_path
from sitegen.scoring.responses.texts import id_text, text_of_value
from sitegen.scoring.run_statements import recorded_in

EXPECTED: Final = (
    "expected",
    "expected_output",
    "expected_answer",
    "expected_response",
    "expected_result",
    "expected_value",
    "ground_truth",
    "target",
    "gold",
    "reference",
    "reference_answer",
    "ideal",
    "label",
    "answer_key",
)
OUTPUT: Final = (
    "output",
    "actual",
    "actual_output",
    "model_output",
    "extracted",
    "prediction",
    "predicted",
    "response",
    "model_response",
    "answer",
    "result",
    "completion",
)
"""Names of each side, the surest first. Letter case, ``_``, ``-`` and spaces do not count."""

_IDS: Final = (
    "id",
    "case_id",
    "test_id",
    "eval_id",
    "example_id",
    "sample_id",
    "question_id",
    "item_id",
    "task_id",
    "document_id",
    "doc_id",
    "key",
    "name",
    "document",
    "file",
    "filename",
)
_INPUTS: Final = ("input", "question", "prompt", "query", "instruction", "task", "text", "messages")
_CATEGORIES: Final = ("category",)
_EXTRACTS: Final = frozenset(
    ("errors", "discrepancies", "mismatches", "failures", "differences", "diffs", "missed", "wrong", "regressions")
)
"""Keys of lists that a report of a run has of some cases, not of all."""
_VERDICTS: Final = frozenset(
    ("score", "scores", "passed", "pass", "correct", "iscorrect", "verdict", "grade", "rating", "exactmatch")
)
"""Columns, plain, by which a table of somebody else's says how good an answer is."""
_DEEPEST: Final = 3
_LONGEST_NAME: Final = 80
_SEARCHED: Final = 200_000
"""Bytes of a broken file in which keys are looked for."""
_KEY: Final = re.compile(rb'"([^"\\\\]{1,40})"\s*:\s*(.)', re.DOTALL)
_OWN_SCHEMA: Final = "sitegen/"
_GRADED: Final = ("quality", "judge_answer", "embedding", "judge", "judge_prompt")
"""Keys of a case that say something of its output, besides what it took."""
VALUE: Final = "value"
"""The field that stands for a side which is no object."""


class NoCasesError(UnreadableError):
    """The file can be read, and holds no list of cases."""


class TwoSidedCase(NamedTuple):
    """One case with both sides."""

    id: str
    question: Value
    category: str
    expected: Value
    output: Value
    given: bool
    """Whether there is an output; one that is null is none."""
    error: str
    """Why there is no output; empty if nothing failed."""
    member: dict[str, Value]
    """The whole case, as it stands in the file."""
    line: int | None


class CaseFile(NamedTuple):
    """What could be read of a file of cases."""

    cases: tuple[TwoSidedCase, ...]
    """In the order of the file."""
    findings: tuple[Finding, ...]
    complete: bool
    """Every member of the list has an expected side: somebody meant it as a list of cases."""
    beside: RunUsage | None = None
    """What stands beside the list about the run."""

    @property
    def kind(self) -> Literal["fields", "responses"]:
        """How it is scored if nobody says: cell by cell if anything expected is an object or a list, else as texts."""
        structured = any(isinstance(case.expected, dict | list) for case in self.cases)
        return "fields" if structured else "responses"


def read_case_file(path: str, content: bytes, keys: CaseKeys) -> CaseFile:
    """Read both sides. Raises UnreadableError if there is no list of cases; what else is wrong is a finding."""
    return _parse_case_file(path.rpartition(".")[2].lower(), content, keys)


@lru_cache(maxsize=64)
def case_keys(settings: str) -> CaseKeys | None:
    """The keys that an eval's settings state; None if its ground truth does not stand in the file of its output."""
    keys = case_settings(settings)
    return None if keys is None else read_mapping(None, f'{{"cases":{keys}}}')[0].cases


def kind_of_case_file(path: str, content: bytes) -> Literal["fields", "responses"] | None:
    """How a file that nobody names would be scored; None if it is not surely a file of cases.

    Of a file that was cut off the keys tell: an eval must not be gone because its newest output is broken.
    """
    try:
        read = read_case_file(path, content, CaseKeys())
    except NoCasesError:
        return None
    except UnreadableError:
        return _kind_of_broken(content)
    if path.lower().endswith(".csv") and any(_plain_key(column) in _VERDICTS for column in read.cases[0].member):
        return None  # a table that another tool judged
    return read.kind if read.complete else None


def _kind_of_broken(content: bytes) -> Literal["fields", "responses"] | None:
    """By the keys in the first part of a file that cannot be read."""
    keys = [(_plain_key(key.decode("utf-8", "replace")), value) for key, value in _KEY.findall(content[:_SEARCHED])]
    expected = [value for key, value in keys if key in set(map(_plain_key, EXPECTED))]
    if not expected or not any(key in set(map(_plain_key, OUTPUT)) for key, _ in keys):
        return None
    return "fields" if any(value in b"{[" for value in expected) else "responses"


def sides_of(path: str, content: bytes, settings: str) -> CaseSides | None:
    """Digests of both sides, whatever the order of the cases. None if any case cannot be read."""
    keys = case_keys(settings) or CaseKeys()
    try:
        read = read_case_file(path, content, keys)
    except UnreadableError:
        return None
    if any(finding.severity == "error" for finding in read.findings):
        return None
    expected = [(case.id, case.question, case.category, case.expected) for case in read.cases]
    output = [
        (
            case.id,
            case.output,
            case.error,
            isinstance(case.expected, dict | list),
            [case.member.get(key) for key in _GRADED],
            stated(case.member),
        )
        for case in read.cases
    ]
    # The same answers of another run are another output.
    run = recorded_in("responses", path, content, settings), read.beside
    return CaseSides(_digest_of_cases(keys, expected), _digest_of_cases(keys, [*output, ("", *run)]))


def _digest_of_cases(keys: CaseKeys, rows: list[tuple[Any, ...]]) -> str:
    written = (repr(keys), *sorted(json.dumps(row, default=repr, sort_keys=True) for row in rows))
    return hashlib.sha256("\n".join(written).encode()).hexdigest()


@lru_cache(maxsize=8)
def _parse_case_file(ending: str, content: bytes, keys: CaseKeys) -> CaseFile:
    findings: list[Finding] = []
    beside = None
    members: list[tuple[Value, int | None]]
    if ending in ("jsonl", "ndjson"):
        members = [(value, line) for line, value in json_lines(content, findings, "Run the cases again.")]
        newest = newest_run([member for member, _ in members])
        findings += newest.findings
        members = [members[index] for index in newest.lines]
    elif ending == "csv":
        members = [(member, None) for member in _csv_cases(content, keys)]
    else:
        root = _root_value(ending, content, findings)
        members = [(member, None) for member in _list_of_cases(root, keys)]
        if isinstance(root, dict) and not (len(members) == 1 and members[0][0] is root):
            beside = stated(root, root.get("metadata")).of_run
    objects = [member for member, _ in members if isinstance(member, dict)]
    expected, output = keys.expected or _usual_key(objects, EXPECTED), keys.output or _usual_key(objects, OUTPUT)
    cases = [
        (member, line) for member, line in members if isinstance(member, dict) and _is_case(member, expected, output)
    ]
    if not _two_sided(objects, keys):
        raise NoCasesError(
            "it has no list of cases with an expected and an output side",
            "Name the keys in the eval's settings, as cases: {list, id, input, expected, output}.",
        )
    if others := len(members) - len(cases):
        what = f"{others} of {len(members)} members of the list have neither side, and are no cases"
        findings.append(Finding("note", what, "Nothing has to be done if they are none."))
    reader = _CaseReader([member for member, _ in cases], keys, expected, output)
    return CaseFile(
        cases=tuple(reader.case(number, member, line) for number, (member, line) in enumerate(cases, 1)),
        findings=tuple(findings),
        complete=not others and all(_has_value(member, expected) for member, _ in cases),
        beside=beside,
    )


def _root_value(ending: str, content: bytes, findings: list[Finding]) -> Value:
    if ending in ("yaml", "yml"):
        yaml = read_yaml(content)
        findings += yaml.findings
        return yaml.values[0] if len(yaml.values) == 1 else list(yaml.values)
    value, odd = read_json(content)
    findings += odd
    return value


def _csv_cases(content: bytes, keys: CaseKeys) -> list[dict[str, Value]]:
    """A case a row, its cells as text; an empty cell is nothing, but for an output, which is an empty answer."""
    header, *rows = (row for row in csv_rows(content) if any(row))
    names = [name.strip() for name in header]
    if double := next((name for place, name in enumerate(names) if name and name in names[:place]), None):
        raise UnreadableError(f"the column {double[:80]!r} stands twice", "Rename one.")
    output = keys.output or _usual_key([dict.fromkeys(names)], OUTPUT)
    return [
        {name: cell or (cell if name == output else None) for name, cell in zip(names, row, strict=False) if name}
        for row in rows
    ]


def _list_of_cases(root: Value, keys: CaseKeys) -> Sequence[Value]:
    """The list of cases: at the stated path, else the first with both sides, the nearest to the root."""
    if keys.list:
        listed = _value_at_key(root, keys.list)
        return listed if isinstance(listed, list) else list(listed.values()) if isinstance(listed, dict) else ()
    if isinstance(root, dict) and str(root.get("schema", "")).startswith(_OWN_SCHEMA):
        return ()  # what sitegen wrote about an output is no output
    level: list[Value] = [root]
    for _ in range(_DEEPEST):
        below: list[Value] = []
        for container in level:
            if isinstance(container, list) and _two_sided(container, keys):
                return container
            if isinstance(container, dict):
                if _two_sided([container], keys):
                    return [container]
                if _by_id(container, keys):
                    return [{"id": name, **case} for name, case in container.items() if isinstance(case, dict)]
                below += [value for key, value in container.items() if _plain_key(key) not in _EXTRACTS]
        level = below
    return ()


def _by_id(value: dict[str, Value], keys: CaseKeys) -> bool:
    """Whether an object holds cases by their ids."""
    return all(isinstance(case, dict) and _two_sided([case], keys) for case in value.values()) and bool(value)


def _two_sided(members: Sequence[Value], keys: CaseKeys) -> bool:
    """Whether any member has an expected side, and any an output."""
    objects = [member for member in members if isinstance(member, dict)]
    return bool(
        (keys.expected or _usual_key(objects, EXPECTED)) and (keys.output or _usual_key(objects, OUTPUT)) and objects
    ) and any(_has_both(member, keys) for member in objects)


def _has_both(case: dict[str, Value], keys: CaseKeys) -> bool:
    return all(
        _value_at_key(case, stated) is not None if stated else bool(_usual_key([case], names))
        for stated, names in ((keys.expected, EXPECTED), (keys.output, OUTPUT))
    )


class _CaseReader:
    """Reads the cases of one list, all by the same keys."""

    def __init__(self, cases: Sequence[dict[str, Value]], keys: CaseKeys, expected: str, output: str) -> None:
        self._expected = expected
        self._output = output
        self._input = keys.input or _usual_key(cases, _INPUTS)
        self._category = keys.category or _usual_key(cases, _CATEGORIES)
        self._id = keys.id or self._id_of(cases)
        questions = [text_of_value(_value_at_key(case, self._input)) if self._input else "" for case in cases]
        self._by_question = all(questions) and len(set(questions)) == len(questions)

    def case(self, number: int, member: dict[str, Value], line: int | None) -> TwoSidedCase:
        """One case. An output that is null is none."""
        output, error = _value_at_key(member, self._output), member.get("error")
        question = _value_at_key(member, self._input) if self._input else None
        return TwoSidedCase(
            id=self._name(number, member, question),
            question=question,
            category=id_text(_value_at_key(member, self._category)) if self._category else "",
            expected=_value_at_key(member, self._expected),
            output=output,
            given=output is not None,
            error=text_of_value(error) if error else "",
            member=member,
            line=line,
        )

    def _id_of(self, members: Sequence[dict[str, Value]]) -> str:
        """The first key that names every case; one that is no id by its name must tell all of them apart."""
        for usual_name in _IDS:
            key = _usual_key(members, (usual_name,))
            names = [id_text(member.get(key)) for member in members] if key else []
            if names and all(names) and (usual_name.endswith("id") or len(set(names)) == len(names)):
                return key
        return ""

    def _name(self, number: int, member: dict[str, Value], question: Value) -> str:
        if self._id and (name := id_text(_value_at_key(member, self._id))):
            return name
        if not self._by_question:
            return str(number)
        text = " ".join(text_of_value(question).split())
        if len(text) <= _LONGEST_NAME:
            return text
        return f"{text[:60]} … {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _is_case(member: dict[str, Value], expected: str, output: str) -> bool:
    return _has_value(member, expected) or _has_value(member, output) or bool(member.get("error"))


def _has_value(member: dict[str, Value], path: str) -> bool:
    """Whether something stands at a path, be it null at a plain key."""
    return path in member or _value_at_key(member, path) is not None


def _usual_key(members: Sequence[dict[str, Value]], names: Sequence[str]) -> str:
    """The key of the surest of the names that any member has, as it is written there; empty if none has any."""
    written: dict[str, str] = {}
    for member in members:
        for key in member:
            written.setdefault(_plain_key(key), key)
    return next((written[plain] for name in names if (plain := _plain_key(name)) in written), "")


def _plain_key(key: str) -> str:
    return key.casefold().replace("_", "").replace("-", "").replace(" ", "")


def _value_at_key(value: Value, path: str) -> Value:
    """What stands at a key, or at a path of keys; None if there is nothing."""
    if not isinstance(value, dict) or path in value:
        return value[path] if isinstance(value, dict) else None
    try:
        return cast("Value", follow(value, parse_path(path)))
    except PathError:
        return None
