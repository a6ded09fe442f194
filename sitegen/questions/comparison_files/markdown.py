"""``comparison_report.md``: a comparison for readers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, TypeAlias

from sitegen.analysis.variant_tests import SPECS, MetricTest, PairedFate, VariantComparison, VariantPair
from sitegen.model.changes import Interval
from sitegen.model.frozen import grouped
from sitegen.model.outcomes import WRONG
from sitegen.pages.labels import NO_ERROR, moved_by, verdict_word, verdict_words
from sitegen.questions.comparison_files.changes import ResultChange
from sitegen.questions.comparison_files.prompts import ComparisonDocument
from sitegen.scoring.kinds import nouns_of
from sitegen.scoring.usage import USAGE_METRICS
from sitegen.stats.counts import PASSED
from sitegen.stats.significance import ALPHA
from sitegen.text.markdown_cells import NIL, count, name, number, prose, signed, table

_METRICS: Final = ("accuracy", "consistency", "quality", "rouge1", "rouge2", "rougeL")


def comparison_markdown(document: ComparisonDocument) -> str:
    """Return the whole report, ending with a line feed. Of several evals, those that stayed as they were are named."""
    evals = grouped((change.eval_id, change) for change in document.changes)
    has_moved = {
        change.eval_id
        for change in document.changes
        if change.fixed or change.broken or change.unpaired or any(metric.change for metric in change.metrics)
    }
    same = [each for each in evals if len(evals) > 1 and each not in has_moved]
    moved = [changes for each, changes in evals.items() if each not in same]
    variants = (variants_lines(each) for each in document.variants if each.eval_id not in same)
    parts = chain(variants, (change_lines(*each) if len(each) == 1 else sides_lines(each) for each in moved))
    lines = [line for part in parts for line in (*part, "")]
    if same:
        lines += [f"No change: {', '.join(map(name, same))}.", ""]
    if document.passed_over:
        lines += [f"Not all sides have: {', '.join(map(name, document.passed_over))}.", ""]
    return "\n".join(lines)


def variants_lines(comparison: VariantComparison) -> Iterator[str]:
    """Yield the comparison of two or more prompts."""
    yield f"# {name(comparison.eval_id)}: {' against '.join(name(variant.name) for variant in comparison.variants)}"
    yield ""
    yield from (f"**{prose(comparison.recommendation)}** Confidence: {comparison.confidence}.", "")
    yield from (f"- {prose(warning)}" for warning in comparison.warnings)
    yield from ("",) if comparison.warnings else ()
    yield from _metric_lines(comparison)
    yield from _usage_lines(comparison)
    yield from _ranking_lines(comparison)
    for pair in comparison.pairs:
        yield from _pair_lines(comparison, pair)


def _metric_lines(comparison: VariantComparison) -> Iterator[str]:
    yield from ("## Metrics", "")
    heads = ("Variant", "Accuracy", "Consistency", "Quality", "ROUGE-1", "ROUGE-2", "ROUGE-L", "Responses", "Failed")
    rows = (
        (
            name(variant.name),
            *(number(getattr(variant, attribute)) for attribute in _METRICS),
            count(variant.responses),
            count(variant.failed),
        )
        for variant in comparison.variants
    )
    yield from (*table(heads, rows, range(1, 9)), "")
    for variant in comparison.variants:
        if variant.averaged:
            yield from (f"Accuracy of {name(variant.name)}: {prose(variant.averaged)}.", "")


def _usage_lines(comparison: VariantComparison) -> Iterator[str]:
    """Yield who answered and graded, and what that took; nothing if no file states any of it."""
    specs = [
        spec
        for spec in USAGE_METRICS
        if any(getattr(variant, spec.name) is not None for variant in comparison.variants)
    ]
    if not specs and not any(variant.models or variant.judges for variant in comparison.variants):
        return
    yield from ("## Cost and time", "")
    rows = (
        (
            name(variant.name),
            ", ".join(map(name, variant.models)) or NIL,
            ", ".join(map(name, variant.judges)) or NIL,
            *(number(getattr(variant, spec.name), spec.unit) for spec in specs),
        )
        for variant in comparison.variants
    )
    heads = ("Variant", "Model", "Judge", *(spec.label for spec in specs))
    yield from (*table(heads, rows, range(3, len(heads))), "")


def _ranking_lines(comparison: VariantComparison) -> Iterator[str]:
    yield from ("## Ranking", "")
    rows = (
        (
            count(row.rank),
            name(row.name),
            number(row.score),
            ", ".join(row.measured) or NIL,
            "yes" if row.comparable else "no",
        )
        for row in comparison.ranking
    )
    yield from table(("Rank", "Variant", "Score", "Measured", "Comparable"), rows, (0, 2))
    yield ""
    yield "Score: 0.4 accuracy + 0.3 consistency + 0.3 quality / 5, weights renormalised over what was measured."
    yield ""


def _pair_lines(comparison: VariantComparison, pair: VariantPair) -> Iterator[str]:
    first, second = name(pair.first), name(pair.second)
    tests = [test for test in pair.tests if test.first is not None or test.second is not None]
    yield from (f"## {first} against {second}", "")
    if not pair.common:
        yield from ("There is no case in common: nothing is compared.", "")
        return
    level = "" if comparison.alpha == ALPHA else f", by p < {comparison.alpha:g}"
    likely = f"none, but {name(pair.likely)} is likely better" if pair.likely else "a tie"
    yield from (f"Winner: {name(pair.winner) if pair.winner else likely}{level}.", "")
    for test in tests:
        if test.verdict:
            spec, verdict = SPECS[test.metric], test.verdict
            word = verdict_word(verdict, spec.higher_is_better)
            why = verdict_words(verdict, spec, nouns_of("responses", ()))
            yield from (f"From {first} to {second}: {prose(moved_by(verdict, spec))}**{word}**: {prose(why)}.", "")
    if tests:
        better = (f"{first} better", "Equal", f"{second} better")
        heads = ("Metric", first, second, "Change", *better, "Effect", "Cases")
        yield from (*table(heads, map(_test_numbers, tests), range(1, len(heads))), "")
    flips = ((flip.change, (name(flip.case_id), name(flip.category))) for flip in pair.flips)
    yield from flip_lines(f"Cases, from {first} to {second}", ("Case", "Category"), flips)


def _test_numbers(test: MetricTest) -> tuple[str, ...]:
    return (
        test.metric.capitalize(),
        number(test.first),
        number(test.second),
        signed(test.difference),
        *map(count, (test.first_better, test.equal, test.second_better)),
        NIL if test.effect_size is None else f"{test.effect_size:.2f}",
        count(test.sample),
    )


SHOWN: Final = 50
"""Largest number of rows in a report; the JSON has all of them."""

WORDS: Final[dict[PairedFate, str]] = {"fixed": "fixed", "broken": "broken", "still_wrong": "still wrong"}


FlipRow: TypeAlias = tuple[PairedFate, tuple[str, ...]]
"""A row of a table of flips: the change, and all cells except the last, which states it; escaped already."""


def change_lines(change: ResultChange) -> Iterator[str]:
    """Yield the first metric and those with a value, tests, and every judgement that was wrong before or after."""
    before, after = name(change.before), name(change.after)
    yield from (f"# {name(change.eval_id)}: {before} against {after}", "")
    metrics = (
        (
            metric.label,
            number(metric.before, metric.unit),
            number(metric.after, metric.unit),
            signed(metric.change, metric.unit),
        )
        for place, metric in enumerate(change.metrics)
        if not place or metric.before is not None or metric.after is not None
    )
    for warning in change.warnings:
        yield from (prose(warning), "")
    yield from (*table(("Metric", before, after, "Change"), metrics, range(1, 4)), "")
    if change.origin:
        roles = ("outputs", "ground_truth", "rules")
        shares = ", ".join(f"{signed(getattr(change.origin, role))} from {role.replace('_', ' ')}" for role in roles)
        yield from (f"Parts of the change of {change.metrics[0].label}, over the common documents: {shares}.", "")
    yield from _verdict_lines(change)
    if not (change.flips or change.still_right or change.unpaired):  # recorded numbers have no judgements
        return
    yield f"Right on both sides: {count(change.still_right)}."
    if change.unpaired:
        yield f"On one side only, because documents or ground truth differ: {count(change.unpaired)}."
    yield ""
    names = {metric.name for metric in change.metrics}
    words = {"wrong_value": "failed", "correct": "passed"} if PASSED.name in names and "recall" not in names else {}
    of_several, dated = any(flip.document for flip in change.flips), any(flip.since for flip in change.flips)
    flips = (
        (
            flip.change,
            (
                *((name(flip.document),) if of_several else ()),
                name(flip.named_path or flip.path),
                name(flip.values[0], 60) or NIL,
                *(
                    words.get(outcome)
                    or NO_ERROR.get(outcome)
                    or outcome.replace("_", " ") + f": {name(has, 60)}" * (has != "" and outcome in WRONG)
                    if outcome
                    else NIL
                    for outcome, has in zip((flip.before, flip.after), flip.values[1:], strict=True)
                ),
                *((prose(flip.since) or NIL,) if dated else ()),
            ),
        )
        for flip in change.flips
    )
    title, heads = "Checks" if "f1" in names else "Answers", ("Case", "Check" if words else "Category", "Expected")
    if not words and ("f1" in names or "accuracy" not in names):
        title, heads = "Values", ("Document", "Field", "Expected")
    if any(metric.name == "flaky" and {metric.before, metric.after} != {None} for metric in change.metrics):
        title += ": several to one case are one, which failed if any of them failed"
    yield from flip_lines(title, (*heads[1 - of_several :], before, after, *("Since",) * dated), flips)


def sides_lines(changes: Sequence[ResultChange]) -> Iterator[str]:
    """Three or more sides: a column for each, with the change and the verdict against the first."""
    first = changes[0]
    others = [name(change.after) for change in changes]
    yield from (f"# {name(first.eval_id)}: {name(first.before)} against {', '.join(others)}", "")
    rows = []
    for place, metric in enumerate(first.metrics):
        sides = [next((side for side in change.metrics if side.name == metric.name), None) for change in changes]
        values = [(side.after, side.change) if side else (None, None) for side in sides]
        if not place or metric.before is not None or any(after is not None for after, _ in values):
            moved = (f"{number(after, metric.unit)} ({signed(by, metric.unit)})" for after, by in values)
            rows.append((metric.label, number(metric.before, metric.unit), *moved))
    intervals = [first.interval_before, *(change.interval_after for change in changes)]
    ends = (f"{number(around.low)} to {number(around.high)}" if around else NIL for around in intervals)
    if any(intervals):
        rows.append((f"95 % interval of {first.metrics[0].label}", *ends))
    if any(change.flips or change.still_right or change.unpaired for change in changes):
        rows.append(("Fixed, broken", NIL, *(f"{count(change.fixed)}, {count(change.broken)}" for change in changes)))
    if any(map(_word, changes)):
        rows.append((f"Against {name(first.before)}", NIL, *(_word(change) or NIL for change in changes)))
    heads = ("Metric", name(first.before), *others)
    yield from (*table(heads, rows, range(1, len(heads))), "")
    for change in changes:
        verdict = f"{_word(change)}: {change.words}." if change.verdict else ""
        if said := " ".join(filter(None, (verdict, *change.warnings))):
            yield f"- {name(change.after)}: {prose(said)}"
    yield ""


def _word(change: ResultChange) -> str:
    """Return the word for the verdict on the headline; empty if there is none.

    Other cases may differ beyond chance, as samples, though nothing can be told of any of them.
    """
    if change.verdict and change.verdict.why == "nothing to compare":
        return "other cases"
    return verdict_word(change.verdict, change.metrics[0].higher_is_better) if change.verdict else ""


def _verdict_lines(change: ResultChange) -> Iterator[str]:
    """Yield the verdict, if there is one, and the intervals of the headline before and after and of its change."""
    verdict = change.verdict
    if verdict is None:
        return
    metric = change.metrics[0]
    yield from (f"**{_word(change).capitalize()}**: {prose(change.words)}.", "")
    unit, n = verdict.unit, verdict.n
    moved = Interval(*verdict.interval, unit=unit, n=n, method="paired") if verdict.interval and unit else None
    stated = (
        (name(change.before), metric.before, number, change.interval_before),
        (name(change.after), metric.after, number, change.interval_after),
        ("Change", verdict.change, signed, moved),
    )
    rows = []
    for label, value, written, interval in stated:
        ends = (interval.low, interval.high) if interval else (None, None)
        around = " to ".join(written(end) if end else number(end) for end in ends) if interval else NIL
        rows.append((label, written(value), around, f"{interval.n:,} {interval.unit}" if interval else NIL))
    yield from table((metric.label, "Value", "95 % interval", "Over"), rows, (1, 2))
    if change.too_few:
        yield from ("", f"{change.too_few[0].upper()}{prose(change.too_few[1:])}.")
    yield ""


def flip_lines(title: str, heads: Sequence[str], flips: Iterable[FlipRow]) -> Iterator[str]:
    """Yield the counts, then a table of the flips."""
    rows = list(flips)
    counts = Counter(fate for fate, _ in rows)
    yield from (f"### {title}", "")
    yield from (", ".join(f"{count(counts[kind])} {word}" for kind, word in WORDS.items()) + ".", "")
    if rows:
        yield from table((*heads, "Change"), ((*cells, WORDS[fate]) for fate, cells in rows[:SHOWN]))
        yield ""
    if len(rows) > SHOWN:
        yield from (f"{count(len(rows) - SHOWN)} more are in the JSON.", "")
