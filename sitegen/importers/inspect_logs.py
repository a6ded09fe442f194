"""Inspect: the logs that ``inspect eval`` writes, as JSON or as an ``.eval`` archive, in version 2 of their layout.

A sample with all of its epochs is a case, and each of its scorers is a judge. The judge's score is that of Inspect's
reducer, or the mean over the epochs if the log has no reductions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, Final, TypeVar

from sitegen.data_files.reading import UnreadableError, read_json
from sitegen.importers import case
from sitegen.importers.tool_values import (
    ToolObject,
    content_of,
    conversation,
    items,
    list_of,
    lone_text,
    members,
    name_of,
    number,
    part,
    stated_confidence,
    text,
    transcript,
    whole,
    written,
)
from sitegen.model.frozen import grouped
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding
from sitegen.model.recorded import Recorded
from sitegen.model.usage import Call, Usage, canonical
from sitegen.text.values import as_json

NumberT = TypeVar("NumberT", int, float)

_VERSION: Final = 2  # of Inspect's format of logs

_FIX: Final = "Let Inspect write the log again."
WORDS: Final = {
    **dict.fromkeys(("C", "yes", "true"), case.RIGHT),
    **dict.fromkeys(("I", "N", "no", "false"), case.WRONG),
    "P": case.AnswerGrade(0.5, False),
}
"""Correct, incorrect, no answer, partial, and truth values, with the numbers that Inspect's metrics give them."""


_MODEL_GRADED: Final = frozenset({"model_graded_qa", "model_graded_fact"})  # scorers of Inspect that ask a model
_MECHANICAL: Final = frozenset(
    {"answer", "choice", "exact", "f1", "includes", "match", "math", "pattern", "perplexity", "target_perplexity"}
)
"""Scorers of Inspect that ask no model."""
_MODEL: Final = ("model", "grader", "grader_model", "judge", "judge_model")
"""Options that name the model, in Inspect's scorers and by convention in others."""
_ROLE: Final = "grader"  # the model role of Inspect's scorers, unless they state another


class _Epoch(ToolObject):
    """One answer to a sample."""

    id = part(name_of, "id")
    scores = part(members, "scores")
    input = part(conversation, "input")
    expected = part(lone_text, "target")
    completion = part(text, "output.completion")
    message = part(content_of, "output.choices.0.message.content")
    error = part(text, "error")
    error_message = part(text, "error.message")
    usage_of_models = part(lambda usage: [members(each) for each in members(usage).values()], "model_usage")
    seconds = part(number, "total_time")
    metadata = part(members, "metadata")
    transcript = part(transcript, "messages")
    number = part(lambda stated: whole(stated) or 1, "epoch")

    @property
    def output(self) -> str:
        return self.completion or self.message

    @property
    def usage(self) -> Usage:
        """The usage of all models that answered. Tokens from a cache count as tokens in."""
        models, keys = self.usage_of_models, ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
        return Usage(
            tokens_in=_sum(whole(model.get(key)) for model in models for key in keys),
            tokens_out=_sum(whole(model.get("output_tokens")) for model in models),
            cost=_sum(number(model.get("total_cost")) for model in models),
            latency=self.seconds,
        )


def _sum(numbers: Iterable[NumberT | None]) -> NumberT | None:
    defined = [number for number in numbers if number is not None]
    return sum(defined) if defined else None


class _Log(ToolObject):
    """A log without its samples."""

    status = part(text, "status")
    why = part(text, "error.message")
    run = part(members, "eval")
    model = part(name_of, "eval.model")
    parameters = part(members, "eval.model_generate_config")
    commit = part(text, "eval.revision.commit")
    created = part(text, "eval.created")

    @cached_property
    def reduced(self) -> Mapping[tuple[str, str], Value]:
        """(scorer, sample id) -> the value of the scorer's first reducer."""
        values: dict[tuple[str, str], Value] = {}
        for reduction in list_of(members)(self.members.get("reductions")):
            for sample in list_of(members)(reduction.get("samples")):
                key = name_of(reduction.get("scorer")), name_of(sample.get("sample_id"))
                values.setdefault(key, sample.get("value"))
        return values

    @cached_property
    def graders(self) -> dict[str, case.Grader]:
        return graders_of(self.run)

    def opinions(
        self, sample: str, epochs: list[_Epoch], grade: Callable[[str, Value], case.AnswerGrade]
    ) -> Iterator[case.Opinion]:
        """Yield the opinions of all scorers. If a scorer gives several values, each has a separate name."""
        stated = grouped(
            (name, (epoch, scorer, members(score), value))
            for epoch in epochs
            for scorer, score in epoch.scores.items()
            for name, value in _named_values(scorer, members(score).get("value"))
        )
        for name, answers in stated.items():
            scorer = answers[0][1]
            reduced = dict(_named_values(scorer, self.reduced.get((scorer, sample))))
            reasons = ((epoch.number, text(score.get("explanation"))) for epoch, _, score, _ in answers)
            details: list[Value] = [
                {"epoch": epoch.number, "value": value}
                | {key: score[key] for key in ("answer", "metadata") if score.get(key)}
                for epoch, _, score, value in answers
            ]
            yield case.graded(
                name,
                [grade(name, value) for *_, value in answers],
                score=grade(name, reduced.get(name)).score,
                reasoning="; ".join(f"{of}: {why}" if len(epochs) > 1 else why for of, why in reasons if why),
                details=details,
                grader=self.graders.get(scorer),
            )

    def judged(self, name: str, in_log: list[_Epoch], off_scale: Counter[str]) -> case.JudgedCase:
        def grade(score: str, value: Value) -> case.AnswerGrade:
            known = case.grade_of(value, WORDS)
            if known is None:
                off_scale[score] += 1
            return known or case.AnswerGrade(None)

        epochs = sorted(in_log, key=lambda epoch: epoch.number)
        output = epochs[0].output
        if len(epochs) > 1:
            output = text("\n\n".join(f"{epoch.number}: {epoch.output}" for epoch in epochs if epoch.output))
        # That of a scorer that asks a model is the judge's.
        of_scorers = [
            members(members(score).get("metadata"))
            for scorer, score in epochs[0].scores.items()
            if scorer not in self.graders
        ]
        usage: Any = zip(*(epoch.usage for epoch in epochs), strict=True)
        return case.JudgedCase(
            id=name,
            opinion=case.Opinion("", None),
            judges=tuple(self.opinions(name, epochs, grade)),
            input=in_log[0].input,
            expected=in_log[0].expected,
            output=output,
            error=next((error for epoch in epochs if (error := epoch.error or epoch.error_message)), ""),
            call=Call(Usage(*map(_sum, usage)), self.model, canonical(self.parameters)),
            confidence=stated_confidence(*of_scorers, in_log[0].metadata) if len(epochs) == 1 else None,
            texts=case.texts_of(in_log[0].metadata),
            answers=len(epochs),
            repeats=tuple(self.judged("", [epoch], Counter()) for epoch in epochs) if len(epochs) > 1 else (),
            transcript=tuple(chain.from_iterable(epoch.transcript for epoch in epochs)),
        )


def read(content: bytes) -> case.JudgedResults:
    """Read a log, packed or as JSON. Raises UnreadableError."""
    findings: list[Finding] = []
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        value, odd = read_json(content)
        findings += odd
        samples: Iterable[Value] = items(members(value).get("samples"))
    else:
        from sitegen.importers.inspect_archive import unpacked

        value, samples = unpacked(content, findings)
    version = members(value).get("version")
    if version != _VERSION or isinstance(version, bool):
        stated = f"version {written(version)[:20]}" if version is not None else "no version"
        raise UnreadableError(
            f"it has {stated} of Inspect's logs, and only version {_VERSION} is known",
            "Convert it with `inspect log convert` of a version of Inspect that writes this one.",
        )
    log, off_scale = _Log(value), Counter[str]()
    numbered = enumerate(map(_Epoch, filter(members, samples)), 1)
    epochs = grouped((epoch.id or f"sample {place}", epoch) for place, epoch in numbered)
    cases = [log.judged(name, of_sample, off_scale) for name, of_sample in epochs.items()]
    findings += case.findings_of_samples(cases, off_scale)
    if log.status != "success":
        message = f"The run ended with the status {log.status[:40]!r}: samples may be missing"
        findings.append(Finding("warning", message, _FIX, value=log.why[:200]))
    if not cases:
        fix = "Let Inspect log samples (`--log-samples`)."
        findings.append(Finding("error", "There are no samples in the log", fix))
    run = Recorded(timestamp=log.created.strip() or None, git_commit=log.commit.strip().lower() or None)
    return case.JudgedResults(tuple(cases), tuple(findings), run).with_confidences()


def graders_of(header: Mapping[str, Value]) -> dict[str, case.Grader]:
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

    def grader(options: Mapping[str, Value]) -> case.Grader:
        role = _model_names(options.get("model_role")) or _ROLE
        stated = next((options[key] for key in _MODEL if options.get(key)), None)
        model = _model_names(stated) or _model_names(roles.get(role)) or name_of(header.get("model"))
        prompt_options: dict[str, Value] = {
            key: value for key, value in sorted(options.items()) if value and key not in (*_MODEL, "model_role")
        }
        return case.Grader(case.grader_name(model, as_json(prompt_options) if prompt_options else ""))

    of_models = {
        name: grader(options)
        for name, (scorer, options) in scorers.items()
        if scorer in _MODEL_GRADED or any(options.get(key) for key in (*_MODEL, "model_role"))
    }
    if of_models or _ROLE not in roles:
        return of_models
    return {name: grader(options) for name, (scorer, options) in scorers.items() if scorer not in _MECHANICAL}


def _model_names(value: Value) -> str:
    """Return the name of a model, or the names of several that vote, in any form that logs have."""
    if isinstance(value, list):
        return " and ".join(filter(None, map(_model_names, value)))
    return name_of(value) or name_of(members(value).get("model")) or name_of(members(value).get("name"))


def _named_values(scorer: str, value: Value) -> Iterator[tuple[str, Value]]:
    """(name, value) of each value of a scorer. Nothing for null."""
    if isinstance(value, dict | list):
        members_of_value = value.items() if isinstance(value, dict) else enumerate(value, 1)
        yield from ((f"{scorer}: {key}", member) for key, member in members_of_value)
    elif value is not None:
        yield scorer, value
