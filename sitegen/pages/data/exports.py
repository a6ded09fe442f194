"""Data files: the same numbers as on the pages, for programs. Full precision, no rounding; undefined is null.

Badges show the headline of an eval as a small picture for a README, and as an endpoint of shields.io.

Forms: ``sitegen/index/1`` and ``sitegen/eval-results/1``; ``series.py`` has those of a series. A key is never renamed
within a form. The JSON Schemas of the files below ``data/`` are made from the types here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NotRequired, TypedDict

from markupsafe import escape
from msgspec.structs import replace

from sitegen import __version__, schemas
from sitegen.analysis.slices import slice_rows
from sitegen.model.changes import Comparability, DeltaParts, Ends
from sitegen.model.commits import WORKTREE
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import ErrorType
from sitegen.model.scorecards import Result, Status
from sitegen.model.series import EvalInfo, EvalSummary, PatternSummary
from sitegen.model.site import RawFile
from sitegen.model.timeline import Cause, Snapshot
from sitegen.model.usage import RunUsage
from sitegen.pages import links
from sitegen.pages.labels import STATUSES
from sitegen.text.plain import encodable, line
from sitegen.text.values import metric_text, to_json_bytes


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
    """The series of one eval."""

    schema: str
    eval_id: str
    kind: str
    name: str
    renamed_from: list[str]
    """Earlier folder names, oldest first."""
    points: list[SeriesPoint]
    """One for each snapshot, oldest first."""
    error_patterns: NotRequired[list[ErrorPatternData]]
    """The error patterns of the newest output, most errors first; only in the file of a site."""


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
    """Instruction files that changed since the previous point: path -> blob id, None if deleted."""
    then: SeriesClock
    """Scores by the ground truth and the rules of the point's own commit."""
    now: SeriesClock | None
    """Scores by the ground truth and the rules of the newest point."""
    delta: SeriesDelta | None
    """The change since the previous point; None at the first."""
    interval: Ends | None
    """Lower and upper bound around the headline metric."""
    usage: NotRequired[RunUsage]
    """Usage of the output, its models and judges; omitted if no file states any of them."""
    slices: NotRequired[dict[str, dict[str, float | None]]]
    """Axis -> value on it -> the headline of these answers; omitted if answers differ on no axis."""
    fixed: int | None
    """Number of cells that were wrong at the previous point and are right now; None at the first and if recorded."""
    broken: int | None
    """Number of cells that were right at the previous point and are wrong now; None as ``fixed`` is."""
    still: int | None
    """Number of cells that are wrong at both points; None as ``fixed`` is."""
    report: str
    """Address of the report, from the root of the site."""


class SeriesClock(TypedDict):
    """The numbers of one output, with each ratio of counts by its name; null if another is the same, or recorded."""

    tp: int | None
    fp: int | None
    fn: int | None
    tn: int | None
    errors: dict[ErrorType, int]
    metrics: dict[str, float | None]
    """The metrics of the kind besides the ratios of counts."""


class SeriesDelta(TypedDict):
    """The change of each metric by name, None if refused or undefined."""

    parts: SeriesDeltaParts | None
    """The parts of the change of one metric, by cause."""
    comparable: SeriesOverlap
    model: NotRequired[dict[Literal["before", "after"], list[str]]]
    """The models, if they differ; omitted if they are the same, or if a side does not state its model."""
    judge: NotRequired[dict[Literal["before", "after", "metrics"], list[str]]]
    """The judges, if they differ, and the metrics without a change because they use grades of these; omitted if the
    judges are the same, or if a side states none."""
    verdict: NotRequired[dict[Literal["decision", "words"], str]]
    """The word for the change and what pages say after it; omitted for the same output, and for recorded numbers."""


class SeriesDeltaParts(DeltaParts):
    """The part of each of the three causes; the parts sum to the change of the metric."""

    metric: str
    """The name of the metric that is split, which is the headline."""


class SeriesOverlap(TypedDict):
    """The documents that two points have in common."""

    verdict: Comparability
    common: int
    only_before: list[str]
    only_after: list[str]


def index_file(
    head: str, revision: str, summaries: Sequence[EvalSummary], instructions: tuple[str, ...], problems: int
) -> RawFile:
    """``data/index.json``: what the site holds. Evals and paths of instructions in the order given."""
    evals = [summary.info.id for summary in summaries]
    body: IndexDocument = {
        "schema": "sitegen/index/1",
        "head": head,
        "revision": revision,
        "evals": evals,
        "series": {eval_id: links.series_data(eval_id) for eval_id in evals},
        "instructions": list(instructions),
        "problems": problems,
        "error_patterns": {one.info.id: patterns_data(one.patterns) for one in summaries if one.patterns},
    }
    return RawFile(links.index_data(), to_json_bytes(body, indent=None))


def patterns_data(patterns: Iterable[PatternSummary]) -> list[ErrorPatternData]:
    """Error patterns as the index and the series have them."""
    return [
        {
            "name": pattern.name,
            "errors": pattern.errors,
            "of": pattern.total,
            "fields": pattern.fields,
            "since": pattern.since or None,
            "headline_without": pattern.without,
        }
        for pattern in patterns
    ]


def results_json(result: Result, info: EvalInfo, snapshot: Snapshot, spec: MetricSpec) -> bytes:
    """The whole result of one snapshot, in the form of its kind: every error, every pairing, every detail.

    ``spec``: the headline.
    """
    dirty = snapshot.commit.sha == WORKTREE
    # Imported here, because few reports need it, and it imports the documents of every kind.
    from sitegen.scoring.documents import results_document
    from sitegen.scoring.results_file import Metadata

    metadata = Metadata(
        iteration=snapshot.iteration,
        timestamp=snapshot.recorded_at,
        git_commit=None if dirty else snapshot.commit.sha,
        dirty=dirty,
        sitegen=__version__,
    )
    whole = results_document(result, eval_id=info.id, metadata=metadata, thresholds=info.thresholds, nouns=info.nouns)
    return to_json_bytes(replace(whole, slices=tuple(slice_rows(result.scorecard, spec))), indent=None)


def schema_files() -> Iterator[RawFile]:
    """Every schema, as it ships with sitegen."""
    for name in schemas.TITLES:
        yield RawFile(links.schema(schemas.file_name(name)), schemas.content(name))


_NO_SCORE: Final = "no score"

MET, MISSED, NEUTRAL, UNDEFINED = "2a7f3f", "b3261e", "1f63a8", "5f6368"
"""Hexadecimal colours: target reached, target missed, no target, undefined. White text is readable on each."""

_LONGEST_NAME: Final = 40  # largest number of characters of an eval's name

_WIDE: Final = frozenset("MWmw@%")
_NARROW: Final = frozenset("Iijlft.,:;'|! ()[]")
_HEIGHT: Final = 20  # pixels
_PAD: Final = 6  # pixels


class BadgeEndpoint(TypedDict):
    """An eval's headline metric in the form that badge services read."""

    schemaVersion: Literal[1]
    label: str
    message: str
    """The value with three digits, or ``no score``."""
    color: str
    """Six hexadecimal digits."""


def badge(summary: EvalSummary) -> BadgeEndpoint:
    """The headline metric of the newest point, coloured by the eval's target if it has one."""
    spec = summary.specs[0]
    label = f"{line(encodable(summary.info.name), _LONGEST_NAME)} {spec.label}{' (recorded)' if spec.recorded else ''}"
    value = summary.headlines[-1].values[0] if summary.headlines and not summary.without_output else None
    target, color = spec.target(summary.info.thresholds), UNDEFINED
    if value is not None:
        color = NEUTRAL if target is None else MET if spec.reaches(value, target) else MISSED
    message = _NO_SCORE if value is None else metric_text(value, spec.unit)
    if summary.headlines and not summary.without_output and summary.headlines[-1].status == "no_ground_truth":
        message = STATUSES["no_ground_truth"]
    return {"schemaVersion": 1, "label": label, "message": message, "color": color}


def badge_files(summary: EvalSummary) -> Iterator[RawFile]:
    """The picture and the endpoint of an eval's badge."""
    drawn_badge = badge(summary)
    yield RawFile(links.badge(summary.info.id), svg(drawn_badge).encode())
    yield RawFile(links.badge_data(summary.info.id), json.dumps(drawn_badge, ensure_ascii=False).encode() + b"\n")


def svg(drawn_badge: BadgeEndpoint) -> str:
    """A self-contained picture: it fetches no font, script or address."""
    texts = drawn_badge["label"], drawn_badge["message"]
    # The approximate widths, in px; the font in use is stretched to them.
    sizes = ([10 if c in _WIDE else 4 if c in _NARROW else 7 if c.isascii() else 11 for c in text] for text in texts)
    left, right = (sum(each) + 2 * _PAD for each in sizes)
    label, message = map(escape, texts)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" role="img" \
aria-label="{label}: {message}">
<title>{label}: {message}</title>
<clipPath id="r"><rect width="{left + right}" height="{_HEIGHT}" rx="3"/></clipPath>
<g clip-path="url(#r)"><path fill="#444" d="M0 0h{left}v{_HEIGHT}H0z"/>\
<path fill="#{drawn_badge["color"]}" d="M{left} 0h{right}v{_HEIGHT}H{left}z"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11" text-rendering="geometricPrecision">
<text x="{_PAD}" y="14" textLength="{left - 2 * _PAD}">{label}</text>
<text x="{left + _PAD}" y="14" textLength="{right - 2 * _PAD}">{message}</text>
</g>
</svg>
"""
