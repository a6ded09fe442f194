from html import unescape

import jinja2
from hypothesis import given
from hypothesis import strategies as st

from sitegen.pages.edit import diff_lines
from sitegen.pages.effects import FlippedFields
from sitegen.text.patch import DiffRow
from sitegen.text.words import WordSpan

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
