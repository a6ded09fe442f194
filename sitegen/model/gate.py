"""The gate: what one revision made of the evals of another, held against limits."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from sitegen.model.cells import CellFlip
from sitegen.model.commits import Commit
from sitegen.model.deltas import DeltaParts, Overlap
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict
from sitegen.model.series import EvalInfo
from sitegen.model.usage import Exchange

GateVerdict: TypeAlias = Literal["pass", "inconclusive", "not comparable", "fail"]
"""inconclusive: worse by more than is allowed, but that may be chance."""

Reason: TypeAlias = Literal[
    "below the floor",
    "dropped",
    "removed",
    "may be chance",
    "undefined",
    "no such metric",
    "nothing in common",
    "another kind",
    "another judge",
]
"""Why something does not pass."""

Presence: TypeAlias = Literal["both", "new", "gone"]
"""Which sides have an output of the eval. new: only the head; gone: only the base."""


class MetricLimits(NamedTuple):
    """What is wanted of one metric of one eval; None: nothing."""

    floor: float | None = None
    """In the metric's own unit; where lower is better, a ceiling."""
    drop: float | None = None
    """Points that it may get worse by; of an amount, percent of what it was."""


class MetricCheck(NamedTuple):
    """One metric of one eval, held against its limits."""

    spec: MetricSpec
    limits: MetricLimits
    verdict: GateVerdict = "pass"
    reasons: tuple[Reason, ...] = ()
    """Empty: it passes."""
    before: float | None = None
    """At the base; None if it is undefined there, or if the base has no output."""
    after: float | None = None
    change: float | None = None
    """After minus before, over the documents that both hold, in the metric's own unit."""
    parts: DeltaParts | None = None
    chance: ChangeVerdict | None = None
    """Whether a drop beyond its limit is more than chance; None if that cannot be told, or nobody asked."""


class InstructionChange(NamedTuple):
    """An instruction file that is not the same on both sides, and the commits that edited it in between."""

    path: str
    commits: tuple[Commit, ...]
    """Oldest first."""


class GatedChange(NamedTuple):
    """What became of an eval that both sides have."""

    overlap: Overlap
    """Of documents, or of test cases where the kind has these."""
    units: tuple[str, str] = ("document", "documents")
    """What the overlap counts: one, and several."""
    fixed: int = 0
    """Cells."""
    broken: int = 0
    flipped: tuple[CellFlip, ...] = ()
    """Broken cells, then fixed ones, some of each."""
    edits: tuple[InstructionChange, ...] = ()
    """Of the instructions that drive the eval."""
    stale: bool = False
    """They were edited, and the output was not made again."""
    model: Exchange | None = None
    """Another model made the output at the head."""
    judge: Exchange | None = None
    """Another judge graded it."""


class EvalCheck(NamedTuple):
    """One eval on both sides."""

    info: EvalInfo
    presence: Presence
    verdict: GateVerdict = "pass"
    """That of its worst metric, or of the whole."""
    reasons: tuple[Reason, ...] = ()
    """Of the eval as a whole."""
    metrics: tuple[MetricCheck, ...] = ()
    """Every metric of the kind, the headline first, then limits of metrics that the kind has not."""
    compared: GatedChange | None = None
    """None unless both sides have an output, of the same kind."""
    matched: bool = False
    """Something was compared; or, where there is nothing to compare with, held against a floor."""
    file: str = ""
    """Path of what changed: the output, else ground truth or rules; the output if nothing did."""


class GateReport(NamedTuple):
    """All evals of two revisions."""

    base: str
    """Id of the commit that was compared with."""
    head: str
    """Id of the commit, or ``worktree``."""
    verdict: GateVerdict
    """That of the worst eval; not comparable if nothing matched."""
    passed: bool
    matched: int
    """How many evals the verdict rests on."""
    evals: tuple[EvalCheck, ...]
    """The worst first, then by id."""
