"""The gate's report as JUnit XML and as annotations of a GitHub workflow.

The XML has a suite for each eval, and a case for each metric that has a limit. Annotations are workflow commands, which
GitHub displays on the files of a pull request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias, get_args
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sitegen.errors import SitegenError
from sitegen.model.frozen import Frozen
from sitegen.model.gate import GateReport, GateVerdict
from sitegen.questions.gate_report import (
    error_sentence,
    eval_sentence,
    metric_sentences,
    nothing_compared,
    spread_sentences,
)
from sitegen.text.plain import encodable, line

_ILLEGAL: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot represent."""

_OUTCOMES: Final[dict[GateVerdict, str]] = {"fail": "failure", "not comparable": "failure", "inconclusive": "skipped"}


def gate_junit(report: GateReport) -> bytes:
    """Return UTF-8 XML.

    A drop that may be chance is a skipped case, as are a floor that was missed at the base too, and an eval that may be
    incomparable.
    """
    root = Element("testsuites", name="sitegen check")
    for check in report.evals:
        eval_id = _xml_text(check.eval_id)
        suite = SubElement(root, "testsuite", name=eval_id)
        message = " ".join(eval_sentence(check, reason) for reason in check.reasons)
        verdict: GateVerdict = "fail" if check.reasons else "pass"
        presence = {"both": "compared", "new": "new", "gone": "removed"}[check.presence]
        _add_case(suite, eval_id, presence, verdict, message)
        for metric in check.metrics:
            if metric.reasons or metric.limits != (None, None):
                whole = [eval_sentence(check, reason) for reason in metric.reasons if reason in check.reasons]
                message = " ".join((*(list(metric_sentences(metric, check)) or whole), *spread_sentences(metric)))
                verdict = "inconclusive" if metric.reasons and metric.verdict == "pass" else metric.verdict
                _add_case(suite, eval_id, metric.label, verdict, message)
    if nothing := nothing_compared(report):
        _add_case(SubElement(root, "testsuite", name="sitegen check"), "sitegen", "something matched", "fail", nothing)
    if report.passed:
        for case in root.iter("testcase"):
            for failure in case.findall("failure"):
                failure.tag = "skipped"
    return _xml_bytes(root)


def junit_of_error(error: SitegenError) -> bytes:
    """A single failed case, if no report could be made."""
    root = Element("testsuites", name="sitegen check")
    suite = SubElement(root, "testsuite", name="sitegen check")
    _add_case(suite, "sitegen", "can compare", "fail", error_sentence(error))
    return _xml_bytes(root)


def _xml_bytes(root: Element) -> bytes:
    for suite in (*root, root):
        tags = {"tests": "testcase", "failures": "failure", "skipped": "skipped"}
        for attribute, tag in tags.items():
            suite.set(attribute, str(sum(1 for _ in suite.iter(tag))))
    indent(root)
    xml: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _add_case(suite: Element, owner: str, name: str, verdict: GateVerdict, message: str) -> None:
    case = SubElement(suite, "testcase", classname=owner, name=_xml_text(name))
    if verdict in _OUTCOMES:
        SubElement(case, _OUTCOMES[verdict], message=_xml_text(message))


def _xml_text(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", encodable(line(text)))


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
    shown: list[Annotation] = []
    for listed in by_level:
        if len(listed) > SHOWN:
            more = f"{len(listed) - SHOWN + 1:,} more are in the report."
            listed[SHOWN - 1 :] = [Annotation(listed[0].level, more)]
        shown += listed
    return shown


def _all_annotations(report: GateReport) -> Iterator[Annotation]:
    levels: dict[GateVerdict, AnnotationLevel] = {
        "pass": "notice",
        "inconclusive": "warning",
        "not comparable": "warning" if report.passed else "error",
        "fail": "error",
    }
    if nothing := nothing_compared(report):
        yield Annotation("error", nothing)
    for check in report.evals:
        title = f"sitegen check: {check.eval_id}"
        for reason in check.reasons:
            yield Annotation(
                level=levels[check.verdict], message=eval_sentence(check, reason), title=title, file=check.file or ""
            )
        for metric in check.metrics:
            for sentence in metric_sentences(metric, check):
                yield Annotation(
                    level=levels[metric.verdict],
                    message=" ".join((sentence, *spread_sentences(metric))),
                    title=title,
                    file=check.file or "",
                )
        if check.verdict == "fail":
            nothing_proven = "association in time, the cause may be another"
            message = f"Edited since the base, and {check.eval_id} fails the gate: {nothing_proven}."
            for edit in check.instructions:
                yield Annotation(level="warning", message=message, title=title, file=edit.path)


def _escaped_data(text: str) -> str:
    return encodable(line(text, 1_000)).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
