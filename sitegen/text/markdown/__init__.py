"""Markdown from git as HTML that is safe to show: CommonMark and tables, no raw HTML, no scripts, no pictures.

The HTML holds the elements of ``TAGS`` and nothing else. Links lead to http and https addresses and within the text;
every other one, such as that to a neighbouring file, is shown as its words. A picture is shown as its alternative text.
Headings start at ``h3``: the page and its card have the levels above.

A text is parsed into blocks (``blocks``), what an edit did to them is marked (``changes``), and they are written
(``html``), with the text inside of them (``inline``).
"""

from sitegen.text.markdown.texts import LARGEST, LONGEST_LINE, TAGS, MarkdownPage, document, passage

__all__ = ["LARGEST", "LONGEST_LINE", "TAGS", "MarkdownPage", "document", "passage"]
