"""How often each word for a change is right: ``python -m tests.calibration``.

Decision record 0066 holds what it prints.

Each trial draws an eval, an output before and an output after, whose values are right with a chance that the change
moves by the same amount everywhere. *documents*: of 20 values each, some documents harder than others. *fields*: one
document with as many values. Two outputs of one eval are right in the same places more often than chance: one value in
two is decided by the document alone. A change of 0 points has no right direction: better and worse are both wrong.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Final, get_args

from sitegen.analysis.noise.changes import change_verdict
from sitegen.model.cells import Flips
from sitegen.model.metrics import Counts, Metric
from sitegen.model.noise import Decision
from sitegen.model.scorecards import DocumentScore, FieldScore, Scorecard
from sitegen.stats import counts as stats

TRIALS: Final = 1_000
CHANGES: Final = (0.0, 0.02, 0.05, 0.10, 0.20)
SIZES: Final = (10, 30, 100)
VALUES: Final = 20
"""Values of a document, where documents are the units."""

_RIGHT: Final = Counts(tp=1)
_WRONG: Final = Counts(fp=1, fn=1, wrong_value=1)


def card(rows: list[list[bool]]) -> Scorecard:
    """A scorecard of documents, given by whether each of their values is right."""
    documents = [stats.total(_RIGHT if right else _WRONG for right in row) for row in rows]
    fields = [stats.total(_RIGHT if right else _WRONG for right in column) for column in zip(*rows, strict=True)]
    whole = stats.total(documents)
    return Scorecard(
        "scored",
        whole,
        (Metric("f1", stats.f1(whole)),),
        tuple(DocumentScore(f"d{number}", "scored", counts) for number, counts in enumerate(documents)),
        tuple(FieldScore(f"f{number}", counts) for number, counts in enumerate(fields)),
    )


def outputs(
    rng: random.Random, documents: int, values: int, change: float
) -> tuple[list[list[bool]], list[list[bool]]]:
    """Whether each value is right before and after."""
    before: list[list[bool]] = []
    after: list[list[bool]] = []
    for _ in range(documents):
        chance = rng.betavariate(7, 3) if documents > 1 else 0.7
        shared = [rng.random() if rng.random() < 0.5 else None for _ in range(values)]
        for side, moved in ((before, 0.0), (after, change)):
            side.append([(rng.random() if draw is None else draw) < chance + moved for draw in shared])
    return before, after


def words(documents: int, values: int, change: float, trials: int = TRIALS) -> Counter[Decision]:
    """How often each word is given to changes for the better of this size."""
    rng = random.Random(f"{documents} {values} {change}")
    given: Counter[Decision] = Counter()
    for _ in range(trials):
        before, after = outputs(rng, documents, values, change)
        moved: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        for first, last in zip(before, after, strict=True):
            for number, (was, now) in enumerate(zip(first, last, strict=True)):
                if was != now:
                    moved[was][f"f{number}"] += 1
        flips = Flips(tuple(moved[False].items()), tuple(moved[True].items()))
        given[change_verdict(card(before), card(after), "fields", flips).decision] += 1
    return given


def main() -> None:
    """Print a table: for each set and size of change, in how many of 100 trials each word was given."""
    columns = tuple(word for word in get_args(Decision) if word != "same")
    print("| set | change |", " | ".join(columns), "|")
    print("|---|---|", "---|" * len(columns), sep="")
    for unit in ("documents", "fields"):
        for size in SIZES:
            for change in CHANGES:
                given = words(*((size, VALUES) if unit == "documents" else (1, size)), change)
                given["cannot tell"] += given["same"]
                shares = " | ".join(f"{100 * given[word] / TRIALS:.1f}" for word in columns)
                print(f"| {size} {unit} | {100 * change:.0f} points | {shares} |")


if __name__ == "__main__":
    main()
