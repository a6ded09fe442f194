from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from sitegen.text.markdown import TAGS, document, passage
from sitegen.text.sections import split_lines

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
