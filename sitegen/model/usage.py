"""Usage as files state it: tokens, cost, latency and model, of one answer or of a whole output.

A number that no file states is None. Nothing is estimated: neither tokens from texts, nor cost from tokens.

Tools use different names for the same value, so names are compared without case, underscores and a leading *total*:
``prompt_tokens``, ``inputTokens`` and ``total_input_tokens`` are all tokens in.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sitegen.model.frozen import Frozen, FrozenObject


class Usage(NamedTuple):
    """The tokens, cost and latency of one answer; None where the file does not state them."""

    tokens_in: int | None = None
    """Tokens that the model read, including those from a cache."""
    tokens_out: int | None = None
    cost: float | None = None
    """US dollars, unless the tool that wrote the file counts in another currency."""
    latency: float | None = None
    """Seconds."""


class Call(Frozen):
    """One answer: its usage, the model that gave it and the judge that graded it."""

    usage: Usage = Usage()
    model: str = ""
    """Empty if the file does not state it."""
    parameters: str = ""
    """Parameters of the call as canonical JSON; empty if none are stated."""
    judge: str = ""
    """The judge of the answer: a model, and the hash of its prompt; empty if there is none, or none is stated."""
    failed: bool = False
    """The call gave no answer. Its usage counts all the same."""


class RunUsage(FrozenObject):
    """Usage of the output, and the models that made and graded it; None where no file states it."""

    answers: int = 0
    """Number of calls that gave an answer; 0 if a record beside the output states only totals."""
    models: tuple[str, ...] = ()
    """Sorted by name; empty if none is stated."""
    parameters: str = ""
    """Canonical JSON; empty if none are stated, or if they differ among the answers."""
    tokens_in: int | None = None
    """Input tokens, including tokens from a cache."""
    tokens_out: int | None = None
    cost: float | None = None
    """US dollars, unless the tool that wrote the file counts in another currency."""
    latency_median: float | None = None
    """Seconds."""
    latency_p95: float | None = None
    """Seconds."""
    judges: tuple[str, ...] = ()
    """Sorted by name: each a model, with the digest of its prompt where that is stated; then prompts."""
    graded: tuple[str, ...] = ()
    """Metrics that depend on grades of these judges."""


JUDGE_PROMPT: Final = "the prompt "
"""Begins a judge that is the version of a prompt in the history, besides the judges that files state."""


class Exchange(FrozenObject, rename={"before": "base", "after": "head"}):
    """The change from one model, or judge, to another between two points; in the report of the gate, base and head."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    metrics: tuple[str, ...] = ()
    """Of judges: names of the metrics computed from their grades, which are not comparable between judges."""


def exchanged(before: tuple[str, ...], after: tuple[str, ...]) -> Exchange | None:
    """Return the exchange of one model, or judge, for another; None if they are the same, or one side states none."""
    return Exchange(before, after) if before and after and before != after else None


def regraded(judge: Exchange | None, metric: str) -> bool:
    """Whether a metric comes from two judges, so that its values are not compared."""
    return judge is not None and metric in judge.metrics


BESIDE: Final = ("metadata", "_metadata", "meta", "_meta", "run", "run_info", "provenance", "config", "settings")
"""Keys of objects in which an output states how it was made."""
LONGEST_MODEL_NAME: Final = 200
"""The greatest length of the name of a model, in characters."""
_LONGEST_PARAMETERS: Final = 1_000  # characters
_LARGEST: Final = 1e15  # a larger amount is not believed

_MODEL: Final = ("model", "modelname", "modelid", "llmmodel", "llm")
JUDGES: Final = (
    *("judgemodel", "judgemodelid", "judgemodelname", "evaluatormodel", "evaluationmodel", "gradermodel"),
    *("gradingmodel", "scorermodel", "judgename"),
)
"""Names of the model that graded, in lower case without separators."""
TOKENS_IN: Final = ("tokensin", "tokensinput", "inputtokens", "prompttokens")
TOKENS_OUT: Final = ("tokensout", "tokensoutput", "outputtokens", "completiontokens")
_CACHED: Final = ("cachereadinputtokens", "cachecreationinputtokens")
"""Names in one API that counts these tokens apart from ``input_tokens``."""
_SHORT_IN: Final = ("input", "prompt", "in")
_SHORT_OUT: Final = ("output", "completion", "out")  # names that count only below a key that stands for tokens
_COST: Final = ("cost", "costusd", "usd")
_PARAMETERS: Final = ("parameters", "params", "modelparameters", "modelparams")
_PARAMETER: Final = ("temperature", "maxtokens", "topp", "topk", "seed")
"""Parameters of a call that may be listed beside its model."""
_UNITS: Final = {"ms": 1000.0, "milliseconds": 1000.0, **dict.fromkeys(("s", "sec", "secs", "seconds"), 1.0)}
"""Unit of a time -> how many of these units are a second."""
LATENCIES, _MEDIAN, _P95 = (
    {name + ending: divisor for name in names for ending, divisor in {"": 1.0, **_UNITS}.items()}
    for names in (
        ("latency", "duration", "elapsed", "elapsedtime", "responsetime", "processingtime"),
        ("latencymedian", "medianlatency", "latencyp50", "p50latency"),
        ("latencyp95", "p95latency"),
    )
)
"""Names of a time with each unit at their end -> how many of these units are a second."""
_TIMES: Final = {**LATENCIES, **_MEDIAN, **_P95}


def stated(*objects: Any) -> Call:
    """Return the model, parameters and usage that objects state together; the first that states a value counts.

    Never raises.
    """
    members = _members(objects)
    tokens = _members(map(members.get, ("usage", "tokenusage", "tokens", "llmusage")))
    both = {**tokens, **members}
    tokens_in = _first_whole_number(both, TOKENS_IN)
    tokens_out = _first_whole_number(both, TOKENS_OUT)
    if tokens_in is not None:
        tokens_in += sum(_first_whole_number(both, (name,)) or 0 for name in _CACHED)
    parameters = {name: members[name] for name in _PARAMETER if members.get(name) is not None}
    for name in _PARAMETERS:
        parameters |= members[name] if isinstance(members.get(name), dict) else {}
    return Call(
        model=_model(members),
        parameters=canonical(parameters),
        usage=Usage(
            tokens_in=_first_whole_number(tokens, _SHORT_IN) if tokens_in is None else tokens_in,
            tokens_out=_first_whole_number(tokens, _SHORT_OUT) if tokens_out is None else tokens_out,
            cost=_first_number(both, _COST),
            latency=_first_number(both, LATENCIES),
        ),
    )


def stated_run(*objects: Any) -> RunUsage | None:
    """Return the totals of a run that objects state together; None if they state nothing. Never raises.

    A single latency is taken as the median.
    """
    call, members = stated(*objects), _members(objects)
    median, judge = _first_number(members, _MEDIAN), _model(members, JUDGES)
    run_usage = RunUsage(
        models=(call.model,) if call.model else (),
        parameters=call.parameters,
        tokens_in=call.usage.tokens_in,
        tokens_out=call.usage.tokens_out,
        cost=call.usage.cost,
        latency_median=call.usage.latency if median is None else median,
        latency_p95=_first_number(members, _P95),
        judges=(judge,) if judge else (),
    )
    return None if run_usage == RunUsage() else run_usage


def stated_judge(value: Any) -> str:
    """Return the model that graded, as an object names it, or an object in it on how it was made. Never raises."""
    if not isinstance(value, dict) or not _may_name_judge(tuple(value)):
        return ""
    return _model(_members((value, *map(value.get, BESIDE))), JUDGES)


@lru_cache(64)  # the rows of a file have the same keys
def _may_name_judge(keys: tuple[object, ...]) -> bool:
    return any(key in BESIDE or _bare(str(key)) in JUDGES for key in keys)


def _members(objects: Iterable[Any]) -> dict[str, Any]:
    """Return the first member of each name, in lower case, without punctuation and a leading *total*."""
    members: dict[str, Any] = {}
    for value in objects:
        for key, member in value.items() if isinstance(value, dict) else ():
            members.setdefault(_bare(str(key)), member)
    return members


@lru_cache(1024)
def _bare(key: str) -> str:
    return "".join(filter(str.isalnum, key.lower())).removeprefix("total")


def _model(members: dict[str, Any], names: Sequence[str] = _MODEL) -> str:
    for name in names:
        value = members.get(name)
        if isinstance(value, dict):
            value = value.get("id", value.get("name"))
        if isinstance(value, str) and value.strip():
            return value.strip()[:LONGEST_MODEL_NAME]
    return ""


def canonical(parameters: Any) -> str:
    """Parameters as JSON with sorted keys, bounded; empty if there are none."""
    if not parameters:
        return ""
    try:
        text = json.dumps(
            parameters,
            sort_keys=True,
            ensure_ascii=False,
            default=lambda value: float(value) if isinstance(value, Decimal) else str(value),
        )
        return text[:_LONGEST_PARAMETERS]
    except (TypeError, ValueError, RecursionError):
        return ""


def _first_number(members: dict[str, Any], names: Iterable[str]) -> float | None:
    """Return the first of these amounts. A time becomes seconds; the end of its name gives its unit."""
    stated = (amount_of(members[name], _TIMES.get(name, 1.0)) for name in names if name in members)
    return next((number for number in stated if number is not None), None)


def _first_whole_number(members: dict[str, Any], names: tuple[str, ...]) -> int | None:
    number = _first_number(members, names)
    return int(number) if number is not None and number == int(number) else None


_SPELLED: Final = re.compile(
    r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+|0,[0-9]+|[0-9]+,(?![0-9]{3}\b)[0-9]+)(?:[eE][-+]?[0-9]{1,3})?"
)
_LONGEST_SPELLED: Final = 40  # characters


def spelled_number(spelled: str) -> Decimal | None:
    """Return the number that a text spells, else None. A comma is of decimals unless it may be of thousands."""
    spelled = spelled.strip()
    is_one = len(spelled) <= _LONGEST_SPELLED and _SPELLED.fullmatch(spelled)
    return Decimal(spelled.replace(",", ".")) if is_one else None


_AMOUNT: Final = re.compile(rf"(?:US)?\$? *([-+.,0-9e]{{1,40}}?) *({'|'.join(_UNITS)}|USD|\$)?", re.IGNORECASE)
_CLOCK: Final = re.compile(r"(?:([0-9]{1,4}):)?([0-9]{1,4}):([0-9]{1,2}(?:[.,][0-9]{1,9})?)")


def amount_of(value: Any, divisor: float = 1.0) -> float | None:
    """Return a finite number of at least 0, which may be a text with its unit; None for anything else.

    ``$0.0012`` is an amount of money; ``1380ms``, ``1.38s`` and ``00:01.38`` are times, which become seconds.
    ``divisor``: how many of the units of a number without one count as 1.
    """
    if isinstance(value, str) and (clock := _CLOCK.fullmatch(value.strip())):
        hours, minutes, seconds = clock.groups()
        return int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds.replace(",", "."))
    if isinstance(value, str) and (spelled := _AMOUNT.fullmatch(value.strip())):
        value, divisor = spelled_number(spelled[1]), _UNITS.get((spelled[2] or "").lower(), divisor)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        number = float(value) / divisor
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) and 0 <= number <= _LARGEST else None
