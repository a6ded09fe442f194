"""Renders Markdown from git as safe HTML: CommonMark and tables, without raw HTML, scripts and pictures.

The HTML contains only the elements of ``TAGS``. Links lead to http and https addresses and within the text; of any
other link, such as one to a neighbouring file, only the text is shown. A picture is shown as its alternative text.
Headings start at ``h3``, because the page and its card have the levels above.

A text is parsed into blocks, in which the changes of an edit are marked (``blocks``), and they are written (``texts``)
with the text inside them (``inline``).
"""

from sitegen.text.markdown.blocks import LARGEST, LONGEST_LINE, TAGS, MarkdownPage, document, passage

__all__ = ["LARGEST", "LONGEST_LINE", "TAGS", "MarkdownPage", "document", "passage"]
