"""What answers took, and which model gave them: as files state it, and of a whole output together.

A number that no file states is None. Nothing here is estimated: neither tokens from texts, nor cost from tokens.
"""

from __future__ import annotations

from typing import NamedTuple


class Usage(NamedTuple):
    """What one answer took; None where the file does not say."""

    tokens_in: int | None = None
    """What the model read, from a cache or not."""
    tokens_out: int | None = None
    cost: float | None = None
    """US dollars, unless the tool that wrote the file counts in another currency."""
    latency: float | None = None
    """Seconds."""


class Call(NamedTuple):
    """One answer: who gave it, and what it took."""

    usage: Usage = Usage()
    model: str = ""
    """Empty if the file does not say."""
    parameters: str = ""
    """Of the call, as canonical JSON; empty if none are stated."""
    judge: str = ""
    """Who graded the answer: a model, and its prompt by its hash; empty if nobody did, or the file does not say."""
    failed: bool = False
    """There is no answer. What it took counts all the same."""


class RunUsage(NamedTuple):
    """What the answers of one output took together, and who gave and graded them."""

    answers: int = 0
    """Calls that the file lists; 0 if a record beside the output states totals alone."""
    models: tuple[str, ...] = ()
    """By name; empty if none is stated."""
    parameters: str = ""
    """Canonical JSON; empty if none are stated, or if they differ among the answers."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    latency_median: float | None = None
    latency_p95: float | None = None
    judges: tuple[str, ...] = ()
    """By name: each a model, and the digest of its prompt where that is stated."""
    graded: tuple[str, ...] = ()
    """Names of the metrics that grades of these judges are part of."""


class Exchange(NamedTuple):
    """Who did something at one point, and who did it at a later one: never the same."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    metrics: tuple[str, ...] = ()
    """Of judges: names of the metrics that their grades are part of, which two judges do not give alike."""


def exchanged(before: tuple[str, ...], after: tuple[str, ...]) -> Exchange | None:
    """The exchange of one model, or judge, for another; None if they are the same, or one side states none."""
    return Exchange(before, after) if before and after and before != after else None


def regraded(judge: Exchange | None, metric: str) -> bool:
    """Whether two judges gave a metric, so that its values are not held against each other."""
    return judge is not None and metric in judge.metrics
