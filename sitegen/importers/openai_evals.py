"""OpenAI evals: the log of events that ``oaieval`` records, one JSON object a line.

The first line is the specification of the run. Every other line is an event of a sample: a call of a model
(``sampling``, with its tokens), whether the answer matched (``match``), its metrics (``metrics``), or an error.
If a model grades, its answer is the last ``sampling`` of the sample, and every value of ``metrics`` is its opinion.
"""

from collections import Counter
from typing import Final

from sitegen.data_files.reading import UnreadableError, json_lines
from sitegen.importers import case
from sitegen.importers.tool_values import (
    ToolObject,
    anything,
    conversation,
    items,
    lone_text,
    members,
    name_of,
    part,
    text,
    transcript,
    truth,
    value_at,
    written,
)
from sitegen.model.frozen import grouped
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


class _Event(ToolObject):
    """An event of a sample."""

    sample = part(name_of, "sample_id")
    type = part(text, "type")
    data = part(members, "data")
    right = part(truth, "data.correct")
    expected = part(lone_text, "data.expected")
    sampled = part(lone_text, "data.sampled")
    picked = part(lone_text, "data.picked")
    prompt = part(conversation, "data.prompt")
    messages = part(anything, "data.prompt")
    message = part(text, "data.message")
    error = part(text, "data.type")


def read(content: bytes) -> case.JudgedResults:
    """Read the events of a run. Raises UnreadableError."""
    findings: list[Finding] = []
    lines = [members(value) for _, value in json_lines(content, findings, _FIX)]
    spec = members(next((line["spec"] for line in lines if line.get("spec")), None))
    models = list(map(written, items(spec.get("completion_fns"))))
    arguments = members(value_at(spec, "run_config.eval_spec.args"))
    judge: dict[str, Value] = {key: arguments[key] for key in _JUDGE if arguments.get(key)}
    is_graded = bool(arguments.get("modelgraded_spec"))  # by the last model of the run
    grader = case.Grader(case.grader_name(models[-1] if models else "", as_json(judge))) if is_graded else None
    samples = grouped((event.sample, event) for event in map(_Event, lines) if event.sample)
    if not samples:
        raise UnreadableError("it has no events of samples", _FIX)
    off_scale: Counter[str] = Counter()
    # In the order of their names: events are written as answers arrive.
    cases = [_case(samples[name], models[:1], grader, off_scale) for name in sorted(samples, key=natural_order)]
    findings += case.findings_of_samples(cases, off_scale)
    run = Recorded(timestamp=text(spec.get("created_at")).strip() or None)
    return case.JudgedResults(tuple(cases), tuple(findings), run)


def _case(
    events: list[_Event], models: list[str], grader: case.Grader | None, off_scale: Counter[str]
) -> case.JudgedCase:
    """Return the case of a sample. Of each text, the last one counts."""
    grades: dict[str, list[case.AnswerGrade]] = {}
    expected = output = error = reasoning = ""
    answers: list[_Event] = []  # without those of a grader
    for event in events:
        if event.type == _MATCH and event.right is not None:
            grades.setdefault(_MATCH, []).append(case.RIGHT if event.right else case.WRONG)
            expected, output = event.expected, event.sampled or event.picked or output
        elif event.type == "metrics":
            if grader and answers:
                reasoning = answers.pop().sampled
            for metric, value in event.data.items():
                if (grade := case.grade_of(value, {})) is not None:
                    grades.setdefault(metric, []).append(grade)
                elif not isinstance(value, str):
                    off_scale[metric] += 1
        elif event.type == "sampling":
            answers.append(event)
        elif event.type == "error":
            error = event.message or event.error or "error"
    sizes = [stated(answer.data).usage[:2] for answer in answers] or [(None, None)]
    tokens_in, tokens_out = (None if None in each else sum(filter(None, each)) for each in zip(*sizes, strict=True))
    last = answers[-1] if answers else _Event(None)
    return case.JudgedCase(
        id=events[0].sample,
        opinion=case.Opinion("", None),
        judges=tuple(
            case.graded(metric, values)
            if metric == _MATCH
            else case.graded(metric, values, reasoning=reasoning, grader=grader)
            for metric, values in grades.items()
        ),
        input=last.prompt,
        expected=expected,
        output=output or last.sampled,
        error=error,
        transcript=transcript(last.messages, [{"role": "assistant", "content": each.sampled} for each in answers[-1:]]),
        call=Call(Usage(tokens_in=tokens_in, tokens_out=tokens_out), model="".join(models)),
    )
