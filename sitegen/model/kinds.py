"""What eval kinds are like, for everything that is not their scorer: nobody else asks which kind an eval is of."""

from __future__ import annotations

from typing import Final, NamedTuple


class KindTraits(NamedTuple):
    """What sets a kind apart outside ``scoring``. A kind that an installed package adds has the defaults."""

    is_structured: bool = False
    """Its outputs have fields, which a mapping and a schema describe. Its headline is F1."""
    is_recorded: bool = False
    """Its numbers were written by the runs and cannot be computed again: no cases, intervals, flips or second clock."""
    answers_cases: bool = False
    """Its outputs are answers of one or more prompts (variants) to the same test cases. The cases are the sample."""
    finds_texts: bool = False
    """Its outputs are texts that were to be found: its numbers are how many were expected, found and correct."""
    logs_runs: bool = False
    """Its output is a log of every run; settings select the run and the part of it that count."""
    embeds_texts: bool = False
    """Its numbers may need vectors of texts, so that an embedding model decides them as well, if installed."""
    reads_archives: bool = False
    """Some formats of its outputs are read by optional packages, so that these decide its numbers as well."""


KIND_TRAITS: Final[dict[str, KindTraits]] = {
    "fields": KindTraits(is_structured=True),
    "highlights": KindTraits(finds_texts=True, logs_runs=True),
    "responses": KindTraits(answers_cases=True, embeds_texts=True),
    "judged": KindTraits(reads_archives=True),
    "recorded": KindTraits(is_recorded=True),
}
"""Of sitegen's own kinds."""

_INSTALLED: Final = KindTraits()


def traits_of(kind: str | None) -> KindTraits:
    """What a kind is like. None, no kind stated, and the kinds of installed packages have the defaults."""
    return KIND_TRAITS.get(kind or "", _INSTALLED)
