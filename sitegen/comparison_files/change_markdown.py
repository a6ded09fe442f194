"""Markdown of the comparison of a result with a later one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from sitegen.analysis.comparison.chance import Chance, HeadlineInterval
from sitegen.analysis.comparison.change import ResultChange
from sitegen.analysis.comparison.values import Flipped
from sitegen.frozen import Frozen
from sitegen.model.metrics import Nouns
from sitegen.model.noise import OPEN
from sitegen.pages.labels import reason
from sitegen.scoring.usage import UNITS
from sitegen.stats.significance import Significance
from sitegen.text.markdown_cells import NIL, count, name, number, probability, prose, signed, table

_NOUNS: Final = Nouns("judgement", "judgements")
"""Nouns that fit every kind of eval."""

SHOWN: Final = 50
"""Largest number of rows in a report; the JSON has all of them."""

WORDS: Final[dict[Flipped, str]] = {"fixed": "fixed", "broken": "broken", "still_wrong": "still wrong"}


class FlipRow(Frozen):
    """A row of a table of flips."""

    change: Flipped
    cells: tuple[str, ...]
    """All cells except the last, which states the change; escaped already."""


def change_lines(change: ResultChange) -> Iterator[str]:
    """Metrics, tests, and every judgement that was wrong before or after."""
    before, after = name(change.before), name(change.after)
    yield f"# {name(change.eval_id)}: {before} against {after}"
    yield ""
    metrics = (
        (
            metric.label,
            number(metric.before, unit=(unit := UNITS.get(metric.name, ""))),
            number(metric.after, unit=unit),
            signed(metric.change, unit),
        )
        for metric in change.metrics
    )
    yield from (*table(("Metric", before, after, "Change"), metrics, range(1, 4)), "")
    for warning in change.warnings:
        yield from (prose(warning), "")
    if change.origin:
        parts = (
            ("outputs", change.origin.outputs),
            ("ground truth", change.origin.ground_truth),
            ("rules", change.origin.rules),
        )
        shares = ", ".join(f"{signed(value)} from {role}" for role, value in parts)
        yield from (f"Parts of the change of {change.metrics[0].label}, over the common documents: {shares}.", "")
    if change.chance:
        yield from (*_chance_lines(change, change.chance), "")
    counted = (
        f"Judgements: {change.chance.fixed:,} fixed, {change.chance.broken:,} broken" if change.chance else "Judgements"
    )
    tests = ((counted, change.judgements), ("Documents, by the first metric", change.by_document))
    rows = [_significance_row(label, test) for label, test in tests if test.p_value is not None]
    heads = ("Of", "Test", "Statistic", "p", "Remark")
    yield from (*table(heads, rows, (2, 3)), "")
    yield f"Right on both sides: {count(change.still_right)}."
    if change.unpaired:
        yield f"On one side only, because the ground truth differs: {count(change.unpaired)}."
    yield ""
    flips = (
        FlipRow(
            flip.change,
            (
                name(flip.document),
                name(flip.named_path or flip.path),
                name(flip.value, 60),
                _outcome_words(flip.before),
                _outcome_words(flip.after),
            ),
        )
        for flip in change.flips
    )
    yield from flip_lines("Judgements", ("Document", "Field", "Value", before, after), flips)


def _chance_lines(change: ResultChange, chance: Chance) -> Iterator[str]:
    """The verdict, and the intervals of the headline before and after and of its change."""
    metric = change.metrics[0]
    yield f"**{chance.decision.capitalize()}**: {reason(chance.why, _NOUNS)}."
    yield ""
    rows = (
        (name(change.before), number(metric.before), *_interval_rows(number, chance.before, chance.bootstrap_before)),
        (name(change.after), number(metric.after), *_interval_rows(number, chance.after, chance.bootstrap_after)),
        ("Change", signed(chance.difference), *_interval_rows(signed, chance.change, chance.bootstrap_change)),
    )
    yield from table((metric.label, "Value", "95 % interval", "Bootstrap", "Over"), rows, (1, 2, 3))
    if chance.decision in OPEN and chance.detectable is not None:
        yield ""
        subject = f"A change of {number(chance.detectable)}" if chance.detectable <= 1 else "No change at all"
        yield f"{subject} would be seen here 8 times in 10."


def _interval_rows(
    written: Callable[[float], str], closed: HeadlineInterval | None, drawn: HeadlineInterval | None
) -> tuple[str, str, str]:
    ends = [f"{written(interval.low)} to {written(interval.high)}" if interval else NIL for interval in (closed, drawn)]
    return ends[0], ends[1], f"{closed.n:,} {closed.unit}" if closed else NIL


def _significance_row(label: str, test: Significance) -> tuple[str, ...]:
    return (label, test.method, number(test.statistic), probability(test.p_value), test.note)


def _outcome_words(outcome: str | None) -> str:
    return NIL if outcome is None else outcome.replace("_", " ")


def flip_lines(title: str, heads: Sequence[str], flips: Iterable[FlipRow]) -> Iterator[str]:
    """The counts, then a table of the flips."""
    rows = list(flips)
    counts = Counter(row.change for row in rows)
    yield f"### {title}"
    yield ""
    yield ", ".join(f"{count(counts[kind])} {word}" for kind, word in WORDS.items()) + "."
    yield ""
    if rows:
        yield from table((*heads, "Change"), ((*row.cells, WORDS[row.change]) for row in rows[:SHOWN]))
        yield ""
    if len(rows) > SHOWN:
        yield f"{count(len(rows) - SHOWN)} more are in the JSON."
        yield ""
