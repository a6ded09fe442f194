"""Table rows of the compare page, as escaped f-strings; ``assets/js/compare.js`` writes the same rows."""

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
    headline, *further = pair.metrics
    before, after = (
        f'<span class=range title="95 % interval">{span(interval)}</span>' if interval else ""
        for interval in pair.intervals
    )
    return Markup("".join([_compared_metric_row(headline, before, after), *map(_compared_metric_row, further), *kinds]))


def _compared_metric_row(valued: Valued, before: str = "", after: str = "") -> str:
    """``before`` and ``after`` are markup below the values, such as their intervals."""
    spec = valued.spec
    change = signed(valued.change, lower_is_better=not spec.higher_is_better, unit=spec.unit)
    sides = (f"{number(valued.before, unit=spec.unit)}{before}", f"{number(valued.after, unit=spec.unit)}{after}")
    return _metric_table_row(text(spec.label), *sides, change)


def _metric_table_row(*cells: str) -> str:
    name, *rest = cells
    return f"<tr><td>{name}{''.join(f'<td class=num>{cell}' for cell in rest)}\n"


def fields(counts: Sequence[ByField]) -> Markup:
    """The fields with the most cells, and how many more there are."""
    named = ", ".join(f'<a href="{text(row.file)}">{code(row.attribute)}</a> {row.number:,}' for row in counts[:NAMED])
    return Markup(f"{named} and {len(counts) - NAMED:,} more" if len(counts) > NAMED else named)


def cells(rows: Iterable[ComparedCell], nouns: Nouns) -> Markup:
    """A row for each cell: its place, the expected value, and the values at both points."""
    return Markup("".join([_compared_cell_row(cell, nouns) for cell in rows]))


def _compared_cell_row(cell: ComparedCell, nouns: Nouns) -> str:
    was = f"<i> was {text(cell.expected_before) or 'blank'}</i>" if cell.expected_before is not None else ""
    return (
        f"<tr><td>{where(cell.path, cell.document, extra=cell.extra, file=cell.file)}"
        f'<td class="sides" dir=auto>{_value_or_none(cell.expected, _BLANK)}{was}{_side_cell(*cell.before, nouns)}'
        f"{_side_cell(*cell.after, nouns)}\n"
    )


def _side_cell(state: State, actual: str | None, nouns: Nouns) -> str:
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
