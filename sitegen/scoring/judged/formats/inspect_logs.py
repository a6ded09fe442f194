"""Inspect: the logs that ``inspect eval`` writes, as JSON or as an ``.eval`` archive, in version 2 of their layout.

A sample with all of its epochs is a case, and each of its scorers is a judge. The judge's score is that of Inspect's
reducer, or the mean over the epochs if the log has no reductions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from sitegen.data_files.json_reader import read_json
from sitegen.data_files.reading import UnreadableError
from sitegen.model.problems import Finding, Severity
from sitegen.model.values import Value
from sitegen.scoring.judged.case import JudgedCase, JudgedResults, JudgedRun, Opinion
from sitegen.scoring.judged.formats.grades import Grade, Graded, grade_of, names_of_fields, opinions, passed
from sitegen.scoring.judged.formats.inspect_graders import graders_of
from sitegen.scoring.judged.formats.inspect_samples import LogSample, samples_of
from sitegen.scoring.judged.formats.json_values import items, members, name_of, text, written
from sitegen.scoring.judged.formats.result_format import ResultFormat

VERSION: Final = 2

_ARCHIVE: Final = "eval"
"""The file name ending of an archive."""

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
"""Correct, incorrect, partial, no answer, and truth values, with the numbers that Inspect's metrics give them."""


def _is_inspect_log(ending: str, head: bytes) -> bool:
    return ending == _ARCHIVE or (ending == "json" and _BEGINNING.match(head) is not None)


def _read_log(content: bytes) -> JudgedResults:
    findings: list[Finding] = []
    if _BEGINNING.match(content):
        value, odd = read_json(content)
        findings += odd
        log = members(value)
        samples: Iterable[Value] = items(log.get("samples"))
    else:
        from sitegen.scoring.judged.formats.inspect_archive import unpacked

        log, samples = unpacked(content, findings)
    _check_version(log)
    reader = _InspectReader(log, findings)
    return JudgedResults(reader.cases(samples), tuple(findings), reader.run())


def _check_version(log: Mapping[str, Value]) -> None:
    version = log.get("version")
    if version != VERSION or isinstance(version, bool):
        stated = f"version {written(version)[:20]}" if version is not None else "no version"
        raise UnreadableError(
            f"it has {stated} of Inspect's logs, and only version {VERSION} is known",
            "Convert it with `inspect log convert` of a version of Inspect that writes this one.",
        )


def _reduced_values(reductions: list[Value]) -> dict[tuple[str, str], Value]:
    """(scorer, sample id) -> the value of the scorer's first reducer."""
    reduced: dict[tuple[str, str], Value] = {}
    for reduction in map(members, reductions):
        for sample in map(members, items(reduction.get("samples"))):
            key = name_of(reduction.get("scorer")), name_of(sample.get("sample_id"))
            reduced.setdefault(key, sample.get("value"))
    return reduced


class _InspectReader:
    """Turns the samples of one log into cases."""

    def __init__(self, log: Mapping[str, Value], findings: list[Finding]) -> None:
        self._log = log
        self._eval = members(log.get("eval"))
        self._findings = findings
        self._reduced = _reduced_values(items(log.get("reductions")))
        self._off_scale: Counter[str] = Counter()
        self._graders = graders_of(self._eval)

    def run(self) -> JudgedRun:
        """Return what the log states about the run."""
        commit = text(members(self._eval.get("revision")).get("commit"))
        return JudgedRun(at=text(self._eval.get("created")), commit=commit)

    def cases(self, raw: Iterable[Value]) -> tuple[JudgedCase, ...]:
        """Return a case for each sample, in the order of the log."""
        samples = samples_of(raw)
        graded = [self._graded_scores(sample) for sample in samples]
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

    def _graded_scores(self, sample: LogSample) -> dict[str, Graded]:
        """Return all scores by name. If a scorer gives several values, each has a separate name."""
        grades: dict[str, list[Grade]] = {}
        details: dict[str, list[Value]] = {}
        reasons: dict[str, list[str]] = {}
        scorers: dict[str, str] = {}
        for epoch in sample.epochs:
            for scorer, score in zip(epoch.scores, map(members, epoch.scores.values()), strict=True):
                for name, value in _named_values(scorer, score.get("value")):
                    scorers[name] = scorer
                    grades.setdefault(name, []).append(self._grade(name, value))
                    reasons.setdefault(name, []).append(_explanation(score, epoch.number, len(sample.epochs)))
                    stated = {key: score[key] for key in ("answer", "metadata") if score.get(key)}
                    details.setdefault(name, []).append({"epoch": epoch.number, "value": value, **stated})
        reduced = {
            name: self._grade(name, value).score
            for scorer in dict.fromkeys(scorer for epoch in sample.epochs for scorer in epoch.scores)
            for name, value in _named_values(scorer, self._reduced.get((scorer, sample.id)))
        }
        return {
            name: Graded(
                grades=tuple(of_epochs),
                score=reduced.get(name),
                reasoning="; ".join(filter(None, reasons[name])),
                details=details[name],
                grader=self._graders.get(scorers[name]),
            )
            for name, of_epochs in grades.items()
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
            self._off_scale[name] += 1
            return Grade(None)
        return grade

    def _report(self, severity: Severity, message: str, value: str = "", fix: str = _FIX) -> None:
        self._findings.append(Finding(severity, message, fix, value=value))


def _named_values(scorer: str, value: Value) -> Iterator[tuple[str, Value]]:
    """(name, value) of each value of a scorer. Nothing for null."""
    if isinstance(value, dict | list):
        members_of_value = value.items() if isinstance(value, dict) else enumerate(value, 1)
        yield from ((f"{scorer}: {key}", member) for key, member in members_of_value)
    elif value is not None:
        yield scorer, value


def _explanation(score: Mapping[str, Value], epoch: int, epochs: int) -> str:
    explanation = text(score.get("explanation"))
    return f"{epoch}: {explanation}" if explanation and epochs > 1 else explanation


INSPECT: Final = ResultFormat(name="Inspect", recognises=_is_inspect_log, read=_read_log)
