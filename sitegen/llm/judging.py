"""Lets a model grade responses from 1 to 5, and records the grades in the file of the responses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from sitegen.llm.calling import CallOutcome, Job, ModelCalls, PendingResponse, is_answered
from sitegen.llm.client import CallError, ModelReply
from sitegen.llm.prompts import PromptCase
from sitegen.llm.responses_file import ResponseRow, ResponsesFile
from sitegen.text.plain import cut

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
