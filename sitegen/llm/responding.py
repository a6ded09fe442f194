"""Asks a model for the responses of a prompt to the test cases of an eval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sitegen.llm.calling import CallOutcome, Job, call_and_record
from sitegen.llm.cases import PromptCase
from sitegen.llm.client import CallError, CallSettings, Log, ModelReply
from sitegen.llm.prompts import PromptTemplate
from sitegen.llm.responses_file import ResponsesFile, Row, Slot


class PendingResponse(NamedTuple):
    """A response to ask for, or to grade."""

    case: PromptCase
    slot: Slot


def responses_to_ask_for(
    cases: Sequence[PromptCase], file: ResponsesFile, *, again: bool, limit: int | None
) -> tuple[PendingResponse, ...]:
    """At most *limit* responses that are missing or whose call failed, or with *again* of all responses."""
    pending = (PendingResponse(case, slot) for case in cases for slot in file.slots(case.id))
    return tuple(todo for todo in pending if again or not is_answered(file.rows.get(todo.slot)))[:limit]


def is_answered(row: Row | None) -> bool:
    """Whether a row holds a response, which may be empty."""
    return row is not None and isinstance(row.get("output"), str) and not row.get("error")


def of_another_prompt(template: PromptTemplate, cases: Sequence[PromptCase], file: ResponsesFile) -> int:
    """Return how many recorded responses were made with another prompt."""
    case_ids = {case.id for case in cases}
    rows = [row for slot, row in file.rows.items() if slot.case_id in case_ids and is_answered(row)]
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
    """Ask for each of the responses, and write the file. Raises SitegenError if no call can succeed.

    A new response replaces the old row as a whole, because its grade and embedding belong to the old text.
    """
    jobs = [Job(slot, template.fill(case.values())) for case, slot in todo]

    def row_of(job: Job, result: ModelReply | CallError) -> Row:
        row: Row = {"case_id": job.slot.case_id, "prompt": template.digest}
        if isinstance(result, CallError):
            return {**row, "error": str(result)}
        model = result.model or settings.model
        usage = result.stated_usage()
        return {**row, "output": result.text, "model": model, "parameters": settings.parameters, **usage}

    return call_and_record(jobs, file, settings, row_of, step=step, log=log)
