"""Answers by case: what paired tests and flips are made from.

A case with several responses is one case: right if more than half of its responses are, its grade is their mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from sitegen.analysis.comparison.values import CaseFlip, Flipped
from sitegen.model.scorecards import Answer
from sitegen.stats.significance import mean

ORDER: Final[tuple[Flipped, ...]] = ("broken", "fixed", "still_wrong")


class CaseOutcome(NamedTuple):
    """What one variant made of one case."""

    category: str
    right: bool | None
    """None: nothing of it was scored."""
    grade: float | None


def cases_by_id(answers: Iterable[Answer]) -> dict[str, CaseOutcome]:
    """The cases of a variant by id, in the order of its answers. Failed calls are left out."""
    grouped: dict[str, list[Answer]] = {}
    for answer in answers:
        if not answer.failed:
            grouped.setdefault(answer.case_id, []).append(answer)
    return {case_id: _case_outcome(some) for case_id, some in grouped.items()}


def _case_outcome(answers: list[Answer]) -> CaseOutcome:
    verdicts = [answer.correct for answer in answers if answer.correct is not None]
    grades = [answer.quality for answer in answers if answer.quality is not None]
    return CaseOutcome(
        category=answers[0].category,
        right=2 * sum(verdicts) > len(verdicts) if verdicts else None,
        grade=mean(grades) if grades else None,
    )


def case_flips(first: dict[str, CaseOutcome], second: dict[str, CaseOutcome]) -> tuple[CaseFlip, ...]:
    """Cases that both sides have, and at least one of them got wrong."""
    found = [
        CaseFlip(case_id, before.category, fate_of_case(before.right, after.right))
        for case_id, before in first.items()
        if (after := second.get(case_id)) is not None
        and before.right is not None
        and after.right is not None
        and not (before.right and after.right)
    ]
    return tuple(sorted(found, key=lambda flip: (ORDER.index(flip.change), flip.case_id)))


def fate_of_case(before: bool, after: bool) -> Flipped:
    """What became of something that was wrong on at least one side."""
    if before == after:
        return "still_wrong"
    return "fixed" if after else "broken"
