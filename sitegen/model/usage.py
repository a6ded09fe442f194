"""What answers took, and which model gave them: as files state it, and of a whole output together.

A number that no file states is None. Nothing here is estimated: neither tokens from texts, nor cost from tokens.

Tools write the same things under many names, so names are compared without case, underscores and a leading *total*:
``prompt_tokens``, ``inputTokens`` and ``total_input_tokens`` are all tokens in.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any, Final, NamedTuple


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


LONGEST: Final = 200
"""Characters of a model's name."""
_LONGEST_PARAMETERS: Final = 1_000
_LARGEST: Final = 1e15

_MODEL: Final = ("model", "modelname", "modelid", "llmmodel", "llm")
_TOKENS_IN: Final = ("tokensin", "tokensinput", "inputtokens", "prompttokens")
_TOKENS_OUT: Final = ("tokensout", "tokensoutput", "outputtokens", "completiontokens")
_CACHED: Final = ("cachereadinputtokens", "cachecreationinputtokens")
"""Of one API, which counts them apart from ``input_tokens``."""
_SHORT_IN: Final = ("input", "prompt", "in")
_SHORT_OUT: Final = ("output", "completion", "out")
"""Below a key that says that they are tokens."""
_COST: Final = ("cost", "costusd", "usd")
_LATENCY: Final = ("latency", "duration", "elapsed", "elapsedtime", "responsetime", "processingtime")
_MEDIAN: Final = ("latencymedian", "medianlatency", "latencyp50", "p50latency")
_P95: Final = ("latencyp95", "p95latency")
_PARAMETERS: Final = ("parameters", "params", "modelparameters", "modelparams")
_PARAMETER: Final = ("temperature", "maxtokens", "topp", "topk", "seed")
"""Parameters of a call that may stand beside its model."""
_UNITS: Final = (("ms", 1000.0), ("milliseconds", 1000.0), ("s", 1.0), ("sec", 1.0), ("secs", 1.0), ("seconds", 1.0))


class Stated(NamedTuple):
    """What one object states; empty or None where it does not."""

    model: str
    parameters: str
    """Canonical JSON."""
    usage: Usage
    latency_median: float | None = None
    latency_p95: float | None = None

    @property
    def of_run(self) -> RunUsage | None:
        """As totals of a run, whose only time, if that is all it states, is its median; None if nothing is stated."""
        took = self.usage
        found = RunUsage(
            models=(self.model,) if self.model else (),
            parameters=self.parameters,
            tokens_in=took.tokens_in,
            tokens_out=took.tokens_out,
            cost=took.cost,
            latency_median=took.latency if self.latency_median is None else self.latency_median,
            latency_p95=self.latency_p95,
        )
        return None if found == RunUsage() else found


def stated(*objects: Any) -> Stated:
    """What objects state together; of what several state the first counts. Never raises, whatever they are."""
    given: dict[str, Any] = {}
    tokens: dict[str, Any] = {}
    for each in objects:
        for name, value in _named(each):
            given.setdefault(name, value)
    for name in ("usage", "tokenusage", "tokens", "llmusage"):
        for key, value in _named(given.get(name)):
            tokens.setdefault(key, value)
    every = {**tokens, **given}
    read = _whole(every, _TOKENS_IN)
    if read is not None:
        read += sum(_whole(every, (name,)) or 0 for name in _CACHED)
    return Stated(
        model=_model(given),
        parameters=_parameters(given),
        usage=Usage(
            tokens_in=_whole(tokens, _SHORT_IN) if read is None else read,
            tokens_out=next(
                (found for found in (_whole(every, _TOKENS_OUT), _whole(tokens, _SHORT_OUT)) if found is not None), None
            ),
            cost=_first(every, _COST),
            latency=_seconds(every, _LATENCY),
        ),
        latency_median=_seconds(given, _MEDIAN),
        latency_p95=_seconds(given, _P95),
    )


def _named(value: Any) -> list[tuple[str, Any]]:
    """The members of an object under their plain names; of anything else none."""
    if not isinstance(value, dict):
        return []
    return [("".join(filter(str.isalnum, str(key).lower())).removeprefix("total"), each) for key, each in value.items()]


def _model(given: dict[str, Any]) -> str:
    for name in _MODEL:
        value = given.get(name)
        if isinstance(value, dict):
            value = value.get("id", value.get("name"))
        if isinstance(value, str) and value.strip():
            return value.strip()[:LONGEST]
    return ""


def _parameters(given: dict[str, Any]) -> str:
    found = {name: given[name] for name in _PARAMETER if given.get(name) is not None}
    for name in _PARAMETERS:
        if isinstance(given.get(name), dict):
            found |= given[name]
    return canonical(found)


def canonical(parameters: Any) -> str:
    """Parameters as JSON with sorted keys, bounded; empty if there are none."""
    if not parameters:
        return ""
    try:
        return json.dumps(parameters, sort_keys=True, ensure_ascii=False, default=_plain)[:_LONGEST_PARAMETERS]
    except (TypeError, ValueError, RecursionError):
        return ""


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else str(value)


def _seconds(given: dict[str, Any], names: tuple[str, ...]) -> float | None:
    for name in names:
        for ending, divisor in (("", 1.0), *_UNITS):
            found = _number(given.get(name + ending))
            if found is not None:
                return found / divisor
    return None


def _first(given: dict[str, Any], names: tuple[str, ...]) -> float | None:
    return next((found for name in names if (found := _number(given.get(name))) is not None), None)


def _whole(given: dict[str, Any], names: tuple[str, ...]) -> int | None:
    found = _first(given, names)
    return int(found) if found is not None and found == int(found) else None


def _number(value: Any) -> float | None:
    """A finite number from 0 up; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        found = float(value)
    except (OverflowError, ValueError):
        return None
    return found if math.isfinite(found) and 0 <= found <= _LARGEST else None
