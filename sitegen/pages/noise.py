"""Noise in words: what an interval was made from, and why a change is better, worse or neither."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sitegen.model.metrics import Nouns
from sitegen.model.noise import Interval, Why

_WHY: Final[Mapping[Why, str]] = {
    "another judge": "another judge graded it, and two do not grade alike",
    "beyond chance": "the change is more than chance",
    "nothing moved": "no {attribute} flipped",
    "nothing to compare": "there is nothing in common to compare",
    "too few units": "there is too little to tell from",
    "within the noise of repeats": "outputs made again differ by as much",
    "interval holds zero": "its interval holds zero",
    "flips may be chance": "what was fixed and broken may be chance",
    "flips go the other way": "the number and the {attributes} that flipped go opposite ways",
}


def interval_basis(interval: Interval, nouns: Nouns) -> str:
    """What the interval was made from: ``14 fields of these documents``, ``6 paragraphs``, ``20 cases``."""
    one, many = {
        "documents": (nouns.document, nouns.documents),
        "fields": (nouns.attribute, f"{nouns.attributes} of these {nouns.documents}"),
        "cases": ("case", "cases"),
        "runs": ("run", "runs"),
    }[interval.unit]
    return f"{interval.n:,} {one if interval.n == 1 else many}"


def reason(why: Why, nouns: Nouns) -> str:
    """Why a change was called what it is called, as the end of a sentence."""
    return _WHY[why].format(attribute=nouns.attribute, attributes=nouns.attributes)
