"""The suspect labels of an eval, with the line of the ground truth that would have to change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from sitegen.analysis.attribution import under_rules_of
from sitegen.analysis.suspect_truth import suspect_truth
from sitegen.model.series import Series
from sitegen.model.suspect_truth import Correction, SuspectTruth
from sitegen.model.timeline import Snapshot
from sitegen.render.writer import digest
from sitegen.scoring.kinds import scorer
from sitegen.scoring.truth_correction import corrected_line
from sitegen.stages.scoring import all_inputs
from sitegen.stages.worker_context import Workshop

LOCATED: Final = 25
"""Suspects whose line is looked for: each costs a few scorings."""


def suspects_of(
    shop: Workshop, series: Series, known: Iterable[SuspectTruth], key: Callable[[Snapshot], str]
) -> tuple[SuspectTruth, ...]:
    """The suspects at the newest point.

    Args:
        shop: the workshop.
        series: of the eval.
        known: the suspects of the last build. The line of one is not looked for again where everything that decides
            the answer is the same.
        key: the digest of everything that decides a scorecard.

    """
    newest = series.points[-1].snapshot if series.points else None
    truth = newest.ground_truth if newest else None
    if newest is None or truth is None:  # what a judge counted has no label
        return ()
    found = suspect_truth(series.cells, series.points)
    if shop.redact:  # a line of the file holds other fields as well
        return found
    corrections = {one.looked_in: one.correction for one in known if one.looked_in}
    snapshots = [under_rules_of(series.points[one.first].snapshot, newest) for one in found[:LOCATED]]
    located = [
        one._replace(
            looked_in=digest(key(snapshot), repr((truth.path, one.document, one.path, one.expected, one.actual)))
        )
        for one, snapshot in zip(found, snapshots, strict=False)
    ]
    missing = [index for index, one in enumerate(located) if one.looked_in not in corrections]
    by = scorer(series.info.kind)
    for index, inputs in zip(missing, all_inputs(shop, [snapshots[index] for index in missing]), strict=True):
        line = corrected_line(by.score, inputs, located[index])
        corrections[located[index].looked_in] = Correction(truth.path, truth.oid, *line) if line else None
    return (*(one._replace(correction=corrections[one.looked_in]) for one in located), *found[LOCATED:])
