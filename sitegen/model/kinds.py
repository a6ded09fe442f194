"""The traits of eval kinds. Outside ``scoring`` code asks for a trait and never for the name of a kind."""

from typing import Final

from sitegen.model.frozen import Frozen


class KindTraits(Frozen):
    """What distinguishes a kind outside ``scoring``."""

    is_structured: bool = False
    """Its outputs have fields, which a mapping and a schema describe. Its headline is F1."""
    is_recorded: bool = False
    """Its numbers were recorded by runs and cannot be computed again: no cases, intervals, flips or second clock."""
    answers_cases: bool = False
    """Its outputs are answers of one or more prompts (variants) to the same test cases, which are the sample."""
    finds_texts: bool = False
    """Its outputs are texts to be marked; its numbers are how many were expected, marked and correct."""
    logs_runs: bool = False
    """Its output is a log of all runs; settings select the run, and the part of it, that counts."""
    embeds_texts: bool = False
    """Its numbers may need vectors of texts, so that they also depend on the installed embedding model."""
    names_scores: bool = False
    """Its outputs name scores; whether a score is a verdict or a grade is decided once for all outputs of an eval."""
    reads_archives: bool = False
    """Some formats of its outputs need optional packages, so that its numbers also depend on these."""


KIND_TRAITS: Final[dict[str, KindTraits]] = {
    "fields": KindTraits(is_structured=True),
    "highlights": KindTraits(finds_texts=True, logs_runs=True),
    "responses": KindTraits(answers_cases=True, embeds_texts=True),
    "judged": KindTraits(names_scores=True, reads_archives=True),
    "recorded": KindTraits(is_recorded=True),
}


def traits_of(kind: str | None) -> KindTraits:
    """The traits of a kind; the defaults for None."""
    return KIND_TRAITS[kind] if kind else KindTraits()
