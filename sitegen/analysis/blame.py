"""Blame: for each cell when it was right and wrong, and which point flipped it, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from sitegen.analysis.cells import fate_of, held_documents, spans
from sitegen.analysis.deltas import ROLES, Role, differing_roles
from sitegen.model.cells import Cell, CellMap, Fate, Run
from sitegen.model.timeline import Snapshot
from sitegen.model.values import REDACTED

FLIPS: Final[tuple[Fate, ...]] = ("fixed", "broken")
"""From wrong to right, and from right to wrong. What only appears or vanishes did not flip."""


class ExplainedRun(NamedTuple):
    """Consecutive points at which nothing about a cell changed, and what began them."""

    run: Run
    end: int
    """Index of the point after the last."""
    fate: Fate | None
    """What became of the cell at the first of them; None if it was right before and after, or is judged first."""
    causes: tuple[Role, ...]
    """Which of the roles that changed at that point changed the cell; empty for the first stretch."""

    @property
    def points(self) -> int:
        """How many points it lasts."""
        return self.end - self.run.start

    @property
    def is_flip(self) -> bool:
        """Whether it began with a flip."""
        return self.fate in FLIPS


class CellBlame(NamedTuple):
    """The whole history of one cell."""

    cell: Cell
    stretches: tuple[ExplainedRun, ...]
    """Oldest first; never empty."""
    wrong_since: int | None
    """The first point of the streak of errors that lasts to the newest point; None if it is not wrong there."""

    @property
    def ever_wrong(self) -> bool:
        """Whether it was an error at any point."""
        return any(stretch.run.is_wrong for stretch in self.stretches)

    @property
    def flips(self) -> int:
        """How often it went from wrong to right or back."""
        return sum(stretch.is_flip for stretch in self.stretches)

    @property
    def judged(self) -> int:
        """Points that judged it."""
        return sum(stretch.points for stretch in self.stretches if stretch.run.state != "absent")

    @property
    def wrong(self) -> int:
        """Points at which it was an error."""
        return sum(stretch.points for stretch in self.stretches if stretch.run.is_wrong)


class ChangePoint(NamedTuple):
    """A point at which something about the cells of an attribute changed."""

    point: int
    fates: tuple[tuple[Fate, int], ...]
    """How many cells shared which fate, of those for which something changed."""
    causes: tuple[tuple[Role, int], ...]
    """How many of these cells it changed; most first. A cell that two of them changed counts for both."""
    wrong: int
    judged: int
    """Cells, from this point until the next turn."""

    def number(self, fate: Fate) -> int:
        """How many cells."""
        return dict(self.fates).get(fate, 0)


class Blame:
    """Follows cells back to what changed them; what several cells need is looked up once."""

    def __init__(self, cells: CellMap, snapshots: Sequence[Snapshot]) -> None:
        """``snapshots``: at least those that the cells were followed through."""
        self._points = cells.points
        self._snapshots = snapshots
        self._held = held_documents(cells)
        self._changed: dict[int, tuple[Role, ...]] = {}

    def of(self, cell: Cell, points: int | None = None) -> CellBlame:
        """The history of a cell of the map, through its first ``points``; default: all of them."""
        points = points or self._points
        stretches = []
        before: Run | None = None
        held = self._held[cell.document]
        for run, end in spans(cell, points):
            start = run.start
            if start:
                fate = fate_of(before, run, bool(held[start - 1] and held[start]))
                stretches.append(ExplainedRun(run=run, end=end, fate=fate, causes=self._causes(before, run)))
            else:
                stretches.append(ExplainedRun(run=run, end=end, fate=None, causes=()))
            before = run
        return CellBlame(cell, tuple(stretches), cell.wrong_since(points - 1))

    def _causes(self, before: Run | None, run: Run) -> tuple[Role, ...]:
        """The one role that changed at the point; of several those whose side of the cell did, else all of them.

        All of them too where the values are redacted: whether they changed cannot be told any more.
        """
        start = run.start
        changed = self._changed.get(start)
        if changed is None:
            changed = self._changed[start] = differing_roles(self._snapshots[start - 1], self._snapshots[start])
        if len(changed) < 2:
            return changed
        expected, actual = (before.expected, before.actual) if before else ("", "")
        if REDACTED.literal in {expected, actual, run.expected, run.actual}:
            return changed
        sides = {"outputs": actual != run.actual, "ground_truth": expected != run.expected}
        found = tuple(role for role in changed if sides.get(role))
        if found:
            return found
        return ("rules",) if "rules" in changed else changed


def by_attribute(cells: CellMap) -> dict[str, list[Cell]]:
    """The cells of each attribute that was ever judged, in the order of the map. A cell that moved is in several."""
    found: dict[str, list[Cell]] = {}
    for cell in cells.cells:
        for attribute in (cell.attribute, *cell.earlier_attributes):
            found.setdefault(attribute, []).append(cell)
    return found


def change_points(cells: Iterable[CellBlame], points: int) -> tuple[ChangePoint, ...]:
    """Every point at which one of the cells changed, oldest first."""
    fates: dict[int, Counter[Fate]] = {}
    causes: dict[int, Counter[Role]] = {}
    wrong, judged = [0] * (points + 1), [0] * (points + 1)
    for cell in cells:
        for stretch in cell.stretches:
            start = stretch.run.start
            here, why = fates.setdefault(start, Counter()), causes.setdefault(start, Counter())
            if stretch.fate:
                here[stretch.fate] += 1
                why.update(stretch.causes)
            for totals, counts in ((wrong, stretch.run.is_wrong), (judged, stretch.run.state != "absent")):
                totals[start] += counts
                totals[stretch.end] -= counts
    found = []
    number_wrong = number_judged = 0
    for point in range(points):
        number_wrong, number_judged = number_wrong + wrong[point], number_judged + judged[point]
        if point in fates:
            why = causes[point]
            order = sorted(why.items(), key=lambda item: (-item[1], ROLES.index(item[0])))
            found.append(
                ChangePoint(
                    point=point,
                    fates=tuple(sorted(fates[point].items())),
                    causes=tuple(order),
                    wrong=number_wrong,
                    judged=number_judged,
                )
            )
    return tuple(found)


def worst_first(cells: Iterable[CellBlame]) -> list[CellBlame]:
    """Cells that are wrong now, those that flip most often first; then the others, likewise."""
    return sorted(cells, key=lambda one: (one.wrong_since is None, -one.flips, -one.wrong))
