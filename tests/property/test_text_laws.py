import itertools
from html import unescape
from html.parser import HTMLParser

import jinja2
from hypothesis import given
from hypothesis import strategies as st

from sitegen.history.patches import plain_patch
from sitegen.pages.edit import diff_lines
from sitegen.pages.effects import FlippedFields
from sitegen.text.markdown import TAGS, document, passage
from sitegen.text.patch import DiffRow, Patch, pair, read_patch
from sitegen.text.sections import split_lines
from sitegen.text.words import WordSpan, mark, tokens

texts = st.one_of(
    st.text(max_size=200),
    st.text("ab \n.,", max_size=120),
    st.lists(st.sampled_from(["the", "red", "one", "1.5", "a_b", " ", "  ", "—", "\t"]), max_size=60).map("".join),
)


@given(texts)
def test_tokens_join_back(text: str):
    assert "".join(tokens(text)) == text


@given(texts, texts)
def test_spans_join_back_to_both_texts_and_alternate(a: str, b: str):
    for text, spans in zip((a, b), mark(a, b), strict=True):
        assert "".join(span.text for span in spans) == text
        assert all(span.text for span in spans)
        assert all(one.changed != two.changed for one, two in itertools.pairwise(spans))


@given(texts, texts)
def test_nothing_is_marked_if_and_only_if_the_texts_are_equal(a: str, b: str):
    old, new = mark(a, b)
    assert any(span.changed for span in old + new) == (a != b)


@given(texts, texts)
def test_what_is_not_marked_is_the_same_on_both_sides_but_for_spaces(a: str, b: str):
    old, new = ("".join("".join(text.split()) for text, changed in spans if not changed) for spans in mark(a, b))
    assert old == new


lines = st.lists(
    st.one_of(st.text(max_size=30), st.sampled_from(["give months as words", "give months as numbers", ""]))
)


@given(lines, lines)
def test_pairs_are_complete_and_in_order(removed: list[str], added: list[str]):
    pairs = pair(removed, added)
    assert [old for old, _, _ in pairs if old is not None] == list(range(len(removed)))
    assert [new for _, new, _ in pairs if new is not None] == list(range(len(added)))
    assert all(old is not None or new is not None for old, new, _ in pairs)
    assert all(not alike or (old is not None and new is not None) for old, new, alike in pairs)


TEMPLATE = jinja2.Environment(autoescape=True).from_string(
    "{% for kind, a, b, old, new in rows %}<tr>"
    '{% if old is none %}<td class="ln-n e"></td><td class="sg e"></td><td class="e"></td>'
    '{% else %}<td class="ln-n d">{{ a }}</td><td class="sg d">−</td><td class="d">'
    "{% for text, changed in old %}{% if changed %}<del>{{ text }}</del>{% else %}{{ text }}{% endif %}"
    "{% endfor %}</td>{% endif %}"
    '{% if new is none %}<td class="ln-n e mid"></td><td class="sg e"></td><td class="e"></td>'
    '{% else %}<td class="ln-n a mid">{{ b }}</td><td class="sg a">+</td><td class="a">'
    "{% for text, changed in new %}{% if changed %}<ins>{{ text }}</ins>{% else %}{{ text }}{% endif %}"
    "{% endfor %}</td>{% endif %}"
    "</tr>\n{% endfor %}"
)
spans = st.lists(st.builds(WordSpan, st.text(max_size=40) | st.just('<b a="\'&amp;">'), st.booleans()), max_size=4).map(
    tuple
)
sides = st.none() | spans
rows = st.lists(st.builds(DiffRow, st.just("change"), st.integers(1), st.integers(1), sides, sides), max_size=8)


@given(rows)
def test_rows_hold_what_a_template_would_write(drawn: list[DiffRow]):
    quotes = TEMPLATE.render(rows=drawn).replace("&#39;", "'").replace("&#34;", '"')
    assert diff_lines(drawn, FlippedFields(evals={}, more=0, named={}), "a.md") == quotes


@given(st.text(max_size=60))
def test_the_text_of_any_row_can_be_read_back(text: str):
    row = DiffRow(kind="context", old_line=1, new_line=1, old=(WordSpan(text, False),))
    wide = [DiffRow("hunk", old=(WordSpan(text, False),)), DiffRow("remark", old=(WordSpan(text, False),))]
    html = diff_lines([row, *wide], FlippedFields(evals={}, more=0, named={"a.md": ((),)}), "a.md")
    assert html.count("<") == html.count(">")
    assert unescape(html).count(text) >= 4


VOID = {"br", "hr"}
CLASSES = {"chg", "gone", "ref", "img", "al-l", "al-r", "al-c"}
ATTRIBUTES = {"href", "rel", "class", "title", "id", "colspan", "start"}

BLOCKS = ("# ", "> ", "- ", "1. ", "```", "~~~js", "|", "|-|", "\n", "\n\n", "    ", "---\n", "=", "\r\n")
INLINE = ("*", "**", "_", "`", "[", "](", ")", "![", "\\", "&#60;", '"', "'", "#a", "a", " ", "https://x.y/")
HOSTILE = ("<script>", "</td>", "<a href=x>", "<!--", "-->", "\x00", "\u202e")
ADDRESSES = ("javascript:alert(1)", "data:image/png,", "[x]: javascript:a", "<javascript:a>")
pieces = st.sampled_from((*BLOCKS, *INLINE, *HOSTILE, *ADDRESSES))
sources = st.one_of(st.lists(pieces, max_size=60).map("".join), st.text(max_size=300))


class Checker(HTMLParser):
    """Fails on what should not be there; knows whether every element was closed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        for name, value in attrs:
            assert name in ATTRIBUTES
            if name == "href":
                assert (value or "").lower().startswith(("https://", "http://", "#t-"))
            if name == "class":
                assert set((value or "").split()) <= CLASSES
            if name == "id":
                assert (value or "").startswith("t-")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)


def check(html: str) -> None:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []


@given(sources)
def test_a_rendered_text_holds_only_known_tags_and_attributes(source: str):
    check(document(source).html)


@given(sources)
def test_anchors_are_unique(source: str):
    anchors = [heading.anchor for heading in document(source).headings]
    assert len(set(anchors)) == len(anchors)


@given(sources, st.data())
def test_a_rendered_passage_holds_only_known_tags_and_every_struck_line(source: str, data: st.DataObject):
    lines = split_lines(source)
    changed = data.draw(st.sets(st.integers(0, len(lines))))
    gone = data.draw(st.dictionaries(st.integers(0, len(lines)), st.lists(sources.map(lambda s: s.replace("\n", "")))))
    html = passage(lines, changed, {**gone, len(lines): ["Struck-at-the-end"]}, starts_file=data.draw(st.booleans()))
    check(html)
    assert "Struck-at-the-end" in html


patch_lines = st.lists(st.sampled_from(["", " ", "a", "b", "+c", "-d", "--- a", "@@ -1 +1 @@", "\\ No"]), max_size=30)
lines_of_text = st.builds(lambda of, end: "\n".join(of) + end, patch_lines, st.sampled_from(["", "\n"]))


def patched(old: list[str], patch: Patch) -> list[str]:
    """Return the lines of a file after a patch."""
    rest, new = iter(enumerate(old, start=1)), []
    for hunk in patch.hunks:
        for line in hunk.lines:
            if line.old is not None:
                skipped = next(rest)
                while skipped[0] < line.old:
                    new.append(skipped[1])
                    skipped = next(rest)
                assert skipped == (line.old, line.text)
            if line.new is not None:
                while len(new) + 1 < line.new:
                    new.append(next(rest)[1])
                new.append(line.text)
    return [*new, *(text for _, text in rest)]


@given(lines_of_text, lines_of_text)
def test_the_lines_of_a_patch_turn_the_old_text_into_the_new_one(old: str, new: str):
    patch = read_patch(plain_patch(old.encode(), new.encode()))
    assert not patch.unread
    assert patched(split(old), patch) == split(new)


def split(text: str) -> list[str]:
    """Split a text as git does."""
    return text.removesuffix("\n").split("\n") if text else []
