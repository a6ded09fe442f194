"""The gate: the evals of two revisions compared, and checked against limits."""

from typing import Literal, TypeAlias

from sitegen.frozen import Frozen
from sitegen.model.cells import CellFlip
from sitegen.model.commits import Commit
from sitegen.model.deltas import DeltaParts, Overlap
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict
from sitegen.model.series import EvalInfo, VariantSpread
from sitegen.model.usage import Exchange
from sitegen.named_tuple import NamedTuple

GateVerdict: TypeAlias = Literal["pass", "inconclusive", "not comparable", "fail"]
"""inconclusive: worse by more than the limit, but that may be chance."""

Reason: TypeAlias = Literal[
    "below the floor",
    "still below the floor",
    "dropped",
    "a field was lost",
    "too many broken",
    "too few cases",
    "removed",
    "may be chance",
    "undefined",
    "no such metric",
    "nothing in common",
    "another kind",
    "another judge",
]
"""Why a metric or an eval does not pass; only *still below the floor*, which it was at the base too, passes."""

Presence: TypeAlias = Literal["both", "new", "gone"]
"""Which sides have an output of the eval. new: only the head. gone: only the base."""


class MetricLimits(NamedTuple):
    """The limits of one metric of one eval; None for no limit."""

    floor: float | None = None
    """The least value that passes, in the unit of the metric; the greatest if lower is better."""
    drop: float | None = None
    """How far the metric may get worse: in hundredths of its range, or for an amount in percent of its value."""


class MetricCheck(Frozen):
    """One metric of one eval, checked against its limits."""

    spec: MetricSpec
    limits: MetricLimits
    verdict: GateVerdict = "pass"
    reasons: tuple[Reason, ...] = ()
    """Empty if it passes, unless it is still below its floor."""
    before: float | None = None
    """The value at the base; None if it is undefined there, or if the base has no output."""
    after: float | None = None
    change: float | None = None
    """After minus before, over the documents that both sides have, in the unit of the metric."""
    parts: DeltaParts | None = None
    chance: ChangeVerdict | None = None
    """Whether a drop beyond its limit is more than chance; None if this was not or cannot be judged."""
    averaged_before: VariantSpread | None = None
    """The variants of the prompt whose average ``before`` is, if the output has several."""
    averaged_after: VariantSpread | None = None


class InstructionChange(Frozen):
    """An instruction file that differs between both sides, and the commits that edited it in between."""

    path: str
    commits: tuple[Commit, ...]
    """Oldest first."""


class GatedChange(Frozen):
    """The change of an eval that both sides have."""

    overlap: Overlap
    """Common documents, or test cases if the kind has these."""
    unit: str = "document"
    """What the overlap counts."""
    units: str = "documents"
    fixed: int = 0
    """Number of fixed cells; ``broken`` likewise."""
    broken: int = 0
    flipped: tuple[CellFlip, ...] = ()
    """The first of the broken cells, followed by the first of the fixed cells."""
    edits: tuple[InstructionChange, ...] = ()
    """Changes of the instructions that drive the eval."""
    stale: bool = False
    """Whether these instructions were edited without a new output being made."""
    model: Exchange | None = None
    judge: Exchange | None = None


class EvalCheck(Frozen):
    """One eval on both sides."""

    info: EvalInfo
    presence: Presence
    verdict: GateVerdict = "pass"
    """The worst verdict of its metrics and of its own reasons."""
    reasons: tuple[Reason, ...] = ()
    """The reasons that concern the eval as a whole."""
    metrics: tuple[MetricCheck, ...] = ()
    """Every metric of the kind, the headline first, then metrics with a limit that the kind does not have."""
    compared: GatedChange | None = None
    """None unless both sides have an output of the same kind."""
    cases: int | None = None
    """Number of documents, or test cases if the kind has these, that are judged at the head; None if it has none."""
    max_broken: int | None = None
    """The most cells that may be broken; None for no limit."""
    min_cases: int | None = None
    """The least ``cases``."""
    matched: bool = False
    """Whether both sides were compared or, if only one has an output, a floor was checked."""
    file: str = ""
    """Path of the changed file: the output, else the ground truth or the rules; the output if no file changed."""


class GateReport(Frozen):
    """The checks of all evals of two revisions."""

    base: str
    """Id of the commit at the base."""
    head: str
    """Id of the commit at the head, or ``worktree``."""
    verdict: GateVerdict
    """The verdict of the worst eval; not comparable if none matched."""
    passed: bool
    matched: int
    """Number of evals that are ``matched``."""
    evals: tuple[EvalCheck, ...]
    """The worst first: by verdict, then by how much the headline got worse, then by broken cells."""
    strict_floors: bool = False
    """Whether a floor that was missed at the base too fails."""
