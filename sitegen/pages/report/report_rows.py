"""HTML of the tables of a report, written by f-strings: five times faster than a loop in Jinja.

Every text that comes from a project passes through ``escape``; a property test compares the result with Jinja's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Final

from markupsafe import Markup

from sitegen.model.metrics import Counts, MetricSpec, Nouns
from sitegen.model.outcomes import ERROR_TYPES, ErrorType
from sitegen.model.panels import AlignmentRow
from sitegen.model.scorecards import DocumentScore, FieldScore
from sitegen.pages import links
from sitegen.pages.html.cells import text as _text
from sitegen.pages.html.formats import number
from sitegen.pages.html.tables import Column, class_name
from sitegen.pages.labels import STATUSES
from sitegen.stats.counts import ACCURACY, RATIOS, CountRatio, errors, judged

_FIELDS = Nouns()
_NIL = str(number(None))
_RATIOS: Final = {ratio.name: ratio for ratio in (*RATIOS, ACCURACY)}
_CONFUSION: Final = (("TP", "tp"), ("FP", "fp"), ("FN", "fn"), ("TN", "tn"))
_CORRECT: Final = (("Correct", "tp"),)


def type_name(kind: ErrorType, nouns: Nouns = _FIELDS) -> Markup:
    """Mark and name of a type of errors: letter and colour, never colour alone."""
    return Markup(f'<span class="type">{mark(kind, nouns)}{type_label(kind, nouns)}</span>')


def type_mark(kind: ErrorType, nouns: Nouns) -> Markup:
    """The mark without the name, which is in the text for screen readers."""
    return Markup(f'{mark(kind, nouns)}<span class="vh">{type_label(kind, nouns)} </span>')


def mark(kind: ErrorType, nouns: Nouns) -> Markup:
    """The letter of a type of errors in its colour, which screen readers leave out."""
    return Markup(f'<span class="t {kind}" aria-hidden="true">{letter_of(kind, nouns)}</span>')


def letter_of(kind: ErrorType, nouns: Nouns) -> str:
    """The letter of a type of errors; the letter of field evals if the kind has no such errors."""
    index = ERROR_TYPES.index(kind)
    return nouns.letters[index] or _FIELDS.letters[index]


def type_label(kind: ErrorType, nouns: Nouns) -> str:
    """The name of a type of errors in this kind of eval."""
    word = nouns.errors[ERROR_TYPES.index(kind)]
    return _text(word[:1].upper() + word[1:])


def mix(counts: Iterable[int], label: str, total: int = 0) -> Markup:
    """A bar with a part for each type of errors; ``total`` is the number of a full bar, so that bars are comparable."""
    parts, end = [], 0
    for kind, count in zip(ERROR_TYPES, counts, strict=True):
        if count:
            parts.append(f'<rect class="f-{kind}" x="{end}" width="{count}" height="1"/>')
            end += count
    box = f'viewBox="0 0 {total or end or 1} 1" preserveAspectRatio="none"'
    return Markup(f'<svg class="bars" {box} role="img" aria-label="{_text(label)}">{"".join(parts)}</svg>')


def columns(
    name: str, noun: str, nouns: Nouns, metrics: Sequence[MetricSpec] = (), counted: bool = True
) -> tuple[Column, ...]:
    """A table of names with their metrics, and with the columns of ``count_columns`` if anything was counted."""
    return (
        Column(name=name, head=noun.capitalize(), cell=str, classes="label"),
        *(Column(name=class_name(spec.label), head=spec.label, cell=str) for spec in metrics),
        *(count_columns(nouns, ratios=not metrics) if counted else ()),
    )


@lru_cache(maxsize=64)
def count_columns(nouns: Nouns, *, ratios: bool) -> tuple[Column, ...]:
    """Columns of counts: ratios, unless the table has metrics of its own, counts, errors, and errors by type."""
    return (
        *(
            Column(name=ratio.name, head=ratio.label, cell=lambda counts, of=ratio.of: _ratio_cell(of(counts)))
            for ratio in (_ratios_of(nouns) if ratios else ())
        ),
        *(Column(name=name, head=label, cell=attrgetter(name)) for label, name in _counts_of(nouns)),
        Column(name="errors", head="Errors", cell=errors),
        *(
            Column(
                name=kind,
                head=type_mark(kind, nouns),
                cell=lambda counts, kind=kind: getattr(counts, kind) or "",
                title=type_label(kind, nouns),
            )
            for kind in error_types(nouns)
        ),
    )


def fields(scores: Sequence[FieldScore], nouns: Nouns = _FIELDS) -> Markup:
    """Table rows of fields: a link to the field's page, then the columns of ``count_columns``.

    A field of which nothing is judged has no link, because it may have no page.
    """
    cells = _count_cells(nouns, ratios=True)
    return Markup("".join([f"<tr><td class=label>{_field_label(score)}{cells(score.counts)}" for score in scores]))


def _field_label(score: FieldScore) -> str:
    name = _text(score.attribute)
    return f"<a href={links.field_in_eval(score.attribute)}>{name}</a>" if judged(score.counts) else name


def documents(
    scores: Iterable[DocumentScore], nouns: Nouns = _FIELDS, metrics: Sequence[MetricSpec] = (), counted: bool = True
) -> Markup:
    """Table rows of documents: the id, then the columns of ``count_columns``."""
    if not counted:
        return Markup("\n".join([_document_row(score, metrics) for score in scores]))
    cells = _count_cells(nouns, ratios=not metrics)
    return Markup("".join([f"{_document_row(score, metrics)}{cells(score.counts)}" for score in scores]))


def _document_row(score: DocumentScore, metrics: Sequence[MetricSpec]) -> str:
    values = dict(score.metrics)
    own = "".join([f"<td>{_metric_value_cell(values.get(spec.name), spec)}" for spec in metrics])
    state = "" if score.status == "scored" else f" ({STATUSES[score.status]})"
    return f"<tr><td class=label>{_text(score.id) or '—'}{state}{own}"


@lru_cache(maxsize=64)
def _count_cells(nouns: Nouns, *, ratios: bool) -> Callable[[Counts], str]:
    """A function that writes the cells of a row. Most rows of a project have the same few counts, so it is cached.

    Rows are many, so their cells have no classes.
    """
    listed = [column.cell for column in count_columns(nouns, ratios=ratios)]

    @lru_cache(maxsize=4096)
    def cells(counts: Counts) -> str:
        return f"<td>{'<td>'.join([str(cell(counts)) for cell in listed])}\n"

    return cells


def _ratios_of(nouns: Nouns) -> tuple[CountRatio, ...]:
    """The ratios that have a column in tables."""
    return RATIOS if nouns.ratios is None else tuple(_RATIOS[name] for name in nouns.ratios)


def _counts_of(nouns: Nouns) -> tuple[tuple[str, str], ...]:
    """(label, field of the counts) of the columns; not for answers, which are only right or wrong."""
    return _CONFUSION if nouns.counts_false_positives else _CORRECT


def error_types(nouns: Nouns) -> tuple[ErrorType, ...]:
    """The types of errors that a kind has."""
    return tuple(kind for kind, word in zip(ERROR_TYPES, nouns.errors, strict=True) if word)


def paired(rows: Sequence[AlignmentRow]) -> str:
    """How many items were paired and how many were not: ``11 paired (2 by agreement), 1 missing``."""
    missing = sum(row.actual is None for row in rows)
    extra = sum(row.expected is None for row in rows)
    pairs = sum(row.actual is not None and row.expected is not None for row in rows)
    agreed = sum(row.paired_by == "agreement" for row in rows)
    by_agreement = f" ({agreed} by agreement)" if agreed else ""
    missed = f", {missing} missing" if missing else ""
    return f"{pairs} paired{by_agreement}{missed}{f', {extra} extra' if extra else ''}"


def _metric_value_cell(value: float | None, spec: MetricSpec) -> str:
    return number(value, unit=spec.unit) if spec.unit else _ratio_cell(value)


def _ratio_cell(value: float | None) -> str:
    return _NIL if value is None else f"{value:.3f}"
