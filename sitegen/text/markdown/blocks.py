"""Parses a text into blocks, and shows an edit in them: marks new blocks, and inserts removed lines as struck text.

Headings get ids, and levels below those of the page; style attributes are removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from sitegen.model.named_tuple import NamedTuple
from sitegen.text.markdown.inline import PREFIX, parse_blocks, words
from sitegen.text.plain import visible
from sitegen.text.sections import Heading

if TYPE_CHECKING:
    from markdown_it.token import Token


_ALIGN: Final = {"text-align:right": "al-r", "text-align:center": "al-c", "text-align:left": "al-l"}
_NOT_ANCHOR = re.compile(r"[^\w\- ]")


class Blocks(NamedTuple):
    """A text as markdown-it's tokens, which open and close blocks and hold their text."""

    tokens: list[Token]
    references: Any
    """The link definitions of the text, in markdown-it's form; None if there are none."""


def parse(text: str, *, anchored: bool = True) -> Blocks:
    """Parse a text into blocks. With ``anchored`` headings get ids.

    If a page shows several passages, they are parsed without ids, because the same id could occur twice.
    """
    env: dict[str, Any] = {}
    tokens = parse_blocks(text, env)
    level = 2
    anchors: dict[str, int] = {}
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            level = min(int(token.tag[1]) + 2, level + 1, 6)
            token.meta = {"level": int(token.tag[1])}
            token.tag = tokens[index + 2].tag = f"h{level}"
            if anchored:
                token.attrSet("id", PREFIX + _anchor(tokens[index + 1].content, anchors))
        elif token.attrs and (style := token.attrs.pop("style", None)):
            token.attrJoin("class", _ALIGN.get(str(style), "al-l"))
    return Blocks(tokens, env.get("references"))


def headings(blocks: Blocks) -> tuple[Heading, ...]:
    """Return the headings among the blocks, in order."""
    tokens = blocks.tokens
    return tuple(
        Heading(
            level=token.meta["level"],
            title=words(tokens[index + 1].content, blocks.references).strip(),
            line=token.map[0] + 1 if token.map else 1,
            anchor=str(token.attrs["id"]),
        )
        for index, token in enumerate(tokens)
        if token.type == "heading_open"
    )


def _anchor(title: str, uses: dict[str, int]) -> str:
    """Return the fragment of links to a heading by the usual rule: lower case, spaces as dashes, unique by number."""
    anchor = _NOT_ANCHOR.sub("", title.lower()).strip().replace(" ", "-")[:80] or "section"
    count = uses.get(anchor, 0)
    uses[anchor] = count + 1
    return f"{anchor}-{count}" if count else anchor


Gone: TypeAlias = Mapping[int, Sequence[str]]
"""Removed lines by the index (from 0) of the line that followed them."""

CODE: Final = frozenset({"fence", "code_block"})
"""Types of blocks of code: they mark and strike their own lines."""

STRUCK: Final = "struck"
"""Type of sitegen's own tokens, whose content is written unchanged."""

_MARKED: Final = frozenset({"paragraph_open", "list_item_open", "heading_open", "tr_open", "hr"})
_BLOCKS: Final = CODE | _MARKED


def mark(tokens: Iterable[Token], changed: frozenset[int]) -> None:
    """Add the class ``chg`` to every block with changed lines. Blocks of code mark their own lines."""
    for token in tokens if changed else ():
        if token.type in _MARKED and _is_block(token) and token.map and not changed.isdisjoint(range(*token.map)):
            token.attrJoin("class", "chg")


def strike(tokens: list[Token], gone: Gone) -> Gone:
    """Insert removed lines as struck text, each before the innermost block that is now at its position.

    Returns the lines that were removed from blocks of code, which the renderer of these blocks strikes.
    """
    inside: dict[int, list[Sequence[str]]] = {}
    from_code: dict[int, Sequence[str]] = {}
    for line in sorted(gone):
        place = _place(tokens, line)
        code = tokens[place].map if place < len(tokens) and tokens[place].type in CODE else None
        if code is not None and code[0] < line < code[1]:
            from_code[line] = gone[line]
        else:
            inside.setdefault(place, []).append(gone[line])
    for place, struck in sorted(inside.items(), reverse=True):
        before = tokens[place] if place < len(tokens) else None
        tokens[place:place] = [_struck(before, lines) for lines in struck]
    return from_code


def _is_block(token: Token) -> bool:
    return token.type in _BLOCKS and token.map is not None and not token.hidden


def _place(tokens: Sequence[Token], line: int) -> int:
    """Return the index of the innermost block that holds the line, else of the first block after it, else the end."""
    best = None
    for index, token in enumerate(tokens):
        if not _is_block(token) or token.map is None:
            continue
        if token.map[0] <= line < token.map[1]:
            best = index
        elif token.map[0] > line:
            return index if best is None else best
    return len(tokens) if best is None else best


def _struck(before: Token | None, lines: Sequence[str]) -> Token:
    """Make removed lines valid before a token: as an item of a list, a row of a table, or a paragraph."""
    from markdown_it.token import Token

    text = "<br>".join(f"<del>{escape(visible(line), quote=False)}</del>" for line in lines if line.strip())
    kind = before.type if before is not None else ""
    if not text:
        html = ""
    elif kind == "list_item_open":
        html = f'<li class="gone">{text}</li>\n'
    elif kind == "tr_open":
        html = f'<tr class="gone"><td colspan="99">{text}</td></tr>\n'
    else:
        html = f'<p class="gone">{text}</p>\n'
    return Token(STRUCK, "", 0, content=html)
