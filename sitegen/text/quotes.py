"""Finds quotes in a text, ignoring differences in line ends and spaces."""

from __future__ import annotations

from typing import Final

from sitegen.model.named_tuple import NamedTuple

_AROUND: Final = 60
"""The number of characters that are shown on each side of a quote, cut between words."""


class QuotedPassage(NamedTuple):
    """A quote in the spelling of a text, with the surrounding words."""

    before: str
    quote: str
    after: str


class SearchedText:
    """A text in which quotes are searched. In both, every run of spaces and line ends counts as one space."""

    def __init__(self, text: str) -> None:
        self._text = " ".join(text.split())

    def passage(self, quote: str) -> QuotedPassage | None:
        """Return the first occurrence of a quote; None if there is none."""
        quote = " ".join(quote.split())
        start = self._text.find(quote)
        if start < 0:
            return None
        end = start + len(quote)
        before, after = self._text[:start][-_AROUND:], self._text[end:][:_AROUND]
        if len(before) < start:
            before = f"… {before.partition(' ')[2]}"
        if end + len(after) < len(self._text):
            after = f"{after.rpartition(' ')[0]} …"
        return QuotedPassage(before=before, quote=quote, after=after)
