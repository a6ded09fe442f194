"""HTML of the tables of a report, written by f-strings: five times faster than a loop in Jinja."""

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from types import MappingProxyType
from typing import Final, cast

from markupsafe import Markup

from sitegen.model.metrics import Counts, MetricSpec, Nouns
from sitegen.model.outcomes import ERROR_TYPES, MISSING_ITEM, ErrorType
from sitegen.model.scorecards import AlignmentRow, DocumentScore, FieldScore
from sitegen.model.site import RawFile
from sitegen.pages import links
from sitegen.pages.data.search import script_file
from sitegen.pages.html.cells import RowCache, output, value_cells
from sitegen.pages.html.cells import text as _text
from sitegen.pages.html.formats import NIL, bounded, number, path, printable, signed
from sitegen.pages.html.tables import Column, Text, class_name
from sitegen.pages.labels import ERROR_LABELS, STATUSES
from sitegen.pages.report.discrepancies import Discrepancy, ErrorGroup, PlacedError, Since
from sitegen.pages.report.page import ReportView
from sitegen.stats.counts import PASSED, RATIOS, errors, judged
from sitegen.text.plain import counted

_FIELDS = Nouns()
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
    return Markup(f'<span class="t {kind}" aria-hidden="true">{nouns.letter(kind)}</span>')


def type_label(kind: ErrorType, nouns: Nouns) -> str:
    """The name of a type of errors in this kind of eval."""
    word = nouns.errors[ERROR_TYPES.index(kind)]
    return _text(word[:1].upper() + word[1:])


def mix(counts: Iterable[int], label: str, total: int = 0) -> Markup:
    """A bar with a part for each type of errors; ``total``: the number of a full bar, so that bars are comparable."""
    parts, end = [], 0
    for kind, count in zip(ERROR_TYPES, counts, strict=True):
        if count:
            parts.append(f'<rect class="f-{kind}" x="{end}" width="{count}" height="1"/>')
            end += count
    box = f'viewBox="0 0 {total or end or 1} 1" preserveAspectRatio="none"'
    return Markup(f'<svg class="bars" {box} role="img" aria-label="{_text(label)}">{"".join(parts)}</svg>')


def columns(name: str, nouns: Nouns, metrics: Sequence[MetricSpec] = (), counted: bool = True) -> tuple[Column, ...]:
    """A table of fields or documents with their metrics, and with the columns of ``count_columns`` if they count."""
    head = nouns.attribute if name == "field" else nouns.document
    return (
        Column(name=name, head=head.capitalize(), cell=str, classes="label"),
        *(Column(name=class_name(spec.label), head=spec.label, cell=str) for spec in metrics),
        *(count_columns(nouns, ratios=nouns.are_fields or not metrics) if counted else ()),
    )


@lru_cache(maxsize=64)
def count_columns(nouns: Nouns, *, ratios: bool) -> tuple[Column, ...]:
    """Columns of counts: ratios, which count repeats, unless answers have own metrics; counts; errors, and by type."""
    types = nouns.error_types
    listed = RATIOS if "fp" not in nouns.same else (PASSED,)
    labels = {PASSED.name: "Share right"} if nouns.value == "answer" else {}
    return (
        *(
            Column(ratio.name, labels.get(ratio.name, ratio.label), lambda counts, of=ratio.of: number(of(counts)))
            for ratio in (listed if ratios else ())
        ),
        *(
            Column(name=name, head=label, cell=attrgetter(name))
            for label, name in (_CORRECT if "fp" in nouns.same else _CONFUSION)
        ),
        Column(name="errors", head=type_label(types[0], nouns) if len(types) == 1 else "Errors", cell=errors),
        *(
            Column(
                kind,
                type_mark(kind, nouns),
                lambda counts, kind=kind: getattr(counts, kind) or "",
                title=type_label(kind, nouns),
            )
            for kind in (types if len(types) > 1 else ())
        ),
    )


def fields(scores: Sequence[FieldScore], nouns: Nouns = _FIELDS) -> Markup:
    """Table rows of fields: a link to the field's page, then the columns of ``count_columns``.

    A field of which nothing is judged has no link, because it may have no page.
    """
    cells, rows = _count_cells(nouns, ratios=True), []
    for attribute, counts in scores:
        name = path(attribute)
        label = f"<a href={links.field_in_eval(attribute)}>{name}</a>" if judged(counts) else name
        rows.append(f"<tr><td class=label>{label}{cells(counts)}")
    return Markup("".join(rows))


def metric_columns(recorded: bool) -> tuple[Column, ...]:
    """The table of metrics: functions of a metric and of the report."""
    return (
        Column("metric", "Metric", lambda spec, _: printable(spec.label), classes="wrap" if recorded else ""),
        Column(name="value", head="Value", cell=_value, classes="num"),
        Column(name="change", head="Change", cell=_change, classes="num"),
        Column("explanation", "What it is", lambda spec, _: printable(spec.explanation), classes="hide-s muted"),
    )


def _value(spec: MetricSpec, view: ReportView) -> Text:
    """The value, with a link to the cases that it counts if the report can list them."""
    value = number(view.card.metric(spec.name), spec.unit)
    address = view.grid.address_of(spec.name) if view.grid else ""
    return Markup(f'<a href="{address}">{value}</a>') if address else value


def _change(spec: MetricSpec, view: ReportView) -> Markup:
    if view.previous is None:
        return Markup("")
    return signed(view.change_of(spec), spec, view.point.change.verdict if view.point.change else None)


def documents(
    scores: Iterable[DocumentScore],
    nouns: Nouns = _FIELDS,
    metrics: Sequence[MetricSpec] = (),
    counted: bool = True,
    pages: Mapping[str, str] = MappingProxyType({}),
) -> Markup:
    """Table rows of documents: the id, linked to its page in ``pages``, then the columns of ``count_columns``."""
    if not counted:
        return Markup("\n".join([_document_row(score, metrics, pages) for score in scores]))
    cells = _count_cells(nouns, ratios=nouns.are_fields or not metrics)
    return Markup("".join([f"{_document_row(score, metrics, pages)}{cells(score.counts)}" for score in scores]))


def _linked(document: str, pages: Mapping[str, str]) -> str:
    address = pages.get(document)
    return f"<a href={_attribute_value(address)}>{_text(document)}</a>" if address else _text(document)


def _document_row(score: DocumentScore, metrics: Sequence[MetricSpec], pages: Mapping[str, str]) -> str:
    values = dict(score.metrics)
    own = "".join([f"<td>{number(values.get(spec.name), spec.unit)}" for spec in metrics])
    state = "" if score.status == "scored" else f" ({STATUSES[score.status]})"
    return f"<tr><td class=label>{_linked(score.name, pages) or '—'}{state}{own}"


@lru_cache(maxsize=64)
def _count_cells(nouns: Nouns, *, ratios: bool) -> Callable[[Counts], str]:
    """A function that writes the cells of a row. Most rows of a project have the same few counts, so it is cached.

    Rows are many, so their cells have no classes.
    """
    listed = [column.show for column in count_columns(nouns, ratios=ratios)]

    @lru_cache(maxsize=4096)
    def cells(counts: Counts) -> str:
        return f"<td>{'<td>'.join([output(show(counts)) for show in listed])}\n"

    return cells


def _item(row: AlignmentRow) -> Markup:
    name = bounded(row.label, 200) if row.label else Markup('<span class="nil">no label</span>')
    alone = "missing" if row.actual is None else "extra" if row.expected is None else ""
    return name + Markup(f' <span class="pill bad">{alone}</span>') if alone else name


def _index(index: int | None) -> Text:
    return Markup('<span class="nil">—</span>') if index is None else f"[{index}]"


PAIRING: Final = (
    Column(name="item", head="Item", cell=_item, classes="label"),
    Column(name="expected", head="Expected", cell=lambda row: _index(row.expected)),
    Column(name="actual", head="Actual", cell=lambda row: _index(row.actual)),
    Column(name="similarity", head="Similarity", cell=lambda row: number(row.similarity)),
    Column(name="paired-by", head="Paired by", cell=lambda row: row.paired_by or NIL),
)
"""The table of the list items of an output and of the expected ones with which they were compared."""


def paired(rows: Sequence[AlignmentRow]) -> str:
    """How many items were paired and how many were not: ``11 paired (2 by agreement), 1 missing``."""
    missing = sum(row.actual is None for row in rows)
    extra = sum(row.expected is None for row in rows)
    pairs = sum(row.actual is not None and row.expected is not None for row in rows)
    agreed = sum(row.paired_by == "agreement" for row in rows)
    by_agreement = f" ({agreed} by agreement)" if agreed else ""
    missed = f", {missing} missing" if missing else ""
    return f"{pairs} paired{by_agreement}{missed}{f', {extra} extra' if extra else ''}"


_SUMMARY: Final = 90  # number of characters of a question that are visible before it is opened
_LONGEST_QUESTION: Final = 1_000  # largest number of characters of a question on a page
_PLAIN: Final = re.compile(r"[\w.,/-]+", re.ASCII).fullmatch


def discrepancy_columns(view: ReportView) -> list[Column]:
    """The heads of the table, whose rows are written here."""
    nouns = view.info.nouns
    names = {
        "number": "#",
        "type": "Type",
        "place": nouns.place.capitalize(),
        "expected": "Expected",
        "actual": "Actual",
    }
    names |= {"since": "Wrong since"} if view.previous is not None else {}
    names |= {"document": nouns.document.capitalize()} if len(view.documents) > 1 else {}
    return [Column(name=name, head=head, cell=str) for name, head in names.items()]


def discrepancies(rows: Sequence[Discrepancy], view: ReportView) -> Markup:
    """Table bodies of discrepancies, one for each list item with errors, and one for each run of other errors.

    The filter and the style sheet read the ``data-`` attributes of rows.
    """
    bodies: dict[int, list[str]] = {}
    nouns, pages = view.info.nouns, view.case_pages if len(view.documents) > 1 else None
    width = len(discrepancy_columns(view))
    sections = {name: _attribute_value(name) for name in {row.section for row in rows}}
    starts = {since: _since_cell(since) if view.previous is not None else "" for since in {row.since for row in rows}}
    cells = error_cells(nouns)
    for row in rows:
        number, placed, since, group = row.number, row.placed, row.since, row.group
        if group.first not in bodies:
            indices = f" data-i={_attribute_value(row.indices)}" if row.indices else ""
            head = _item_head(group, nouns, width, f", {_text(group.document)}" if pages is not None else "")
            bodies[group.first] = [f"<tbody id=g{group.first}{indices}>{head}"]
        # A group has the name of its first error, as a rule that of all of them.
        is_plain = group.name == placed.item_name and not row.question and not row.said
        bodies[group.first].append(
            f"<tr id=d{number} data-t={placed.error.outcome} data-g={sections[row.section]}"
            f"{' data-n' if since.new else ''}><td class=c-number><a href=#d{number}>{number}</a>"
            f"{cells(placed) if is_plain else cells(placed, group.name, row.question, row.said)}{starts[since]}"
            f"{f'<td class=c-document>{_linked(placed.error.document, pages)}' if pages is not None else ''}\n"
        )
    return Markup("".join(itertools.chain.from_iterable(bodies.values())))


def _item_head(group: ErrorGroup, nouns: Nouns, width: int, document: str) -> str:
    """The head of a list item with its errors, which folds its rows; an item that is wrong as a whole is folded."""
    if not group.name:
        return ""
    total = sum(group.by_type)
    by_type = zip(ERROR_TYPES, group.by_type, strict=True)
    if group.whole:
        fields = nouns.attribute if total == 1 else nouns.attributes
        wrong = f"{_text(group.whole)}, {total:,} {_text(fields)}"
    elif nouns.are_fields:
        wrong = ", ".join(counted(count, ERROR_LABELS[kind].lower()) for kind, count in by_type if count)
    else:
        wrong = counted(total, "error")
    new = f", {group.new:,} new" if group.new else ""
    return (
        f"<tr class=item><th scope=rowgroup colspan={width}><details{'' if group.whole else ' open'}><summary>"
        f"<b>{_text(group.name)}</b>{document}: {wrong}{new}</summary></details>\n"
    )


@lru_cache(maxsize=64)
def error_cells(nouns: Nouns) -> RowCache[PlacedError, str]:
    """A function that writes the cells of an error that are the same in every report, from type to values.

    Its arguments are the error and, unless they are the name of its own list item and empty, the name under which its
    group stands, the question, and what people noted.
    """
    return RowCache(partial(_error_cells, nouns))


def _error_cells(nouns: Nouns, placed: PlacedError, item: str | None = None, question: str = "", said: str = "") -> str:
    error = placed.error
    # Values, type and item imply some notes.
    implied = error.outcome == "hallucination" or (placed.item and error.note == MISSING_ITEM)
    remark = f"<small>{_text(error.note)}</small>" if error.note and not implied else ""
    if error.evidence:
        remark += f"<small>states {_text(error.evidence)}</small>"
    if question:
        remark += _question(question)
    if said:
        remark += f"<small class=said>{bounded(said, _LONGEST_QUESTION)}</small>"
    kind = cast("ErrorType", error.outcome)
    letter = nouns.letter(kind)
    own = "" if letter == _FIELDS.letter(kind) else f" data-l={letter}"  # the style sheet has those of fields
    place = error.label.removeprefix(placed.item_name if item is None else item).removeprefix(".") or error.label
    return (
        f"<td class=c-type{own}>{type_label(kind, nouns)}"
        f"<td class=c-place><a href={_attribute_value(placed.field)}>{path(place)}</a>{remark}"
        f"{value_cells(error)}"
    )


def _attribute_value(content: str) -> str:
    """The text as the value of an attribute, in quotation marks only where it needs them."""
    return content if _PLAIN(content) else f'"{_text(content)}"'


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
    return f"<td><data value={since.iterations}>{link}</data>"


def rows_file(view: ReportView) -> RawFile | None:
    """Table bodies in the form of the page's table; None if the page has all of them."""
    loadable = view.discrepancies.loadable
    if not loadable:
        return None
    path = links.report_rows(view.info.id, view.snapshot.slug)
    return script_file(path, "ROWS", str(discrepancies(loadable, view)))
