"""HTML of lists of metrics before and after: on the page of an edit, one entry for each eval.

The page of a commit has the same entries, with the effect of the commit and the fields that flipped.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from markupsafe import Markup

from sitegen.html.cells import text
from sitegen.html.formats import RECORDED, breakable, number, printable, signed
from sitegen.model.cells import Flips, Tally
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Interval
from sitegen.model.series import Headline
from sitegen.pages import change_text, links
from sitegen.pages.commit.effects import CommitEffect
from sitegen.pages.commit.page import MoveRow
from sitegen.pages.edit.page import EffectRow, Move
from sitegen.pages.labels import exchanges
from sitegen.pages.report.why_rows import judged, sentence
from sitegen.text.plain import line

NOTICED = 0.0005
"""Parts of a change below this are not mentioned."""

SHOWN = 3
"""Metrics of each eval: the headline and two more."""

NAMED: Final = 5
"""Fields of each kind that are named at once."""


def effects(rows: Iterable[EffectRow], root: str) -> Markup:
    """List items: the eval, its headline metric before and after with links to both reports, and two more metrics."""
    return Markup("".join([_effect_row(row, root) for row in rows]))


def _effect_row(row: EffectRow, root: str) -> str:
    headline, *further = row.moves[:SHOWN]
    before = _value_link(row.eval_id, row.before, headline.before, root, headline.unit)
    after = _value_link(row.eval_id, row.after, headline.after, root, headline.unit)
    rest = "".join([_further_metric(move) for move in further])
    pill = f"{RECORDED} " if row.spec.recorded else ""
    return (
        f'<li><a class="ef-n" href="{root}{links.eval_trend(row.eval_id)}">{escape(row.name)}</a>'
        f'<span class="ef-h">{pill}<span class="ef-l">{escape(headline.label)}</span> {before}{_TO}{after}'
        f" {_move_change(headline)}</span>"
        f"{_intervals_of_sides(row.before, row.after, headline.label)}"
        f'<span class="ef-o">{rest}</span>{_effect_remarks(row, root)}'
        f"{_effect_evidence(row)}{flipped(row.flips)}</li>\n"
    )


def _intervals_of_sides(before: Headline | None, after: Headline | None, label: str) -> str:
    """The intervals of the headline on both sides, as far as there are any, with the units they were computed from."""
    sides = [point.interval if point else None for point in (before, after)]
    intervals = [side for side in sides if side]
    if not intervals:
        return ""
    spans = [change_text.span(side) or "—" for side in sides] if before else [change_text.span(intervals[0])]
    how = f"95 % interval of {label}: {', '.join(dict.fromkeys(side.method for side in intervals))}"
    words = f"95\u202f%: {_TO.join(spans)}, over {_interval_bases(intervals[0], intervals[-1])}"
    return f'<span class="ef-c" title="{escape(how)}">{words}</span>'


def _effect_evidence(row: EffectRow) -> str:
    return f'<p class="ef-f">{judged(row.judged, row.spec)}</p>' if row.judged else ""


def _interval_bases(before: Interval, after: Interval) -> str:
    """The units that two intervals were computed from, once if they are the same."""
    units = f"{after.n:,} {after.unit}"
    if (before.n, before.unit) == (after.n, after.unit):
        return units
    return f"{before.n:,}{'' if before.unit == after.unit else f' {before.unit}'} then {units}"


def _effect_remarks(row: EffectRow, root: str) -> str:
    """Whatever besides the output may have changed the numbers."""
    headline = row.moves[0]
    remarks = _unreadable_side(row.eval_id, row.before, root) + _unreadable_side(row.eval_id, row.after, root)
    if headline.change is not None and row.by_rules is not None and abs(row.by_rules) >= NOTICED:
        part = signed(row.by_rules, lower_is_better=not headline.higher_is_better)
        remarks = f'<p class="ef-f">{part} of the change is by ground truth and rules, not by the output</p>'
    remarks += "".join(
        [f'<p class="ef-f"><b>{escape(exchanged)}</b></p>' for exchanged in exchanges(row.model, row.judge)]
    )
    if headline.change is not None and not row.comparable:
        remarks += '<p class="ef-f">not over the same documents</p>'
    return remarks


def _unreadable_side(eval_id: str, point: Headline | None, root: str) -> str:
    """What it means for the numbers of a side that its files cannot be read, with a link to its report."""
    if point is None or point.status == "scored":
        return ""
    label = escape(point.label)
    consequence = {
        "unreadable": f"The output of {label} cannot be read,</b> and all that it should have held counts as missing",
        "no_ground_truth": f"The ground truth of {label} cannot be read,</b> so that nothing was scored",
    }[point.status]
    href = escape(links.report(eval_id, point.slug))
    return f'<p class="ef-f"><b>{consequence}: <a href="{root}{href}">its report</a> names the file and what to do.</p>'


_TO = ' <span aria-hidden="true">→</span><span class="vh"> then </span> '


def _value_link(eval_id: str, point: Headline | None, value: float | None, root: str, unit: str) -> str:
    """The value as a link to the report it is from; an em dash if it is undefined."""
    text = "—" if value is None else str(number(value, unit=unit))
    if point is None:
        return f'<span class="muted" title="no earlier output">{text}</span>'
    href = escape(links.report(eval_id, point.slug))
    return f'<a href="{root}{href}" title="Report of {escape(point.label)}">{text}</a>'


def _further_metric(move: Move) -> str:
    if move.change == 0:
        return f"<span>{escape(move.label)} {number(move.after, unit=move.unit)}</span>"
    before = "—" if move.before is None else str(number(move.before, unit=move.unit))
    after = "—" if move.after is None else str(number(move.after, unit=move.unit))
    return f"<span>{escape(move.label)} {before}{_TO}{after} {_move_change(move)}</span>"


def _move_change(move: Move) -> str:
    if move.change is None:
        return ""
    return str(signed(move.change, lower_is_better=not move.higher_is_better, unit=move.unit))


def moves(rows: Iterable[MoveRow], root: str) -> Markup:
    """List items of a commit: as above, with the causes, and all points if the commit has several."""
    return Markup("".join([_move_row(row, root) for row in rows]))


def _move_row(move: MoveRow, root: str) -> str:
    item = _effect_row(move.row, root)
    why = "" if move.obvious else f'<span class="ef-w">{escape(move.why)}{_points_of_commit(move, root)}</span>'
    return item.removesuffix("</li>\n") + commit_effect_row(move.effect, move.row.spec) + why + "</li>\n"


def _points_of_commit(move: MoveRow, root: str) -> str:
    if move.total < 2:
        return ""
    eval_id = move.row.eval_id
    best = f"; best of {move.total:,}: {_point_link(eval_id, move.best, root)}" if move.best else ""
    listed = " ".join([f"<li>{_point_link(eval_id, point, root)}</li>" for point in move.points])
    left_out = move.total - len(move.points)
    more = f"<li>and {left_out:,} more</li>" if left_out else ""
    return (
        f'{best}<details class="ef-more"><summary>{move.total:,} points of this commit</summary>'
        f'<ol class="pts-l">{listed}{more}</ol></details>'
    )


def _point_link(eval_id: str, point: Headline, root: str) -> str:
    value = "—" if point.values[0] is None else str(number(point.values[0]))
    around = f' title="95 %: {change_text.span(point.interval)}"' if point.interval else ""
    return (
        f'<a href="{root}{escape(links.report(eval_id, point.slug))}">{escape(line(point.label, 60))}</a> '
        f"<span{around}>{value}</span>"
    )


def flipped(flips: Flips | None) -> str:
    """A line for the fixed and one for the broken cells, by field; empty if nothing flipped."""
    if flips is None:
        return ""
    lines = _tally_line(flips.fixed, "up", "fixed") + _tally_line(flips.broken, "dn", "broken")
    if flips.by_truth:
        lines += f'<p class="ef-f">{flips.by_truth:,} of them while the ground truth of the field changed</p>'
    return lines


def _tally_line(tally: Tally, tone: str, word: str) -> str:
    if not tally:
        return ""
    total = sum(number for _, number in tally)
    rest = len(tally) - NAMED
    more = ""
    if rest > 0:
        fields = "field" if rest == 1 else "fields"
        more = f" <details><summary>{rest:,} more {fields}</summary>{_flipped_field_names(tally[NAMED:])}</details>"
    names = _flipped_field_names(tally[:NAMED])
    return f'<p class="ef-f"><span class="delta {tone}">{total:,} {word}</span> {names}</p>{more}'


def _flipped_field_names(tally: Tally) -> str:
    return ", ".join(
        f"<code>{breakable(escape(printable(attribute)))}</code>{f' {number:,}' if number > 1 else ''}"
        for attribute, number in tally
    )


def commit_effect_row(effect: CommitEffect | None, spec: MetricSpec) -> str:
    """Lines below the numbers of an eval; empty if it had no point before."""
    if effect is None:
        return ""
    note = _sentence(effect.headline.note) if effect.headline.points is not None else ""
    words = f"{sentence(spec, effect.headline)}{note} {judged(effect.verdict, spec)}"
    return f'<p class="ef-f">{words}</p>{_flipped_lines(effect)}'


def _sentence(note: str) -> str:
    return f" {text(note[:1].upper() + note[1:])}." if note else ""


def _flipped_lines(effect: CommitEffect) -> str:
    flips = effect.flipped
    if not (flips.fixed or flips.broken or flips.appeared or flips.vanished):
        return ""
    fixed = [(row.attribute, row.fixed) for row in effect.fields if row.fixed]
    broken = [(row.attribute, row.broken) for row in effect.fields if row.broken]
    lines = _flip_direction_line(flips.fixed, "up", "fixed", fixed)
    lines += _flip_direction_line(flips.broken, "dn", "broken", broken)
    rest = [f"{flips.still:,} still wrong"]
    if flips.appeared or flips.vanished:
        rest.append(f"{flips.appeared:,} came and {flips.vanished:,} went with documents or expected values")
    rest += [f"{effect.more_fields:,} more fields flipped less"] * bool(effect.more_fields)
    return f'{lines}<p class="ef-f">{"; ".join(rest)}</p>'


def _flip_direction_line(number: int, tone: str, word: str, fields: list[tuple[str, int]]) -> str:
    """The number of cells that flipped one way, and the fields with most of them."""
    if not number:
        return ""
    named = ", ".join([f"<code>{text(name)}</code>{f' {count:,}' if count > 1 else ''}" for name, count in fields])
    return f'<p class="ef-f"><span class="delta {tone}">{number:,} {word}</span> {named or "in other fields"}</p>'
