"""The eval kinds, in the order in which pages explain them. A new kind is a file beside this one and a line here."""

from __future__ import annotations

from typing import Final

from sitegen.errors import ConfigurationError
from sitegen.scoring.fields import FieldsScorer
from sitegen.scoring.highlights.scorer import HighlightsScorer
from sitegen.scoring.judged.scorer import JudgedScorer
from sitegen.scoring.responses.scorer import ResponsesScorer
from sitegen.scoring.scorer import Scorer

SCORERS: Final[tuple[Scorer, ...]] = (FieldsScorer(), HighlightsScorer(), ResponsesScorer(), JudgedScorer())

EMBEDDED: Final = frozenset({ResponsesScorer.kind})
"""Kinds whose numbers may need vectors of texts: a model decides them too, where one is installed."""


def scorer(kind: str) -> Scorer:
    """The scorer of a kind. Raises ConfigurationError if there is none."""
    for each in SCORERS:
        if each.kind == kind:
            return each
    known = ", ".join(each.kind for each in SCORERS)
    raise ConfigurationError(f"there is no eval kind {kind!r}", fix=f"Use one of: {known}.")
