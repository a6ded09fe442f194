"""Reads files of cases: the input, the expected side and the output of every case in one file.

Every run overwrites the file. The cases are a list: in JSON or YAML the first list below any key whose members have
both sides, in JSON Lines the lines, in CSV the rows. The keys of the sides are recognised by their names
or stated in the eval's settings as ``cases: {list, id, input, expected, output, category}``.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from posixpath import basename
from typing import Any, Final, Literal, TypeAlias, cast

from msgspec.structs import replace

from sitegen.config.models import case_settings, files_of
from sitegen.data_files.reading import LINES, UnreadableError, csv_dicts, each_line, ending, json_lines, read_json
from sitegen.data_files.yaml_reader import read_data
from sitegen.importers import ANY_LINES, case_rows, importer_of, read_results, usual_names
from sitegen.importers.columns import names_prompts, read_settings, usual_columns
from sitegen.importers.tool_values import items
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.usage import RunUsage, stated, stated_run
from sitegen.scoring.mapping import CaseKeys, read_mapping
from sitegen.scoring.paths import PathError, follow, parse_path
from sitegen.scoring.run_statements import recorded_in
from sitegen.scoring.values import plain_number
from sitegen.text.keys import plain_key
from sitegen.text.values import id_text, text_of_value

IDS: Final = (*usual_names.PARTS["id"], "document", "doc", "file", "filename", "fixture", "image")
_VARIANTS: Final = ("variant", "prompt_id", "prompt_name", "prompt_version", "arm", "condition", "prompt")
RESPONSES: Final = files_of("responses").outputs
_MAX_NAME: Final = 80  # characters
_EMPTY: Final = (b"", b"[]", b"{}", b"null")
_GRADED: Final = ("quality", "judge_answer", "embedding", "judge", "judge_prompt")
"""Keys of a case that belong to its output, besides keys of usage."""
VALUE: Final = "value"
"""The field path of an expected value or an output that is not an object."""

ScoredKind: TypeAlias = Literal["fields", "responses"]


class NoCasesError(UnreadableError):
    """The file can be read but holds no list of cases."""


class TwoSidedCase(Frozen):
    """One case with both sides."""

    id: str
    question: Value
    category: str
    expected: Value
    output: Value
    """None if there is no output."""
    error: str
    """The reason for a missing output; empty if nothing failed."""
    member: dict[str, Value]
    """The whole case, as in the file."""
    line: int | None
    variant: str = ""
    """The prompt or model that answered, if a column says so or each output is an object with an answer of each."""


class CaseFile(Frozen):
    """The cases of a file."""

    cases: tuple[TwoSidedCase, ...]
    """In the order of the file."""
    findings: tuple[Finding, ...]
    complete: bool
    """Every member of the list has an expected side, so that it is certainly a list of cases."""
    beside: RunUsage | None = None
    """Usage of the whole run, stated beside the list."""

    @property
    def kind(self) -> ScoredKind:
        """The kind of an eval that states none: ``fields`` if any expected side is an object or a list, else texts."""
        return "fields" if any(isinstance(case.expected, dict | list) for case in self.cases) else "responses"


def rank_as_id(key: str) -> int:
    """Return 0 for a key that is certainly an id, 1 for one that is called like an id, and 2 for any other."""
    is_usual = plain_key(key) in IDS and key not in ("name", "key")  # which name other things as well
    return 0 if is_usual else 1 if usual_names.MADE_ID.fullmatch(key) else 2


@lru_cache(maxsize=64)
def case_keys(settings: str) -> CaseKeys | None:
    """Return the keys that an eval's settings state; None if its ground truth is not in the file of its output."""
    keys = case_settings(settings)
    return None if keys is None else read_mapping(None, f'{{"cases":{keys}}}')[0].cases


def kind_of_case_file(path: str, content: bytes) -> ScoredKind | Literal["judged"] | None:
    """Return the kind by which an unconfigured file would be scored; None if it is not certainly a file of cases.

    A report of a tool is judged. A verdict or a score that another file states about texts, or lists of them, decides
    as well, and no comparison beside it. This holds for responses too, whose expected texts are in another file. Raises
    UnreadableError for a file that is empty or broken: an earlier output decides.
    """
    of_responses = basename(path) in RESPONSES
    try:
        if content.strip() in _EMPTY:
            raise UnreadableError("it is empty", "Run the cases again.")
        if importer_of(path, content) is not ANY_LINES:
            return "judged"
        file = read_case_file(path, content, CaseKeys())
    except NoCasesError:
        return "judged" if of_responses and _responses_state_results(path, content) else None
    sides = (case.expected if isinstance(case.expected, list) else [case.expected] for case in file.cases)
    are_texts = not any(isinstance(value, dict) for values in sides for value in values)
    # The quality is that of a response, and an object without any check says nothing.
    rows = [{key: cell for key, cell in case.member.items() if key != "quality" and cell != {}} for case in file.cases]
    is_judged = any(map(case_rows.states_a_result, rows)) or usual_columns(case_rows.case_rows(rows)) is not None
    if (are_texts and is_judged) or any(row.get(usual_names.CHECKS) for row in rows):
        return "judged"
    return file.kind if file.complete else None


def _responses_state_results(path: str, content: bytes) -> bool:
    """Whether any response of a file, whose rows are a list or lines, states a verdict or a score."""
    if path.endswith(".jsonl"):
        rows: Value = [row.value for _, row in each_line(content) if isinstance(row, Parsed)]
    else:
        rows, _ = read_json(content)
    rows = rows.get("responses") if isinstance(rows, dict) else rows
    if not rows:
        raise UnreadableError("it has no responses", "Run the cases again.")
    return isinstance(rows, list) and any(
        isinstance(row, dict) and case_rows.states_a_result(row, of_response=True) for row in rows
    )


def sides_of(path: str, content: bytes, settings: str) -> tuple[str, str] | None:
    """Digests of both sides, whatever the order of the cases. None if any case cannot be read.

    Never raises: no unexpected error may end the walk of history, and scoring the file reports it.
    """
    try:
        keys = case_keys(settings) or CaseKeys()
        if read_settings(settings).value:  # a table whose outputs are only held against what is expected
            from sitegen.importers.tables import EXACT_MATCH  # takes time to import; few evals need it

            rows = read_results(path, content, settings).cases
            if any(judge.name != EXACT_MATCH for each in rows for judge in each.judges):
                return None
            asked = [(each.id, each.model, each.expected) for each in rows]
            given = [(repr(replace(each, expected="", judges=(), passed=None)),) for each in rows]
            return _digest_of_cases(keys, asked), _digest_of_cases(keys, given)
        file = read_case_file(path, content, keys)
        if any(finding.severity == "error" for finding in file.findings):
            return None
        expected = [(case.id, case.question, case.category, case.expected) for case in file.cases]
        output = [
            (
                case.id,
                {case.variant: case.output} if case.variant else case.output,
                case.error,
                isinstance(case.expected, dict | list),
                [case.member.get(key) for key in _GRADED],
                stated(case.member),
                stated_run(case.member),
            )
            for case in file.cases
        ]
        # The same answers from another run are another output.
        run = recorded_in("responses", path, content, settings), file.beside
        return _digest_of_cases(keys, expected), _digest_of_cases(keys, [*output, ("", *run)])
    except Exception:
        return None


def _digest_of_cases(keys: CaseKeys, rows: list[tuple[Any, ...]]) -> str:
    written = (repr(keys), *sorted(json.dumps(row, default=repr, sort_keys=True) for row in rows))
    return hashlib.sha256("\n".join(written).encode()).hexdigest()


@lru_cache(maxsize=8)
def read_case_file(path: str, content: bytes, keys: CaseKeys) -> CaseFile:
    """Read both sides of all cases. Raises UnreadableError if there is no list of cases; other errors are findings."""
    suffix, findings = ending(path), list[Finding]()
    beside = None
    members: list[tuple[Value, int | None]] = []
    if suffix in LINES:
        members = [(value, number) for number, value in json_lines(content, findings, "Run the cases again.")]
    elif suffix == "csv":
        rows = list(csv_dicts(content))
        # An empty cell has no value; an empty output is an empty answer.
        answer = keys.output or usual_names.usual_key([dict.fromkeys(row) for row in rows[:1]], usual_names.OUTPUT)
        members = [
            ({name: cell if cell or name == answer else None for name, cell in row.items()}, None) for row in rows
        ]
    else:
        root, odd = read_data(suffix, content)
        findings += odd
        below = value_at_key(root, keys.list or "")
        if not keys.list:  # the list nearest to the root whose members have both sides
            below = [*case_rows.nearest_cases(root, lambda case: is_two_sided(case, keys))]
        members = [(member, None) for member in (below.values() if isinstance(below, dict) else items(below))]
        if isinstance(root, dict) and not (len(members) == 1 and members[0][0] is root):
            beside = stated_run(root, root.get("metadata"))
    values = [member for member, _ in members]
    newest, remarks = case_rows.newest_run(values, case_rows.run_column(values))
    findings += remarks
    members = [members[index] for index in newest]
    objects = [(_with_numbers(member), line) for member, line in members if isinstance(member, dict)]
    if not any(is_two_sided(member, keys) for member, _ in objects):
        raise NoCasesError(
            "it has no list of cases with an expected and an output side",
            "Name the keys in the eval's settings, as cases: {list, id, input, expected, output}.",
        )
    expected = keys.expected or usual_names.usual_key([member for member, _ in objects], usual_names.EXPECTED)
    output = keys.output or usual_names.usual_key([member for member, _ in objects], usual_names.OUTPUT)
    cases = [
        (member, line)
        for member, line in objects
        if has_key(member, expected) or has_key(member, output) or member.get("error")
    ]
    if left_out := len(members) - len(cases):
        message = f"{left_out} of {len(members)} members of the list have neither side, and are not cases"
        findings.append(Finding("note", message, "Nothing has to be done if they are none."))
    may_judge = {name: None for member, _ in cases for name in member if usual_names.MAY_JUDGE.fullmatch(name)}
    if may_judge and usual_columns([member for member, _ in cases]) is None:
        message = f"What the cases state as {', '.join(map(repr, may_judge))[:_MAX_NAME]} is not known to judge them"
        fix = "If it does, write `kind: judged` and `settings: {columns: {...}}` into the manifest."
        findings.append(Finding("note", message, fix))
    return CaseFile(
        cases=tuple(_by_variant(tuple(_cases(cases, keys, (expected, output))))),
        findings=tuple(findings),
        complete=not left_out and all(has_key(member, expected) for member, _ in cases),
        beside=beside,
    )


def _cases(
    members: Sequence[tuple[dict[str, Value], int | None]], keys: CaseKeys, sides: tuple[str, str]
) -> Iterator[TwoSidedCase]:
    """Read all cases of a list by the same keys: those that are stated, else those with the usual names.

    ``sides``: the keys of the expected side and of the output.
    """
    objects = [member for member, _ in members]
    input_key = keys.input or usual_names.usual_key(objects, usual_names.INPUTS)
    varied = usual_names.usual_key(objects, _VARIANTS)
    is_input = plain_key(varied) == "prompt" and not names_prompts(objects, varied, input_key)
    of_whom = "" if is_input else varied, usual_names.usual_key(objects, usual_names.PARTS["model"])
    who = [tuple(id_text(member.get(key)) for key in of_whom) for member in objects]
    id_key = keys.id or ""
    for usual_name in () if id_key else IDS:
        key = usual_names.usual_key(objects, (usual_name,))
        names = [id_text(member.get(key)) for member in objects] if key else []
        # What is not called an id names cases only if nobody has answered one twice.
        if names and all(names) and (usual_name.endswith("id") or len({*zip(names, who, strict=True)}) == len(names)):
            id_key = key
            break
    category = keys.category or usual_names.usual_key(objects, ("category",))
    questions = [value_at_key(member, input_key) if input_key else None for member in objects]
    texts = list(map(text_of_value, questions))
    by_question = all(texts) and len(set(zip(texts, who, strict=True))) == len(texts)
    for number, ((member, line), question, (variant, _)) in enumerate(zip(members, questions, who, strict=True), 1):
        # The id as written, else the question if all questions differ, else the number of the case.
        name = id_text(value_at_key(member, id_key)) if id_key else ""
        if not name and by_question:
            name = " ".join(texts[number - 1].split())
            if len(name) > _MAX_NAME:
                name = f"{name[:60]} … {hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"
        yield TwoSidedCase(
            id=name or str(number),
            question=question,
            category=id_text(value_at_key(member, category)) if category else "",
            expected=value_at_key(member, sides[0]),
            output=value_at_key(member, sides[1]),
            error=text_of_value(error) if (error := member.get("error")) else "",
            member=member,
            line=line,
            variant="" if isinstance(member.get(sides[1]), dict | list) else variant,
        )


def _by_variant(cases: Sequence[TwoSidedCase]) -> Sequence[TwoSidedCase]:
    """Return a case for each answer if every output is an object with the answers of the same prompts or models.

    These are told from an object with one answer and what is stated about it by their values: under each key, at least
    half of the texts are among what is expected in the file.
    """
    answers = [case.output for case in cases if case.output is not None]
    names = list(answers[0]) if answers and isinstance(answers[0], dict) else []
    expected = {case.expected for case in cases if isinstance(case.expected, str)}
    if len(names) < case_rows.LEAST_VARIANTS or any(not isinstance(case.expected, str) for case in cases):
        return cases
    objects = [answer for answer in answers if isinstance(answer, dict) and answer.keys() == set(names)]
    usual = (sum(isinstance(answer[name], str) and answer[name] in expected for answer in objects) for name in names)
    if len(objects) < len(answers) or any(count * 2 < len(objects) for count in usual):
        return cases
    return [
        replace(case, output=case.output[name] if isinstance(case.output, dict) else None, variant=name)
        for name in names
        for case in cases
    ]


def _with_numbers(row: dict[str, Value]) -> dict[str, Value]:
    """Return the row with its sides from columns, in which texts of CSV that are plain numbers are numbers."""
    sided = case_rows.with_sides(row)
    for name in ("expected", "output") if sided.keys() != row.keys() else ():
        side = sided[name]
        if isinstance(side, dict):
            numbers = {key: plain_number(value) for key, value in side.items() if isinstance(value, str)}
            sided[name] = {**side, **{key: number for key, number in numbers.items() if number is not None}}
    return sided


def is_two_sided(case: dict[str, Value], keys: CaseKeys) -> bool:
    """Whether a case has both an expected side and an output."""
    case = case_rows.with_sides(case)
    sides = ((keys.expected, usual_names.EXPECTED), (keys.output, usual_names.OUTPUT))
    return all(
        value_at_key(case, stated) is not None if stated else usual_names.usual_key([case], names)
        for stated, names in sides
    )


def value_at_key(value: Value, path: str) -> Value:
    """Return the value at a key, or at a path of keys; None if there is none."""
    if not isinstance(value, dict) or path in value:
        return value[path] if isinstance(value, dict) else None
    try:
        return cast("Value", follow(value, parse_path(path)))
    except PathError:
        return None


def has_key(member: dict[str, Value], path: str) -> bool:
    """Whether a case has a value at a path; a plain key may hold null."""
    return path in member or value_at_key(member, path) is not None
