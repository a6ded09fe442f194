"""Blame: when each cell was right or wrong, which points flipped it, and which role caused the flip.

Also sums up the history of each field: its trend, the edits that changed it, the values that keep failing.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nsmallest
from itertools import accumulate
from typing import Final

from sitegen.analysis.flips import fate_of
from sitegen.analysis.series import first_points_with_output, output_of_each
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import ABSENT, REDACTED, Cell, CellKey, CellMap, Fate, Period
from sitegen.model.scorecards import Result
from sitegen.model.series import FailingValue, FieldSummary, Series
from sitegen.model.timeline import ROLES, Role, Snapshot
from sitegen.stats.counts import errors, judged, wrong_share
from sitegen.text.values import written

FLIPS: Final[tuple[Fate, ...]] = ("fixed", "broken")
"""From wrong to right, and from right to wrong. Appearing or vanishing is not a flip."""


class ExplainedPeriod(Frozen):
    """A period of a cell, and the roles that caused it."""

    period: Period
    end: int
    """Index of the point after the last point of the period."""
    fate: Fate | None
    """The cell's fate at the first point; None if it was right before and after, or is judged for the first time."""
    causes: tuple[Role, ...]
    """The roles that changed at the first point and changed the cell; empty for the first period."""
    outputs: int
    """Number of different outputs in the period: copies and re-scored outputs are not counted again."""

    @property
    def points(self) -> int:
        """Number of points."""
        return self.end - self.period.start

    @property
    def is_flip(self) -> bool:
        """Whether the period begins with a flip."""
        return self.fate in FLIPS


class CellBlame(Frozen):
    """The whole history of one cell."""

    cell: Cell
    periods: tuple[ExplainedPeriod, ...]
    """The periods of the cell, oldest first; never empty."""
    wrong_since: int | None
    """The first point of the streak of errors that lasts to the newest point; None if the cell is not wrong there."""
    judged: int
    """Number of different outputs in which the cell was judged: copies and re-scored outputs are not counted again."""
    wrong: int
    """Number of these that were wrong when they were last judged."""
    wrong_for: int
    """Number of different outputs in the streak of errors that lasts to the newest point."""

    @property
    def ever_wrong(self) -> bool:
        """Whether the cell was wrong at any point."""
        return any(explained.period.is_wrong for explained in self.periods)

    @property
    def flips(self) -> int:
        """Number of flips."""
        return sum(explained.is_flip for explained in self.periods)


class ChangePoint(Frozen):
    """A point at which something about the cells of an attribute changed."""

    point: int
    fates: Mapping[Fate, int]
    """The number of changed cells with each fate."""
    causes: tuple[Role, ...]
    """The roles that changed cells, the one with most cells first. A cell that two roles changed counts for both."""
    wrong: int
    judged: int
    """Number of cells, from this point until the next change."""


class Blame:
    """Finds the causes of cells' changes; caches which roles differ between two points, for all cells."""

    def __init__(self, cells: CellMap, snapshots: Sequence[Snapshot], result_of: Callable[[Snapshot], Result]) -> None:
        """``snapshots`` includes at least every snapshot through which the cells were followed.

        ``result_of``: scores a mixture of two of them. It is called at most once for each point at which a cell came or
        went, and the rules changed together with another role.
        """
        self._snapshots = snapshots
        self._cells = cells
        self._outputs = output_of_each(first_points_with_output(snapshots))
        self._result_of = result_of
        self._changed_roles: dict[int, tuple[Role, ...]] = {}
        self._judged_by_new_rules: dict[int, frozenset[CellKey]] = {}
        """For some points, the cells that the output before has under the old ground truth and the new rules."""

    def trace(self, cell: Cell, points: int | None = None) -> CellBlame:
        """Return the history of a cell of the map through the first ``points``; by default through all points."""
        points = points or len(self._cells.outputs)
        explained = []
        is_wrong: dict[int, bool] = {}
        before = ABSENT
        for period, end in cell.spans(points):
            start = period.start
            fate = fate_of(before, period, self._cells.holds(cell.document, start - 1, start)) if start else None
            causes = self._causes(cell.key, before, period) if start else ()
            outputs = set(self._outputs[start:end])
            explained.append(ExplainedPeriod(period=period, end=end, fate=fate, causes=causes, outputs=len(outputs)))
            if period.state != "absent":
                is_wrong |= dict.fromkeys(outputs, period.is_wrong)
            before = period
        since = cell.wrong_since(points - 1)
        return CellBlame(
            cell=cell,
            periods=tuple(explained),
            wrong_since=since,
            judged=len(is_wrong),
            wrong=sum(is_wrong.values()),
            wrong_for=0 if since is None else len(set(self._outputs[since:points])),
        )

    def _causes(self, key: CellKey, before: Period, period: Period) -> tuple[Role, ...]:
        """Decide which of the roles that changed at a period's first point changed the cell.

        A single role is the cause. Of several roles, the rules are the cause if they alone make the cell come or go:
        they ignore it, for example. Otherwise the causes are the roles whose side of the cell changed, or the rules if
        neither side changed. If values are redacted, all roles are, because changes cannot be seen.
        """
        start = period.start
        changed = self._changed_roles.get(start)
        if changed is None:
            changed = self._changed_roles[start] = self._snapshots[start - 1].roles_changed_in(self._snapshots[start])
        if len(changed) < 2:
            return changed
        goes = period.state == "absent"
        if (
            "rules" in changed
            and goes is not (before.state == "absent")
            and goes is not (key in self._cells_by_new_rules(start))
        ):
            return ("rules",)
        if REDACTED.literal in {before.expected, before.actual, period.expected, period.actual}:
            return changed
        sides = {"outputs": before.actual != period.actual, "ground_truth": before.expected != period.expected}
        causes = tuple(role for role in changed if sides.get(role))
        return causes or (("rules",) if "rules" in changed else changed)

    def _cells_by_new_rules(self, point: int) -> frozenset[CellKey]:
        """Return the cells of the output before a point under the rules of the point."""
        if point not in self._judged_by_new_rules:
            mixed = self._snapshots[point - 1].with_roles_of(self._snapshots[point], ("rules",))
            judgements = self._result_of(mixed).judgements
            self._judged_by_new_rules[point] = frozenset(judgement.key for judgement in judgements)
        return self._judged_by_new_rules[point]


def change_points(cells: Iterable[CellBlame], points: int) -> tuple[ChangePoint, ...]:
    """Return every point at which one of the cells changed, oldest first."""
    fates: dict[int, dict[Fate, int]] = defaultdict(dict)
    causes: dict[int, dict[Role, int]] = defaultdict(dict)
    wrong, judged = [0] * (points + 1), [0] * (points + 1)
    for cell in cells:
        for explained in cell.periods:
            period, fate = explained.period, explained.fate
            fates_here, causes_here = fates[period.start], causes[period.start]
            if fate:
                fates_here[fate] = fates_here.get(fate, 0) + 1
                for role in explained.causes:
                    causes_here[role] = causes_here.get(role, 0) + 1
            # Add and subtract at the two ends of each period: the running sums are the numbers at each point.
            if period.is_wrong:
                wrong[period.start] += 1
                wrong[explained.end] -= 1
            if period.state != "absent":
                judged[period.start] += 1
                judged[explained.end] -= 1
    number_wrong, number_judged = list(accumulate(wrong)), list(accumulate(judged))
    return tuple(
        ChangePoint(
            point=point,
            fates=fates[point],
            causes=tuple(sorted(causes[point], key=lambda role: (-causes[point][role], ROLES.index(role)))),
            wrong=number_wrong[point],
            judged=number_judged[point],
        )
        for point in sorted(fates)
        if point < points
    )


POINTS: Final = 20  # of the newest points in the trend of a field
_FAILING: Final = 2  # values that are listed for a field: those that were wrong for most outputs
_LONGEST: Final = 60  # characters of a listed value


def field_summaries(series: Series) -> tuple[FieldSummary, ...]:
    """Summarise the fields of an eval that ever had a wrong cell, in the order of the cells."""
    points = series.points
    if not points:
        return ()
    cells = grouped((cell.attribute, cell) for cell in series.cells.cells)
    columns = [dict(point.scorecard.fields) for point in points[-POINTS:]]
    outputs = output_of_each([point.first_with_output for point in points])
    last = len(points) - 1
    summaries = []
    for attribute, of_field in cells.items():
        if not any(period.is_wrong for cell in of_field for period in cell.periods):
            continue
        now = columns[-1].get(attribute, Counts())
        shares = [wrong_share(column.get(attribute)) for column in columns]
        streaks = [(since, cell) for cell in of_field if (since := cell.wrong_since(last)) is not None]
        oldest = nsmallest(_FAILING, streaks, key=lambda streak: (streak[0], streak[1].label))
        summaries.append(
            FieldSummary(
                attribute=attribute,
                wrong=errors(now),
                judged=judged(now),
                right=tuple([None if share is None else 1 - share for share in shares]),
                failing=tuple(_failing(cell, len(set(outputs[since:])), last) for since, cell in oldest),
            )
        )
    return tuple(summaries)


def _failing(cell: Cell, outputs: int, last: int) -> FailingValue:
    period = cell.at(last)
    assert period is not None
    return FailingValue(
        label=cell.label,
        document=cell.document,
        expected=(written(period.expected) or "")[:_LONGEST],
        actual=(written(period.actual) or "")[:_LONGEST],
        outputs=outputs,
    )
