"""The forms of the files below ``data/``, from which their JSON Schemas are made."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from sitegen.model.deltas import Comparability
from sitegen.model.noise import Ends
from sitegen.model.outcomes import ErrorType
from sitegen.model.scorecards import Status
from sitegen.model.timeline import Cause
from sitegen.scoring.results_file import UsageRow


class IndexDocument(TypedDict):
    """The contents of the site."""

    schema: str
    head: str
    """Id of the newest commit of the site; ``worktree`` with uncommitted state."""
    revision: str
    """The requested revision: ``HEAD``, a branch, a tag, an id."""
    evals: list[str]
    """Ids of the evals."""
    series: dict[str, str]
    """The file with the series of each eval, relative to the site, by the eval's id."""
    instructions: list[str]
    """Paths of all instruction files, by their last names."""
    problems: int
    """Number of causes of current problems: files that could not be read or scored."""
    error_patterns: dict[str, list[ErrorPatternData]]
    """The error patterns of the newest output of each eval, most errors first, by the eval's id."""


class SeriesDocument(TypedDict):
    """The series of one eval: its newest points, and where the others are."""

    schema: str
    eval_id: str
    kind: str
    name: str
    renamed_from: list[str]
    """Earlier folder names, oldest first."""
    older: list[str]
    """Addresses of the files with the points before these, oldest first, from the root of the site: ``older-points``
    compressed by bzip2. Beside each is a table of the same points, ``.csv.bz2``. Empty if this file has all points."""
    points: list[SeriesPoint]
    """The newest points, one for each snapshot, oldest first; ``sitegen history --json`` writes all points."""
    error_patterns: NotRequired[list[ErrorPatternData]]
    """The error patterns of the newest output, most errors first; only in the file of a site."""


class OlderPointsDocument(TypedDict):
    """A hundred older points of one eval."""

    schema: str
    eval_id: str
    first: int
    """Number of points before these."""
    points: list[SeriesPoint]
    """Oldest first."""


class ErrorPatternData(TypedDict):
    """Errors of one output that one rule explains."""

    name: str
    errors: int
    of: int
    """Number of all errors of the output."""
    fields: int
    """Number of fields with errors of the pattern."""
    since: str | None
    """Label of the iteration since which most of these errors have been wrong."""
    headline_without: float | None
    """The first metric if these errors were right; null if it is not a ratio of counts."""


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
    """The inputs that changed since this iteration was last scored."""
    same_as: str | None
    """Label of the first iteration with the same output, byte for byte; None unless this output is a copy."""
    status: Status
    stale: bool
    """Whether instructions that drive the eval were edited since the output was made."""
    instructions: dict[str, str | None]
    """Instruction files that changed since the previous point: path -> blob id, None if deleted. Files of older
    points have the first twelve digits of an id."""
    then: SeriesClock
    """Scores by the ground truth and the rules of the point's own commit."""
    now: SeriesClock | None
    """Scores by the ground truth and the rules of the newest point."""
    delta: SeriesDelta | None
    """The change since the previous point; None at the first."""
    interval: Ends | None
    """Lower and upper bound around the headline metric."""
    variants: NotRequired[SeriesVariants]
    """The variants that the headline averages; omitted with fewer than two variants of the prompt."""
    usage: NotRequired[UsageRow]
    """Usage of the output, its models and judges; omitted if no file states any of them."""
    fixed: int | None
    """Number of cells that were wrong at the previous point and are right now; None at the first."""
    broken: int | None
    """Number of cells that were right at the previous point and are wrong now; None at the first."""
    still: int | None
    """Number of cells that are wrong at both points; None at the first."""
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
    """The metrics of the kind besides the ratios of counts."""


class SeriesVariants(TypedDict):
    """The range of the headline over the variants of the prompt."""

    variants: int
    worst: float
    worst_name: str
    best: float
    best_name: str


class SeriesDelta(TypedDict):
    """The change of each metric by name, None if refused or undefined."""

    parts: SeriesDeltaParts | None
    """The parts of the change of one metric, by cause."""
    comparable: SeriesOverlap
    model: NotRequired[OtherModel]
    """The models, if they differ; omitted if they are the same, or if a side does not state its model."""
    judge: NotRequired[OtherJudge]
    """The judges, if they differ, so that grades are not compared; omitted if the same, or if a side states none."""
    verdict: NotRequired[dict[Literal["decision", "words"], str]]
    """The word for the change and what pages say after it; omitted for the same output, and for recorded numbers."""


class SeriesDeltaParts(TypedDict):
    """The part of each of the three causes; the parts sum to the change of the metric."""

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
    unit: Literal["documents", "cases"]
    """cases: the test cases of kind ``responses`` differ, and the change is over those that both points have."""


class OtherModel(TypedDict):
    """The models of two points."""

    before: list[str]
    after: list[str]


class OtherJudge(TypedDict):
    """The judges of two points."""

    before: list[str]
    after: list[str]
    metrics: list[str]
    """Metrics that use grades of the judges; they have no change."""
