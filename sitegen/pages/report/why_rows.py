"""The part of a report that explains changes, and why the record of a run states another number."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Final, TypeAlias

from markupsafe import Markup

from sitegen.analysis.noise.repeats import Repeats
from sitegen.analysis.recorded import CLOSE, DifferencePart, RecordedCause, counted_by, recorded_convention
from sitegen.model.changes import Change, ChangeVerdict, Ends, Interval, Noise
from sitegen.model.metrics import Convention, MetricSpec, Nouns
from sitegen.model.outcomes import ABSENT, CellFlip, Flips
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point
from sitegen.model.timeline import Snapshot
from sitegen.pages import labels, links
from sitegen.pages.html.cells import DisplayValue, shown_run, shown_value, text, value
from sitegen.pages.html.charts import bar_between
from sitegen.pages.html.formats import path, printable
from sitegen.pages.html.tables import Column
from sitegen.pages.labels import CAUSES, DisplayedChange, bad_runs, exchanges, interval_basis
from sitegen.stats import counts as stats
from sitegen.stats.intervals import ROUNDING, around, mean, mean_of
from sitegen.text.plain import counted
from sitegen.text.values import SMALL, metric_text

_FURTHER: Final = (
    "Possible causes are other tolerances, another pairing of list items, and ignored or unmapped fields that count."
)

_COUNTS: Final = (
    ("true_positives", "True positives", "tp"),
    ("false_positives", "False positives", "fp"),
    ("false_negatives", "False negatives", "fn"),
    ("true_negatives", "True negatives", "tn"),
    ("errors_by_type.omission", "Omissions", "omission"),
    ("errors_by_type.hallucination", "Hallucinations", "hallucination"),
    ("errors_by_type.wrong_value", "Wrong values", "wrong_value"),
    ("errors_by_type.format_error", "Format errors", "format_error"),
)


RecordedRow: TypeAlias = tuple[str, float, float | None, bool]
"""A metric: its label, the recorded value and the computed one, and whether it is a count."""


def why_otherwise(
    at: Snapshot, card: Scorecard, specs: Sequence[MetricSpec], previous: Point | None, *, explained: bool
) -> str:
    """Why the record of a run differs from the scorecard. ``explained``: the parts of the difference are shown."""
    is_same = previous is not None and previous.snapshot.iteration == at.iteration and "outputs" not in at.cause
    before = previous.scorecard if previous and is_same else None
    if before is not None and all(map(agrees, recorded_rows(at.recorded_metrics, before, specs))):
        return (
            f"The same output gave the recorded values until this commit: {', '.join(CAUSES[it] for it in at.cause)}."
        )
    return _since(at) if explained else _difference_reason(at, card)


def agrees_with_now(point: Point, specs: Sequence[MetricSpec]) -> bool:
    """Whether the recorded metrics agree with the newest ground truth and rules, but not with those of the point.

    Such a record was written or corrected later. The trend reports this; reports show nothing of later commits.
    """
    if point.now is None or not point.snapshot.recorded_metrics:
        return False
    recorded = point.snapshot.recorded_metrics
    then, now = (recorded_rows(recorded, card, specs) for card in (point.scorecard, point.now))
    return bool(now) and all(agrees(row) for row in now) and not all(agrees(row) for row in then)


def agrees(row: RecordedRow) -> bool:
    """Whether both values are the same, but for rounding."""
    _, recorded, computed, _ = row
    return computed is not None and abs(recorded - computed) <= CLOSE


def recorded_rows(
    recorded: Mapping[str, float], card: Scorecard, specs: Sequence[MetricSpec]
) -> tuple[RecordedRow, ...]:
    """All metrics and counts that are both recorded and computed."""
    counts = ((name, label, float(getattr(card.counts, field))) for name, label, field in _COUNTS)
    return (
        *((spec.label, recorded[spec.name], card.metric(spec.name), False) for spec in specs if spec.name in recorded),
        *((label, recorded[name], count, True) for name, label, count in counts if name in recorded),
    )


def _since(at: Snapshot) -> str:
    later = [CAUSES[cause] for cause in at.cause if cause != "outputs"]
    return f"Since it was written: {', '.join(later)}." if later else ""


def _difference_reason(at: Snapshot, card: Scorecard) -> str:
    """The explanation of the differences, if the numbers show one, and other possible explanations."""
    recorded = at.recorded_metrics
    alternative: Convention = "omissions_only" if card.convention == "standard" else "standard"
    by_alternative = stats.ratios(counted_by(alternative, card.counts))
    ratios = [(recorded[name], value) for name, value in by_alternative.items() if name in recorded]
    if ratios and all(value is not None and abs(stated - value) <= CLOSE for stated, value in ratios):
        return f"The record counts by the convention {alternative}: with it the same files give the recorded values."
    reasons = []
    if recorded_convention(recorded) == alternative:
        reasons.append(f"The record counts by the convention {alternative}, as its numbers of errors show.")
    expected = recorded.get("total_fields_gt", recorded.get("total_fields"))
    if expected is not None and expected != card.expected_values:
        reasons.append(
            f"It counts {expected:,.0f} expected values, the files have {card.expected_values:,}: "
            "of other fields or list items, or of another ground truth."
        )
    if since := _since(at):
        reasons.append(since)
    return " ".join([*(reasons or ["The file states too little to tell why its numbers differ."]), _FURTHER])


_ROLES: Final = ("outputs", "ground truth", "rules")

_OTHER_CAUSES: Final[dict[RecordedCause, str]] = {
    "pairing": "pairing: in the record, list items are paired by position",
    "tolerance": "another tolerance",
    "rest": "what none of this explains",
    "ground_truth": "since then, the ground truth changed",
    "rules": "since then, the rules changed",
}

_BLANK: Final = '""'  # the JSON text of a blank

FIELDS: Final = 20
"""Number of fields that are listed with how often repeated outputs differ in them: the ones that differ most often."""

FLIPPED_FIELDS: Final = 12
"""Number of fields in the table of flips: the ones with the most."""

_TERMS: Final = 5  # number of cases that a worked mean writes out; the others are an ellipsis
FIXED: Final = 50
"""Number of fixed cells that are listed; the page shows them nowhere else."""


def computed(card: Scorecard, specs: Sequence[MetricSpec], nouns: Nouns) -> dict[str, tuple[MetricSpec, str, str]]:
    """The metrics that follow from the output in a few steps, by name: each with its formula, and the numbers in it.

    ``2 TP / (2 TP + FP + FN)`` and ``2 × 126 / (2 × 126 + 64 + 84) = 252 / 400``, or ``the mean of 3 cases`` and
    ``(1.000 + 0.500 + 1.000) / 3 = 2.5 / 3``; a recorded number with what its file states.
    """
    rows, of_cases = {}, stats.values_by_case(card.documents, [spec.name for spec in specs])
    for spec in specs:
        ratio, value, cases = stats.BY_NAME.get(spec.name), card.metric(spec.name), of_cases[spec.name]
        explanation = ratio.explanation if ratio else ""
        if ratio and nouns.are_verdicts:  # F1, precision and recall are one number: the share that passed
            ratio, explanation = stats.PASSED, spec.explanation
        number, means = f"{len(cases):,}", [mean(values) for values in cases.values()]
        if value is None:
            continue
        if ratio and ratio.of(card.counts) == value:
            formula = re.split(r", |: |\.$", explanation)[0]
            terms = re.sub(
                r"(\d+ )?\b(TP|FP|FN|TN)\b",
                lambda term: f"{f'{term[1]}× ' if term[1] else ''}{getattr(card.counts, term[2].lower()):,}",
                formula,
            )
            share = ratio.share(card.counts)
            in_numbers = "" if re.search("[a-z]", terms) else f"{terms} = "
            rows[spec.name] = spec, formula, f"{in_numbers}{share.part:,} / {share.whole:,}"
        elif spec.recorded and len(means) < 2:
            rows[spec.name] = spec, "what the file of the run states", f"{value:,}"
        elif means and stats.mean_over_cases(cases) == value:
            first = [metric_text(one, spec.unit) for one in means[:_TERMS]] + ["…"] * (len(means) > _TERMS)
            of_all = f"the mean of {number} {'models' if spec.recorded else nouns.noun(len(means))}"
            rows[spec.name] = spec, of_all, f"({' + '.join(first)}) / {number} = {sum(means):,.6g} / {number}"
    return rows


def interval_note(interval: Interval | None, nouns: Nouns) -> Markup:
    """The ends of an interval and the units it was computed from; empty without an interval."""
    if interval is None:
        return Markup("")
    units, _, whole = text(interval_basis(interval.unit, interval.n, nouns)).partition(" of ")
    how = f"Over {units}{f' of {whole}' if whole else ''}: {text(interval.method)}"
    ends = f"95\u202f%: {labels.span(interval)}"
    return Markup(f'<span title="{how}">{ends}</span>, by {units}')


def exchanged(change: Change) -> list[str]:
    """What it means for the change that the model or the judge was replaced."""
    of_model = "How much of the change is due to it, and how much to edits, is unknown."
    of_judge = "Its grades are not compared with earlier ones."
    return [
        *(f"{sentence} {of_model}" for sentence in exchanges(change.model, None)),
        *(f"{sentence} {of_judge}" for sentence in exchanges(None, change.judge)),
    ]


def parts(changes: Sequence[DisplayedChange]) -> dict[str, list[float | None]]:
    """The part of each metric for each role that contributed to any of them, then their sum; empty for one role."""
    names = {name for change in changes for name in change.parts}
    roles = [name for name in _ROLES if name in names]
    if len(roles) < 2:
        return {}
    by_role: dict[str, list[float | None]] = {
        role: [change.parts.get(role, 0.0) if change.amount is not None else None for change in changes]
        for role in roles
    }
    whole = [None if change.amount is None else sum(change.parts.values()) for change in changes]
    return by_role | {"together": whole}


def part_bar(amount: float | None, by_role: Mapping[str, Sequence[float | None]], spec: MetricSpec) -> Markup:
    """A bar for a part of the headline's change, on one scale for all of ``parts``."""
    longest = max(abs(spec.in_points(amounts[0] or 0.0)) for amounts in by_role.values()) or 1
    first = spec.in_points(amount or 0.0)
    tone = "" if first == 0 else "up" if (first > 0) is spec.higher_is_better else "dn"
    return Markup(
        f'<svg class="part" viewBox="{-longest:.4f} 0 {2 * longest:.4f} 1" preserveAspectRatio="none" '
        f'aria-hidden="true"><rect class="{tone}" x="{min(first, 0.0):.4f}" '
        f'width="{abs(first):.4f}" height="1"/></svg>'
    )


def fates(flips: Flips) -> list[tuple[str, int, int, int, int, str]]:
    """Fields with values that were fixed, broken, stayed wrong, or appeared or vanished as errors; most flips first.

    Last, why some of the flips say little.
    """
    fixed, broken, still, appeared, vanished = (
        Counter(dict(tally)) for tally in (flips.fixed, flips.broken, flips.still, flips.appeared, flips.vanished)
    )
    doubts = {name: labels.doubts_of(counts) for name, *counts in flips.doubts}
    rows = [
        (name, fixed[name], broken[name], still[name], appeared[name] + vanished[name], doubts.get(name, ""))
        for name in fixed | broken | appeared | vanished
    ]
    return sorted(rows, key=lambda row: (-row[1] - row[2], -row[4], -row[3], row[0]))


def fate_columns(nouns: Nouns, others: bool) -> list[Column]:
    """The table of ``fates``. ``others``: whether any errors appeared or vanished."""
    heads = {"fixed": "Fixed", "broken": "Broken", "still": "Still wrong"}
    heads |= {"other": "Appeared or vanished"} if others else {}
    return [
        Column(
            "field",
            nouns.attribute.capitalize(),
            lambda row: Markup(
                f'<a href="{links.field_in_eval(row[0])}">{path(row[0])}</a>'
                f"{f' <small class=muted>{row[-1]}</small>' if row[-1] else ''}"
            ),
            classes="label",
        ),
        *(
            Column(name=name, head=head, cell=lambda row, at=at: row[at] or "")
            for at, (name, head) in enumerate(heads.items(), 1)
        ),
    ]


def fixed_columns(nouns: Nouns, several_documents: bool) -> list[Column]:
    """The table of values that were fixed: functions of a cell and its ``fixed_values``."""
    document = Column("document", nouns.document.capitalize(), lambda flip, _: printable(flip.cell.document))
    return [
        Column(name="place", head=nouns.place.capitalize(), cell=lambda flip, _: path(flip.cell.label)),
        Column(name="expected", head="Expected", cell=lambda _, values: values[0]),
        Column(name="was", head="Was", cell=lambda _, values: values[1]),
        Column(name="is", head="Is", cell=lambda _, values: values[2]),
        *([document] if several_documents else ()),
    ]


def fixed_values(flip: CellFlip) -> tuple[Markup, Markup, Markup]:
    """The expected value of a cell that was fixed, its value before, and its value now."""
    before, after = flip.before or ABSENT, flip.after or ABSENT
    expected, _ = shown_run(after.state, after.expected, after.actual)
    changed = ""
    if "absent" not in (before.state, after.state) and before.expected != after.expected:
        changed = f"<small>before: {value(shown_value(before.expected or _BLANK))}</small>"
    shown = [shown_value(before.actual), shown_value(after.actual)]
    was, now = map(_side, shown)
    return Markup(f"{_side(expected)}{changed}"), was, now


def _side(display: DisplayValue) -> Markup:
    """A value; only one that is not ASCII can be written from right to left."""
    content = value(display)
    return Markup(content if content.isascii() else f"<div dir=auto>{content}</div>")


def falls(headline: RecordedRow, every: Iterable[DifferencePart]) -> list[tuple[DifferencePart, float, Markup]]:
    """The parts that lead from the recorded headline to the computed one, each with the value after it and a bar."""
    _, recorded, computed, _ = headline
    if computed is None:
        return []
    parts = [part for part in every if abs(part.amount) >= SMALL]
    levels = list(accumulate((part.amount for part in parts), initial=recorded))
    edges = Ends(min(*levels, computed), max(*levels, computed))
    return [
        (part, after, Markup(bar_between(before, after, edges)))
        for part, before, after in zip(parts, levels, levels[1:], strict=False)
    ]


def recorded_cause(part: DifferencePart, convention: Convention) -> str:
    """A part in words. ``convention``: the one by which errors are counted here."""
    if part.cause == "counting":
        rule = "is no false negative" if convention == "standard" else "is a false negative too"
        return f"other counting rule: in the record, a wrong value {rule}"
    if part.cause == "fields":
        values = counted(abs(part.values), "expected value")
        return f"{values} that {'the files do not have' if part.values > 0 else 'the record does not count'}"
    return _OTHER_CAUSES[part.cause]


def runs(repeats: Repeats, noise: Noise | None, spec: MetricSpec) -> Markup:
    """Sentences on how far repeated runs differ."""
    label = text(spec.label)
    values = [output.headline for output in repeats.outputs if output.headline is not None]
    if not values:
        return Markup(f"{label} is undefined in all of them.")
    words = f"{label} lies between {metric_text(min(values))} and {metric_text(max(values))}"
    spread = mean_of(values)
    if spread and spread.error > ROUNDING:
        words += f"; the mean of such runs from {labels.span(around(spread))} (95\u202f%)"
    if noise and noise.deviation is not None:
        words += f". Standard deviation: {text(metric_text(noise.deviation, spec.unit))}"
    if noise and noise.pooled.rate is not None:
        words += f". Of {noise.pooled.pairs:,} pairs of values {100 * noise.pooled.rate:.1f}\u202f% differ in outcome"
    return Markup(f"{words}. {text(bad_runs(noise.bad_runs if noise else ()))}".rstrip())


def because(verdict: ChangeVerdict, spec: MetricSpec, nouns: Nouns, methods: str) -> Markup:
    """What follows the word: the reason for it, what holds beyond these cases, and a link to ``methods``."""
    why = text(labels.verdict_words(verdict, spec, nouns))
    return Markup(f': {why}<span class="how"> <a href="{methods}#noise-verdict">(how?)</a></span>')
