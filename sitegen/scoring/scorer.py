"""The interface of scoring: the inputs of a result, the scorer of a kind, and the verdict on its metrics (rule 32)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from sitegen.data_files.reading import UnreadableError
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import Counts, Metric, MetricSpec, Nouns, Verdict, VerdictRow, VerdictStatus
from sitegen.model.problems import Finding
from sitegen.model.scorecards import DocumentScore, Result, Scorecard
from sitegen.model.timeline import Blob, Snapshot

Embedder: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Turns each text into a vector. All vectors have the same length, and the same text always has the same vector."""
_MAX_FINDINGS: Final = 100  # the most findings of a result
NO_METRIC: Final = MetricSpec("nothing", "Nothing recorded", "No file of this eval holds a number.", recorded=True)
"""The metric of a file without numbers, because a scorecard needs at least one metric."""
SMALLER_FILE: Final = "Write a smaller file, or raise max_blob_bytes under [limits] in sitegen.toml."


class File(Frozen):
    """An input file of a result. Its path determines the format; its content may be missing.

    ``history.blobs.BlobRead`` is no substitute: scoring does not know git, whose blobs have object ids and no paths.
    """

    path: str
    content: bytes | None
    """None if there is no such file, or if git could not provide it."""
    reason: str = ""
    """Why the content is missing: ``the output is missing``, ``a Git LFS pointer``, ``larger than 20 MB`` ..."""
    fix: str = ""
    """What to do about the missing content; empty if nobody but the scorer knows."""


class ScoringInputs(Frozen):
    """All inputs of a result."""

    outputs: tuple[File, ...]
    """Empty if the output is missing."""
    ground_truth: File | None = None
    mapping: File | None = None
    schema: File | None = None
    settings: str = "{}"
    """The eval's settings as canonical JSON (an object): ``ground_truth_format`` and the keys of ``settings:``."""
    embedder: Embedder | None = None
    """Makes vectors of texts if a kind needs them and the files have none; None if there is no model."""

    @classmethod
    def of(cls, snapshot: Snapshot, files: Mapping[Blob, File]) -> ScoringInputs:
        """Return the inputs of a snapshot without an embedder. ``files``: its contents by their blobs."""
        roles = (snapshot.ground_truth, snapshot.mapping, snapshot.schema)
        truth, mapping, schema = (blob and files.get(blob) for blob in roles)
        outputs, settings = tuple(files[blob] for blob in snapshot.outputs), snapshot.settings
        return cls(outputs=outputs, ground_truth=truth, mapping=mapping, schema=schema, settings=settings)


class Scorer(Frozen):
    """Scores one eval kind. Pure: no clock, no disk, no network, no global state."""

    kind: str
    """The name of the kind in the manifest: ``fields``."""
    version: int
    """Increased whenever a number could change; part of the memo's key."""
    metrics: tuple[MetricSpec, ...]
    """The metrics of its scorecards, the headline first; empty if each scorecard describes its own (``specs``)."""
    nouns: Nouns
    """The words of this kind for documents, attributes and errors."""
    score: Callable[[ScoringInputs], Result]
    """Scores one output. Never raises on bad input, which becomes a status and findings."""
    metrics_for: Callable[[Sequence[DocumentScore]], tuple[Metric, ...]]
    """Computes the metrics of these documents alone; metrics that do not follow from their scores are undefined."""

    def unscored(self, findings: Sequence[Finding]) -> Result:
        """Return the result of an output without anything to compare it with: all metrics are undefined."""
        scorecard = Scorecard(
            status="no_ground_truth",
            counts=Counts(),
            metrics=tuple(Metric(spec.name, None) for spec in self.metrics if not spec.is_optional),
            documents=(),
            fields=(),
            findings=bounded_findings(findings),
            kind=self.kind,
        )
        return Result(scorecard, ())


def content_of(file: File | None, missing: str, fix: str) -> bytes:
    """Return the content of a file that scoring needs. Raises UnreadableError, with ``missing`` without a reason."""
    if file is None or file.content is None:
        reason = file.reason if file else ""
        if "larger than " in reason:
            fix = SMALLER_FILE
        raise UnreadableError(reason or missing, (file.fix if file else "") or fix)
    return file.content


def bounded_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the first ``_MAX_FINDINGS`` findings, and a last one with the number of the others."""
    if len(findings) <= _MAX_FINDINGS:
        return tuple(findings)
    left = len(findings) - _MAX_FINDINGS
    more = "1 more finding is not listed" if left == 1 else f"{left} more findings are not listed"
    return (*findings[:_MAX_FINDINGS], Finding("warning", more, "Correct those above first."))


def verdict(specs: Sequence[MetricSpec], thresholds: Mapping[str, float], values: Iterable[Metric]) -> Verdict:
    """Judge these metrics of one result.

    A target of the eval overrides that of the kind. It is inclusive, and an upper limit where lower is better. A
    metric without a target has no row.
    """
    names = [name for spec in specs for name in spec.names]
    value_of: Mapping[str, float | None] = dict(values)
    rows = []
    advice = []
    for spec in specs:
        target = spec.target(thresholds)
        value = value_of.get(spec.name)
        if target is not None:
            status: VerdictStatus = "SKIP"
            if value is not None:
                status = "PASS" if spec.reaches(value, target) else "FAIL"
            rows.append(VerdictRow(metric=spec.name, label=spec.label, value=value, threshold=target, status=status))
            if status == "FAIL":
                side = "below" if spec.higher_is_better else "above"
                remedy = spec.when_failed or "see the errors in the report."
                advice.append(f"{spec.label} is {side} {target:g}: {remedy}")
        if value is None and (target is not None or spec.when_undefined):
            advice.append(f"{spec.label} is undefined: {spec.when_undefined or 'nothing was expected or given.'}")
    for name, target in thresholds.items():
        if name not in names:
            rows.append(VerdictRow(metric=name, label=name, value=None, threshold=target, status="SKIP"))
            advice.append(f"There is no metric {name!r} here: name one of {', '.join(names)} in the thresholds.")
    statuses = {row.status for row in rows}
    return Verdict(
        rows=tuple(rows),
        overall_status="FAIL" if "FAIL" in statuses else "PASS" if "PASS" in statuses else "SKIP",
        failed_criteria=tuple(row.metric for row in rows if row.status == "FAIL"),
        recommendations=tuple(dict.fromkeys(advice)),
    )
