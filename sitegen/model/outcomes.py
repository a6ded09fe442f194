"""Values of outputs and of the ground truth, the outcomes of their comparison, and cells.

A cell is one attribute of one document, or of one list item, followed through all points of an eval.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from sitegen.model.frozen import Frozen, field, grouped


class Unusable(Frozen):
    """A single value that JSON allows but no comparison can use: NaN, Infinity, a 5,000-digit integer.

    It is judged as a format error at its own path, and does not affect other values.
    """

    literal: str
    """The value as it was written, cut to 80 characters. Of a text with half of a surrogate pair, up to 10,000."""
    reason: str


HALF: Final = "half of a surrogate pair"
"""Why a text is unusable: it cannot be encoded."""


LARGEST_NUMBER: Final = 1e30
"""The greatest size of a number that statistics and charts use: squares and quotients of greater ones are infinite."""

REDACTED: Final = Unusable("redacted", "hidden by the configuration")
"""Replaces a value that no page may show. No value of a file equals it, because its JSON has no quotation marks."""

Scalar: TypeAlias = "bool | int | Decimal | str | Unusable | None"
"""Numbers with a fraction or an exponent are Decimals, so that they stay exact."""

if TYPE_CHECKING:
    Value: TypeAlias = "Scalar | list[Value] | dict[str, Value]"
else:
    Value = Any  # what is kept is decoded as the JSON that it is


ErrorType: TypeAlias = Literal["omission", "hallucination", "wrong_value", "format_error"]
Outcome: TypeAlias = Literal["correct", "true_negative", "omission", "hallucination", "wrong_value", "format_error"]

ERROR_TYPES: Final[tuple[ErrorType, ...]] = ("omission", "hallucination", "wrong_value", "format_error")
"""In the order in which pages list and stack them."""

Verdict: TypeAlias = Literal["right", "wrong", ""]
"""What was judged of an answer or a label; empty if nothing was."""

CellKey: TypeAlias = tuple[str, str, bool]
"""(document, path, whether the cell belongs to an extra item, whose path has the index in the output)."""

EXTRA_ITEM: Final = "extra item"
"""The note of a hallucination in a list item that was not expected."""

MISSING_ITEM: Final = "missing item"
"""The note of an omission in a list item that has no partner in the output."""


Stated: TypeAlias = tuple[float, bool]
"""The confidence that is stated for a value, 0..1, and whether the value is right."""


class Judgement(Frozen):
    """One attribute of one document, judged. Files call an error among them a *discrepancy*."""

    document: str
    """Id of the document; empty if the eval has only one."""
    path: str
    """Field path, ``walls[0].area``; for an unmatched item of the output with its index in the output."""
    attribute: str
    """The field path without indices, ``walls[].area``, by which numbers are grouped."""
    outcome: Outcome
    expected: Value
    actual: Value
    note: str = ""
    """The reason, if values alone do not show it: ``expected blank``, ``not in ground truth``, ``extra item`` ..."""
    named_path: str = ""
    """The path with names of list items instead of indices, ``walls[E Wall].area``; empty if it is the same, or if a
    redaction hides names."""
    evidence: str = ""
    """The page, the confidence and the quote that the output states for the value, in words; empty if it states none,
    and in an eval with redacted values."""
    stated: tuple[Stated, ...] = ()
    """The confidence that the output states for the value; of several answers to a case, that of each that has one."""

    @property
    def label(self) -> str:
        """The path as pages show it."""
        return self.named_path or self.path

    @property
    def key(self) -> CellKey:
        """The key that identifies the cell in every output, whatever the name of its list item."""
        return self.document, self.path, self.note == EXTRA_ITEM


def changed_judgements(
    before: Sequence[Judgement], after: Sequence[Judgement]
) -> tuple[list[Judgement], list[Judgement]]:
    """Return the judgements that are new in an output, and those that are gone, each in the order of its output.

    They are compared as objects: equal values of two outputs have the very same judgement.
    """
    if len(before) == len(after):  # as a rule; then most stand at the same place
        pairs = [(first, last) for first, last in zip(before, after, strict=True) if first is not last]
        before, after = [first for first, _ in pairs], [last for _, last in pairs]
    gone = {id(judgement): judgement for judgement in before}
    new = [judgement for judgement in after if gone.pop(id(judgement), None) is None]
    return new, list(gone.values())


State: TypeAlias = Outcome | Literal["absent"]
"""absent: the point did not judge this cell, because it does not have the document or the item."""

WRONG = frozenset({"omission", "hallucination", "wrong_value", "format_error"})

BLANK = frozenset({"true_negative", "hallucination"})
"""The states of a cell where nothing is expected."""


class Period(NamedTuple):
    """Consecutive points at which nothing about a cell changed."""

    start: int
    """Index of the first of these points in the series. The period ends where the next period starts."""
    state: State
    expected: str
    """The value as bounded JSON text; empty if none was expected."""
    actual: str
    """In the same form; empty if the output has none."""

    @property
    def is_wrong(self) -> bool:
        """Whether the outcome is an error."""
        return self.state in WRONG


ABSENT = Period(start=0, state="absent", expected="", actual="")
"""In place of the period of a cell that a point did not judge."""


class Cell(NamedTuple):
    """The history of one cell."""

    document: str
    """Id of the document; empty if the eval has only one."""
    path: str
    """Field path, ``walls[0].area``; for an unmatched item of the output, with the item's index in the output."""
    attribute: str
    """``walls[].area``: the path by which cells are grouped."""
    extra: bool
    """Whether the cell belongs to a list item that only the output has; its path then has the index in the output."""
    periods: tuple[Period, ...]
    """Oldest first, starting at the first point that judged the cell. Never empty."""
    named_path: str = ""
    """The path with names of list items instead of indices; empty if it is the same. Path and names are the newest."""
    earlier_attributes: tuple[str, ...] = ()
    """Attributes that the cell had earlier, oldest first; for example, a case can move to another category."""
    rejudged: tuple[Period, ...] = ()
    """At each point with other ground truth or rules the output before its own, and its own if it was re-scored, where
    these judge it otherwise. Only where the output was asked for the value too, or has it."""

    @property
    def label(self) -> str:
        """The path as pages show it."""
        return self.named_path or self.path

    @property
    def key(self) -> CellKey:
        """The key of all judgements of this cell."""
        return self.document, self.path, self.extra

    def at(self, index: int) -> Period | None:
        """Return the period that covers a point; None before the cell was first judged."""
        following = bisect_left(self.periods, (index + 1,))  # a period is a tuple that begins with its start
        return self.periods[following - 1] if following else None

    def wrong_since(self, index: int) -> int | None:
        """Return the first point of the unbroken streak of errors around a point; None if the cell is right there."""
        since = None
        for period in reversed(self.periods):
            if period.start > index:
                continue
            if period.state not in WRONG:
                break
            since = period.start
        return since

    def spans(self, points: int) -> Iterator[tuple[Period, int]]:
        """Yield each period of the first ``points``, with the index of the point after its last."""
        periods = [period for period in self.periods if period.start < points]
        return zip(periods, [*(period.start for period in periods[1:]), points], strict=True)

    def item(self, cases: Mapping[str, str]) -> CellKey:
        """Return what flips as one event: the list item that the cell belongs to; outside of lists, the cell itself.

        ``cases``: as in ``CellMap``; the cells of all answers to a case are one.
        """
        path, bracket, _ = self.path.rpartition("]") if "[]" in self.attribute else (self.path, "", "")
        return cases.get(self.document, self.document), path + bracket, self.extra


class CellMap(Frozen):
    """All cells of an eval."""

    outputs: tuple[int, ...]
    """For each point of the series that the map covers, the first one with its output."""
    cells: tuple[Cell, ...]
    """In the order in which they were first judged."""
    documents: dict[str, tuple[int, ...]]
    """For each document the points at which it came and went, in turn: a document (2, 5) is at the points 2 to 4.

    A point has the documents that its output was asked for, also those without a cell: a paragraph without marks."""
    cases: dict[str, str] = field(default_factory=dict)
    """The case of each document that is one of several answers to it."""

    def judged_alike(self, cell: Cell, before: int, after: int) -> Period | None:
        """Return the period of a cell at a point, judged by the ground truth and rules of a later one.

        Wherever these changed between the two, its value becomes what the same value of the output before became. If
        none had it when the label changed, it is what it was whenever it was held against this label. If both points
        have the same output, nothing else can differ, and it is judged as it was.
        """
        period = cell.at(before)
        output, following = self.outputs[before], before + 1
        rejudged = () if output == self.outputs[after] else cell.rejudged
        for judged in rejudged:
            is_its_own = judged.start == following and self.outputs[following] != output
            is_its_value = period is not None and judged.actual == period.actual
            if before < judged.start <= after and (is_its_own or is_its_value):
                period = judged
        later = cell.at(after) if rejudged and period else None
        if period is None or later is None or period.expected == later.expected:  # as a rule
            return period
        held = (each for each in (*reversed(rejudged), *reversed(cell.periods)) if each.start <= after)
        return next((each for each in held if each[2:] == (later.expected, period.actual)), period)

    def holds(self, document: str, *points: int) -> bool:
        """Decide whether all of these points have the document."""
        switches = self.documents.get(document, ())
        return all(bisect_right(switches, point) % 2 for point in points)

    @property
    def by_attribute(self) -> dict[str, list[Cell]]:
        """The cells of each attribute, in the order of the map. A cell is listed under its earlier attributes too."""
        return grouped((name, cell) for cell in self.cells for name in (cell.attribute, *cell.earlier_attributes))

    @property
    def by_label(self) -> dict[CellKey, list[Cell]]:
        """The cells of each label, by case, path and whether it is extra: several, if several answered the case."""
        case_of = self.cases.get
        return grouped(((case_of(cell.document, cell.document), cell.path, cell.extra), cell) for cell in self.cells)

    @property
    def documents_of_points(self) -> dict[str, bytearray]:
        """Map each document to one byte for each point: whether the point has it."""
        held: dict[str, bytearray] = {}
        for name, switches in self.documents.items():
            points = held[name] = bytearray(len(self.outputs))
            ends = (*switches, len(points)) if len(switches) % 2 else switches
            for start, end in zip(ends[::2], ends[1::2], strict=True):
                points[start:end] = b"\1" * (end - start)
        return held


Fate: TypeAlias = Literal["fixed", "broken", "still_wrong", "appeared", "vanished"]
"""How a cell that is wrong at one or both of two points changed between them. appeared, vanished: only the later or
only the earlier point has the cell, because their documents or their ground truth differ."""

Tally: TypeAlias = tuple[tuple[str, int], ...]
"""(attribute, number of its cells): most cells first, then by name. Attributes without any cell are left out."""

Doubts: TypeAlias = tuple[tuple[str, int, int], ...]
"""Attributes with broken cells that say little of what broke them: how many of these cells flip often, and of how many
the label may be wrong."""


class CellFlip(NamedTuple):
    """A cell that is wrong at one or both of two points."""

    fate: Fate
    cell: Cell
    before: Period | None
    after: Period | None
    """None if the cell had not been judged yet, which counts as absent."""


FEWEST_LOST: Final = 3
"""The fewest values in which an attribute must have been right to be lost."""


class Flips(Frozen):
    """The number of cells with each fate between two points, by attribute.

    Errors at the later point = errors at the earlier point + ``broken`` + ``appeared`` - ``fixed`` - ``vanished``. If
    ground truth or rules changed with the output, the errors at the earlier point are those by the later ones.
    """

    fixed: Tally = ()
    broken: Tally = ()
    still: Tally = ()
    """Wrong at both points."""
    appeared: Tally = ()
    vanished: Tally = ()
    together: tuple[int, int] = (0, 0)
    """How many of the fixed and of the broken cells are no event of their own: a test counts each list item once, as
    fixed or as broken, whichever more of its cells are."""
    nets: tuple[tuple[int, int], ...] = ()
    """How many more events of a document are fixed than broken, and the number of such documents."""
    lost: Tally = ()
    """The attributes that were right in all of ``FEWEST_LOST`` values or more that both points judge, and are now wrong
    in all of them."""
    doubts: Doubts = ()
    unsteady: int = 0
    """Number of other attributes of whose values half flipped, of which one broke; counted only if any is lost."""

    @property
    def independent(self) -> tuple[int, int]:
        """How many events fixed and broke something: list items, and values outside of lists.

        If a list item appears or disappears, all of its cells flip together.
        """
        fixed, broken = (sum([number for _, number in tally]) for tally in (self.fixed, self.broken))
        return fixed - self.together[0], broken - self.together[1]
