"""Renders the text inside a block: emphasis, code, links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

from sitegen.text.markdown.parsers import inline_parser

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

PREFIX: Final = "t-"
"""The prefix of every id, so that no text can use the id of a part of the page."""

_SIMPLE: Final = re.compile(
    r"""(?: [^`*_\[\]<&\\\n]++                                    # nothing that Markdown takes for markup
          | (?<=[A-Za-z0-9]) _ (?=[A-Za-z0-9])                    # a_name
          | (?<![ \t]) \n (?![ \t])                               # the end of a line, without a break
          | (?<!`) ` [^`\s] (?: [^`\n]* [^`\s] )? ` (?!`)         # `code`
          | (?<![^ \n]) \*\* (?=[A-Za-z0-9]) [^`*_\[\]<&\\\n]++   # **bold**, between spaces or before punctuation
            (?: (?<=\S) \*\* (?=[ \n]|\Z) | (?<=[A-Za-z0-9]) \*\* (?=[:.,;)]) )
        )*+""",
    re.VERBOSE,
)
"""Matches a text whose marks have the same meaning in any context: each is literal or encloses a part of the text."""

_ENCLOSED: Final = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")


def inline(text: str, references: Any = None) -> str:
    """Return the text inside a block as safe HTML.

    Args:
        text: of one block; its lines are joined by line feeds.
        references: link definitions of the surrounding text.

    """
    # Most texts are simple, and this takes a tenth of the parser's time.
    if _SIMPLE.fullmatch(text):
        return _ENCLOSED.sub(_element, escape(text, quote=False).replace('"', "&quot;"))
    return _parsed(text, references) if references else _parsed_once(text)


def words(text: str, references: Any = None) -> str:
    """Return the text without markup."""
    return _words(_children(text, {"references": references or {}}))


def _element(match: re.Match[str]) -> str:
    return f"<code>{match[1]}</code>" if match[1] else f"<strong>{match[2]}</strong>"


def _parsed(text: str, references: Any = None) -> str:
    env = {"references": references or {}}
    children = _children(text, env)
    _tame(children)
    return str(_parser().renderer.renderInline(children, _parser().options, env))  # type: ignore[attr-defined]


# Passages of neighbouring edits share most of their text.
_parsed_once = lru_cache(maxsize=4_096)(_parsed)


def _children(text: str, env: dict[str, Any]) -> Sequence[Token]:
    return _parser().parseInline(text, env)[0].children or ()


@cache
def _parser() -> MarkdownIt:
    parser = inline_parser()
    parser.add_render_rule("image", _image)
    return parser


def _tame(children: Iterable[Token]) -> None:
    """Turn links that must not be followed into spans. A link to a file keeps the path as text."""
    tags: list[str] = []
    for token in children:
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


def _words(children: Iterable[Token]) -> str:
    return "".join(
        _words(token.children) if token.children else " " if token.type == "softbreak" else token.content
        for token in children
    )


def _image(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f'<span class="img">{escape(_words(tokens[index].children or ()), quote=False)}</span>'
