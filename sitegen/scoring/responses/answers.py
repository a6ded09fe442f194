"""The responses of every variant: ``responses.json|jsonl``, or ``responses-<variant>.json|jsonl`` for each.

A file is a list of responses, an object with the list under ``responses``, or an object of texts by case id; JSON Lines
hold one response a line, and of several runs that append to them, told apart by ``run_id``, the newest counts. A
response is ``{case_id, output, error, quality, embedding}``, the last three optional; ``judge_answer`` in the place of
``quality`` is what a judge said that is no grade. Beside these a response may state its ``model``, ``parameters``,
tokens, ``cost`` and ``latency``, and of its grade ``judge`` and ``judge_prompt``;
``human_quality`` is the grade of a person beside it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from sitegen.data_files.json_reader import parse_json, read_json
from sitegen.data_files.reading import UnreadableError, text_of
from sitegen.model.problems import Finding, Severity
from sitegen.model.usage import LONGEST, Call, RunUsage, stated
from sitegen.model.values import Value
from sitegen.scoring.case_files import CaseFile, read_case_file
from sitegen.scoring.mapping import CaseKeys
from sitegen.scoring.responses.texts import id_text, text_of_value
from sitegen.scoring.run_statements import newest_run
from sitegen.scoring.scorer import File

_HASH: Final = 12
_VARIANT: Final = re.compile(r"responses-(.+)\.jsonl?", re.IGNORECASE | re.DOTALL)


class Response(NamedTuple):
    """One response as it was recorded."""

    case_id: str
    output: str
    error: str
    """Not empty: the call failed."""
    quality: Value
    embedding: Value
    line: int | None = None
    call: Call = Call()
    """Who answered and who graded, and what the answer took."""
    human_quality: Value = None
    """The grade that a person gave beside the judge's."""


class VariantResponses(NamedTuple):
    """The responses of one prompt."""

    name: str
    """Empty if the eval has only one."""
    responses: tuple[Response, ...]
    unreadable: str
    """Why the file cannot be read; empty if it can."""
    beside: RunUsage | None = None
    """What stands beside the list of responses about all of them."""


class Answers(NamedTuple):
    """What was answered."""

    variants: tuple[VariantResponses, ...]
    """By name; at least one."""
    findings: tuple[Finding, ...]


def read_answers(files: tuple[File, ...], keys: CaseKeys | None = None) -> Answers:
    """Read all files of one output. Never raises: what cannot be read is a finding, and the rest counts.

    *keys* of files that hold the expected texts as well; None: they hold responses alone.
    """
    findings: list[Finding] = []
    variants: dict[str, VariantResponses] = {}
    for file in files or (File("responses.json", None, "the output is missing"),):
        name = variant_name_of(file.path) if len(files) > 1 else ""
        variant = _read_variant(name, file, keys, findings)
        if name in variants:
            twin = variants[name]
            message = f"Two files hold responses of the variant {name[:80]!r}; both count"
            findings.append(Finding("warning", message, "Keep them in one file."))
            variant = VariantResponses(name, twin.responses + variant.responses, twin.unreadable and variant.unreadable)
        variants[name] = variant
    return Answers(tuple(variants[name] for name in sorted(variants)), tuple(findings))


def variant_name_of(path: str) -> str:
    """The name of a variant, from its file's: ``responses-short.jsonl`` holds ``short``."""
    base = posixpath.basename(path)
    found = _VARIANT.fullmatch(base)
    return found[1] if found else base.partition(".")[0]


def _read_variant(name: str, file: File, keys: CaseKeys | None, findings: list[Finding]) -> VariantResponses:
    try:
        if file.content is None:
            raise UnreadableError(file.reason or "the output is missing", "Run the prompt again.")
        reader = _ResponsesReader(name, findings)
        if keys is not None:
            reader.cases(read_case_file(file.path, file.content, keys))
        elif file.path.lower().endswith(".jsonl"):
            reader.lines(file.content)
        else:
            reader.document(file.content)
    except UnreadableError as error:
        which = f"The responses of {name[:80]!r}" if name else "The responses"
        findings.append(
            Finding(severity="error", what=f"{which} cannot be read: {error.what}", fix=error.fix, line=error.line)
        )
        return VariantResponses(name, (), error.what)
    return VariantResponses(name=name, responses=tuple(reader.responses), unreadable="", beside=reader.beside)


class _ResponsesReader:
    """One file."""

    def __init__(self, name: str, findings: list[Finding]) -> None:
        self._of = f" of {name[:80]!r}" if name else ""
        self._findings = findings
        self.responses: list[Response] = []
        self.beside: RunUsage | None = None

    def lines(self, content: bytes) -> None:
        rows: list[tuple[int, Value]] = []
        for number, line in enumerate(text_of(content).split("\n"), 1):
            if not line.strip():
                continue
            try:
                value, findings = parse_json(line, number)
            except UnreadableError as error:
                self._report("error", f"Line {number}{self._of} cannot be read: {error.what}", number)
                continue
            self._findings += (finding._replace(line=number) for finding in findings)
            rows.append((number, value))
        newest = newest_run([value for _, value in rows], self._of)
        self._findings += newest.findings
        for number, value in (rows[index] for index in newest.lines):
            self._add(value, f"Line {number}", number)

    def cases(self, read: CaseFile) -> None:
        self._findings += (finding for finding in read.findings if finding.severity == "error")
        self.beside = read.beside
        for case in read.cases:
            if case.output is not None or case.error:
                error = case.error if case.output is None else ""
                self._respond(case.id, case.output, error, case.member, case.line)

    def document(self, content: bytes) -> None:
        value, findings = read_json(content)
        self._findings += findings
        if isinstance(value, dict):
            below = value.get("responses")
            if isinstance(below, list | dict):
                self.beside = stated(value, value.get("metadata")).of_run
                value = below
        if isinstance(value, dict):
            value = list(_responses_by_case_id(value))
        if not isinstance(value, list):
            raise UnreadableError("it is no list of responses", "Write a list of {case_id, output}.")
        for number, each in enumerate(value, 1):
            self._add(each, f"Response {number}", None)

    def _add(self, value: Value, which: str, line: int | None) -> None:
        if not isinstance(value, dict):
            self._report("error", f"{which}{self._of} is no object", line)
            return
        case_id = id_text(value.get("case_id", value.get("id")))
        if not case_id:
            self._report("error", f"{which}{self._of} has no case_id", line)
            return
        if "output" not in value and not value.get("error"):
            self._report("warning", f"{which}{self._of} has neither an output nor an error: an empty answer", line)
        error = value.get("error")
        self._respond(case_id, value.get("output"), text_of_value(error) if error else "", value, line)

    def _respond(self, case_id: str, output: Value, error: str, value: dict[str, Value], line: int | None) -> None:
        took = stated(value)
        self.responses.append(
            Response(
                case_id=case_id,
                output=text_of_value(output),
                error=error,
                quality=value.get("quality", value.get("judge_answer")),
                embedding=value.get("embedding"),
                line=line,
                call=Call(
                    usage=took.usage,
                    model=took.model,
                    parameters=took.parameters,
                    judge=_judge_of_grade(value),
                    failed=bool(error),
                ),
                human_quality=value.get("human_quality"),
            )
        )

    def _report(self, severity: Severity, message: str, line: int | None) -> None:
        self._findings.append(
            Finding(severity=severity, what=message, fix="Correct the file, or run the prompt again.", line=line)
        )


def _judge_of_grade(value: dict[str, Value]) -> str:
    """Who graded a response, if it has a grade: the model, and of its prompt the beginning of the hash."""
    if value.get("quality") is None:
        return ""
    model, prompt = id_text(value.get("judge")), id_text(value.get("judge_prompt"))
    return " ".join(filter(None, (model[:LONGEST], prompt and f"prompt {prompt[:_HASH]}")))


def _responses_by_case_id(value: dict[str, Value]) -> Iterator[Value]:
    """Responses from an object by case id: a text, a response, or a list of these where a case has several."""
    for case_id, below in value.items():
        for each in below if isinstance(below, list) else [below]:
            yield {**each, "case_id": case_id} if isinstance(each, dict) else {"case_id": case_id, "output": each}
