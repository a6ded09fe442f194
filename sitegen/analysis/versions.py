"""Versions of an instruction file by what the evals made of them: association in time, not cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sitegen.model.metrics import MetricSpec
from sitegen.model.series import Effect


class BestVersion(NamedTuple):
    """The version of a file under which the headline of one eval was best."""

    eval_id: str
    name: str
    spec: MetricSpec | None
    """Of the headline; None: nobody said, it is F1."""
    edit: int
    """Index of the edit that made the version."""
    value: float
    now: float | None
    """What the newest version has; None if no output was made with it yet, or none that could be scored."""


def best_versions(effects: Sequence[Sequence[Effect]]) -> tuple[BestVersion, ...]:
    """The best version for each eval that was ever measured under one, by the eval's name.

    The value of a version is that of the last point after its edit and before the next edit of any file that drives the
    eval. Of equal ones the newest is the best.

    Args:
        effects: of each edit of the file, oldest first.

    """
    best: dict[str, BestVersion] = {}
    for index, edit in enumerate(effects):
        for effect in edit:
            value = effect.after.values[0] if effect.after else None
            if value is None:
                continue
            spec = effect.specs[0] if effect.specs else None
            sign = 1 if spec is None or spec.higher_is_better else -1
            known = best.get(effect.eval_id)
            if known is None or sign * value >= sign * known.value:
                best[effect.eval_id] = BestVersion(effect.eval_id, effect.name, spec, index, value, None)
    newest = {effect.eval_id: effect.after.values[0] for effect in effects[-1] if effect.after} if effects else {}
    found = (one._replace(now=newest.get(one.eval_id)) for one in best.values())
    return tuple(sorted(found, key=lambda one: (one.name, one.eval_id)))
