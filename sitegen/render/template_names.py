"""The names that every template may use: filters, words, and modules that write rows and charts without Jinja."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Final

from sitegen.html import charts, elements, formats, heat_cells
from sitegen.model.outcomes import ERROR_TYPES
from sitegen.pages import change_text, fields, labels, links, short_lists
from sitegen.pages.commit import move_rows
from sitegen.pages.compare import compare_rows
from sitegen.pages.edit import edit_sizes, effect_rows
from sitegen.pages.field import field_rows
from sitegen.pages.instruction import edit_rows
from sitegen.pages.instructions import matrix_rows, version_rows
from sitegen.pages.regressions import step_lines, step_rows
from sitegen.pages.report import discrepancy_rows, report_rows, spans, tree, why_rows
from sitegen.pages.trend import trend_chart, trend_rows
from sitegen.pages.variants import variant_charts

FILTERS: Final[dict[str, Callable[..., str]]] = {
    "number": formats.number,
    "probability": formats.probability,
    "thousands": formats.count,
    "percent": formats.percent,
    "signed": formats.signed,
    "day": formats.day,
    "date": formats.date,
    "path": formats.path,
    "bounded": formats.bounded,
    "message": formats.message,
    "printable": formats.printable,
}

_MODULES: Final[tuple[ModuleType, ...]] = (
    change_text,
    charts,
    compare_rows,
    discrepancy_rows,
    edit_rows,
    edit_sizes,
    effect_rows,
    elements,
    field_rows,
    fields,
    heat_cells,
    links,
    matrix_rows,
    move_rows,
    report_rows,
    short_lists,
    spans,
    step_lines,
    step_rows,
    tree,
    trend_chart,
    trend_rows,
    variant_charts,
    version_rows,
    why_rows,
)

GLOBALS: Final[dict[str, object]] = {
    **{module.__name__.rpartition(".")[2]: module for module in _MODULES},
    "recorded_pill": formats.RECORDED,
    "error_types": ERROR_TYPES,
    "iterations_and_outputs": labels.iterations_and_outputs,
    "error_label": labels.ERROR_LABELS,
    "statuses": labels.STATUSES,
    "edit_statuses": labels.EDITS,
}
