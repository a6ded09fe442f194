"""Reads test cases and responses, each from files of their own or from a file that holds both.

``test_cases.json`` is a list of cases, or an object with the list under ``test_cases`` or ``cases``. A case can accept
several answers, as a list under ``expected``, or under ``accepted`` beside it.

Responses are in ``responses.json|jsonl``, or in ``responses-<variant>.json|jsonl`` for each variant. A file is a list
of responses, an object with the list under ``responses``, or an object of texts by case id. JSON Lines hold one
response per line. If several runs append to them, the newest ``run_id`` counts. A response is ``{case_id, output,
error, quality, embedding}``, of which the last three are optional; its question may name the case in place of an id.
``judge_answer`` replaces ``quality`` if the answer of a judge is no grade. A response may also state its ``model``,
``parameters``, tokens, ``cost`` and ``latency``, its ``confidence``, the ``judge`` and ``judge_prompt`` of its grade,
and ``human_quality``, a person's grade.
"""

import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import Final, TypeAlias, cast

from msgspec.structs import replace

from sitegen.data_files.folders import FILE_ENDING
from sitegen.data_files.reading import TWO_LINES, UnreadableError, csv_dicts, json_lines, read_json
from sitegen.importers.case import JudgedCase, JudgedResults, Opinion
from sitegen.importers.case_rows import columns_apart, newest_run, run_column, states_a_result
from sitegen.importers.tool_values import members, stated_confidence
from sitegen.importers.usual_names import ANSWER, INPUTS, PARTS, usual_key
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding, Parsed, Severity
from sitegen.model.usage import LONGEST_MODEL_NAME, RunUsage, stated, stated_run
from sitegen.scoring.answerers import answer_in, glob_of_answers
from sitegen.scoring.case_files import CaseFile, case_keys, rank_as_id, read_case_file
from sitegen.scoring.kinds import File, content_of
from sitegen.scoring.mapping import CaseKeys
from sitegen.text.keys import plain_key
from sitegen.text.values import id_text, text_of_value

Vector: TypeAlias = Sequence[float]
"""The embedding of a text."""

_UNCATEGORISED: Final = "(no category)"
_ACCEPTED: Final = "accepted"  # the key of further accepted answers of a case


class TestCase(Frozen):
    """One test case."""

    id: str
    expected: tuple[str, ...]
    """The texts of which any is accepted; without any, the exact match is not scored."""
    category: str
    question: str = ""
    """The input, as text."""
    listed: str = ""
    """The list under ``expected`` as JSON, which is accepted as well; empty if there is none."""
    member: Mapping[str, Value] = MappingProxyType({})
    """All that the file states of the case."""

    @property
    def expected_value(self) -> Value:
        """What is expected, for pages: a text, or a list of the accepted ones."""
        return self.expected[0] if len(self.expected) == 1 else list(self.expected)

    @property
    def field(self) -> str:
        """The field that an answer to a case counts for."""
        return self.category or _UNCATEGORISED


CasesById: TypeAlias = dict[str, TestCase]
"""In the order of the file."""


_VARIANTS: Final = ("variant", "prompt_id", "prompt_name", "prompt_version", "experiment", "arm", "condition")
"""Keys of a response with the name of its variant, where its file has none."""
_LISTS_OF_CASES: Final = ("test_cases", "cases", "tests", "examples", "items", "questions", "samples", "data")
_LISTS_OF_RESPONSES: Final = ("responses", "results", "outputs", "predictions", "answers")
"""Keys of an object under which its list stands, by precedence; also of the cases above."""


@lru_cache(maxsize=16)
def read_cases(content: bytes) -> Parsed[CasesById]:
    """Read the cases, and report those that cannot be used. Raises UnreadableError if there is no list of cases."""
    value, findings = _listed(content)
    if isinstance(value, dict):
        value = next((listed for key in _LISTS_OF_CASES if isinstance(listed := value.get(key), list)), None)
    if not isinstance(value, list):
        raise UnreadableError("it is not a list of test cases", "Write a list of {id, input, expected, category}.")
    remarks = [*findings]
    cases: dict[str, TestCase] = {}
    rows = [case for case in value if isinstance(case, dict)]
    # The id of a case without one is that under another usual name, else its number, if no case has any.
    anonymous = len(rows) == len(value) and not any("id" in case for case in rows)
    id_key = next((key for key in columns_apart(rows) if anonymous and not rank_as_id(key)), "id")
    # Rows of a table have columns of their author's own names.
    side, question = (usual_key(rows, names) for names in (PARTS["expected"], INPUTS))
    for number, case in enumerate(value, 1):
        if not isinstance(case, dict):
            message = f"Test case {number} is not an object"
            remarks.append(Finding("error", message, "Write {id, input, expected, category}."))
            continue
        name = id_text(case.get(id_key)) or (str(number) if anonymous else "")
        if not name:
            message = f"Test case {number} has no id"
            remarks.append(Finding("error", message, "Give it one: responses name their case."))
            continue
        if name in cases:
            message = f"The test case {name[:80]!r} occurs twice; the last one counts"
            remarks.append(Finding("warning", message, "Rename one."))
        expected = case.get(side)
        cases[name] = TestCase(
            id=name,
            expected=accepted_texts(expected, case.get(_ACCEPTED)),
            category=id_text(case.get("category")),
            question=text_of_value(case.get(question)),
            listed=text_of_value(expected) if isinstance(expected, list) else "",
            member=case,
        )
    return Parsed(cases, tuple(replace(remark, about="ground_truth") for remark in remarks))


def _listed(content: bytes) -> Parsed[Value]:
    """Return the value of a JSON file, or the rows of JSON Lines or CSV. Raises UnreadableError."""
    if re.match(rb"[^\n\x00{\[]*,", content):
        rows = [{name: cell for name, cell in row.items() if cell} for row in csv_dicts(content)]
        return Parsed(cast("Value", rows), ())
    if not re.match(TWO_LINES, content):
        return read_json(content)
    findings: list[Finding] = []
    values: list[Value] = [value for _, value in json_lines(content, findings, _FIX)]
    return Parsed(values, tuple(findings))


@lru_cache(maxsize=16)
def expected_cases(path: str, content: bytes, keys: CaseKeys) -> Parsed[CasesById]:
    """Read the expected sides of a file that holds both sides. Raises UnreadableError if it has no list of cases."""
    read = read_case_file(path, content, keys)
    cases = {
        case.id: TestCase(
            id=case.id,
            expected=accepted_texts(case.expected, case.member.get(_ACCEPTED)),
            category=case.category,
            question=text_of_value(case.question),
            listed=text_of_value(case.expected) if isinstance(case.expected, list) else "",
        )
        for case in read.cases
    }
    return Parsed(cases, tuple(replace(finding, about="ground_truth") for finding in read.findings))


def accepted_texts(expected: Value, accepted: Value) -> tuple[str, ...]:
    """Return the texts that a case accepts: the expected one or each of a list, and those under ``accepted``."""
    values = [value for side in (expected, accepted) for value in (side if isinstance(side, list) else [side])]
    texts = map(text_of_value, values)
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


_FIX: Final = "Correct the file, or run the prompt again."
UNJUDGED: Final = Opinion("", None)
"""The opinion on an answer that is compared with nothing."""
ROUGE: Final = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL"}
"""Judge -> metric: the overlap with the expected text, 0..1, of words, of pairs of words, and of the longest
common subsequence."""
_HASH: Final = 12  # digits of a prompt's hash
_VARIANT: Final = re.compile(r"responses-(.+)\.jsonl?", re.IGNORECASE | re.DOTALL)


class Response(Frozen):
    """One recorded response: the answer to a case, and what only this kind knows of it."""

    answer: JudgedCase
    """Its judges are the grade of its quality and the ROUGE measures."""
    quality: Value = None
    embedding: Value = None
    line: int | None = None
    human_quality: Value = None
    vector: Vector | None = None
    """None if there is nothing to make it from."""
    missing: str = ""
    """Why there is no response, which is measured like an empty one. Empty if there is one."""

    @property
    def grade(self) -> int | None:
        """The grade, if it is one. A failed call has none."""
        return None if self.answer.error else grade_of(self.quality)

    @property
    def has_unusable_grade(self) -> bool:
        """Whether the response has a grade that is not from 1 to 5. A failed call has none."""
        return not self.answer.error and self.quality is not None and self.grade is None

    def row(self, case: TestCase) -> Value:
        """Return the complete response to a case, for the data file."""
        answer, is_missing = self.answer, bool(self.missing)
        return {
            "variant": answer.variant,
            "case_id": answer.id,
            "category": case.category,
            "expected": case.expected_value,
            "output": None if is_missing else answer.output,
            "error": None if is_missing else answer.error,
            "correct": None if answer.passed is None else answer.passed == 1,
            "quality": self.grade,
            **{ROUGE[each.name]: Decimal(repr(each.score)) for each in answer.judges if each.name in ROUGE},
        }


def grade_of(value: Value) -> int | None:
    """Read a grade: a whole number from 1 to 5, also as a text. None for any other value."""
    if isinstance(value, str) and value.strip() in ("1", "2", "3", "4", "5"):
        return int(value)
    return value if type(value) is int and 1 <= value <= 5 else None


class VariantResponses(Frozen):
    """The responses of one prompt."""

    name: str
    """Empty if the only file does not name it."""
    responses: tuple[Response, ...]
    unreadable: str
    """Why the file cannot be read. Empty if it can."""
    beside: RunUsage | None = None
    """What the file states about all responses, beside their list."""
    file: str = ""
    """The path of the file, of the first of several; empty if the output has no other."""

    @property
    def mention(self) -> str:
        """The name of the variant at the end of a message; empty without a name."""
        return f", of the variant {self.name[:80]!r}" if self.name else ""


def read_answers(
    files: tuple[File, ...], settings: str, cases: Mapping[str, TestCase]
) -> Parsed[tuple[VariantResponses, ...]]:
    """Read all files of one output: one variant or more, sorted by name.

    Never raises: whatever cannot be read is reported, and the rest counts.

    ``settings``: those of the eval, which may state the keys of files that hold the expected texts as well.
    """
    findings: list[Finding] = []
    keys, glob = case_keys(settings), glob_of_answers(settings)
    variants: dict[str, VariantResponses] = {}
    objects = {case.id for case in cases.values() if any(text.startswith("{") for text in case.expected)}
    called = {id_text(case.question): name for name, case in cases.items()}
    called = called if len(called) == len(cases) else {}
    called |= {str(number): name for number, name in enumerate(cases, 1) if "id" not in cases[name].member}
    called |= {FILE_ENDING.sub("", name): name for name in cases} | {name: name for name in cases}
    for file in files or (File("responses.json", None, "the output is missing"),):
        who, _ = answer_in(file.path, glob)
        named = _VARIANT.fullmatch(base := posixpath.basename(file.path))
        stem = named[1] if named else base.partition(".")[0] if len(files) > 1 and not who.repeat else ""
        name = " ".join(who.axes.values()) or stem
        path, remarks = file.path if len(files) > 1 else "", list[Finding]()
        for variant in _ResponsesReader(name, remarks, objects, called).variants(file, keys):
            variant = replace(variant, file=path)
            if twin := variants.get(variant.name):
                message = f"Two files hold responses of the variant {variant.name[:80]!r}; both count"
                remarks += [] if who.repeat else [Finding("warning", message, "Keep them in one file.")]
                unreadable = twin.unreadable and variant.unreadable
                variant = VariantResponses(variant.name, twin.responses + variant.responses, unreadable, file=twin.file)
            variants[variant.name] = variant
        findings += (replace(remark, file=path) for remark in remarks)
    return Parsed(tuple(variants[name] for name in sorted(variants)), tuple(findings))


class _ResponsesReader:
    def __init__(self, name: str, findings: list[Finding], objects: Collection[str], called: Mapping[str, str]) -> None:
        """``objects``: the ids of cases that expect an object. ``called``: ids of cases by id and question."""
        self._called = called
        self._variant = name
        self._objects = objects
        self._of = f" of {name[:80]!r}" if name else ""
        self._findings = findings
        self.responses: list[Response] = []
        self.beside: RunUsage | None = None
        self._states_results = False

    def variants(self, file: File, keys: CaseKeys | None) -> list[VariantResponses]:
        """Return the responses in a file by their variants, of which one file may have several."""
        try:
            content = content_of(file, "the output is missing", "Run the prompt again.")
            if keys is not None:
                self.cases(read_case_file(file.path, content, keys))
            elif file.path.lower().endswith(".jsonl"):
                self.lines(content)
            else:
                self.document(content)
        except UnreadableError as error:
            self._findings.append(error.finding(f"The responses{self._of}"))
            return [VariantResponses(self._variant, (), error.message)]
        cases = tuple(response.answer for response in self.responses)
        read = JudgedResults(cases).with_confidences([response.line for response in self.responses])
        self._findings += read.findings
        both = zip(self.responses, read.cases, strict=True)
        by_variant = grouped((answer.variant, replace(response, answer=answer)) for response, answer in both)
        beside = self.beside if len(by_variant) < 2 else None
        return [
            VariantResponses(name=name, responses=tuple(by_variant.get(name, ())), unreadable="", beside=beside)
            for name in sorted(by_variant) or [self._variant]
        ]

    def lines(self, content: bytes) -> None:
        rows = list(json_lines(content, self._findings, _FIX, self._of))
        newest, remarks = newest_run(values := [value for _, value in rows], run_column(values))
        self._findings += (replace(each, message=f"{each.message}{self._of}") for each in remarks)
        for number, value in (rows[index] for index in newest):
            self._add_value(value, f"Line {number}", number)

    def cases(self, read: CaseFile) -> None:
        self._findings += (finding for finding in read.findings if finding.severity == "error")
        self.beside = read.beside
        for case in read.cases:
            if case.output is not None or case.error:
                error = case.error if case.output is None else ""
                texts = case.id, case.variant or self._variant, text_of_value(case.output), error
                self._add_response(texts, case.member, case.line)

    def document(self, content: bytes) -> None:
        value, findings = _listed(content)
        self._findings += findings
        if isinstance(value, dict):
            below = next((value[key] for key in _LISTS_OF_RESPONSES if isinstance(value.get(key), list)), None)
            below = value["responses"] if isinstance(value.get("responses"), dict) else below
            if below is not None:
                self.beside = stated_run(value, value.get("metadata"))
                value = below
        if isinstance(value, dict):
            value = [  # of an object by case id: a text, a response, or a list of these if a case has several
                {**(response if isinstance(response, dict) else {"output": response}), "case_id": case_id}
                for case_id, of_case in value.items()
                for response in (of_case if isinstance(of_case, list) else [of_case])
            ]
        if not isinstance(value, list):
            raise UnreadableError("it is not a list of responses", "Write a list of {case_id, output}.")
        for number, response in enumerate(value, 1):
            self._add_value(response, f"Response {number}", None)

    def _add_value(self, value: Value, subject: str, line: int | None) -> None:
        if not isinstance(value, dict):
            self._report("error", f"{subject}{self._of} is not an object", line)
            return
        stated = [value[key] for key in ("case_id", "id") if key in value][:1]
        naming = stated or [cell for key, cell in value.items() if plain_key(key) in INPUTS or rank_as_id(key) < 2]
        called = (
            self._called.get(name) or self._called.get(FILE_ENDING.sub("", name)) for name in map(id_text, naming)
        )
        case_id = next(filter(None, called), "".join(map(id_text, stated)))
        if not case_id:
            self._report("error", f"{subject}{self._of} has no case_id", line)
            return
        key = "output" if "output" in value else usual_key([value], (*ANSWER, "label"))
        if not key and not value.get("error"):
            self._report("warning", f"{subject}{self._of} has neither an output nor an error: an empty answer", line)
        if not self._states_results and states_a_result(value, of_response=True):
            self._states_results = True
            message = f"The responses{self._of} state verdicts or scores, which do not count: their texts are compared"
            fix = "For the eval in the manifest, set kind: judged and name the file under outputs, if these count."
            self._findings.append(Finding("warning", message, fix, line=line))
        error, given = value.get("error"), value.get(key)
        own = self._variant or id_text(value.get(usual_key([value], _VARIANTS)))
        answers: dict[str, Value] = {own: given}
        if isinstance(given, dict) and case_id not in self._objects:
            if inner := usual_key([given], (*ANSWER, "label")):  # what is stated about the answer lies beside it
                answers = {own: given[inner]}
            elif not own and len(given) > 1 and all(isinstance(answer, str) for answer in given.values()):
                answers = given  # the answers of several prompts or models, by their names
        for variant, answer in answers.items():
            texts = case_id, variant, text_of_value(answer), text_of_value(error) if error else ""
            self._add_response(texts, value, line)

    def _add_response(self, texts: tuple[str, str, str, str], beside: dict[str, Value], line: int | None) -> None:
        """Add a response with whatever else is stated beside it.

        ``texts``: the id of its case, its variant, its output, and its error.
        """
        case_id, variant, output, error = texts
        judge = ""
        if beside.get("quality") is not None:  # the model that graded, and the beginning of its prompt's hash
            model, prompt = id_text(beside.get("judge")), id_text(beside.get("judge_prompt"))
            judge = " ".join(filter(None, (model[:LONGEST_MODEL_NAME], prompt and f"prompt {prompt[:_HASH]}")))
        answer = JudgedCase(
            id=case_id,
            variant=variant,
            opinion=UNJUDGED,
            judges=(),
            output=output,
            error=error,
            call=replace(stated(beside), judge=judge, failed=bool(error)),
            confidence=stated_confidence(beside, members(beside.get("metadata")), members(beside.get("output"))),
        )
        self.responses.append(
            Response(
                answer=answer,
                quality=beside.get("quality", beside.get("judge_answer")),
                embedding=beside.get("embedding"),
                line=line,
                human_quality=beside.get("human_quality"),
            )
        )

    def _report(self, severity: Severity, message: str, line: int | None) -> None:
        self._findings.append(Finding(severity=severity, message=message, fix=_FIX, line=line))
