"""HTML of the tables of a report, written by f-strings: five times faster than a loop in Jinja."""

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
from operator import attrgetter
from types import MappingProxyType
from typing import Final

from markupsafe import Markup

from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.model.outcomes import ERROR_TYPES, MISSING_ITEM, ErrorType
from sitegen.model.scorecards import AlignmentRow, DocumentScore, FieldScore
from sitegen.model.site import RawFile
from sitegen.pages import links
from sitegen.pages.data.search import script_file
from sitegen.pages.html.cells import RowCache, direction, shown_pair, value
from sitegen.pages.html.cells import text as _text
from sitegen.pages.html.formats import NIL, bounded, number, path, printable, signed
from sitegen.pages.html.tables import Column, Text, cached_writer, class_name, heads, writer
from sitegen.pages.labels import ERROR_LABELS, STATUSES
from sitegen.pages.report.discrepancies import Discrepancy, ErrorGroup, PlacedError, Since
from sitegen.pages.report.page import ReportView
from sitegen.stats.counts import PASSED, RATIOS, errors, judged
from sitegen.text.plain import counted

_FIELDS = Nouns()


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
            Column(name=name, head="Correct" if "fp" in nouns.same else name.upper(), cell=attrgetter(name))
            for name in (("tp",) if "fp" in nouns.same else ("tp", "fp", "fn", "tn"))
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
    """Head and rows of the table of fields: a link to the field's page, then the columns of ``count_columns``."""
    name = Column(name="field", head=nouns.attribute.capitalize(), cell=_field, classes="label")
    return _table([name], count_columns(nouns, ratios=True), scores)


@lru_cache(maxsize=4096)
def _field(score: FieldScore) -> Markup:
    """The name, with a link unless nothing of the field is judged: then it may have no page."""
    name = path(score.attribute)
    return Markup(f"<a href={links.field_in_eval(score.attribute)}>{name}</a>") if judged(score.counts) else name


def _table(own: Sequence[Column], counts: Sequence[Column], scores: Sequence[FieldScore | DocumentScore]) -> Markup:
    """Head and rows of a table, whose columns are functions of a score, and then of its counts."""
    cells, count_cells = writer(own, named=False), cached_writer(tuple(counts))
    rows = [f"<tr>{cells(score)}{count_cells(score.counts)}\n" for score in scores]
    return Markup(f"{heads([*own, *counts])}<tbody>{''.join(rows)}")


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
    scores: Sequence[DocumentScore],
    nouns: Nouns = _FIELDS,
    metrics: Sequence[MetricSpec] = (),
    counted: bool = True,
    pages: Mapping[str, str] = MappingProxyType({}),
) -> Markup:
    """Head and rows of the table of documents: id, linked to its page in ``pages``, metrics, counts if ``counted``."""

    def name(score: DocumentScore) -> Markup:
        state = "" if score.status == "scored" else f" ({STATUSES[score.status]})"
        return Markup(f"{_linked(score.name, pages) or '—'}{state}")

    own = [
        Column(name="document", head=nouns.document.capitalize(), cell=name, classes="label"),
        *(
            Column(class_name(of.label), of.label, lambda row, of=of: number(dict(row.metrics).get(of.name), of.unit))
            for of in metrics
        ),
    ]
    counts = count_columns(nouns, ratios=nouns.are_fields or not metrics) if counted else ()
    return _table(own, counts, scores)


def _linked(document: str, pages: Mapping[str, str]) -> str:
    address = pages.get(document)
    return f"<a href={_attribute_value(address)}>{_text(document)}</a>" if address else _text(document)


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
_NUMBER: Final = Column("number", "#", lambda number: Markup(f"<a href=#d{number}>{number}</a>"))
_number_cell: Final = lru_cache(maxsize=1024)(writer([_NUMBER]))


def discrepancy_columns(view: ReportView) -> tuple[Column, ...]:
    """The table of errors: its number, what any report says of it, and functions of its ``Since`` and its document."""

    def start(since: Since, _: str) -> Markup:  # the table sorts by the number of iterations, which a style writes
        first = f"<a href={_attribute_value(since.file)}>{_text(since.label)}</a>"
        return Markup(f"<data value={since.iterations}>{'<b>new</b>' if since.new else first}</data>")

    nouns, pages = view.info.nouns, view.case_pages
    name = Column("document", nouns.document.capitalize(), lambda _, document: Markup(_linked(document, pages)))
    further = [Column("since", "Wrong since", start)] if view.previous is not None else []
    return (_NUMBER, *error_columns(nouns), *further, *([name] if len(view.documents) > 1 else ()))


@lru_cache(maxsize=64)
def error_columns(nouns: Nouns) -> tuple[Column, ...]:
    """What any report says of an error: functions of it, of its place with remarks, and of its two values."""
    letters = {kind: nouns.letter(kind) for kind in ERROR_TYPES}  # the style sheet has those of fields
    own = {kind: f" data-l={letter}" for kind, letter in letters.items() if letter != _FIELDS.letter(kind)}
    return (
        Column(
            name="type",
            head="Type",
            cell=lambda error, *_: Markup(type_label(error.outcome, nouns)),
            further=lambda error, *_: own.get(error.outcome, ""),
        ),
        Column("place", nouns.place.capitalize(), lambda error, place, *_: place),
        *(
            Column(
                name=side,
                head=side.capitalize(),
                cell=lambda error, place, *values, at=at: values[at],
                further=lambda error, place, *values, at=at: direction(values[at]),
            )
            for at, side in enumerate(("expected", "actual"))
        ),
    )


def discrepancies(rows: Sequence[Discrepancy], view: ReportView) -> Markup:
    """Table bodies of errors, one for each list item with errors, and one for each run of other errors.

    The filter and the style sheet read the ``data-`` attributes of rows.
    """
    bodies: dict[int, list[str]] = {}
    nouns, columns, several = view.info.nouns, discrepancy_columns(view), len(view.documents) > 1
    sections = {name: _attribute_value(name) for name in {row.section for row in rows}}
    cells, of_report = error_cells(nouns), cache(writer(columns[1 + len(error_columns(nouns)) :]))
    for row in rows:
        placed, since, group = row.placed, row.since, row.group
        if group.first not in bodies:
            indices = f" data-i={_attribute_value(row.indices)}" if row.indices else ""
            head = _item_head(group, nouns, len(columns), f", {_text(group.document)}" if several else "")
            bodies[group.first] = [f"<tbody id=g{group.first}{indices}>{head}"]
        # A group has the name of its first error, as a rule that of all of them.
        is_plain = group.name == placed.item_name and not row.question and not row.said
        bodies[group.first].append(
            f"<tr id=d{row.number} data-t={placed.error.outcome} data-g={sections[row.section]}"
            f"{' data-n' if since.new else ''}>{_number_cell(row.number)}"
            f"{cells(placed) if is_plain else cells(placed, group.name, row.question, row.said)}"
            f"{of_report(since, placed.error.document)}\n"
        )
    return Markup("".join(itertools.chain.from_iterable(bodies.values())))


def _item_head(group: ErrorGroup, nouns: Nouns, width: int, document: str) -> str:
    """The head of a list item with its errors, which folds its rows; an item that is wrong as a whole is folded."""
    if not group.name:
        return ""
    total = sum(group.by_type)
    if group.whole:
        fields = nouns.attribute if total == 1 else nouns.attributes
        wrong = f"{_text(group.whole)}, {total:,} {_text(fields)}"
    elif nouns.are_fields:
        wrong = _in_words(group.by_type)
    else:
        wrong = counted(total, "error")
    new = f", {group.new:,} new" if group.new else ""
    return (
        f"<tr class=item><th scope=rowgroup colspan={width}><details{'' if group.whole else ' open'}><summary>"
        f"<b>{_text(group.name)}</b>{document}: {wrong}{new}</summary></details>\n"
    )


@lru_cache(maxsize=1024)
def _in_words(by_type: tuple[int, ...]) -> str:
    """How many errors of each type: ``2 omissions, 1 wrong value``; cached, because most items have the same few."""
    of_types = zip(ERROR_TYPES, by_type, strict=True)
    return ", ".join([counted(count, ERROR_LABELS[kind].lower()) for kind, count in of_types if count])


@lru_cache(maxsize=64)
def error_cells(nouns: Nouns) -> RowCache[PlacedError, str]:
    """A function of an error and, unless it stands alone and bare, of the name of its group, the question and notes."""
    return RowCache(partial(_error_cells, writer(error_columns(nouns))))


def _error_cells(
    write: Callable[..., str], placed: PlacedError, item: str | None = None, question: str = "", said: str = ""
) -> str:
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
    place = error.label.removeprefix(placed.item_name if item is None else item).removeprefix(".") or error.label
    link = f"<a href={_attribute_value(placed.field)}>{path(place)}</a>"
    return write(error, Markup(link + remark), *map(Markup, map(value, shown_pair(error))))


def _attribute_value(content: str) -> str:
    """The text as the value of an attribute, in quotation marks only where it needs them."""
    return content if _PLAIN(content) else f'"{_text(content)}"'


def _question(question: str) -> str:
    """The question to the model: one line, which can be opened if the question is longer."""
    if len(question) <= _SUMMARY and "\n" not in question:
        return f"<small>{_text(question)}</small>"
    first = question.strip().partition("\n")[0][:_SUMMARY]
    return f"<details class=cell><summary>{_text(first)} …</summary>{bounded(question, _LONGEST_QUESTION)}</details>"


def rows_file(view: ReportView) -> RawFile | None:
    """Table bodies in the form of the page's table; None if the page has all of them."""
    if not (loadable := view.discrepancies.loadable):
        return None
    path = links.report_rows(view.info.id, view.snapshot.slug)
    return script_file(path, "ROWS", str(discrepancies(loadable, view)))
