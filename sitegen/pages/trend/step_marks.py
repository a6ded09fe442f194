"""The steps of an eval as marks of its chart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sitegen.frozen import Frozen
from sitegen.html.charts import (
    percent,
)
from sitegen.model.regressions import Step
from sitegen.pages.change_text import own_unit
from sitegen.pages.trend.page import TrendView

_STEPS: Final = {"fell": "worse", "open": "worse", "fixed": "worse", "better": "better", "new": "new", "blip": "blip"}


_STEP_NAMES: Final = {
    "fell": "worse than the output before",
    "open": "regression",
    "fixed": "regression, fixed since",
    "better": "better",
    "new": "lower, too new to tell from noise",
    "blip": "bad run",
}


class StepMark(Frozen):
    """The mark of a step."""

    place: float
    """Place in data coordinates: between the last point at the old level and the first point at the new level."""
    at: str
    """The place in percent."""
    tone: str
    """``worse``, ``better`` or ``blip``."""
    text: str
    """``regression: F1 −0.026 at iteration-019``."""


MARKED: Final = 100
"""Largest number of marked steps: the newest ones; all steps are on the page of steps."""


def step_marks(view: TrendView) -> Iterator[StepMark]:
    """The marks of the newest steps, oldest first."""
    for step in [step for step in view.steps if step.status in _STEPS][-MARKED:]:
        place = step.at if step.status == "blip" else step.at - 0.5
        yield StepMark(
            place=place,
            at=percent(place + 0.5, len(view.points)),
            tone=_STEPS[step.status],
            text=_step_title(step, view),
        )


def _step_title(step: Step, view: TrendView) -> str:
    moved = step.metrics[0]
    spec = next(spec for spec in view.specs if spec.name == moved.name)
    change = own_unit(moved.after - moved.before, spec)
    return f"{_STEP_NAMES[step.status]}: {spec.label} {change} at {view.points[step.at].label}"
