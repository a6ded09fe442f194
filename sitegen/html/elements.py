"""Small parts of many pages, written without Jinja; ``macros/ui.html`` gives them to templates with its macros.

Texts are escaped, and ``Markup`` is written as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from markupsafe import Markup

from sitegen.html.cells import output

Text: TypeAlias = str | int
"""A text, markup or number that a template passes on."""


def crumbs(parts: Iterable[Sequence[Text | None]]) -> Markup:
    """The way to a page: pairs of a label and its address. The page itself is last and has no address."""
    links = [
        f'<a href="{output(href)}">{output(label)}</a>' if href else f'<span aria-current="page">{output(label)}</span>'
        for label, href in parts
    ]
    inside = '<span aria-hidden="true">/</span>'.join(links)
    return Markup(f'<nav class="crumbs" aria-label="Breadcrumb">{inside}</nav>')


def kpi(label: Text, value: Text, change: Text = "", note: Text = "", mark: Text = "") -> Markup:
    """A number with its label, its change, a note, and a mark before the label."""
    return Markup(
        f'<div class="kpi"><dt>{output(mark)}{output(label)}</dt><dd><span class="v">{output(value)}</span>'
        f'{output(change)}<span class="x">{output(note)}</span></dd></div>'
    )
