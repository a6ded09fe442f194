"""The suspect labels of an eval, with the line of the ground truth that would have to change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from sitegen.analysis.attribution import under_rules_of
from sitegen.analysis.suspect_truth import suspect_truth
from sitegen.model.series import Series
from sitegen.model.suspect_truth import Correction, SuspectTruth
from sitegen.scoring.correction import corrected
from sitegen.scoring.kinds import scorer
from sitegen.stages.scoring import all_inputs
from sitegen.stages.workshop import Workshop

_Cell: TypeAlias = tuple[str, str, str, str]

LOCATED: Final = 25
"""Suspects whose line is looked for: each costs a few scorings."""


def suspects_of(shop: Workshop, series: Series, known: Iterable[SuspectTruth]) -> tuple[SuspectTruth, ...]:
    """The suspects at the newest point. ``known``: those of the last build; their lines are not looked for again."""
    newest = series.points[-1].snapshot if series.points else None
    truth = newest.ground_truth if newest else None
    if newest is None or truth is None:  # what a judge counted has no label
        return ()
    found = suspect_truth(series.cells, series.points)
    if shop.redact:  # a line of the file holds other fields as well
        return found
    lines: dict[_Cell, Correction | None] = {
        _cell(one): one.correction for one in known if one.correction and one.correction.oid == truth.oid
    }
    missing = [one for one in found[:LOCATED] if _cell(one) not in lines]
    snapshots = [under_rules_of(series.points[one.last].snapshot, newest) for one in missing]
    by = scorer(series.info.kind)
    for one, inputs in zip(missing, all_inputs(shop, snapshots), strict=True):
        line = corrected(by.score, inputs, one)
        lines[_cell(one)] = Correction(truth.path, truth.oid, *line) if line else None
    return tuple(one._replace(correction=lines.get(_cell(one))) for one in found)


def _cell(suspect: SuspectTruth) -> _Cell:
    return suspect.document, suspect.path, suspect.expected, suspect.actual
