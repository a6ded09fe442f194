"""The grading of one run of an eval of a skill: ``grading.json``, which the grader writes beside the run's outputs.

The file does not name its eval. The case is named by the folders of the file that tell it from the others.
"""

from __future__ import annotations

from sitegen.data_files.reading import read_json
from sitegen.importers.case import RIGHT, WRONG, JudgedCase, JudgedResults, Opinion, graded
from sitegen.importers.tool_values import ToolObject, list_of, members, number, part, share, text
from sitegen.model.problems import Finding
from sitegen.model.usage import Call, Usage


class _Grading(ToolObject):
    expectations = part(list_of(members), "expectations")
    assertions = part(list_of(members), "assertion_results")
    pass_rate = part(share, "summary.pass_rate")
    seconds = part(number, "timing.total_duration_seconds")


def read(content: bytes) -> JudgedResults:
    """Read a grading. Raises UnreadableError."""
    value, findings = read_json(content)
    grading = _Grading(value)
    expectations = [*grading.expectations, *grading.assertions]
    judged = [each for each in expectations if isinstance(each.get("passed"), bool)]
    if odd := len(expectations) - len(judged):
        message = f"Expectations state no verdict, and are left out: {odd} of {len(expectations)}"
        findings = (*findings, Finding("warning", message, "Let the grader judge them again."))
    judges = [
        graded(text(each.get("text")), (RIGHT if each["passed"] else WRONG,), reasoning=text(each.get("evidence")))
        for each in judged
    ]
    case = JudgedCase(
        id="", opinion=Opinion("", grading.pass_rate), judges=tuple(judges), call=Call(Usage(latency=grading.seconds))
    )
    return JudgedResults((case,), findings)
