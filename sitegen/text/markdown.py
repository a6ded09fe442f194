"""Markdown from git as HTML that is safe to show: CommonMark and tables, no raw HTML, no scripts, no pictures.

The HTML holds the elements of ``TAGS`` and nothing else. Links lead to http, https and mailto addresses and within the
text; every other one, such as that to a neighbouring file, is shown as its words. A picture is shown as its
alternative text. Headings start at ``h3``: the page and its card have the levels above.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sitegen.text.plain import visible
from sitegen.text.sections import Heading, split_lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

TAGS: Final = frozenset(
    {"h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "a", "span"}
    | {"table", "thead", "tbody", "tr", "th", "td", "hr", "br", "del"}
)
"""Every element that can occur."""

LARGEST: Final = 200_000
"""Characters of a text beyond which it is shown as it is written."""

LONGEST_LINE: Final = 5_000
"""Characters of a line beyond which a text is shown as it is written: what inline parsing needs time for."""

PREFIX: Final = "t-"
"""What every id begins with, so that no text can give itself the id of a part of the page."""

_BLOCKS: Final = frozenset({"paragraph_open", "list_item_open", "heading_open", "tr_open", "fence", "code_block", "hr"})
_ALIGN: Final = {"text-align:right": "al-r", "text-align:center": "al-c", "text-align:left": "al-l"}
_FRONT_MATTER = re.compile(r"---\n(?:[^\n]*\n){1,60}?---(?=\n|\Z)")
_TABLE_ROW = re.compile(r"\|.*\|\s*")
_TABLE_RULE = re.compile(r"\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?")
_NOT_ANCHOR = re.compile(r"[^\w\- ]")

Gone = Mapping[int, Sequence[str]]
"""Removed lines by the index (from 0) of the line before which they stood."""


class Document(NamedTuple):
    """A whole text."""

    html: str
    headings: tuple[Heading, ...]
    plain: bool = False
    """Too large to be rendered: shown as it is written."""


def document(text: str) -> Document:
    """A whole file, rendered."""
    text = _prepared(text)
    lines = split_lines(text)
    if len(text) > LARGEST or any(len(line) > LONGEST_LINE for line in lines):
        return Document(f"<pre>{escape(text[:LARGEST], quote=False)}</pre>", (), plain=True)
    tokens = _tokens(text)
    return Document(_render(tokens, frozenset(), {}), _headings(tokens))


def passage(lines: Sequence[str], changed: Iterable[int], gone: Gone, starts_file: bool = False) -> str:
    """A passage of a file, its changed blocks marked with the class ``chg``, removed lines struck where they stood.

    Args:
        lines: the passage as it is now.
        changed: indexes of the lines that are new.
        gone: removed lines, by the index of the line before which they stood.
        starts_file: front matter is looked for.

    """
    marked = frozenset(changed)
    if sum(map(len, lines)) > LARGEST or any(len(line) > LONGEST_LINE for line in lines):
        return _as_written(lines, marked, gone)
    lead = _lead(lines)
    text = "\n".join([*lead, *lines, ""])
    if lead:
        marked = frozenset(index + len(lead) for index in marked)
        gone = {index + len(lead): struck for index, struck in gone.items()}
    tokens = _tokens(_prepared(text) if starts_file else visible(text))
    return _render(_without_head(tokens) if lead and lead[0] != "```" else tokens, marked, gone)


def _prepared(text: str) -> str:
    """Visible, with line feeds alone; front matter as a block of code, or its last line would make it a heading."""
    text = visible(text.replace("\r\n", "\n").removeprefix("\ufeff"))
    front = _FRONT_MATTER.match(text)
    return f"```\n{front[0][4:-3]}```{text[front.end() :]}" if front else text


def _lead(lines: Sequence[str]) -> list[str]:
    """Lines to put before a passage that seems to begin inside of a block of code or of a table; mostly none.

    Inside of code, its first fence is bare and has no partner. Inside of a table, a row comes first, and no rule.
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
    """Without the head of the first table, which is made up."""
    end = next((index for index, token in enumerate(tokens) if token.type == "thead_close"), None)
    if end is None or tokens[0].type != "table_open":
        return tokens
    return [tokens[0], *tokens[end + 1 :]]


class _Inline(NamedTuple):
    """A text inside of a block, rendered."""

    html: str
    words: str
    """Without markup."""


def _inline(text: str, references: Any = None) -> _Inline:
    """``references``: addresses that the text around it defines for links."""
    parser = _parser()
    env = {"references": references or {}}
    children = parser.parseInline(text, env)[0].children or []
    _tame(children)
    html = parser.renderer.renderInline(children, parser.options, env)  # type: ignore[attr-defined]
    return _Inline(html, _words(children))


# Passages of neighbouring edits share most of their text, and this is where half of the time would go.
_known_inline = lru_cache(maxsize=4_096)(_inline)


def _written(html: str) -> Token:
    """A token of the type whose rule writes its content as it stands; the content is our own."""
    from markdown_it.token import Token

    return Token("html_block", "", 0, content=html)


@cache
def _blocks() -> MarkdownIt:
    """Parses blocks and leaves the text inside of them as it is."""
    parser = _new_parser()
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


@cache
def _parser() -> MarkdownIt:
    return _new_parser()


def _new_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False, "maxNesting": 20}).enable("table")
    parser.disable(["html_block", "html_inline"])
    # Every link is parsed as one; what may not be followed loses its address afterwards, but keeps its words.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("code_block", _code)
    parser.add_render_rule("image", _image)
    return parser


def _tokens(text: str) -> list[Token]:
    """Blocks; what stands inside of each line of text is rendered already."""
    parser = _blocks()
    env: dict[str, Any] = {}
    tokens = parser.parse(text, env)
    references = env.get("references")
    level = 2
    anchors: dict[str, int] = {}
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            level = min(int(token.tag[1]) + 2, level + 1, 6)
            token.meta = {"level": int(token.tag[1])}
            token.tag = tokens[index + 2].tag = f"h{level}"
            token.attrSet("id", PREFIX + _anchor(tokens[index + 1].content, anchors))
        elif token.type == "inline":
            line = _inline(token.content, references) if references else _known_inline(token.content)
            token.children = [_written(line.html)]
            token.meta = {"words": line.words}
        elif style := token.attrs.pop("style", None):
            token.attrJoin("class", _ALIGN.get(str(style), "al-l"))
    return tokens


def _tame(children: Iterable[Token]) -> None:
    """Links that may not be followed become spans, which say where they led if that is a file."""
    tags: list[str] = []
    for token in children:
        if token.type == "link_open":
            href = str(token.attrs.get("href", ""))
            if href.startswith("#"):
                token.attrs = {"href": "#" + PREFIX + href[1:]}
            elif href.lower().startswith(("https://", "http://", "mailto:")):
                token.attrs = {"href": href, "rel": "nofollow noopener noreferrer"}
            else:
                token.tag = "span"
                token.attrs = {"class": "ref"} if ":" in href else {"class": "ref", "title": href}
            tags.append(token.tag)
        elif token.type == "link_close":
            token.tag = tags.pop()


def _anchor(title: str, taken: dict[str, int]) -> str:
    """What links to a heading write behind ``#``, by the usual rule: lower case, spaces as dashes, unique by number."""
    anchor = _NOT_ANCHOR.sub("", title.lower()).strip().replace(" ", "-")[:80] or "section"
    count = taken.get(anchor, 0)
    taken[anchor] = count + 1
    return f"{anchor}-{count}" if count else anchor


def _headings(tokens: Sequence[Token]) -> tuple[Heading, ...]:
    return tuple(
        Heading(
            token.meta["level"],
            tokens[index + 1].meta["words"].strip(),
            token.map[0] + 1 if token.map else 1,
            str(token.attrs["id"]),
        )
        for index, token in enumerate(tokens)
        if token.type == "heading_open"
    )


def _words(children: Iterable[Token]) -> str:
    return "".join(
        _words(token.children) if token.children else " " if token.type == "softbreak" else token.content
        for token in children
    )


def _render(tokens: list[Token], changed: frozenset[int], gone: Gone) -> str:
    left = dict(gone)
    if changed:
        for token in tokens:
            if _is_block(token) and token.type not in ("fence", "code_block") and _touches(token, changed):
                token.attrJoin("class", "chg")
    if gone:
        tokens = _with_gone(tokens, left)
    parser = _parser()
    return str(parser.renderer.render(tokens, parser.options, {"changed": changed, "gone": left}))


def _is_block(token: Token) -> bool:
    return token.type in _BLOCKS and token.map is not None and not token.hidden


def _touches(token: Token, lines: frozenset[int]) -> bool:
    return token.map is not None and any(line in lines for line in range(*token.map))


def _with_gone(tokens: list[Token], gone: dict[int, Sequence[str]]) -> list[Token]:
    """The tokens with struck lines put in, each before the innermost block that now stands in its place.

    What belongs into a block of code stays in ``gone``, from where the block's own rule takes it.
    """
    inside: dict[int, list[Sequence[str]]] = {}
    for line in sorted(gone):
        place = _place(tokens, line)
        if place < len(tokens) and _in_code(tokens[place], line):
            continue
        inside.setdefault(place, []).append(gone.pop(line))
    out: list[Token] = []
    for index, token in enumerate([*tokens, None]):
        out.extend(_struck(token, lines) for lines in inside.get(index, ()))
        if token is not None:
            out.append(token)
    return out


def _place(tokens: Sequence[Token], line: int) -> int:
    """Index of the innermost block that holds the line, else of the first that begins after it, else the end."""
    best = None
    for index, token in enumerate(tokens):
        if not _is_block(token) or token.map is None:
            continue
        if token.map[0] <= line < token.map[1]:
            best = index
        elif token.map[0] > line:
            return index if best is None else best
    return len(tokens) if best is None else best


def _in_code(token: Token, line: int) -> bool:
    return token.type in ("fence", "code_block") and token.map is not None and token.map[0] < line < token.map[1]


def _struck(before: Token | None, lines: Sequence[str]) -> Token:
    """Removed lines as what may stand before a token: an item of a list, a row of a table, or a paragraph."""
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
    return _written(html)


def _code(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Mapping[str, Any]) -> str:
    """A block of code, its changed lines marked and its removed lines struck."""
    token = tokens[index]
    changed, gone = env["changed"], env["gone"]
    content = token.content
    if (changed or gone) and token.map is not None:
        first = token.map[0] + (token.type == "fence")
        return f"<pre><code>{_marked_lines(split_lines(content), changed, gone, first)}</code></pre>\n"
    return f"<pre><code>{escape(content, quote=False)}</code></pre>\n"


def _marked_lines(lines: Sequence[str], changed: frozenset[int], gone: Gone, first: int = 0) -> str:
    out: list[str] = []
    for number, line in enumerate([*lines, None], start=first):
        out.extend(f'<del class="gone">{escape(struck, quote=False)}</del>\n' for struck in gone.get(number, ()))
        if line is not None:
            text = escape(line, quote=False)
            out.append(f'<span class="chg">{text}</span>\n' if number in changed else f"{text}\n")
    return "".join(out)


def _as_written(lines: Sequence[str], changed: frozenset[int], gone: Gone) -> str:
    return f"<pre><code>{_marked_lines(lines, changed, gone)}</code></pre>"


def _image(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Mapping[str, Any]) -> str:
    return f'<span class="img">{escape(_words(tokens[index].children or ()), quote=False)}</span>'
