"""Renders a whole text, or a passage with the changes of an edit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from sitegen.frozen import Frozen
from sitegen.text.markdown.blocks import headings, parse
from sitegen.text.markdown.changes import Gone, mark, strike
from sitegen.text.markdown.html import as_written, write
from sitegen.text.plain import visible
from sitegen.text.sections import Heading, split_lines

if TYPE_CHECKING:
    from markdown_it.token import Token

TAGS: Final = frozenset(
    {"h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "a", "span"}
    | {"table", "thead", "tbody", "tr", "th", "td", "hr", "br", "del"}
)
"""Every HTML element that can occur."""

LARGEST: Final = 200_000
"""The greatest number of characters of a text that is rendered; a longer one is shown as source."""

LONGEST_LINE: Final = 5_000
"""The greatest number of characters of a line in a text that is rendered: inline parsing of longer lines is slow."""

_FRONT_MATTER = re.compile(r"---\n(?:[^\n]*\n){1,60}?---(?=\n|\Z)")
_TABLE_ROW = re.compile(r"\|.*\|\s*")
_TABLE_RULE = re.compile(r"\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?")


class MarkdownPage(Frozen):
    """A whole text."""

    html: str
    headings: tuple[Heading, ...]
    plain: bool = False
    """Whether the text is too large to be rendered and is shown as source."""


def document(text: str) -> MarkdownPage:
    """Render a whole file."""
    text = _prepared(text)
    lines = split_lines(text)
    if len(text) > LARGEST or max(map(len, lines), default=0) > LONGEST_LINE:
        return MarkdownPage(f"<pre>{escape(text[:LARGEST], quote=False)}</pre>", (), plain=True)
    blocks = parse(text)
    return MarkdownPage(write(blocks), headings(blocks))


def passage(lines: Sequence[str], changed: Iterable[int], gone: Gone, starts_file: bool = False) -> str:
    """Render a passage of a file, with the class ``chg`` on changed blocks, and removed lines struck in place.

    Args:
        lines: the passage after the edit.
        changed: indexes of the lines that are new.
        gone: removed lines, by the index of the line that followed them.
        starts_file: whether the passage may begin with front matter.

    """
    marked = frozenset(changed)
    if sum(map(len, lines)) > LARGEST or max(map(len, lines), default=0) > LONGEST_LINE:
        return as_written(lines, marked, gone)
    lead = _lead(lines)
    text = "\n".join([*lead, *lines, ""])
    if lead:
        marked = frozenset(index + len(lead) for index in marked)
        gone = {index + len(lead): struck for index, struck in gone.items()}
    blocks = parse(_prepared(text) if starts_file else visible(text), anchored=False)
    if lead and lead[0] != "```":
        blocks = blocks._replace(tokens=_without_head(blocks.tokens))
    mark(blocks.tokens, marked)
    gone_from_code = strike(blocks.tokens, gone)
    return write(blocks, marked, gone_from_code)


def _prepared(text: str) -> str:
    """Return visible text with line feeds. Front matter becomes code, or its last line would make it a heading."""
    text = visible(text.replace("\r\n", "\n").removeprefix("\ufeff"))
    front = _FRONT_MATTER.match(text)
    return f"```\n{front[0][4:-3]}```{text[front.end() :]}" if front else text


def _lead(lines: Sequence[str]) -> list[str]:
    """Return lines to put before a passage that seems to begin inside a block of code or a table; mostly none.

    In the former case its first fence is bare and has no partner; in the latter it begins with a row and has no rule.
    """
    fences = [line.strip() for line in lines if line.lstrip().startswith("```")]
    if len(fences) % 2 == 1 and fences[0] == "```" and lines[0].strip() != "```":
        return ["```"]
    if lines and _TABLE_ROW.match(lines[0]) and not (len(lines) > 1 and _TABLE_RULE.fullmatch(lines[1].strip())):
        columns = lines[0].count("|") - 1
        head = "| " * columns + "|"
        return [head] if _TABLE_RULE.fullmatch(lines[0].strip()) else [head, "|-" * columns + "|"]
    return []


def _without_head(tokens: list[Token]) -> list[Token]:
    """Remove the head of the first table, which ``_lead`` added."""
    end = next((index for index, token in enumerate(tokens) if token.type == "thead_close"), None)
    if end is None or tokens[0].type != "table_open":
        return tokens
    return [tokens[0], *tokens[end + 1 :]]
