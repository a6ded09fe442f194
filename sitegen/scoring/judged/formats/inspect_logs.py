"""Inspect: the logs that ``inspect eval`` writes, as JSON or as an ``.eval`` archive, in version 2 of their layout.

A sample is a case, whatever the number of its epochs, and each of its scorers is a judge. What Inspect's reducer made
of the epochs is the judge's score; without reductions in the log it is their mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from sitegen.data_files.json_reader import read_json
from sitegen.data_files.reading import UnreadableError
from sitegen.model.problems import Finding, Severity
from sitegen.model.values import Value
from sitegen.scoring.judged.case import Grader, JudgedCase, JudgedResults, JudgedRun, Opinion
from sitegen.scoring.judged.formats.grades import Grade, Graded, grade_of, names_of_fields, opinions, passed
from sitegen.scoring.judged.formats.inspect_graders import graders_of
from sitegen.scoring.judged.formats.inspect_samples import LogSample, samples_of
from sitegen.scoring.judged.formats.json_values import items, members, name_of, text, written
from sitegen.scoring.judged.formats.result_format import ResultFormat

VERSION: Final = 2

_ARCHIVE: Final = "eval"
"""The ending of an archive."""

_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"')
_FIX: Final = "Let Inspect write the log again."
WORDS: Final = {
    "C": Grade(1.0, True),
    "I": Grade(0.0, False),
    "P": Grade(0.5, False),
    "N": Grade(0.0, False),
    "yes": Grade(1.0, True),
    "true": Grade(1.0, True),
    "no": Grade(0.0, False),
    "false": Grade(0.0, False),
}
"""Correct, incorrect, partial, no answer, and truth values, as Inspect's metrics turn them into numbers."""


def _recognises(ending: str, head: bytes) -> bool:
    return ending == _ARCHIVE or (ending == "json" and _BEGINNING.match(head) is not None)


def _read(content: bytes) -> JudgedResults:
    findings: list[Finding] = []
    if _BEGINNING.match(content):
        parsed = read_json(content)
        log = members(parsed.value)
        findings += parsed.findings
        _check_version(log)
        samples: Iterable[Value] = items(log.get("samples"))
        reductions = log.get("reductions")
    else:
        from sitegen.scoring.judged.formats.inspect_archive import unpacked

        archive = unpacked(content)
        log, reductions = archive.header, archive.reductions
        _check_version(log)
        samples = archive.samples(findings)
    reader = _InspectReader(log, findings, _reduced(items(reductions)))
    return JudgedResults(reader.cases(samples), tuple(findings), reader.run())


def _check_version(log: Mapping[str, Value]) -> None:
    version = log.get("version")
    if version != VERSION or isinstance(version, bool):
        stated = f"version {written(version)[:20]}" if version is not None else "no version"
        raise UnreadableError(
            f"it has {stated} of Inspect's logs, and only version {VERSION} is known",
            "Convert it with `inspect log convert` of a version of Inspect that writes this one.",
        )


def _reduced(reductions: list[Value]) -> dict[tuple[str, str], Value]:
    """(scorer, sample id) -> the value that the first reducer of the scorer gave it."""
    reduced: dict[tuple[str, str], Value] = {}
    for reduction in map(members, reductions):
        for sample in map(members, items(reduction.get("samples"))):
            key = name_of(reduction.get("scorer")), name_of(sample.get("sample_id"))
            reduced.setdefault(key, sample.get("value"))
    return reduced


class _InspectReader:
    """Turns the samples of one log into cases."""

    def __init__(
        self, log: Mapping[str, Value], findings: list[Finding], reduced: Mapping[tuple[str, str], Value]
    ) -> None:
        self._log = log
        self._eval = members(log.get("eval"))
        self._findings = findings
        self._reduced = reduced
        self._off_scale: dict[str, int] = {}
        self._graders = graders_of(self._eval)

    def run(self) -> JudgedRun:
        """What the log says of the run."""
        return JudgedRun(
            tool="Inspect",
            version=text(members(self._eval.get("packages")).get("inspect_ai")),
            at=text(self._eval.get("created")),
            commit=text(members(self._eval.get("revision")).get("commit")),
        )

    def cases(self, raw: Iterable[Value]) -> tuple[JudgedCase, ...]:
        """A case of every sample, in the order of the log."""
        samples = samples_of(raw)
        graded = [self._graded(sample) for sample in samples]
        fields = names_of_fields(graded)
        cases = tuple(self._case(sample, scores, fields) for sample, scores in zip(samples, graded, strict=True))
        status = text(self._log.get("status"))
        if status != "success":
            why = text(members(self._log.get("error")).get("message"))
            self._report("warning", f"The run ended with the status {status[:40]!r}: samples may be missing", why[:200])
        if not cases:
            self._report("error", "There are no samples in the log", fix="Let Inspect log samples (`--log-samples`).")
        for name, times in self._off_scale.items():
            message = f"Scores of {name[:80]!r} are no numbers from 0 to 1, and are left out: {times}"
            self._report("warning", message, fix="Nothing, if the scorer means it so.")
        return cases

    def _graded(self, sample: LogSample) -> dict[str, Graded]:
        """Every score by name; of a scorer that gives several, each under a name of its own."""
        grades: dict[str, list[Grade]] = {}
        details: dict[str, list[Value]] = {}
        reasons: dict[str, list[str]] = {}
        graders: dict[str, Grader] = {}
        for epoch in sample.epochs:
            for scorer, each in epoch.scores.items():
                score = members(each)
                for name, value in _parts(scorer, score.get("value")):
                    grades.setdefault(name, []).append(self._grade(name, value))
                    reasons.setdefault(name, []).append(_reason(score, epoch.number, len(sample.epochs)))
                    stated = {key: score[key] for key in ("answer", "metadata") if score.get(key)}
                    details.setdefault(name, []).append({"epoch": epoch.number, "value": value, **stated})
                    if grader := self._graders.get(scorer):
                        graders[name] = grader
        reduced = {
            name: self._grade(name, value).score
            for scorer in {scorer for epoch in sample.epochs for scorer in epoch.scores}
            for name, value in _parts(scorer, self._reduced.get((scorer, sample.id)))
        }
        return {
            name: Graded(
                grades=tuple(several),
                score=reduced.get(name),
                reasoning="; ".join(filter(None, reasons[name])),
                details=details[name],
                grader=graders.get(name),
            )
            for name, several in grades.items()
        }

    def _case(self, sample: LogSample, graded: Mapping[str, Graded], fields: frozenset[str]) -> JudgedCase:
        error = next((epoch.error for epoch in sample.epochs if epoch.error), "")
        if error:
            message = f"The sample {sample.id[:80]!r} ended with an error"
            self._report("warning", message, error[:200], fix="Run the task again, if the sample should count.")
        judges = opinions(graded, fields)
        return JudgedCase(
            id=sample.id,
            opinion=Opinion("", None),
            judges=judges,
            passed=passed(judges),
            input=sample.input,
            expected=sample.expected,
            output=sample.output,
            error=error,
            model=name_of(self._eval.get("model")),
            parameters=members(self._eval.get("model_generate_config")) or None,
            usage=sample.usage,
        )

    def _grade(self, name: str, value: Value) -> Grade:
        grade = grade_of(value, WORDS)
        if grade is None:
            self._off_scale[name] = self._off_scale.get(name, 0) + 1
            return Grade(None)
        return grade

    def _report(self, severity: Severity, message: str, value: str = "", fix: str = _FIX) -> None:
        self._findings.append(Finding(severity, message, fix, value=value))


def _parts(scorer: str, value: Value) -> Iterator[tuple[str, Value]]:
    """(name, value) of each value that a scorer gave; nothing for what it did not say."""
    if isinstance(value, dict):
        yield from ((f"{scorer}: {key}", each) for key, each in value.items())
    elif isinstance(value, list):
        yield from ((f"{scorer}: {place}", each) for place, each in enumerate(value, 1))
    elif value is not None:
        yield scorer, value


def _reason(score: Mapping[str, Value], epoch: int, epochs: int) -> str:
    said = text(score.get("explanation"))
    return f"{epoch}: {said}" if said and epochs > 1 else said


INSPECT: Final = ResultFormat(name="Inspect", file_names=(), recognises=_recognises, read=_read)
