"""HTML of the table of discrepancies, as in ``report_rows``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Final, cast

from markupsafe import Markup

from sitegen.model.metrics import Nouns
from sitegen.model.outcomes import ERROR_TYPES, MISSING_ITEM, ErrorType
from sitegen.model.site import RawFile
from sitegen.pages import links
from sitegen.pages.data.search import script_file
from sitegen.pages.html.cells import RowCache, value_cells
from sitegen.pages.html.cells import text as _text
from sitegen.pages.html.formats import bounded
from sitegen.pages.html.tables import Column
from sitegen.pages.labels import ERROR_LABELS
from sitegen.pages.report.discrepancies import Discrepancy, ErrorGroup, PlacedError, Since
from sitegen.pages.report.page import ReportView
from sitegen.pages.report.report_rows import letter_of, type_label

_FIELDS = Nouns()
_SUMMARY: Final = 90
"""Number of characters of a question that are visible before it is opened."""
_LONGEST_QUESTION: Final = 1_000
"""Largest number of characters of a question on a page."""
_PLAIN: Final = re.compile(r"[\w.,/-]+", re.ASCII).fullmatch


def columns(nouns: Nouns, several_points: bool, several_documents: bool) -> list[Column]:
    """The heads of the table, whose rows are written here."""
    names = {
        "number": "#",
        "type": "Type",
        "place": nouns.place.capitalize(),
        "expected": "Expected",
        "actual": "Actual",
    }
    names |= {"since": "Wrong since"} if several_points else {}
    names |= {"document": nouns.document.capitalize()} if several_documents else {}
    return [Column(name=name, head=head, cell=str) for name, head in names.items()]


def discrepancies(rows: Sequence[Discrepancy], several_points: bool, several_documents: bool, nouns: Nouns) -> Markup:
    """Table bodies of discrepancies, one for each list item with errors, and one for each run of other errors.

    The filter and the style sheet read the ``data-`` attributes of rows.
    """
    bodies: dict[int, list[str]] = {}
    width = len(columns(nouns, several_points, several_documents))
    sections = {name: _attribute_value(name) for name in {row.section for row in rows}}
    starts = {since: _since_cell(since) if several_points else "" for since in {row.since for row in rows}}
    cells = error_cells(nouns)
    for row in rows:
        number, placed, since, group = row.number, row.placed, row.since, row.group
        if group.first not in bodies:
            indices = f" data-i={_attribute_value(row.indices)}" if row.indices else ""
            head = _item_head(group, width, several_documents, nouns)
            bodies[group.first] = [f"<tbody id=g{group.first}{indices}>{head}"]
        # A group has the name of its first error, as a rule that of all of them.
        is_plain = group.name == placed.item_name and not row.question
        bodies[group.first].append(
            f"<tr id=d{number} data-t={placed.error.outcome} data-g={sections[row.section]}"
            f"{' data-n' if since.new else ''}><td class=c-number><a href=#d{number}>{number}</a>"
            f"{cells(placed) if is_plain else cells(placed, group.name, row.question)}{starts[since]}"
            f"{f'<td class=c-document>{_text(placed.error.document)}' if several_documents else ''}\n"
        )
    return Markup("".join(itertools.chain.from_iterable(bodies.values())))


def _item_head(group: ErrorGroup, width: int, several_documents: bool, nouns: Nouns) -> str:
    """The head of a list item with its errors, which folds its rows; an item that is wrong as a whole is folded."""
    if not group.name:
        return ""
    where = f", {_text(group.document)}" if several_documents else ""
    new = f", {group.new:,} new" if group.new else ""
    return (
        f"<tr class=item><th scope=rowgroup colspan={width}><details{'' if group.whole else ' open'}><summary>"
        f"<b>{_text(group.name)}</b>{where}: {_wrong_in_item(group, nouns)}{new}</summary></details>\n"
    )


def _wrong_in_item(group: ErrorGroup, nouns: Nouns) -> str:
    """``missing, 12 fields`` or ``3 wrong values, 1 omission``."""
    total = sum(group.by_type)
    if group.whole:
        fields = nouns.attribute if total == 1 else nouns.attributes
        return f"{group.whole if group.whole == 'missing' else 'not expected'}, {total:,} {_text(fields)}"
    if not nouns.are_fields:
        return f"{total:,} {'error' if total == 1 else 'errors'}"
    words = [
        f"{count:,} {ERROR_LABELS[kind].lower()}{'' if count == 1 else 's'}"
        for kind, count in zip(ERROR_TYPES, group.by_type, strict=True)
        if count
    ]
    return ", ".join(words)


@lru_cache(maxsize=64)
def error_cells(nouns: Nouns) -> RowCache[PlacedError, str]:
    """A function that writes the cells of an error that are the same in every report, from type to values.

    Its arguments are the error and, unless they are the name of its own list item and empty, the name under which its
    group stands and the question.
    """
    return RowCache(partial(_error_cells, nouns))


def _error_cells(nouns: Nouns, placed: PlacedError, item: str | None = None, question: str = "") -> str:
    error = placed.error
    # Values, type and item imply some notes.
    implied = error.outcome == "hallucination" or (placed.item and error.note == MISSING_ITEM)
    remark = f"<small>{_text(error.note)}</small>" if error.note and not implied else ""
    if error.evidence:
        remark += f"<small>states {_text(error.evidence)}</small>"
    if question:
        remark += _question(question)
    place = _place_in_item(error.label, placed.item_name if item is None else item)
    return (
        f"{_type_cell(cast('ErrorType', error.outcome), nouns)}"
        f"<td class=c-place><a href={_attribute_value(placed.field)}>{_text(place)}</a>{remark}"
        f"{value_cells(error, ' class=c-expected', ' class=c-actual')}"
    )


def _place_in_item(path: str, item: str) -> str:
    """The path; below the head of a list item without the item's part, which a script adds for sorting."""
    return path.removeprefix(item).removeprefix(".") or path


def _attribute_value(content: str) -> str:
    """The text as the value of an attribute, in quotation marks only where it needs them."""
    return content if _PLAIN(content) else f'"{_text(content)}"'


def _type_cell(kind: ErrorType, nouns: Nouns) -> str:
    """The type of an error, with its letter if it differs from the letter of field evals in the style sheet."""
    letter = letter_of(kind, nouns)
    own = "" if letter == letter_of(kind, _FIELDS) else f" data-l={letter}"
    return f"<td class=c-type{own}>{type_label(kind, nouns)}"


def _question(question: str) -> str:
    """The question to the model: one line, which can be opened if the question is longer."""
    if len(question) <= _SUMMARY and "\n" not in question:
        return f"<small>{_text(question)}</small>"
    first = question.strip().partition("\n")[0][:_SUMMARY]
    return f"<details class=cell><summary>{_text(first)} …</summary>{bounded(question, _LONGEST_QUESTION)}</details>"


def _since_cell(since: Since) -> str:
    """The first point of the streak and its length, by which the table sorts; the style sheet writes the length."""
    if since.new:
        return "<td><data value=1><b>new</b></data>"
    link = f"<a href={_attribute_value(since.file)}>{_text(since.label)}</a>"
    return f"<td><data value={since.points}>{link}</data>"


def rows_file(view: ReportView) -> RawFile | None:
    """Table bodies in the form of the page's table; None if the page has all of them."""
    loadable = view.discrepancies.loadable
    if not loadable:
        return None
    rows = discrepancies(loadable, view.previous is not None, len(view.documents) > 1, view.info.nouns)
    return script_file(links.report_rows(view.info.id, view.snapshot.slug), "ROWS", str(rows))
