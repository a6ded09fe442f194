"""The forms of the files below ``data/``, from which their JSON Schemas are made."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from sitegen.model.deltas import Comparability
from sitegen.model.noise import Ends
from sitegen.model.outcomes import ErrorType
from sitegen.model.scorecards import Status
from sitegen.model.timeline import Cause
from sitegen.scoring.results_file import UsageRow


class IndexDocument(TypedDict):
    """What the site holds."""

    schema: str
    head: str
    """Id of the newest commit of the site; ``worktree`` with uncommitted state."""
    revision: str
    """As it was asked for: ``HEAD``, a branch, a tag, an id."""
    evals: list[str]
    """Ids; each has ``data/evals/<slug>.json``, where the slug of a plain id is the id."""
    instructions: list[str]
    """Paths of all instruction files, by their last names."""
    problems: int
    """How many causes there are of things that could not be seen or scored, past ones left out."""
    error_patterns: dict[str, list[ErrorPatternData]]
    """What wrong values of the newest output of an eval have in common, most errors first; by the eval's id."""


class SeriesDocument(TypedDict):
    """The whole series of one eval."""

    schema: str
    eval_id: str
    kind: str
    name: str
    renamed_from: list[str]
    """Earlier folder names, oldest first."""
    points: list[SeriesPoint]
    """One a snapshot, oldest first."""
    error_patterns: NotRequired[list[ErrorPatternData]]
    """What wrong values of the newest output have in common, most errors first; only in the file of a site."""


class ErrorPatternData(TypedDict):
    """Errors of one output that one rule explains."""

    name: str
    errors: int
    of: int
    """All errors of the output."""
    fields: int
    """Number of fields with errors of the pattern."""
    since: str | None
    """Label of the iteration since which most of these errors have been wrong."""
    headline_without: float | None
    """The first metric if these errors were right; null if it is no ratio of the counts."""


class SeriesPoint(TypedDict):
    """One scored snapshot."""

    iteration: int
    """Number of the iteration, from the folder's name or counted."""
    label: str
    commit: str
    """Full id; ``worktree`` for the uncommitted state."""
    committed_at: str
    """ISO 8601 with the committer's offset."""
    recorded_at: str | None
    """The timestamp that the output's own record states."""
    subject: str
    author: str
    cause: list[Cause]
    """What changed since this iteration was last scored."""
    same_as: str | None
    """Label of the first iteration with the same output, byte for byte; None unless this output is a copy."""
    status: Status
    stale: bool
    """Instructions that drive the eval were edited since the output was made."""
    instructions: dict[str, str | None]
    """Instruction files that changed since the previous point: path -> blob id, None if deleted."""
    then: SeriesClock
    """By the ground truth and the rules of the point's own commit."""
    now: SeriesClock | None
    """By those of the newest point."""
    delta: SeriesDelta | None
    """Against the point before; None at the first."""
    interval: Ends | None
    """Lower and upper bound around the headline metric."""
    variants: NotRequired[SeriesVariants]
    """What the headline averages; left out with fewer than two variants of the prompt."""
    usage: NotRequired[UsageRow]
    """What the output took, and who made and graded it; left out where no file states any of it."""
    fixed: int | None
    """Cells that were wrong at the point before and are right now; None at the first."""
    broken: int | None
    """The other way round."""
    still: int | None
    """Wrong at both."""
    report: str
    """Address of the report, from the root of the site."""


class SeriesClock(TypedDict):
    """The numbers of one output, with each ratio of counts by its name."""

    tp: int
    fp: int
    fn: int
    tn: int
    errors: dict[ErrorType, int]
    metrics: dict[str, float | None]
    """What the kind measures besides the ratios of counts."""


class SeriesVariants(TypedDict):
    """The range of the headline over the variants of the prompt."""

    variants: int
    worst: float
    worst_name: str
    best: float
    best_name: str


class SeriesDelta(TypedDict):
    """Each metric's name -> its change, None where it is refused or undefined."""

    parts: SeriesDeltaParts | None
    """Where the change of one metric came from."""
    comparable: SeriesOverlap
    model: NotRequired[OtherModel]
    """Another model made the output; left out where it is the same, or where a side does not state it."""
    judge: NotRequired[OtherJudge]
    """Another judge graded it, so that grades are not compared; left out likewise."""


class SeriesDeltaParts(TypedDict):
    """The change that each of the three made; they sum to that of the metric."""

    metric: str
    """The name of the metric that is split, which is the headline."""
    outputs: float
    ground_truth: float
    rules: float


class SeriesOverlap(TypedDict):
    """The documents that two points have in common."""

    verdict: Comparability
    common: int
    only_before: list[str]
    only_after: list[str]


class OtherModel(TypedDict):
    """The models of two points."""

    before: list[str]
    after: list[str]


class OtherJudge(TypedDict):
    """The judges of two points."""

    before: list[str]
    after: list[str]
    metrics: list[str]
    """Metrics that grades of the judges are part of; they have no change."""
