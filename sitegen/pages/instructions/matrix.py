"""The matrix of the effects of instruction edits: a row for each commit, a column for each eval."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from sitegen.frozen import Frozen
from sitegen.model.commits import Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Decision
from sitegen.model.series import Effect
from sitegen.pages.change_text import range_of
from sitegen.pages.effects import HEADLINE
from sitegen.pages.instructions.edits import EditEffects
from sitegen.pages.labels import subject_of
from sitegen.text.plain import line

ROWS: Final = 100
"""Number of commits in the matrix: the newest ones; every commit has its own page."""

COLUMNS: Final = 40
"""Number of evals in the matrix: those that moved after most of its commits."""

NOTICED: Final = 0.0005
"""A smaller change, as a share of the metric's range, is written as 0 and does not make an edit mixed."""


class Shift(Frozen):
    """The change of one eval around one edit."""

    change: float
    """Change of the headline metric due to outputs, in its own unit."""
    better: float
    """The change as a share of the metric's range, positive for the better; 0 if it is open which edit caused it."""
    spec: MetricSpec
    decision: Decision | None
    """The verdict; None without one."""
    or_edit: str = ""
    """The short id of the commit with the other edit that may have caused the change; empty if that is certain."""


class MatrixRow(Frozen):
    """One commit that edited instructions, with output of some eval before and after."""

    commit: Commit
    subject: str
    files: tuple[str, ...]
    """Names of the files that it edited."""
    target: str
    """Address of the page of the edit or commit, from the root of the site."""
    shifts: tuple[Shift | None, ...]
    """In the order of the columns; None without output on both sides."""

    @property
    def mixed(self) -> bool:
        """Whether one eval improved and another one became worse."""
        better = [shift.better for shift in self.shifts if shift]
        return any(change >= NOTICED for change in better) and any(change <= -NOTICED for change in better)


class MatrixColumn(Frozen):
    """One eval."""

    eval_id: str
    name: str
    gained: int
    """Number of commits of the matrix after which the eval was better."""
    lost: int


class Matrix(Frozen):
    """Commits with edits, newest first, by the evals that any of them moved."""

    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...]
    older: bool
    """Whether there are older commits that are not shown."""
    other_evals: int = 0
    """Number of evals that are not shown."""

    @property
    def mixed(self) -> int:
        """Number of mixed rows."""
        return sum(row.mixed for row in self.rows)


def matrix(edits: Iterable[EditEffects]) -> Matrix | None:
    """The matrix; None if no edit has output before and after.

    Args:
        edits: commits with their edits and effects, newest first; read only as far as rows are shown.

    """
    with_outputs = (edit for edit in edits if any(effect.change is not None for effect in edit.effects))
    newest = list(islice(with_outputs, ROWS + 1))
    if not newest:
        return None
    older, newest = len(newest) > ROWS, newest[:ROWS]
    changes = [{effect.eval_id: shift for effect in edit.effects if (shift := _shift(effect))} for edit in newest]
    names = {effect.eval_id: line(effect.name, 60) for edit in newest for effect in edit.effects if _shift(effect)}
    every = [_column(eval_id, names[eval_id], (row.get(eval_id) for row in changes)) for eval_id in names]
    most_moved = sorted(every, key=lambda column: (-column.gained - column.lost, column.name, column.eval_id))[:COLUMNS]
    columns = sorted(most_moved, key=lambda column: (column.name, column.eval_id))
    return Matrix(
        columns=tuple(columns),
        rows=tuple(
            MatrixRow(
                commit=edit.commit,
                subject=subject_of(edit.commit, 160),
                files=tuple(line(file_edit.file, 120) for file_edit in edit.edits),
                target=edit.address,
                shifts=tuple(row.get(column.eval_id) for column in columns),
            )
            for edit, row in zip(newest, changes, strict=True)
        ),
        older=older,
        other_evals=len(every) - len(columns),
    )


def _shift(effect: Effect) -> Shift | None:
    change = effect.change if effect.window.or_edit and not effect.window.model else effect.by_outputs
    if change is None:
        return None
    spec = effect.specs[0] if effect.specs else HEADLINE
    if effect.window.or_edit:
        return Shift(change=change, better=0.0, spec=spec, decision=None, or_edit=effect.window.or_edit.short)
    share = change / range_of(spec)
    return Shift(
        change=change, better=share if spec.higher_is_better else -share, spec=spec, decision=effect.window.decision
    )


def _column(eval_id: str, name: str, shifts: Iterable[Shift | None]) -> MatrixColumn:
    better = [shift.better for shift in shifts if shift]
    gained, lost = sum(change >= NOTICED for change in better), sum(change <= -NOTICED for change in better)
    return MatrixColumn(eval_id=eval_id, name=name, gained=gained, lost=lost)
