"""Effects of instruction edits: every eval before an edit, and until the next one. Association in time, not cause."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from sitegen.model.series import Effect, EvalSummary
from sitegen.model.timeline import InstructionHistory


class Drivers:
    """Which commits edited the instructions that drive an eval."""

    def __init__(self, instructions: Iterable[InstructionHistory], driven_by: dict[str, frozenset[str]]) -> None:
        """``driven_by``: for evals that only some files drive, the paths of those; every file drives the others."""
        files = tuple(instructions)
        self._driven_by = driven_by
        self._all = _positions(files)
        self._some = {
            eval_id: _positions(file for file in files if file.path in paths) for eval_id, paths in driven_by.items()
        }

    def drives(self, path: str, eval_id: str) -> bool:
        """Whether the file is one of those that drive the eval."""
        return eval_id not in self._driven_by or path in self._driven_by[eval_id]

    def of(self, eval_id: str) -> Sequence[int]:
        """Positions of the commits, ascending."""
        return self._some.get(eval_id, self._all)


class EffectIndex:
    """Finds the effects of an edit in time that grows with what the edit touched, not with history."""

    def __init__(self, summaries: Iterable[EvalSummary], drivers: Drivers) -> None:
        self._drivers = drivers
        self._evals = tuple(
            (summary, drivers.of(summary.info.id), [headline.commit_position for headline in summary.headlines])
            for summary in summaries
        )
        self._at: dict[int, list[int]] = {}
        for index, (_, driving, positions) in enumerate(self._evals):
            for position in positions:
                here = bisect_right(driving, position)
                if here:
                    known = self._at.setdefault(driving[here - 1], [])
                    if not known or known[-1] != index:
                        known.append(index)

    def around(self, position: int, path: str | None = None) -> tuple[Effect, ...]:
        """What became of each eval around the edit at a commit's position, in the order of the evals.

        Only evals that were run before the next edit, the others have nothing to say about this one; with ``path``,
        only those that this file drives.
        """
        return tuple(
            self._effect(index, position)
            for index in self._at.get(position, ())
            if path is None or self._drivers.drives(path, self._evals[index][0].info.id)
        )

    def edit_of(self, eval_id: str, position: int) -> int | None:
        """Position of the edit that a point of an eval at a position speaks for; None if there was none yet."""
        driving = self._drivers.of(eval_id)
        here = bisect_right(driving, position)
        return driving[here - 1] if here else None

    def positions(self) -> tuple[int, ...]:
        """Positions of all edits that any point speaks for, ascending."""
        return tuple(sorted(self._at))

    def _effect(self, index: int, position: int) -> Effect:
        summary, driving, positions = self._evals[index]
        following = bisect_right(driving, position)
        end = bisect_left(positions, driving[following]) if following < len(driving) else len(positions)
        start = bisect_left(positions, position)
        before = summary.headlines[start - 1] if start else None
        return Effect(summary.info.id, summary.info.name, before, summary.headlines[end - 1], summary.specs)


def mean_change(effects: Iterable[Effect]) -> float | None:
    """The mean change of the headline over the evals where it is defined on both sides; None if it is nowhere."""
    changes = [effect.change for effect in effects if effect.change is not None]
    return sum(changes) / len(changes) if changes else None


def _positions(files: Iterable[InstructionHistory]) -> tuple[int, ...]:
    return tuple(sorted({edit.commit.position for file in files for edit in file.edits}))
