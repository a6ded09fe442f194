"""HTML of a pair on the compare page, as escaped f-strings; ``assets/js/compare.js`` writes the same HTML."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from sitegen.html.cells import code, for_each, text, where
from sitegen.html.charts import around_zero, tenths
from sitegen.html.formats import number, printable, signed
from sitegen.model.cells import ABSENT, CellFlip, Period
from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.model.outcomes import ERROR_TYPES
from sitegen.model.series import EvalInfo
from sitegen.pages.change_text import MINUS, span
from sitegen.pages.compare.compare_data import diff_command
from sitegen.pages.compare.judged import answer
from sitegen.pages.compare.page import ComparedField, Move, PointPair
from sitegen.pages.report.discrepancies import field_file
from sitegen.pages.report.report_rows import letter_of, type_name
from sitegen.text.plain import cut
from sitegen.text.values import written

EDITS: Final = 8
"""Number of commits with edits that are listed; further ones are counted."""

_BLANK: Final = "<i>blank</i>"
_MISSING: Final = "<i>missing</i>"


def verdict(pair: PointPair, info: EvalInfo) -> Markup:
    """The word for the change, its reason and its interval."""
    spec = pair.metrics[0].spec
    return answer(info, spec, pair.before.snapshot.label, pair.after.snapshot.label, pair.change.verdict)


def numbers(pair: PointPair, nouns: Nouns) -> Markup:
    """A row for each metric, then one for each type of errors: before, after, change, and a bar for both sides."""
    most = max(1, *pair.before.errors, *pair.after.errors)
    kinds = [
        _metric_table_row(
            type_name(kind, nouns),
            f"{before:,}",
            f"{after:,}",
            signed(after - before, 0, lower_is_better=True),
            _bars(before / most, after / most),
        )
        for kind, word, before, after in zip(
            ERROR_TYPES, nouns.errors, pair.before.errors, pair.after.errors, strict=True
        )
        if word
    ]
    first, *further = pair.metrics
    before, after = (
        f'<span class=range title="95 % interval">{span(interval)}</span>' if interval else ""
        for interval in (pair.before.interval, pair.after.interval)
    )
    return Markup("".join([_compared_metric_row(first, before, after), *map(_compared_metric_row, further), *kinds]))


def _compared_metric_row(move: Move, before: str = "", after: str = "") -> str:
    """``before`` and ``after`` are markup below the values, such as their intervals."""
    spec = move.spec
    change = signed(move.change, lower_is_better=not spec.higher_is_better, unit=spec.unit)
    sides = (f"{number(move.before, unit=spec.unit)}{before}", f"{number(move.after, unit=spec.unit)}{after}")
    return _metric_table_row(text(spec.label), *sides, change, _share_bars(move, spec))


def _metric_table_row(name: str, before: str, after: str, change: str, bars: str) -> str:
    numbers = "".join([f"<td class=num>{cell}" for cell in (before, after, change)])
    return f'<tr><td>{name}{numbers}<td class="hide-s">{bars}\n'


def _share_bars(move: Move, spec: MetricSpec) -> str:
    return _bars(move.before or 0.0, move.after or 0.0) if spec.is_share else ""


def _bars(before: float, after: float) -> str:
    """Two bars, one below the other; each a share of the whole width."""
    return (
        '<svg class="ab" viewBox="0 0 100 2" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="a" d="M0 .5H{tenths(100 * before)}"/><path class="b" d="M0 1.5H{tenths(100 * after)}"/></svg>'
    )


def fields(pair: PointPair) -> Markup:
    """A row for each field that changed: errors before and after, fixed, broken, and whether chance explains it."""
    scale = max([1, *(row.fixed + row.broken for row in pair.fields)])
    return Markup("".join([_field_table_row(row, scale) for row in pair.fields]))


def _field_table_row(row: ComparedField, scale: int) -> str:
    fixed, broken = (f"<td class=num>{count:,}" if count else "<td class=num>" for count in (row.fixed, row.broken))
    errors = signed(row.after - row.before, 0, lower_is_better=True)
    return (
        f'<tr><td><a href="{text(row.file)}">{code(row.attribute)}</a><td class=num>{row.before:,}'
        f"<td class=num>{row.after:,}<td class=num>{errors}{fixed}{broken}<td class=iv>{_net(row, scale)}\n"
    )


def _net(row: ComparedField, scale: int) -> str:
    """The number of fixed minus broken values, with the range that chance explains."""
    flipped = row.fixed + row.broken
    if not flipped:
        return ""
    low, high = max(-flipped, row.net - row.reach), min(flipped, row.net + row.reach)
    sure = abs(row.net) > row.reach
    tone = "n" if not sure else "u" if row.net > 0 else "d"
    words = "more than chance" if sure else "may be chance"
    drawn = around_zero(low, high, row.net, scale, tone)
    return f"{drawn}<span class=by>{_signed_count(low)} to {_signed_count(high)}, {words}</span>"


def _signed_count(number: int) -> str:
    return f"{'+' if number > 0 else MINUS if number else ''}{abs(number):,}"


@for_each
def cells(flip: CellFlip, info: EvalInfo) -> str:
    """The row of a cell: its place, the expected value, and the values at both points."""
    cell, before, after = flip.cell, flip.before or ABSENT, flip.after or ABSENT
    now = before if after.state == "absent" else after
    is_changed = "absent" not in (before.state, after.state) and before.expected != after.expected
    was = f"<i> was {text(written(before.expected) or '') or 'blank'}</i>" if is_changed else ""
    place = where(cell.label, cell.document, extra=cell.extra, file=field_file(info.id, cell.attribute))
    return (
        f'<tr><td>{place}<td class="sides" dir=auto>{_value_or_none(written(now.expected), _BLANK)}{was}'
        f"{_side_cell(before, info.nouns)}{_side_cell(after, info.nouns)}\n"
    )


def _side_cell(period: Period, nouns: Nouns) -> str:
    state = period.state
    if state == "absent":
        return "<td><i>not there</i>"
    if state in ERROR_TYPES:
        word = text(nouns.errors[ERROR_TYPES.index(state)])
        mark = f'<span class="t {state}" title="{word}">{letter_of(state, nouns)}</span>'
    else:
        mark = '<span class="ok" title="right">✓</span>'
    missing = _BLANK if state == "true_negative" else _MISSING
    return f'<td class="sides" dir=auto>{mark} {_value_or_none(written(period.actual), missing)}'


def _value_or_none(value: str | None, none: str) -> str:
    return none if value is None else text(value) or _BLANK


def edits(pair: PointPair) -> Markup:
    """The commits that edited instructions between both sides, and the command that shows all edits as one diff."""
    if not pair.edits:
        return Markup("<p>No instructions that drive this eval were edited between the two.</p>")
    rows = []
    for commit in pair.edits[:EDITS]:
        subject = printable(cut(commit.commit.subject, 120))
        name = f'<a href="{text(commit.page)}">{text(subject)}</a>' if commit.page else text(subject)
        files = f"{len(commit.paths):,} {'file' if len(commit.paths) == 1 else 'files'}"
        rows.append(f"<li>{name} <span class=muted>{text(commit.commit.short)}, {files}</span>")
    left_out = len(pair.edits) - EDITS
    more = f"<li class=muted>and {left_out:,} earlier" if left_out > 0 else ""
    command = text(diff_command(pair.before.snapshot.commit, pair.after.snapshot.commit, pair.edits))
    return Markup(f"<ul class=edited>{''.join(rows)}{more}</ul><p>All of it as one diff: <code>{command}</code></p>")
