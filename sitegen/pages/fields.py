"""The page of all fields: each field path over all evals that have it, most errors first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from sitegen.frozen import Frozen
from sitegen.html import charts
from sitegen.html.cells import code, for_each, text
from sitegen.model.error_summaries import FailingValue, FieldSummary, FlipsAfterEdit
from sitegen.model.noise import Ends
from sitegen.model.series import EvalInfo, EvalSummary, Headline
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.pages.labels import outputs

ROWS: Final = 150
"""Largest number of rows, one for each eval of a field: as many of the fields with most errors now as fit."""
NAMED: Final = 1_000
"""Number of further field paths that the page names, each with a link to its page in one eval."""


class FieldInEval(Frozen):
    """A field of one eval, and the eval's points, to which its moves link."""

    info: EvalInfo
    field: FieldSummary
    headlines: tuple[Headline, ...]


class FieldOverEvals(Frozen):
    """A field path in all evals that have it."""

    attribute: str
    wrong: int
    """Number of values that are wrong in the newest outputs."""
    judged: int
    evals: tuple[FieldInEval, ...]
    """The field in each eval, most errors first."""

    @property
    def anchor(self) -> str:
        """Fragment of the address of the field on the page."""
        return links.slug(self.attribute)


class FieldsView(Frozen):
    """What ``pages/fields.html`` shows."""

    fields: tuple[FieldOverEvals, ...]
    named: tuple[FieldOverEvals, ...]
    """Fields of which only the names are shown."""
    more: int
    """Fields that are not shown at all."""
    evals: int
    nav: str = "evals"


def fields_page(summaries: Iterable[EvalSummary]) -> Page:
    """Make the page of all fields that were ever wrong; fields of deleted evals only are just named."""
    alive: list[EvalSummary] = []
    deleted: list[EvalSummary] = []
    for summary in summaries:
        (deleted if summary.deleted else alive).append(summary)
    fields = _by_path(alive)
    of_living = {field.attribute for field in fields}
    gone = [field for field in _by_path(deleted) if field.attribute not in of_living]
    drawn = sum(rows <= ROWS for rows in accumulate(len(field.evals) for field in fields))
    named = fields[drawn:] + gone
    view = FieldsView(
        fields=tuple(fields[:drawn]),
        named=tuple(named[:NAMED]),
        more=len(named[NAMED:]),
        evals=len(alive),
    )
    return Page(links.fields(), "pages/fields.html", view)


def _by_path(summaries: Iterable[EvalSummary]) -> list[FieldOverEvals]:
    """The fields of these evals, most errors first."""
    by_path: dict[str, list[FieldInEval]] = defaultdict(list)
    for summary in summaries:
        for field in summary.fields:
            by_path[field.attribute].append(FieldInEval(summary.info, field, summary.headlines))
    fields = [_over_evals(attribute, evals) for attribute, evals in by_path.items()]
    return sorted(fields, key=lambda field: (-field.wrong, field.attribute))


def _over_evals(attribute: str, evals: list[FieldInEval]) -> FieldOverEvals:
    return FieldOverEvals(
        attribute=attribute,
        wrong=sum(entry.field.wrong for entry in evals),
        judged=sum(entry.field.judged for entry in evals),
        evals=tuple(sorted(evals, key=lambda entry: (-entry.field.wrong, entry.info.id))),
    )


@for_each
def field_names(field: FieldOverEvals) -> str:
    """The list item of a field, with a link to its page in the eval where it is wrong most often."""
    page = text(links.field(field.evals[0].info.id, field.attribute))
    return f"<li id={text(field.anchor)}><a href={page}>{code(field.attribute)}</a>\n"


@for_each
def field_rows(field: FieldOverEvals) -> str:
    """A row that names a field, and a row for each of its evals."""
    wrong_in = sum(bool(entry.field.wrong) for entry in field.evals)
    number = f"{wrong_in} of {len(field.evals)} evals" if len(field.evals) > 1 else "1 eval"
    state = f"{field.wrong:,} of {field.judged:,} values wrong now, in {number}" if field.wrong else "right now"
    rows = "".join([_eval_of_field(entry) for entry in field.evals])
    head = f"<a href=#{text(field.anchor)}>{code(field.attribute)}</a> <span>{state}</span>"
    return f"<tbody id={text(field.anchor)}><tr class=cellname><th scope=rowgroup colspan=5>{head}\n{rows}</tbody>"


def _eval_of_field(entry: FieldInEval) -> str:
    field = entry.field
    page = text(links.field(entry.info.id, field.attribute))
    line = charts.spark(field.right, Ends(0.0, 1.0))
    spark = (
        f'<svg class=spark viewBox="0 0 {charts.SPARK_WIDTH} {charts.SPARK_HEIGHT}" role=img '
        f'aria-label="newest {len(field.right)} iterations"><path d="{line.line}"/></svg>'
    )
    right = f"{field.judged - field.wrong:,} of {field.judged:,}" if field.judged else "not judged"
    moves = "<br>".join([_field_move(entry, move) for move in field.moves])
    failing = "<br>".join([_failing_value(value) for value in field.failing])
    return f"<tr><td><a href={page}>{text(entry.info.name)}</a><td>{right}<td>{spark}<td>{moves}<td>{failing}\n"


def _field_move(entry: FieldInEval, move: FlipsAfterEdit) -> str:
    at = entry.headlines[move.at]
    parts = [f"{number:,} {word}" for number, word in ((move.fixed, "fixed"), (move.broken, "broken")) if number]
    return f"<a href={text(links.report(entry.info.id, at.slug))}>{text(at.label)}</a>: {', '.join(parts)}"


def _failing_value(value: FailingValue) -> str:
    where = f"{value.document}: {value.label}" if value.document else value.label
    expected, actual = (text(side) or "nothing" for side in (value.expected, value.actual))
    return f"{code(where)} <bdi>{expected}</bdi> → <bdi>{actual}</bdi> <i>for {outputs(value.outputs)}</i>"
