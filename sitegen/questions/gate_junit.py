"""The gate's report as JUnit XML: a suite for each eval and its slices, a case for each metric that has a limit."""

from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sitegen.errors import SitegenError
from sitegen.model.gate import GateReport, GateVerdict
from sitegen.questions.gate_report import (
    caveats,
    error_sentence,
    eval_sentence,
    metric_sentences,
    nothing_compared,
    spread_sentences,
)
from sitegen.text.plain import xml_line

_OUTCOMES: Final[dict[GateVerdict, str]] = {"fail": "failure", "not comparable": "failure", "inconclusive": "skipped"}


def gate_junit(report: GateReport) -> bytes:
    """Return UTF-8 XML.

    A drop that may be chance is a skipped case, as are the caveats of an eval, and an eval that may be incomparable.
    """
    root = Element("testsuites", name="sitegen check")
    names = dict.fromkeys(check.eval_id for check in report.evals)
    suites = {name: SubElement(root, "testsuite", name=xml_line(name)) for name in names}
    for check in report.evals:
        eval_id, suite = xml_line(check.key), suites[check.eval_id]
        message = " ".join(eval_sentence(check, reason) for reason in check.reasons)
        presence = {"both": "compared", "new": "new", "gone": "removed"}[check.presence]
        _add_case(suite, eval_id, presence, "fail" if check.reasons else "pass", message)
        for metric in check.metrics:
            if metric.reasons or metric.has_limit:
                whole = [eval_sentence(check, reason) for reason in metric.reasons if reason in check.reasons]
                message = " ".join((*(list(metric_sentences(metric, check)) or whole), *spread_sentences(metric)))
                _add_case(suite, eval_id, metric.label, metric.verdict, message)
        if known := "; ".join(caveats(check)):
            _add_case(suite, eval_id, "caveats", "inconclusive", f"{known}.")
    if nothing := nothing_compared(report):
        _add_case(SubElement(root, "testsuite", name="sitegen check"), "sitegen", "something matched", "fail", nothing)
    if report.passed:
        for case in root.iter("testcase"):
            for failure in case.findall("failure"):
                failure.tag = "skipped"
    return _xml_bytes(root)


def junit_of_error(error: SitegenError) -> bytes:
    """Return a single failed case, if no report could be made."""
    root = Element("testsuites", name="sitegen check")
    suite = SubElement(root, "testsuite", name="sitegen check")
    _add_case(suite, "sitegen", "can compare", "fail", error_sentence(error))
    return _xml_bytes(root)


def _xml_bytes(root: Element) -> bytes:
    for suite in (*root, root):
        for attribute, tag in {"tests": "testcase", "failures": "failure", "skipped": "skipped"}.items():
            suite.set(attribute, str(sum(1 for _ in suite.iter(tag))))
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _add_case(suite: Element, owner: str, name: str, verdict: GateVerdict, message: str) -> None:
    case = SubElement(suite, "testcase", classname=owner, name=xml_line(name))
    if verdict in _OUTCOMES:
        SubElement(case, _OUTCOMES[verdict], message=xml_line(message))
