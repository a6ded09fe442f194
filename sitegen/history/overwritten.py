"""The series of an output that is overwritten from commit to commit: each version is an iteration."""

from __future__ import annotations

from sitegen.config import files_of
from sitegen.history.layout import first_blob, is_path, normal, outputs_in
from sitegen.history.series import mark_present, start_snapshots
from sitegen.history.snapshots import same_contents
from sitegen.history.state import EvalState, Unit
from sitegen.history.touch import EvalCommit, InForce, View
from sitegen.history.two_sides import told_apart
from sitegen.model.timeline import Blob


def fold_overwritten(state: EvalState, touch: EvalCommit, now: InForce) -> None:
    """Fold one commit into the series of versions. The same content elsewhere is no new version."""
    view = _view(state, touch, now)
    outputs = view.outputs
    if not all(map(touch.belongs, outputs)):
        outputs = state.output  # a version of another eval: this one stays what it was
    series = state.overwritten
    number = len(series.units)
    touched = []
    if not outputs and number:
        mark_present(series, series.units[str(number)], False)
    elif outputs and not same_contents(state.output, outputs):
        number += 1
        series.units[str(number)] = Unit(number, f"{number:04d}")
        # Only the version that is there can still be scored.
        series.waiting.clear()
        touched = [str(number)]
    state.output = outputs
    start_snapshots(series, touch, now, touched, {str(number): view._replace(label=f"iteration-{number:03d}")})


def _view(state: EvalState, touch: EvalCommit, now: InForce) -> View:
    """The output as the commit leaves it, not named yet."""
    return told_apart(View("", _outputs(state, touch, now)), state, touch, now)


def _outputs(state: EvalState, touch: EvalCommit, now: InForce) -> tuple[Blob, ...]:
    if is_path(touch.entry.outputs):
        return outputs_in(state.active or "", (normal(touch.entry.outputs),), state.files)
    files = files_of(now.kind)
    variants = f"(?:results/)?(?:{files.variants})" if files.variants else ""
    log = first_blob((*(f"{state.active}/{path}" for path in files.elsewhere), *files.at_root), state.files)
    return (log,) if log else outputs_in(state.active or "", files.overwritten, state.files, variants)
