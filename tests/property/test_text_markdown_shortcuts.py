"""What is done sparingly gives what the parser gives when it is asked for everything."""

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sitegen.text import markdown_inline

BLOCKS = ("# ", "> ", "- ", "* ", "1. ", "2) ", "```", "~~~", "---", "- - -", "***", "===", "[x]: /u", "    ", "\t")
TABLES = ("| a | b |", "|---|:-:|", "a | b", "-|-", ":-", "| - ", "|")
WORDS = ("a", "B c", "1", "é", "–", "“", "_", "__", "*", "**", "`", "``", ".", ":", ")", "(", '"', "\\", "&", "<", "[")
MARKED = ("**a**", "**a b:**", "`a`", "` a`", "`*a*`", "a_b", "**`a`**", "~~a~~", "https://example.org", "!")
SPACES = (" ", "  ", "\n", "\u00a0")


def texts(*pieces: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=30).map("".join)


@given(texts(*WORDS, *MARKED, *SPACES) | texts("a", "**", "`", "_", " ", "\n", ":", "**a**"))
@example("**a**b **c** **d: **e** `f`, `g`\nh_i\n**j**")
def test_a_text_inside_of_a_block_is_written_as_the_parser_writes_it(text: str):
    parser = markdown_inline.inline_parser()
    assert markdown_inline.inline(text) == parser.renderer.render(parser.parseInline(text), parser.options, {})


@given(texts(*WORDS, *MARKED, *SPACES) | texts("a", "**", "`", "_", " ", "\n", ":", "**a**"))
@example("a **b c** `d`\ne")
def test_the_words_of_a_text_are_those_that_the_parser_finds(text: str):
    assert markdown_inline.words(text) == markdown_inline._words(markdown_inline._children(text, {"references": {}}))


@given(
    texts(*BLOCKS, *TABLES, "\n", "\n\n", "\n  ", "a", "b c") | texts("\n", "- ", "> ", "1. ", "|", "---", "a", "  ")
)
@example("a\n=\n\nb\n-\n\n| a |\n|---|\n\n> c\n---\n")
def test_blocks_are_parsed_as_the_parser_does_by_all_of_its_rules(text: str):
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable("table")
    parser.disable(["html_block", "html_inline"]).core.ruler.disable(["inline", "text_join"])
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    found: dict[str, object] = {}
    expected: dict[str, object] = {}
    assert markdown_inline.parse_blocks(text, found) == parser.parse(text, expected)
    assert found == expected
