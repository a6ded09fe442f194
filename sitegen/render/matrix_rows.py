"""The rows of the matrix of edits and evals, as escaped f-strings: it has up to a hundred rows of fifty cells."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from markupsafe import Markup

from sitegen.pages.matrix import NOTICED, Matrix, MatrixRow, Shift
from sitegen.render.formats import day

STRONG: Final = 5.0
"""Points from which a change is painted strongly."""


def body(matrix: Matrix, root: str) -> Markup:
    """Table rows: the commit, then a cell for each eval with the signed change in points."""
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
    if shift is None:
        return "<td></td>"
    if abs(shift.points) < NOTICED:
        text, tone = "0", ""
    else:
        text = f"{shift.points:+.1f}".replace("-", "−")
        tone = ("g" if shift.better > 0 else "b") + ("2" if abs(shift.better) >= STRONG else "1")
    return f'<td{f" class={tone}" if tone else ""}><a href="{root}{row.target}">{text}</a></td>'
