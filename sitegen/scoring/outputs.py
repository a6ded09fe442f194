"""Reads the documents of an output: from one file or several, each with one document or a list of them."""

from __future__ import annotations

import posixpath
from collections import deque
from collections.abc import Iterator, Set
from typing import Final

from sitegen.data_files.reading import UnreadableError, each_line, parse_json
from sitegen.data_files.yaml_reader import read_json_or_yaml
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding, Severity
from sitegen.scoring.case_files import VALUE, read_case_file
from sitegen.scoring.mapping import Mapping
from sitegen.scoring.paths import PathError, follow, parse_path, path_text
from sitegen.scoring.scorer import File, content_of

_ENVELOPES: Final = ("documents", "data", "result", "results", "output")
"""Keys around documents, if the output has no expected field itself."""
_MOST_ENVELOPES: Final = 2
"""The most envelopes around a document or a list of them."""
_DEEPEST: Final = 6
_MOST_VALUES: Final = 10_000
"""The most levels and values that are searched for documents at another place."""
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
    documents = output.documents
    if len(documents) == 1:
        (root,) = documents.values()
        if key not in root and fields.isdisjoint(root):
            by_name = (_by_name(value, key) for value in _within_envelopes(root))
            documents = next((found for found in by_name if _has_any(found, names)), documents)
    return {name: _record(root, fields) for name, root in documents.items()}


def path_of_documents(output: ReadOutput, names: Set[str], key: str | None, fields: Set[str]) -> str:
    """Return where the one object of an output has documents that ``named_documents`` does not find; empty: nowhere."""
    (root, *more) = output.documents.values()
    below: deque[tuple[tuple[str, ...], Value]] = deque([] if more else [((), root)])
    for _ in range(_MOST_VALUES):
        if not below:
            break
        path, value = below.popleft()
        is_record = len(names) == 1 and isinstance(value, dict) and 2 * len(fields & value.keys()) >= len(fields) > 0
        if path and (is_record or _has_any(_by_name(value, key), names)):
            return path_text(path)
        if isinstance(value, dict) and len(path) < _DEEPEST:
            below.extend(((*path, name), inner) for name, inner in value.items())
    return ""


def _has_any(documents: dict[str, dict[str, Value]], names: Set[str]) -> bool:
    return any(name and name in documents for name in names)


def _by_name(holder: Value, key: str | None) -> dict[str, dict[str, Value]]:
    """The objects of a list or an object by their names."""
    if isinstance(holder, list):
        return dict(_named(value, number, key) for number, value in enumerate(holder, 1) if isinstance(value, dict))
    return (
        {name: value for name, value in holder.items() if isinstance(value, dict)} if isinstance(holder, dict) else {}
    )


def _named(value: dict[str, Value], number: int, key: str | None) -> tuple[str, dict[str, Value]]:
    """A document of a list with its name: that at its key, or that of its only member if it has no key."""
    if key is None:
        return str(number), value
    record = _record(value, {key})
    if key in record:
        stated = record[key]
        return "" if stated is None or isinstance(stated, bool | dict | list | tuple) else str(stated).strip(), record
    ((name, below), *more) = value.items() or [("", None)]
    return (name.strip(), below) if isinstance(below, dict) and not more else ("", value)


def _record(root: dict[str, Value], wanted: Set[str]) -> dict[str, Value]:
    """The object with any of these keys: the root, or one in its envelopes; the root if there is none."""
    if not wanted.isdisjoint(root):
        return root
    objects = (value for value in _within_envelopes(root) if isinstance(value, dict))
    return next((value for value in objects if not wanted.isdisjoint(value)), root)


def _within_envelopes(value: Value, left: int = _MOST_ENVELOPES) -> Iterator[Value]:
    """Yield a value, and the values in its envelopes."""
    yield value
    if left and isinstance(value, dict):
        for envelope in _ENVELOPES:
            if envelope in value:
                yield from _within_envelopes(value[envelope], left - 1)


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
            value = below if isinstance(below, list | dict) else None
            if value is None:
                raise UnreadableError(f"there are no documents at {self._path!r}", "Write them there.")
        if isinstance(value, list) and len(value) == 1 and self._lists:
            (only,) = value  # which may be an envelope around all documents
            value = (
                only
                if isinstance(only, dict) and any(isinstance(inner, list) for inner in _within_envelopes(only))
                else value
            )
        if isinstance(value, list) and self._lists and not stem:
            for number, document in enumerate(value, 1):
                self._document(document, number, None)
        elif isinstance(value, dict):
            # A single document belongs to the single expected one, whatever its name.
            self._add(stem or ("" if self._lone else _named(value, 1, self._key)[0]), value)
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
        name, value = _named(value, number, self._key)
        if self._key and name == "":
            message = f"Document {number} has no {self._key!r}"
            self._report("error", message, line, "Write it, or state the key that names documents in the mapping.")
            return
        self._add(name, value)

    def _add(self, name: str, value: dict[str, Value]) -> None:
        if name in self._output.documents:
            self._report("warning", f"The document {name[:80]!r} occurs twice; the last one counts", None)
        self._output.documents[name] = value

    def _report(self, severity: Severity, message: str, line: int | None, fix: str = "Correct the output.") -> None:
        self._output.findings.append(Finding(severity=severity, message=message, fix=fix, line=line))


def _json_in_text(value: Value) -> Value:
    """Parse a text that holds JSON, as models write it; return any other value unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value).value
    except UnreadableError:
        return value
