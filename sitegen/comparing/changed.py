"""A result against a later one, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from sitegen.analysis.comparison.chance import Chance, HeadlineInterval
from sitegen.analysis.comparison.change import ResultChange
from sitegen.comparing.flips import flip_lines
from sitegen.comparing.words import NIL, count, name, number, probability, prose, signed, table
from sitegen.model.metrics import Nouns
from sitegen.pages.labels import reason
from sitegen.scoring.usage import UNITS
from sitegen.stats.significance import Significance

_NOUNS: Final = Nouns("judgement", "judgements")
"""Words that fit every kind."""


def change_lines(one: ResultChange) -> Iterator[str]:
    """Metrics, tests, and every judgement that was wrong on a side."""
    before, after = name(one.before), name(one.after)
    yield f"# {name(one.eval_id)}: {before} against {after}"
    yield ""
    metrics = (
        (
            each.label,
            number(each.before, unit=(unit := UNITS.get(each.name, ""))),
            number(each.after, unit=unit),
            signed(each.change, unit),
        )
        for each in one.metrics
    )
    yield from (*table(("Metric", before, after, "Change"), metrics, range(1, 4)), "")
    for warning in one.warnings:
        yield from (prose(warning), "")
    if one.origin:
        parts = (
            ("outputs", one.origin.outputs),
            ("ground truth", one.origin.ground_truth),
            ("rules", one.origin.rules),
        )
        came = ", ".join(f"{signed(value)} from {role}" for role, value in parts)
        yield from (f"Of {one.metrics[0].label}, over the documents of both: {came}.", "")
    if one.chance:
        yield from (*_chance_lines(one, one.chance), "")
    counted = f"Judgements: {one.chance.fixed:,} fixed, {one.chance.broken:,} broken" if one.chance else "Judgements"
    tests = ((counted, one.judgements), ("Documents, by the first metric", one.by_document))
    rows = [_test(label, test) for label, test in tests if test.p_value is not None]
    heads = ("Of", "Test", "Statistic", "p", "Remark")
    yield from (*table(heads, rows, (2, 3)), "")
    yield f"Right on both sides: {count(one.still_right)}."
    if one.unpaired:
        yield f"On one side only, because the ground truth is not the same: {count(one.unpaired)}."
    yield ""
    flips = (
        (
            flip.change,
            (
                name(flip.document),
                name(flip.named_path or flip.path),
                name(flip.value, 60),
                _outcome(flip.before),
                _outcome(flip.after),
            ),
        )
        for flip in one.flips
    )
    yield from flip_lines("Judgements", ("Document", "Field", "Value", before, after), flips)


def _chance_lines(one: ResultChange, chance: Chance) -> Iterator[str]:
    """The verdict, and how far the headline of both sides and its change can be trusted."""
    metric = one.metrics[0]
    yield f"**{chance.decision.capitalize()}**: {reason(chance.why, _NOUNS)}."
    yield ""
    rows = (
        (name(one.before), number(metric.before), *_spans(number, chance.before, chance.bootstrap_before)),
        (name(one.after), number(metric.after), *_spans(number, chance.after, chance.bootstrap_after)),
        ("Change", signed(chance.difference), *_spans(signed, chance.change, chance.bootstrap_change)),
    )
    yield from table((metric.label, "Value", "95 % interval", "Bootstrap", "Over"), rows, (1, 2, 3))
    if chance.decision == "inconclusive" and chance.detectable is not None:
        yield ""
        seen = f"A change of {number(chance.detectable)}" if chance.detectable <= 1 else "No change at all"
        yield f"{seen} would be seen here 8 times in 10."


def _spans(
    written: Callable[[float], str], closed: HeadlineInterval | None, drawn: HeadlineInterval | None
) -> tuple[str, str, str]:
    ends = [f"{written(each.low)} to {written(each.high)}" if each else NIL for each in (closed, drawn)]
    return ends[0], ends[1], f"{closed.n:,} {closed.unit}" if closed else NIL


def _test(label: str, test: Significance) -> tuple[str, ...]:
    return (label, test.method, number(test.statistic), probability(test.p_value), test.note)


def _outcome(outcome: str | None) -> str:
    return NIL if outcome is None else outcome.replace("_", " ")
