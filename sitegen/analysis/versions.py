"""The best version of an instruction file for each eval: the one that was in force when the eval was at its best."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sitegen.model.metrics import MetricSpec
from sitegen.model.series import Headline, Peak
from sitegen.model.timeline import Edit


class EvalPeak(NamedTuple):
    """The best output of an eval."""

    eval_id: str
    name: str
    spec: MetricSpec
    """Of the headline."""
    point: Headline
    peak: Peak


class BestVersion(NamedTuple):
    """The version of a file that was in force when an eval was at its best."""

    of: EvalPeak
    edit: int
    """Index of the edit that made the version."""


def best_versions(edits: Sequence[Edit], peaks: Iterable[EvalPeak]) -> tuple[BestVersion, ...]:
    """The best version for each eval whose best output was made after the file came to be, by the eval's name.

    Args:
        edits: of the file, oldest first.
        peaks: of the evals that it drives.

    """
    found = ((of, bisect_right(edits, of.peak.edit, key=_position) - 1) for of in peaks)
    best = [BestVersion(of, edit) for of, edit in found if edit >= 0]
    return tuple(sorted(best, key=lambda one: (one.of.name, one.of.eval_id)))


def _position(edit: Edit) -> int:
    return edit.commit.position
