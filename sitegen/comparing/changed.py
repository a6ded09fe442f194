"""A result against a later one, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from sitegen.analysis.comparison.change import Change
from sitegen.comparing.flips import flip_lines
from sitegen.comparing.words import NIL, count, name, number, probability, signed, table
from sitegen.stats.significance import Significance


def change_lines(one: Change) -> Iterator[str]:
    """Metrics, tests, and every judgement that was wrong on a side."""
    before, after = name(one.before), name(one.after)
    yield f"# {name(one.eval_id)}: {before} against {after}"
    yield ""
    metrics = ((each.label, number(each.before), number(each.after), signed(each.change)) for each in one.metrics)
    yield from (*table(("Metric", before, after, "Change"), metrics, range(1, 4)), "")
    if one.origin:
        parts = (
            ("outputs", one.origin.outputs),
            ("ground truth", one.origin.ground_truth),
            ("rules", one.origin.rules),
        )
        came = ", ".join(f"{signed(value)} from {role}" for role, value in parts)
        yield from (f"Of {one.metrics[0].label}, over the documents of both: {came}.", "")
    tests = (("Judgements", one.judgements), ("Documents, by the first metric", one.by_document))
    rows = (_test(label, test) for label, test in tests if test.p_value is not None)
    heads = ("Of", "Test", "Statistic", "p", "Remark")
    yield from (*table(heads, rows, (2, 3)), "")
    yield f"Right on both sides: {count(one.still_right)}."
    if one.unpaired:
        yield f"On one side only, because the ground truth is not the same: {count(one.unpaired)}."
    yield ""
    flips = (
        (
            flip.change,
            (name(flip.document), name(flip.path), name(flip.value, 60), _outcome(flip.before), _outcome(flip.after)),
        )
        for flip in one.flips
    )
    yield from flip_lines("Judgements", ("Document", "Field", "Value", before, after), flips)


def _test(label: str, test: Significance) -> tuple[str, ...]:
    return (label, test.method, number(test.statistic), probability(test.p_value), test.note)


def _outcome(outcome: str | None) -> str:
    return NIL if outcome is None else outcome.replace("_", " ")
