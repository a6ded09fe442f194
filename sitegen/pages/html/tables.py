"""Tables, each declared once as a list of columns: heads, cells and the names of both follow from it.

Styles and scripts address a column by its name (``.c-errors``), never by its position, so that one more column is one
more item of the list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from markupsafe import Markup

from sitegen.model.frozen import Frozen
from sitegen.pages.html.cells import output
from sitegen.pages.html.elements import Text


class Column(Frozen):
    """One column of a table."""

    name: str
    """Behind ``c-`` the class of its head and its cells; in the address of a sorted table the name of the column."""
    head: Text
    cell: Callable[..., Text]
    """What the column shows of a row: a macro of a template, or a function; text is escaped."""
    classes: str = ""
    """Further classes of its head and its cells: ``num``, ``wrap``, ``hide-s``."""
    title: str = ""
    """The tooltip of its head."""
    names_row: bool = False
    """Whether its cell is the head of its row."""

    @property
    def attribute(self) -> str:
        """The classes of its head and its cells."""
        return f'class="c-{self.name} {self.classes}"' if self.classes else f"class=c-{self.name}"


def heads(columns: Sequence[Column]) -> Markup:
    """The head of a table."""
    return Markup(f"<thead><tr>{''.join([head(column) for column in columns])}</tr></thead>")


def head(column: Column) -> Markup:
    """The head of one column."""
    title = f' title="{output(column.title)}"' if column.title else ""
    return Markup(f"<th scope=col {column.attribute}{title}>{output(column.head)}</th>")


def cells(columns: Sequence[Column], *row: object) -> Markup:
    """The cells of one row. ``row``: what the columns are functions of."""
    tags = ("th scope=row" if column.names_row else "td" for column in columns)
    return Markup(
        "".join(
            [
                f"<{tag} {column.attribute}>{output(column.cell(*row))}"
                for tag, column in zip(tags, columns, strict=True)
            ]
        )
    )


def bare_cells(columns: Sequence[Column], *row: object) -> Markup:
    """The cells of one of many rows, without the names of their columns, which no style and no script asks for."""
    classes = (f" class={column.classes}" if column.classes else "" for column in columns)
    return Markup("".join([f"<td{of}>{output(it.cell(*row))}" for of, it in zip(classes, columns, strict=True)]))


def class_name(text: str) -> str:
    """A text, such as the label of a metric, as the name of a column."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
