"""Table bodies as escaped f-strings, five times faster than a loop in Jinja: the part of a page that grows.

Every text that comes from a project passes through ``_escape``; a property test holds the result against Jinja's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape as _html_escape

from markupsafe import Markup

from sitegen.model.metrics import Counts
from sitegen.model.outcomes import ERROR_TYPES
from sitegen.model.scorecards import DocumentScore, FieldScore
from sitegen.pages import links
from sitegen.pages.labels import ERROR_LABELS, ERROR_LETTERS, STATUSES
from sitegen.pages.report import Discrepancy
from sitegen.pages.tallies import errors, judged
from sitegen.pages.trend import FieldRow, TrendPoint, TrendView
from sitegen.pages.values import Shown
from sitegen.render.formats import breakable, day, number, printable, signed
from sitegen.stats import counts as sums

SHOWN_FIRST = 25
"""Rows of the table of iterations before "show more"."""

_NIL = str(number(None))
_TYPES = {
    kind: f'<span class="type"><span class="t {kind}" aria-hidden="true">{ERROR_LETTERS[kind]}</span>'
    f"{ERROR_LABELS[kind]}</span>"
    for kind in ERROR_TYPES
}


def fields(scores: Iterable[FieldScore]) -> Markup:
    """By-field numbers of a report: counts, precision, recall, F1, errors by type."""
    return Markup(
        "".join(
            f"<tr{' class=ok' if not (wrong := errors(counts)) else ''}><td><code>{_path(attribute)}</code></td>"
            f'<td class="num">{_ratio(sums.f1(counts))}</td><td class="num">{_ratio(sums.precision(counts))}</td>'
            f'<td class="num">{_ratio(sums.recall(counts))}</td><td class="num">{counts.tp}</td>'
            f'<td class="num">{counts.fp}</td><td class="num">{counts.fn}</td><td class="num">{counts.tn}</td>'
            f'<td class="num">{wrong}</td>{_by_type(counts)}</tr>\n'
            for attribute, counts in scores
        )
    )


def documents(scores: Iterable[DocumentScore]) -> Markup:
    """The documents of an output with their own numbers."""
    return Markup(
        "".join(
            f"<tr><td>{_text(name) or '—'}</td><td>{STATUSES[status]}</td>"
            f'<td class="num">{_ratio(sums.f1(counts))}</td>'
            f'<td class="num">{_ratio(sums.precision(counts))}</td><td class="num">{_ratio(sums.recall(counts))}</td>'
            f'<td class="num">{counts.tp}</td><td class="num">{errors(counts)}</td>{_by_type(counts)}</tr>\n'
            for name, status, counts in scores
        )
    )


def discrepancies(rows: Iterable[Discrepancy], several_documents: bool) -> Markup:
    """The discrepancies of a report; ``data-`` attributes are what the filter looks at."""
    return Markup("".join(_discrepancy(row, several_documents) for row in rows))


def _discrepancy(row: Discrepancy, several_documents: bool) -> str:
    number, kind, section, path, document, expected, actual, note, new = row
    remark = f'<span class="note">{_text(note)}</span>' if note else ""
    where = f'<td class="c-d">{_text(document)}</td>' if several_documents else ""
    return (
        f'<tr id="d{number}" data-t="{kind}" data-g="{_escape(printable(section))}"{" data-n" if new else ""}>'
        f'<td class="c-n num"><a class="rowid" href="#d{number}" aria-label="Discrepancy {number}">{number}</a></td>'
        f'<td class="c-t">{_TYPES[kind]}{"<span class=new>new</span>" if new else ""}</td>'
        f'<td class="c-f"><code>{_path(path)}</code>{remark}</td>'
        f'<td class="c-e">{_value(expected)}</td><td class="c-a">{_value(actual)}</td>{where}</tr>\n'
    )


def _value(shown: Shown) -> str:
    spans, absent, cut = shown
    if not spans:
        return f'<span class="val nil">{_text(absent)}</span>'
    inside = "".join(f"<mark>{_text(text)}</mark>" if changed else _text(text) for text, changed in spans)
    more = f'<span class="cut"> … {cut:,} more characters</span>' if cut else ""
    return f'<span class="val" dir="auto">{inside}{more}</span>'


def iterations(view: TrendView, root: str) -> Markup:
    """The points of an eval, newest first: the numbers behind the chart."""
    return Markup(
        "".join(
            _iteration(point, root, view.drawn, nth >= SHOWN_FIRST) for nth, point in enumerate(reversed(view.points))
        )
    )


def _iteration(point: TrendPoint, root: str, drawn: int, more: bool) -> str:
    commit = _text(point.short)
    if point.short != point.sha:
        commit = f'<a href="{root}{links.commit(point.sha)}">{commit}</a>'
    pills = ""
    if point.status != "scored":
        pills += f' <span class="pill bad">{STATUSES[point.status]}</span>'  # type: ignore[index]
    if point.rescored:
        pills += f' <span class="pill warn">{point.cause}</span>'
    if point.edits:
        pills += f' <span class="pill acc">{"instructions" if point.edits == 1 else f"{point.edits} edits"}</span>'
    if point.deleted:
        pills += ' <span class="pill">deleted since</span>'
    values = "".join(f'<td class="num hide-s">{_ratio(value)}</td>' for value in point.values[1:drawn])
    by_type = "".join(f'<td class="num hide-m">{count or ""}</td>' for count in point.errors)
    return (
        f'<tr{" class=more" if more else ""}><td><div class="one"><a href="{point.file}">{_text(point.label)}</a> '
        f'<span class="subj">{_text(point.subject)}</span></div><div class="by"><span class="sha">{commit}</span> '
        f"{_text(point.author)}{pills}</div></td>"
        f'<td class="num">{_ratio(point.values[0])}</td><td class="num">{signed(point.change)}</td>{values}'
        f'<td class="num">{sum(point.errors)}</td>{by_type}'
        f'<td class="nowrap hide-s">{_text(day(point.committed_at))}</td></tr>\n'
    )


def field_history(rows: Iterable[FieldRow]) -> Markup:
    """Attributes with their errors now and over all points."""
    return Markup("".join(_field_history(row) for row in rows))


def _field_history(row: FieldRow) -> str:
    attribute, now, wrong, total = row
    if now is None:
        current = f'<td class="num">{_NIL}</td><td class="num">{_NIL}</td>' + f'<td class="num">{_NIL}</td>' * 4
    else:
        current = f'<td class="num">{errors(now)}</td><td class="num">{judged(now)}</td>{_by_type(now)}'
    share = f"{100 * wrong / total:.0f}\u202f%" if total else _NIL
    return (
        f'<tr><td><code>{_path(attribute)}</code></td>{current}<td class="num">{wrong}</td>'
        f'<td class="num">{total}</td><td class="num">{share}</td></tr>\n'
    )


def _by_type(counts: Counts) -> str:
    return "".join(f'<td class="num">{count or ""}</td>' for count in counts[4:])


def _ratio(value: float | None) -> str:
    return _NIL if value is None else f"{value:.3f}"


def _path(text: str) -> str:
    return breakable(_text(text))


def _text(text: str) -> str:
    return _escape(text if text.isascii() else printable(text))


def _escape(text: str) -> str:
    """As markupsafe does it; a plain string, because joining ``Markup`` costs three times as much."""
    return _html_escape(text).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
