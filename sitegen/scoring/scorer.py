"""The interface of scoring: the inputs of a result, and what a scorer of an eval kind has to implement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol, TypeAlias

from sitegen.data_files.reading import UnreadableError
from sitegen.frozen import Frozen
from sitegen.model.metrics import Counts, Metric, MetricSpec, Nouns
from sitegen.model.problems import Finding
from sitegen.model.scorecards import DocumentScore, Result, Scorecard

Embedder: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Turns texts into one vector each, all of one length; the same text always into the same vector."""
MAX_FINDINGS: Final = 100
"""Findings that a result keeps."""
NO_METRIC: Final = MetricSpec("nothing", "Nothing recorded", "No file of this eval holds a number.", recorded=True)
"""Stands for the metrics of a file without numbers, because a scorecard needs at least one."""


class File(Frozen):
    """A file that decides a result. Its path tells the format; its content may be missing.

    ``history.blobs.BlobRead`` is no substitute: scoring does not know git, whose blobs have object ids and no paths.
    """

    path: str
    content: bytes | None
    """None: there is no such file, or git could not give it."""
    reason: str = ""
    """Why the content is missing: ``the output is missing``, ``a Git LFS pointer``, ``larger than 20 MB`` ..."""


class ScoringInputs(Frozen):
    """Everything that decides one result."""

    outputs: tuple[File, ...]
    """Empty: the output is missing."""
    ground_truth: File | None
    mapping: File | None
    schema: File | None
    settings: str
    """The eval's settings as canonical JSON (an object): ``ground_truth_format`` and the keys of ``settings:``."""
    embedder: Embedder | None = None
    """Makes vectors of texts where a kind needs them and the files have none; None: there is no model."""


class Scorer(Protocol):
    """Scores one eval kind. Pure: no clock, no disk, no network, no global state."""

    @property
    def kind(self) -> str:
        """The word in the manifest: ``fields``."""

    @property
    def version(self) -> int:
        """Raised whenever a number could change; part of the memo's key."""

    @property
    def metrics(self) -> tuple[MetricSpec, ...]:
        """The metrics of its scorecards, the headline first; empty if each scorecard describes its own (``specs``)."""

    @property
    def nouns(self) -> Nouns:
        """What this kind calls documents, attributes and errors."""

    def score(self, inputs: ScoringInputs) -> Result:
        """Score one output. Never raises on bad input, which becomes a status and findings."""

    def metrics_for(self, documents: Sequence[DocumentScore]) -> tuple[Metric, ...]:
        """The metrics of these documents alone; those that do not follow from their scores are undefined."""


def content_of(file: File | None, missing: str, fix: str) -> bytes:
    """The content of a file that scoring needs. Raises UnreadableError, with *missing* if the file has no reason."""
    if file is None or file.content is None:
        raise UnreadableError((file.reason if file else "") or missing, fix)
    return file.content


def unscored_result(specs: Iterable[MetricSpec], findings: Sequence[Finding]) -> Result:
    """The result of an output that nothing can be compared with: all metrics are undefined."""
    scorecard = Scorecard(
        status="no_ground_truth",
        counts=Counts(),
        metrics=tuple(Metric(spec.name, None) for spec in specs),
        documents=(),
        fields=(),
        findings=bounded_findings(findings),
    )
    return Result(scorecard, ())


def bounded_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The first ``MAX_FINDINGS``, and a last one that tells how many are left out."""
    if len(findings) <= MAX_FINDINGS:
        return tuple(findings)
    left = len(findings) - MAX_FINDINGS
    more = "1 more finding is not listed" if left == 1 else f"{left} more findings are not listed"
    return (*findings[:MAX_FINDINGS], Finding("warning", more, "Correct those above first."))
