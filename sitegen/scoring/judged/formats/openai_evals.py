"""OpenAI evals: the log of events that ``oaieval`` records, one JSON object a line.

The first line is the specification of the run; each other one is an event of a sample: what was asked and answered
(``sampling``, with the tokens that this took), whether it matched (``match``), its metrics (``metrics``), or an error.
Where a model grades, its answer is the last ``sampling`` of the sample, and every value of ``metrics`` is its opinion.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from sitegen.data_files.json_reader import parse_json
from sitegen.data_files.reading import UnreadableError, text_of
from sitegen.model.problems import Finding
from sitegen.model.usage import stated
from sitegen.model.values import Value
from sitegen.scoring.judged.case import Grader, JudgedCase, JudgedResults, JudgedRun, Opinion, Usage, grader_name
from sitegen.scoring.judged.formats.grades import Grade, Graded, grade_of, names_of_fields, opinions, passed
from sitegen.scoring.judged.formats.json_values import items, members, name_of, text, truth, written
from sitegen.scoring.judged.formats.result_format import ResultFormat
from sitegen.text.values import as_json

_BEGINNING = re.compile(rb'\s*\{\s*"spec"\s*:\s*\{')
_DIGITS = re.compile(r"([0-9]{1,18})")
_FIX: Final = "Let oaieval record the run again."

MATCH: Final = "match"


_JUDGE: Final = ("modelgraded_spec", "modelgraded_spec_args", "eval_type", "eval_kwargs", "match_fn")
"""Arguments of an eval that say what its grader is asked, and how its answer is read."""


class Sampling(NamedTuple):
    """One call of a model."""

    input: str
    output: str
    took: Usage


class SampleEvents(NamedTuple):
    """What the events of one sample say."""

    grades: dict[str, list[Grade]]
    """By metric; ``match`` is one of them."""
    texts: dict[str, str]
    """expected, output, error, and the reasoning of a grader: the last of each."""
    samplings: list[Sampling]
    """Those of answers; what a grader said is none of them."""


def _recognises(ending: str, head: bytes) -> bool:
    return ending == "jsonl" and _BEGINNING.match(head) is not None


def _read(content: bytes) -> JudgedResults:
    reader = _OpenaiEvalsReader()
    for place, line in enumerate(text_of(content).split("\n"), 1):
        if line.strip():
            reader.line(place, line)
    if not reader.samples:
        raise UnreadableError("it has no events of samples", _FIX)
    return JudgedResults(reader.cases(), tuple(reader.findings), reader.run())


class _OpenaiEvalsReader:
    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.samples: dict[str, SampleEvents] = {}
        self._spec: Mapping[str, Value] = {}
        self._off_scale: dict[str, int] = {}

    def line(self, place: int, line: str) -> None:
        """Take in one line."""
        try:
            value, findings = parse_json(line, place)
        except UnreadableError as error:
            self.findings.append(
                Finding(severity="error", what=f"Line {place} cannot be read: {error.what}", fix=_FIX, line=place)
            )
            return
        self.findings += findings
        event = members(value)
        self._spec = self._spec or members(event.get("spec"))
        if sample := name_of(event.get("sample_id")):
            known = self.samples.setdefault(sample, SampleEvents(grades={}, texts={}, samplings=[]))
            self._take(known, text(event.get("type")), members(event.get("data")))

    def cases(self) -> tuple[JudgedCase, ...]:
        """A case of each sample. Events are written as answers arrive; the order of cases is that of their names."""
        names = sorted(self.samples, key=_order)
        graded = [self._graded(self.samples[name]) for name in names]
        fields = names_of_fields(graded)
        model = written(next(iter(items(self._spec.get("completion_fns"))), ""))
        cases = []
        for name, scores in zip(names, graded, strict=True):
            judges, texts = opinions(scores, fields), self.samples[name].texts
            answers = self.samples[name].samplings
            case = JudgedCase(
                id=name,
                opinion=Opinion("", None),
                judges=judges,
                passed=passed(judges),
                input=answers[-1].input if answers else "",
                expected=texts.get("expected", ""),
                output=texts.get("output", "") or (answers[-1].output if answers else ""),
                error=texts.get("error", ""),
                model=model,
                usage=_together([answer.took for answer in answers]),
            )
            if case.error:
                message = f"The sample {name[:80]!r} ended with an error"
                self.findings.append(Finding("warning", message, _FIX, value=case.error[:200]))
            cases.append(case)
        for metric, times in self._off_scale.items():
            message = f"Values of the metric {metric[:80]!r} are no numbers from 0 to 1, and are left out: {times}"
            self.findings.append(Finding("warning", message, "Nothing, if the eval means it so."))
        return tuple(cases)

    def run(self) -> JudgedRun:
        """What the specification says."""
        return JudgedRun(tool="OpenAI evals", at=text(self._spec.get("created_at")))

    @property
    def _grader(self) -> Grader | None:
        """The model that grades, as the specification states it: the last of those that the run was started with."""
        arguments = members(members(members(self._spec.get("run_config")).get("eval_spec")).get("args"))
        if not arguments.get("modelgraded_spec"):
            return None
        asked: dict[str, Value] = {key: arguments[key] for key in _JUDGE if arguments.get(key)}
        models = items(self._spec.get("completion_fns"))
        return Grader(grader_name(written(models[-1]) if models else "", as_json(asked)))

    def _graded(self, sample: SampleEvents) -> dict[str, Graded]:
        grader = self._grader
        return {
            name: Graded(
                tuple(grades),
                reasoning=sample.texts.get("reasoning", "") if name != MATCH else "",
                grader=grader if name != MATCH else None,
            )
            for name, grades in sample.grades.items()
        }

    def _take(self, sample: SampleEvents, kind: str, data: Mapping[str, Value]) -> None:
        if kind == MATCH and (right := truth(data.get("correct"))) is not None:
            sample.grades.setdefault(MATCH, []).append(Grade(float(right), right))
            sample.texts["expected"] = _shown(data.get("expected"))
            if answer := _shown(data.get("sampled", data.get("picked"))):
                sample.texts["output"] = answer
        elif kind == "metrics":
            if self._grader and sample.samplings:
                sample.texts["reasoning"] = sample.samplings.pop().output
            for name, value in data.items():
                if (grade := grade_of(value, {})) is not None:
                    sample.grades.setdefault(name, []).append(grade)
                elif not isinstance(value, str):
                    self._off_scale[name] = self._off_scale.get(name, 0) + 1
        elif kind == "sampling":
            call = Sampling(_prompt(data.get("prompt")), _shown(data.get("sampled")), stated(data).usage)
            sample.samplings.append(call)
        elif kind == "error":
            sample.texts["error"] = text(data.get("message")) or text(data.get("type")) or "error"


def _shown(value: Value) -> str:
    """A text; of a list of one its text."""
    several = items(value)
    return written(several[0] if len(several) == 1 else value)


def _prompt(value: Value) -> str:
    """What was asked: of a conversation every message under its role."""
    messages = [members(each) for each in items(value)]
    if not messages or not all("content" in message for message in messages):
        return written(value)
    return written(
        "\n\n".join(f"{name_of(message.get('role'))}: {written(message['content'])}" for message in messages)
    )


def _together(answers: list[Usage]) -> Usage:
    """What all answers of a sample took together; nothing where one of them does not say."""
    read, wrote = [answer.tokens_in for answer in answers], [each.tokens_out for each in answers]
    return Usage(
        tokens_in=sum(number or 0 for number in read) if read and None not in read else None,
        tokens_out=sum(number or 0 for number in wrote) if wrote and None not in wrote else None,
    )


def _order(name: str) -> tuple[tuple[int, str], ...]:
    """Numbers in a name by their value: ``dev.2`` before ``dev.10``."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(name) if part)


OPENAI_EVALS: Final = ResultFormat(name="OpenAI evals", file_names=(), recognises=_recognises, read=_read)
