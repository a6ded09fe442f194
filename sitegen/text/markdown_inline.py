"""Sets up markdown-it for text from git, and renders the text inside a block: emphasis, code, links.

The rules are those of CommonMark and of tables, without raw HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


def parse_blocks(text: str, env: dict[str, Any]) -> list[Token]:
    """Parse the blocks of a visible text, but not the text inside them. Adds link definitions to ``env``."""
    parser = markdown_parser()
    # markdown-it's own call first replaces carriage returns and NUL, of which a visible text has none.
    return parser.block.parse(text, parser, env, []) or []


@cache
def markdown_parser() -> MarkdownIt:
    """Make the parser and renderer."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False, "maxNesting": 20}).enable("table")
    parser.disable(["html_block", "html_inline"])
    # Every link is parsed as a link; links that must not be followed lose their addresses afterwards.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.add_render_rule("image", _image)
    return parser


PREFIX: Final = "t-"
"""The prefix of every id, so that no text can use the id of a part of the page."""


def inline(text: str, references: Any = None) -> str:
    """Return the text inside a block as safe HTML.

    Args:
        text: of one block; its lines are joined by line feeds.
        references: link definitions of the surrounding text.

    """
    env = {"references": references or {}}
    children = _children(text, env)
    tags: list[str] = []
    for token in children:  # links that must not be followed become spans; a link to a file keeps the path as text
        if token.type == "link_open":
            href = str(token.attrs.get("href", ""))
            if href.startswith("#"):
                token.attrs = {"href": "#" + PREFIX + href[1:]}
            elif href.lower().startswith(("https://", "http://")):
                token.attrs = {"href": href, "rel": "nofollow noopener noreferrer"}
            else:
                token.tag = "span"
                token.attrs = {"class": "ref"} if ":" in href else {"class": "ref", "title": href}
            tags.append(token.tag)
        elif token.type == "link_close":
            token.tag = tags.pop()
    return str(markdown_parser().renderer.renderInline(children, markdown_parser().options, env))  # type: ignore[attr-defined]


def words(text: str, references: Any = None) -> str:
    """Return the text without markup."""
    return _words(_children(text, {"references": references or {}}))


def _children(text: str, env: dict[str, Any]) -> Sequence[Token]:
    return markdown_parser().parseInline(text, env)[0].children or ()


def _words(children: Iterable[Token]) -> str:
    return "".join(
        _words(token.children) if token.children else " " if token.type == "softbreak" else token.content
        for token in children
    )


def _image(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f'<span class="img">{escape(_words(tokens[index].children or ()), quote=False)}</span>'
