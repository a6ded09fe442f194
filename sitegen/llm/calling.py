"""Asks a model for responses to the test cases of an eval, or for grades from 1 to 5, with many calls at once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.errors import SitegenError
from sitegen.importers.usual_names import PARTS
from sitegen.llm.client import CallError, CallSettings, Client, Log, ModelReply
from sitegen.llm.files import Prompt, ResponseRow, ResponsesFile, Slot, placeholders_of, text_at
from sitegen.model.frozen import Frozen
from sitegen.scoring.responses.files import TestCase, grade_of
from sitegen.text.plain import cut


class CallOutcome(Frozen):
    """The results of the calls for one file."""

    calls: int
    failures: tuple[tuple[str, str], ...]
    """The case of each call without an answer, with its variant or run, and the reason; in the order of completion."""
    malformed: int = 0
    """Answers of a judge without a grade."""


class ModelCalls(Frozen):
    """Calls of a model with one prompt, whose results become rows of one file."""

    template: Prompt
    file: ResponsesFile
    settings: CallSettings
    step: Callable[[], None]
    """Called after each call."""
    log: Log

    def record(
        self, prompts: Mapping[Slot, Prompt], row_of: Callable[[Slot, ModelReply | CallError], ResponseRow]
    ) -> CallOutcome:
        """Send every prompt, ``settings.concurrency`` at a time, put the row of each result, and write the file.

        A failed call is a result. If no call can succeed, raises SitegenError and abandons the calls under way.
        """
        failures: list[tuple[str, str]] = []
        waiting = iter(prompts.items())

        async def work(client: Client) -> None:
            for slot, prompt in waiting:
                try:
                    result: ModelReply | CallError = await client.ask(str(slot), prompt)
                except CallError as error:
                    failures.append((str(slot), str(error)))
                    result = error
                self.file.put(slot, row_of(slot, result))
                self.step()

        async def ask_all() -> None:
            async with aclosing(Client(self.settings, self.log)) as client:
                try:
                    async with asyncio.TaskGroup() as group:
                        for _ in range(self.settings.concurrency):
                            group.create_task(work(client))
                except* SitegenError as failed:
                    first: BaseException = failed
                    while isinstance(first, BaseExceptionGroup):
                        first = first.exceptions[0]
                    raise first from None

        with self.file:
            if prompts and not _is_looping():
                asyncio.run(ask_all())
            elif prompts:  # a notebook already runs an event loop in this thread
                with ThreadPoolExecutor(1) as thread:
                    thread.submit(asyncio.run, ask_all()).result()
        return CallOutcome(len(prompts), tuple(failures))

    def ask_for_responses(self, todo: Sequence[Pending]) -> CallOutcome:
        """Ask for each of the responses, and write the file. Raises SitegenError if no call can succeed.

        A new response replaces the old row as a whole, because its grade and embedding belong to the old text.
        """
        template, settings = self.template, self.settings

        def row_of(slot: Slot, result: ModelReply | CallError) -> ResponseRow:
            row: ResponseRow = {"case_id": slot.case_id, "prompt": template.digest}
            if isinstance(result, CallError):
                return {**row, "error": str(result)}
            model = result.model or settings.model
            usage = result.stated_usage()
            return {**row, "output": result.text, "model": model, "parameters": settings.parameters, **usage}

        return self.record({slot: template.fill(placeholders_of(case)) for case, slot in todo}, row_of)

    def grade_responses(self, todo: Sequence[Pending]) -> CallOutcome:
        """Ask for a grade of each response, and write the file.

        An answer without a grade is recorded as ``judge_answer``, a failed call as ``judge_error``; the next command
        repeats both. Raises SitegenError if no call can succeed.
        """
        template, rows = self.template, self.file.rows
        prompts = {
            slot: template.fill({**placeholders_of(case), "expected": reference, "output": rows[slot]["output"]})
            for case, slot in todo
            for reference in (text_at(case, PARTS["expected"]) or _NO_REFERENCE,)
        }
        malformed = 0

        def row_of(slot: Slot, result: ModelReply | CallError) -> ResponseRow:
            nonlocal malformed
            row = {key: value for key, value in rows[slot].items() if key not in ("quality", *_OF_JUDGE)}
            if isinstance(result, CallError):
                return {**row, "judge_error": str(result)}
            judge = result.model or self.settings.model
            row |= {"judge": judge, "judge_prompt": template.digest, "judge_usage": result.stated_usage()}
            quality = grade_of(result.text)
            if quality is None:
                malformed += 1
                return {**row, "judge_answer": cut(result.text, _LONGEST_ANSWER)}
            return {**row, "quality": quality}

        return replace(self.record(prompts, row_of), malformed=malformed)


def _is_looping() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


Pending: TypeAlias = tuple[TestCase, Slot]
"""A case and the place of its response, which is to be asked for or graded."""


def is_answered(row: ResponseRow | None) -> bool:
    """Whether a row holds a response, which may be empty."""
    return row is not None and isinstance(row.get("output"), str) and not row.get("error")


_NO_REFERENCE: Final = "(none)"

_LONGEST_ANSWER: Final = 200  # characters
_OF_JUDGE: Final = ("judge", "judge_prompt", "judge_usage", "judge_answer", "judge_error")
DATED: Final = re.compile(r"-\d{8}$")
"""The date that the API appends to an alias."""


def responses_to_grade(cases: Sequence[TestCase], file: ResponsesFile, *, again: bool) -> tuple[Pending, ...]:
    """Return the responses without a grade; ``again``: all of them."""
    pending = []
    for case in cases:
        for slot in file.slots(case.id):
            row = file.rows.get(slot, {})
            quality = row.get("quality")
            is_graded = not isinstance(quality, str) and grade_of(quality) is not None
            if is_answered(row) and (again or not is_graded):
                pending.append((case, slot))
    return tuple(pending)
