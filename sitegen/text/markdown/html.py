"""Writes blocks as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from sitegen.text.markdown.blocks import Blocks
from sitegen.text.markdown.changes import CODE, STRUCK, Gone
from sitegen.text.markdown.inline import inline
from sitegen.text.markdown.parsers import inline_parser
from sitegen.text.sections import split_lines

if TYPE_CHECKING:
    from markdown_it.token import Token

_NOTHING: Final[frozenset[int]] = frozenset()


def write(blocks: Blocks, changed: frozenset[int] = _NOTHING, gone: Gone | None = None) -> str:
    """Return the blocks as safe HTML.

    Args:
        blocks: the blocks to write.
        changed: indexes of lines to mark in blocks of code.
        gone: lines to strike in blocks of code.

    """
    parser = inline_parser()
    tokens, references = blocks
    out: list[str] = []
    for index, token in enumerate(tokens):
        if token.type == "inline":
            out.append(inline(token.content, references))
        elif token.type in CODE:
            out.append(_code(token, changed, gone or {}))
        elif token.type == STRUCK:
            out.append(token.content)
        elif token.hidden:
            continue
        elif token.nesting == -1:
            out.append(f"</{token.tag}>\n")
        else:
            out.append(parser.renderer.renderToken(tokens, index, parser.options, {}))  # type: ignore[attr-defined]
    return "".join(out)


def as_written(lines: Sequence[str], changed: frozenset[int], gone: Gone) -> str:
    """Return lines of source, escaped, with changed lines marked and removed lines struck."""
    return f"<pre><code>{_marked_lines(lines, changed, gone)}</code></pre>"


def _code(token: Token, changed: frozenset[int], gone: Gone) -> str:
    """Return a block of code, with changed lines marked and removed lines struck."""
    content = token.content
    if (changed or gone) and token.map is not None:
        first = token.map[0] + (token.type == "fence")
        content = _marked_lines(split_lines(content), changed, gone, first)
    else:
        content = escape(content, quote=False)
    return f"<pre><code>{content}</code></pre>\n"


def _marked_lines(lines: Sequence[str], changed: frozenset[int], gone: Gone, first: int = 0) -> str:
    out: list[str] = []
    for number, line in enumerate([*lines, None], start=first):
        out.extend(f'<del class="gone">{escape(struck, quote=False)}</del>\n' for struck in gone.get(number, ()))
        if line is not None:
            text = escape(line, quote=False)
            out.append(f'<span class="chg">{text}</span>\n' if number in changed else f"{text}\n")
    return "".join(out)
