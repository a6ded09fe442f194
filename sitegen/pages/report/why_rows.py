"""HTML of the part of a report that explains changes: sentences, parts, fixed and broken values, verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

from markupsafe import Markup

from sitegen.analysis.recorded import DifferencePart, RecordedCause
from sitegen.html.cells import for_each, shown_run, shown_value, text, value, value_cell
from sitegen.html.charts import bar_between
from sitegen.html.formats import NIL, signed
from sitegen.model.cells import ABSENT, CellFlip
from sitegen.model.deltas import Overlap
from sitegen.model.metrics import Convention, MetricSpec, Nouns
from sitegen.model.noise import ChangeVerdict, Decision, FlipRate, Interval, Noise
from sitegen.pages import change_text
from sitegen.pages.change_text import DisplayedChange, in_points, own_unit
from sitegen.pages.labels import bad_runs, interval_basis
from sitegen.pages.recorded import RecordedView
from sitegen.pages.report.discrepancies import field_file
from sitegen.pages.report.why import FateRow, RunsView, WhyView
from sitegen.text.plain import counted
from sitegen.text.values import SMALL, metric_text

_ORIGINS: Final = {
    "outputs": "from the outputs",
    "ground truth": "because the ground truth changed",
    "rules": "because the rules changed",
}

_TONES: Final[dict[Decision, str]] = {
    "better": " good",
    "likely better": " good",
    "cannot tell": "",
    "likely worse": " bad",
    "worse": " bad",
    "same": "",
}

_OTHER_CAUSES: Final[dict[RecordedCause, str]] = {
    "pairing": "pairing: in the record, list items are paired by position",
    "tolerance": "another tolerance",
    "rest": "what none of this explains",
    "ground_truth": "since then, the ground truth changed",
    "rules": "since then, the rules changed",
}

_BLANK: Final = '""'
"""The JSON text of a blank."""


def sentence(spec: MetricSpec, change: DisplayedChange) -> Markup:
    """A change in one sentence: ``F1 fell by 0.022: −0.031 from the outputs, +0.009 because ...``."""
    label = text(spec.label)
    if change.amount is None:
        return Markup(f"{text(change.note[:1].upper() + change.note[1:])}.")
    origins = [f"{text(own_unit(part.amount, spec))} {_ORIGINS[part.name]}" for part in change.parts]
    if not change.parts:
        split = ""
    elif len(change.parts) == 1:
        split = f", all of it {_ORIGINS[change.parts[0].name]}"
    else:
        split = f": {', '.join(origins)}"
    return Markup(f"{label} {_moved_words(change.amount, spec)}{split}.")


def _moved_words(change: float, spec: MetricSpec) -> str:
    size = text(own_unit(change, spec)).lstrip(f"+{change_text.MINUS}")
    return "did not move" if size == "0" else f"{'rose' if change > 0 else 'fell'} by {size}"


def interval_note(interval: Interval | None, nouns: Nouns) -> Markup:
    """The ends of an interval and the units it was computed from; empty without an interval."""
    if interval is None:
        return Markup("")
    units, _, whole = text(interval_basis(interval.unit, interval.n, nouns)).partition(" of ")
    how = f"Over {units}{f' of {whole}' if whole else ''}: {text(interval.method)}"
    ends = f"95\u202f%: {change_text.span(interval)}"
    return Markup(f'<span title="{how}">{ends}</span>, by {units}')


def documents(why: WhyView, nouns: Nouns, before: str) -> Markup:
    """The number of documents that both points have, and the documents that only one of them has."""
    shared = why.overlap
    if shared.verdict == "comparable":
        return Markup("")
    common = f"{shared.common:,} {text(shared.noun(nouns, shared.common))}"
    sentences = [f"Counted over the {common} that both outputs hold."] * bool(shared.common)
    sentences += _documents_of_one_side("Only here", shared.only_after, why.more_after)
    sentences += _documents_of_one_side(f"Only in {text(before)}", shared.only_before, why.more_before)
    return Markup(" ".join(sentences))


def comparability(shared: Overlap, nouns: Nouns) -> Markup:
    """Whether two outputs have the same documents, some in common or none, in words."""
    if shared.verdict == "refused":
        return Markup('<span class="pill bad">not comparable</span>')
    if shared.verdict == "bridged":
        number = f"{shared.common:,} common {text(shared.noun(nouns, shared.common))}"
        return Markup(f'<span class="pill warn">compared over {number}</span>')
    number = "" if shared.common == 1 else f"{shared.common:,} "
    return Markup(f'<span class="note">comparable: the same {number}{text(shared.noun(nouns, shared.common))}</span>')


def _documents_of_one_side(where: str, names: Iterable[str], more: int) -> list[str]:
    listed = ", ".join([f"<code>{text(name)}</code>" for name in names])
    return [f"{where}: {listed}{f' and {more:,} more' if more else ''}."] if listed else []


def parts(why: WhyView) -> Markup:
    """Table rows with the change of each metric: one for each role that contributed to it, then their sum."""
    headline = why.changes[0]
    spec, amounts = why.specs[0], [headline.amount or 0.0, *(part.amount for part in headline.parts)]
    longest = max(abs(in_points(amount, spec)) for amount in amounts) or 1
    sums: dict[str, list[float | None]] = {
        role: [dict(change.parts).get(role, 0.0) if change.amount is not None else None for change in why.changes]
        for role in why.roles
    }
    sums["together"] = [change.amount for change in why.changes]
    return Markup("".join([_part_row(name, amounts, why.specs, longest) for name, amounts in sums.items()]))


def _part_row(name: str, amounts: list[float | None], specs: Sequence[MetricSpec], longest: float) -> str:
    """``longest``: the largest part of the headline's change, in hundredths of its range."""
    first = in_points(amounts[0] or 0.0, specs[0])
    start, width = min(first, 0.0), abs(first)
    bar = (
        f'<svg class="part" viewBox="{-longest:.4f} 0 {2 * longest:.4f} 1" preserveAspectRatio="none" '
        f'aria-hidden="true"><rect class="{_tone(first, specs[0].higher_is_better)}" x="{start:.4f}" '
        f'width="{width:.4f}" height="1"/></svg>'
    )
    cells = "".join([_change_cell(change, spec) for change, spec in zip(amounts, specs, strict=True)])
    return f'<tr><th scope="row">{name}</th><td>{bar}</td>{cells}</tr>\n'


def _change_cell(change: float | None, spec: MetricSpec) -> str:
    if change is None:
        return f'<td class="num">{NIL}</td>'
    tone = _tone(change, spec.higher_is_better)
    return f'<td class="num"><span class="delta {tone}">{text(own_unit(change, spec))}</span></td>'


def _tone(change: float, higher_is_better: bool) -> str:
    return "" if change == 0 else "up" if (change > 0) is higher_is_better else "dn"


@for_each
def fates(row: FateRow, with_others: int) -> str:
    """The table row of a field whose values flipped; ``with_others`` adds the column of errors of other documents."""
    columns = [(row.fixed, " class=up"), (row.broken, " class=dn"), (row.still, "")]
    columns += [(row.other, "")] * bool(with_others)
    counts = "".join([f"<td{tone}>{count or ''}</td>" for count, tone in columns])
    return f'<tr><td><a href="{text(row.file)}">{text(row.attribute)}</a></td>{counts}</tr>\n'


@for_each
def fixed(flip: CellFlip, several_documents: bool) -> str:
    """The table row of a value that was fixed: path, expected value, value before, value now."""
    before, after = flip.before or ABSENT, flip.after or ABSENT
    expected = shown_run(after.state, after.expected, after.actual).expected
    changed = f"<small>before: {value(shown_value(before.expected or _BLANK))}</small>" if flip.by_truth else ""
    where = f"<td>{text(flip.cell.document)}" if several_documents else ""
    return (
        f"<tr><td>{text(flip.cell.label)}{value_cell(expected)}{changed}"
        f"{value_cell(shown_value(before.actual))}{value_cell(shown_value(after.actual))}{where}\n"
    )


def falls(view: RecordedView, convention: Convention) -> Markup:
    """Rows that lead from the recorded headline to the computed one, each with a bar from the value before to its own.

    ``convention``: the one by which errors are counted here.
    """
    if view.headline is None or view.headline.computed is None:
        return Markup("")
    parts = [part for part in view.parts if abs(part.amount) >= SMALL]
    levels = list(accumulate((part.amount for part in parts), initial=view.headline.recorded))
    low, high = min(*levels, view.headline.computed), max(*levels, view.headline.computed)
    rows = [f"<tr><td>{text(view.file)}<td class=hide-s><td><td class=num>{view.headline.recorded:.3f}"]
    for part, before, after in zip(parts, levels, levels[1:], strict=False):
        bar = bar_between(before, after, low, high)
        cause = text(_recorded_cause(part, convention))
        rows.append(
            f"<tr><td>{cause}<td class=hide-s>{bar}<td class=num>{signed(part.amount)}<td class=num>{after:.3f}"
        )
    rows.append(f"<tr><td><b>computed here</b><td class=hide-s><td><td class=num><b>{view.headline.computed:.3f}</b>")
    return Markup("\n".join(rows))


def _recorded_cause(part: DifferencePart, convention: Convention) -> str:
    if part.cause == "counting":
        rule = "is no false negative" if convention == "standard" else "is a false negative too"
        return f"other counting rule: in the record, a wrong value {rule}"
    if part.cause == "fields":
        values = counted(abs(part.values), "expected value")
        return f"{values} that {'the files do not have' if part.values > 0 else 'the record does not count'}"
    return _OTHER_CAUSES[part.cause]


def runs(view: RunsView, spec: MetricSpec) -> Markup:
    """Sentences on how far repeated runs differ."""
    label = text(spec.label)
    if view.lowest is None or view.highest is None:
        return Markup(f"{label} is undefined in all of them.")
    words = f"{label} lies between {view.lowest:.3f} and {view.highest:.3f}"
    if view.interval:
        level = "95\u202f%"
        words += f"; the mean of such runs from {change_text.span(view.interval)} ({level})"
    if view.deviation is not None:
        words += f". Standard deviation: {text(metric_text(view.deviation, unit=spec.unit))}"
    if view.pooled and view.pooled.rate is not None:
        words += f". Of {view.pooled.pairs:,} pairs of values {100 * view.pooled.rate:.1f}\u202f% differ in outcome"
    return Markup(f"{words}. {text(bad_runs(view.bad_runs))}".rstrip())


@for_each
def rates(rate: FlipRate, eval_id: str) -> str:
    """The table row of a field in which runs differ: pairs of runs that differ, all pairs, share."""
    file = text(field_file(eval_id, rate.attribute))
    return (
        f'<tr><td><a href="{file}">{text(rate.attribute)}</a><td>{rate.flips:,}<td>{rate.pairs:,}'
        f"<td>{100 * (rate.rate or 0):.0f}\u202f%\n"
    )


def judged(verdict: ChangeVerdict | None, spec: MetricSpec, nouns: Nouns, noise: Noise | None = None) -> Markup:
    """The verdict as a mark, and the evidence for it.

    There is no verdict if the output is the same, and none on recorded numbers.
    """
    if spec.recorded:
        return Markup("Only recorded: whether this is more than chance is unknown.")
    if verdict is None:
        return Markup("The output is the same, so this says nothing about instructions.")
    sentences = [change_text.beyond_them(verdict, spec, nouns), change_text.smallest_change(verdict, spec)]
    rest = "".join([f" {text(sentence[0].upper() + sentence[1:])}." for sentence in sentences if sentence])
    return Markup(
        f"{decision(verdict)}: {_hint(verdict, change_text.on_these_cases(verdict, spec, nouns, noise))}.{rest}"
    )


def decision(verdict: ChangeVerdict) -> Markup:
    """The word for a change, as a mark."""
    return Markup(f'<span class="pill{_TONES[verdict.decision]}">{verdict.decision}</span>')


def because(verdict: ChangeVerdict, spec: MetricSpec, nouns: Nouns, methods: str) -> Markup:
    """What follows the word: the reason for it, what holds beyond these cases, and a link to *methods*."""
    beyond = change_text.beyond_them(verdict, spec, nouns)
    words = _hint(verdict, change_text.on_these_cases(verdict, spec, nouns))
    how = f'<a href="{methods}#noise-verdict">how?</a>'
    return Markup(f": {words}{f'; {text(beyond)}' if beyond else ''} ({how})")


def _hint(verdict: ChangeVerdict, words: str) -> str:
    """Words with the p value of the sign test as their title."""
    if verdict.p_value is None:
        return text(words)
    p_value = "p < 0.001" if verdict.p_value < 0.001 else f"p {verdict.p_value:.3f}"
    return f'<span title="exact sign test: {p_value}">{text(words)}</span>'
