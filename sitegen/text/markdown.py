"""Renders Markdown from git as safe HTML: CommonMark and tables, without raw HTML, scripts and pictures.

The HTML contains only the elements of ``TAGS``. Links lead to http and https addresses and within the text; of any
other link, such as one to a neighbouring file, only the text is shown. A picture is shown as its alternative text.
Headings start at ``h3``, because the page and its card have the levels above. Style attributes are removed.

A text is parsed into blocks, in which the changes of an edit are marked and removed lines are struck.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Final, TypeAlias

from sitegen.model.frozen import Frozen
from sitegen.text.plain import visible
from sitegen.text.sections import Heading, split_lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_PREFIX: Final = "t-"  # the prefix of every id, so that no text can use the id of a part of the page
_ALIGN: Final = {"text-align:right": "al-r", "text-align:center": "al-c", "text-align:left": "al-l"}
_NOT_ANCHOR = re.compile(r"[^\w\- ]")


@cache
def _markdown_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False, "maxNesting": 20}).enable("table")
    parser.disable(["html_block", "html_inline"])
    # Every link is parsed as a link; links that must not be followed lose their addresses afterwards.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.add_render_rule(
        "image",
        lambda _, tokens, index, *__: (
            f'<span class="img">{escape(_words(tokens[index].children or ()), quote=False)}</span>'
        ),
    )
    return parser


def _words(children: Iterable[Token]) -> str:
    return "".join(
        _words(token.children) if token.children else " " if token.type == "softbreak" else token.content
        for token in children
    )


def parse(text: str, *, anchored: bool) -> list[Token]:
    """Parse a visible text into tokens. ``anchored``: whether headings get ids.

    If a page shows several passages, they are parsed without ids, because the same id could occur twice.
    """
    tokens, level = _markdown_parser().parse(text), 2
    anchors: Counter[str] = Counter()
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            level = min(int(token.tag[1]) + 2, level + 1, 6)
            token.meta = {"level": int(token.tag[1])}
            token.tag = tokens[index + 2].tag = f"h{level}"
            if anchored:
                # By the usual rule: lower case, spaces as dashes, unique by number.
                title = _NOT_ANCHOR.sub("", tokens[index + 1].content.lower())
                anchor = title.strip().replace(" ", "-")[:80] or "section"
                number = anchors[anchor]
                token.attrSet("id", f"{_PREFIX}{anchor}-{number}" if number else f"{_PREFIX}{anchor}")
                anchors[anchor] += 1
        elif token.attrs and (style := token.attrs.pop("style", None)):
            token.attrJoin("class", _ALIGN.get(str(style), "al-l"))
    return tokens


Gone: TypeAlias = Mapping[int, Sequence[str]]
"""Removed lines by the index (from 0) of the line that followed them."""

_CODE: Final = frozenset({"fence", "code_block"})  # types of blocks of code: they mark and strike their own lines

_STRUCK: Final = "struck"  # type of sitegen's own tokens, whose content is written unchanged

_MARKED: Final = frozenset({"paragraph_open", "list_item_open", "heading_open", "tr_open", "hr"})
_BLOCKS: Final = _CODE | _MARKED


_GONE_PARAGRAPH: Final = ('<p class="gone">', "</p>")
_GONE: Final = {
    "list_item_open": ('<li class="gone">', "</li>"),
    "tr_open": ('<tr class="gone"><td colspan="99">', "</td></tr>"),
}
"""How removed lines become valid before a block: as an item of a list, a row of a table, or else a paragraph."""


def strike(tokens: list[Token], gone: Gone) -> Gone:
    """Insert removed lines as struck text, each before the innermost block that is now at its position.

    Returns the lines that were removed from blocks of code, which the renderer of these blocks strikes.
    """
    from markdown_it.token import Token

    inside: dict[int, list[Sequence[str]]] = {}
    from_code: dict[int, Sequence[str]] = {}
    for line in sorted(gone):
        place = _place(tokens, line)
        code = tokens[place].map if place < len(tokens) and tokens[place].type in _CODE else None
        if code is not None and code[0] < line < code[1]:
            from_code[line] = gone[line]
        else:
            inside.setdefault(place, []).append(gone[line])
    for place, struck in sorted(inside.items(), reverse=True):
        before = tokens[place] if place < len(tokens) else None
        for lines in reversed(struck):
            text = "<br>".join(f"<del>{escape(visible(line), quote=False)}</del>" for line in lines if line.strip())
            begin, end = _GONE.get(before.type if before is not None else "", _GONE_PARAGRAPH)
            html = f"{begin}{text}{end}\n" if text else ""
            tokens.insert(place, Token(_STRUCK, "", 0, content=html))
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


def write(tokens: Sequence[Token], changed: frozenset[int], gone: Gone) -> str:
    """Return blocks as safe HTML, with these changed lines marked and lines struck in blocks of code."""
    out: list[str] = []
    for index, token in enumerate(tokens):
        if token.type == "inline":
            out.append(_inline(token.children or []))
        elif token.type in _CODE:
            content = escape(token.content, quote=False)
            if (changed or gone) and token.map is not None:
                first = token.map[0] + (token.type == "fence")
                content = _marked_lines(split_lines(token.content), changed, gone, first)
            out.append(f"<pre><code>{content}</code></pre>\n")
        elif token.type == _STRUCK:
            out.append(token.content)
        elif token.hidden:
            continue
        elif token.nesting == -1:
            out.append(f"</{token.tag}>\n")
        else:
            out.append(_opening(tokens, index))
    return "".join(out)


def _inline(children: Sequence[Token]) -> str:
    tags: list[str] = []
    for token in children:  # links that must not be followed become spans; a link to a file keeps the path as text
        if token.type == "link_open":
            href = str(token.attrs.get("href", ""))
            if href.startswith("#"):
                token.attrs = {"href": "#" + _PREFIX + href[1:]}
            elif href.lower().startswith(("https://", "http://")):
                token.attrs = {"href": href, "rel": "nofollow noopener noreferrer"}
            else:
                token.tag = "span"
                token.attrs = {"class": "ref"} if ":" in href else {"class": "ref", "title": href}
            tags.append(token.tag)
        elif token.type == "link_close":
            token.tag = tags.pop()
    return str(_markdown_parser().renderer.renderInline(children, _markdown_parser().options, {}))  # type: ignore[attr-defined]


def _opening(tokens: Sequence[Token], index: int) -> str:
    """Return the tag that opens a block, in a line of its own unless text or the end of the block follows."""
    token = tokens[index]
    before = "\n" if index and tokens[index - 1].hidden else ""
    attributes = "".join([f' {name}="{escape(str(value))}"' for name, value in token.attrs.items()])
    after = "\n"
    if token.nesting == 1:
        following = tokens[index + 1]
        is_end = following.nesting == -1 and following.tag == token.tag
        if following.type == "inline" or following.hidden or is_end:
            after = ""
    return f"{before}<{token.tag}{attributes}>{after}"


def _marked_lines(lines: Sequence[str], changed: frozenset[int], gone: Gone, first: int = 0) -> str:
    out: list[str] = []
    for number, line in enumerate([*lines, None], start=first):
        out.extend(f'<del class="gone">{escape(struck, quote=False)}</del>\n' for struck in gone.get(number, ()))
        if line is not None:
            text = escape(line, quote=False)
            out.append(f'<span class="chg">{text}</span>\n' if number in changed else f"{text}\n")
    return "".join(out)


TAGS: Final = frozenset(
    {"h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "a", "span"}
    | {"table", "thead", "tbody", "tr", "th", "td", "hr", "br", "del"}
)
"""Every HTML element that can occur."""

MOST_CHARACTERS: Final = 200_000
"""The greatest number of characters of a text that is rendered; a longer one is shown as source."""

LONGEST_LINE: Final = 5_000
"""The greatest number of characters of a line in a text that is rendered: inline parsing of longer lines is slow."""

_FRONT_MATTER = re.compile(r"---\n(?:[^\n]*\n){1,60}?---(?=\n|\Z)")
_TABLE_ROW = re.compile(r"\|.*\|\s*")
_TABLE_RULE: Final = r"\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?"


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
    if len(text) > MOST_CHARACTERS or max(map(len, lines), default=0) > LONGEST_LINE:
        return MarkdownPage(f"<pre>{escape(text[:MOST_CHARACTERS], quote=False)}</pre>", (), plain=True)
    tokens = parse(text, anchored=True)
    headings = tuple(
        Heading(
            level=token.meta["level"],
            title=_words(tokens[index + 1].children or ()).strip(),
            line=token.map[0] + 1 if token.map else 1,
            anchor=str(token.attrs["id"]),
        )
        for index, token in enumerate(tokens)
        if token.type == "heading_open"
    )
    return MarkdownPage(write(tokens, frozenset(), {}), headings)


def passage(lines: Sequence[str], changed: Iterable[int], gone: Gone, starts_file: bool = False) -> str:
    """Render a passage of a file, with the class ``chg`` on changed blocks, and removed lines struck in place.

    ``lines``: the passage after the edit. ``changed``: indices of the lines that are new. ``gone``: removed lines, by
    the index of the line that followed them. ``starts_file``: whether the passage may begin with front matter.
    """
    marked = frozenset(changed)
    if sum(map(len, lines)) > MOST_CHARACTERS or max(map(len, lines), default=0) > LONGEST_LINE:
        return f"<pre><code>{_marked_lines(lines, marked, gone)}</code></pre>"
    lead = _lead(lines)
    text = "\n".join([*lead, *lines, ""])
    if lead:
        marked = frozenset(index + len(lead) for index in marked)
        gone = {index + len(lead): struck for index, struck in gone.items()}
    tokens = parse(_prepared(text) if starts_file else visible(text), anchored=False)
    if lead and lead[0] != "```" and tokens[0].type == "table_open":
        ends = (index for index, token in enumerate(tokens) if token.type == "thead_close")
        del tokens[1 : next(ends, 0) + 1]  # the head of the first table, which was put before the passage
    for token in tokens if marked else ():  # blocks of code mark their own lines
        if token.type in _MARKED and _is_block(token) and token.map and not marked.isdisjoint(range(*token.map)):
            token.attrJoin("class", "chg")
    return write(tokens, marked, strike(tokens, gone))


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
    if lines and _TABLE_ROW.match(lines[0]) and not (len(lines) > 1 and re.fullmatch(_TABLE_RULE, lines[1].strip())):
        columns = lines[0].count("|") - 1
        head = "| " * columns + "|"
        return [head] if re.fullmatch(_TABLE_RULE, lines[0].strip()) else [head, "|-" * columns + "|"]
    return []
