"""How often each word for a change is right, and each step is found: ``python -m tests.calibration``.

Decision record 0066 (words) and the README of the benchmark (steps) hold what it prints.

*Words.* Each trial draws an eval, an output before and an output after, both anew, whose values are right with a chance
that the change moves by the same amount everywhere. Some documents are harder than others; of one document, some fields
are. *as a whole*: outputs are better or worse as a whole besides, and four of them were made under the same
instructions. *few documents*: most fields are right, and some by the toss of a coin, so that one of them may break in
every document by chance. A change of 0 points has no right direction: better and worse are both wrong.

*Steps.* Each trial is a series of outputs of an eval of 10 documents. A step falls by a number of standard deviations
of the headline, and counts as found at its place or beside it. *documents alone*: documents are right or wrong
independently of each other. *outputs too*: whole outputs are better or worse besides, so that documents show a quarter
of the variance. *heavy tails*: the same, with Student's t of three degrees of freedom. *resembling*: the same, and
whole outputs resemble the ones before, with a correlation of 0.3. *no documents*: nothing but the headline is known.
*few values*: a single document of 20 values, nearly all right. *copies*: half of the outputs are copies of the ones
before. *drifting*: the headline falls by two standard deviations in all, in no single place.

*Losses.* The same series: a loss that stays, and one that later outputs regained before the newest falls again. What
its status is then counts, of the losses that are found.

*Numbers without documents.* Each trial is a series of recorded numbers, with normal noise or with Student's t of three
degrees of freedom. Whatever the page of steps would list counts as told: steps, falls too new to tell and bad runs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from math import fsum, sqrt
from typing import Final, NamedTuple

from msgspec.structs import replace

from sitegen.analysis.flips import flips as flips_of
from sitegen.analysis.noise.changes import change_verdict
from sitegen.analysis.noise.repeats import Repeat, Repeats, noise_of
from sitegen.analysis.regressions import steps_of
from sitegen.analysis.series import first_points_with_output
from sitegen.model.changes import LEVELS, Decision, StepStatus
from sitegen.model.metrics import Counts, Metric
from sitegen.model.outcomes import Cell, CellMap, Flips, Period, State
from sitegen.model.scorecards import DocumentScore, FieldScore, Scorecard
from sitegen.model.series import EvalInfo, Point, Series
from sitegen.stats import counts as stats
from tests import pages_sample as sample

TRIALS: Final = 1_000
CHANGES: Final = (0.0, 0.02, 0.05, 0.10, 0.20)
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

    @property
    def name(self) -> str:
        """The set in words."""
        size = f"{self.documents} documents of {self.values} values" if self.documents > 1 else f"{self.values} fields"
        whole = f", outputs vary as a whole by {self.whole:g}, {self.repeats} repeats" if self.whole else ""
        items = f" in list items of {self.item}" if self.item > 1 else ""
        return size + items + whole + (f", {self.unsteady:.0%} unsteady" if self.unsteady is not None else "")


SETS: Final = (
    Pairs(6),
    Pairs(10),
    Pairs(30),
    Pairs(1, 40),
    Pairs(1, 100),
    Pairs(10, whole=0.03, repeats=4),
    Pairs(1, 90, item=9),
    Pairs(10, 30, item=6),
)
"""The sets of which it is promised that noise gets a sure word in at most 5 of 100 pairs, and a likely one in 15."""
LOST: Final = 0.1
"""How often an output loses a list item."""
FEW: Final = tuple(Pairs(3, 100, unsteady) for unsteady in (0.0, 0.02, 0.05, 0.1, 0.3, 1.0))
"""Sets of few documents with many fields, in which lost fields are looked for."""

_RIGHT: Final = Counts(tp=1)
_WRONG: Final = Counts(fp=1, fn=1, wrong_value=1)
_STATES: Final[dict[bool, State]] = {True: "correct", False: "wrong_value"}


def card(rows: list[list[bool]]) -> Scorecard:
    """A scorecard of documents, given by whether each of their values is right."""
    documents = [stats.total(_RIGHT if right else _WRONG for right in row) for row in rows]
    fields = [stats.total(_RIGHT if right else _WRONG for right in column) for column in zip(*rows, strict=True)]
    whole = stats.total(documents)
    return Scorecard(
        status="scored",
        counts=whole,
        metrics=(Metric("f1", stats.f1(whole)),),
        documents=tuple(DocumentScore(f"d{number}", "scored", counts) for number, counts in enumerate(documents)),
        fields=tuple(FieldScore(f"f{number}", counts) for number, counts in enumerate(fields)),
    )


def flips_of_rows(before: Sequence[Sequence[State]], after: Sequence[Sequence[State]], item: int = 1) -> Flips:
    """The flips of documents, given by the states of their values, of which so many are a list item."""
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
    return flips_of(CellMap(2, cells, {f"d{document}": (0,) for document in range(len(before))}), 0, 1)


def chances(rng: random.Random, pairs: Pairs) -> list[list[float]]:
    """How likely each value of each document is right."""
    if pairs.unsteady is not None:
        fields = [0.5 if rng.random() < pairs.unsteady else 0.98 for _ in range(pairs.values)]
        return [fields for _ in range(pairs.documents)]
    if pairs.documents == 1:
        return [[rng.betavariate(7, 3) for _ in range(pairs.values)]]
    return [[rng.betavariate(7, 3)] * pairs.values for _ in range(pairs.documents)]


def words(pairs: Pairs, change: float, trials: int = TRIALS) -> Counter[Decision]:
    """How often each word is given to changes for the better of this size."""
    rng = random.Random(f"{pairs} {change}")
    given: Counter[Decision] = Counter()
    for _ in range(trials):
        base = chances(rng, pairs)

        def output(moved: float = 0.0, base: Sequence[Sequence[float]] = base) -> list[list[bool]]:
            moved += rng.gauss(0, pairs.whole)
            rows = [[rng.random() < chance + moved for chance in document] for document in base]
            for row in rows if pairs.item > 1 else ():
                for start in range(0, len(row), pairs.item):
                    if rng.random() < LOST:
                        row[start : start + pairs.item] = [False] * pairs.item
            return rows

        made = [output() for _ in range(max(1, pairs.repeats))]
        before, after = made[-1], output(change)
        first, last = ([[_STATES[right] for right in row] for row in rows] for rows in (before, after))
        flips = flips_of_rows(first, last, pairs.item)
        headlines = [Repeat("", card(rows).metrics[0].value) for rows in made]
        sides = card(before), card(after)
        noise = noise_of([Repeats(CellMap(0, (), {}), (), tuple(headlines))]) if pairs.repeats else None
        mean = fsum(one.headline or 0.0 for one in headlines) / len(headlines)
        known = noise and (
            replace(noise, repeats=len(headlines), mean=mean),
            replace(noise, first=1, repeats=1, mean=sides[1].metrics[0].value or 0.0),
        )
        given[change_verdict(*sides, flips, noise=known or (None, None)).decision] += 1
    return given


class Noise(NamedTuple):
    """How the outputs of an eval vary."""

    name: str
    documents: int = 10
    right: float = 0.7
    """The chance of a value to be right."""
    common: float = 0.0
    """Variance of whole outputs, in variances that documents alone give the headline."""
    tails: int = 0
    """Degrees of freedom of Student's t that whole outputs vary by; 0 for the normal distribution."""
    alike: float = 0.0
    """Correlation of whole outputs with the ones before."""
    drift: float = 0.0
    """Standard deviations by which the headline drifts from the first output to the last."""
    copies: float = 0.0
    """The share of outputs that are copies of one before."""


NOISES: Final = (
    Noise("documents alone"),
    Noise("outputs too", common=3),
    Noise("heavy tails", common=3, tails=3),
    Noise("resembling", common=3, alike=0.3),
    Noise("no documents", documents=1),
    Noise("few values", documents=1, right=0.95),
    Noise("copies", copies=0.5),
    Noise("drifting", drift=2),
)
VARYING: Final = Noise("outputs most of all", common=8)
"""Whole outputs vary so much that 0.20 of F1 are two standard deviations, with documents alone six."""
STEPPED: Final = NOISES[:2] + NOISES[4:5]
"""The noises in which steps are looked for."""
LENGTHS: Final = (5, 6, 8, 10, 12, 20)
SHAPES: Final = ((3, 2), (3, 3), (5, 3), (4, 4), (5, 5), (6, 6), (10, 5))
"""Outputs before and after a step."""
STEPS: Final = (2, 3, 4, 5)
"""Standard deviations."""
SERIES: Final = 300
"""Trials of each."""


def headline_series(rng: random.Random, noise: Noise, lost: Sequence[float]) -> Series:
    """A series of outputs, each of them worse than it would be by so many standard deviations of the headline."""
    values = VALUES * noise.documents
    base = [rng.betavariate(70 * noise.right, 70 * (1 - noise.right)) for _ in range(noise.documents)]
    single = sqrt(sum(chance * (1 - chance) for chance in base) * VALUES) / values
    deviation = single * sqrt(1 + noise.common)
    points: list[Point] = []
    common = 0.0
    for index, loss in enumerate(lost):
        draw = rng.gauss(0, 1) / (sqrt(rng.gammavariate(noise.tails / 2, 2)) if noise.tails else 1)
        common = noise.alike * common + sqrt(1 - noise.alike**2) * draw if index else draw
        moved = common * single * sqrt(noise.common) - deviation * (noise.drift * index / len(lost) + loss)
        rows = [sum(rng.random() < chance + moved for _ in range(VALUES)) for chance in base]
        counts = [Counts(tp=right, fp=VALUES - right, fn=VALUES - right) for right in rows]
        scores = tuple(DocumentScore(f"d{number}", "scored", one) for number, one in enumerate(counts))
        whole = stats.total(counts)
        scorecard = Scorecard(
            status="scored",
            counts=whole,
            metrics=(Metric("f1", stats.f1(whole)),),
            documents=scores,
            fields=(),
            expected_values=values,
        )
        made = Point(sample.snapshot(index + 1, sample.commit(index)), scorecard)
        if points and rng.random() < noise.copies and loss == lost[index - 1]:
            original = points[-1]
            outputs = original.snapshot.outputs
            made = replace(made, snapshot=replace(made.snapshot, outputs=outputs), scorecard=original.scorecard)
        points.append(made)
    first = first_points_with_output([point.snapshot for point in points])
    points = [replace(point, first_with_output=start) for point, start in zip(points, first, strict=True)]
    return Series(
        info=EvalInfo("e", "E"),
        history=sample.history("e", tuple(points)),
        specs=sample.SPECS[:1],
        points=tuple(points),
    )


def found(series: Series) -> list[int]:
    """Where there are steps."""
    return [step.at for step in steps_of(series) if step.status in LEVELS]


def recorded_series(rng: random.Random, tails: int, values: Sequence[float]) -> Series:
    """Recorded numbers: the *values*, in standard deviations, and noise with these tails (0: normal)."""
    deviation = sqrt(tails / (tails - 2)) if tails else 1.0
    points = []
    for index, value in enumerate(values):
        draw = rng.gauss(0, 1) / (sqrt(rng.gammavariate(tails / 2, 2) / tails) if tails else 1.0)
        number = 0.7 + 0.01 * (value + draw / deviation)
        scorecard = Scorecard(
            status="scored", counts=Counts(), metrics=(Metric("f1", number),), documents=(), fields=()
        )
        points.append(Point(sample.snapshot(index + 1, sample.commit(index)), scorecard))
    info = EvalInfo("e", "E", kind="recorded")
    return Series(info=info, history=sample.history("e", tuple(points)), specs=sample.SPECS[:1], points=tuple(points))


def told_of_noise(tails: int, length: int, trials: int = SERIES) -> float:
    """Of how many of 100 series of recorded noise anything is told."""
    rng = random.Random(f"recorded {tails} {length}")
    series = (recorded_series(rng, tails, [0.0] * length) for _ in range(trials))
    return 100 * sum(bool(steps_of(one)) for one in series) / trials


def told_of_fall(tails: int, before: int, after: int, fall: float, back: int = 0, trials: int = SERIES) -> float:
    """How many falls of 100 are told at their place or beside it, in recorded numbers; they last, or come back."""
    rng = random.Random(f"recorded {tails} {before} {after} {fall} {back}")
    values = [*[0.0] * before, *[-fall] * after, *[0.0] * back]
    places = ([step.at for step in steps_of(recorded_series(rng, tails, values))] for _ in range(trials))
    return 100 * sum(any(abs(at - before) <= 1 for at in found) for found in places) / trials


def steps_found(noise: Noise, before: int, after: int, fall: float, trials: int = SERIES) -> float:
    """In how many of 100 series a fall is found at its place, or beside it."""
    rng = random.Random(f"{noise} {before} {after} {fall}")
    hits = (found(headline_series(rng, noise, [0.0] * before + [fall] * after)) for _ in range(trials))
    return 100 * sum(any(abs(at - before) <= 1 for at in places) for places in hits) / trials


def false_steps(noise: Noise, length: int, trials: int = SERIES) -> float:
    """In how many of 100 series of nothing but noise there is any step."""
    rng = random.Random(f"{noise} {length}")
    return 100 * sum(bool(found(headline_series(rng, noise, [0.0] * length))) for _ in range(trials)) / trials


def said_of_loss(noise: Noise, lost: Sequence[float], builds: int = 1, trials: int = SERIES) -> Counter[StepStatus]:
    """In how many series a loss is found, by its status: *fixed* if any of the last builds says so.

    Args:
        noise: how outputs vary.
        lost: the loss of each output, in standard deviations; the first ones are from before it.
        builds: how many builds are asked, each of them of one output more.
        trials: number of series.

    """
    rng = random.Random(f"{noise} {lost}")
    at = next(index for index, loss in enumerate(lost) if loss)
    said: Counter[StepStatus] = Counter()
    for _ in range(trials):
        series = headline_series(rng, noise, lost)
        built = [replace(series, points=series.points[: len(lost) - later]) for later in range(builds)]
        statuses = {step.status for one in built for step in steps_of(one) if abs(step.at - at) <= 1}
        said.update([status for status in LEVELS[1::-1] if status in statuses][:1])
    return said


def print_table(heads: Sequence[object], rows: Sequence[Sequence[object]]) -> None:
    """Print a table in Markdown."""
    for row in (heads, ["---"] * len(heads), *rows):
        print("|", " | ".join(str(cell) for cell in row), "|", flush=True)


def print_steps() -> None:
    """Print two tables: steps found of 100, and false steps of 100."""
    for noise in STEPPED:
        print(f"\n{noise.name}: steps found of 100\n")
        rows = [
            (f"{before}, {after}", *(f"{steps_found(noise, before, after, fall):.0f}" for fall in STEPS))
            for before, after in SHAPES
        ]
        print_table(("outputs before, after", *(f"{fall} deviations" for fall in STEPS)), rows)
    print("\nFalse steps of 100 series of so many outputs\n")
    print_table(
        ("noise", *LENGTHS),
        [(noise.name, *(f"{false_steps(noise, length):.1f}" for length in LENGTHS)) for noise in NOISES],
    )


STAYS: Final = 20
"""Outputs of a loss that stays."""
BACK: Final = (3, 4, 6, 10)
"""Outputs that regain a loss, before the newest one is as low again."""


def print_losses() -> None:
    """Print two tables of losses that were found: closed although they stay, and open although they were regained."""
    falls = (2, 3, 4, 6)

    def share(status: StepStatus, said: Counter[StepStatus]) -> str:
        return f"{100 * said[status] / max(1, said.total()):.1f}"

    print(f"\nLosses that stay for {STAYS} outputs: called fixed at any of these, of 100\n")
    rows = [
        (
            noise.name,
            *(share("fixed", said_of_loss(noise, [0.0] * 8 + [fall] * STAYS, builds=STAYS - 1)) for fall in falls),
        )
        for noise in (*NOISES, VARYING)
    ]
    print_table(("noise", *(f"{fall} deviations" for fall in falls)), rows)
    print("\nLosses by four deviations in five outputs, regained, then one output as low: still called open, of 100\n")
    rows = [
        (
            noise.name,
            *(share("open", said_of_loss(noise, [0.0] * 8 + [4.0] * 5 + [0.0] * back + [4.0])) for back in BACK),
        )
        for noise in (*NOISES, VARYING)
    ]
    print_table(("noise", *(f"{back} outputs" for back in BACK)), rows)


RECORDED: Final = ((10, 5, 0), (5, 5, 0), (10, 1, 0), (10, 2, 0), (10, 1, 10), (20, 1, 20))
"""Recorded values before a fall, in it, and after it has come back."""


def print_recorded() -> None:
    """Print two tables of recorded numbers: what is told of 100 series of noise, and which falls are told of 100."""
    kinds = (("normal", 0), ("t of 3", 3))
    print("\nRecorded numbers: anything told of 100 series of noise\n")
    lengths = (5, 10, 20, 40, 100)
    rows = [(name, *(f"{told_of_noise(tails, length, 1_000):.1f}" for length in lengths)) for name, tails in kinds]
    print_table(("noise", *lengths), rows)
    print("\nRecorded numbers: falls told of 100\n")
    falls = (3, 4, 6, 10, 20)
    shapes = [
        (
            f"{name}: {before}, {low}" + f", {back}" * bool(back),
            *(told_of_fall(tails, before, low, fall, back) for fall in falls),
        )
        for name, tails in kinds
        for before, low, back in RECORDED
    ]
    print_table(
        ("values before, low, after", *(f"{fall} deviations" for fall in falls)),
        [(shape[0], *(f"{share:.0f}" for share in shape[1:])) for shape in shapes],
    )


def print_words() -> None:
    """Print a table: for each set and size of change, in how many of 100 trials each word was given."""
    columns: tuple[Decision, ...] = ("worse", "likely worse", "cannot tell", "likely better", "better")
    rows = []
    for pairs in (*SETS, *FEW):
        for change in CHANGES if pairs in SETS else CHANGES[:1]:
            given = words(pairs, change)
            given["cannot tell"] += given["same"]
            shares = [f"{100 * given[word] / TRIALS:.1f}" for word in columns]
            rows.append((pairs.name, f"{100 * change:.0f} points", *shares))
    print_table(("set", "change", *columns), rows)


if __name__ == "__main__":
    print_words()
    print_steps()
    print_losses()
    print_recorded()
