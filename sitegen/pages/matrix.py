"""Edits by evals: what each commit that edited instructions did to each eval, and which helped one and hurt another."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

from sitegen.model.commits import Commit
from sitegen.model.series import Effect
from sitegen.pages import links
from sitegen.pages.overview import EditEffects
from sitegen.text.plain import line

ROWS: Final = 100
"""Commits in the matrix, the newest ones; what an older one did stands on its own page."""

NOTICED: Final = 0.05
"""Points below which a change is written as none, and calls no edit mixed."""


class Shift(NamedTuple):
    """What became of one eval around one edit."""

    points: float
    """Change of the headline metric that outputs made, in hundredths of the metric's range."""
    better: float
    """The same, signed so that up is better."""


class MatrixRow(NamedTuple):
    """One commit that edited instructions, with output of some eval before and after."""

    commit: Commit
    subject: str
    files: tuple[str, ...]
    """Names of the files that it edited."""
    target: str
    """Address of the page that tells more, from the root of the site."""
    shifts: tuple[Shift | None, ...]
    """In the order of the columns; None: nothing can be said of the eval."""

    @property
    def mixed(self) -> bool:
        """One eval gained and another one lost."""
        better = [shift.better for shift in self.shifts if shift]
        return any(change >= NOTICED for change in better) and any(change <= -NOTICED for change in better)


class MatrixColumn(NamedTuple):
    """One eval."""

    eval_id: str
    name: str
    gained: int
    """Commits of the matrix after which it was better."""
    lost: int


class Matrix(NamedTuple):
    """Commits with edits, newest first, by the evals that any of them moved."""

    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...]
    older: bool
    """There are older commits that are not shown."""

    @property
    def mixed(self) -> int:
        """How many rows are."""
        return sum(row.mixed for row in self.rows)


def matrix(edits: Iterable[EditEffects]) -> Matrix | None:
    """The matrix; None if no edit has output before and after.

    Args:
        edits: commits with their edits and effects, newest first; no more are taken than are shown.

    """
    measured = (edit for edit in edits if any(effect.change is not None for effect in edit.effects))
    shown = list(islice(measured, ROWS + 1))
    if not shown:
        return None
    older, shown = len(shown) > ROWS, shown[:ROWS]
    changes = [{effect.eval_id: shift for effect in edit.effects if (shift := _shift(effect))} for edit in shown]
    names = {effect.eval_id: line(effect.name, 60) for edit in shown for effect in edit.effects if _shift(effect)}
    columns = sorted(names, key=lambda eval_id: (names[eval_id], eval_id))
    return Matrix(
        tuple(_column(eval_id, names[eval_id], (row.get(eval_id) for row in changes)) for eval_id in columns),
        tuple(
            MatrixRow(
                edit.commit,
                line(edit.commit.subject, 160) or "(no subject)",
                tuple(line(one.file, 120) for one in edit.edits),
                _edit_address(edit),
                tuple(map(row.get, columns)),
            )
            for edit, row in zip(shown, changes, strict=True)
        ),
        older,
    )


def _shift(effect: Effect) -> Shift | None:
    change = effect.by_outputs
    if change is None:
        return None
    if not effect.specs:
        return Shift(100 * change, 100 * change)
    spec = effect.specs[0]
    points = 100 * change / (spec.high - spec.low)
    return Shift(points, points if spec.higher_is_better else -points)


def _column(eval_id: str, name: str, shifts: Iterable[Shift | None]) -> MatrixColumn:
    better = [shift.better for shift in shifts if shift]
    gained, lost = sum(change >= NOTICED for change in better), sum(change <= -NOTICED for change in better)
    return MatrixColumn(eval_id, name, gained, lost)


def _edit_address(edit: EditEffects) -> str:
    """The edit's page; of a commit with several, the commit's, which lists them all."""
    if len(edit.edits) == 1 or edit.commit.sha == edit.commit.short:
        return links.edit(edit.edits[0].file, edit.commit.sha)
    return links.commit(edit.commit.sha)
