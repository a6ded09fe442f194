"""JSON Lines: one case a line, as AgentV and judges like it write them.

AgentV has three files of such lines: the index of a run, the baseline beside an eval, and what it writes where it is
told to. What names a line there is the eval's path, the test, the target and the number of the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final, NamedTuple

from sitegen.data_files.json_reader import parse_json
from sitegen.data_files.reading import UnreadableError, text_of
from sitegen.model.metrics import Counts
from sitegen.model.problems import Finding, Severity
from sitegen.model.usage import stated
from sitegen.model.values import Value
from sitegen.scoring.judged.case import Grader, JudgedCase, JudgedResults, JudgedRun, Opinion, grader_name
from sitegen.scoring.judged.formats.json_values import items, members, name_of, share, text, whole
from sitegen.scoring.judged.formats.result_format import ResultFormat

_IDS: Final = ("id", "test_id", "case_id", "eval_id")
_ATTRIBUTES: Final = ("attribute", "field", "path", "name")
_TRIED: Final = 1_000
"""Lines after which a file without any case is given up: it is no JSON Lines, but perhaps a large JSON."""

_CELLS: Final = ("tp", "fp", "fn", "tn")
_COUNTED: Final = frozenset({"tp", "fp", "fn"})
_OF_TOTALS: Final = frozenset({"metrics", "summary"})
_BETWEEN: Final = " · "
_FAILED: Final = "execution_error"
"""AgentV's word for a sample that could not be run or judged: its score of 0 is in no mean of AgentV's, nor of ours."""
_VERDICTS: Final = {"ok": True, "quality_failure": False}
"""AgentV's words for a score at its threshold or above, and below."""
_MODEL_GRADED: Final = frozenset({"llm-grader", "llm-rubric", "agent-rubric", "llm-judge", "rubrics"})
"""AgentV's types of evaluators that ask a model, with hyphens, as its versions call them."""
_ASKED: Final = ("systemPrompt", "system_prompt")
"""What an evaluator asks in every case; the prompt beside it holds the answer."""


class LineName(NamedTuple):
    """What tells a line from every other one."""

    file: str
    """Of the eval."""
    test: str
    target: str
    """With the variant of it."""
    sample: int
    """From 1; 0 where the line does not say."""


def _read(content: bytes) -> JudgedResults:
    """Read every line that can be read; the others are findings with their numbers. Raises UnreadableError."""
    lines = text_of(content)
    if not lines.strip():
        raise UnreadableError("it is empty", "Write one JSON object a line.")
    reader = _LinesReader()
    for place, line in enumerate(lines.split("\n"), 1):
        if line.strip():
            reader.line(place, line)
        if place == _TRIED and not reader.has_cases:
            raise UnreadableError(f"none of its first {_TRIED} lines is an object", "Write one JSON object a line.")
    return JudgedResults(reader.results(), tuple(reader.findings), JudgedRun(at=reader.at))


class _LinesReader:
    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.at = ""
        """The time that the first line states that has one."""
        self._cases: dict[LineName, JudgedCase] = {}
        self._line = 0

    @property
    def has_cases(self) -> bool:
        """Whether any line was one."""
        return bool(self._cases)

    def results(self) -> tuple[JudgedCase, ...]:
        """The cases, each named by its test, and by the eval, target and sample where the file has several."""
        files, targets, samples = (len({name[part] for name in self._cases}) > 1 for part in (0, 2, 3))
        return tuple(
            case._replace(
                id=_BETWEEN.join(
                    filter(
                        None,
                        (
                            name.file if files else "",
                            name.test,
                            name.target if targets else "",
                            f"sample {name.sample}" if samples and name.sample > 1 else "",
                        ),
                    )
                )
            )
            for name, case in self._cases.items()
        )

    def line(self, place: int, written: str) -> None:
        """Add the case of one line."""
        self._line = place
        try:
            value, findings = parse_json(written, place)
        except UnreadableError as error:
            self._report("error", f"Line {place} cannot be read: {error.what}")
            return
        self.findings += findings
        if not isinstance(value, dict):
            self._report("error", f"Line {place} is no object")
            return
        name = next((name for key in _IDS if (name := name_of(value.get(key)))), f"line {place}")
        target = _BETWEEN.join(filter(None, (name_of(value.get("target")), name_of(value.get("variant")))))
        key = LineName(
            file=name_of(value.get("eval_path")), test=name, target=target, sample=whole(value.get("sample_index")) or 0
        )
        if key in self._cases:
            self._report("warning", f"The case {name[:80]!r} stands twice; the last one counts")
        status = text(value.get("execution_status"))
        failure = text(value.get("error"))
        if status == _FAILED:
            failure = failure or text(value.get("target_error_kind")) or _FAILED
            value = {**value, "score": None}
        if failure:
            self._report("warning", f"The judge failed at the case {name[:80]!r}", failure[:200])
        self.at = self.at or text(value.get("timestamp"))
        judges = value.get("evaluator_results", value.get("scores"))
        opinions = [self._opinion(each, name) for each in items(judges) if isinstance(each, dict)]
        if not opinions:
            named = members(value.get("named_scores")).items()
            opinions = [Opinion(judge, self._score(score, name)) for judge, score in named]
        together = self._opinion(value, name)
        if any(opinion.counts for opinion in opinions):  # a runner may repeat a judge's details for the case
            together = together._replace(counts=())
        if any(opinion.grader for opinion in opinions):  # the score and the verdict of the case are made from theirs
            together = together._replace(grader=together.grader or Grader())
        took = stated(value)
        self._cases[key] = JudgedCase(
            id=name,
            opinion=together,
            judges=tuple(opinions),
            variant=target,
            passed=_VERDICTS.get(status),
            error=failure,
            model=took.model,
            parameters=took.parameters or None,
            usage=took.usage,
        )

    def _opinion(self, value: dict[str, Value], case: str) -> Opinion:
        details = value.get("details")
        hits, misses = _texts(value.get("hits")), _texts(value.get("misses"))
        for each in items(value.get("assertions")):
            if isinstance(each, dict) and isinstance(each.get("passed"), bool):
                said = (text(each.get("text")),)
                hits, misses = (hits + said, misses) if each["passed"] else (hits, misses + said)
        return Opinion(
            name=name_of(value.get("name")),
            score=self._score(value.get("score"), case),
            hits=hits,
            misses=misses,
            reasoning=text(value.get("reasoning")),
            counts=tuple(self._counts(details, case)) if isinstance(details, dict) else (),
            details=details,
            grader=_grader(value),
        )

    def _score(self, value: Value, case: str) -> float | None:
        if value is None:
            return None
        score = share(value)
        if score is None:
            self._report("error", f"The score of the case {case[:80]!r} is no number from 0 to 1, and is left out")
            return None
        return score

    def _counts(self, details: Mapping[str, Value], case: str) -> Iterator[tuple[str, Counts]]:
        """The counts of each attribute, whatever its name; totals only where no attribute has any.

        Attributes stand below ``metrics``, else directly in the details.
        """
        entries = list(_entries(details.get("metrics"))) or _direct(details)
        found = [(name, self._cells(value, case)) for name, value in entries]
        counted = [(name, counts) for name, counts in found if counts is not None]
        if not counted:
            totals = (details.get("metrics"), _unprefixed(details.get("summary")))
            sums = (self._cells(total, case) for total in totals if isinstance(total, dict))
            counted = [("", counts) for counts in sums if counts is not None][:1]
        yield from counted

    def _cells(self, value: Value, case: str) -> Counts | None:
        """The counts that an object holds; None if it holds none.

        One false positive and one false negative alone are one wrong value: there was one value to find, and another
        was given. Where there was more than one value, nobody knows which belong together.
        """
        if not isinstance(value, dict) or not any(key in value for key in _CELLS):
            return None
        numbers = [_count(value.get(key, 0)) for key in _CELLS]
        if None in numbers:
            self._report("error", f"Counts of the case {case[:80]!r} are no whole numbers from 0 up, and are left out")
            return None
        tp, fp, fn, tn = (number or 0 for number in numbers)
        wrong = int((tp, fp, fn, tn) == (0, 1, 1, 0))
        return Counts(tp=tp, fp=fp, fn=fn, tn=tn, omission=fn - wrong, hallucination=fp - wrong, wrong_value=wrong)

    def _report(self, severity: Severity, message: str, value: str = "") -> None:
        self.findings.append(
            Finding(severity=severity, what=message, fix="Correct the judge's results.", line=self._line, value=value)
        )


def _entries(metrics: Value) -> Iterator[tuple[str, Value]]:
    """(attribute, its metrics) of an object by attribute, or of a list of objects that name theirs."""
    if isinstance(metrics, dict):
        yield from ((name, value) for name, value in metrics.items() if isinstance(value, dict))
    for each in items(metrics):
        if isinstance(each, dict):
            name = next((name_of(each.get(key)) for key in _ATTRIBUTES if each.get(key) is not None), "")
            if name:
                yield name, each


def _direct(details: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """(attribute, its counts) of details that hold attributes themselves: ``{"total": {"tp": 1, "fp": 0, "fn": 0}}``.

    Where only ``metrics`` or ``summary`` holds counts, these are totals and no attributes.
    """
    found = {name: value for name, value in details.items() if isinstance(value, dict) and value.keys() >= _COUNTED}
    return [] if found.keys() <= _OF_TOTALS else list(found.items())


def _unprefixed(summary: Value) -> Value:
    """``{"total_tp": 1}`` as ``{"tp": 1}``."""
    if not isinstance(summary, dict):
        return None
    return {key.removeprefix("total_"): value for key, value in summary.items()}


def _count(value: Value) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or value < 0 or value != int(value):
        return None
    return int(value) if value < 10**9 else None


def _grader(evaluator: Mapping[str, Value]) -> Grader | None:
    """The model behind an evaluator, which AgentV calls its target; of several evaluators in one, all of their models.

    The line of a case has a target as well, the model that answered, but no type.
    """
    inner = [_grader(each) for each in map(members, items(evaluator.get("scores"))) if "type" in evaluator]
    graders = [grader for grader in inner if grader is not None]
    if name_of(evaluator.get("type")).replace("_", "-") in _MODEL_GRADED:
        request = members(evaluator.get("input"))
        asked = next((stated for key in _ASKED if (stated := text(request.get(key)))), "")
        graders.append(Grader(grader_name(name_of(evaluator.get("target")), asked)))
    names = dict.fromkeys(grader.name for grader in graders if grader.name)
    return Grader(" and ".join(names)) if graders else None


def _texts(value: Value) -> tuple[str, ...]:
    return tuple(text(each) for each in items(value))


def _recognises(ending: str, head: bytes) -> bool:
    """Any file: what is no JSON Lines is said line by line, with the numbers of the lines."""
    return True


LINES: Final = ResultFormat(
    name="JSON Lines", file_names=("results.jsonl", "index.jsonl"), recognises=_recognises, read=_read
)
