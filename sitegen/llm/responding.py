"""A prompt's responses to the test cases of an eval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sitegen.config import Llm
from sitegen.llm.calling import Job, call_all
from sitegen.llm.cases import Case
from sitegen.llm.client import Answer, CallError, Log
from sitegen.llm.prompts import Template
from sitegen.llm.responses_file import ResponsesFile, Row


class Asked(NamedTuple):
    """What became of the calls of one file."""

    calls: int
    failures: tuple[tuple[str, str], ...]
    """(case, why) of each call that gave no answer, in the order in which they ended."""
    malformed: int = 0
    """Answers of a judge that are no grade."""


def missing(cases: Sequence[Case], file: ResponsesFile, *, again: bool, limit: int | None) -> tuple[Case, ...]:
    """The cases that have no response, or whose call failed; with *again* all of them. At most *limit*."""
    return tuple(case for case in cases if again or not is_answered(file.rows.get(case.id)))[:limit]


def is_answered(row: Row | None) -> bool:
    """Whether a row holds a response: an empty one is one."""
    return row is not None and isinstance(row.get("output"), str) and not row.get("error")


def of_another_prompt(template: Template, cases: Sequence[Case], file: ResponsesFile) -> int:
    """How many responses are there already that another prompt gave."""
    rows = [file.rows.get(case.id) for case in cases]
    return sum(is_answered(row) and (row or {}).get("prompt", template.digest) != template.digest for row in rows)


def respond(
    cases: Sequence[Case],
    template: Template,
    file: ResponsesFile,
    settings: Llm,
    *,
    step: Callable[[], None],
    log: Log,
) -> Asked:
    """Ask for each of the cases and write the file. Raises SitegenError if no call can succeed.

    A new response takes the place of the old one with all that was said of it: its quality, its embedding.
    """
    jobs = [Job(case.id, template.fill(case.values())) for case in cases]
    failures: list[tuple[str, str]] = []

    def done(job: Job, result: Answer | CallError) -> None:
        row: Row = {"case_id": job.case_id, "prompt": template.digest}
        if isinstance(result, CallError):
            row["error"] = str(result)
            failures.append((job.case_id, str(result)))
        else:
            row |= {"output": result.text, "model": result.model or settings.model}
        file.add(row)
        step()

    with file:
        if jobs:
            call_all(jobs, settings, done, log)
        file.finish()
    return Asked(len(jobs), tuple(failures))
