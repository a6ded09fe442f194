"""HTML of the rows of a commit's page: the evals with the commit's outputs, and the edits before these outputs."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import zip_longest
from typing import Final

from markupsafe import Markup

from sitegen.html.cells import text
from sitegen.html.formats import number
from sitegen.model.series import Headline
from sitegen.pages import change_text, links
from sitegen.pages.commit.page import MOST_POINTS, LinkedEdit, MoveRow
from sitegen.pages.edit.effect_rows import effect_row, widest
from sitegen.pages.labels import iterations_and_outputs, outputs, same_output
from sitegen.text.plain import line

EVALS_NAMED: Final = 3
"""Number of evals that are named beside an earlier edit."""


def moves(rows: Sequence[MoveRow], root: str) -> Markup:
    """Table rows as on the page of an edit."""
    scale = widest(move.row for move in rows)
    return Markup("".join([effect_row(move.row, root, scale, _points_of_commit(move, root)) for move in rows]))


def _points_of_commit(move: MoveRow, root: str) -> str:
    points, eval_id = move.move.points, move.row.eval_id
    if len(points) < 2:
        return ""
    best = f"Best of {outputs(move.move.outputs)}: {_point_link(eval_id, move.best, root)}" if move.best else ""
    listed = " ".join(
        [
            f"<li>{_point_link(eval_id, point, root)}{_copy_mark(point, original)}</li>"
            for point, original in zip_longest(points[:MOST_POINTS], move.move.originals[:MOST_POINTS])
        ]
    )
    counted = iterations_and_outputs(len(points), move.move.outputs)
    left_out = len(points) - MOST_POINTS
    more = f"<li>and {left_out:,} more</li>" if left_out > 0 else ""
    return (
        f'<div class="by">{best}<details class="ef-more"><summary>{counted} of this commit</summary>'
        f'<ol class="pts-l">{listed}{more}</ol></details></div>'
    )


def _point_link(eval_id: str, point: Headline, root: str) -> str:
    value = "—" if point.values[0] is None else str(number(point.values[0]))
    around = f' title="95 %: {change_text.span(point.interval)}"' if point.interval else ""
    return (
        f'<a href="{root}{escape(links.report(eval_id, point.slug))}">{escape(line(point.label, 60))}</a> '
        f"<span{around}>{value}</span>"
    )


def _copy_mark(point: Headline, original: str | None) -> str:
    is_copy = original not in (None, point.label)
    return f" <i>{escape(same_output(original))}</i>" if is_copy else ""


def earlier_edits(rows: Sequence[LinkedEdit], root: str) -> Markup:
    """List items: commits that edited instructions, with the first evals whose output they may have changed."""
    return Markup("".join([_earlier_edit(row, root) for row in rows]))


def _earlier_edit(row: LinkedEdit, root: str) -> str:
    edit, more = row.edit, len(row.evals) - EVALS_NAMED
    evals = f";\nfor {', '.join(map(text, row.evals[:EVALS_NAMED]))}" if row.evals else ""
    return (
        f'<li><a href="{root}{links.commit(edit.sha)}">{text(edit.subject)}</a><span class="muted">\n'
        f'<span class="sha">{text(edit.short)}</span> {edit.files:,} file{"" if edit.files == 1 else "s"}'
        f"{evals}{f' and {more} more' if more > 0 else ''}</span></li>"
    )
