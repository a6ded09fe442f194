"""OpenAI evals: the log of events that ``oaieval`` records, one JSON object a line.

The first line is the specification of the run. Every other line is an event of a sample: a call of a model
(``sampling``, with its tokens), whether the answer matched (``match``), its metrics (``metrics``), or an error.
If a model grades, its answer is the last ``sampling`` of the sample, and every value of ``metrics`` is its opinion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final, TypeAlias

from sitegen.data_files.reading import UnreadableError, json_lines
from sitegen.importers.case import (
    AnswerGrade,
    Grader,
    JudgedCase,
    JudgedResults,
    Opinion,
    grade_of,
    graded,
    grader_name,
    with_fields,
)
from sitegen.importers.tool_values import items, lone_item, members, name_of, text, truth, written
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding
from sitegen.model.recorded import Recorded
from sitegen.model.usage import Call, Usage, stated
from sitegen.text.plain import natural_order
from sitegen.text.values import as_json

_FIX: Final = "Let oaieval record the run again."

_MATCH: Final = "match"

_JUDGE: Final = ("modelgraded_spec", "modelgraded_spec_args", "eval_type", "eval_kwargs", "match_fn")
"""Arguments of an eval that define what its grader is asked, and how its answer is read."""


SampleEvents: TypeAlias = tuple[dict[str, list[AnswerGrade]], dict[str, str], list[Mapping[str, Value]]]
"""The events of one sample.

The grades by metric, of which ``match`` is one. The last of each text: expected, output, error, and the reasoning of a
grader. The calls that gave an answer, except calls of a grader.
"""


def read(content: bytes, grades: Collection[str]) -> JudgedResults:
    """Read the events of a run. Raises UnreadableError."""
    reader = _OpenaiEvalsReader()
    for _, value in json_lines(content, reader.findings, _FIX):
        reader.add(members(value))
    if not reader.samples:
        raise UnreadableError("it has no events of samples", _FIX)
    cases, own_grades = with_fields(reader.cases(), grades)
    return JudgedResults(cases, tuple(reader.findings), reader.run(), grades=own_grades)


class _OpenaiEvalsReader:
    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.samples: dict[str, SampleEvents] = {}
        self._spec: Mapping[str, Value] = {}
        self._off_scale: Counter[str] = Counter()

    def add(self, event: Mapping[str, Value]) -> None:
        self._spec = self._spec or members(event.get("spec"))
        name, kind, data = name_of(event.get("sample_id")), text(event.get("type")), members(event.get("data"))
        if not name:
            return
        grades, texts, samplings = self.samples.setdefault(name, ({}, {}, []))
        if kind == _MATCH and (right := truth(data.get("correct"))) is not None:
            grades.setdefault(_MATCH, []).append(AnswerGrade(float(right), right))
            texts["expected"] = written(lone_item(data.get("expected")))
            if answer := written(lone_item(data.get("sampled", data.get("picked")))):
                texts["output"] = answer
        elif kind == "metrics":
            if self._grader and samplings:
                texts["reasoning"] = _answer(samplings.pop())
            for name, value in data.items():
                if (grade := grade_of(value, {})) is not None:
                    grades.setdefault(name, []).append(grade)
                elif not isinstance(value, str):
                    self._off_scale[name] += 1
        elif kind == "sampling":
            samplings.append(data)
        elif kind == "error":
            texts["error"] = text(data.get("message")) or text(data.get("type")) or "error"

    def cases(self) -> list[JudgedCase]:
        """Return a case for each sample, in the order of their names: events are written as answers arrive."""
        model = written(next(iter(items(self._spec.get("completion_fns"))), ""))
        cases = []
        grader = self._grader
        for name in sorted(self.samples, key=natural_order):
            grades, texts, answers = self.samples[name]
            calls = [stated(answer).usage for answer in answers]
            usage = Usage(
                tokens_in=_sum_if_complete([call.tokens_in for call in calls]),
                tokens_out=_sum_if_complete([call.tokens_out for call in calls]),
            )
            case = JudgedCase(
                id=name,
                opinion=Opinion("", None),
                judges=tuple(
                    graded(metric, values)
                    if metric == _MATCH
                    else graded(metric, values, reasoning=texts.get("reasoning", ""), grader=grader)
                    for metric, values in grades.items()
                ),
                input=_conversation(answers[-1].get("prompt")) if answers else "",
                expected=texts.get("expected", ""),
                output=texts.get("output", "") or (_answer(answers[-1]) if answers else ""),
                error=texts.get("error", ""),
                call=Call(usage=usage, model=model),
            )
            if case.error:
                message = f"The sample {name[:80]!r} ended with an error"
                self.findings.append(Finding("warning", message, _FIX, value=case.error[:200]))
            cases.append(case)
        for metric, times in self._off_scale.items():
            message = f"Values of the metric {metric[:80]!r} are not numbers from 0 to 1, and are left out: {times}"
            self.findings.append(Finding("warning", message, "Nothing has to be done if the eval intends this."))
        return cases

    def run(self) -> Recorded:
        """Return what the specification states about the run."""
        return Recorded(timestamp=text(self._spec.get("created_at")).strip() or None)

    @property
    def _grader(self) -> Grader | None:
        """The model that grades: the last one in the specification of the run."""
        arguments = members(members(members(self._spec.get("run_config")).get("eval_spec")).get("args"))
        if not arguments.get("modelgraded_spec"):
            return None
        judge_arguments: dict[str, Value] = {key: arguments[key] for key in _JUDGE if arguments.get(key)}
        models = items(self._spec.get("completion_fns"))
        return Grader(grader_name(written(models[-1]) if models else "", as_json(judge_arguments)))


def _answer(sampling: Mapping[str, Value]) -> str:
    return written(lone_item(sampling.get("sampled")))


def _conversation(value: Value) -> str:
    """The prompt as text. Each message of a conversation begins with its role."""
    messages = list(map(members, items(value)))
    if not messages or not all("content" in message for message in messages):
        return written(value)
    return text("\n\n".join(f"{name_of(row.get('role'))}: {written(row['content'])}" for row in messages))


def _sum_if_complete(numbers: list[int | None]) -> int | None:
    defined = [number for number in numbers if number is not None]
    return sum(defined) if defined and len(defined) == len(numbers) else None
