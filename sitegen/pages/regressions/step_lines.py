"""The small charts of the regressions page: values around a step with both levels, and values with the best so far."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from sitegen.frozen import Frozen
from sitegen.html.charts import tenths

WIDTH: Final = 150
HEIGHT: Final = 34
PAD: Final = 3
REACH: Final = 8
"""Number of points over which a level is drawn, on its side of the step."""


class StepLine(Frozen):
    """Paths of the chart of a step."""

    values: str
    before: str
    after: str
    mark: float
    """The x coordinate of the step, between its two points."""


class ChampionLine(Frozen):
    """Paths of the chart of a champion."""

    values: str
    best: str


class _Scale(Frozen):
    size: int
    low: float
    span: float

    def x(self, index: float) -> str:
        return f"{self.across(index):g}"

    def across(self, index: float) -> float:
        return round(PAD + (WIDTH - 2 * PAD) * index / max(1, self.size - 1), 1)

    def y(self, value: float) -> str:
        return tenths(PAD + (HEIGHT - 2 * PAD) * (1 - (value - self.low) / self.span))


def step_line(
    values: Sequence[float | None], mark: int, before: float, after: float, until: int | None = None
) -> StepLine:
    """Values around a step: at the new level from index ``mark`` on, until before index ``until``."""
    scale = _step_scale(values, before, after)
    ends = scale.x(max(0, mark - REACH)), scale.x(max(0.0, mark - 0.5))
    end = len(values) - 1 if until is None else until - 0.5
    more = scale.x(mark - 0.5), scale.x(min(end, mark + REACH))
    return StepLine(
        values=_step_path(values, scale),
        before=f"M{ends[0]} {scale.y(before)}H{ends[1]}",
        after=f"M{more[0]} {scale.y(after)}H{more[1]}",
        mark=scale.across(mark - 0.5),
    )


def champion_line(values: Sequence[float | None], best: Sequence[float | None]) -> ChampionLine:
    """Values, and the best so far as a staircase."""
    scale = replace(_step_scale((*values, *best)), size=len(values))
    stairs, level = "", None
    for index, value in enumerate(best):
        if value is not None and value != level:
            stairs += f"M{scale.x(index)} {scale.y(value)}" if level is None else f"H{scale.x(index)}V{scale.y(value)}"
            level = value
    if level is not None:
        stairs += f"H{scale.x(len(best) - 1)}"
    return ChampionLine(values=_step_path(values, scale), best=stairs)


def _step_scale(values: Sequence[float | None], *levels: float) -> _Scale:
    defined = [value for value in (*values, *levels) if value is not None]
    return _Scale(len(values), min(defined), (max(defined) - min(defined)) or 1.0)


@lru_cache(maxsize=64)  # the charts of an eval have as many values
def _step_columns(size: int) -> tuple[str, ...]:
    """The x coordinates of the values."""
    return tuple(map(_Scale(size, 0.0, 1.0).x, range(size)))


def _step_path(values: Sequence[float | None], scale: _Scale) -> str:
    """The line through the defined values, with a gap at each undefined one."""
    path, joined = [], False
    # Not ``scale.y``: for the several thousand values of the page, this call took half of the time.
    low, span = scale.low, scale.span
    for x, value in zip(_step_columns(scale.size), values, strict=True):
        if value is not None:
            y = tenths(PAD + (HEIGHT - 2 * PAD) * (1 - (value - low) / span))
            path.append(f"{'L' if joined else 'M'}{x} {y}")
        joined = value is not None
    return "".join(path)
