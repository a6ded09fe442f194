"""Calls a model for many jobs concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from sitegen.errors import SitegenError
from sitegen.llm.client import CallError, CallSettings, Client, Log, ModelReply
from sitegen.llm.prompts import Prompt
from sitegen.llm.responses_file import Slot


class Job(NamedTuple):
    """A prompt to send, and the response that it is for."""

    slot: Slot
    prompt: Prompt


Done = Callable[[Job, ModelReply | CallError], None]


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
