"""``build --pin REV``: all history scored by the ground truth and the rules of one revision."""

from __future__ import annotations

from collections.abc import Mapping

from sitegen.history.fold_state import CopiedParts, EvalInputs, FoldStore, PartStore
from sitegen.model.timeline import EvalHistory
from sitegen.stages.timeline import Timeline, fold


def pins_of(timeline: Timeline, parts: PartStore) -> dict[str, EvalInputs]:
    """What each eval was scored by at the pinned revision, by id; empty if none is pinned.

    History is folded up to there on a copy of the parts, which stay those of the head.
    """
    project = timeline.project
    if project.pin is None:
        return {}
    copy = CopiedParts(parts)
    fold(project._replace(head=project.pin, options=project.options._replace(worktree=False)), copy)
    known = ((state.id, state.inputs) for state in FoldStore(copy).evals())
    return {eval_id: inputs for eval_id, inputs in known if inputs is not None and inputs.ground_truth is not None}


def under_pins(history: EvalHistory, pins: Mapping[str, EvalInputs]) -> EvalHistory:
    """Every snapshot under the pinned inputs of its eval; as it is if the eval had no ground truth there."""
    names = (history.id, *reversed(history.renamed_from))
    inputs = next((pins[name] for name in names if name in pins), None)
    if inputs is None:
        return history
    return history._replace(
        snapshots=tuple(
            snapshot._replace(
                ground_truth=inputs.ground_truth,
                mapping=inputs.mapping,
                schema=inputs.schema,
                settings=inputs.settings,
            )
            for snapshot in history.snapshots
        )
    )
