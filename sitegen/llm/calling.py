"""Calls a model for many jobs concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from sitegen.errors import SitegenError
from sitegen.frozen import Frozen
from sitegen.llm.client import CallError, CallSettings, Client, Log, ModelReply
from sitegen.llm.prompts import Prompt
from sitegen.llm.responses_file import ResponsesFile, Row, Slot


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


def call_and_record(
    jobs: Sequence[Job],
    file: ResponsesFile,
    settings: CallSettings,
    row_of: Callable[[Job, ModelReply | CallError], Row],
    *,
    step: Callable[[], None],
    log: Log,
) -> CallOutcome:
    """Call the model for every job, record the row of each result, and write the file.

    Raises SitegenError if no call can succeed.
    """
    failures: list[FailedCall] = []

    def done(job: Job, result: ModelReply | CallError) -> None:
        if isinstance(result, CallError):
            failures.append(FailedCall(str(job.slot), str(result)))
        file.put(job.slot, row_of(job, result))
        step()

    with file:
        if jobs:
            call_all(jobs, settings, done, log)
        file.finish()
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
