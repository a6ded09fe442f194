"""Effects of instruction edits: every eval before an edit, and until the next one. Association in time, not cause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import fsum

from sitegen.analysis.versions import EvalPeak
from sitegen.model.series import Effect, EvalSummary, Window


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
                summary.info.id,
                summary.info.name,
                summary.specs[0],
                summary.headlines[summary.peak.at],
                summary.peak,
            )
            for summary in self._summaries.values()
            if summary.peak and self.drives(path, summary.info.id)
        )

    def spoken_for(self, eval_id: str, first: int) -> Iterator[int]:
        """Positions of the edits whose effect on an eval is decided by its points from the index ``first`` on."""
        summary = self._summaries.get(eval_id)
        return (window.edit for window in (summary.windows if summary else ()) if window.after >= first)

    def positions(self) -> tuple[int, ...]:
        """Positions of all edits that any point speaks for, ascending."""
        return tuple(sorted(self._at))


def _effect(summary: EvalSummary, window: Window) -> Effect:
    before = None if window.before is None else summary.headlines[window.before]
    return Effect(
        summary.info.id,
        summary.info.name,
        before,
        summary.headlines[window.after],
        summary.specs,
        window.by_rules,
        window.comparable,
        window.model,
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
