from sitegen.text.markdown import MOST_CHARACTERS, MarkdownPage, document, passage
from sitegen.text.patch import touched_sections
from sitegen.text.sections import Heading, Outline, outline
from tests.pages_sample_diffs import patch_of
from tests.rows import in_table


def test_headings_start_below_those_of_the_page_and_get_anchors():
    shown = document("# A b\n\n### C\n\n# A b\n")
    assert shown == MarkdownPage(
        '<h3 id="t-a-b">A b</h3>\n<h4 id="t-c">C</h4>\n<h3 id="t-a-b-1">A b</h3>\n',
        (
            Heading(level=1, title="A b", line=1, anchor="t-a-b"),
            Heading(level=3, title="C", line=3, anchor="t-c"),
            Heading(level=1, title="A b", line=5, anchor="t-a-b-1"),
        ),
    )


def test_only_harmless_links_can_be_followed():
    text = (
        "[a](https://example.org/?x=1&y=2) [b](#A-b) [c](mailto:a@example.org) [d](guide.md) [e](javascript:alert(1)) "
        "[f](JAVASCRIPT:x) [g](data:text/html,x) [h](//example.org) <vbscript:x>"
    )
    follow = 'rel="nofollow noopener noreferrer"'
    assert document(text).html == (
        f'<p><a href="https://example.org/?x=1&amp;y=2" {follow}>a</a> <a href="#t-A-b">b</a> '
        '<span class="ref">c</span> <span class="ref" title="guide.md">d</span> '
        '<span class="ref">e</span> <span class="ref">f</span> <span class="ref">g</span> '
        '<span class="ref" title="//example.org">h</span> <span class="ref">vbscript:x</span></p>\n'
    )


def test_tables_carry_no_style_attributes():
    html = document("| a | b |\n|--:|:-:|\n| 1 | 2 |\n").html
    assert '<th class="al-r">a</th>\n<th class="al-c">b</th>' in html
    assert "style" not in html


def test_front_matter_is_code_and_no_heading():
    shown = document("---\nname: reader\n---\n# T\n")
    assert shown.html == '<pre><code>name: reader\n</code></pre>\n<h3 id="t-t">T</h3>\n'
    assert shown.headings == (Heading(level=1, title="T", line=4, anchor="t-t"),)


def test_a_text_too_large_is_shown_as_it_is_written():
    assert document("<" * 5_001) == MarkdownPage(f"<pre>{'&lt;' * 5_001}</pre>", (), plain=True)
    assert document("a\n" * MOST_CHARACTERS).plain


@in_table
def test_what_a_text_brings_along_is_text(text: str, html: str):
    assert document(text).html == html


@in_table
def test_a_passage_is_rendered_as_what_it_is_part_of(case, lines, changed, gone, html):
    assert passage(lines, set(changed), {int(at): texts for at, texts in gone.items()}) == html


def test_a_passage_with_a_line_too_long_to_be_read_is_shown_as_it_is_written():
    long = "[" * 6_000
    shown = f'<pre><code><del class="gone">&lt;</del>\na\n<span class="chg">{long}</span>\n</code></pre>'
    assert passage(["a", long], {1}, {0: ["<"]}) == shown


TEXT = b"""before

# Reader
## Rules ##
### Walls
```md
# not a heading
~~~
```
  ## Fields
# Next
#no heading
#
"""


def test_headings_are_found_with_those_above_them():
    assert outline(TEXT) == Outline(
        (3, 4, 5, 10, 11, 13),
        ("Reader", "Reader › Rules", "Reader › Rules › Walls", "Reader › Fields", "Next", "(untitled)"),
    )


@in_table
def test_a_line_belongs_to_the_heading_above_it(number: int, path: str):
    assert outline(TEXT).at(number) == path


def test_line_ends_and_long_titles_do_not_matter():
    assert outline(b"# One\r\n\r\n## Two\r\n") == Outline((1, 3), ("One", "One › Two"))
    assert len(outline(b"# " + b"long " * 900).paths[0]) < 100
    assert outline(b"") == Outline((), ())


def test_blank_lines_and_the_stated_version_touch_nothing():
    old, new = "# A\n\nVersion: 1.0\n## B\nx\n", "# A\n\nVersion: 1.1\n\n## B\nx\n"
    assert touched_sections(patch_of(old, new).hunks, outline(old.encode()), outline(new.encode())) == ()
