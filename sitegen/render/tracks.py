"""Small lines that share one axis: a number after each edit of a file, one track below the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class TrackShape(NamedTuple):
    """A track in data coordinates: x is the index of the value, y runs from 0 (the highest value) to 100."""

    size: int
    """Values along the axis."""
    line: str
    dots: str
    """The values one by one; empty if the line holds each until the next."""


def track(values: Sequence[float | None], *, held: bool = False) -> TrackShape:
    """The line of a track over its own range. Between two known values it is straight, whatever is unknown between.

    With ``held`` a value lasts until the next, as the size of a file does.
    """
    known = [(index, value) for index, value in enumerate(values) if value is not None]
    if not known:
        return TrackShape(len(values), "", "")
    low, high = min(value for _, value in known), max(value for _, value in known)
    span = high - low
    places = [(index, round(100 * (high - value) / span, 1) if span else 50.0) for index, value in known]
    if held:
        steps = "".join(f"H{index}V{down:g}" for index, down in places[1:])
        return TrackShape(len(values), f"M{places[0][0]} {places[0][1]:g}{steps}h0.5", "")
    line = "M" + "L".join(f"{index} {down:g}" for index, down in places) if len(places) > 1 else ""
    return TrackShape(len(values), line, "".join(f"M{index} {down:g}h0" for index, down in places))
