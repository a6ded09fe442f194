"""Turns named scores of cases into opinions.

Tools that name their scores (Inspect's scorers, the columns of a table) do not state which of them are assertions. A
score whose values in a file are all right or wrong counts as one: it becomes a field, whose cells are followed through
history. Any other score is only a number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final, NamedTuple

from sitegen.frozen import Frozen
from sitegen.model.metrics import Counts
from sitegen.model.scorecards import FieldScore
from sitegen.model.values import Unusable, Value
from sitegen.scoring.judged.case import Grader, Opinion
from sitegen.stats.counts import mean


class Grade(NamedTuple):
    """One score of one answer."""

    score: float | None
    """0..1. None if there is no score, or if it is not a number in this range."""
    right: bool | None = None
    """Whether the answer is right, if the tool states it by a word. None if the tool states a number."""


_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_LONGEST: Final = 40
"""Longer texts are not read as numbers."""
_NOTHING: Final = frozenset({"", "nan", "none", "null", "n/a"})
"""Texts for "no score" in tables, in lower case."""


class Graded(Frozen):
    """One score of one case, which may have several answers."""

    grades: tuple[Grade, ...]
    """One for each answer."""
    score: float | None = None
    """The score of all answers, if the tool states it. None stands for their mean."""
    reasoning: str = ""
    details: Value = None
    grader: Grader | None = None


def grade_of(value: Value, words: Mapping[str, Grade], low: float = 0.0, high: float = 1.0) -> Grade | None:
    """Read a truth value, one of *words* (as written, else in lower case) or a number from low to high as a grade.

    No value, and NaN, is a grade without a score. Returns None for any other value.
    """
    if isinstance(value, bool):
        return Grade(float(value), value)
    if isinstance(value, str):
        spelled = value.strip()
        if grade := words.get(spelled) or words.get(spelled.lower()):
            return grade
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
    """Return the names of scores that are either right or wrong in all cases."""
    is_field: dict[str, bool] = {}
    for case in cases:
        for name, graded in case.items():
            for score, right in graded.grades:
                if right is not None or score is not None:
                    is_field[name] = is_field.get(name, True) and (right is not None or score in (0, 1))
    return frozenset(name for name in is_field if is_field[name])


def opinions(case: Mapping[str, Graded], fields: frozenset[str]) -> tuple[Opinion, ...]:
    """Return an opinion for each score of a case."""
    return tuple(_opinion(name, graded, name in fields) for name, graded in case.items())


def passed(judges: Iterable[Opinion]) -> bool | None:
    """Whether all fields have the full score. None if there is no field."""
    full = [judge.score == 1 for judge in judges if judge.counts]
    return all(full) if full else None


def _opinion(name: str, graded: Graded, is_field: bool) -> Opinion:
    defined = [(score, right) for score, right in graded.grades if right is not None or score is not None]
    rights = [score == 1 if right is None else right for score, right in defined] if is_field else []
    wrong = rights.count(False)
    score = graded.score if graded.score is not None else mean(grade.score for grade in graded.grades).value
    counts = Counts(tp=len(rights) - wrong, fp=wrong, fn=wrong, wrong_value=wrong)
    return Opinion(
        name=name,
        score=score,
        misses=(f"{name}: {graded.reasoning}" if graded.reasoning else name,) if wrong else (),
        reasoning="" if wrong else graded.reasoning,
        counts=(FieldScore(name, counts),) if rights else (),
        details=graded.details,
        grader=graded.grader,
    )
