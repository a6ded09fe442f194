"""Parses a text into blocks. Headings get ids, and levels below those of the page; style attributes are removed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sitegen.text.markdown.inline import PREFIX, words
from sitegen.text.markdown.parsers import parse_blocks
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
