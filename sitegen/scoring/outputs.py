"""Reads the documents of an output: from one file or several, each with one document or a list of them."""

from __future__ import annotations

import posixpath
from collections.abc import Set
from typing import Final

from sitegen.data_files.json_reader import each_line, parse_json
from sitegen.data_files.reading import UnreadableError
from sitegen.data_files.yaml_reader import read_json_or_yaml
from sitegen.frozen import Frozen
from sitegen.model.problems import Finding, Severity
from sitegen.model.values import Value
from sitegen.scoring.case_files import VALUE, read_case_file
from sitegen.scoring.mapping import Mapping
from sitegen.scoring.paths import PathError, follow, parse_path
from sitegen.scoring.scorer import File, content_of

_ENVELOPES: Final = ("documents", "data", "result", "results", "output")
"""Keys around documents, if the output has no expected field itself."""
_ASCII: Final = bytes(range(128))


class ReadOutput(Frozen):
    """The documents of an output that could be read, and the errors of the others."""

    documents: dict[str, dict[str, Value]]
    """By their names; a single document without a name is called ``""``."""
    unreadable: dict[str, str]
    """Name of a document -> why it cannot be read; ``""`` stands for all missing documents."""
    findings: list[Finding]
    text: str = ""
    """The text of the output, case-folded, if it is one JSON file that writes values without escapes; empty
    otherwise."""

    def refuse(self, name: str, why: str, line: int | None = None, fix: str = "Make the output again.") -> None:
        """Record that a document, or with an empty name the whole output, cannot be read."""
        self.unreadable[name] = why
        subject = f"The output {name[:80]!r}" if name else "The output"
        self.findings.append(Finding(severity="error", message=f"{subject} cannot be read: {why}", fix=fix, line=line))


def read_outputs(files: tuple[File, ...], mapping: Mapping, *, expected: int, key: str | None) -> ReadOutput:
    """Read the files of one output. Never raises.

    Args:
        files: the files of the output; if there are several, each is a document named after its file.
        mapping: states where the list of documents is, and how a file of cases is read.
        expected: the number of documents in the ground truth. For one document without a name, a list is an error.
        key: the key that names each document of a list; without one, they are numbered from 1.

    """
    in_cases = mapping.ground_truth_format == "cases"
    output = ReadOutput(documents={}, unreadable={}, findings=[], text="" if in_cases else _plain_text(files))
    if not files:
        output.refuse("", "the output is missing")
    reader = _OutputReader(output, mapping, expected, key)
    for file in files:
        stem = posixpath.basename(file.path).partition(".")[0] if len(files) > 1 and not in_cases else ""
        try:
            content = content_of(file, "the output is missing", "Make the output again.")
            if in_cases:
                reader.cases(file.path, content)
            else:
                reader.file(file.path, content, stem)
        except UnreadableError as error:
            output.refuse(stem, error.message, error.line, error.fix)
    return output


def named_documents(
    output: ReadOutput, names: Set[str], key: str | None, fields: Set[str]
) -> dict[str, dict[str, Value]]:
    """Return the documents of an output: those that its one object holds by their names, or in an envelope, if any.

    Args:
        output: what was read. Only an output with one document can hold others in it.
        names: the names of the expected documents.
        key: the key that names each document of a list; without one, they are numbered from 1.
        fields: the expected fields of all documents. An object that has any of them is a document itself.

    """
    if len(output.documents) != 1:
        return output.documents
    (root,) = output.documents.values()
    if key in root or not fields.isdisjoint(root):
        return output.documents
    for holder in (root, *(root[envelope] for envelope in _ENVELOPES if envelope in root)):
        by_name: dict[str, dict[str, Value]] = {}
        if isinstance(holder, list):
            objects = [(number, value) for number, value in enumerate(holder, 1) if isinstance(value, dict)]
            by_name = {str(number if key is None else value.get(key)).strip(): value for number, value in objects}
        elif isinstance(holder, dict):
            by_name = {name: value for name, value in holder.items() if isinstance(value, dict)}
            if holder is not root and len(names) == 1 and not fields.isdisjoint(holder):
                return {"": holder}
        if any(name and name in by_name for name in names):
            return by_name
    return output.documents


class _SearchedText(str):
    """A text that is searched once for each value: an output is scored by the rules of its time and by the newest."""

    def __init__(self, _: str) -> None:
        super().__init__()
        self._occurs: dict[str, bool] = {}

    def __contains__(self, value: str, /) -> bool:  # type: ignore[override]
        occurs = self._occurs.get(value)
        if occurs is None:
            occurs = self._occurs[value] = super().__contains__(value)
        return occurs


def _plain_text(files: tuple[File, ...]) -> str:
    content = files[0].content if len(files) == 1 and files[0].path.lower().endswith(".json") else None
    if content is None or b"\\" in content:
        return ""
    beyond_ascii = content.translate(None, _ASCII).decode("utf-8", "replace")
    # To fold a text with a character beyond ASCII takes as long as half of the parsing, and seldom changes that one.
    if beyond_ascii.casefold() == beyond_ascii:
        return _SearchedText(content.lower().decode("utf-8", "replace"))
    return _SearchedText(content.decode("utf-8", "replace").casefold())


class _OutputReader:
    def __init__(self, output: ReadOutput, mapping: Mapping, expected: int, key: str | None) -> None:
        self._output = output
        self._keys = mapping.cases
        self._path = mapping.documents.path if mapping.documents else None
        self._key = mapping.documents.key if mapping.documents else key
        self._lone = expected == 1
        self._lists = not self._lone or self._key is not None

    def file(self, path: str, content: bytes, stem: str) -> None:
        """Add the documents of one file. Raises UnreadableError."""
        ending = path.rpartition(".")[2].lower()
        if ending in ("jsonl", "ndjson"):
            self._lines(content)
            return
        value, findings = read_json_or_yaml(ending, content)
        self._output.findings.extend(findings)
        if self._path and isinstance(value, dict):
            try:
                below = follow(value, parse_path(self._path))
            except PathError as error:
                raise UnreadableError(str(error), "Correct documents.path in the mapping.") from None
            value = below if isinstance(below, list) else None
            if value is None:
                raise UnreadableError(f"there is no list of documents at {self._path!r}", "Write one there.")
        if isinstance(value, list) and self._lists and not stem:
            for number, document in enumerate(value, 1):
                self._document(document, number, None)
        elif isinstance(value, dict):
            # A single document belongs to the single expected one, whatever its name.
            self._add(stem or ("" if self._lone else self._name(value, 1)), value)
        else:
            raise UnreadableError("its root is not an object", "Write one JSON object.")

    def cases(self, path: str, content: bytes) -> None:
        """Add the output side of each case as a document. Raises UnreadableError."""
        file = read_case_file(path, content, self._keys)
        self._output.findings.extend(finding for finding in file.findings if finding.severity == "error")
        for case in file.cases:
            if case.output is None:
                because = f": {case.error[:200]}" if case.error else ""
                self._output.unreadable[case.id] = f"there is no output{because}"
                continue
            value = _json_in_text(case.output) if isinstance(case.expected, dict | list) else case.output
            if isinstance(case.expected, dict) and not isinstance(value, dict):
                self._output.refuse(case.id, "it is not an object", case.line)
            else:
                self._add(case.id, value if isinstance(value, dict) else {VALUE: value})

    def _lines(self, content: bytes) -> None:
        number = 0
        for number, line in enumerate(each_line(content), 1):
            if line.error is not None:
                self._report("error", f"Line {line.number} cannot be read: {line.error.message}", line.number)
                continue
            self._output.findings.extend(line.parsed.findings)
            self._document(line.parsed.value, number, line.number)
        if not number:
            raise UnreadableError("it is empty", "Write one JSON object a line.")

    def _document(self, value: Value, number: int, line: int | None) -> None:
        if not isinstance(value, dict):
            self._report("error", f"Document {number} is not an object", line)
            return
        name = self._name(value, number)
        if self._key and name == "":
            self._report("error", f"Document {number} has no {self._key!r}", line)
            return
        self._add(name, value)

    def _name(self, value: dict[str, Value], number: int) -> str:
        if self._key is None:
            return str(number)
        name = value.get(self._key)
        return "" if name is None or isinstance(name, bool | dict | list | tuple) else str(name).strip()

    def _add(self, name: str, value: dict[str, Value]) -> None:
        if name in self._output.documents:
            self._report("warning", f"The document {name[:80]!r} occurs twice; the last one counts", None)
        self._output.documents[name] = value

    def _report(self, severity: Severity, message: str, line: int | None) -> None:
        self._output.findings.append(Finding(severity=severity, message=message, fix="Correct the output.", line=line))


def _json_in_text(value: Value) -> Value:
    """Parse a text that holds JSON, as models write it; return any other value unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value).value
    except UnreadableError:
        return value
