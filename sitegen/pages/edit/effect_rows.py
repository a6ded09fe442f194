"""HTML of tables of effects (a row for each eval, and for each field that flipped), of diffs and of sizes of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Final, Literal, TypeAlias

from markupsafe import Markup

from sitegen.html.cells import text
from sitegen.html.charts import around_zero
from sitegen.html.formats import NIL, breakable, number, printable, signed
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict
from sitegen.model.series import Headline
from sitegen.pages import change_text, links
from sitegen.pages.edit.effects import EffectRow, Grade, GradeCount, Move
from sitegen.pages.edit.page import FieldRow, FlippedFields, Passage
from sitegen.text.diff import DiffRow
from sitegen.text.patch import PatchCounts
from sitegen.text.sections import TextStats
from sitegen.text.words import Spans

METRICS: Final = 2
"""Number of metrics beside the headline in the row of an eval."""

NAMED: Final = 8
"""Number of fields that the head of a passage names."""

TONES: Final[dict[Grade, str]] = {
    "worse": "bad",
    "likely worse": "bad",
    "better": "good",
    "likely better": "good",
}


def pill(grade: Grade, before: str = "") -> Markup:
    """The word for a change, as a mark; ``before`` is a number of evals."""
    tone = TONES.get(grade, "")
    return Markup(f'<span class="pill{f" {tone}" if tone else ""}">{before}{grade}</span>')


def pills(counts: Iterable[GradeCount]) -> Markup:
    """How many evals have each grade."""
    return Markup(" ".join([pill(grade, f"{evals:,} ") for grade, evals in counts]))


def effects(rows: Sequence[EffectRow], root: str) -> Markup:
    """Table rows: eval, before, after, change, interval around zero, verdict, fixed, broken."""
    return Markup("".join([effect_row(row, root, widest(rows)) for row in rows]))


def widest(rows: Iterable[EffectRow]) -> float:
    """The end of the common scale of all intervals of a table, as a share of their metrics' ranges."""
    ends = [
        abs(end) / change_text.range_of(row.headline.spec)
        for row in rows
        if row.verdict
        for end in (row.verdict.change or 0.0, *(row.verdict.interval or ())[:2])
    ]
    return max(ends, default=0.0)


def effect_row(row: EffectRow, root: str, scale: float, more: str = "") -> str:
    """One row. ``more``: safe HTML below the name."""
    headline = row.headline
    flips = _flip_cells(row, root)
    remarks = "".join([f'<p class="by">{escape(remark)}</p>' for remark in row.remarks])
    return (
        f'<tr><td><a class="name" href="{root}{links.eval_trend(row.eval_id)}">{escape(row.name)}</a>'
        f'<div class="by">{_metrics(row)}</div>{_unreadable(row, root)}{remarks}{more}</td>'
        f'<td class="num">{_value_link(row.eval_id, row.before, headline.before, root, headline)}</td>'
        f'<td class="num">{_value_link(row.eval_id, row.after, headline.after, root, headline)}</td>'
        f'<td class="num">{change_of(headline)}</td>'
        f'<td class="iv">{_interval(row, scale)}</td>'
        f'<td class="vd">{pill(row.grade)}{_reason(row)}</td>{flips}</tr>\n'
    )


def _metrics(row: EffectRow) -> str:
    """The name of the headline metric, and the changes of those beside it."""
    further = [f"{escape(move.spec.label)} {change_of(move) or '—'}" for move in row.moves[1 : METRICS + 1]]
    return "".join([f"<span>{metric}</span>" for metric in (escape(row.headline.spec.label), *further)])


def change_of(move: Move) -> str:
    """The signed and coloured change of a metric; empty if it is undefined."""
    if move.change is None:
        return ""
    return str(signed(move.change, lower_is_better=not move.spec.higher_is_better, unit=move.spec.unit))


def _value_link(eval_id: str, point: Headline | None, value: float | None, root: str, metric: Move) -> str:
    """The value as a link to the report it is from; an em dash if it is undefined."""
    if point is None:
        return '<span class="muted" title="no earlier output">—</span>'
    around = f"; 95 %: {change_text.span(point.interval)}" if point.interval else ""
    href = escape(links.report(eval_id, point.slug))
    return (
        f'<a href="{root}{href}" title="Report of {escape(point.label)}{around}">'
        f"{'—' if value is None else number(value, unit=metric.spec.unit)}</a>"
    )


def _unreadable(row: EffectRow, root: str) -> str:
    """The effect of unreadable files on the numbers of a side, with a link to its report."""
    lines = ""
    for point in (row.before, row.after):
        if point is None or point.status == "scored":
            continue
        label = escape(point.label)
        consequence = {
            "unreadable": f"The output of {label} cannot be read,</b> and all that it should hold counts as missing",
            "no_ground_truth": f"The ground truth of {label} cannot be read,</b> so that nothing was scored",
        }[point.status]
        if point.status == "unreadable" and point.values[0] is None:
            consequence = f"The output of {label} cannot be read,</b> so that nothing was scored"
        href = escape(links.report(row.eval_id, point.slug))
        lines += f'<p class="by"><b>{consequence}: <a href="{root}{href}">its report</a> names the file.</p>'
    return lines


def _interval(row: EffectRow, scale: float) -> str:
    """The interval of the change as a bar around zero, with its ends below."""
    verdict, spec = row.verdict, row.headline.spec
    if verdict is None or verdict.interval is None or not scale:
        return str(NIL)
    ends = change_text.span_of_change(verdict.interval, spec)
    middle, edge = verdict.change or 0.0, scale * change_text.range_of(spec)
    drawn = around_zero(verdict.interval.low, verdict.interval.high, middle, edge, _tone(verdict, spec))
    return f'{drawn}<div class="by nowrap"><span class="vh">95 % interval of the change: </span>{ends}</div>'


def _tone(verdict: ChangeVerdict, spec: MetricSpec) -> str:
    if verdict.decision not in ("better", "worse") or not verdict.change:
        return "n"
    return "u" if (verdict.change > 0) is spec.higher_is_better else "d"


def _reason(row: EffectRow) -> str:
    """The reason for the grade."""
    return f'<div class="by">{escape(row.why)}</div>' if row.why else ""


def _flip_cells(row: EffectRow, root: str) -> str:
    """How many values were fixed and broken, as links to the comparison that lists them."""
    if row.before is None or row.after is None or not row.before.slug:
        return f'<td class="num fx">{NIL}</td><td class="num bk">{NIL}</td>'
    pair = f"{root}{links.compare(row.eval_id)}#a={row.before.slug}&amp;b={row.after.slug}"
    cells = [
        f'<a class="delta {tone}" href="{pair}">{values:,}</a>' if values else '<span class="muted">0</span>'
        for values, tone in ((row.fixed, "up"), (row.broken, "dn"))
    ]
    return f'<td class="num fx">{cells[0]}</td><td class="num bk">{cells[1]}</td>'


def fields(flipped: FlippedFields, root: str) -> Markup:
    """Table rows: field with its evals, fixed, broken, passages of the diff that name it."""
    return Markup("".join([_field_row(row, root) for row in flipped.rows]))


def _field_row(row: FieldRow, root: str) -> str:
    evals = ", ".join(
        [
            f'<a href="{root}{escape(links.field(effect.eval_id, row.attribute))}">{escape(effect.name)}</a>'
            + "".join(
                [
                    f' <span class="delta {tone}">{sign}{values:,}</span>'
                    for values, tone, sign in ((effect.fixed, "up", "+"), (effect.broken, "dn", "−"))
                    if values
                ]
            )
            for effect in row.evals
        ]
    )
    passages = ", ".join([f'<a href="#{link.anchor}">{escape(link.label)}</a>' for link in row.passages])
    return (
        f'<tr id="{row.anchor}"><td>{_field_name(row.attribute)}</td>'
        f'<td class="num fx">{_flip_count(row.fixed, "up")}</td><td class="num bk">{_flip_count(row.broken, "dn")}</td>'
        f'<td class="pg">{passages or NIL}</td><td class="wrap">{evals}</td></tr>\n'
    )


def _flip_count(values: int, tone: str) -> str:
    return f'<span class="delta {tone}">{values:,}</span>' if values else '<span class="muted">0</span>'


def _field_name(attribute: str) -> str:
    return f"<code>{breakable(escape(printable(attribute)))}</code>"


def passage_head(passage: Passage, place: str) -> str:
    """The head of a passage of a diff: its number, its lines, and the flipped fields that it names."""
    named = [
        f'<a href="#{row.anchor}"><code>{text(row.attribute)}</code></a>{_flip_signs(row)}'
        for row in passage.fields[:NAMED]
    ]
    more = len(passage.fields) - NAMED
    rest = f' <span class="nowrap">and {more:,} more</span>' if more > 0 else ""
    about = f'<span class="ab">names {", ".join(named)}{rest}</span>' if named else ""
    return f"<b>Passage {passage.number}</b> {place} {about}"


def _flip_signs(row: FieldRow) -> str:
    signs = [f"+{row.fixed:,}"] * bool(row.fixed) + [f"−{row.broken:,}"] * bool(row.broken)
    return f" {' '.join(signs)}"


_Mark: TypeAlias = Literal["del", "ins"]


def diff_lines(rows: Iterable[DiffRow], passages: Iterable[Passage]) -> Markup:
    """Table rows of six cells: number, sign, text of the old side, then the same of the new side.

    The style sheet shows them side by side or one below the other, so that both views are one table. Each passage has a
    head with its address, and links to the flipped fields that it names.
    """
    return Markup("".join(_diff_row_lines(rows, iter(passages))))


def _diff_row_lines(rows: Iterable[DiffRow], passages: Iterator[Passage]) -> Iterator[str]:
    for kind, old_line, new_line, old, new in rows:
        if kind == "context":
            text = _context(old)
            yield (
                f'<tr class="ctx"><td class="ln-n">{old_line}</td><td class="sg"></td><td class="cx">{text}</td>'
                f'<td class="ln-n mid">{new_line}</td><td class="sg"></td><td class="cx">{text}</td></tr>\n'
            )
        elif kind == "change":
            yield f"<tr>{_left(old_line, old)}{_right(new_line, new)}</tr>\n"
        elif kind == "hunk":
            passage = next(passages)
            head = passage_head(passage, _marked(old or (), "ins"))
            yield f'<tr class="hk" id="{passage.anchor}"><td colspan="6">{head}</td></tr>\n'
        else:
            yield f'<tr class="rk"><td colspan="6">{_marked(old or (), "ins")}</td></tr>\n'


def _left(number: int | None, text: Spans | None) -> str:
    if text is None:
        return '<td class="ln-n e"></td><td class="sg e"></td><td class="e"></td>'
    return f'<td class="ln-n d">{number}</td><td class="sg d">−</td><td class="d">{_marked(text, "del")}</td>'


def _right(number: int | None, text: Spans | None) -> str:
    if text is None:
        return '<td class="ln-n e mid"></td><td class="sg e"></td><td class="e"></td>'
    return f'<td class="ln-n a mid">{number}</td><td class="sg a">+</td><td class="a">{_marked(text, "ins")}</td>'


def _context(spans: Spans | None) -> str:
    text = escape(spans[0].text, quote=False) if spans else ""
    return f'<b class="md-h">{text}</b>' if text.startswith("#") else text


def _marked(spans: Spans, tag: _Mark) -> str:
    return "".join(
        [
            f"<{tag}>{escape(text, quote=False)}</{tag}>" if changed else escape(text, quote=False)
            for text, changed in spans
        ]
    )


_ARROW: Final = ' <span aria-hidden="true">→</span><span class="vh"> then </span> '


def plus_minus(counts: PatchCounts | None) -> Markup:
    """How many lines an edit adds and removes; an em dash if that is unknown."""
    if counts is None:
        return Markup('<span class="nil">—</span>')
    return Markup(
        f'<span class="pm nowrap"><span class="delta up">+{counts.added:,}</span> '
        f'<span class="delta dn">−{counts.removed:,}</span><span class="vh"> lines</span></span>'
    )


def version(counts: PatchCounts, before: TextStats | None, after: TextStats | None) -> Markup:
    """The version that the file states before and after the edit, by the patch or else by the text."""
    old = counts.version_before or (before.version if before else None)
    new = counts.version_after or (after.version if after else None)
    if old and new and old != new:
        return Markup(f"<span>version {text(old)}{_ARROW}{text(new)}</span>")
    stated = new or old
    return Markup(f"<span>version {text(stated)}</span>" if stated else "")


def size(before: TextStats | None, after: TextStats | None) -> Markup:
    """How many lines and words the file has before and after the edit, if that is known."""
    old, new = before or TextStats(), after or TextStats()
    return Markup(_amounts(old.lines, new.lines, "lines") + _amounts(old.words, new.words, "words"))


def _amounts(before: int | None, after: int | None, unit: str) -> str:
    if before is None or after is None or before == after:
        amount = before if after is None else after
        return "" if amount is None else f"<span>{amount:,}\n{unit}</span>"
    return f"<span>{before:,}{_ARROW}{after:,} {unit}</span>"
