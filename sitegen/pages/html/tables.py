"""Tables, each declared once as a list of columns, and small parts of many pages, written without Jinja."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from itertools import groupby
from typing import Any, Final, Self, TypeAlias

from markupsafe import Markup
from msgspec.structs import replace

from sitegen.model.frozen import Frozen
from sitegen.pages.html.cells import output
from sitegen.pages.html.formats import count, number

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


def scroller(heading: Text) -> Markup:
    """What the box of a wide table says of itself, so that keys can scroll it. ``heading``: the id of its heading."""
    return Markup(f'tabindex="0" role="group" aria-labelledby="{output(heading)}"')


HEAT: Final = ("not judged", "wrong in part", "wrong", "more wrong than before", "less wrong than before")
"""What the classes ``hl0`` to ``hl4`` of a heat map stand for. What is right, and was right before, is not painted."""

HeatCell: TypeAlias = tuple[int, int, int]
"""(row, first column, columns)."""


def painted(matrix: Iterable[Sequence[float | None]], older: int = 0) -> tuple[str, ...]:
    """One path for each of ``HEAT``, of shares of wrong answers; equal neighbours in a row are one cell.

    The first ``older`` columns are averages of groups, of which no change is painted.
    """
    cells: list[list[HeatCell]] = [[] for _ in HEAT]
    for row, shares in enumerate(matrix):
        column = 0
        for state, run in groupby(_states(shares, older)):
            columns = len(list(run))
            if state is not None:
                cells[state].append((row, column, columns))
            column += columns
    return tuple(map(_strokes, cells))


def _states(shares: Sequence[float | None], older: int) -> Iterator[int | None]:
    """The place in ``HEAT`` of each share, None for what is not painted."""
    before = None
    for column, share in enumerate(shares):
        if share is None:
            yield 0
            continue
        if before in (None, share) or column <= older:
            yield None if not share else 1 if share < 1 else 2
        else:
            yield 3 if share > before else 4
        before = share


def _strokes(cells: Sequence[HeatCell]) -> str:
    path = []
    row = column = 0
    for at, first, columns in cells:
        path.append(f"m{first - column} {at - row}h{columns}")
        row, column = at, first + columns
    return f"M-.5 .5{''.join(path)}" if path else ""


class Column(Frozen, dict=True, gc=True):
    """One column of a table."""

    name: str
    """Behind ``c-`` the class of its head and its cells; in the address of a sorted table the name of the column."""
    head: Text | Callable[[int], Text]
    """A function only if ``each`` makes columns of it."""
    cell: Callable[..., Text] | str
    """What the column shows of a row: a macro of a template or a function, whose text is escaped; a project's text goes
    through ``cells.text``. A text is the name of what it shows of the row's first value, with numbers as everywhere."""
    classes: str = ""
    """Further classes of its head and its cells: ``num``, ``wrap``, ``hide-s``."""
    title: str = ""
    """The tooltip of its head."""
    names_row: bool = False
    """Whether its cell is the head of its row."""
    label: str = ""
    """What stands before its cells on small screens if the table is ``stacked``: its head, unless that is too long."""
    further: Callable[..., str] | None = None
    """Further attributes of its cells, `` dir=auto``, as a function of what ``cell`` is one of."""

    @property
    def attribute(self) -> str:
        """The classes of its head and its cells."""
        names = f"c-{self.name} {self.classes}".strip() if self.name else self.classes
        return f' class="{names}"' if " " in names else names and f" class={names}"

    @cached_property
    def opening(self) -> str:
        """The start of each of its cells, which ``further`` attributes and ``>`` end."""
        label = f' data-h="{output(self.label)}"' if self.label else ""
        return f"<{'th scope=row' if self.names_row else 'td'}{self.attribute}{label}"

    def show(self, *row: Any) -> Text:
        """What it shows of a row."""
        if not isinstance(self.cell, str):
            return self.cell(*row)
        value = row[0]
        for name in self.cell.split("."):
            value = value[name] if isinstance(value, dict) else getattr(value, name)
        return count(value) if isinstance(value, int) else number(value) if isinstance(value, float | None) else value

    def each(self, size: int) -> list[Self]:
        """So many columns of one sort, whose heads and cells are functions of the place among them: like this one."""
        assert callable(self.head)
        parts = ((f"{self.name}-{at + 1}", self.head(at), partial(self.show, at)) for at in range(size))
        return [replace(self, name=name, head=head, cell=cell) for name, head, cell in parts]


def stacked(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The columns of a table of the class ``stacked``: on small screens the cells of a row stand below each other.

    Its first column names the row; each further cell stands after the head of its column there.
    """
    first, *further = columns
    names = [of.head.striptags() if isinstance(of.head, Markup) else str(of.head) for of in further]
    return first, *(replace(of, label=of.label or name) for of, name in zip(further, names, strict=True))


def table(
    columns: Sequence[Column],
    rows: Iterable[object],
    heading: Text,
    classes: str = "",
    sort: str = "",
    beside: Sequence[object] = (),
) -> Markup:
    """A table in a box that scrolls.

    ``rows``: what the columns are functions of. ``heading``: the id of its heading. ``sort``: its name in the address
    if its heads sort it. ``beside``: further arguments of the columns, the same for all rows.
    """
    attributes = "".join([f' {name}="{text}"' for name, text in (("class", classes), ("data-sort", sort)) if text])
    opening = f'<div class="tw" {scroller(heading)}><table{attributes}>{heads(columns)}<tbody>'
    write = writer(columns)
    body = [write(row, *beside) for row in rows]
    return Markup("\n<tr>".join([opening, *body]) + "\n</table></div>")


def heads(columns: Sequence[Column], *total: object) -> Markup:
    """The head of a table. ``total``: what the columns are functions of in a second row, which sums up all rows."""
    titled = ((column, f' title="{output(column.title)}"' if column.title else "") for column in columns)
    each = [f"<th scope=col{column.attribute}{title}>{output(column.head)}</th>" for column, title in titled]
    rows = [f"<thead><tr>{''.join(each)}", *([cells(columns, *total)] if total else [])]
    return Markup("\n<tr>".join(rows) + "</thead>")


def cells(columns: Iterable[Column], *row: object) -> Markup:
    """The cells of one row, which the next row or the table ends. ``row``: what the columns are functions of."""
    return Markup(writer(columns)(*row))


def writer(columns: Iterable[Column], *, named: bool = True) -> Callable[..., str]:
    """A function that writes the cells of a row. ``named``: whether any style or script asks for their columns."""
    columns = columns if named else [replace(column, name="") for column in columns]
    each = [(column.opening, column.further, column.show) for column in columns]

    def write(*row: object) -> str:
        return "".join([f"{start}{more(*row) if more else ''}>{output(show(*row))}" for start, more, show in each])

    return write


@lru_cache(maxsize=64)
def cached_writer(columns: tuple[Column, ...]) -> Callable[..., str]:
    """The same without names and cached, for tables of many pages that have the same few rows."""
    return lru_cache(maxsize=4096)(writer(columns, named=False))


def class_name(text: str) -> str:
    """A text, such as the label of a metric, as the name of a column."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
