"""HTML of the matrix of instruction edits by evals."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from markupsafe import Markup

from sitegen.html.formats import day
from sitegen.model.noise import Decision
from sitegen.pages.change_text import own_unit
from sitegen.pages.instructions.matrix import NOTICED, Matrix, MatrixRow, Shift

_PAINTED: Final[dict[Decision, str]] = {"better": "g2", "likely better": "g1", "likely worse": "b1", "worse": "b2"}


def body(matrix: Matrix, root: str) -> Markup:
    """Table rows: the commit, then a cell for each eval with its signed change."""
    return Markup("".join(_matrix_edit_rows(matrix, root)))


def _matrix_edit_rows(matrix: Matrix, root: str) -> Iterator[str]:
    for row in matrix.rows:
        cells = "".join(_shift_cell(shift, row, root) for shift in row.shifts)
        mark = ' <span class="pill warn">mixed</span>' if row.mixed else ""
        commit = _matrix_commit_cell(row, root)
        yield f'<tr{" data-n" if row.mixed else ""}><th scope="row">{commit}{mark}</th>{cells}</tr>\n'


def _matrix_commit_cell(row: MatrixRow, root: str) -> str:
    files = row.files[0] if len(row.files) == 1 else f"{len(row.files)} files"
    return (
        f'<div class="one"><a href="{root}{row.target}">{escape(row.subject)}</a></div>'
        f'<div class="by"><span class="sha">{escape(row.commit.short)}</span> '
        f'{escape(day(row.commit.committed_at))} <span class="hide-s">{escape(files)}</span></div>'
    )


def _shift_cell(shift: Shift | None, row: MatrixRow, root: str) -> str:
    """The signed change; coloured, and with the word for it, if the verdict is better than cannot tell."""
    if shift is None:
        return "<td></td>"
    change = own_unit(shift.change, shift.spec) if shift.or_edit or abs(shift.better) >= NOTICED else "0"
    tone = _PAINTED.get(shift.decision, "") if shift.decision else ""
    word = f"<small>{shift.decision}</small>" if tone else ""
    if shift.or_edit:
        word = f"<small>or {escape(shift.or_edit)}</small>"
    return f'<td{f" class={tone}" if tone else ""}><a href="{root}{row.target}">{change}{word}</a></td>'
