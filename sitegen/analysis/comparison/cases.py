"""Groups answers by case, for paired tests and flips.

A case with several responses counts once: it is right if more than half of its responses are right, and its grade is
the mean of their grades.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sitegen.analysis.comparison.values import CaseFlip, Flipped
from sitegen.frozen import Frozen
from sitegen.model.scorecards import Answer
from sitegen.stats.significance import mean

ORDER: Final[tuple[Flipped, ...]] = ("broken", "fixed", "still_wrong")


class CaseOutcome(Frozen):
    """The result of one variant in one case."""

    category: str
    right: bool | None
    """None if no response to the case was scored."""
    grade: float | None


def cases_by_id(answers: Iterable[Answer]) -> dict[str, CaseOutcome]:
    """Group the answers of a variant by the id of their case, in the order of the answers, without failed calls."""
    grouped: dict[str, list[Answer]] = {}
    for answer in answers:
        if not answer.failed:
            grouped.setdefault(answer.case_id, []).append(answer)
    return {case_id: _case_outcome(responses) for case_id, responses in grouped.items()}


def _case_outcome(answers: list[Answer]) -> CaseOutcome:
    verdicts = [answer.correct for answer in answers if answer.correct is not None]
    grades = [answer.quality for answer in answers if answer.quality is not None]
    return CaseOutcome(
        category=answers[0].category,
        right=2 * sum(verdicts) > len(verdicts) if verdicts else None,
        grade=mean(grades) if grades else None,
    )


def case_flips(first: dict[str, CaseOutcome], second: dict[str, CaseOutcome]) -> tuple[CaseFlip, ...]:
    """Return the common cases that at least one side got wrong."""
    flips = [
        CaseFlip(
            case_id,
            before.category,
            "still_wrong" if before.right == after.right else "fixed" if after.right else "broken",
        )
        for case_id, before in first.items()
        if (after := second.get(case_id)) is not None
        and before.right is not None
        and after.right is not None
        and not (before.right and after.right)
    ]
    return tuple(sorted(flips, key=lambda flip: (ORDER.index(flip.change), flip.case_id)))
