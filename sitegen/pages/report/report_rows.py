"""HTML of the tables of a report, written by f-strings: five times faster than a loop in Jinja.

Every text that comes from a project passes through ``escape``; a property test compares the result with Jinja's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final

from markupsafe import Markup

from sitegen.html.cells import RowCache, for_each
from sitegen.html.cells import text as _text
from sitegen.html.formats import bounded, number, percent, signed
from sitegen.model.error_summaries import WeakSection
from sitegen.model.metrics import Counts, MetricSpec, Nouns
from sitegen.model.outcomes import ERROR_TYPES, ErrorType
from sitegen.model.panels import AlignmentRow
from sitegen.model.scorecards import DocumentScore, FieldScore
from sitegen.pages.labels import ERROR_LABELS, STATUSES
from sitegen.pages.report.discrepancies import field_file
from sitegen.pages.report.numbers import ErrorChange, ReportMetric
from sitegen.stats.counts import ACCURACY, RATIOS, CountRatio, errors, judged

_FIELDS = Nouns()
_NIL = str(number(None))
_RATIOS: Final = {ratio.name: ratio for ratio in (*RATIOS, ACCURACY)}
_CONFUSION: Final = (("TP", "tp"), ("FP", "fp"), ("FN", "fn"), ("TN", "tn"))
_CORRECT: Final = (("Correct", "tp"),)
_NONE = '<span class="nil">—</span>'


def error_heads(nouns: Nouns, *, every: bool = False) -> Markup:
    """Column heads of the types of errors that a kind has; ``every``: of all types."""
    types = ERROR_TYPES if every else error_types(nouns)
    return Markup("".join([_error_type_head(kind, nouns) for kind in types]))


def _error_type_head(kind: ErrorType, nouns: Nouns) -> str:
    label = type_label(kind, nouns) or ERROR_LABELS[kind]
    return f'<th scope="col" title="{label}">{_error_type_mark(kind, nouns)}<span class="vh">{label}</span></th>'


def type_name(kind: ErrorType, nouns: Nouns = _FIELDS) -> Markup:
    """Mark and name of a type of errors: letter and colour, never colour alone."""
    return Markup(f'<span class="type">{_error_type_mark(kind, nouns)}{type_label(kind, nouns)}</span>')


def type_mark(kind: ErrorType, nouns: Nouns) -> Markup:
    """The mark without the name, which is in the text for screen readers."""
    return Markup(f'{_error_type_mark(kind, nouns)}<span class="vh">{type_label(kind, nouns)} </span>')


def _error_type_mark(kind: ErrorType, nouns: Nouns) -> str:
    return f'<span class="t {kind}" aria-hidden="true">{letter_of(kind, nouns)}</span>'


def letter_of(kind: ErrorType, nouns: Nouns) -> str:
    """The letter of a type of errors; the letter of field evals if the kind has no such errors."""
    index = ERROR_TYPES.index(kind)
    return nouns.letters[index] or _FIELDS.letters[index]


def by_type(changes: tuple[ErrorChange, ...], nouns: Nouns) -> Markup:
    """A bar of all errors, then for each type its name, count, share of all errors and change."""
    counts = [change.number for change in changes]
    bar = mix(counts, "Errors by type")
    listed = [change for word, change in zip(nouns.errors, changes, strict=True) if word]
    return Markup(f"{bar}{''.join([_error_type_row(change, sum(counts), nouns) for change in listed])}")


def _error_type_row(errors: ErrorChange, total: int, nouns: Nouns) -> str:
    change = "" if errors.change is None else signed(errors.change, 0, lower_is_better=True)
    share = percent(errors.number, total, 1) if errors.number else ""
    return (
        f'{type_name(errors.type, nouns)}<span class="c">{errors.number:,}</span><span class="num">{share}</span>'
        f'<span class="num">{change}</span>'
    )


def type_label(kind: ErrorType, nouns: Nouns) -> str:
    """The name of a type of errors in this kind of eval."""
    word = nouns.errors[ERROR_TYPES.index(kind)]
    return _text(word[:1].upper() + word[1:])


def type_buttons(changes: Iterable[ErrorChange], nouns: Nouns) -> Markup:
    """The filter's buttons: one for each type with errors."""
    return Markup(
        "".join(
            f'<button class="btn chip" type="button" data-type="{kind}" aria-pressed="false">'
            f'{_error_type_mark(kind, nouns)}{type_label(kind, nouns)} <span class="n">{count}</span></button>'
            for kind, count, _ in changes
            if count
        )
    )


@for_each
def more_metrics(metric: ReportMetric, several_points: bool) -> str:
    """The table row of a metric: name, value, change, explanation."""
    spec = metric.spec
    change = signed(metric.change, lower_is_better=not spec.higher_is_better, unit=spec.unit) if several_points else ""
    return (
        f"<tr><td{' class=wrap' if spec.recorded else ''}>{_text(spec.label)}</td>"
        f'<td class="num">{_metric_value_cell(metric.value, spec)}</td><td class="num">{change}</td>'
        f'<td class="hide-s muted">{_text(spec.explanation)}</td></tr>'
    )


def mix(counts: Iterable[int], label: str, total: int = 0) -> Markup:
    """A bar with a part for each type of errors; ``total`` is the number of a full bar, so that bars are comparable."""
    parts, end = [], 0
    for kind, count in zip(ERROR_TYPES, counts, strict=True):
        if count:
            parts.append(f'<rect class="f-{kind}" x="{end}" width="{count}" height="1"/>')
            end += count
    box = f'viewBox="0 0 {total or end or 1} 1" preserveAspectRatio="none"'
    return Markup(f'<svg class="bars" {box} role="img" aria-label="{_text(label)}">{"".join(parts)}</svg>')


def sections(rows: tuple[WeakSection, ...]) -> Markup:
    """The errors of each section of the schema: name, bar, count."""
    longest = max((sum(section.errors) for section in rows), default=0) or 1
    return Markup("".join([_section_bar(section, sum(section.errors), longest) for section in rows]))


def _section_bar(section: WeakSection, wrong: int, longest: int) -> str:
    bar = mix(section.errors, f"{section.name}: {wrong} errors", longest)
    share = f'<span class="num">{wrong} <i>of {section.judged}</i></span>'
    return f'<span class="mono wrap">{_text(section.name)}</span>{bar}{share}'


def number_heads(nouns: Nouns, metrics: Iterable[MetricSpec] = (), counted: bool = True) -> Markup:
    """Column heads after the name: metrics (default: ratios), counts, errors, errors by type.

    Without counts (*counted* is False), only the metrics.
    """
    if not counted:
        return Markup("".join(f'<th scope="col">{_text(spec.label)}</th>' for spec in metrics))
    ratios = [spec.label for spec in metrics] or [ratio.label for ratio in _ratios_of(nouns)]
    names = [*ratios, *[label for label, _ in _counts_of(nouns)], "Errors"]
    heads = "".join([f'<th scope="col">{_text(name)}</th>' for name in names])
    return Markup(f"{heads}{error_heads(nouns)}")


def fields(scores: Sequence[FieldScore], eval_id: str, nouns: Nouns = _FIELDS) -> Markup:
    """Table rows of fields: a link to the field's page, then the columns of ``number_heads``.

    A field of which nothing is judged has no link, because it may have no page.
    """
    return Markup("".join(_field_rows(eval_id, nouns).rows_of(scores)))


@lru_cache(maxsize=64)
def _field_rows(eval_id: str, nouns: Nouns) -> RowCache[FieldScore, str]:
    """A function that writes the row of a field. Scoring reuses the counts of fields in which nothing changed."""
    cells = _count_cells(nouns, ratios=True)
    return RowCache(
        lambda score: (
            f"<tr><td><a href={field_file(eval_id, score.attribute)}>{_text(score.attribute)}</a>{cells(score.counts)}"
            if judged(score.counts)
            else f"<tr><td>{_text(score.attribute)}{cells(score.counts)}"
        )
    )


def documents(
    scores: Iterable[DocumentScore], nouns: Nouns = _FIELDS, metrics: Sequence[MetricSpec] = (), counted: bool = True
) -> Markup:
    """Table rows of documents: the id, then the columns of ``number_heads``."""
    if not counted:
        return Markup("\n".join([_document_row(score, metrics) for score in scores]))
    cells = _count_cells(nouns, ratios=not metrics)
    return Markup("".join([f"{_document_row(score, metrics)}{cells(score.counts)}" for score in scores]))


def _document_row(score: DocumentScore, metrics: Sequence[MetricSpec]) -> str:
    values = dict(score.metrics)
    own = "".join([f"<td>{_metric_value_cell(values.get(spec.name), spec)}" for spec in metrics])
    state = "" if score.status == "scored" else f" ({STATUSES[score.status]})"
    return f"<tr><td>{_text(score.id) or '—'}{state}{own}"


@lru_cache(maxsize=64)
def _count_cells(nouns: Nouns, *, ratios: bool) -> Callable[[Counts], str]:
    """A function that writes the cells of a row. Most rows of a project have the same few counts, so it is cached."""
    columns = _ratios_of(nouns) if ratios else ()
    counted, types = [name for _, name in _counts_of(nouns)], error_types(nouns)

    @lru_cache(maxsize=4096)
    def cells(counts: Counts) -> str:
        numbers = [_ratio_cell(ratio.of(counts)) for ratio in columns]
        numbers += [str(getattr(counts, name)) for name in counted]
        numbers += [str(errors(counts)), *[str(getattr(counts, kind) or "") for kind in types]]
        return f"<td>{'<td>'.join(numbers)}\n"

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


@for_each
def alignment(row: AlignmentRow) -> str:
    """The table row of a pair of list items that were compared with each other."""
    unpaired = "missing" if row.actual is None else "extra" if row.expected is None else ""
    pill = f' <span class="pill bad">{unpaired}</span>' if unpaired else ""
    return (
        f'<tr><td class="wrap">{_item_label(row.label)}{pill}</td><td class="num">{_item_index(row.expected)}</td>'
        f'<td class="num">{_item_index(row.actual)}</td><td class="num">{_ratio_cell(row.similarity)}</td>'
        f"<td>{row.paired_by or _NIL}</td></tr>\n"
    )


def _item_label(label: str) -> str:
    return bounded(label, 200) if label else '<span class="nil">no label</span>'


def _item_index(index: int | None) -> str:
    return _NONE if index is None else f"[{index}]"


def _metric_value_cell(value: float | None, spec: MetricSpec) -> str:
    return number(value, unit=spec.unit) if spec.unit else _ratio_cell(value)


def _ratio_cell(value: float | None) -> str:
    return _NIL if value is None else f"{value:.3f}"
