"""HTML of the part of a report that explains changes: sentences, parts, fixed and broken values, verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Final

from markupsafe import Markup

from sitegen.analysis.noise.repeats import Repeats, noise_of
from sitegen.analysis.noise.samples import interval_of_runs
from sitegen.analysis.recorded import DifferencePart, RecordedCause
from sitegen.model.cells import ABSENT, CellFlip, Flips
from sitegen.model.changes import Change, ChangeVerdict, Decision, Interval, Noise, Overlap
from sitegen.model.metrics import Convention, MetricSpec, Nouns
from sitegen.model.timeline import Snapshot
from sitegen.pages import change_text
from sitegen.pages.change_text import DisplayedChange, in_points, own_unit
from sitegen.pages.html.cells import DisplayValue, shown_run, shown_value, text, value
from sitegen.pages.html.charts import bar_between
from sitegen.pages.html.formats import NIL
from sitegen.pages.labels import bad_runs, exchanges, interval_basis
from sitegen.pages.recorded import RecordedRow
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

NAMED: Final = 10
"""Number of documents of only one of the two points that a report names."""

FIELDS: Final = 20
"""Number of fields that are listed with how often repeated outputs differ in them: the ones that differ most often."""

FLIPPED_FIELDS: Final = 12
"""Number of fields in the table of flips: the ones with the most."""

FIXED: Final = 50
"""Number of fixed cells that are listed; the page shows them nowhere else."""


def sentence(spec: MetricSpec, change: DisplayedChange) -> Markup:
    """A change in one sentence: ``F1 fell by 0.022: −0.031 from the outputs, +0.009 because ...``."""
    label = text(spec.label)
    if change.amount is None:
        return Markup(f"{text(change.note[:1].upper() + change.note[1:])}.")
    origins = [f"{text(own_unit(amount, spec))} {_ORIGINS[name]}" for name, amount in change.parts.items()]
    if not change.parts:
        split = ""
    elif len(change.parts) == 1:
        split = f", all of it {_ORIGINS[next(iter(change.parts))]}"
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


def documents(shared: Overlap, nouns: Nouns, before: str) -> Markup:
    """The number of documents that both points have, and the documents that only one of them has."""
    if shared.verdict == "comparable":
        return Markup("")
    common = f"{shared.common:,} {text(shared.noun(nouns, shared.common))}"
    sentences = [f"Counted over the {common} that both outputs hold."] * bool(shared.common)
    sentences += _documents_of_one_side("Only here", shared.only_after)
    sentences += _documents_of_one_side(f"Only in {text(before)}", shared.only_before)
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


def _documents_of_one_side(where: str, names: Sequence[str]) -> list[str]:
    listed = ", ".join([f"<code>{text(name)}</code>" for name in names[:NAMED]])
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return [f"{where}: {listed}{more}."] if listed else []


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
    roles = [name for name in _ORIGINS if name in names]
    if len(roles) < 2:
        return {}
    by_role: dict[str, list[float | None]] = {
        role: [change.parts.get(role, 0.0) if change.amount is not None else None for change in changes]
        for role in roles
    }
    return by_role | {"together": [change.amount for change in changes]}


def part_bar(amount: float | None, by_role: Mapping[str, Sequence[float | None]], spec: MetricSpec) -> Markup:
    """A bar for a part of the headline's change, on one scale for all of ``parts``."""
    longest = max(abs(in_points(amounts[0] or 0.0, spec)) for amounts in by_role.values()) or 1
    first = in_points(amount or 0.0, spec)
    return Markup(
        f'<svg class="part" viewBox="{-longest:.4f} 0 {2 * longest:.4f} 1" preserveAspectRatio="none" '
        f'aria-hidden="true"><rect class="{_tone(first, spec.higher_is_better)}" x="{min(first, 0.0):.4f}" '
        f'width="{abs(first):.4f}" height="1"/></svg>'
    )


def part_change(change: float | None, spec: MetricSpec) -> Markup:
    """A part of a change in the unit of its metric."""
    if change is None:
        return NIL
    tone = _tone(change, spec.higher_is_better)
    return Markup(f'<span class="delta {tone}">{text(own_unit(change, spec))}</span>')


def _tone(change: float, higher_is_better: bool) -> str:
    return "" if change == 0 else "up" if (change > 0) is higher_is_better else "dn"


def fates(flips: Flips) -> list[tuple[str, int, int, int, int]]:
    """Fields with values that were fixed, broken, stayed wrong, or appeared or vanished as errors; most flips first."""
    fixed, broken, still = dict(flips.fixed), dict(flips.broken), dict(flips.still)
    appeared, vanished = dict(flips.appeared), dict(flips.vanished)
    rows = [
        (
            name,
            fixed.get(name, 0),
            broken.get(name, 0),
            still.get(name, 0),
            appeared.get(name, 0) + vanished.get(name, 0),
        )
        for name in fixed | broken | appeared | vanished
    ]
    return sorted(rows, key=lambda row: (-row[1] - row[2], -row[4], -row[3], row[0]))


def fixed_values(flip: CellFlip) -> tuple[Markup, Markup, Markup]:
    """The expected value of a cell that was fixed, its value before, and its value now."""
    before, after = flip.before or ABSENT, flip.after or ABSENT
    expected, _ = shown_run(after.state, after.expected, after.actual)
    changed = f"<small>before: {value(shown_value(before.expected or _BLANK))}</small>" if flip.by_truth else ""
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
    low, high = min(*levels, computed), max(*levels, computed)
    return [
        (part, after, Markup(bar_between(before, after, low, high)))
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
    words = f"{label} lies between {min(values):.3f} and {max(values):.3f}"
    if interval := interval_of_runs(values):
        level = "95\u202f%"
        words += f"; the mean of such runs from {change_text.span(interval)} ({level})"
    if noise and noise.deviation is not None:
        words += f". Standard deviation: {text(metric_text(noise.deviation, unit=spec.unit))}"
    if noise and noise.pooled.rate is not None:
        words += f". Of {noise.pooled.pairs:,} pairs of values {100 * noise.pooled.rate:.1f}\u202f% differ in outcome"
    return Markup(f"{words}. {text(bad_runs(noise.bad_runs if noise else ()))}".rstrip())


def noise_of_runs(repeats: Repeats) -> Noise | None:
    """How far the repeated runs of one iteration differ."""
    return noise_of([repeats])


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


def number_of_runs(at: Snapshot) -> int:
    """Number of repeated runs of a snapshot, including those whose output cannot be read."""
    return len({blob.path.rpartition("/")[0] for blob in at.runs})
