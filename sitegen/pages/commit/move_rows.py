"""HTML of the table of a commit: a row for each eval, with the outputs of the commit if there are several."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import zip_longest

from markupsafe import Markup

from sitegen.html.formats import number
from sitegen.model.series import Headline
from sitegen.pages import change_text, links
from sitegen.pages.commit.page import MOST_POINTS, MoveRow
from sitegen.pages.edit.effect_rows import effect_row, widest
from sitegen.pages.labels import iterations_and_outputs, outputs, same_output
from sitegen.text.plain import line


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
