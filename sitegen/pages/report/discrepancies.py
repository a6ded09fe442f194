"""The errors of a report: their number by section, what changed since the point before, and the rows of their table.

A row says since which point the value has been wrong.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from msgspec.structs import replace

from sitegen.config.models import Note
from sitegen.model.changes import Change, Overlap
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import ERROR_TYPES, EXTRA_ITEM, MISSING_ITEM, CellKey, ErrorType, Judgement
from sitegen.model.scorecards import DocumentScore, FieldScore, Scorecard
from sitegen.model.series import EvalInfo, WeakSection
from sitegen.model.usage import regraded
from sitegen.pages import links
from sitegen.pages.html.cells import RowCache
from sitegen.stats.counts import error_numbers
from sitegen.text.values import as_text


def error_changes(before: Scorecard | None, after: Scorecard, delta: Change | None) -> tuple[int | None, ...]:
    """The change of the errors of each type, over the documents that both points have.

    There is no change between errors that two different judges counted.
    """
    if not before or not delta or delta.overlap.verdict == "refused" or regraded(delta.judge, "f1"):
        return (None,) * len(ERROR_TYPES)
    first, last = _errors_in_common(before, delta.overlap), _errors_in_common(after, delta.overlap)
    return tuple(now - then for then, now in zip(first, last, strict=True))


def _errors_in_common(card: Scorecard, shared: Overlap) -> list[int]:
    """The errors of each type, except for those of documents that only one point has."""
    left_out = {*shared.only_before, *shared.only_after}
    counts = list(error_numbers(card.counts))
    for document in card.documents if left_out else ():
        if document.name in left_out:
            counts = [n - more for n, more in zip(counts, error_numbers(document.counts), strict=True)]
    return counts


_STEP_END: Final = re.compile(r"[.\[]")

TOP_LEVEL: Final = "(top level)"
"""The section of attributes that are directly at the root of the schema."""


def section(attribute: str) -> str:
    """The first step of an attribute that has more than one; ``TOP_LEVEL`` for the others."""
    if attribute.startswith('["'):
        end = attribute.find('"]') + 2
        return attribute[:end] if 1 < end < len(attribute) else TOP_LEVEL
    step = _STEP_END.search(attribute)
    return attribute[: step.start()] or TOP_LEVEL if step else TOP_LEVEL


def grouping(info: EvalInfo, fields: tuple[FieldScore, ...]) -> Callable[[str], str]:
    """The function that groups attributes: by section of the schema, or each separately if there are no sections."""
    flat = not info.nouns.are_fields and all(section(field.attribute) == TOP_LEVEL for field in fields)
    return str if flat else section


def sections(fields: tuple[FieldScore, ...], group: Callable[[str], str]) -> tuple[WeakSection, ...]:
    """The sections with their errors, in the order of their first attributes."""
    by_name: dict[str, list[int]] = {}
    for attribute, (tp, _, _, tn, omission, hallucination, wrong_value, format_error) in fields:
        sums = by_name.setdefault(group(attribute), [0, 0, 0, 0, 0])
        sums[0] += omission
        sums[1] += hallucination
        sums[2] += wrong_value
        sums[3] += format_error
        sums[4] += tp + tn + omission + hallucination + wrong_value + format_error
    return tuple(WeakSection(name, tuple(wrong), judged) for name, (*wrong, judged) in by_name.items())


_ITEM: Final = re.compile(r"(.*\[\d+\])(\..+|\[\".+)?", re.DOTALL)
"""Matches the path of the innermost list item, and the rest of the path below it."""


class PlacedError(Frozen):
    """An error with its place; the same object for the same judgement in any report."""

    error: Judgement
    key: CellKey
    item: str
    """The path of the innermost list item above it; empty outside of lists."""
    item_name: str
    """The name of this item in paths, ``windows[Front]``."""
    field: str
    """Address of the page of its attribute, relative to a report."""

    def __len__(self) -> int:
        return len(self.error.path) + len(self.item_name)


def _placed_error(error: Judgement) -> PlacedError:
    place = _ITEM.fullmatch(error.path)
    # An odd number of quotation marks: the brackets are part of a key.
    item = place[1] if place and place[1].count('"') % 2 == 0 else ""
    return PlacedError(
        error=error,
        key=error.key,
        item=item,
        item_name=error.label.removesuffix(error.path[len(item) :]) if item else "",
        field=links.field_in_eval(error.attribute),
    )


placed_error: Final = RowCache[Judgement, PlacedError](_placed_error)


class ErrorGroup(Frozen):
    """All errors of one list item, or a run of errors outside of lists."""

    first: int
    """The number of its first error, which identifies the group."""
    name: str
    """The name of the item in paths, ``windows[Front]``; empty for errors outside of lists."""
    document: str
    by_type: tuple[int, ...]
    """Number of errors of each of ``ERROR_TYPES``."""
    new: int
    """Number of errors that the previous output does not have."""
    whole: str
    """``missing`` if the output lacks the item, ``not expected`` if only it has the item; empty for any other."""


def error_groups(wrong: Sequence[PlacedError], new: Sequence[bool], sections: Mapping[str, str]) -> list[ErrorGroup]:
    """The group of each error. Errors outside of lists share one as long as they follow each other in one section.

    ``new``: for each error, whether the previous output lacks it; ``sections``: the section of each attribute.
    """
    members: dict[tuple[object, ...], list[int]] = {}
    keys: list[tuple[object, ...]] = []
    outside: tuple[object, ...] = ()
    for index, placed in enumerate(wrong):
        if placed.item:
            document, _, is_extra = placed.key
            key: tuple[object, ...] = (document, placed.item, is_extra)
            outside = ()
        else:
            section = sections[placed.error.attribute]
            outside = outside if outside and outside[1] == section else (index, section)
            key = outside
        members.setdefault(key, []).append(index)
        keys.append(key)
    groups, likely = {}, likely_items(wrong)
    for key, indices in members.items():
        first, errors = wrong[indices[0]], [wrong[index].error for index in indices]
        types, notes = [error.outcome for error in errors], {error.note for error in errors if first.item}
        extra = f"not expected{likely.get((first.error.document, first.item), '')}" if EXTRA_ITEM in notes else ""
        groups[key] = ErrorGroup(
            first=indices[0] + 1,
            name=first.item_name,
            document=first.error.document,
            by_type=tuple(map(types.count, ERROR_TYPES)),
            new=[new[index] for index in indices].count(True),
            whole="missing" if MISSING_ITEM in notes else extra,
        )
    return [groups[key] for key in keys]


def likely_items(wrong: Sequence[PlacedError]) -> dict[tuple[str, str], str]:
    """The missing item that an extra one, by its document and path, may be: the one that has most of its values."""
    missing, stated = defaultdict[tuple[str, ...], list[str]](list), defaultdict[tuple[str, str], list[list[str]]](list)
    for note in (MISSING_ITEM, EXTRA_ITEM):
        for error, item, name in ((placed.error, placed.item, placed.item_name) for placed in wrong if placed.item):
            if error.note == note:
                value = as_text(error.expected if note == MISSING_ITEM else error.actual)
                at = (error.document, item[: item.rindex("[")], error.path[len(item) :], value)
                if note == MISSING_ITEM:
                    missing[at].append(name)
                else:
                    stated[error.document, item].append(missing[at][:50])  # what more items have tells none of them
    likely = {}
    for extra, of_values in stated.items():
        (name, most), (_, second) = [*Counter(chain(*of_values)).most_common(2), ("", 0), ("", 0)][:2]
        if most > second and most >= max(2, len(of_values) / 2):
            likely[extra] = f" (perhaps {name}, by {most} of {len(of_values)} values)"
    return likely


LOADABLE: Final = 10_000
"""Largest number of further errors that the page can load: a longer table is too slow in a browser."""

_INDEX: Final = re.compile(r"\[(\d+)\]")


class Since(Frozen):
    """The first point of a streak of errors that lasts up to the report's own point."""

    label: str
    file: str
    iterations: int
    """Number of iterations of the streak, the report's own included; one that was scored again counts once."""
    new: bool
    """Whether the streak begins here, although the series has an earlier point."""


class Discrepancies(Frozen):
    """The errors of a report, as rows of their table."""

    drawn: tuple[Discrepancy, ...]
    """The first of each type."""
    loadable: tuple[Discrepancy, ...]
    """Further ones that the page loads from a file beside it on demand; none without a site around the page."""
    total: int
    new: int
    """Number of those that the previous point does not have."""
    left_out: Mapping[ErrorType, int]
    """How many of each type are not drawn, if any."""

    @property
    def out_of_reach(self) -> int:
        """Number of those that the page neither has nor can load: only the data file has them."""
        return self.total - len(self.drawn) - len(self.loadable)

    def with_notes(self, notes: Iterable[Note], documents: Mapping[str, DocumentScore]) -> Discrepancies:
        """Put the notes about a value beside its error, and those about a case beside its first one.

        ``documents``: by id. A note may also name one by its case and by who answered this.
        """
        met, of_case = set[str](), defaultdict[str, list[Note]](list)
        for note in notes:
            of_case[note.case].append(note)

        def noted(row: Discrepancy) -> Discrepancy:
            error = row.error
            names = {error.path, error.named_path, error.attribute, *([] if error.document in met else [""])}
            met.add(error.document)
            at = documents[error.document]
            said = (note for name in dict.fromkeys((at.name, at.case)) for note in of_case.get(name, ()))
            about = [note for note in said if note.field in names and note.who.items() <= at.axes.items()]
            return replace(row, said="; ".join(map(words_of, about))) if about else row

        return replace(self, drawn=tuple(map(noted, self.drawn)), loadable=tuple(map(noted, self.loadable)))


class Discrepancy(Frozen):
    """One row of the table of errors."""

    number: int
    placed: PlacedError
    section: str
    since: Since
    question: str
    """The question to the model; empty if unknown."""
    group: ErrorGroup
    said: str = ""
    """What people noted about the value; empty if nobody did."""

    @property
    def error(self) -> Judgement:
        """The judgement of the value."""
        return self.placed.error

    @property
    def path(self) -> str:
        """The path with list items by name, if they have names."""
        return self.error.label

    @property
    def indices(self) -> str:
        """The indices of these items, for the filter: ``13`` of ``windows[13].area``."""
        return ",".join(_INDEX.findall(self.error.path)) if self.error.named_path else ""


def discrepancies(
    wrong: Sequence[PlacedError],
    since: Sequence[Since],
    limit: int,
    sections: set[str],
    group: Callable[[str], str],
    questions: Mapping[str, str],
) -> Discrepancies:
    """The first ``limit`` errors of each type, and up to ``LOADABLE`` others.

    ``wrong``: all errors. ``since``: the start of the streak of each. ``sections``: those that the page filters
    by; others count as top level. ``group``: the section of an attribute. ``questions``: to the model, by document.
    """
    section_names = {}
    for attribute in {placed.error.attribute for placed in wrong}:
        name = group(attribute)
        section_names[attribute] = name if name in sections else TOP_LEVEL
    drawn: list[Discrepancy] = []
    loadable: list[Discrepancy] = []
    room = dict.fromkeys(ERROR_TYPES, limit)
    groups = error_groups(wrong, [start.new for start in since], section_names)
    for number, (placed, start, of_item) in enumerate(zip(wrong, since, groups, strict=True), 1):
        error = placed.error
        kind: ErrorType = error.outcome  # type: ignore[assignment]
        rows = drawn if room[kind] else loadable
        if rows is drawn:
            room[kind] -= 1
        elif len(loadable) == LOADABLE:
            continue
        rows.append(
            Discrepancy(
                number=number,
                placed=placed,
                section=section_names[error.attribute],
                since=start,
                question=questions.get(error.document, "") if questions else "",
                group=of_item,
            )
        )
    totals = Counter([placed.error.outcome for placed in wrong])
    return Discrepancies(
        drawn=tuple(drawn),
        loadable=tuple(loadable),
        total=len(wrong),
        new=sum([start.new for start in since]),
        left_out={kind: totals[kind] - limit for kind in ERROR_TYPES if totals[kind] > limit},
    )


def words_of(note: Note) -> str:
    """What a person noted, in one line: ``Ann: right (unit in words), the label is wrong``."""
    code = f" ({note.code})" if note.code else ""
    said = ", ".join(filter(None, (f"{note.verdict}{code}".strip(), note.note)))
    return f"{note.by}'s note: {said}" if note.by else said
