"""Reads the documents of an output: from one file or several, each with one document or a list of them."""

from collections import Counter, deque
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from posixpath import basename
from typing import Final

from msgspec.structs import replace

from sitegen.data_files.folders import FILE_ENDING, documents_in
from sitegen.data_files.reading import LINES, UnreadableError, csv_dicts, each_line, ending, parse_json
from sitegen.data_files.yaml_reader import read_data
from sitegen.importers.case import WORDS, grade_of
from sitegen.importers.case_rows import columns_apart, newest_run, run_column
from sitegen.importers.tool_values import items, members
from sitegen.importers.usual_names import OUTPUT, VERDICTS, usual_key
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding
from sitegen.scoring.case_files import VALUE, rank_as_id, read_case_file
from sitegen.scoring.evidence import TRACES
from sitegen.scoring.ground_truth import ITEMS
from sitegen.scoring.ground_truth.truth import ENVELOPES, GroundTruth
from sitegen.scoring.kinds import File, content_of
from sitegen.scoring.mapping import Mapping
from sitegen.scoring.paths import PathError, follow, parse_path, path_text
from sitegen.scoring.values import plain_number
from sitegen.text.keys import plain_key
from sitegen.text.values import id_text

_MOST_ENVELOPES: Final = 2  # the most envelopes around a document or a list of them
_ENVELOPES: Final = (*ENVELOPES, "fields", "extracted", "extraction", "extracted_data", "extracted_fields")
"""Keys around what was given. An expected value may stand below the last five as well: its path has their name."""
_DEEPEST: Final = 6  # levels
_MOST_VALUES: Final = 10_000  # the most levels and values that are searched for documents at another place
_ASCII: Final = bytes(range(128))


class ReadOutput:
    """The documents of the files of one output that could be read, and the errors of the others.

    If there are several files, each is a document named after its file.
    """

    def __init__(self, files: tuple[File, ...], mapping: Mapping, truth: GroundTruth) -> None:
        """Read the files, as the mapping and the number and the key of the expected documents state. Never raises."""
        in_cases = mapping.ground_truth_format == "cases"
        self.documents: dict[str, dict[str, Value]] = {}
        """By their names; a single document without a name is called ``""``."""
        self.unreadable: dict[str, str] = {}
        """Name of a document -> why it cannot be read; ``""`` stands for all missing documents."""
        self.lost = set[str]()
        """The unreadable ones whose content git could not provide, which says nothing about the model."""
        self.findings: list[Finding] = []
        self.file = files[0].path if len(files) == 1 else ""
        """The path of the only file; empty if there are several."""
        self.text = "" if in_cases else _plain_text(files)
        """The text of the output, case-folded, if it is one JSON file that writes values without escapes; empty
        otherwise."""
        self.has_evidence = any(trace in file.content for file in files if file.content for trace in TRACES)
        self._mapping = mapping
        self._key = mapping.documents.key if mapping.documents else truth.key
        self._is_lone = len(truth.documents) == 1
        self._truth = truth
        self._lists = {document.id for document in truth.documents if truth.files and [*document.root] == [ITEMS]}
        """The names of the documents that are nothing but a list."""
        self._may_be_list = not self._is_lone or self._key is not None
        if not files:
            self._refuse("", UnreadableError("the output is missing", "Make the output again."))
        names = {} if in_cases else documents_in([file.path for file in files], truth.files or truth.names)
        for file in files:
            stem = names.get(file.path, "")
            stem = stem if len(files) > 1 or stem in truth.files else ""
            try:
                content = content_of(file, "the output is missing", "Make the output again.")
                if in_cases:
                    self._read_cases(file.path, content)
                else:
                    self._read_file(file.path, content, stem)
            except UnreadableError as error:
                if file.content is None:
                    stem = stem if stem in truth.names else ""
                    self.lost.add(stem)
                self._refuse(stem, error, file.path if len(files) > 1 or truth.files else "")

    def by_expected_names(self, truth: GroundTruth) -> dict[str, dict[str, Value]]:
        """Return the documents that have a counterpart in the ground truth, by the counterpart's name.

        A single document belongs to the single expected one if either has no name.
        """
        names, actual = truth.names, self.by_name(truth)
        if len(names) == len(actual) == 1 and ("" in actual or "" in names):
            return {next(iter(names)): next(iter(actual.values()))}
        return {name: root for name, root in actual.items() if name in names}

    def by_name(self, truth: GroundTruth) -> dict[str, dict[str, Value]]:
        """Return the documents: those that the one object holds by their names, or in an envelope, if any.

        An object that has any expected field is a document itself.
        """
        names, fields = truth.names, truth.fields
        # Names that differ by the ending of a file alone are those of one document.
        documents = self.documents
        if any(map(FILE_ENDING.search, (*names, *documents))):
            left = {FILE_ENDING.sub("", name): name for name in names if name not in documents}
            other = {name: FILE_ENDING.sub("", name) for name in documents if left and name not in names}
            documents = {left.get(other.get(name, ""), name): root for name, root in documents.items()}
        if len(documents) == 1:
            (root,) = documents.values()
            if truth.key not in root and fields.isdisjoint(root):
                by_name = (_by_name(value, truth.key) for value in _within_envelopes(root))
                documents = next((found for found in by_name if names.keys() & filter(None, found)), documents)
        if len(documents) > 1 and [*names] == [""] and not fields.isdisjoint(documents):
            return {"": dict(documents)}  # which the ground truth holds by name as well
        if truth.side:
            return {name: _given_side(root, truth) for name, root in documents.items()}
        return {name: _record(root, fields) for name, root in documents.items()}

    def path_of_documents(self, truth: GroundTruth) -> str:
        """Return where the one object of the output has documents that ``by_name`` does not find; empty: nowhere."""
        names, fields = truth.names, truth.fields
        roots = self.documents.values()  # none if this variant gave nothing, whatever others gave
        below: deque[tuple[tuple[str, ...], Value]] = deque(((), root) for root in roots if len(roots) == 1)
        for _ in range(_MOST_VALUES):
            if not below:
                break
            path, value = below.popleft()
            fits = isinstance(value, dict) and 2 * len(fields & value.keys()) >= len(fields) > 0
            if path and ((fits and len(names) == 1) or names.keys() & filter(None, _by_name(value, truth.key))):
                return path_text(path)
            if isinstance(value, dict) and len(path) < _DEEPEST:
                below.extend(((*path, name), inner) for name, inner in value.items())
        return ""

    def _read_file(self, path: str, content: bytes, stem: str) -> None:
        """Add the documents of one file. Raises UnreadableError."""
        suffix = ending(path)
        if suffix in ("csv", *LINES):
            rows = list(self._rows(suffix, content))
            if stem and self._truth.files and len(rows) == 1 and isinstance(row := rows[0][0], dict):
                self._add(stem, row)
            else:
                self._add_rows(rows)
            return
        value, findings = read_data(suffix, content)
        self.findings.extend(findings)
        list_path = self._mapping.documents.path if self._mapping.documents else None
        if list_path and isinstance(value, dict):
            try:
                below = follow(value, parse_path(list_path))
            except PathError as error:
                raise UnreadableError(str(error), "Correct documents.path in the mapping.") from None
            if (value := below if isinstance(below, list | dict) else None) is None:
                raise UnreadableError(f"there are no documents at {list_path!r}", "Write them there.")
        if isinstance(value, list) and len(value) == 1 and self._may_be_list:
            (only,) = value  # which may be an envelope around all documents
            is_around = isinstance(only, dict) and any(isinstance(inner, list) for inner in _within_envelopes(only))
            value = only if is_around else value
        if isinstance(value, list) and stem in self._lists:
            value = {ITEMS: value}
        if isinstance(value, list) and self._may_be_list and not stem:
            self._add_rows([(document, None) for document in value])
        elif isinstance(value, dict):
            listed = chain.from_iterable(items(below) for below in _within_envelopes(value) if self._key)
            names = Counter(_named(each, 0, self._key)[0] for each in listed if isinstance(each, dict))
            for name in self._truth.names:
                if name and names[name] > 1:
                    self._report(f"The document {name[:80]!r} occurs twice; the last one counts", None)
            # A single document belongs to the single expected one, whatever its name.
            self._add(stem or ("" if self._is_lone else _named(value, 1, self._key)[0]), value)
        else:
            what = "it is null" if value is None else "its root is not an object"
            raise UnreadableError(what, "Write one JSON object.", 1)

    def _rows(self, suffix: str, content: bytes) -> Iterator[tuple[Value, int | None]]:
        """Yield the documents of a file that has one in each row, with their lines if these are known."""
        if suffix == "csv":  # in which an empty cell gives no value
            for cells in csv_dicts(content):
                given = {name: (plain_number(cell), cell) for name, cell in cells.items() if cell.strip()}
                yield {name: cell if number is None else number for name, (number, cell) in given.items()}, None
            return
        lines = list(each_line(content))
        if not lines:
            raise UnreadableError("it is empty", "Write one JSON object a line.")
        for line, parsed in lines:
            if isinstance(parsed, UnreadableError):
                self._report(f"Line {line} cannot be read: {parsed.message}", line)
            else:
                self.findings.extend(parsed.findings)
                yield parsed.value, line

    def _read_cases(self, path: str, content: bytes) -> None:
        """Add the output side of each case as a document. Raises UnreadableError."""
        file = read_case_file(path, content, self._mapping.cases)
        self.findings.extend(finding for finding in file.findings if finding.severity == "error")
        failed = 0
        for case in file.cases:
            if case.output is None:
                self.unreadable[case.id] = f"there is no output{': ' * bool(case.error)}{case.error[:200]}"
                continue
            value = _json_in_text(case.output) if isinstance(case.expected, dict | list) else case.output
            said = [grade_of(each, WORDS) for key, each in case.member.items() if plain_key(key) in VERDICTS]
            failed += value == case.expected and any(grade and grade.score == 0 for grade in said)
            if isinstance(case.expected, dict) and not isinstance(value, dict):
                self._refuse(case.id, UnreadableError("it is not an object", "Make the output again.", case.line))
            else:
                self._add(case.id, value if isinstance(value, dict) else {VALUE: value})
        if failed:
            message = f"The file says of {failed} of {len(file.cases)} cases that they failed, and they are as expected"
            fix = "Its verdicts count with `kind: judged` for the eval in the manifest; here the values are compared."
            self.findings.append(Finding("warning", message, fix))

    def _add_rows(self, rows: Sequence[tuple[Value, int | None]]) -> None:
        """Add the documents of the newest run in a list of them with their lines, without the name of the run."""
        run = run_column(values := [value for value, _ in rows])
        run = "" if run and run in (self._key, *self._truth.fields) else run
        newest, remarks = newest_run(values, run)
        self.findings += remarks
        for index in newest:
            value, line = rows[index]
            if run and isinstance(value, dict):
                value = {name: cell for name, cell in value.items() if name != run}
            self._add_listed(value, index + 1, line)

    def _add_listed(self, value: Value, number: int, line: int | None) -> None:
        if not isinstance(value, dict):
            self._report(f"Document {number} is not an object", line)
            return
        name, value = _named(value, number, self._key)
        if self._key and name == "":
            fix = "Write it, or state the key that names documents in the mapping."
            self.findings.append(Finding("error", f"Document {number} has no {self._key!r}", fix, line=line))
            return
        self._add(name, value, line)

    def _add(self, name: str, value: dict[str, Value], line: int | None = None) -> None:
        if name in self.documents:
            self._report(f"The document {name[:80]!r} occurs twice; the last one counts", line)
        self.documents[name] = value

    def _refuse(self, name: str, error: UnreadableError, file: str = "") -> None:
        """Record that a document, or with an empty name the whole output, cannot be read."""
        self.unreadable[name] = error.message
        self.findings.append(replace(error.finding(f"The output {name[:80]!r}" if name else "The output"), file=file))

    def _report(self, message: str, line: int | None) -> None:
        self.findings.append(Finding(severity="error", message=message, fix="Correct the output.", line=line))


def keys_in_common(truth: File, files: Sequence[File], mapping: Mapping) -> list[tuple[bool, str]]:
    """Return the keys by which expected rows without ids may belong to rows or files of an output: the most like ids.

    Each tells all expected rows apart. What is called like an id, as the first of each pair says, needs one value in
    common; any other key half of them, no numbers, none twice in the output, and no CSV, whose rows have an order.
    """
    expected = _expected_columns(suffix := ending(truth.path), truth.content or b"")
    given = [row for file in files for row in _rows(ending(file.path), file.content or b"")] if expected else []
    named = [FILE_ENDING.sub("", basename(file.path)) for file in files if files[1:]]
    ranks = dict[str, int]()
    for column, wanted in expected.items():
        key = mapping.csv_to_json.get(column, column)
        have = [FILE_ENDING.sub("", id_text(row.get(key))) for row in given]
        common, rank = wanted.intersection([*have, *named]), rank_as_id(key)
        may_be = rank < 2 or not (suffix == "csv" or len({*have}) < len(have) or any(map(plain_number, wanted)))
        if may_be and (not given or len(common) >= (1 if rank < 2 else len(wanted) / 2)):
            ranks[key] = rank
    return [(rank < 2, key) for key, rank in ranks.items() if rank == min(ranks.values())]


@lru_cache(maxsize=16)
def _expected_columns(suffix: str, content: bytes) -> dict[str, frozenset[str]]:
    """Return the values of each column that tells all expected rows apart; none if these have ids.

    All outputs of a history are read beside few ground truths.
    """
    rows = _rows(suffix, content)
    return columns_apart(rows) if rows[1:] and not any("id" in row for row in rows) else {}


def _rows(suffix: str, content: bytes) -> list[dict[str, Value]]:
    """Return the rows of a file, in an envelope or not; none if it has another form or cannot be read."""
    with suppress(UnreadableError):
        lists = map(items, _within_envelopes(read_data(suffix, content).value))
        return [row for row in next(filter(None, lists), []) if isinstance(row, dict)]
    return []


def _by_name(holder: Value, key: str | None) -> dict[str, dict[str, Value]]:
    if isinstance(holder, list):
        return dict(_named(value, number, key) for number, value in enumerate(holder, 1) if isinstance(value, dict))
    return {name: value for name, value in members(holder).items() if isinstance(value, dict)}


def _named(value: dict[str, Value], number: int, key: str | None) -> tuple[str, dict[str, Value]]:
    """Return a document of a list with its name: that at its key, or that of its only member if it has no key."""
    if key is None:
        return str(number), value
    record = _record(value, {key})
    if key in record:
        stated = record[key]
        return "" if stated is None or isinstance(stated, bool | dict | list | tuple) else str(stated).strip(), record
    ((name, below), *more) = value.items() or [("", None)]
    return (name.strip(), below) if isinstance(below, dict) and not more else ("", value)


def _record(root: dict[str, Value], wanted: Set[str]) -> dict[str, Value]:
    """Return the object with any of these keys: the root, or one in its envelopes; the root if there is none."""
    if not wanted.isdisjoint(root):
        return root
    objects = (value for value in _within_envelopes(root) if isinstance(value, dict))
    return next((value for value in objects if not wanted.isdisjoint(value)), root)


def _given_side(root: dict[str, Value], truth: GroundTruth) -> dict[str, Value]:
    """Return the output in a row, under the key of the expected side or a usual one; without either, the row."""
    key = truth.side if truth.side in root else usual_key([root], OUTPUT)
    if not key:
        return _record(root, truth.fields)
    value = root[key] if truth.fields == {truth.side} else _json_in_text(root[key])
    return value if isinstance(value, dict) else {truth.side: value}


def _within_envelopes(value: Value, left: int = _MOST_ENVELOPES) -> Iterator[Value]:
    yield value
    if left and isinstance(value, dict):
        for envelope in _ENVELOPES:
            if envelope in value:
                yield from _within_envelopes(value[envelope], left - 1)


def _plain_text(files: tuple[File, ...]) -> str:
    content = files[0].content if len(files) == 1 and files[0].path.lower().endswith(".json") else None
    if content is None or b"\\" in content:
        return ""
    beyond_ascii = content.translate(None, _ASCII).decode("utf-8", "replace")
    # To fold a text with a character beyond ASCII takes as long as half of the parsing, and seldom changes that one.
    if beyond_ascii.casefold() == beyond_ascii:
        return content.lower().decode("utf-8", "replace")
    return content.decode("utf-8", "replace").casefold()


def _json_in_text(value: Value) -> Value:
    """Parse a text that holds JSON, as models write it; return any other value unchanged."""
    with suppress(UnreadableError):
        return parse_json(value).value if isinstance(value, str) else value
    return value
