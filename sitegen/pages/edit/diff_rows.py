"""The bodies of diff tables as escaped f-strings: five times faster than a loop in a template, and a site has many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Literal, TypeAlias

from markupsafe import Markup

from sitegen.pages.edit.effect_rows import passage_head
from sitegen.pages.edit.passages import Passage
from sitegen.text.diff import DiffRow
from sitegen.text.words import Spans

_Mark: TypeAlias = Literal["del", "ins"]


def lines(rows: Iterable[DiffRow], passages: Iterable[Passage]) -> Markup:
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
