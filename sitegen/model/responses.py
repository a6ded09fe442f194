"""Responses to test cases: what comparisons of variants are made from."""

from __future__ import annotations

from typing import NamedTuple


class Answer(NamedTuple):
    """The response of one variant to one test case."""

    variant: str
    """Empty if the eval has only one."""
    case_id: str
    category: str
    """Of the case; empty if it has none."""
    correct: bool | None
    """None: the case has no expected text, or the call failed."""
    quality: int | None
    """Grade 1 to 5 by a judge; None if there is none, or it was malformed."""
    failed: bool = False
    """The call gave an error instead of an answer: excluded from every metric, and counted."""
    rouge: tuple[float, float, float] | None = None
    """ROUGE-1, ROUGE-2 and ROUGE-L; None if there is nothing to compare with."""
    model: str = ""
    """That gave it; empty if no file says."""
    judge: str = ""
    """That graded it; likewise."""
