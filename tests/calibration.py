"""Draws outputs whose change is known, to count how often each word for a change is right and each step is found.

*Words.* Each trial draws an eval, an output before and an output after, both anew, whose values are right with a chance
that the change moves by the same amount everywhere. Some documents are harder than others; of one document, some fields
are. *as a whole*: outputs are better or worse as a whole besides, and four of them were made under the same
instructions. *few documents*: most fields are right, and some by the toss of a coin, so that one of them may break in
every document by chance. A change of 0 points has no right direction: better and worse are both wrong.

*Losses.* Each trial is a series of outputs that falls by a number of standard deviations of the headline. What the
status of the loss is then counts, of the losses that are found.

*Numbers without documents.* Each trial is a series of recorded numbers, with normal noise or with Student's t of three
degrees of freedom. Whatever the page of steps would list counts as told: steps, falls too new to tell and bad runs.
"""

import random
from collections import Counter
from collections.abc import Sequence
from math import fsum, sqrt
from typing import Final, NamedTuple

from msgspec.structs import replace

from sitegen.analysis.deltas import Compared
from sitegen.analysis.flips import flips as flips_of
from sitegen.analysis.noise.changes import change_verdict
from sitegen.analysis.noise.repeats import Repeat, Repeats, noise_of
from sitegen.analysis.regressions import steps_of
from sitegen.model.changes import LEVELS, ChangeVerdict, Decision, Noise, StepStatus
from sitegen.model.metrics import Counts, Metric
from sitegen.model.outcomes import Cell, CellMap, Flips, Period, State
from sitegen.model.scorecards import FieldScore, Scorecard
from sitegen.model.series import EvalInfo, Point, Series
from sitegen.stats import counts as stats
from tests import pages_sample as sample

VALUES: Final = 20
"""Values of a document, where documents are the units."""


class Pairs(NamedTuple):
    """What two outputs are drawn of."""

    documents: int
    values: int = VALUES
    unsteady: float | None = None
    """The share of fields that are right by the toss of a coin; the others are nearly always right."""
    whole: float = 0.0
    """Standard deviation of whole outputs."""
    repeats: int = 0
    """Outputs made under the same instructions, of which the last one is compared."""
    item: int = 1
    """Values of a list item, of which an output loses one in ten as a whole; 1 without lists."""
    failing: float = 0.0
    """The share of documents that an output fails as a whole."""

    @property
    def name(self) -> str:
        """The set in words."""
        size = f"{self.documents} documents of {self.values} values" if self.documents > 1 else f"{self.values} fields"
        whole = f", outputs vary as a whole by {self.whole:g}, {self.repeats} repeats" if self.whole else ""
        items = f" in list items of {self.item}" if self.item > 1 else ""
        failing = f", {self.failing:.0%} failing as a whole" if self.failing else ""
        return size + items + failing + whole + (f", {self.unsteady:.0%} unsteady" if self.unsteady is not None else "")


SETS: Final = (
    *(Pairs(6), Pairs(10), Pairs(30), Pairs(1, 40), Pairs(1, 100)),
    *(Pairs(10, whole=0.03, repeats=4), Pairs(1, 90, item=9), Pairs(10, 30, item=6), Pairs(20, 10, failing=0.05)),
)
"""The sets of which it is promised that noise gets a sure word in at most 5 of 100 pairs, and a likely one in 15."""
LOST: Final = 0.1
"""How often an output loses a list item."""
FEW: Final = tuple(Pairs(3, 100, unsteady) for unsteady in (0.0, 0.02, 0.05, 0.1, 0.3, 1.0))
"""Sets of few documents with many fields, in which lost fields are looked for."""

COUNTS: Final[dict[State, Counts]] = {
    "correct": Counts(tp=1),
    "wrong_value": Counts(fp=1, fn=1, wrong_value=1),
    "omission": Counts(fn=1, omission=1),
    "true_negative": Counts(tn=1),
}
Rows = Sequence[Sequence[State]]
"""The states of the values of documents."""


def states(rows: Sequence[Sequence[bool]]) -> Rows:
    """The states of values that are right or wrong."""
    return [["correct" if right else "wrong_value" for right in row] for row in rows]


def card(rows: Rows) -> Scorecard:
    """A scorecard of documents."""
    documents = [stats.total(COUNTS[state] for state in row) for row in rows]
    fields = [stats.total(COUNTS[state] for state in column) for column in zip(*rows, strict=True)]
    return sample.card(
        {f"d{number}": counts for number, counts in enumerate(documents)},
        fields=tuple(FieldScore(f"f{number}", counts) for number, counts in enumerate(fields)),
    )


def flips_of_rows(before: Rows, after: Rows, item: int = 1) -> Flips:
    """The flips of documents, of whose values so many are a list item."""
    cells = tuple(
        Cell(
            document=f"d{document}",
            path=f"items[{number // item}].f{number}" if item > 1 else f"f{number}",
            attribute=f"items[].f{number}" if item > 1 else f"f{number}",
            extra=False,
            periods=tuple(Period(start=at, state=state, expected="1", actual="1") for at, state in enumerate(states)),
        )
        for document, rows in enumerate(zip(before, after, strict=True))
        for number, states in enumerate(zip(*rows, strict=True))
    )
    return flips_of(CellMap((0, 1), cells, {f"d{document}": (0,) for document in range(len(before))}), 0, 1)


def verdict(
    before: Rows, after: Rows, noise: tuple[Noise | None, Noise | None] = (None, None), item: int = 1
) -> ChangeVerdict:
    """What became of documents, of whose values so many are a list item."""
    flips = flips_of_rows(before, after, item)
    return change_verdict(Compared(card(before), card(after)), flips, noise=noise)


def chances(rng: random.Random, pairs: Pairs) -> list[list[float]]:
    """How likely each value of each document is right."""
    if pairs.unsteady is not None:
        fields = [0.5 if rng.random() < pairs.unsteady else 0.98 for _ in range(pairs.values)]
        return [fields for _ in range(pairs.documents)]
    if pairs.documents == 1:
        return [[rng.betavariate(7, 3) for _ in range(pairs.values)]]
    return [[rng.betavariate(7, 3)] * pairs.values for _ in range(pairs.documents)]


def words(pairs: Pairs, change: float, trials: int) -> Counter[Decision]:
    """How often each word is given to changes for the better of this size."""
    rng = random.Random(f"{pairs} {change}")
    given: Counter[Decision] = Counter()
    for _ in range(trials):
        base = chances(rng, pairs)

        def output(moved: float = 0.0, base: Sequence[Sequence[float]] = base) -> Rows:
            moved += rng.gauss(0, pairs.whole)
            rows = [[rng.random() < chance + moved for chance in document] for document in base]
            if pairs.failing:
                rows = [row if rng.random() >= pairs.failing else [False] * pairs.values for row in rows]
            for row in rows if pairs.item > 1 else ():
                for start in range(0, len(row), pairs.item):
                    if rng.random() < LOST:
                        row[start : start + pairs.item] = [False] * pairs.item
            return states(rows)

        made = [output() for _ in range(max(1, pairs.repeats))]
        before, after = made[-1], output(change)
        headlines = [Repeat("", card(rows).metrics[0].value) for rows in made]
        of_series = Repeats(CellMap((), (), {}), tuple(range(len(made))), tuple(headlines))
        noise = noise_of([of_series]) if pairs.repeats else None
        mean = fsum(one.headline or 0.0 for one in headlines) / len(headlines)
        known = noise and (
            replace(noise, repeats=len(headlines), mean=mean),
            replace(noise, first=1, repeats=1, mean=card(after).metrics[0].value or 0.0),
        )
        given[verdict(before, after, known or (None, None), pairs.item).decision] += 1
    return given


STAYS: Final = 20
"""Outputs of a loss that stays."""


def headline_series(rng: random.Random, whole: float, lost: Sequence[float]) -> Series:
    """A series of outputs of ten documents, each worse than it would be by so many standard deviations of the headline.

    Whole outputs vary by *whole* times the variance that documents alone give the headline.
    """
    base = [rng.betavariate(49, 21) for _ in range(10)]
    single = sqrt(sum(chance * (1 - chance) for chance in base) / VALUES) / len(base)
    points = []
    for index, loss in enumerate(lost):
        moved = rng.gauss(0, 1) * single * sqrt(whole) - single * sqrt(1 + whole) * loss
        rows = [[rng.random() < chance + moved for _ in range(VALUES)] for chance in base]
        scorecard = replace(card(states(rows)), fields=(), expected_values=VALUES * len(base))
        points.append(Point(sample.snapshot(index + 1, sample.commit(index)), scorecard))
    return series_of(points, EvalInfo("e", "E"))


def series_of(points: Sequence[Point], info: EvalInfo) -> Series:
    return Series(info=info, history=sample.history("e", tuple(points)), specs=sample.SPECS[:1], points=tuple(points))


def recorded_series(rng: random.Random, tails: int, values: Sequence[float]) -> Series:
    """Recorded numbers: the *values*, in standard deviations, and noise with these tails (0: normal)."""
    deviation = sqrt(tails / (tails - 2)) if tails else 1.0
    points = []
    for index, value in enumerate(values):
        draw = rng.gauss(0, 1) / (sqrt(rng.gammavariate(tails / 2, 2) / tails) if tails else 1.0)
        number = 0.7 + 0.01 * (value + draw / deviation)
        scorecard = sample.card(metrics=(Metric("f1", number),))
        points.append(Point(sample.snapshot(index + 1, sample.commit(index)), scorecard))
    return series_of(points, EvalInfo("e", "E", kind="recorded"))


def told_of_noise(tails: int, length: int, trials: int) -> float:
    """Of how many of 100 series of recorded noise anything is told."""
    rng = random.Random(f"recorded {tails} {length}")
    series = (recorded_series(rng, tails, [0.0] * length) for _ in range(trials))
    return 100 * sum(bool(steps_of(one)) for one in series) / trials


def told_of_fall(tails: int, before: int, after: int, fall: float, trials: int) -> float:
    """How many falls of 100 are told at their place or beside it, in recorded numbers."""
    rng = random.Random(f"recorded {tails} {before} {after} {fall}")
    values = [*[0.0] * before, *[-fall] * after]
    places = ([step.at for step in steps_of(recorded_series(rng, tails, values))] for _ in range(trials))
    return 100 * sum(any(abs(at - before) <= 1 for at in found) for found in places) / trials


def said_of_loss(whole: float, lost: Sequence[float], *, builds: int = 1, trials: int) -> Counter[StepStatus]:
    """In how many series a loss is found, by its status: *fixed* if any of the last builds says so.

    Args:
        whole: how much whole outputs vary, as ``headline_series`` takes it.
        lost: the loss of each output, in standard deviations; the first ones are from before it.
        builds: how many builds are asked, each of them of one output more.
        trials: number of series.

    """
    rng = random.Random(f"{whole} {lost}")
    at = next(index for index, loss in enumerate(lost) if loss)
    said: Counter[StepStatus] = Counter()
    for _ in range(trials):
        series = headline_series(rng, whole, lost)
        built = [replace(series, points=series.points[: len(lost) - later]) for later in range(builds)]
        statuses = {step.status for one in built for step in steps_of(one) if abs(step.at - at) <= 1}
        said.update([status for status in LEVELS[1::-1] if status in statuses][:1])
    return said
