"""Effects of instruction edits: every eval before an edit, and until the next one. Association in time, not cause.

A *window* is the points of one eval whose outputs one edit made (``analysis/edits.py``); an *effect* is that eval
before and after the edit, for the pages; a *peak* is its best output, and the *best version* of a file the one that was
in force then.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import NamedTuple

from sitegen.analysis.deltas import exchanges
from sitegen.analysis.edits import BEFORE_ANY
from sitegen.analysis.noise.intervals import interval_of
from sitegen.model.deltas import Delta
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import Effect, EvalSummary, Headline, Peak, Point, Window
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


def windows(points: Sequence[Point], made_by: Sequence[int]) -> tuple[Window, ...]:
    """The windows of an eval, by edit: each with its last output, and the last point before that of an earlier edit.

    Args:
        points: of the eval, with what changed since the one before.
        made_by: position of the edit that made the output of each, as ``OutputEdits`` has it.

    """
    last = {
        position: index
        for index, (point, position) in enumerate(zip(points, made_by, strict=True))
        if position != BEFORE_ANY and "outputs" in point.snapshot.cause
    }
    newest: dict[int, int] = {}
    positions: list[int] = []
    found = []
    for index, position in enumerate(made_by):
        if position not in newest:
            insort(positions, position)
        newest[position] = index
        if last.get(position) == index:
            earlier = bisect_left(positions, position)
            before = newest[positions[earlier - 1]] if earlier else None
            deltas = [] if before is None else [point.delta for point in points[before + 1 : index + 1]]
            model, judge = (
                (None, None) if before is None else exchanges(points[before].scorecard, points[index].scorecard)
            )
            found.append(
                Window(
                    edit=position,
                    before=before,
                    after=index,
                    by_rules=_by_rules(deltas),
                    comparable=_comparable(deltas),
                    model=model,
                    judge=judge,
                )
            )
    return tuple(sorted(found))


def peak(points: Sequence[Point], made_by: Sequence[int], spec: MetricSpec, kind: str, since: int = 0) -> Peak | None:
    """The best output by the newest ground truth and rules; None if none has a headline.

    ``since``: index of the first point whose headline no other judge gave than that of the newest.
    """
    best: Peak | None = None
    sign = 1 if spec.higher_is_better else -1
    for index, (point, edit) in enumerate(zip(points, made_by, strict=True)):
        counts = index >= since and "outputs" in point.snapshot.cause
        value = (point.now or point.scorecard).metric(spec.name) if counts else None
        if value is not None and (best is None or sign * value >= sign * best.value):
            best = Peak(index, value, edit)
    if best is None:
        return None
    point = points[best.at]
    return best._replace(interval=interval_of(point.now or point.scorecard, kind, spec.name))


def _by_rules(deltas: Iterable[Delta | None]) -> float | None:
    total = 0.0
    for delta in deltas:
        parts = delta.metrics[0].parts if delta and delta.metrics else None
        if parts is None:
            return None
        total += parts.ground_truth + parts.rules
    return total


def _comparable(deltas: Iterable[Delta | None]) -> bool:
    return all(delta is not None and delta.overlap.verdict == "comparable" for delta in deltas)


class EffectIndex:
    """Finds the effects of an edit in time that grows with what the edit touched, not with history."""

    def __init__(self, summaries: Iterable[EvalSummary], driven_by: Mapping[str, frozenset[str]]) -> None:
        """``driven_by``: for evals that only some files drive, the paths of those; every file drives the others."""
        self._driven_by = driven_by
        self._summaries = {summary.info.id: summary for summary in summaries}
        self._at: dict[int, list[tuple[EvalSummary, Window]]] = {}
        for summary in self._summaries.values():
            for window in summary.windows:
                self._at.setdefault(window.edit, []).append((summary, window))

    def around(self, position: int, path: str | None = None) -> tuple[Effect, ...]:
        """What became of each eval around the edit at a commit's position, in the order of the evals.

        Only evals with output made between this edit and the next, the others have nothing to say about this one; with
        ``path``, only those that this file drives.
        """
        return tuple(
            _effect(summary, window)
            for summary, window in self._at.get(position, ())
            if path is None or self.drives(path, summary.info.id)
        )

    def drives(self, path: str, eval_id: str) -> bool:
        """Whether the file is one of those that drive the eval."""
        return path in self._driven_by.get(eval_id, (path,))

    def peaks(self, path: str) -> tuple[EvalPeak, ...]:
        """The best output of each eval that the file drives, in the order of the evals."""
        return tuple(
            EvalPeak(
                eval_id=summary.info.id,
                name=summary.info.name,
                spec=summary.specs[0],
                point=summary.headlines[summary.peak.at],
                peak=summary.peak,
            )
            for summary in self._summaries.values()
            if summary.peak and self.drives(path, summary.info.id)
        )

    def edits_measured_from(self, eval_id: str, first: int) -> Iterator[int]:
        """Positions of the edits whose effect on an eval is decided by its points from the index ``first`` on."""
        summary = self._summaries.get(eval_id)
        return (window.edit for window in (summary.windows if summary else ()) if window.after >= first)

    def positions(self) -> tuple[int, ...]:
        """Positions of all edits that any point is attributed to, ascending."""
        return tuple(sorted(self._at))


def _effect(summary: EvalSummary, window: Window) -> Effect:
    before = None if window.before is None else summary.headlines[window.before]
    return Effect(
        eval_id=summary.info.id,
        name=summary.info.name,
        before=before,
        after=summary.headlines[window.after],
        specs=summary.specs,
        by_rules=window.by_rules,
        comparable=window.comparable,
        model=window.model,
        judge=window.judge,
    )


def mean_change(effects: Iterable[Effect]) -> float | None:
    """The mean change of the headline that outputs made, over the evals where it is defined; None if it is nowhere.

    Each in the direction in which it is better, and as a share of its metric's range. Numbers that were only recorded
    count where there are no others.
    """
    known = tuple(effects)
    computed = [effect for effect in known if not effect.specs or not effect.specs[0].recorded]
    changes = [
        _toward_better(effect, change) for effect in computed or known if (change := effect.by_outputs) is not None
    ]
    return fsum(changes) / len(changes) if changes else None


def _toward_better(effect: Effect, change: float) -> float:
    if not effect.specs:
        return change
    spec = effect.specs[0]
    return change / (spec.high - spec.low) * (1 if spec.higher_is_better else -1)


def best_versions(edits: Sequence[Edit], peaks: Iterable[EvalPeak]) -> tuple[BestVersion, ...]:
    """The best version for each eval whose best output was made after the file came to be, by the eval's name.

    Args:
        edits: of the file, oldest first.
        peaks: of the evals that it drives.

    """
    found = ((of, bisect_right(edits, of.peak.edit, key=_commit_position) - 1) for of in peaks)
    best = [BestVersion(of, edit) for of, edit in found if edit >= 0]
    return tuple(sorted(best, key=lambda one: (one.of.name, one.of.eval_id)))


def _commit_position(edit: Edit) -> int:
    return edit.commit.position
