"""Inspect: the logs that ``inspect eval`` writes, as JSON or as an ``.eval`` archive, in version 2 of their layout.

A sample with all of its epochs is a case, and each of its scorers is a judge. The judge's score is that of Inspect's
reducer, or the mean over the epochs if the log has no reductions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, TypeVar

from sitegen.data_files.reading import UnreadableError, read_json
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
from sitegen.importers.tool_values import items, lone_item, members, name_of, number, text, whole, written
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding
from sitegen.model.recorded import Recorded
from sitegen.model.usage import Call, Usage, canonical
from sitegen.text.values import as_json

NumberT = TypeVar("NumberT", int, float)


class Epoch(Frozen):
    """One answer to a sample."""

    number: int
    scores: dict[str, Value]
    """The score objects by scorer."""
    input: str
    expected: str
    output: str
    error: str
    usage: Usage


def samples_of(raw: Iterable[Value]) -> dict[str, list[Epoch]]:
    """Return the epochs of each sample in the order of the log. ``raw`` holds one object for each of them."""
    samples: dict[str, list[Epoch]] = {}
    for place, entry in enumerate(filter(None, map(members, raw)), 1):
        error, output = entry.get("error"), members(entry.get("output"))
        choice = members(next(iter(items(output.get("choices"))), None))
        answer = text(output.get("completion")) or _message_text(members(choice.get("message")).get("content"))
        # The usage of all models that answered. Tokens from a cache count as tokens in.
        models = [members(usage) for usage in members(entry.get("model_usage")).values()]
        input_keys = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
        usage = Usage(
            tokens_in=_sum(whole(model.get(key)) for model in models for key in input_keys),
            tokens_out=_sum(whole(model.get("output_tokens")) for model in models),
            cost=_sum(number(model.get("total_cost")) for model in models),
            latency=number(entry.get("total_time")),
        )
        epoch = Epoch(
            number=whole(entry.get("epoch")) or 1,
            scores=members(entry.get("scores")),
            input=_conversation(entry.get("input")),
            expected=written(lone_item(entry.get("target"))),
            output=answer,
            error=text(error) or text(members(error).get("message")),
            usage=usage,
        )
        samples.setdefault(name_of(entry.get("id")) or f"sample {place}", []).append(epoch)
    return samples


def _sum(numbers: Iterable[NumberT | None]) -> NumberT | None:
    defined = [number for number in numbers if number is not None]
    return sum(defined) if defined else None


def _conversation(value: Value) -> str:
    """The input as text. Each message of a conversation begins with its role."""
    if not isinstance(value, list):
        return text(value)
    messages = map(members, value)
    return text("\n\n".join(f"{name_of(row.get('role'))}: {_message_text(row.get('content'))}" for row in messages))


def _message_text(content: Value) -> str:
    """The text of a message, whose content may be a list of parts."""
    return text(content) or text("".join(text(members(part).get("text")) for part in items(content)))


VERSION: Final = 2

_FIX: Final = "Let Inspect write the log again."
WORDS: Final = {
    "C": AnswerGrade(1.0, True),
    "I": AnswerGrade(0.0, False),
    "P": AnswerGrade(0.5, False),
    "N": AnswerGrade(0.0, False),
    "yes": AnswerGrade(1.0, True),
    "true": AnswerGrade(1.0, True),
    "no": AnswerGrade(0.0, False),
    "false": AnswerGrade(0.0, False),
}
"""Correct, incorrect, partial, no answer, and truth values, with the numbers that Inspect's metrics give them."""


_MODEL_GRADED: Final = frozenset({"model_graded_qa", "model_graded_fact"})
"""Scorers of Inspect that ask a model."""
_MECHANICAL: Final = frozenset(
    {"answer", "choice", "exact", "f1", "includes", "match", "math", "pattern", "perplexity", "target_perplexity"}
)
"""Scorers of Inspect that ask no model."""
_MODEL: Final = ("model", "grader", "grader_model", "judge", "judge_model")
"""Options that name the model, in Inspect's scorers and by convention in others."""
_ROLE: Final = "grader"
"""The model role of Inspect's scorers, unless they state another."""


def read(content: bytes, grades: Collection[str]) -> JudgedResults:
    """Read a log, packed or as JSON. Raises UnreadableError."""
    findings: list[Finding] = []
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        value, odd = read_json(content)
        findings += odd
        log = members(value)
        samples: Iterable[Value] = items(log.get("samples"))
    else:
        from sitegen.importers.inspect_archive import unpacked

        log, samples = unpacked(content, findings)
    version = log.get("version")
    if version != VERSION or isinstance(version, bool):
        stated = f"version {written(version)[:20]}" if version is not None else "no version"
        raise UnreadableError(
            f"it has {stated} of Inspect's logs, and only version {VERSION} is known",
            "Convert it with `inspect log convert` of a version of Inspect that writes this one.",
        )
    reader = _InspectReader(log, findings)
    cases, own_grades = with_fields(reader.cases(samples_of(samples)), grades)
    return JudgedResults(cases, tuple(findings), reader.run(), grades=own_grades)


def graders_of(header: Mapping[str, Value]) -> dict[str, Grader]:
    """Return the graders by scorer, from the member ``eval`` of a log. Scorers that ask no model are left out.

    A scorer that names no model uses the model of its role. Without either, Inspect's own scorers use the evaluated
    model. A custom scorer may ask the grader of the run without stating it: this is assumed if the run has a grader and
    no scorer is certain to be a model.
    """
    roles = members(header.get("model_roles"))
    scorers: dict[str, tuple[str, dict[str, Value]]] = {}  # scores are numbered if a scorer is used several times
    for stated in map(members, items(header.get("scorers"))):
        scorer = name_of(stated.get("name")).rpartition("/")[2]
        earlier = sum(name == scorer for name, _ in scorers.values())
        scorers[f"{scorer}{earlier or ''}"] = scorer, members(stated.get("options"))

    def grader(options: Mapping[str, Value]) -> Grader:
        role = _model_names(options.get("model_role")) or _ROLE
        stated = next((options[key] for key in _MODEL if options.get(key)), None)
        model = _model_names(stated) or _model_names(roles.get(role)) or name_of(header.get("model"))
        prompt_options: dict[str, Value] = {
            key: value for key, value in sorted(options.items()) if value and key not in (*_MODEL, "model_role")
        }
        return Grader(grader_name(model, as_json(prompt_options) if prompt_options else ""))

    of_models = {
        name: grader(options)
        for name, (scorer, options) in scorers.items()
        if scorer in _MODEL_GRADED or any(options.get(key) for key in (*_MODEL, "model_role"))
    }
    if of_models or _ROLE not in roles:
        return of_models
    return {name: grader(options) for name, (scorer, options) in scorers.items() if scorer not in _MECHANICAL}


def _model_names(value: Value) -> str:
    """The name of a model, or the names of several that vote, in any form that logs have."""
    if isinstance(value, list):
        return " and ".join(filter(None, map(_model_names, value)))
    return name_of(value) or name_of(members(value).get("model")) or name_of(members(value).get("name"))


class _InspectReader:
    def __init__(self, log: Mapping[str, Value], findings: list[Finding]) -> None:
        self._log = log
        self._eval = members(log.get("eval"))
        self._findings = findings
        self._reduced: dict[tuple[str, str], Value] = {}
        """(scorer, sample id) -> the value of the scorer's first reducer."""
        for reduction in map(members, items(log.get("reductions"))):
            for sample in map(members, items(reduction.get("samples"))):
                key = name_of(reduction.get("scorer")), name_of(sample.get("sample_id"))
                self._reduced.setdefault(key, sample.get("value"))
        self._off_scale: Counter[str] = Counter()
        self._graders = graders_of(self._eval)

    def run(self) -> Recorded:
        """Return what the log states about the run."""
        commit = text(members(self._eval.get("revision")).get("commit")).strip().lower()
        return Recorded(timestamp=text(self._eval.get("created")).strip() or None, git_commit=commit or None)

    def cases(self, samples: Mapping[str, Sequence[Epoch]]) -> list[JudgedCase]:
        """Return a case for each sample, in the order of the log."""
        cases = list(map(self._case, samples, samples.values()))
        status = text(self._log.get("status"))
        if status != "success":
            why = text(members(self._log.get("error")).get("message"))
            message = f"The run ended with the status {status[:40]!r}: samples may be missing"
            self._findings.append(Finding("warning", message, _FIX, value=why[:200]))
        if not cases:
            fix = "Let Inspect log samples (`--log-samples`)."
            self._findings.append(Finding("error", "There are no samples in the log", fix))
        for name, times in self._off_scale.items():
            message = f"Scores of {name[:80]!r} are not numbers from 0 to 1, and are left out: {times}"
            fix = "Nothing has to be done if the scorer intends this."
            self._findings.append(Finding("warning", message, fix))
        return cases

    def _opinions(self, name_of_sample: str, epochs: Sequence[Epoch]) -> tuple[Opinion, ...]:
        """The opinions of all scorers. If a scorer gives several values, each has a separate name."""
        grades: dict[str, list[AnswerGrade]] = {}
        details: dict[str, list[Value]] = {}
        reasons: dict[str, list[str]] = {}
        scorers: dict[str, str] = {}
        for epoch in epochs:
            for scorer, score in zip(epoch.scores, map(members, epoch.scores.values()), strict=True):
                explanation = text(score.get("explanation"))
                if explanation and len(epochs) > 1:
                    explanation = f"{epoch.number}: {explanation}"
                for name, value in _named_values(scorer, score.get("value")):
                    scorers[name] = scorer
                    grades.setdefault(name, []).append(self._grade(name, value))
                    reasons.setdefault(name, []).append(explanation)
                    stated = {key: score[key] for key in ("answer", "metadata") if score.get(key)}
                    details.setdefault(name, []).append({"epoch": epoch.number, "value": value, **stated})
        reduced = {
            name: self._grade(name, value).score
            for scorer in dict.fromkeys(scorer for epoch in epochs for scorer in epoch.scores)
            for name, value in _named_values(scorer, self._reduced.get((scorer, name_of_sample)))
        }
        return tuple(
            graded(
                name,
                of_epochs,
                score=reduced.get(name),
                reasoning="; ".join(filter(None, reasons[name])),
                details=details[name],
                grader=self._graders.get(scorers[name]),
            )
            for name, of_epochs in grades.items()
        )

    def _case(self, name: str, in_log: Sequence[Epoch]) -> JudgedCase:
        epochs = sorted(in_log, key=attrgetter("number"))
        output = epochs[0].output
        if len(epochs) > 1:
            output = text("\n\n".join(f"{epoch.number}: {epoch.output}" for epoch in epochs if epoch.output))
        usage: Any = zip(*(epoch.usage for epoch in epochs), strict=True)
        error = next((epoch.error for epoch in epochs if epoch.error), "")
        if error:
            message = f"The sample {name[:80]!r} ended with an error"
            fix = "Run the task again, if the sample should count."
            self._findings.append(Finding("warning", message, fix, value=error[:200]))
        return JudgedCase(
            id=name,
            opinion=Opinion("", None),
            judges=self._opinions(name, epochs),
            input=in_log[0].input,
            expected=in_log[0].expected,
            output=output,
            error=error,
            call=Call(
                usage=Usage(*map(_sum, usage)),
                model=name_of(self._eval.get("model")),
                parameters=canonical(members(self._eval.get("model_generate_config"))),
            ),
        )

    def _grade(self, name: str, value: Value) -> AnswerGrade:
        grade = grade_of(value, WORDS)
        if grade is None:
            self._off_scale[name] += 1
            return AnswerGrade(None)
        return grade


def _named_values(scorer: str, value: Value) -> Iterator[tuple[str, Value]]:
    """(name, value) of each value of a scorer. Nothing for null."""
    if isinstance(value, dict | list):
        members_of_value = value.items() if isinstance(value, dict) else enumerate(value, 1)
        yield from ((f"{scorer}: {key}", member) for key, member in members_of_value)
    elif value is not None:
        yield scorer, value
