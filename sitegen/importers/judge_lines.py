"""JSON Lines: one case per line, as AgentV and similar judges write them.

AgentV writes such lines to the index of a run, to the baseline beside an eval, and to any file that it is asked for. It
identifies a line by the path of the eval, the test, the target and the number of the sample.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from sitegen.data_files.reading import UnreadableError, each_line
from sitegen.importers.case import (
    VERDICTS,
    WORDS,
    Grader,
    JudgedCase,
    JudgedResults,
    Opinion,
    grade_of,
    grader_name,
    with_verdicts_as_fields,
)
from sitegen.importers.tool_values import items, members, name_of, share, text, truth, whole
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding, Parsed, Severity
from sitegen.model.recorded import Recorded
from sitegen.model.scorecards import FieldScore
from sitegen.model.usage import stated, stated_judge
from sitegen.text.keys import plain_key

_IDS: Final = ("id", "test_id", "case_id", "eval_id")
_ATTRIBUTES: Final = ("attribute", "field", "path", "name")
_OWN_KEYS: Final = frozenset(
    {"score", "evaluator_results", "named_scores", "execution_status", "details", "hits", "misses"}
)
_TRIED: Final = 1_000
"""Lines after which a file without any case is rejected: it is probably one large JSON value."""

_CELLS: Final = ("tp", "fp", "fn", "tn")
_COUNTED: Final = frozenset({"tp", "fp", "fn"})
_OF_TOTALS: Final = frozenset({"metrics", "summary"})
_BETWEEN: Final = " · "
_FAILED: Final = "execution_error"
"""AgentV's status of a sample that could not be run or judged. Neither AgentV nor sitegen counts its score of 0."""
_VERDICTS: Final = {"ok": True, "quality_failure": False}
"""AgentV's status of a score at or above its threshold, and below."""
_MODEL_GRADED: Final = frozenset({"llm-grader", "llm-rubric", "agent-rubric", "llm-judge", "rubrics"})
"""Types of evaluators that ask a model, in all versions of AgentV, with hyphens."""
_SYSTEM_PROMPT: Final = ("systemPrompt", "system_prompt")
"""Keys of an evaluator's prompt that is the same in every case. The prompt beside it holds the answer."""


def is_of_a_judge(content: bytes) -> bool:
    """Whether the first line of a file has a key by which only AgentV and similar judges state results."""
    _, line = next(each_line(content), (0, None))
    if not isinstance(line, Parsed):
        return True  # the format says what is wrong with the line
    case = members(line.value)
    return not _OWN_KEYS.isdisjoint(case) or isinstance(case.get("scores"), list)


def read(content: bytes, grades: Collection[str]) -> JudgedResults:
    """Read every readable line, and report the others with their numbers. Raises UnreadableError."""
    reader = _LinesReader()
    for number, line in each_line(content):
        reader.add(number, line)
        if number >= _TRIED and not reader.cases:
            raise UnreadableError(f"none of its first {_TRIED} lines is an object", "Write one JSON object a line.")
    if not reader.cases and not reader.findings:
        raise UnreadableError("it is empty", "Write one JSON object a line.")
    return JudgedResults(
        with_verdicts_as_fields(reader.results()), tuple(reader.findings), Recorded(timestamp=reader.at.strip() or None)
    )


class _LinesReader:
    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.cases: dict[tuple[str, str, str, int], JudgedCase] = {}
        """By (path of the eval, test, target with its variant, number of the sample).

        The number is below 0, and different for each line, if the line does not state it.
        """
        self.at = ""
        """The time of the first line that states one."""
        self._line = 0
        self._name = ""
        """The name of the case of the line."""

    def results(self) -> tuple[JudgedCase, ...]:
        """Return the cases, named by test, and by eval and target if the file has several of these."""
        files, targets = (len({name[part] for name in self.cases}) > 1 for part in (0, 2))
        results = []
        for (file, test, target, _), case in self.cases.items():
            parts = (file if files else "", test, target if targets else "")
            results.append(replace(case, id=_BETWEEN.join(filter(None, parts))))
        return tuple(results)

    def add(self, number: int, line: Parsed[Value] | UnreadableError) -> None:
        self._line = number
        if isinstance(line, UnreadableError):
            self._report("error", f"Line {number} cannot be read: {line.message}")
            return
        value, findings = line
        self.findings += (replace(finding, line=number) for finding in findings)
        if not isinstance(value, dict):
            self._report("error", f"Line {number} is not an object")
            return
        name = next((name for key in _IDS if (name := name_of(value.get(key)))), f"line {number}")
        self._name = name
        target = _BETWEEN.join(filter(None, (name_of(value.get("target")), name_of(value.get("variant")))))
        sample = whole(value.get("sample_index")) or -number
        key = name_of(value.get("eval_path")), name, target, sample
        if key in self.cases:
            self._report("warning", f"A sample of the case {name[:80]!r} occurs twice; the last one counts")
        status = text(value.get("execution_status"))
        failure = text(value.get("error"))
        if status == _FAILED:
            failure = failure or text(value.get("target_error_kind")) or _FAILED
            value = {**value, "score": None}
        judges = value.get("evaluator_results", value.get("scores"))
        broken = (text(judge.get("error")) for judge in map(members, items(judges)) if judge.get("score") is None)
        unjudged = next(filter(None, broken), "") or (failure if value.get("score") is None else "")
        if unjudged or failure:
            self._report("warning", f"The judge failed at the case {name[:80]!r}", (unjudged or failure)[:200])
        self.at = self.at or text(value.get("timestamp"))
        opinions = [self._opinion(judge) for judge in items(judges) if isinstance(judge, dict)]
        if not opinions:
            scores = (members(value.get("scores")) or members(value.get("named_scores"))).items()
            opinions = [
                self._opinion({**score, "name": judge})
                if isinstance(score, dict)
                else Opinion(judge, self._score(score))
                for judge, score in scores
            ]
        overall = self._opinion(value)
        if any(opinion.counts for opinion in opinions):  # runners may repeat the details of a judge for the case
            overall = replace(overall, counts=())
        if judge := stated_judge(value):
            opinions = [replace(opinion, grader=opinion.grader or Grader(judge)) for opinion in opinions]
            overall = replace(overall, grader=overall.grader or Grader(judge))
        if any(opinion.grader for opinion in opinions):  # the case's score and verdict are computed from the judges'
            overall = replace(overall, grader=overall.grader or Grader())
        self.cases[key] = JudgedCase(
            id=name,
            opinion=overall,
            judges=tuple(opinions),
            variant=target,
            passed=_VERDICTS.get(status) if status in _VERDICTS else _stated_verdict(value),
            input=text(value.get("input")),
            expected=text(value.get("expected")),
            output=text(value.get("output")),
            error=failure,
            unjudged=unjudged,
            call=stated(value),
        )

    def _opinion(self, value: dict[str, Value]) -> Opinion:
        details = value.get("details")
        hits, misses = _texts(value.get("hits")), _texts(value.get("misses"))
        for assertion in map(members, items(value.get("assertions"))):
            if (passed := truth(assertion.get("passed"))) is not None:
                stated_text = (text(assertion.get("text")),)
                hits, misses = (hits + stated_text, misses) if passed else (hits, misses + stated_text)
        return Opinion(
            name=name_of(value.get("name")),
            score=self._score(value.get("score")),
            hits=hits,
            misses=misses,
            reasoning=text(value.get("reasoning")),
            counts=tuple(self._counts(details)) if isinstance(details, dict) else (),
            details=details,
            grader=_grader_of_evaluator(value),
        )

    def _score(self, value: Value) -> float | None:
        if value is None:
            return None
        score = share(value)
        if score is None:
            self._report(
                "error", f"The score of the case {self._name[:80]!r} is not a number from 0 to 1, and is left out"
            )
            return None
        return score

    def _counts(self, details: Mapping[str, Value]) -> Iterator[FieldScore]:
        """Yield the counts of each attribute, or the totals if no attribute has counts.

        Attributes are below ``metrics``, else directly in the details.
        """
        by_attribute = list(_entries(details.get("metrics"))) or _direct_entries(details)
        summary: Value = {
            key.removeprefix("total_"): value for key, value in members(details.get("summary")).items()
        }  # {"total_tp": 1} as {"tp": 1}
        totals = (("", details.get("metrics")), ("", summary))
        for entries, most in ((by_attribute, None), (totals, 1)):
            counts = [FieldScore(name, cells) for name, value in entries if (cells := self._cells(value)) is not None]
            if counts:
                yield from counts[:most]
                return

    def _cells(self, value: Value) -> Counts | None:
        """The counts that an object holds. None if it holds none.

        A single false positive and a single false negative are one wrong value: one value was expected, and another was
        output. If there were more values, it is unknown which of them belong together.
        """
        if not isinstance(value, dict) or not any(key in value for key in _CELLS):
            return None
        numbers = [_count(value.get(key, 0)) for key in _CELLS]
        if None in numbers:
            self._report(
                "error", f"Counts of the case {self._name[:80]!r} are not whole numbers of at least 0, and are left out"
            )
            return None
        tp, fp, fn, tn = (number or 0 for number in numbers)
        wrong = int((tp, fp, fn, tn) == (0, 1, 1, 0))
        return Counts(tp=tp, fp=fp, fn=fn, tn=tn, omission=fn - wrong, hallucination=fp - wrong, wrong_value=wrong)

    def _report(self, severity: Severity, message: str, value: str = "") -> None:
        self.findings.append(
            Finding(
                severity=severity, message=message, fix="Correct the judge's results.", line=self._line, value=value
            )
        )


def _stated_verdict(line: Mapping[str, Value]) -> bool | None:
    """Whether the case passed, if the line states it by a truth value or a word."""
    grades = (grade_of(value, WORDS) for key, value in line.items() if plain_key(key) in (*VERDICTS, "success"))
    return next((grade.right for grade in grades if grade is not None and grade.right is not None), None)


def _entries(metrics: Value) -> Iterator[tuple[str, Value]]:
    """(attribute, counts) of an object by attribute, or of a list of objects that name their attribute."""
    if isinstance(metrics, dict):
        yield from ((name, value) for name, value in metrics.items() if isinstance(value, dict))
    for entry in map(members, items(metrics)):
        name = next((name_of(entry.get(key)) for key in _ATTRIBUTES if entry.get(key) is not None), "")
        if name:
            yield name, entry


def _direct_entries(details: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """(attribute, counts) of details that hold attributes directly: ``{"total": {"tp": 1, "fp": 0, "fn": 0}}``.

    If only ``metrics`` or ``summary`` holds counts, they are totals and no attributes.
    """
    entries = {name: value for name, value in details.items() if isinstance(value, dict) and value.keys() >= _COUNTED}
    return [] if entries.keys() <= _OF_TOTALS else list(entries.items())


def _count(value: Value) -> int | None:
    count = whole(value)
    return count if count is not None and count < 10**9 else None


def _grader_of_evaluator(evaluator: Mapping[str, Value]) -> Grader | None:
    """The model of an evaluator, which AgentV calls its target, and the models of the evaluators that it combines.

    The line of a case has a target as well, the model that answered, but no type.
    """
    inner = map(_grader_of_evaluator, map(members, items(evaluator.get("scores")) if "type" in evaluator else ()))
    graders = [grader for grader in inner if grader is not None]
    if name_of(evaluator.get("type")).replace("_", "-") in _MODEL_GRADED:
        request = members(evaluator.get("input"))
        prompt = next((prompt for key in _SYSTEM_PROMPT if (prompt := text(request.get(key)))), "")
        graders.append(Grader(grader_name(name_of(evaluator.get("target")), prompt)))
    names = dict.fromkeys(grader.name for grader in graders if grader.name)
    return Grader(" and ".join(names)) if graders else None


def _texts(value: Value) -> tuple[str, ...]:
    return tuple(map(text, items(value)))
