"""How points changed evals: across each commit that added points, and across each edit that they are attributed to."""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import TypeAlias, get_args

from msgspec.structs import replace

from sitegen.analysis.deltas import mixtures
from sitegen.analysis.edits import OutputEdits, other_edit
from sitegen.engine.cached_kinds import decode, encode
from sitegen.model.changes import Change
from sitegen.model.series import EvalSummary, Series
from sitegen.model.timeline import Cause, CommitRecord, EvalHistory, Snapshot
from sitegen.pages.commit import EXPECTED, CommitEffect, EvalMove, ExpectedChange, commit_effect, earlier_edits
from sitegen.pages.effects import Touched
from sitegen.text.values import written

EncodedEffects: TypeAlias = Mapping[str, bytes]
"""The effects of commits on one eval by the id of the commit, as compressed JSON: as values, those of 2,000 commits
took 270 MB."""


def mixtures_of_commits(snapshots: Sequence[Snapshot], first_new: int = 0) -> Iterator[Snapshot]:
    """Yield the mixtures that comparisons across commits with several points need, except mixtures of neighbours."""
    for before, after in spans_of_commits(snapshots, first_new):
        if after - before > 1:
            yield from mixtures(snapshots[before], snapshots[after])


def spans_of_commits(snapshots: Sequence[Snapshot], first_new: int) -> Iterator[tuple[int, int]]:
    """For each commit, the indices of the last point before it and of its own last point."""
    for _, points in groupby(range(len(snapshots)), key=lambda index: snapshots[index].commit.position):
        first, *rest = points
        last = rest[-1] if rest else first
        if first and last >= first_new:
            yield first - 1, last


def effects_of_commits(
    series: Series, edits: OutputEdits, first_new: int, changes: Mapping[tuple[int, int], Change]
) -> EncodedEffects:
    """Return the effect of each commit with new points, except that of a commit without an earlier point.

    ``changes``: of each of ``spans_of_commits``.
    """
    effects = {}
    for before, after in spans_of_commits(series.history.snapshots, first_new):
        earlier, later = series.points[before], series.points[after]
        sha = later.snapshot.commit.sha
        other_edits = earlier_edits(chain.from_iterable(edits.beside[before + 1 : after + 1]), sha)
        effect = commit_effect(series, earlier, later, changes[before, after])
        other = other_edit(edits.made_with[after])
        effect = replace(
            effect,
            edits=other_edits,
            or_edit=other.short if other else "",
            expected=tuple(islice(_expected(series, before, after), EXPECTED)),
        )
        effects[sha] = zlib.compress(encode(effect), 1)
    return effects


def _expected(series: Series, before: int, after: int) -> Iterator[ExpectedChange]:
    """The expected values that changes of the ground truth changed between two points."""
    if any("ground_truth" in snapshot.cause for snapshot in series.history.snapshots[before + 1 : after + 1]):
        for cell in series.cells.cells:
            sides = cell.at(before), cell.at(after)
            old, new = ("" if side is None else side.expected for side in sides)
            if old != new:
                yield cell.document, cell.attribute, cell.label, written(old) or "", written(new) or ""


def names_of_evals(changed: Sequence[Touched], summaries: dict[str, EvalSummary], position: int) -> dict[str, str]:
    """Return the names of touched evals that had a page when the commit was the newest: later evals change nothing."""
    names = {}
    for item in changed:
        summary = summaries.get(item.eval_id)
        if summary and (
            item.role == "ground_truth" or (summary.headlines and summary.headlines[0].commit_position <= position)
        ):
            names[item.eval_id] = summary.info.name
    return names


def moves_of_commit(
    record: CommitRecord,
    summaries: dict[str, EvalSummary],
    histories: dict[str, EvalHistory],
    effects: Mapping[str, EncodedEffects],
) -> tuple[EvalMove, ...]:
    """Return the change of each eval that has points of the commit, except evals that sitegen failed to make.

    ``effects``: ``effects_of_commits`` of each eval, by its id.
    """
    moves = []
    for eval_id in sorted({eval_id for eval_id, _ in record.snapshots} & summaries.keys()):
        summary = summaries[eval_id]
        start = bisect_left(summary.headlines, record.commit.position, key=attrgetter("commit_position"))
        end = bisect_right(summary.headlines, record.commit.position, key=attrgetter("commit_position"))
        effect = effects.get(eval_id, {}).get(record.commit.sha)
        causes = {cause for snapshot in histories[eval_id].snapshots[start:end] for cause in snapshot.cause}
        moves.append(
            EvalMove(
                info=summary.info,
                specs=summary.specs,
                before=summary.headlines[start - 1] if start else None,
                points=summary.headlines[start:end],
                causes=tuple(cause for cause in get_args(Cause) if cause in causes),
                effect=None if effect is None else decode(zlib.decompress(effect), CommitEffect),
                originals=tuple(
                    None if point.first_with_output is None else summary.headlines[point.first_with_output].label
                    for point in summary.headlines[start:end]
                ),
            )
        )
    return tuple(moves)
