"""What ``verify-one`` and ``verify-all`` print of what was verified."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sitegen.analysis.noise.intervals import ends_of_mean, interval_of
from sitegen.analysis.series import HEADLINES
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.model.noise import Interval
from sitegen.model.outcomes import ERROR_TYPES, Judgement
from sitegen.model.problems import Finding
from sitegen.model.scorecards import Scorecard
from sitegen.model.usage import RunUsage
from sitegen.pages.labels import interval_basis
from sitegen.scoring.kinds import scorer, specs_of
from sitegen.scoring.responses.document import metrics_of
from sitegen.scoring.usage import USAGE, USAGE_METRICS, all_specs
from sitegen.scoring.verdict import verdict
from sitegen.stats.counts import RATIOS, Averages
from sitegen.text.plain import line
from sitegen.text.values import amount
from sitegen.verifying.project import WorktreeProject
from sitegen.verifying.verify import Verified

SHOWN: Final = 12
"""Discrepancies that the terminal lists."""

LONGEST_NAME: Final = 40
"""Characters of an eval's id in a table."""


def one_eval(project: WorktreeProject, verified: Verified, methods: tuple[str, ...]) -> list[str]:
    """The numbers of one eval, what is wrong with its files, and the first discrepancies."""
    place, card = verified.place, verified.result.scorecard
    nouns, is_structured = scorer(place.kind).nouns, traits_of(place.kind).is_structured
    wrong = [judgement for judgement in verified.result.judgements if judgement.outcome in ERROR_TYPES]
    files = ", ".join(shown(project, output) for output in verified.outputs)
    lines = [f"{line(place.entry.id)}  {files}{_remark(card)}"]
    lines += _numbers_of_fields(card) if is_structured else _numbers_of_kind(verified, methods)
    lines += _interval(place.kind, card, nouns)
    errors = tuple(zip(nouns.errors, _errors(card), strict=True))
    counted = "  ".join(
        f"{name} {count}{_share(count, sum(_errors(card)))}" for name, count in errors if count or is_structured
    )
    lines += [f"  {counted}"] if counted else []
    if len(card.documents) > 1 and is_structured:
        lines.append(f"  {len(card.documents)} documents, macro F1 {_number(card.metric('macro_f1'))}")
    lines += [f"  {_finding(finding)}" for finding in card.findings]
    lines += [f"  {discrepancy(one, nouns)}" for one in wrong[:SHOWN]]
    if len(wrong) > SHOWN:
        lines.append(f"  ... and {len(wrong) - SHOWN} more: --json has all, --open shows them")
    return lines


def every_eval(project: WorktreeProject, verified: Sequence[Verified], averages: Averages) -> list[str]:
    """A row an eval, then the means over them and the numbers of all their answers together.

    An eval in which a number is undefined is not in its mean.
    """
    names = [line(one.place.entry.id, LONGEST_NAME) for one in verified]
    width = max(len(name) for name in ("pooled", *names))
    initials = [ratio.initial for ratio in RATIOS]
    first, *others = (f"{initial:>6}" for initial in initials)
    lines = [f"{'eval':{width}}  {first} {'95 %':>14} {' '.join(others)} {'errors':>7}  newest output"]
    for name, one in zip(names, verified, strict=True):
        card = one.result.scorecard
        lines.append(f"{name:{width}}  {_three(one)} {sum(_errors(card)):7,}  {_outputs(project, one)}{_said(one)}")
    counted = [one for one in verified if _has_f1(one.result.scorecard)]
    ends = ends_of_mean((one.result.scorecard.metric("f1"), _interval_of_f1(one)) for one in counted)
    left_out = [f"{label} of {number}" for label, number in zip(initials, averages.left_out, strict=True) if number]
    undefined = f"   (undefined and left out: {', '.join(left_out)})" if left_out else ""
    lines.append(f"{'macro':{width}}  {_in_columns(averages.macro, _ends(*ends) if ends else '')}{undefined}")
    lines.append(f"{'pooled':{width}}  {_in_columns(averages.pooled)}")
    return lines


def debug(project: WorktreeProject, verified: Verified) -> list[str]:
    """What was read, for ``--debug``."""
    place = verified.place
    files = [("ground truth", place.ground_truth), *(("output", output) for output in verified.outputs)]
    read = [f"debug: {what} {shown(project, path)}, {path.stat().st_size:,} bytes" for what, path in files if path]
    return [
        f"debug: {line(place.entry.id)} is of kind {place.kind}, in {shown(project, place.folder)}",
        *read,
        f"debug: settings {line(place.entry.settings, 500)}, thresholds {dict(place.entry.thresholds)}",
        f"debug: {len(verified.result.judgements):,} judgements, {len(verified.result.scorecard.findings)} findings",
    ]


def shown(project: WorktreeProject, path: Path) -> str:
    """A path, from the root of the repository if it is below it."""
    return line(str(path.relative_to(project.root) if path.is_relative_to(project.root) else path))


def _numbers_of_fields(card: Scorecard) -> list[str]:
    counts = card.counts
    return [
        "  " + "   ".join(f"{ratio.word} {_number(card.metric(ratio.name))}" for ratio in RATIOS),
        f"  {counts.tp}/{card.expected_values} fields correct   TP {counts.tp}  FP {counts.fp}  FN {counts.fn}"
        f"  TN {counts.tn}",
        *_took(card),
    ]


def _took(card: Scorecard) -> list[str]:
    """Which model answered, and what that took; nothing if no file states it."""
    if card.usage is None:
        return []
    numbers = [
        f"{spec.label.lower()} {amount(value, spec.unit)}"
        for spec in USAGE_METRICS
        if (value := card.metric(spec.name)) is not None
    ]
    named = [f"{who} {line(', '.join(names), 200)}" for who, names in _named(card.usage) if names]
    return [f"  {'; '.join((*named, *numbers))}"]


def _named(usage: RunUsage) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return ("model", usage.models), ("judge", usage.judges)


def _numbers_of_kind(verified: Verified, methods: tuple[str, ...]) -> list[str]:
    """A line a metric with the verdict on it, those of each variant, and what to do."""
    place, card = verified.place, verified.result.scorecard
    names = metrics_of(methods) if methods else None
    specs = [spec for spec in specs_of(scorer(place.kind), (card,)) if names is None or spec.name in names]
    wanted = [threshold for threshold in place.entry.thresholds if names is None or threshold[0] in (*names, *USAGE)]
    judged = verdict(all_specs(specs), wanted, card.metrics)
    width = max(len(spec.label) for spec in specs)
    lines = []
    for spec in specs:
        row = judged.row(spec.name)
        said = f"  {row.status} (at {'least' if spec.higher_is_better else 'most'} {row.threshold:g})" if row else ""
        lines.append(f"  {spec.label:{width}} {_number(card.metric(spec.name))}{said}")
    if traits_of(place.kind).finds_texts:
        lines.insert(0, _numbers_of_highlights(card))
    advice = (f"  {sentence}" for sentence in judged.recommendations)
    return [*lines, *_took(card), *_documents(card, specs[:HEADLINES]), *advice]


def _numbers_of_highlights(card: Scorecard) -> str:
    counts = card.counts
    expected = counts.tp + counts.fn
    share = f"{100 * counts.tp / expected:.0f} %" if expected else "undefined"
    return f"  expected {expected}  found {counts.tp + counts.fp}  correct {counts.tp}  accuracy {share}"


def _documents(card: Scorecard, specs: Sequence[MetricSpec]) -> list[str]:
    lines = []
    for each in card.documents if len(card.documents) > 1 else ():
        if own := dict(each.metrics):
            numbers = "  ".join(f"{spec.label} {_number(own.get(spec.name)).strip()}" for spec in specs)
            lines.append(f"  {line(each.id, LONGEST_NAME)}: {numbers}")
    return lines


def _finding(finding: Finding) -> str:
    """What is wrong and what to do, as two sentences."""
    what = finding.text.rstrip()
    return line(f"{finding.severity}: {what if what.endswith(('.', '?', '!')) else f'{what}.'} {finding.fix}")


def discrepancy(one: Judgement, nouns: Nouns) -> str:
    """One line of the list of errors: which, where, expected, found."""
    from sitegen.text.values import as_text, told_apart

    where = f"{one.document}: {one.label}" if one.document else one.label
    values = (one.expected, one.actual)
    texts = told_apart(*values) or ["nothing" if value is None else as_text(value) for value in values]
    expected, actual = (line(text, 60) for text in texts)
    outcome = nouns.errors[ERROR_TYPES.index(one.outcome)]
    return f"{outcome:13}  {line(where, 100)}: expected {expected}, found {actual}"


def _outputs(project: WorktreeProject, verified: Verified) -> str:
    """The first output, and the names of those beside it: ``evals/faq/responses-a.jsonl, responses-b.jsonl``."""
    if not verified.outputs:
        return "no output"
    first, *others = verified.outputs
    named = [shown(project, first), *(line(other.name, LONGEST_NAME) for other in others[:2])]
    more = len(others) - 2
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def _errors(card: Scorecard) -> tuple[int, ...]:
    counts = card.counts
    return (counts.omission, counts.hallucination, counts.wrong_value, counts.format_error)


def _three(verified: Verified) -> str:
    """The ratios, the first with its interval; of a kind that does not count answers so, nothing."""
    card, interval = verified.result.scorecard, _interval_of_f1(verified)
    counted = _has_f1(card)
    return _in_columns(
        [ratio.of(card.counts) if counted else None for ratio in RATIOS],
        _ends(interval.low, interval.high) if interval else "",
    )


def _in_columns(values: Sequence[float | None], spread: str = "") -> str:
    first, *others = map(_number, values)
    return " ".join([first, f"{spread:14}", *others])


def _has_f1(card: Scorecard) -> bool:
    return not card.specs and any(metric.name == "f1" for metric in card.metrics)


def _interval_of_f1(verified: Verified) -> Interval | None:
    card = verified.result.scorecard
    return interval_of(card, verified.place.kind, "f1") if _has_f1(card) else None


def _ends(low: float, high: float) -> str:
    return f"{low:.3f} to {high:.3f}"


def _interval(kind: str, card: Scorecard, nouns: Nouns) -> list[str]:
    """The line that says how far the headline can be trusted; none if nothing tells."""
    found = interval_of(card, kind)
    if found is None:
        return []
    label = specs_of(scorer(kind), (card,))[0].label
    return [f"  95 % interval of {label}: {_ends(found.low, found.high)}, over {interval_basis(found, nouns)}"]


def _share(part: int, whole: int) -> str:
    """What part of all errors a type is, behind its count; nothing behind a count of none."""
    return f" ({100 * part / whole:.1f} %)" if part else ""


def _number(value: float | None) -> str:
    return "     —" if value is None else f"{value:6.3f}"


def _said(verified: Verified) -> str:
    """What is unusual about an output; and the headline, of a kind whose headline is not F1."""
    card = verified.result.scorecard
    spec = specs_of(scorer(verified.place.kind), (card,))[0]
    own = f"  {spec.label.lower()} {_number(card.metric(spec.name)).strip()}"
    if spec.recorded:
        own += " (recorded)"
    return f"{_remark(card)}{'' if spec.name == 'f1' and not spec.recorded else own}"


def _remark(card: Scorecard) -> str:
    return "" if card.status == "scored" else f"  ({card.status.replace('_', ' ')})"
