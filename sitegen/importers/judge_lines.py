"""JSON Lines: one case per line, as AgentV and similar judges write them.

AgentV writes such lines to the index of a run, to the baseline beside an eval, and to any file that it is asked for. It
identifies a line by the path of the eval, the test, the target and the number of the sample. The lines of an index name
files of the run with the answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import chain
from sys import intern
from typing import Final

from msgspec.structs import replace

from sitegen.data_files.reading import UnreadableError, each_line
from sitegen.importers import case
from sitegen.importers.tool_values import (
    ToolObject,
    anything,
    conversation,
    items,
    last_message,
    list_of,
    members,
    name_of,
    part,
    share,
    stated_confidence,
    text,
    transcript,
    truth,
    whole,
    written,
)
from sitegen.importers.usual_names import NAMES, PARTS, PERSON, VERDICTS
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.recorded import Recorded
from sitegen.model.scorecards import FieldScore
from sitegen.model.usage import JUDGES, stated, stated_judge
from sitegen.stats.counts import CELLS
from sitegen.text.keys import plain_key

_IDS: Final = ("id", "test_id", "case_id", "eval_id", "case", "test")
_ATTRIBUTES: Final = ("attribute", "field", "path", "name")
_OWN_KEYS: Final = frozenset(
    {"score", "evaluator_results", "named_scores", "execution_status", "details", "hits", "misses"}
)
_OF_RUNS: Final = ("run", "runid", "runname", "evalrunid", "rundate", "runat", "date")  # columns of runs
_TRIED: Final = 1_000  # lines after which a file without any case is rejected: it is probably one large JSON value

_FIX: Final = "Correct the judge's results."
_MOST: Final = 10**9  # from this number on, a count is not believed
_COUNTED: Final = frozenset({"tp", "fp", "fn"})
_OF_TOTALS: Final = frozenset({"metrics", "summary"})
_FAILED: Final = "execution_error"
"""AgentV's status of a sample that could not be run or judged. Neither AgentV nor sitegen counts its score of 0."""
_VERDICTS: Final = {"ok": True, "quality_failure": False}
"""AgentV's status of a score at or above its threshold, and below."""
_STATED_VERDICTS: Final = frozenset((*VERDICTS, "success"))
_MODEL_GRADED: Final = frozenset({"llm-grader", "llm-rubric", "agent-rubric", "llm-judge", "rubrics"})
"""Types of evaluators that ask a model, in all versions of AgentV, with hyphens."""
_MESSAGES: Final = ("transcript", "messages", "output_messages", "outputMessages", "output")
"""Keys of a line that hold the messages and calls of tools of an agent."""
_SYSTEM_PROMPT: Final = ("systemPrompt", "system_prompt")
"""Keys of an evaluator's prompt that is the same in every case. The prompt beside it holds the answer."""
_is_of_person: Final = lru_cache(1024)(PERSON.fullmatch)  # all lines have the same keys

_OF_ANSWERS: Final = frozenset(
    (
        *chain(*PARTS.values(), VERDICTS, JUDGES, map(plain_key, (*_OWN_KEYS, *_MESSAGES, *_SYSTEM_PROMPT))),
        *("failurestage", "failurereasoncode", "targeterrorkind", "timestamp", "conversationid", "provenance"),
        *("evalpath", "targetspath", "gradingpath", "metricspath", "summarypath", "timingpath", "inputpath"),
        *("outputpath", "responsepath", "answerpath", "transcriptpath", "transcriptrawpath"),
        *("artifactdir", "resultdir", "taskdir", "testdir"),
    )
)
"""Names of what a line says of an answer, in lower case without separators: any other text is one about the case."""


def _texts(value: Value) -> tuple[str, ...]:
    return tuple(map(text, items(value)))


def is_of_a_judge(content: bytes) -> bool:
    """Whether the first line of a file has a key by which only AgentV and similar judges state results."""
    _, line = next(each_line(content), (0, None))
    if not isinstance(line, Parsed):
        return True  # the format says what is wrong with the line
    keys = members(line.value)
    own, names = _OWN_KEYS & keys.keys(), {*map(plain_key, keys)}
    # In a table, points of a maximum are read as shares of it, and prompts beside an input and runs are told apart.
    told = names & ({*_OF_RUNS} if names.isdisjoint(PARTS["input"][:4]) else {"prompt", *_OF_RUNS})
    return bool(own and not (names & {*NAMES["maximum"]} or (own == {"score"} and told))) or isinstance(
        keys.get("scores"), list
    )


class _Stated(ToolObject):
    """What a line states of a case, or one of its judges: both have the same keys."""

    name = part(name_of, "name")
    type = part(name_of, "type")
    target = part(name_of, "target")
    score = part(share, "score")
    hits = part(_texts, "hits")
    misses = part(_texts, "misses")
    assertions = part(list_of(members), "assertions")
    reasoning = part(text, "reasoning")
    details = part(anything, "details")
    error = part(text, "error")
    prompts = part(lambda request: _texts([members(request).get(key) for key in _SYSTEM_PROMPT]), "input")
    # of a line
    eval_path = part(name_of, "eval_path")
    source_path = part(name_of, "projection_identity.dimensions.eval_path")
    """AgentV 4 copies the eval for each test, and states the path of the copy as that of the eval."""
    variant = part(name_of, "variant")
    sample = part(whole, "sample_index")
    status = part(text, "execution_status")
    target_error = part(text, "target_error_kind")
    timestamp = part(text, "timestamp")
    answer_path = part(text, "answer_path")

    @cached_property
    def judges(self) -> list[_Stated]:
        """The judges of a line in any of the forms that runners write, or those that a judge combines."""
        stated = self.members.get("evaluator_results", self.members.get("scores"))
        if judges := list_of(_Stated)(stated):
            return judges
        named = members(self.members.get("scores")) or members(self.members.get("named_scores"))
        by_name = {name: score if isinstance(score, dict) else {"score": score} for name, score in named.items()}
        return [_Stated({**score, "name": name}) for name, score in by_name.items()]

    @property
    def passed(self) -> bool | None:
        """Whether the case passed, if its line states it by a status, a truth value or a word."""
        if (status := self.status) in _VERDICTS:
            return _VERDICTS[status]
        stated = (value for key, value in self.members.items() if plain_key(key) in _STATED_VERDICTS)
        grades = (case.grade_of(value, case.WORDS) for value in stated)
        return next((grade.right for grade in grades if grade is not None and grade.right is not None), None)

    @property
    def grader(self) -> case.Grader | None:
        """The model of an evaluator, which AgentV calls its target, and the models of the evaluators that it combines.

        The line of a case has a target as well, the model that answered, but no type.
        """
        inner = list_of(_Stated)(self.members.get("scores")) if "type" in self.members else []
        graders = [judge.grader for judge in inner if judge.grader is not None]
        if "type" in self.members and self.type.replace("_", "-") in _MODEL_GRADED:
            graders.append(case.Grader(case.grader_name(self.target, next(filter(None, self.prompts), ""))))
        names = dict.fromkeys(grader.name for grader in graders if grader.name)
        return case.Grader(" and ".join(names)) if graders else None

    def opinion(self, faults: list[str]) -> case.Opinion:
        """Return the opinion on a case; ``faults`` receives what is left out of it."""
        of = {True: [*self.hits], False: [*self.misses]}
        for assertion in self.assertions:
            if (passed := truth(assertion.get("passed"))) is not None:
                of[passed].append(text(assertion.get("text")))
        score, details = self.score, self.details
        if score is None and self.members.get("score") is not None:
            faults.append("The score of the case {} is not a number from 0 to 1, and is left out")
        return case.Opinion(
            name=self.name,
            score=score,
            hits=tuple(of[True]),
            misses=tuple(of[False]),
            reasoning=self.reasoning,
            counts=tuple(_counts(details, faults)) if isinstance(details, dict) else (),
            details=details,
            grader=self.grader,
        )

    def judged(self, name: str, findings: list[Finding]) -> case.JudgedCase:
        """Return what a line says of the case of this name; ``findings`` receives what is wrong with it."""
        line, failure = self, self.error
        if line.status == _FAILED:
            failure = failure or line.target_error or _FAILED
            line = _Stated({**line.members, "score": None})
        broken = (judge.error for judge in line.judges if judge.members.get("score") is None)
        unjudged = next(filter(None, broken), "") or (failure if line.members.get("score") is None else "")
        if unjudged or failure:
            message = f"The judge failed at the case {name[:80]!r}"
            findings.append(Finding("warning", message, _FIX, value=(unjudged or failure)[:200]))
        faults: list[str] = []
        opinions = [judge.opinion(faults) for judge in line.judges]
        overall = line.opinion(faults)
        if any(opinion.counts for opinion in opinions):  # runners may repeat the details of a judge for the case
            overall = replace(overall, counts=())
        if judge := stated_judge(line.members):
            opinions = [replace(opinion, grader=opinion.grader or case.Grader(judge)) for opinion in opinions]
            overall = replace(overall, grader=overall.grader or case.Grader(judge))
        if any(opinion.grader for opinion in opinions):  # the case's score and verdict are computed from the judges'
            overall = replace(overall, grader=overall.grader or case.Grader())
        findings += (Finding("error", fault.format(repr(name[:80])), _FIX) for fault in faults)
        named = {plain_key(key): value for key, value in line.members.items() if key != "target"}
        asked, expected, output = (
            next((named[name] for name in PARTS[part] if name in named), None)
            for part in ("input", "expected", "output")
        )
        about = {**members(line.members.get("metadata")), **line.members}
        said = {key: case.grade_of(value, case.WORDS) for key, value in line.members.items() if _is_of_person(key)}
        people = [(key, grade.score == 1) for key, grade in said.items() if grade and grade.score in (0, 1)]
        # Of several people, nobody says whose verdict counts.
        person, is_right = people[0] if len(people) == 1 and line.passed is not None else ("", False)
        return case.JudgedCase(
            id=name,
            opinion=overall,
            judges=tuple(opinions),
            variant=line.variant,
            provider=line.target,
            passed=line.passed,
            verdicts=(bool(line.passed), is_right) if person else None,
            texts=case.texts_of(
                {key: value for key, value in about.items() if key != person and plain_key(key) not in _OF_ANSWERS}
            ),
            input=intern(conversation(asked)),  # many answers share one text
            expected=intern(written(expected)),
            output=last_message(output),
            output_at=line.answer_path,
            error=failure,
            unjudged=unjudged,
            call=stated(line.members),
            # Beside the opinion of a model, the confidence of the line is taken for that of the judge.
            confidence=stated_confidence({} if overall.grader else line.members, members(line.members.get("metadata"))),
            transcript=transcript(next(filter(None, (items(line.members.get(key)) for key in _MESSAGES)), None)),
        )


def read(content: bytes) -> case.JudgedResults:
    """Read every readable line, and report the others with their numbers. Raises UnreadableError."""
    findings: list[Finding] = []
    # By (path of the eval, test, target with its variant, number of the sample). The number is below 0, and different
    # for each line, if the line does not state it.
    cases: dict[tuple[str, str, str, int], case.JudgedCase] = {}
    lines: dict[tuple[str, str, str, int], int] = {}
    at = ""
    for number, parsed in each_line(content):
        of_line: list[Finding] = []
        if isinstance(parsed, UnreadableError):
            of_line.append(Finding("error", f"Line {number} cannot be read: {parsed.message}", _FIX))
        elif not isinstance(parsed.value, dict):
            of_line.append(Finding("error", f"Line {number} is not an object", _FIX))
        else:
            line = _Stated(parsed.value)
            name = next((name for key in _IDS if (name := name_of(line.members.get(key)))), f"line {number}")
            answer = line.judged(name, of_line)
            path = line.source_path or line.eval_path
            key = path, name, f"{answer.provider}{case.BETWEEN}{answer.variant}", line.sample or -number
            if key in cases:
                message = f"A sample of the case {name[:80]!r} occurs twice; the last one counts"
                of_line.insert(0, Finding("warning", message, _FIX))
            cases[key], lines[key] = answer, number
            at = at or line.timestamp
            of_line[:0] = parsed.findings
        findings += (replace(finding, line=number) for finding in of_line)
        if number >= _TRIED and not cases:
            raise UnreadableError(f"none of its first {_TRIED} lines is an object", "Write one JSON object a line.")
    if not cases and not findings:
        raise UnreadableError("it is empty", "Write one JSON object a line.")
    if len({path for path, *_ in cases}) > 1:  # tests are named with their eval
        named = [
            replace(each, id=case.BETWEEN.join(filter(None, (path, each.id)))) for (path, *_), each in cases.items()
        ]
    else:
        named = [*cases.values()]
    results = case.JudgedResults(
        case.with_verdicts_as_fields(named), tuple(findings), Recorded(timestamp=at.strip() or None)
    )
    return results.with_confidences([*lines.values()])


def _counts(details: Mapping[str, Value], faults: list[str]) -> Iterator[FieldScore]:
    """Yield the counts of each attribute, or the totals if no attribute has counts.

    Attributes are below ``metrics``, else directly in the details: ``{"total": {"tp": 1, "fp": 0, "fn": 0}}``.
    """
    direct = {name: value for name, value in details.items() if isinstance(value, dict) and value.keys() >= _COUNTED}
    if direct.keys() <= _OF_TOTALS:  # which are no attributes
        direct = {}
    by_attribute: list[tuple[str, Value]] = [*_entries(details.get("metrics"))] or [*direct.items()]
    summary: Value = {
        key.removeprefix("total_"): value for key, value in members(details.get("summary")).items()
    }  # {"total_tp": 1} as {"tp": 1}
    totals = (("", details.get("metrics")), ("", summary))
    for entries, most in ((by_attribute, None), (totals, 1)):
        counts = [FieldScore(name, cells) for name, value in entries if (cells := _cells(value, faults)) is not None]
        if counts:
            yield from counts[:most]
            return


def _cells(value: Value, faults: list[str]) -> Counts | None:
    """Return the counts that an object holds. None if it holds none.

    A single false positive and a single false negative are one wrong value: one value was expected, and another was
    output. If there were more values, it is unknown which of them belong together.
    """
    if not isinstance(value, dict) or not any(key in value for key in CELLS):
        return None
    numbers = [whole(value.get(key, 0)) for key in CELLS]
    if any(number is None or number >= _MOST for number in numbers):
        faults.append("Counts of the case {} are not whole numbers of at least 0, and are left out")
        return None
    tp, fp, fn, tn = (number or 0 for number in numbers)
    wrong = int((tp, fp, fn, tn) == (0, 1, 1, 0))
    return Counts(tp=tp, fp=fp, fn=fn, tn=tn, omission=fn - wrong, hallucination=fp - wrong, wrong_value=wrong)


def _entries(metrics: Value) -> Iterator[tuple[str, Value]]:
    """(attribute, counts) of an object by attribute, or of a list of objects that name their attribute."""
    if isinstance(metrics, dict):
        yield from ((name, value) for name, value in metrics.items() if isinstance(value, dict))
    for entry in map(members, items(metrics)):
        name = next((name_of(entry.get(key)) for key in _ATTRIBUTES if entry.get(key) is not None), "")
        if name:
            yield name, entry
