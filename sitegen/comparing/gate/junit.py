"""The gate's report as JUnit XML: a suite an eval, a case a metric that has a limit."""

from __future__ import annotations

import re
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sitegen.comparing.gate.wording import of_error, of_eval, of_metric, of_whole
from sitegen.errors import SitegenError
from sitegen.model.gate import EvalCheck, GateReport, GateVerdict
from sitegen.text.plain import encodable, line

_ILLEGAL: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write."""

_OUTCOMES: Final[dict[GateVerdict, str]] = {"fail": "failure", "not comparable": "failure", "inconclusive": "skipped"}


def to_junit_bytes(report: GateReport) -> bytes:
    """UTF-8 XML. What may be chance is skipped; so is what cannot be compared, where that does not fail."""
    root = Element("testsuites", name="sitegen check")
    for one in report.evals:
        _suite(root, one)
    if nothing := of_whole(report):
        _case(SubElement(root, "testsuite", name="sitegen check"), "sitegen", "something matched", "fail", nothing)
    if report.passed:
        for case in root.iter("testcase"):
            for failure in case.findall("failure"):
                failure.tag = "skipped"
    return _written(root)


def junit_of_error(error: SitegenError) -> bytes:
    """One case that failed, in the place of a report if there can be none."""
    root = Element("testsuites", name="sitegen check")
    suite = SubElement(root, "testsuite", name="sitegen check")
    _case(suite, "sitegen", "can compare", "fail", of_error(error))
    return _written(root)


def _written(root: Element) -> bytes:
    for suite in (*root, root):
        counted = {"tests": "testcase", "failures": "failure", "skipped": "skipped"}
        for attribute, tag in counted.items():
            suite.set(attribute, str(sum(1 for _ in suite.iter(tag))))
    indent(root)
    xml: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _suite(root: Element, one: EvalCheck) -> None:
    eval_id = _text(one.info.id)
    suite = SubElement(root, "testsuite", name=eval_id)
    said = " ".join(of_eval(one, reason) for reason in one.reasons)
    failed: GateVerdict = "fail" if one.reasons else "pass"
    _case(suite, eval_id, {"both": "compared", "new": "new", "gone": "removed"}[one.presence], failed, said)
    for metric in one.metrics:
        if metric.reasons or metric.limits != (None, None):
            said = " ".join(of_metric(metric, one.info.nouns))
            _case(suite, eval_id, metric.spec.label, metric.verdict, said)


def _case(suite: Element, owner: str, name: str, verdict: GateVerdict, said: str) -> None:
    case = SubElement(suite, "testcase", classname=owner, name=_text(name))
    if verdict in _OUTCOMES:
        SubElement(case, _OUTCOMES[verdict], message=_text(said))


def _text(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", encodable(line(text)))
