"""``comparison_report.md``: a comparison for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sitegen.analysis.comparison.values import MetricTest, Tested, VariantComparison, VariantPair
from sitegen.comparing.changed import change_lines
from sitegen.comparing.document import ComparisonDocument
from sitegen.comparing.flips import flip_lines
from sitegen.comparing.words import NIL, count, name, number, probability, prose, signed, table
from sitegen.scoring.usage import USAGE_METRICS
from sitegen.stats.significance import ALPHA


def report(document: ComparisonDocument) -> str:
    """The whole report, ending with a line feed."""
    parts = [variants_lines(each) for each in document.variants] + [change_lines(each) for each in document.changes]
    lines = [line for part in parts for line in (*part, "")]
    if document.passed_over:
        lines += [f"Only one side has: {', '.join(map(name, document.passed_over))}.", ""]
    return "\n".join(lines)


def variants_lines(one: VariantComparison) -> Iterator[str]:
    """Two or more prompts."""
    yield f"# {name(one.eval_id)}: {' against '.join(name(variant.name) for variant in one.variants)}"
    yield ""
    yield f"**{prose(one.recommendation)}** Confidence: {one.confidence}."
    yield ""
    yield from (f"- {prose(warning)}" for warning in one.warnings)
    yield from ("",) if one.warnings else ()
    yield from _metrics(one)
    yield from _took(one)
    yield from _ranking(one)
    for pair in one.pairs:
        yield from _pair(pair, several=len(one.pairs) > 1, alpha=one.alpha)


def _metrics(one: VariantComparison) -> Iterator[str]:
    yield from ("## Metrics", "")
    heads = ("Variant", "Accuracy", "Consistency", "Quality", "ROUGE-1", "ROUGE-2", "ROUGE-L", "Responses", "Failed")
    rows = (
        (
            name(each.name),
            *map(number, (each.accuracy, each.consistency, each.quality, each.rouge1, each.rouge2, each.rougeL)),
            count(each.responses),
            count(each.failed),
        )
        for each in one.variants
    )
    yield from (*table(heads, rows, range(1, 9)), "")


def _took(one: VariantComparison) -> Iterator[str]:
    """Who answered and graded, and what that took; nothing if no file states any of it."""
    known = [spec for spec in USAGE_METRICS if any(getattr(each, spec.name) is not None for each in one.variants)]
    if not known and not any(each.models or each.judges for each in one.variants):
        return
    yield from ("## Cost and time", "")
    rows = (
        (
            name(each.name),
            ", ".join(map(name, each.models)) or NIL,
            ", ".join(map(name, each.judges)) or NIL,
            *(number(getattr(each, spec.name), unit=spec.unit) for spec in known),
        )
        for each in one.variants
    )
    heads = ("Variant", "Model", "Judge", *(spec.label for spec in known))
    yield from (*table(heads, rows, range(3, len(heads))), "")


def _ranking(one: VariantComparison) -> Iterator[str]:
    yield from ("## Ranking", "")
    rows = (
        (
            count(row.rank),
            name(row.name),
            number(row.score),
            ", ".join(row.measured) or NIL,
            "yes" if row.comparable else "no",
        )
        for row in one.ranking
    )
    yield from table(("Rank", "Variant", "Score", "Measured", "Comparable"), rows, (0, 2))
    yield ""
    yield "Score: 0.4 accuracy + 0.3 consistency + 0.3 quality / 5, weights renormalised over what was measured."
    yield ""


def _pair(pair: VariantPair, *, several: bool, alpha: float) -> Iterator[str]:
    first, second = name(pair.first), name(pair.second)
    tests = [test for test in pair.tests if test.first is not None or test.second is not None]
    yield f"## {first} against {second}"
    yield ""
    level = "" if alpha == ALPHA else f", by p < {alpha:g}"
    yield f"Winner: {name(pair.winner) if pair.winner else 'a tie'}{level}."
    yield ""
    if tests:
        better = (f"{first} better", "Equal", f"{second} better")
        heads = ("Metric", first, second, "Change", *better, "Effect", "Responses", "Least number")
        yield from (*table(heads, map(_numbers, tests), range(1, len(heads))), "")
        adjusted = ("p (Holm)",) if several else ()
        heads = ("Metric", "Test", "Statistic", "p", *adjusted, "Better", "Remark")
        rows = (row for test in tests for row in _tests(test, several=several))
        yield from (*table(heads, rows, range(2, 4 + several)), "")
    flips = ((flip.change, (name(flip.case_id), name(flip.category))) for flip in pair.flips)
    yield from flip_lines(f"Cases, from {first} to {second}", ("Case", "Category"), flips)


def _numbers(test: MetricTest) -> tuple[str, ...]:
    return (
        test.metric.capitalize(),
        number(test.first),
        number(test.second),
        signed(test.difference),
        *map(count, (test.first_better, test.equal, test.second_better)),
        number(test.effect_size, 2),
        count(test.sample),
        count(test.minimum_sample),
    )


def _tests(test: MetricTest, *, several: bool) -> Iterable[tuple[str, ...]]:
    yield _test(test.metric.capitalize(), test.independent, test.independent.note, several=several)
    remark = "; ".join(filter(None, (test.paired.note, "disagrees" if test.disagrees else "")))
    yield _test("paired", test.paired, remark, several=several)


def _test(label: str, tested: Tested, remark: str, *, several: bool) -> tuple[str, ...]:
    adjusted = (probability(tested.adjusted_p),) if several else ()
    better = name(tested.better) if tested.better else NIL
    return (label, tested.method, number(tested.statistic), probability(tested.p_value), *adjusted, better, remark)
