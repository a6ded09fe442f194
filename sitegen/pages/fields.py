"""The page of all fields: each field path over all evals that have it, most errors first.

``pages/fields.html`` reads the summaries of fields themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate
from typing import Final, TypeAlias

from sitegen.model.error_summaries import FieldSummary
from sitegen.model.series import EvalSummary
from sitegen.model.site import Page
from sitegen.pages import links

ROWS: Final = 150
"""Largest number of rows, one for each eval of a field: as many of the fields with most errors now as fit."""
NAMED: Final = 1_000
"""Number of further field paths that the page names, each with a link to its page in one eval."""


FieldOverEvals: TypeAlias = tuple[tuple[EvalSummary, FieldSummary], ...]
"""A field path in each eval that has it, most errors first."""


def fields_page(summaries: Iterable[EvalSummary]) -> Page:
    """Make the page of all fields that were ever wrong; fields of deleted evals only are just named.

    Its view is the fields that are shown, those of which only the names are shown, and the number of all others.
    """
    every = list(summaries)
    fields = _by_path(summary for summary in every if not summary.deleted)
    of_living = {of_evals[0][1].attribute for of_evals in fields}
    deleted = _by_path(summary for summary in every if summary.deleted)
    gone = [of_evals for of_evals in deleted if of_evals[0][1].attribute not in of_living]
    drawn = sum(rows <= ROWS for rows in accumulate(map(len, fields)))
    named = fields[drawn:] + gone
    view = (fields[:drawn], named[:NAMED], len(named[NAMED:]))
    return Page(links.fields(), "pages/fields.html", view)


def _by_path(summaries: Iterable[EvalSummary]) -> list[FieldOverEvals]:
    """The fields of these evals, most errors first."""
    by_path: dict[str, list[tuple[EvalSummary, FieldSummary]]] = defaultdict(list)
    for summary in summaries:
        for field in summary.fields:
            by_path[field.attribute].append((summary, field))
    fields = [tuple(sorted(evals, key=lambda entry: (-entry[1].wrong, entry[0].info.id))) for evals in by_path.values()]
    return sorted(fields, key=lambda evals: (-wrong_in(evals), evals[0][1].attribute))


def wrong_in(evals: FieldOverEvals) -> int:
    """Number of values of a field that are wrong in the newest outputs."""
    return sum(field.wrong for _, field in evals)
