"""The names that every template may use: filters, words, and modules that write rows and charts without Jinja."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from sitegen.html import formats
from sitegen.model.outcomes import ERROR_TYPES
from sitegen.pages import labels

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

_MODULES: Final = (
    "sitegen.html.charts",
    "sitegen.html.heat_cells",
    "sitegen.pages.change_text",
    "sitegen.pages.commit.move_rows",
    "sitegen.pages.compare.compare_rows",
    "sitegen.pages.edit.effect_rows",
    "sitegen.pages.field.field_rows",
    "sitegen.pages.fields",
    "sitegen.pages.instruction.edit_rows",
    "sitegen.pages.instruction.version_rows",
    "sitegen.pages.links",
    "sitegen.pages.regressions.step_lines",
    "sitegen.pages.regressions.step_rows",
    "sitegen.pages.report.discrepancy_rows",
    "sitegen.pages.report.report_rows",
    "sitegen.pages.report.spans",
    "sitegen.pages.report.tree",
    "sitegen.pages.report.why_rows",
    "sitegen.pages.short_lists",
    "sitegen.pages.trend.trend_chart",
    "sitegen.pages.trend.trend_rows",
    "sitegen.pages.variants.variant_charts",
)


class TemplateModule(ModuleType):
    """A module in templates. It is imported when a template uses it, because few builds draw every kind of page.

    The sandbox of a project's templates takes it for the module whose name it has.
    """

    def __getattr__(self, name: str) -> Any:
        """Return a function or a value of the module, and find it here the next time."""
        # As the import statement does it, so that ``-X importtime`` lists the module.
        member = getattr(__import__(self.__name__, fromlist=[name]), name)
        setattr(self, name, member)
        return member


GLOBALS: Final[dict[str, object]] = {
    **{module.rpartition(".")[2]: TemplateModule(module) for module in _MODULES},
    "recorded_pill": formats.RECORDED,
    "error_types": ERROR_TYPES,
    "iterations_and_outputs": labels.iterations_and_outputs,
    "error_label": labels.ERROR_LABELS,
    "statuses": labels.STATUSES,
    "edit_statuses": labels.EDITS,
}
