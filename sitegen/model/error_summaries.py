"""The parts of an eval's stored summary about errors, suspect labels and the history of fields."""

from sitegen.model.cells import Tally
from sitegen.model.frozen import Frozen
from sitegen.model.named_tuple import NamedTuple


class WeakSection(Frozen):
    """A section of the schema with its errors."""

    name: str
    errors: tuple[int, ...]
    """In the order of ``ERROR_TYPES``."""
    judged: int


class Streak(Frozen):
    """Fields of one section that have been wrong without interruption since the same point."""

    attribute: str
    """The field with the most cells."""
    more: int
    """Number of further fields."""
    cells: int
    """Number of cells of all these fields that have been wrong since then."""
    since: str
    """Label of that point."""
    slug: str
    outputs: int
    """Number of different outputs with these errors, including the newest."""


class Focus(Frozen):
    """Which errors of the newest output to work on first, selected in three ways."""

    sections: tuple[WeakSection, ...] = ()
    """The sections with the most errors first."""
    broken: Tally = ()
    """Cells that the newest output got wrong and the previous output got right."""
    longest: tuple[Streak, ...] = ()
    """The longest first."""


class PatternSummary(Frozen):
    """An error pattern of the newest output, as the pages of an eval and of the whole site name it."""

    name: str
    errors: int
    total: int
    """Number of all errors of the output."""
    fields: int
    """Number of fields with errors of the pattern."""
    since: str
    """Label of the point since which most of these errors have been wrong; empty if there is no such point."""
    all_since: bool
    """Whether all of them have been wrong since that point."""
    value: float | None
    """The headline of the output."""
    without: float | None
    """The headline if these values were right; None if the headline is not a ratio of counts."""


class FlipsAfterEdit(NamedTuple):
    """An output made after an edit of instructions, at which values of a field flipped."""

    at: int
    """Index of the point."""
    fixed: int
    broken: int


class FailingValue(Frozen):
    """A value of a field that is wrong in the newest output."""

    label: str
    """Its path, with names of list items instead of indices."""
    document: str
    expected: str
    """The expected value, truncated; empty if there is none."""
    actual: str
    outputs: int
    """Number of different outputs, up to the newest, that are wrong here without interruption."""


class FieldSummary(Frozen):
    """How a field of one eval changed over all points."""

    attribute: str
    wrong: int
    """Number of values that are wrong in the newest output."""
    judged: int
    right: tuple[float | None, ...]
    """Share of right values, 0..1, at the newest points; None where the field was not judged."""
    moves: tuple[FlipsAfterEdit, ...]
    """Newest first."""
    failing: tuple[FailingValue, ...]
    """The values that have been wrong longest."""


class Correction(Frozen):
    """A line of the ground truth file, and the line as it would be if the outputs were right."""

    path: str
    oid: str
    """Id of the file's content."""
    line: int
    """From 1."""
    before: str
    after: str


class SuspectTruth(Frozen):
    """A cell whose label may be wrong. It is only a suspicion, for somebody who knows the document to check."""

    document: str
    path: str
    attribute: str
    expected: str
    """The label as bounded JSON text; empty if it is blank."""
    actual: str
    """The value on which the outputs agree, in the same form."""
    agreeing: int
    """Number of outputs with this value."""
    outputs: int
    """Number of outputs that were compared with this label."""
    edits: int
    """Number of edits of instructions between the first and the last output that agree."""
    first: int
    """Index, in the series, of the first point with the value; later outputs do not change it."""
    last: int
    """Index of the last such point."""
    correction: Correction | None = None
    """None if the label's line in the file is uncertain, or was not determined."""
    named_path: str = ""
    """The path with list items by their names; empty where it is the same."""
    with_label: int = 0
    """Number of outputs whose value is the label."""

    @property
    def label(self) -> str:
        """The path as pages show it."""
        return self.named_path or self.path
