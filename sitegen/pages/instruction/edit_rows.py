"""HTML of tables of edits: those of one file, up to a thousand, and the matrix of all edits by evals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from markupsafe import Markup

from sitegen.html.formats import NIL, count, day, signed
from sitegen.model.commits import WORKTREE
from sitegen.pages import links
from sitegen.pages.instruction.page import EditRow, EvalChange, Impact
from sitegen.pages.instructions.page import NOTICED, Matrix, MatrixRow, Shift
from sitegen.pages.labels import EDITS
from sitegen.text.patch import VersionSlip

_SLIPS: Final[dict[VersionSlip, str]] = {
    "text alone": "without a new version",
    "version alone": "a new version without an edit",
}
SHOWN_FIRST: Final = 50
"""Rows before "show more"."""

STRONG: Final = 5.0
"""Points from which a change is painted strongly."""


def edits(rows: Iterable[EditRow], file: str, root: str, versioned: bool) -> Markup:
    """Table rows: subject with commit, author and day, lines added and removed, lines, mean change, best and worst.

    ``versioned``: with a column of the version after each edit.
    """
    return Markup("".join(_edit_list_rows(rows, file, root, versioned)))


def _edit_list_rows(rows: Iterable[EditRow], file: str, root: str, versioned: bool) -> Iterator[str]:
    for index, row in enumerate(rows):
        commit = row.commit
        sha = commit.short
        if commit.sha != WORKTREE:
            sha = f'<a class="sha" href="{root}{links.commit(commit.sha)}">{sha}</a>'
        remark = "" if row.status == "modified" else f' <span class="pill">{EDITS[row.status]}</span>'
        if row.moved_from:
            remark += f' from <span class="mono">{escape(row.moved_from)}</span>'
        if row.slip:
            remark += f' <span class="pill warn">{_SLIPS[row.slip]}</span>'
        version = f'<td class="num hide-s">{escape(row.version) if row.version else NIL}</td>' if versioned else ""
        yield (
            f'<tr{" class=more" if index >= SHOWN_FIRST else ""}><td><div class="one">'
            f'<a href="{root}{links.edit(file, commit.sha)}">{escape(row.subject)}</a></div>'
            f'<div class="by">{sha} {escape(commit.author[:60])}, {escape(day(commit.committed_at))}{remark}</div></td>'
            f'<td class="num">{_line_counts(row)}</td>'
            f'<td class="num hide-s">{count(row.lines)}{_words_changed(row)}</td>'
            f"{version}{mean(row.impact)}"
            f'<td class="hide-m">{_eval_change_cell(row.impact.best, root)}</td>'
            f'<td class="hide-m">{_eval_change_cell(row.impact.worst, root)}</td></tr>\n'
        )


def mean(impact: Impact) -> str:
    """The cell of the mean change, with how many evals it is the mean of."""
    if impact.mean is None:
        return f'<td class="num">{NIL}</td>'
    evals = "1 eval" if impact.measured == 1 else f"{impact.measured} evals"
    return f'<td class="num">{signed(impact.mean)}<div class="by">{evals}</div></td>'


def _words_changed(row: EditRow) -> str:
    return "" if row.words is None else f'<div class="by">{row.words:,} words</div>'


def _line_counts(row: EditRow) -> str:
    if row.counts is None:
        return str(NIL)
    return f'<span class="delta up">+{row.counts.added:,}</span> <span class="delta dn">−{row.counts.removed:,}</span>'


def _eval_change_cell(change: EvalChange | None, root: str) -> str:
    if change is None:
        return str(NIL)
    href = root + links.eval_trend(change.eval_id)
    return f'<a class="ev" href="{href}">{escape(change.name)}</a> {signed(change.change)}'


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
