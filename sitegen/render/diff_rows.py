"""The bodies of diff tables as escaped f-strings: five times faster than a loop in a template, and a site has many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from typing import Literal, TypeAlias

from markupsafe import Markup

from sitegen.text.diff import Row
from sitegen.text.words import Spans

_Mark: TypeAlias = Literal["del", "ins"]


def split(rows: Iterable[Row]) -> Markup:
    """Rows of the table side by side: number, sign, text of the old side, then the same of the new side."""
    return Markup("".join(_split(rows)))


def unified(rows: Iterable[Row]) -> Markup:
    """Rows of the table one below the other: both numbers, sign, text; of each change the removed lines first."""
    return Markup("".join(_unified(rows)))


def _split(rows: Iterable[Row]) -> Iterator[str]:
    for kind, old_line, new_line, old, new in rows:
        if kind == "context":
            text = _context(old)
            yield (
                f'<tr class="ctx"><td class="ln-n">{old_line}</td><td class="sg"></td><td class="cx">{text}</td>'
                f'<td class="ln-n mid">{new_line}</td><td class="sg"></td><td class="cx">{text}</td></tr>\n'
            )
        elif kind == "change":
            yield f"<tr>{_left(old_line, old)}{_right(new_line, new)}</tr>\n"
        else:
            yield _wide(kind, old, 6)


def _left(number: int | None, text: Spans | None) -> str:
    if text is None:
        return '<td class="ln-n e"></td><td class="sg e"></td><td class="e"></td>'
    return f'<td class="ln-n d">{number}</td><td class="sg d">−</td><td class="d">{_marked(text, "del")}</td>'


def _right(number: int | None, text: Spans | None) -> str:
    if text is None:
        return '<td class="ln-n e mid"></td><td class="sg e"></td><td class="e"></td>'
    return f'<td class="ln-n a mid">{number}</td><td class="sg a">+</td><td class="a">{_marked(text, "ins")}</td>'


def _unified(rows: Iterable[Row]) -> Iterator[str]:
    for kind, group in groupby(rows, key=_kind):
        if kind == "change":
            run = list(group)
            for row in run:
                if row.old is not None:
                    yield _line(row.old_line, "", "d", "−", _marked(row.old, "del"))
            for row in run:
                if row.new is not None:
                    yield _line("", row.new_line, "a", "+", _marked(row.new, "ins"))
        elif kind == "context":
            for _, old_line, new_line, old, _ in group:
                yield (
                    f'<tr><td class="ln-n">{old_line}</td><td class="ln-n">{new_line}</td><td class="sg"></td>'
                    f'<td class="cx">{_context(old)}</td></tr>\n'
                )
        else:
            for row in group:
                yield _wide(kind, row.old, 4)


def _line(old_line: int | str | None, new_line: int | str | None, side: str, sign: str, text: str) -> str:
    return (
        f'<tr><td class="ln-n {side}">{old_line}</td><td class="ln-n {side}">{new_line}</td>'
        f'<td class="sg {side}">{sign}</td><td class="{side}">{text}</td></tr>\n'
    )


def _kind(row: Row) -> str:
    return row.kind


def _wide(kind: str, text: Spans | None, columns: int) -> str:
    style = "hk" if kind == "hunk" else "rk"
    return f'<tr class="{style}"><td colspan="{columns}">{_marked(text or (), "ins")}</td></tr>\n'


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
