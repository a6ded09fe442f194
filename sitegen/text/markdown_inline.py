"""Sets up markdown-it for text from git, and renders the text inside a block: emphasis, code, links.

There is one parser for blocks and one for the text inside them. Both use the CommonMark rules of markdown-it without
raw HTML. The parser for blocks tries only the rules that the text and the first character of a line allow, which makes
parsing more than twice as fast and changes no result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
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


_SIGNS: Final[dict[tuple[str, ...], Callable[[str], object]]] = {
    ("code",): lambda text: "    " in text or "\t" in text,
    ("hr",): re.compile(r"[-_*][ \t]*$", re.MULTILINE).search,
    ("table", "lheading"): re.compile(r"[-=]:?[ \t|]*$", re.MULTILINE).search,
}
"""Whether a text contains what these rules need on any of its lines. Other rules are tried in every text."""


def parse_blocks(text: str, env: dict[str, Any]) -> list[Token]:
    """Parse the blocks of a visible text, but not the text inside them. Adds link definitions to ``env``."""
    parser = _blocks(*[rules for rules, sign in _SIGNS.items() if not sign(text)])
    # markdown-it's own call first replaces carriage returns and NUL, of which a visible text has none.
    return parser.block.parse(text, parser, env, []) or []


@cache
def _blocks(*without: tuple[str, ...]) -> MarkdownIt:
    """Make a parser for blocks that does not try these rules."""
    parser = _parser()
    parser.disable([rule for rules in without for rule in rules])
    # Each list of rules is replaced by one rule, which tries only those that the first character of a line allows.
    ruler = parser.block.ruler
    names = dict(zip(ruler.getRules(""), ruler.get_active_rules(), strict=True))
    one_for_all = {
        chain: [_first_of([(names[rule], rule) for rule in ruler.getRules(chain)])]
        for chain in ("", "paragraph", "reference", "blockquote", "list")
    }
    ruler.getRules = lambda chain="": one_for_all[chain]  # type: ignore[assignment, method-assign]
    return parser


@cache
def inline_parser() -> MarkdownIt:
    """Make a parser and renderer for the text inside a block."""
    parser = _parser()
    parser.add_render_rule("image", _image)
    return parser


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False, "maxNesting": 20}).enable("table")
    parser.disable(["html_block", "html_inline"])
    # Every link is parsed as a link; links that must not be followed lose their addresses afterwards.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


def _first_of(rules: list[tuple[str, _Rule]]) -> _Rule:
    """Return a rule that tries ``rules`` on a line until one applies, and returns whether one did."""
    anywhere = [rule for name, rule in rules if name not in _BEGINS]
    by_character = {
        character: [rule for name, rule in rules if character in _BEGINS.get(name, character)]
        for character in "".join(_BEGINS.values())
    }

    def first(state: Any, line: int, end: int, silent: bool) -> bool:
        begin = state.bMarks[line] + state.tShift[line]
        for rule in by_character.get(state.src[begin : begin + 1], anywhere):  # noqa: SIM110 - any() takes longer
            if rule(state, line, end, silent):
                return True
        return False

    return first


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
        html = escape(text, quote=False).replace('"', "&quot;")
        return _ENCLOSED.sub(lambda part: f"<code>{part[1]}</code>" if part[1] else f"<strong>{part[2]}</strong>", html)
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
    return str(inline_parser().renderer.renderInline(children, inline_parser().options, env))  # type: ignore[attr-defined]


def words(text: str, references: Any = None) -> str:
    """Return the text without markup."""
    if _SIMPLE.fullmatch(text):
        return _ENCLOSED.sub(lambda match: match[1] or match[2], text).replace("\n", " ")
    return _words(_children(text, {"references": references or {}}))


def _children(text: str, env: dict[str, Any]) -> Sequence[Token]:
    return inline_parser().parseInline(text, env)[0].children or ()


def _words(children: Iterable[Token]) -> str:
    return "".join(
        _words(token.children) if token.children else " " if token.type == "softbreak" else token.content
        for token in children
    )


def _image(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f'<span class="img">{escape(_words(tokens[index].children or ()), quote=False)}</span>'
