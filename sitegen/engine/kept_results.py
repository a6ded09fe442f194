"""Encodes the judgements and panels of outputs for the memo, so that a report can be drawn in any later build."""

from __future__ import annotations

import zlib
from decimal import Decimal
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import astuple, replace

from sitegen.model.outcomes import Judgement
from sitegen.model.panels import Panel
from sitegen.model.scorecards import Answer, Kappa, Question, Result, Scorecard
from sitegen.model.values import Unusable, Value

LARGEST: Final = 1_000_000
"""Number of compressed bytes up to which a result is kept; most take 2,000. A larger one is scored when it is drawn."""

_Parts: TypeAlias = tuple[
    tuple[msgspec.Raw, ...], tuple[Panel, ...], tuple[Answer, ...], Any, tuple[Question, ...], Kappa | None
]
"""A result whose judgements are not decoded yet, without its scorecard, which the memo has under the same key."""
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")
_PARTS: Final = msgspec.json.Decoder(_Parts, float_hook=Decimal)
_JUDGEMENT: Final = msgspec.json.Decoder(Judgement, float_hook=Decimal)


def encoded_result(result: Result) -> bytes | None:
    """Encode a result without its scorecard; None if it is too large, or holds text that UTF-8 cannot encode."""
    judgements = tuple(_with_values(judgement, _as_json) for judgement in result.judgements)
    parts = astuple(replace(result, judgements=judgements, data=_as_json(result.data)))[1:]
    try:
        content = zlib.compress(_ENCODER.encode(parts), 1)
    except UnicodeEncodeError:
        return None
    return content if len(content) <= LARGEST else None


class ResultDecoder:
    """Decodes results of one eval. Neighbours share the judgements that are the same, so that these are drawn once."""

    def __init__(self) -> None:
        self._judgements: dict[bytes, Judgement] = {}
        """Those of the last result, by their encoded form."""

    def __call__(self, content: bytes, scorecard: Scorecard) -> Result:
        """Decode what ``encoded_result`` returned."""
        raw, panels, answers, data, questions, agreement = _PARTS.decode(zlib.decompress(content))
        encoded, known = list(map(bytes, raw)), self._judgements
        self._judgements = here = {each: known.get(each) or _decoded_judgement(each) for each in encoded}
        return Result(
            scorecard=scorecard,
            judgements=tuple(map(here.__getitem__, encoded)),
            panels=panels,
            answers=answers,
            data=_from_json(data),
            questions=questions,
            agreement=agreement,
        )


def _decoded_judgement(content: bytes) -> Judgement:
    return _with_values(_JUDGEMENT.decode(content), _from_json)


def _with_values(judgement: Judgement, form: Any) -> Judgement:
    """Bring both values of a judgement into another form."""
    nested = (list, dict, Unusable)
    if isinstance(judgement.expected, nested) or isinstance(judgement.actual, nested):
        return replace(judgement, expected=form(judgement.expected), actual=form(judgement.actual))
    return judgement


def _as_json(value: Value) -> Any:
    """Write an unusable value as an object with an empty key and a list; an object with such a key is put below one."""
    if isinstance(value, Unusable):
        return {"": [value.literal, value.reason]}
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        within = {key: _as_json(item) for key, item in value.items()}
        return {"": within} if "" in within else within
    return value


def _from_json(value: Any) -> Value:
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    inside = value.get("")
    if isinstance(inside, list):
        return Unusable(*inside)
    return {key: _from_json(item) for key, item in (value if inside is None else inside).items()}
