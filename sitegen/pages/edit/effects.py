"""The table of the effects of an edit or a commit: each eval before and after, the verdict, and flipped fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from sitegen.frozen import Frozen
from sitegen.model.cells import Flips
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict, Decision
from sitegen.model.series import Effect, Headline
from sitegen.model.usage import Exchange, regraded
from sitegen.named_tuple import NamedTuple
from sitegen.pages.change_text import own_unit, range_of, verdict_words
from sitegen.pages.labels import exchanges
from sitegen.text.plain import line

Grade: TypeAlias = Decision | Literal["same output", "recorded", "not judged", "first output"]
"""The verdict on a change, or why there is none. same output: it was only re-scored. recorded: runs recorded the
numbers. not judged: the model or judge changed, or it is open which edit the output was made with. first output: there
is nothing to compare with."""

GRADES: Final[tuple[Grade, ...]] = (
    "worse",
    "likely worse",
    "better",
    "likely better",
    "cannot tell",
    "same",
    "recorded",
    "same output",
    "not judged",
    "first output",
)
"""All grades in the order of tables, losses first."""

HEADLINE: Final = MetricSpec("f1", "F1", "")
"""The metric of the first value of an effect without specs."""


class GradeCount(NamedTuple):
    """The number of evals with a grade."""

    grade: Grade
    evals: int


ONLY_RECORDED: Final = "whether this is more than chance is unknown"
"""Why recorded numbers have no verdict."""

NOTICED: Final = 0.0005
"""Smaller parts of a change are not mentioned."""


class Move(Frozen):
    """One metric before and after."""

    spec: MetricSpec
    before: float | None
    after: float | None
    change: float | None
    """None if either value is undefined, or if they cannot be compared."""


class FlippedField(NamedTuple):
    """The cells of one attribute that flipped."""

    attribute: str
    fixed: int
    broken: int


class EffectRow(Frozen):
    """One eval before and after an edit or a commit."""

    eval_id: str
    name: str
    grade: Grade
    why: str
    """The reason for the grade, as the end of a sentence; empty if the grade implies it."""
    before: Headline | None
    after: Headline | None
    moves: tuple[Move, ...]
    """One for each metric, the headline first."""
    verdict: ChangeVerdict | None = None
    fixed: int = 0
    broken: int = 0
    fields: tuple[FlippedField, ...] = ()
    remarks: tuple[str, ...] = ()
    """Sentences on causes besides the output that may have changed the numbers."""

    @property
    def headline(self) -> Move:
        """The move of the headline."""
        return self.moves[0]

    @property
    def share(self) -> float:
        """The size of the headline's change as a share of the metric's range, if it has one."""
        return abs(self.headline.change or 0.0) / range_of(self.headline.spec)


class EffectsView(Frozen):
    """The effects of an edit or a commit on all evals."""

    rows: tuple[EffectRow, ...]
    """By grade, then by the size of the change."""

    @property
    def is_without_loss(self) -> bool:
        """Whether a verdict is open, all changes have one, and by none of them an eval is worse or likely worse."""
        grades = {row.grade for row in self.rows}
        return "cannot tell" in grades and grades.isdisjoint(("worse", "likely worse", "recorded", "not judged"))

    @property
    def counts(self) -> tuple[GradeCount, ...]:
        """How many evals have each grade, in the order of the table."""
        return grade_counts(row.grade for row in self.rows)

    @property
    def largest(self) -> EffectRow | None:
        """The eval whose headline changed most; None if there is none."""
        return max(self.rows, key=lambda row: row.share, default=None)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the headline metrics; one if all evals have the same."""
        return tuple(dict.fromkeys(row.headline.spec.label for row in self.rows))


def grade_counts(grades: Iterable[Grade]) -> tuple[GradeCount, ...]:
    """How often each grade occurs, in the order of tables."""
    listed = list(grades)
    return tuple([GradeCount(grade, listed.count(grade)) for grade in GRADES if grade in listed])


def effects_view(effects: Iterable[Effect]) -> EffectsView:
    """The effects of an edit."""
    return EffectsView(by_grade(_effect_row(effect) for effect in effects if effect.after is not None))


def by_grade(rows: Iterable[EffectRow]) -> tuple[EffectRow, ...]:
    """The rows in the order of the table."""
    return tuple(sorted(rows, key=lambda row: (GRADES.index(row.grade), -row.share, row.name, row.eval_id)))


def _effect_row(effect: Effect) -> EffectRow:
    moves = moved(effect.before, effect.after, effect.specs, effect.window.judge)
    spec = effect.specs[0] if effect.specs else HEADLINE
    grade = _grade(effect, moves[0], spec)
    fields = flipped_fields(effect.flips) if effect.flips else ()
    verdict = effect.verdict if grade not in ("not judged", "first output") else None
    return EffectRow(
        eval_id=effect.eval_id,
        name=line(effect.name, 80),
        grade=grade,
        why=_why(effect, grade),
        before=effect.before,
        after=effect.after,
        moves=defined(moves) if spec.recorded else moves,
        verdict=verdict,
        fixed=sum(field.fixed for field in fields),
        broken=sum(field.broken for field in fields),
        fields=fields if effect.window.model is None else (),
        remarks=tuple(_remarks(effect, moves[0], spec)),
    )


def _grade(effect: Effect, headline: Move, spec: MetricSpec) -> Grade:
    if effect.window.model or effect.regraded or effect.window.or_edit:
        return "not judged"
    if headline.change is None:
        return "first output"
    if effect.verdict is not None:
        return effect.verdict.decision
    if effect.window.decision is not None:
        return effect.window.decision
    if spec.recorded:
        return "recorded"
    return "same output" if headline.change == 0 else "not judged"


def _why(effect: Effect, grade: Grade) -> str:
    if effect.regraded:
        return "two judges do not grade alike"
    if effect.window.model:
        return "the model changed too"
    if effect.window.or_edit:
        return f"the output may have been made with {effect.window.or_edit.short} instead"
    if grade == "first output":
        return "nothing to compare with"
    if grade == "recorded":
        return ONLY_RECORDED
    spec = effect.specs[0] if effect.specs else HEADLINE
    return verdict_words(effect.verdict, spec, effect.nouns) if effect.verdict else ""


def _remarks(effect: Effect, headline: Move, spec: MetricSpec) -> Iterable[str]:
    if headline.change is not None and effect.window.by_rules is not None and abs(effect.window.by_rules) >= NOTICED:
        yield f"{own_unit(effect.window.by_rules, spec)} of the change is by ground truth and rules, not by the output."
    yield from exchanges(effect.window.model, effect.window.judge)
    if headline.change is not None and not effect.window.comparable:
        yield f"Not over the same {effect.nouns.documents}."
    if effect.flips and effect.flips.by_truth:
        yield f"{effect.flips.by_truth:,} of the flips while the ground truth of the {effect.nouns.attribute} changed."


def flipped_fields(flips: Flips) -> tuple[FlippedField, ...]:
    """The attributes with cells that were fixed or broken, those with the most first."""
    fixed, broken = dict(flips.fixed), dict(flips.broken)
    rows = (FlippedField(name, fixed.get(name, 0), broken.get(name, 0)) for name in fixed | broken)
    return tuple(sorted(rows, key=lambda row: (-row.fixed - row.broken, row.attribute)))


def moved(
    before: Headline | None, after: Headline | None, specs: tuple[MetricSpec, ...], judge: Exchange | None = None
) -> tuple[Move, ...]:
    """Each metric at two points; without specs only the headline. Grades of two different judges have no change."""
    moves = []
    for index, spec in enumerate(specs or (HEADLINE,)):
        first = before.values[index] if before else None
        last = after.values[index] if after else None
        change = None if first is None or last is None or regraded(judge, spec.name) else last - first
        moves.append(Move(spec=spec, before=first, after=last, change=change))
    return tuple(moves)


def defined(moves: tuple[Move, ...]) -> tuple[Move, ...]:
    """The headline, and the other metrics that either side has, because runs may record different metrics."""
    return (*moves[:1], *(move for move in moves[1:] if move.before is not None or move.after is not None))
