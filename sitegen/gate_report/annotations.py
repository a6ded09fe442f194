"""The gate's report as workflow commands, which GitHub shows on the files of a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final, Literal, NamedTuple, TypeAlias

from sitegen.errors import SitegenError
from sitegen.gate_report.wording import error_sentence, eval_sentence, metric_sentences, nothing_compared
from sitegen.model.gate import EvalCheck, GateReport, GateVerdict
from sitegen.text.plain import encodable, line

SHOWN: Final = 10
"""Annotations of each level that GitHub shows of one step."""

Level: TypeAlias = Literal["error", "warning"]


class Annotation(NamedTuple):
    """A message on a file, or on none."""

    level: Level
    message: str
    title: str = "sitegen check"
    file: str = ""

    def __str__(self) -> str:
        """The workflow command, one line."""
        properties = ",".join(
            f"{key}={_escaped_property(value)}" for key, value in (("file", self.file), ("title", self.title)) if value
        )
        return f"::{self.level} {properties}::{_escaped_data(self.message)}"


def annotations_of(report: GateReport) -> list[Annotation]:
    """Errors, then warnings; of each as many as are shown, the last of which says how many there are besides."""
    every = sorted(_all_annotations(report), key=lambda one: one.level)
    return [one for _, some in groupby(every, key=lambda one: one.level) for one in _within_limits(list(some))]


def annotation_of_error(error: SitegenError) -> Annotation:
    """What is annotated if there can be no report."""
    return Annotation("error", error_sentence(error))


def _all_annotations(report: GateReport) -> Iterator[Annotation]:
    if nothing := nothing_compared(report):
        yield Annotation("error", nothing)
    for one in report.evals:
        title = f"sitegen check: {one.info.id}"
        for reason in one.reasons:
            yield Annotation(
                level=_annotation_level(one.verdict, report),
                message=eval_sentence(one, reason),
                title=title,
                file=one.file,
            )
        for metric in one.metrics:
            for said in metric_sentences(metric, one.info.nouns):
                yield Annotation(
                    level=_annotation_level(metric.verdict, report), message=said, title=title, file=one.file
                )
        if one.compared and one.verdict == "fail":
            yield from _edit_annotations(one, title)


def _edit_annotations(check: EvalCheck, title: str) -> Iterator[Annotation]:
    for edit in check.compared.edits if check.compared else ():
        said = f"Edited while {check.info.id} failed the gate: they go together in time, the cause may be another."
        yield Annotation(level="warning", message=said, title=title, file=edit.path)


def _annotation_level(verdict: GateVerdict, report: GateReport) -> Level:
    fails = verdict == "fail" or (verdict == "not comparable" and not report.passed)
    return "error" if fails else "warning"


def _within_limits(some: list[Annotation]) -> list[Annotation]:
    if len(some) <= SHOWN:
        return some
    return [*some[: SHOWN - 1], Annotation(some[0].level, f"{len(some) - SHOWN + 1:,} more are in the report.")]


def _escaped_data(text: str) -> str:
    return encodable(line(text, 1_000)).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped_data(text).replace(":", "%3A").replace(",", "%2C")
