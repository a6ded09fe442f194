"""The grading of one run of an eval of a skill: ``grading.json``, which the grader writes beside the run's outputs.

The file does not name its eval. The case is named by the folders of the file that tell it from the others.

``timing.json`` beside it has the time of the run, and ``feedback.json`` above it what a person said about its outputs.
"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from msgspec.structs import replace

from sitegen.data_files.reading import read_json
from sitegen.importers.case import BASELINES, RIGHT, WRONG, JudgedCase, JudgedResults, Opinion, graded
from sitegen.importers.tool_values import ToolObject, list_of, members, number, part, share, text
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding
from sitegen.model.usage import Call, Usage, stated

GRADING: Final = re.compile(r"(?:(?:(.+)[-_])?grading(?:[-_](.+))?|.+\.graded)\.json")
"""Matches the name of a grading: in one folder with others, it has the eval or the configuration too."""
OUTPUTS: Final = "outputs"  # the folder of what a run wrote, which may hold its grading
BESIDE: Final = ("timing.json", "feedback.json")
_PERSON: Final = "a person"  # the name of the judge whose opinions are in ``feedback.json``


class _Grading(ToolObject):
    expectations = part(list_of(members), "expectations")
    results = part(list_of(members), "assertion_results")
    assertions = part(list_of(members), "assertions")
    pass_rate = part(share, "summary.pass_rate")
    seconds = part(number, "timing.total_duration_seconds")


def read(content: bytes) -> JudgedResults:
    """Read a grading. Raises UnreadableError."""
    value, findings = read_json(content)
    grading = _Grading(value)
    expectations = [*grading.expectations, *grading.results, *grading.assertions]
    judged = [each for each in expectations if isinstance(each.get("passed"), bool)]
    if odd := len(expectations) - len(judged):
        message = f"Expectations state no verdict, and are left out: {odd} of {len(expectations)}"
        findings = (*findings, Finding("warning", message, "Let the grader judge them again."))
    judges = [
        graded(
            text(each.get("text") or each.get("expectation")),
            (RIGHT if each["passed"] else WRONG,),
            reasoning=text(each.get("evidence") or each.get("reason")),
        )
        for each in judged
    ]
    case = JudgedCase(
        id="", opinion=Opinion("", grading.pass_rate), judges=tuple(judges), call=Call(Usage(latency=grading.seconds))
    )
    return JudgedResults((case,), findings)


def with_files_beside(case: JudgedCase, path: str, beside: Mapping[str, Value], unread: dict[str, str]) -> JudgedCase:
    """Return the case of a grading with the time that its run took, and with what a person said about its outputs.

    ``beside`` has the values of the files of these names, by path; ``unread``, what is said in which of these, loses
    what is said about this run.
    """
    folder = PurePosixPath(path).parent
    folder = folder.parent if folder.name == OUTPUTS else folder
    usage, seconds = case.call.usage, stated(beside.get(f"{folder}/{BESIDE[0]}")).usage.latency
    said: list[Opinion] = []
    for above in folder.parents:
        name = "-".join(folder.relative_to(above).parts)
        for key, comment in said_in(beside.get(f"{above}/{BESIDE[1]}")):
            # By the name of the run, or by that of its eval unless it is a run of the baseline.
            if key and (name == key or (name.startswith(f"{key}-") and not BASELINES.fullmatch(case.variant))):
                said.append(Opinion(_PERSON, None, reasoning=comment))
    for opinion in said:
        unread.pop(opinion.reasoning, None)
    call = replace(case.call, usage=usage._replace(latency=seconds if usage.latency is None else usage.latency))
    return replace(case, judges=(*case.judges, *said), call=call)


def said_in(feedback: Value) -> list[tuple[str, str]]:
    """Return what a file says about runs, each by the name of a run or an eval."""
    by_name: list[Value] = [{"run_id": key, "feedback": said} for key, said in members(feedback).items()]
    reviews = list_of(members)(members(feedback).get("reviews", by_name))
    return [(text(one.get("run_id")), text(one["feedback"])) for one in reviews if text(one.get("feedback")).strip()]
