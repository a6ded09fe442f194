"""Calls a model for many jobs concurrently, and asks it for the responses of a prompt to the test cases of an eval.

Lets a model grade responses from 1 to 5, and records the grades in the file of the responses.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from msgspec.structs import replace

from sitegen.errors import SitegenError
from sitegen.llm.client import CallError, CallSettings, Client, Log, ModelReply
from sitegen.llm.files import Prompt, PromptCase, PromptTemplate, ResponseRow, ResponsesFile, Slot
from sitegen.model.frozen import Frozen
from sitegen.model.named_tuple import NamedTuple
from sitegen.text.plain import cut


class Job(Frozen):
    """A prompt to send, and the response that it is for."""

    slot: Slot
    prompt: Prompt


class FailedCall(Frozen):
    """A call without an answer."""

    case_id: str
    """Includes the variant or the run, if there is one."""
    reason: str


class CallOutcome(Frozen):
    """The results of the calls for one file."""

    calls: int
    failures: tuple[FailedCall, ...]
    """In the order of completion."""
    malformed: int = 0
    """Answers of a judge without a grade."""


Done = Callable[[Job, ModelReply | CallError], None]


class ModelCalls(Frozen):
    """Calls of a model with one prompt, whose results become rows of one file."""

    template: PromptTemplate
    file: ResponsesFile
    settings: CallSettings
    step: Callable[[], None]
    """Called after each call."""
    log: Log

    def record(self, jobs: Sequence[Job], row_of: Callable[[Job, ModelReply | CallError], ResponseRow]) -> CallOutcome:
        """Call the model for every job, record the row of each result, and write the file.

        Raises SitegenError if no call can succeed.
        """
        failures: list[FailedCall] = []

        def done(job: Job, result: ModelReply | CallError) -> None:
            if isinstance(result, CallError):
                failures.append(FailedCall(str(job.slot), str(result)))
            self.file.put(job.slot, row_of(job, result))
            self.step()

        with self.file:
            if jobs:
                call_all(jobs, self.settings, done, self.log)
            self.file.finish()
        return CallOutcome(len(jobs), tuple(failures))


def call_all(jobs: Iterable[Job], settings: CallSettings, done: Done, log: Log) -> None:
    """Call the model for every job, ``settings.concurrency`` at a time, and pass each result to *done* on arrival.

    A failed call is a result. If no call can succeed, raises SitegenError and abandons the calls under way.
    """
    asking = partial(asyncio.run, _call_all(jobs, Client(settings, log), settings.concurrency, done))
    if not _is_looping():
        asking()
    else:  # a notebook already runs an event loop in this thread
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asking).result()


def _is_looping() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _call_all(jobs: Iterable[Job], client: Client, concurrency: int, done: Done) -> None:
    waiting = iter(jobs)
    async with client:

        async def work() -> None:
            for job in waiting:
                try:
                    result: ModelReply | CallError = await client.ask(str(job.slot), job.prompt)
                except CallError as error:
                    result = error
                done(job, result)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(concurrency):
                    group.create_task(work())
        except* SitegenError as failures:
            raise _first_failure(failures) from None


def _first_failure(group: BaseExceptionGroup[SitegenError]) -> SitegenError:
    for exception in group.exceptions:
        return _first_failure(exception) if isinstance(exception, BaseExceptionGroup) else exception
    raise AssertionError("a group of exceptions is never empty")


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


def is_answered(row: ResponseRow | None) -> bool:
    """Whether a row holds a response, which may be empty."""
    return row is not None and isinstance(row.get("output"), str) and not row.get("error")


def of_another_prompt(template: PromptTemplate, cases: Sequence[PromptCase], file: ResponsesFile) -> int:
    """Return how many recorded responses were made with another prompt."""
    case_ids = {case.id for case in cases}
    rows = [row for slot, row in file.rows.items() if slot.case_id in case_ids and is_answered(row)]
    return sum(row.get("prompt", template.digest) != template.digest for row in rows)


def ask_for_responses(todo: Sequence[PendingResponse], calls: ModelCalls) -> CallOutcome:
    """Ask for each of the responses, and write the file. Raises SitegenError if no call can succeed.

    A new response replaces the old row as a whole, because its grade and embedding belong to the old text.
    """
    template, settings = calls.template, calls.settings

    def row_of(job: Job, result: ModelReply | CallError) -> ResponseRow:
        row: ResponseRow = {"case_id": job.slot.case_id, "prompt": template.digest}
        if isinstance(result, CallError):
            return {**row, "error": str(result)}
        model = result.model or settings.model
        usage = result.stated_usage()
        return {**row, "output": result.text, "model": model, "parameters": settings.parameters, **usage}

    return calls.record([Job(slot, template.fill(case.values())) for case, slot in todo], row_of)


_NO_REFERENCE: Final = "(none)"

_GRADES: Final = frozenset("12345")
_LONGEST_ANSWER: Final = 200
_OF_JUDGE: Final = ("judge", "judge_prompt", "judge_usage", "judge_answer", "judge_error")
_DATED: Final = re.compile(r"-\d{8}$")
"""The date that the API appends to an alias."""


def grade(answer: str) -> int | None:
    """The grade in a judge's answer, which must be a single digit from 1 to 5; otherwise None (rule 31)."""
    text = answer.strip()
    return int(text) if text in _GRADES else None


def responses_to_grade(
    cases: Sequence[PromptCase], file: ResponsesFile, *, again: bool, limit: int | None
) -> tuple[PendingResponse, ...]:
    """At most *limit* responses without a grade, or with *again* of all responses."""
    pending = []
    for case in cases:
        for slot in file.slots(case.id):
            row = file.rows.get(slot)
            if row is not None and is_answered(row) and (again or not _is_graded(row.get("quality"))):
                pending.append(PendingResponse(case, slot))
    return tuple(pending[:limit])


def given_by_the_judge(todo: Sequence[PendingResponse], file: ResponsesFile, model: str) -> int:
    """Return how many of the responses the judge's own model wrote, ignoring dates of aliases."""
    models = [str(file.rows[pending.slot].get("model") or "") for pending in todo]
    return sum(_DATED.sub("", author) == _DATED.sub("", model) for author in models)


def grade_responses(todo: Sequence[PendingResponse], calls: ModelCalls) -> CallOutcome:
    """Ask for a grade of each response, and write the file.

    An answer without a grade is recorded as ``judge_answer``, a failed call as ``judge_error``; the next command
    repeats both. Raises SitegenError if no call can succeed.
    """
    template, rows = calls.template, calls.file.rows
    jobs = [
        Job(
            slot,
            template.fill(
                {
                    **case.values(),
                    "expected": _NO_REFERENCE if case.expected is None else case.expected,
                    "output": rows[slot]["output"],
                }
            ),
        )
        for case, slot in todo
    ]
    malformed = 0

    def row_of(job: Job, result: ModelReply | CallError) -> ResponseRow:
        nonlocal malformed
        row = {key: value for key, value in rows[job.slot].items() if key not in ("quality", *_OF_JUDGE)}
        if isinstance(result, CallError):
            return {**row, "judge_error": str(result)}
        judge = result.model or calls.settings.model
        row |= {"judge": judge, "judge_prompt": template.digest, "judge_usage": result.stated_usage()}
        quality = grade(result.text)
        if quality is None:
            malformed += 1
            return {**row, "judge_answer": cut(result.text, _LONGEST_ANSWER)}
        return {**row, "quality": quality}

    return replace(calls.record(jobs, row_of), malformed=malformed)


def _is_graded(quality: object) -> bool:
    return isinstance(quality, int) and not isinstance(quality, bool) and 1 <= quality <= 5
