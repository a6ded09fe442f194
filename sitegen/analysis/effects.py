"""Effects of instruction edits: every eval before an edit, and until the next one. Association in time, not cause."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from sitegen.model.series import Effect, EvalSummary
from sitegen.model.timeline import InstructionHistory


class Drivers:
    """Which commits edited the instructions that drive an eval."""

    def __init__(self, instructions: Iterable[InstructionHistory], globs: dict[str, frozenset[str]]) -> None:
        """``globs``: for evals that are driven by some files only, the paths of those; all others by every file."""
        files = tuple(instructions)
        self._all = _positions(files)
        self._some = {
            eval_id: _positions(tuple(file for file in files if file.path in paths)) for eval_id, paths in globs.items()
        }

    def of(self, eval_id: str) -> Sequence[int]:
        """Positions of the commits, ascending."""
        return self._some.get(eval_id, self._all)


def effects(position: int, summaries: Iterable[EvalSummary], drivers: Drivers) -> tuple[Effect, ...]:
    """What became of each eval around the edit at a commit's position; evals without any point on either side left out.

    Evals that the edited file does not drive are left out too.
    """
    found = []
    for summary in summaries:
        driving = drivers.of(summary.info.id)
        here = bisect_left(driving, position)
        if here == len(driving) or driving[here] != position:
            continue
        positions = [headline.commit_position for headline in summary.headlines]
        start = bisect_left(positions, position)
        end = bisect_left(positions, driving[here + 1]) if here + 1 < len(driving) else len(positions)
        before = summary.headlines[start - 1] if start else None
        after = summary.headlines[end - 1] if end > start else None
        if before or after:
            found.append(Effect(summary.info.id, summary.info.name, before, after))
    return tuple(found)


def edit_before(position: int, driving: Sequence[int]) -> int | None:
    """Position of the edit whose effect a point at this position belongs to; None if there was none yet."""
    here = bisect_right(driving, position)
    return driving[here - 1] if here else None


def _positions(files: Iterable[InstructionHistory]) -> tuple[int, ...]:
    return tuple(sorted({edit.commit.position for file in files for edit in file.edits}))
