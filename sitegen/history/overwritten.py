"""The series of an output that is overwritten from commit to commit: each version is an iteration."""

from __future__ import annotations

from sitegen.history.layout import OVERWRITTEN, first_blob, is_path, normal
from sitegen.history.series import mark_present, start_snapshots
from sitegen.history.state import EvalState, Unit
from sitegen.history.touch import InForce, Touch, View


def fold_overwritten(state: EvalState, touch: Touch, now: InForce) -> None:
    """Fold one commit into the series of versions. The same content elsewhere is no new version."""
    names = (normal(touch.entry.outputs),) if is_path(touch.entry.outputs) else OVERWRITTEN
    output = first_blob((f"{state.active}/{name}" for name in names), state.files)
    series = state.overwritten
    number = len(series.units)
    touched = []
    if output is None and number:
        mark_present(series, series.units[str(number)], False)
    elif output is not None and (state.output is None or state.output.oid != output.oid):
        number += 1
        series.units[str(number)] = Unit(number, f"{number:04d}")
        # Only the version that is there can still be scored.
        series.waiting.clear()
        touched = [str(number)]
    state.output = output
    view = View(f"iteration-{number:03d}", (output,) if output else ())
    start_snapshots(series, touch, now, touched, {str(number): view})
