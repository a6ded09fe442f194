"""HTML of the tables of steps: a row for each, with its size, its chart, what changed with it and what became of it.

The charts are small: values around a step with both levels, and values with the best so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, cast

from markupsafe import Markup
from msgspec.structs import replace

from sitegen.frozen import Frozen
from sitegen.html.cells import escape, for_each
from sitegen.html.charts import tenths
from sitegen.html.formats import RECORDED, bounded, date, number, path, signed
from sitegen.model.commits import WORKTREE
from sitegen.model.outcomes import ErrorType
from sitegen.model.regressions import Circumstances
from sitegen.model.series import Headline
from sitegen.pages import links
from sitegen.pages.change_text import Part, own_unit
from sitegen.pages.labels import iterations_and_outputs
from sitegen.pages.regressions.page import StepMetric, StepRow
from sitegen.pages.report.report_rows import type_mark

CHECK: Final = (
    '<svg viewBox="0 0 12 12" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"'
    ' stroke-linejoin="round" aria-hidden="true">\n<path d="m2.5 6.4 2.4 2.4 4.6-5.2"/></svg>'
)
"""The icon of what is as it should be."""
_WARNING: Final = (
    '<svg viewBox="0 0 12 12" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round"'
    ' stroke-linejoin="round" aria-hidden="true">\n<path d="M6 2v4.6M6 9.6v.1"/></svg>'
)


def commit(sha: str, root: str) -> Markup:
    """The short id of a commit, as a link to its page; the uncommitted state has none."""
    if sha == WORKTREE:
        return Markup(f'<span class="sha">{WORKTREE}</span>')
    return Markup(f'<a class="sha" href="{root}{links.commit(sha)}">{sha[:7]}</a>')


@for_each
def rows(row: StepRow, root: str) -> str:
    """A table row: eval and place, size, values around the step, what changed with it, what became of it."""
    first, *others = row.metrics
    info, at = row.info, row.step.commit
    recorded = f"\n{RECORDED}" if info.recorded else ""
    muted = f'<div class="small">Muted: {bounded(row.why, 300)}</div>' if row.why else ""
    return (
        f'<tr data-g="{escape(info.id)}"><td><a class="name" href="{root}{links.eval_trend(info.id)}">'
        f'{bounded(info.name, 80)}</a>{recorded}<div class="small">{_report(row, row.at, root)} {commit(at.sha, root)}'
        f' <span class="nowrap muted">{date(at.committed_at)}</span></div>\n'
        f'<div class="small"><a href="{root}{links.compare(info.id)}#a={escape(row.before.slug)}'
        f'&amp;b={escape(row.at.slug)}">Compare with {bounded(row.before.label, 40)}</a></div>\n'
        f'<div class="muted small two-lines">{bounded(at.subject, 120)}</div></td>\n'
        f'<td class="num sz"><div>{_step_size(first)}</div><div class="muted small nowrap">{escape(first.spec.label)}'
        f" {number(first.step.before, 3, first.spec.unit)}\n→ {number(first.step.after, 3, first.spec.unit)}</div>"
        + "".join(
            [f'<div class="small nowrap">{escape(metric.spec.label)} {_step_size(metric)}</div>' for metric in others]
        )
        + f'</td>\n<td class="sp">{_chart(row)}</td>\n<td class="wrap why">{_because(row, root)}</td>\n'
        f'<td class="st">{_became(row, root)}{muted}</td></tr>\n'
    )


def _report(row: StepRow, point: Headline, root: str) -> str:
    return f'<a href="{root}{links.report(row.info.id, point.slug)}">{bounded(point.label, 40)}</a>'


def _step_size(metric: StepMetric) -> Markup:
    spec = metric.spec
    return signed(metric.step.after - metric.step.before, 3, not spec.higher_is_better, spec.unit)


def _chart(row: StepRow) -> str:
    step, spec = row.metrics[0].step, row.metrics[0].spec
    chart = step_line(row.values, row.mark, step.before, step.after, row.end)
    return (
        f'<svg class="stepl {"u" if step.points > 0 else "d"}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="{escape(spec.label)} around the step: from {number(step.before, 3, spec.unit)}'
        f' to {number(step.after, 3, spec.unit)}"><path class="mk" d="M{chart.mark} 0V{HEIGHT}"/>\n'
        f'<path class="vs" d="{chart.values}"/><path class="lv" d="{chart.before}"/>'
        f'<path class="lv to" d="{chart.after}"/></svg>'
    )


def _because(row: StepRow, root: str) -> str:
    """What changed with the step, and where it shows."""
    circumstances = row.step.circumstances
    html = f"<div>{escape(row.changed)}</div>\n"
    if row.parts:
        html += f'<div class="small">Of the change: {", ".join([_part(part, row) for part in row.parts])}</div>'
    if circumstances.edits:
        html += _edits(row, root)
    if circumstances.fields:
        fields = ", ".join(
            [
                f'<code>{bounded(field.name, 80)}</code> <span class="nowrap">{_mean(field.before)} →'
                f" {_mean(field.after)}</span>"
                for field in circumstances.fields
            ]
        )
        most = "Most of it in" if row.step.metrics[0].points < 0 else "Mostly in"
        html += f'<div class="muted small">{most} {fields} errors</div>'
    return html + _errors(row, circumstances)


def _part(part: Part, row: StepRow) -> str:
    spec = row.metrics[0].spec
    return f'<span class="nowrap">{escape(part.name)}\n{escape(own_unit(part.amount, spec))}</span>'


def _edits(row: StepRow, root: str) -> str:
    circumstances = row.step.circumstances
    count = len(circumstances.edits) + circumstances.more_edits
    items = [f'<li><a class="mono" href="{root}{escape(edit.page)}">{path(edit.path)}</a></li>' for edit in row.edits]
    if circumstances.more_edits:
        items.append(f'<li class="muted">and {circumstances.more_edits} more</li>')
    return (
        f'<details class="small"><summary>{count} instruction {"edit" if count == 1 else "edits"}\n'
        f"{'in its commit' if row.same_commit else 'beside it'}</summary>"
        f'<ul class="plain">{"".join(items)}</ul></details>'
    )


def _errors(row: StepRow, circumstances: Circumstances) -> str:
    if not circumstances.errors:
        return ""
    errors = [
        f'<span class="nowrap">{type_mark(cast("ErrorType", error.name), row.info.nouns)} {_mean(error.before)}\n'
        f"→ {_mean(error.after)}</span>"
        for error in circumstances.errors
    ]
    return f'<div class="small ers">{"".join(errors)}</div>'


def _mean(value: float) -> str:
    return f"{round(value, 1):g}"


def _became(row: StepRow, root: str) -> str:
    """What became of the step."""
    step, until, regained = row.step, row.until, 100 * (row.step.regained or 0.0)
    outputs = iterations_and_outputs(step.iterations, step.different)
    match step.status:
        case "fixed":
            assert until is not None
            return (
                f'<div><span class="pill good">{CHECK}fixed</span> <span class="nowrap">after {outputs}</span></div>\n'
                f'<div class="muted small">by {_report(row, until, root)}, {commit(until.sha, root)};\n'
                f"{regained:.0f} % regained</div>\n"
            )
        case "open":
            so_far = f'<div class="muted small">{regained:.0f}\n% regained so far</div>' if regained else ""
            return (
                f'<div><span class="pill bad">{_WARNING}open</span> <span class="nowrap">for {outputs}</span></div>'
                f"{so_far}"
            )
        case "new":
            return (
                f'<div><span class="pill warn">too new to tell</span> <span class="nowrap">for {outputs}</span></div>\n'
            )
        case "blip":
            assert until is not None
            after = f' <span class="nowrap">after {outputs}</span>' if step.iterations else ""
            return (
                f'<div><span class="pill">recovered</span>{after}</div>'
                f'<div class="muted small">at {_report(row, until, root)}</div>\n'
            )
        case _:
            ends = "" if step.undoes is None else '<div class="muted small">ends a regression</div>'
            return f'<div><span class="pill good">better</span></div>{ends}'


WIDTH: Final = 150
HEIGHT: Final = 34
PAD: Final = 3
REACH: Final = 8
"""Number of points over which a level is drawn, on its side of the step."""


class StepLine(Frozen):
    """Paths of the chart of a step."""

    values: str
    before: str
    after: str
    mark: float
    """The x coordinate of the step, between its two points."""


class ChampionLine(Frozen):
    """Paths of the chart of a champion."""

    values: str
    best: str


class _Scale(Frozen):
    size: int
    low: float
    span: float

    def x(self, index: float) -> str:
        return f"{self.across(index):g}"

    def across(self, index: float) -> float:
        return round(PAD + (WIDTH - 2 * PAD) * index / max(1, self.size - 1), 1)

    def y(self, value: float) -> str:
        return tenths(PAD + (HEIGHT - 2 * PAD) * (1 - (value - self.low) / self.span))


def step_line(
    values: Sequence[float | None], mark: int, before: float, after: float, until: int | None = None
) -> StepLine:
    """Values around a step: at the new level from index ``mark`` on, until before index ``until``."""
    scale = _step_scale(values, before, after)
    ends = scale.x(max(0, mark - REACH)), scale.x(max(0.0, mark - 0.5))
    end = len(values) - 1 if until is None else until - 0.5
    more = scale.x(mark - 0.5), scale.x(min(end, mark + REACH))
    return StepLine(
        values=_step_path(values, scale),
        before=f"M{ends[0]} {scale.y(before)}H{ends[1]}",
        after=f"M{more[0]} {scale.y(after)}H{more[1]}",
        mark=scale.across(mark - 0.5),
    )


def champion_line(values: Sequence[float | None], best: Sequence[float | None]) -> ChampionLine:
    """Values, and the best so far as a staircase."""
    scale = replace(_step_scale((*values, *best)), size=len(values))
    stairs, level = "", None
    for index, value in enumerate(best):
        if value is not None and value != level:
            stairs += f"M{scale.x(index)} {scale.y(value)}" if level is None else f"H{scale.x(index)}V{scale.y(value)}"
            level = value
    if level is not None:
        stairs += f"H{scale.x(len(best) - 1)}"
    return ChampionLine(values=_step_path(values, scale), best=stairs)


def _step_scale(values: Sequence[float | None], *levels: float) -> _Scale:
    defined = [value for value in (*values, *levels) if value is not None]
    return _Scale(len(values), min(defined), (max(defined) - min(defined)) or 1.0)


@lru_cache(maxsize=64)  # the charts of an eval have as many values
def _step_columns(size: int) -> tuple[str, ...]:
    """The x coordinates of the values."""
    return tuple(map(_Scale(size, 0.0, 1.0).x, range(size)))


def _step_path(values: Sequence[float | None], scale: _Scale) -> str:
    """The line through the defined values, with a gap at each undefined one."""
    path, joined = [], False
    # Not ``scale.y``: for the several thousand values of the page, this call took half of the time.
    low, span = scale.low, scale.span
    for x, value in zip(_step_columns(scale.size), values, strict=True):
        if value is not None:
            y = tenths(PAD + (HEIGHT - 2 * PAD) * (1 - (value - low) / span))
            path.append(f"{'L' if joined else 'M'}{x} {y}")
        joined = value is not None
    return "".join(path)
