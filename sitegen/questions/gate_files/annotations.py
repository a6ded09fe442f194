"""The gate's report as workflow commands, which GitHub displays on the files of a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final, Literal, TypeAlias, get_args

from sitegen.errors import SitegenError
from sitegen.model.frozen import Frozen
from sitegen.model.gate import GateReport, GateVerdict
from sitegen.questions.gate_files.wording import (
    error_sentence,
    eval_sentence,
    metric_sentences,
    nothing_compared,
    spread_sentences,
)
from sitegen.text.plain import encodable, line

SHOWN: Final = 10
"""Number of annotations of each level that GitHub displays for a step."""

AnnotationLevel: TypeAlias = Literal["error", "warning", "notice"]


class Annotation(Frozen):
    """A message, on a file or on the whole step."""

    level: AnnotationLevel
    message: str
    title: str = "sitegen check"
    file: str = ""

    def __str__(self) -> str:
        """The workflow command on one line."""
        properties = ",".join(
            f"{key}={_escaped_data(value).replace(':', '%3A').replace(',', '%2C')}"
            for key, value in (("file", self.file), ("title", self.title))
            if value
        )
        return f"::{self.level} {properties}::{_escaped_data(self.message)}"


def annotations_of(report: GateReport) -> list[Annotation]:
    """Errors, then warnings, then notices, at most ``SHOWN`` of each; the last one says how many more there are."""
    all_annotations = list(_all_annotations(report))
    levels: tuple[AnnotationLevel, ...] = get_args(AnnotationLevel)
    by_level = ([annotation for annotation in all_annotations if annotation.level == level] for level in levels)
    return list(chain.from_iterable(map(_within_limits, by_level)))


def annotation_of_error(error: SitegenError) -> Annotation:
    """The annotation if no report could be made."""
    return Annotation("error", error_sentence(error))


def _all_annotations(report: GateReport) -> Iterator[Annotation]:
    if nothing := nothing_compared(report):
        yield Annotation("error", nothing)
    for check in report.evals:
        title = f"sitegen check: {check.eval_id}"
        for reason in check.reasons:
            yield Annotation(
                level=_annotation_level(check.verdict, report),
                message=eval_sentence(check, reason),
                title=title,
                file=check.file or "",
            )
        for metric in check.metrics:
            for sentence in metric_sentences(metric, check):
                yield Annotation(
                    level=_annotation_level(metric.verdict, report),
                    message=" ".join((sentence, *spread_sentences(metric))),
                    title=title,
                    file=check.file or "",
                )
        if check.verdict == "fail":
            nothing_proven = "association in time, the cause may be another"
            message = f"Edited since the base, and {check.eval_id} fails the gate: {nothing_proven}."
            for edit in check.instructions:
                yield Annotation(level="warning", message=message, title=title, file=edit.path)


def _annotation_level(verdict: GateVerdict, report: GateReport) -> AnnotationLevel:
    if verdict == "pass":
        return "notice"
    fails = verdict == "fail" or (verdict == "not comparable" and not report.passed)
    return "error" if fails else "warning"


def _within_limits(annotations: list[Annotation]) -> list[Annotation]:
    if len(annotations) <= SHOWN:
        return annotations
    return [
        *annotations[: SHOWN - 1],
        Annotation(annotations[0].level, f"{len(annotations) - SHOWN + 1:,} more are in the report."),
    ]


def _escaped_data(text: str) -> str:
    return encodable(line(text, 1_000)).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
