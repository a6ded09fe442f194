"""The table of what outputs took, as escaped f-strings."""

from __future__ import annotations

from markupsafe import Markup

from sitegen.model.metrics import MetricSpec
from sitegen.pages.usage import ROWS, OutputUsage, UsageView
from sitegen.render.cells import text
from sitegen.render.formats import NIL, number
from sitegen.text.values import amount


def outputs(view: UsageView) -> Markup:
    """A row for each output, the newest first; units stand in the head."""
    return Markup("".join([_output(output, view.specs) for output in reversed(view.outputs[-ROWS:])]))


def _output(usage: OutputUsage, specs: tuple[MetricSpec, ...]) -> str:
    values = "".join([f"<td>{_usage_amount(value, spec)}" for value, spec in zip(usage.values, specs, strict=True)])
    made_by = text(usage.made_by[:160]) or str(NIL)
    return (
        f"<tr><td><a href={text(usage.file)}>{text(usage.label)}</a><td>{made_by}<td>{number(usage.headline)}{values}\n"
    )


def _usage_amount(value: float | None, spec: MetricSpec) -> str:
    return str(NIL) if value is None else amount(value, spec.unit).removesuffix(f" {spec.unit}")
