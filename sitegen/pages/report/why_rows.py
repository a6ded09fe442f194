"""Why numbers moved: the sentence, the parts as a sum, what was fixed and broken, and the verdict with its evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from markupsafe import Markup

from sitegen.html.cells import text, value
from sitegen.html.formats import NIL
from sitegen.model.deltas import Overlap
from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.model.noise import ChangeVerdict, Decision, FlipRate, Interval, Noise
from sitegen.pages import change_text
from sitegen.pages.change_text import points
from sitegen.pages.changes import DisplayedChange, in_points
from sitegen.pages.labels import interval_basis
from sitegen.pages.report import FateRow, FixedCell
from sitegen.pages.report.runs import RateRow, RunsView
from sitegen.pages.report.why import Why

_ORIGINS: Final = {
    "outputs": "from the outputs",
    "ground truth": "because the ground truth changed",
    "rules": "because the rules changed",
}

_TONES: Final[dict[Decision, str]] = {"better": " good", "worse": " bad", "inconclusive": "", "same": ""}


def sentence(spec: MetricSpec, change: DisplayedChange) -> Markup:
    """A change in one sentence: ``F1 fell by 2.2 points: −3.1 from the outputs, +0.9 because ...``."""
    label = text(spec.label)
    if change.points is None:
        return Markup(f"{text(change.note[:1].upper() + change.note[1:])}.")
    origins = [f"{change_text.points(part.points)} {_ORIGINS[part.name]}" for part in change.parts]
    if not change.parts:
        split = ""
    elif len(change.parts) == 1:
        split = f", all of it {_ORIGINS[change.parts[0].name]}"
    else:
        split = f": {', '.join(origins)}"
    return Markup(f"{label} {_moved_words(change.points)}{split}.")


def _moved_words(points: float) -> str:
    if points == 0:
        return "did not move"
    size = f"{abs(points):,.1f}"
    return f"{'rose' if points > 0 else 'fell'} by {'less than 0.1' if size == '0.0' else size} points"


def interval(found: Interval | None, nouns: Nouns) -> Markup:
    """The ends of an interval, and what it was made from; empty without one."""
    if found is None:
        return Markup("")
    of, where = text(interval_basis(found, nouns)).partition(" of ")[::2]
    how = f"Over {of}{f' of {where}' if where else ''}: {text(found.method)}"
    return Markup(f'<span title="{how}">{100 * found.level:.0f}\u202f%: {change_text.span(found)}</span>, by {of}')


def documents(why: Why, nouns: Nouns, before: str) -> Markup:
    """What both points hold, and which documents only one of them has."""
    shared = why.overlap
    if shared.verdict == "comparable":
        return Markup("")
    said = [f"Counted over the {shared.common:,} {_noun(shared.common, nouns)} that both hold."] * bool(shared.common)
    said += _alone("Only here", shared.only_after, why.more[1])
    said += _alone(f"Only in {text(before)}", shared.only_before, why.more[0])
    return Markup(" ".join(said))


def comparability(shared: Overlap, nouns: Nouns) -> Markup:
    """Comparable, bridged or refused, in words."""
    if shared.verdict == "refused":
        return Markup('<span class="pill bad">not comparable</span>')
    if shared.verdict == "bridged":
        return Markup(
            f'<span class="pill warn">bridged over {shared.common:,} common {_noun(shared.common, nouns)}</span>'
        )
    return Markup(f'<span class="note">comparable: the same {_counted_cells(shared.common, nouns)}</span>')


def _counted_cells(number: int, nouns: Nouns) -> str:
    return text(nouns.document) if number == 1 else f"{number:,} {text(nouns.documents)}"


def _noun(number: int, nouns: Nouns) -> str:
    return text(nouns.document if number == 1 else nouns.documents)


def _alone(where: str, names: Iterable[str], more: int) -> list[str]:
    listed = ", ".join([f"<code>{text(name)}</code>" for name in names])
    return [f"{where}: {listed}{f' and {more:,} more' if more else ''}."] if listed else []


def parts(why: Why) -> Markup:
    """The change of each metric as a sum: a row for each role that did anything, then the whole."""
    headline = why.changes[0]
    longest = max([abs(part.points) for part in headline.parts] + [abs(headline.points or 0)], default=0) or 1
    rows = []
    for role in why.roles:
        found = [dict(change.parts).get(role, 0.0) if change.points is not None else None for change in why.changes]
        rows.append(_part_row(role, found, why.specs, longest))
    whole = _part_row("together", [change.points for change in why.changes], why.specs, longest)
    return Markup("".join([*rows, whole]))


def _part_row(name: str, points: list[float | None], specs: Iterable[MetricSpec], longest: float) -> str:
    first = points[0] or 0.0
    good = [spec.higher_is_better for spec in specs]
    start, width = min(first, 0.0), abs(first)
    bar = (
        f'<svg class="part" viewBox="{-longest:.4f} 0 {2 * longest:.4f} 1" preserveAspectRatio="none" '
        f'aria-hidden="true"><rect class="{_tone(first, good[0])}" x="{start:.4f}" width="{width:.4f}" height="1"/>'
        "</svg>"
    )
    cells = "".join([_points_cell(one, higher) for one, higher in zip(points, good, strict=True)])
    return f'<tr><th scope="row">{name}</th><td>{bar}</td>{cells}</tr>\n'


def _points_cell(points: float | None, higher_is_better: bool) -> str:
    if points is None:
        return f'<td class="num">{NIL}</td>'
    tone = _tone(points, higher_is_better)
    return f'<td class="num"><span class="delta {tone}">{change_text.points(points)}</span></td>'


def _tone(points: float, higher_is_better: bool) -> str:
    return "" if points == 0 else "up" if (points > 0) is higher_is_better else "dn"


def fates(rows: Iterable[FateRow], with_others: int) -> Markup:
    """The fields whose cells flipped: fixed, broken, still wrong, and what came or went with documents, if any."""
    return Markup("".join([_fate(row, with_others) for row in rows]))


def _fate(row: FateRow, with_others: int) -> str:
    attribute, file, fixed, broken, still, other = row
    columns = [(fixed, " class=up"), (broken, " class=dn"), (still, ""), *[(other, "")] * bool(with_others)]
    counts = "".join([f"<td{tone}>{count or ''}</td>" for count, tone in columns])
    return f'<tr><td><a href="{text(file)}">{text(attribute)}</a></td>{counts}</tr>\n'


def fixed(rows: Iterable[FixedCell], several_documents: bool) -> Markup:
    """The cells that were fixed: path, expected, what it was, what it is."""
    return Markup("".join([_fixed_cell_row(row, several_documents) for row in rows]))


def _fixed_cell_row(row: FixedCell, several_documents: bool) -> str:
    path, document, expected, before, after, expected_before = row
    changed = f"<small>before: {value(expected_before)}</small>" if expected_before else ""
    where = f"<td>{text(document)}" if several_documents else ""
    return (
        f"<tr><td>{text(path)}<td dir=auto>{value(expected)}{changed}"
        f"<td dir=auto>{value(before)}<td dir=auto>{value(after)}{where}\n"
    )


def runs(view: RunsView, spec: MetricSpec) -> Markup:
    """How far repeated runs are apart, in sentences."""
    label = text(spec.label)
    if view.lowest is None or view.highest is None:
        return Markup(f"{label} is undefined in all of them.")
    said = f"{label} lies between {view.lowest:.3f} and {view.highest:.3f}"
    if view.interval:
        said += (
            f"; the mean of such runs from {change_text.span(view.interval)} ({100 * view.interval.level:.0f}\u202f%)"
        )
    if view.deviation is not None:
        said += f". Standard deviation: {in_points(view.deviation, spec):.1f} points"
    if view.pooled and view.pooled.rate is not None:
        said += f". Of {view.pooled.pairs:,} pairs of values {100 * view.pooled.rate:.1f}\u202f% differ in outcome"
    return Markup(f"{said}.")


def rates(rows: Iterable[RateRow]) -> Markup:
    """The fields in which runs differ: how many pairs of runs, of how many, which share."""
    return Markup("".join([_rate(row.rate, row.file) for row in rows]))


def _rate(rate: FlipRate, file: str) -> str:
    return (
        f'<tr><td><a href="{text(file)}">{text(rate.attribute)}</a><td>{rate.flips:,}<td>{rate.pairs:,}'
        f"<td>{100 * (rate.rate or 0):.0f}\u202f%\n"
    )


def judged(verdict: ChangeVerdict | None, spec: MetricSpec, noise: Noise | None = None) -> Markup:
    """The mark and what decided. Without a verdict the output is the same, and nothing is left to chance.

    Of what was only recorded there is none either, because nothing is left to tell chance by.
    """
    if spec.recorded:
        return Markup("Only recorded: nothing tells whether this is more than chance.")
    if verdict is None:
        return Markup("The output is the same, so this says nothing about instructions.")
    return decision(verdict) + " " + evidence(verdict, spec, noise)


def decision(verdict: ChangeVerdict) -> Markup:
    """Better, worse, inconclusive or same, as a mark."""
    return Markup(f'<span class="pill{_TONES[verdict.decision]}">{verdict.decision}</span>')


def evidence(verdict: ChangeVerdict, spec: MetricSpec, noise: Noise | None = None) -> str:
    """What decided, as sentences; of a change that may be chance, what this set can show."""
    said = _decided(verdict, spec, noise)
    if verdict.decision == "inconclusive" and verdict.detectable is not None:
        whole = in_points(spec.high - spec.low, spec)
        said += (
            f" A change of {_change_size(verdict.detectable, spec)} points would be seen here 8 times in 10."
            if in_points(verdict.detectable, spec) <= whole
            else " No change at all would be seen here 8 times in 10: there is too little to compare."
        )
    return said


def _decided(verdict: ChangeVerdict, spec: MetricSpec, noise: Noise | None) -> str:
    flips = f"{verdict.fixed:,} fixed against {verdict.broken:,} broken"
    match verdict.why:
        case "beyond chance":
            tested = (
                f", and {flips} is more than luck ({_false_alarm_chance(verdict)})"
                if verdict.p_value is not None
                else ""
            )
            return f"Its 95\u202f% interval, {_interval_ends(verdict, spec)} points, leaves out zero{tested}."
        case "nothing moved":
            return "Nothing became right or wrong."
        case "another judge":
            return "Another judge graded the later output, and two judges do not grade alike."
        case "nothing to compare":
            return "There is nothing in common to compare."
        case "too few units":
            return "There is too little here to tell a change from chance."
        case "within the noise of repeats":
            limit = f": by up to {_change_size(noise.limit, spec)} points" if noise and noise.limit is not None else ""
            return f"Outputs made again under the same instructions differ by as much{limit}."
        case "interval holds zero":
            return f"Its 95\u202f% interval, {_interval_ends(verdict, spec)} points, holds zero: it may be chance."
        case "flips may be chance":
            return f"It may be chance: {flips} happens by luck ({_false_alarm_chance(verdict)})."
        case "flips go the other way":
            return f"The number went one way and the cells the other: {flips}."


def _interval_ends(verdict: ChangeVerdict, spec: MetricSpec) -> str:
    interval = verdict.interval
    return f"{points(in_points(interval.low, spec))} to {points(in_points(interval.high, spec))}" if interval else ""


def _change_size(change: float, spec: MetricSpec) -> str:
    return f"{in_points(change, spec):.1f}"


def _false_alarm_chance(verdict: ChangeVerdict) -> str:
    p_value = 1.0 if verdict.p_value is None else verdict.p_value
    how = ", the fields of a list counted once" if verdict.interval and verdict.interval.unit == "fields" else ""
    return f"{'p < 0.001' if p_value < 0.001 else f'p {p_value:.3f}'}{how}"
