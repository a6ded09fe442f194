"""Named scores of cases as opinions: a score that only says right or wrong is a field, any other is a score alone.

Tools that name their scores (Inspect's scorers, the columns of a table) do not say which of them are assertions. A
score whose values in one file are all right or wrong is taken for one: its cells are followed through history.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from sitegen.model.metrics import Counts
from sitegen.model.values import Unusable, Value
from sitegen.scoring.judged.case import Grader, Opinion
from sitegen.stats.counts import mean


class Grade(NamedTuple):
    """What one score says of one answer."""

    score: float | None
    """0..1; None: it was not given, or is no such number."""
    right: bool | None = None
    """Where the tool says right or wrong by a word, whatever the score; None: it gives a number."""


_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_LONGEST: Final = 40
"""Characters of a text that is taken for a number."""
_NOTHING: Final = frozenset({"", "nan", "none", "null", "n/a"})
"""Texts, in small letters, by which a table says that there is no score."""


class Graded(NamedTuple):
    """What one score says of one case: of each answer, where it was asked several times."""

    grades: tuple[Grade, ...]
    score: float | None = None
    """Of all answers, as the tool summed them up; None: their mean."""
    reasoning: str = ""
    details: Value = None
    grader: Grader | None = None


def grade_of(value: Value, words: Mapping[str, Grade], low: float = 0.0, high: float = 1.0) -> Grade | None:
    """A value as a grade: truth values, *words* (as they stand, else in small letters), and numbers from low to high.

    Nothing, and NaN, is a grade without a score. None: a value that says something else.
    """
    if isinstance(value, bool):
        return Grade(float(value), value)
    if isinstance(value, str):
        spelled = value.strip()
        if known := words.get(spelled) or words.get(spelled.lower()):
            return known
        if spelled.lower() in _NOTHING:
            return Grade(None)
        value = Decimal(spelled) if len(spelled) <= _LONGEST and _NUMBER.fullmatch(spelled) else False
    if value is None or (isinstance(value, Unusable) and value.literal.lower() == "nan"):
        return Grade(None)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    try:
        score = (float(value) - low) / (high - low)
    except OverflowError:
        return None
    return Grade(score) if math.isfinite(score) and 0 <= score <= 1 else None


def names_of_fields(cases: Iterable[Mapping[str, Graded]]) -> frozenset[str]:
    """The names of scores that say nothing but right or wrong in all these cases."""
    seen: dict[str, bool] = {}
    for case in cases:
        for name, graded in case.items():
            for grade in graded.grades:
                if grade.right is not None or grade.score is not None:
                    seen[name] = seen.get(name, True) and (grade.right is not None or grade.score in (0, 1))
    return frozenset(name for name, is_field in seen.items() if is_field)


def opinions(case: Mapping[str, Graded], fields: frozenset[str]) -> tuple[Opinion, ...]:
    """One opinion for each score of a case."""
    return tuple(_opinion(name, graded, name in fields) for name, graded in case.items())


def passed(judges: Iterable[Opinion]) -> bool | None:
    """Whether all fields have the full score; None without any field."""
    full = [judge.score == 1 for judge in judges if judge.counts]
    return all(full) if full else None


def _opinion(name: str, graded: Graded, is_field: bool) -> Opinion:
    rights = _rights(graded.grades) if is_field else []
    wrong = rights.count(False)
    score = graded.score if graded.score is not None else mean(grade.score for grade in graded.grades)[0]
    counts = Counts(tp=len(rights) - wrong, fp=wrong, fn=wrong, wrong_value=wrong)
    return Opinion(
        name=name,
        score=score,
        misses=(f"{name}: {graded.reasoning}" if graded.reasoning else name,) if wrong else (),
        reasoning="" if wrong else graded.reasoning,
        counts=((name, counts),) if rights else (),
        details=graded.details,
        grader=graded.grader,
    )


def _rights(grades: Sequence[Grade]) -> list[bool]:
    return [
        grade.score == 1 if grade.right is None else grade.right
        for grade in grades
        if grade.right is not None or grade.score is not None
    ]
