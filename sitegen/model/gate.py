"""The gate: the evals of two revisions compared, and checked against limits. These types are its JSON (``SCHEMA``)."""

from collections.abc import Mapping
from math import inf
from typing import Final, Literal, TypeAlias

from sitegen.model.changes import ChangeVerdict, Comparability, DeltaParts
from sitegen.model.frozen import FrozenObject
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import Fate
from sitegen.model.timeline import RoleSet
from sitegen.model.usage import Exchange

SCHEMA: Final = "sitegen/gate/1"

GateVerdict: TypeAlias = Literal["pass", "inconclusive", "not comparable", "fail"]
"""inconclusive: worse by more than the limit, but perhaps by chance, by other labels alone, or by the old labels."""

Failure: TypeAlias = Literal[
    "below the floor",
    "dropped",
    "worse on these cases",
    "too many broken",
    "too few cases",
    "removed",
    "worse by the repeats of the base",
]
"""*worse by the repeats of the base*: only repeats that the branch added make it seem a matter of chance."""

Doubt: TypeAlias = Literal["may be chance", "same output", "other ground truth", "worse by what the base expects"]
"""*same output*: only ground truth or rules changed, so that it is not the model that got worse. *other ground truth*:
they changed together with the output, and lowered the value alone: the output is no worse by the new ones. *worse by
what the base expects*: it is no worse by the new ones, and worse by the old ones."""

Incomparable: TypeAlias = Literal[
    "undefined", "no such metric", "nothing in common", "not fetched", "another kind", "another judge", "another unit"
]
"""*another unit*: of two recorded numbers one seems to be a share, and the other a percentage."""

Reason: TypeAlias = Literal["still below the floor", Failure, Doubt, Incomparable]
"""Why a metric or an eval does not pass; only *still below the floor*, which it was at the base too, passes."""

Lost: TypeAlias = Literal[
    "looser limits",
    "failed at the head",
    "gone at the head",
    "judged at the base and not at the head",
    "judges at the head alone",
    "without an output that can be read",
    "other settings",
    "the ground truth byte for byte",
]
"""Limits of the gate and of the manifest; documents whose calls or judges failed, or whose output cannot be read;
variants, models and documents; fields with expected values, judges, the same inputs, stated confidence, and answers to
the same cases (of some: how many are missing of how many); judges; iterations; settings that choose outputs and
instructions; the output if it is that at the head alone."""

Presence: TypeAlias = Literal["both", "new", "gone"]
"""Which sides have an output of the eval. new: only the head. gone: only the base."""


class GateMetric(FrozenObject):
    """One metric of one eval, compared with its limits."""

    name: str
    base: float | None
    """The value at the base; null if it is undefined there, or if the base has no output."""
    head: float | None
    change: float | None
    """Head minus base, over common documents, in the unit of the metric."""
    points: float | None
    """The change in hundredths of the metric's range; for an amount, in percent of the value at the base."""
    parts: DeltaParts | None
    by_base: float | None
    """The change by the ground truth and the rules of the base; `change` itself if these are the same at the head."""
    by_head: float | None
    """The same by those of the head, by which the verdict goes."""
    floor: float | None
    drop: float | None
    """How far the metric may get worse, in hundredths of its range; for an amount, in percent."""
    verdict: GateVerdict
    reasons: tuple[Reason, ...]
    """Empty if the metric passes, unless it is still below its floor."""
    noise: ChangeVerdict | None = None
    """The verdict on the change: of the headline, and of any other metric that got worse by more than it may. Null for
    the same output, and if noise is unknown."""
    higher_is_better: bool = True
    range: tuple[float, float | None] = (0.0, 1.0)  # an amount has no greatest value
    """The range of the metric; `points` and `drop` are hundredths of it."""
    averaged: tuple[str, str] = ("", "")
    """Which variants or models `base` and `head` average, with the worst and the best; empty for other metrics than the
    headline, and unless two have a value."""
    label: str = ""
    """The name as reports write it."""
    unit: str = ""
    """The unit of an amount, such as `USD` or `s`."""

    @property
    def has_limit(self) -> bool:
        """Whether it has a floor, or a drop that is allowed."""
        return self.floor is not None or self.drop is not None

    @property
    def is_amount(self) -> bool:
        """Whether it has no upper bound, so that its changes are percentages of its earlier value."""
        return self.range[1] is None

    @property
    def spec(self) -> MetricSpec:
        """What its numbers mean."""
        return MetricSpec(
            name=self.name,
            label=self.label,
            explanation="",
            low=self.range[0],
            high=inf if self.range[1] is None else self.range[1],
            higher_is_better=self.higher_is_better,
            unit=self.unit,
        )


class GateOverlap(FrozenObject):
    """The documents, or test cases if the kind has these, that base and head have in common."""

    verdict: Comparability
    common: int
    only_base: tuple[str, ...] = ()
    """Without those that failed, or whose variant or model is gone."""
    only_head: tuple[str, ...] = ()


class GateCell(FrozenObject):
    """A cell that is wrong on one side and right on the other, or a case whose score moved.

    Of a case with a score, `path` names the metric, `base` and `head` are its values, and nothing is expected.
    """

    fate: Fate
    document: str
    path: str
    extra_item: bool
    expected: str | None
    """The expected value at the head, else at the base; empty if none is, null for a score. Values are JSON texts, cut
    to 200 characters."""
    base: str | None
    head: str | None
    named_path: str = ""
    """The path with list items by name, `walls[E Wall].area`; empty if it is the same."""

    @property
    def is_score(self) -> bool:
        """Whether it is a case whose score moved."""
        return self.expected is None and self.base is not None and self.head is not None


class GateInstruction(FrozenObject):
    """An instruction file that differs between the sides."""

    path: str
    commits: tuple[str, ...]
    """Ids of the commits that edited it in between, oldest first."""


class GateEval(FrozenObject):
    """One eval on both sides, or a slice of one that has limits of its own."""

    eval_id: str
    name: str
    kind: str
    presence: Presence
    slice: str = ""
    """The axis and the value of the answers that are judged alone, `language=de`; empty for all."""
    verdict: GateVerdict = "pass"
    """The worst verdict of its metrics and of its own reasons."""
    reasons: tuple[Reason, ...] = ()
    """Reasons that concern the eval as a whole."""
    matched: bool = False
    """Whether the eval was compared or, without anything to compare with, checked against a floor."""
    metrics: tuple[GateMetric, ...] = ()
    """Every metric of the kind, the headline first, then metrics with a limit that the kind does not have."""
    overlap: GateOverlap | None = None
    """Null unless both sides have an output of one kind."""
    fixed: int | None = 0
    """Number of values that were fixed; of cases that got better, for test cases and for cases with scores alone."""
    broken: int | None = 0
    """Number of values that broke, or of cases that got worse. Like `fixed`, null for recorded numbers."""
    cells: tuple[GateCell, ...] = ()
    """Broken cells, then fixed cells; at most 200 of each. Of a test case, which may have several answers, one."""
    instructions: tuple[GateInstruction, ...] = ()
    """The files that drive the eval and differ."""
    or_edit: str | None = None
    """Id of the commit of an earlier edit that the output at the head may have been made with instead; null if it was
    made with the newest edit before it."""
    stale: bool = False
    """Whether instructions were edited after the output was made."""
    changed: RoleSet = ()
    """Which of outputs, ground truth and rules are others at the head."""
    model: Exchange | None = None
    """Null if the model is the same, or if a side does not state it."""
    judge: Exchange | None = None
    cases: int | None = None
    """Number of documents, or test cases if the kind has these, that are judged at the head; null without any."""
    max_broken: int | None = None
    """The most that `broken` may be."""
    min_cases: int | None = None
    """The least number of `cases`."""
    lost: Mapping[Lost, tuple[str, ...]] = {}
    """The names of what the gate does not hold as it did at the base."""
    hidden: tuple[tuple[str, float, str], ...] = ()
    """What the average hides: the slices that got worse by more than chance although the headline did not get worse,
    each with the change of its headline, and what fell in words."""

    @property
    def same_output(self) -> bool:
        """Whether both sides have the same output under other ground truth or rules."""
        return bool(self.changed) and "outputs" not in self.changed

    @property
    def key(self) -> str:
        """The id of the eval, and its slice."""
        return f"{self.eval_id} {self.slice}".rstrip()


class GateReport(FrozenObject):
    """All evals of two revisions."""

    base: str
    head: str
    """Id of the commit, or `worktree`."""
    verdict: GateVerdict
    """The verdict of the worst eval; not comparable if none matched."""
    passed: bool
    matched: int
    """Number of evals that are `matched`, as a whole or a slice of them."""
    evals: tuple[GateEval, ...]
    """The worst first: by verdict, then by how much the headline got worse, then by broken cells."""
    strict_floors: bool = False
    """Whether a floor that was missed at the base too fails."""
    schema: str = SCHEMA
