"""What the outputs of an eval took, as their files state it: cost, tokens, time, and the model."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from sitegen.analysis.slices import by_answerer
from sitegen.model.changes import Ends
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import MetricSpec
from sitegen.model.scorecards import Scorecard
from sitegen.pages.html.charts import apart, percent, y
from sitegen.pages.html.formats import NIL
from sitegen.pages.html.tables import Column, class_name
from sitegen.pages.trend.page import TrendView
from sitegen.text.values import amount, metric_text

_AMOUNTS: Final = (("cost", "tokens_out", "tokens_in"), ("latency_median",))
"""The headline is drawn against the first of each that two answerers or outputs state."""

ROWS: Final = 200
"""Largest number of outputs in the table and in the picture: the newest ones."""

_NAMED: Final = 12  # largest number of dots with a name beside them


class Dot(NamedTuple):
    """The answers of one variant and model in one output, in a picture of quality against an amount."""

    at: int
    """Index of the point."""
    name: str
    """The variant and the model, else the models of the output; empty if none is stated."""
    value: float
    """The headline."""
    amount: float
    is_newest: bool
    """Whether no later output has answers of these."""


class Tradeoff(Frozen):
    """The headline of each output, or of each variant and model in it, against its cost, or another amount."""

    headline: MetricSpec
    against: MetricSpec
    dots: tuple[Dot, ...]
    """Oldest first."""
    right: float
    """The amount at the right edge; 0 is at the left one."""
    ends: Ends
    """The headline at the lower and at the upper edge."""

    @property
    def names(self) -> list[str]:
        """The variants and models, those of the newest output first, in its order."""
        return list(dict.fromkeys(dot.name for dot in sorted(self.dots, key=lambda dot: -dot.at)))

    @property
    def named(self) -> list[tuple[Dot, str]]:
        """The newest dots, at most ``_NAMED``, each with the place of its name from the top."""
        newest = [dot for dot in self.dots if dot.is_newest][-_NAMED:]
        places = apart([y(dot.value, self.ends) / 10 for dot in newest])
        return [(dot, f"{place:.2f}%") for dot, place in zip(newest, places, strict=True)]

    @property
    def unbeaten(self) -> list[Dot]:
        """Of the newest dots those that no other one equals or beats in both, and beats in one; the cheapest first."""
        sign, found = -1 if self.headline.higher_is_better else 1, list[Dot]()
        for dot in sorted(self.dots, key=lambda dot: (dot.amount, sign * dot.value, dot.name)):
            last = found[-1] if found else dot
            if dot.is_newest and (dot is last or sign * dot.value < sign * last.value or dot[2:4] == last[2:4]):
                found.append(dot)
        return found

    def x(self, amount: float) -> str:
        """The place of an amount from the left."""
        return percent(amount, self.right)

    def y(self, value: float) -> str:
        """The place of a headline from the top."""
        return f"{y(value, self.ends) / 10:.2f}%"

    def dot_text(self, view: TrendView, dot: Dot) -> str:
        """The output of a dot, the headline, what it took, and who answered."""
        value, taken = metric_text(dot.value, self.headline.unit), amount(dot.amount, self.against.unit)
        words = f"{view.points[dot.at].snapshot.label}: {self.headline.label} {value}, {taken}"
        return f"{words}, {dot.name}" if dot.name else words


def columns(view: TrendView, answers: Sequence[tuple[int, str, Scorecard]]) -> list[Column]:
    """A column for each usage metric that any of the answers state, with the unit in the head."""
    return [
        Column(
            name=class_name(spec.label),
            head=f"{spec.label}, {spec.unit}" if spec.unit != "tokens" else spec.label,
            classes="num",
            cell=lambda row, name=spec.name, unit=spec.unit: (
                NIL if (value := row[2].metric(name)) is None else amount(value, unit).removesuffix(f" {unit}")
            ),
        )
        for spec in (view.specs[place] for place in view.usage_places)
        if any(card.metric(spec.name) is not None for *_, card in answers)
    ]


def answers(view: TrendView) -> list[tuple[int, str, Scorecard]]:
    """The newest outputs, oldest first, by who answered: the index of the point, a name that may be empty, the card."""
    points = [(at, view.points[at]) for at in view.outputs[-ROWS:]]
    return [
        (at, name, card)
        for at, point in points
        for name, card in (by_answerer(point.scorecard) or {point.made_by: point.scorecard}).items()
    ]


def tradeoffs(view: TrendView, answers: Sequence[tuple[int, str, Scorecard]]) -> list[Tradeoff]:
    """The answers in a picture for each amount that any two of them state."""
    pictures = ([_tradeoff(view, answers, name) for name in names] for names in _AMOUNTS)
    return [picture for each in pictures if (picture := next(filter(None, each), None))]


def _tradeoff(view: TrendView, answers: Sequence[tuple[int, str, Scorecard]], name: str) -> Tradeoff | None:
    """The picture of an amount; None if not two of the answers state it. Its axis begins at 0, to show ratios."""
    against = next((spec for spec in view.specs if spec.name == name), None)
    stated = [(at, who, card.metric(view.specs[0].name), card.metric(name)) for at, who, card in answers]
    drawn = [(at, who, value, taken) for at, who, value, taken in stated if value is not None and taken is not None]
    if against is None or sum(taken > 0 for *_, taken in drawn) < 2:
        return None
    newest = {who: at for at, who, *_ in drawn}
    dots = tuple(
        Dot(at=at, name=who, value=value, amount=taken, is_newest=newest[who] == at) for at, who, value, taken in drawn
    )
    values = [dot.value for dot in dots]
    margin = (max(values) - min(values)) * 0.08 or abs(max(values)) * 0.05 or 0.05
    return Tradeoff(
        headline=view.specs[0],
        against=against,
        dots=dots,
        right=max(dot.amount for dot in dots) * 1.06,
        ends=Ends(min(values) - margin, max(values) + margin),
    )
