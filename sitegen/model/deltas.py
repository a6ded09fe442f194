"""The change of an eval from one point to another: its metrics, with parts by cause, its cells, and the verdict."""

from typing import Literal, TypeAlias

from sitegen.model.cells import Flips
from sitegen.model.frozen import Frozen, FrozenObject
from sitegen.model.metrics import Nouns
from sitegen.model.named_tuple import NamedTuple
from sitegen.model.noise import ChangeVerdict, Spread, Unit
from sitegen.model.usage import Exchange

Comparability: TypeAlias = Literal["comparable", "bridged", "refused"]
"""comparable: both points have the same documents and cases. bridged: computed over those that both have.
refused: they have none in common, or one of them has no numbers."""


OverlapUnit: TypeAlias = Literal["documents", "cases"]
"""cases: of kind ``responses``, whose documents are variants of the prompt."""


class Overlap(NamedTuple):
    """Which documents two points have in common, or which test cases if these differ."""

    verdict: Comparability
    common: int
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    unit: OverlapUnit = "documents"

    def noun(self, nouns: Nouns, number: int = 2) -> str:
        """The word for so many of them: ``documents``, ``paragraph``, ``cases``."""
        if self.unit == "cases":
            return "case" if number == 1 else "cases"
        return nouns.document if number == 1 else nouns.documents


class DeltaParts(FrozenObject):
    """The parts of a change by their cause. They sum to the whole, to 1e-12."""

    outputs: float
    ground_truth: float
    rules: float
    """Mapping, schema and settings."""


class MetricDelta(Frozen):
    """The change of one metric, over the documents that both points have."""

    name: str
    change: float | None
    """After minus before; None if the comparison is refused, or if either value is undefined."""
    parts: DeltaParts | None
    """None if the change is None, or if the metric is undefined for a mixture of the files of both points."""
    unit: Unit | None = None
    """What the change was computed over: for the first metrics of two different outputs one after the other."""
    spread: Spread | None = None
    """Mean and error of the change over these units; None for fewer than two."""


class Change(Frozen):
    """What became of an eval between two of its points: ``analysis/change.py`` alone makes it."""

    overlap: Overlap
    metrics: tuple[MetricDelta, ...]
    """In the order of the kind's specs, followed by metrics of usage; the first is the headline."""
    model: Exchange | None = None
    """The change of the model, if any: its part in a change of metrics is unknown."""
    judge: Exchange | None = None
    """The change of the judge, if any: grades of two judges are not compared."""
    flips: Flips = Flips()
    """The cells that flipped."""
    verdict: ChangeVerdict | None = None
    """Whether the headline changed by more than chance. None for the same output: the effect of
    ground truth and rules is certain. None for recorded numbers, of which no test can tell chance."""

    @property
    def headline(self) -> MetricDelta:
        """The change of the headline metric."""
        return self.metrics[0]
