"""The tables of two points side by side, as escaped f-strings; ``assets/js/compare.js`` writes the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from markupsafe import Markup

from sitegen.html.cells import code, text, where
from sitegen.html.formats import number, signed
from sitegen.model.cells import State
from sitegen.model.metrics import Nouns
from sitegen.model.outcomes import ERROR_TYPES
from sitegen.pages.change_text import span
from sitegen.pages.compare.page import ByField, ComparedCell, PointPair, Valued
from sitegen.pages.report.report_rows import letter_of, type_name

NAMED: Final = 8
"""Fields that are named above a list of cells."""

_BLANK: Final = "<i>blank</i>"
_MISSING: Final = "<i>missing</i>"


def numbers(pair: PointPair, nouns: Nouns) -> Markup:
    """A row for each metric, then one for each type of errors: before, after, change."""
    kinds = [
        _metric_table_row(
            type_name(kind, nouns), f"{before:,}", f"{after:,}", signed(after - before, 0, lower_is_better=True)
        )
        for kind, word, (before, after) in zip(ERROR_TYPES, nouns.errors, pair.errors, strict=True)
        if word
    ]
    headline, *others = pair.metrics
    before, after = (
        f'<span class=range title="95 % interval">{span(interval)}</span>' if interval else ""
        for interval in pair.intervals
    )
    return Markup("".join([_compared_metric_row(headline, before, after), *map(_compared_metric_row, others), *kinds]))


def _compared_metric_row(valued: Valued, before: str = "", after: str = "") -> str:
    """``before``, ``after``: what stands below the values."""
    spec = valued.spec
    change = signed(valued.change, lower_is_better=not spec.higher_is_better, unit=spec.unit)
    sides = (f"{number(valued.before, unit=spec.unit)}{before}", f"{number(valued.after, unit=spec.unit)}{after}")
    return _metric_table_row(text(spec.label), *sides, change)


def _metric_table_row(*cells: str) -> str:
    name, *rest = cells
    return f"<tr><td>{name}{''.join(f'<td class=num>{cell}' for cell in rest)}\n"


def fields(some: Sequence[ByField]) -> Markup:
    """Which fields the cells are of: those with the most."""
    named = ", ".join(f'<a href="{text(one.file)}">{code(one.attribute)}</a> {one.number:,}' for one in some[:NAMED])
    return Markup(f"{named} and {len(some) - NAMED:,} more" if len(some) > NAMED else named)


def cells(some: Iterable[ComparedCell], nouns: Nouns) -> Markup:
    """Where each cell stands, what was expected, and what both points gave."""
    return Markup("".join([_compared_cell_row(one, nouns) for one in some]))


def _compared_cell_row(cell: ComparedCell, nouns: Nouns) -> str:
    was = f"<i> was {text(cell.expected_before) or 'blank'}</i>" if cell.expected_before is not None else ""
    return (
        f"<tr><td>{where(cell.path, cell.document, extra=cell.extra, file=cell.file)}"
        f'<td class="sides" dir=auto>{_value_or_none(cell.expected, _BLANK)}{was}{_side_cell(cell.before, nouns)}'
        f"{_side_cell(cell.after, nouns)}\n"
    )


def _side_cell(side: tuple[State, str | None], nouns: Nouns) -> str:
    state, actual = side
    if state == "absent":
        return "<td><i>not there</i>"
    if state in ERROR_TYPES:
        word = text(nouns.errors[ERROR_TYPES.index(state)])
        mark = f'<span class="t {state}" title="{word}">{letter_of(state, nouns)}</span>'
    else:
        mark = '<span class="ok" title="right">✓</span>'
    missing = _BLANK if state == "true_negative" else _MISSING
    return f'<td class="sides" dir=auto>{mark} {_value_or_none(actual, missing)}'


def _value_or_none(value: str | None, none: str) -> str:
    return none if value is None else text(value) or _BLANK
