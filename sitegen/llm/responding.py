"""A prompt's responses to the test cases of an eval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sitegen.llm.calling import Job, call_all
from sitegen.llm.cases import PromptCase
from sitegen.llm.client import CallError, CallSettings, Log, ModelReply
from sitegen.llm.prompts import PromptTemplate
from sitegen.llm.responses_file import ResponsesFile, Row, Slot


class CallOutcome(NamedTuple):
    """What became of the calls of one file."""

    calls: int
    failures: tuple[tuple[str, str], ...]
    """(case, why) of each call that gave no answer, in the order in which they ended."""
    malformed: int = 0
    """Answers of a judge that are no grade."""


class PendingResponse(NamedTuple):
    """A response to ask for, or to grade."""

    case: PromptCase
    slot: Slot


def responses_to_ask_for(
    cases: Sequence[PromptCase], file: ResponsesFile, *, again: bool, limit: int | None
) -> tuple[PendingResponse, ...]:
    """The responses that are not there, or whose call failed; with *again* all of them. At most *limit*."""
    every = (PendingResponse(case, slot) for case in cases for slot in file.slots(case.id))
    return tuple(todo for todo in every if again or not is_answered(file.rows.get(todo.slot)))[:limit]


def is_answered(row: Row | None) -> bool:
    """Whether a row holds a response: an empty one is one."""
    return row is not None and isinstance(row.get("output"), str) and not row.get("error")


def of_another_prompt(template: PromptTemplate, cases: Sequence[PromptCase], file: ResponsesFile) -> int:
    """How many responses are there already that another prompt gave."""
    known = {case.id for case in cases}
    rows = [row for slot, row in file.rows.items() if slot.case_id in known and is_answered(row)]
    return sum(row.get("prompt", template.digest) != template.digest for row in rows)


def ask_for_responses(
    todo: Sequence[PendingResponse],
    template: PromptTemplate,
    file: ResponsesFile,
    settings: CallSettings,
    *,
    step: Callable[[], None],
    log: Log,
) -> CallOutcome:
    """Ask for each of the responses and write the file. Raises SitegenError if no call can succeed.

    A new response takes the place of the old one with all that was said of it: its quality, its embedding.
    """
    jobs = [Job(slot, template.fill(case.values())) for case, slot in todo]
    failures: list[tuple[str, str]] = []

    def done(job: Job, result: ModelReply | CallError) -> None:
        row: Row = {"case_id": job.slot.case_id, "prompt": template.digest}
        if isinstance(result, CallError):
            row["error"] = str(result)
            failures.append((str(job.slot), str(result)))
        else:
            model = result.model or settings.model
            row |= {"output": result.text, "model": model, "parameters": settings.parameters, **result.took()}
        file.put(job.slot, row)
        step()

    with file:
        if jobs:
            call_all(jobs, settings, done, log)
        file.finish()
    return CallOutcome(len(jobs), tuple(failures))
