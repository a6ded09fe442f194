"""Finds the words that differ between two texts, which diffs and errors underline, and quotes in a text.

A token is a word (letters and digits, joined by ``_ . - / '`` inside an identifier or a number), a run of spaces, or
one punctuation mark. Tokens are matched by difflib, but never by spaces alone. Then small islands of equal text between
two changes are merged into one change, because one long mark is easier to read than five short ones.
"""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple, TypeAlias

MOST_CHARACTERS: Final = 20_000
"""The greatest number of characters, of both texts together, whose words are matched. In longer texts only the common
start and end count as equal."""

MOST_PAIRS: Final = 3_000
"""The greatest number of pairs of equal tokens that are matched, because difflib takes time for each pair."""

_ISLAND: Final = 4  # the most characters of equal text that may be merged into the surrounding changes

_TOKEN = re.compile(r"[^\W_]+(?:[_.\-/'’][^\W_]+)*|\s+|.", re.DOTALL)
_SHORT_TOKENS = 3  # tokens of a side
_SHORT_CHARACTERS = 64  # characters of a side
_ALIKE = 0.5  # least share of equal characters


class WordSpan(NamedTuple):
    """A piece of one of the two texts."""

    text: str
    changed: bool


class _Stretch(NamedTuple):
    """Tokens [start_a, end_a) of one text, and the corresponding [start_b, end_b) of the other."""

    equal: bool
    start_a: int
    end_a: int
    start_b: int
    end_b: int


Spans: TypeAlias = tuple[WordSpan, ...]


_Sides: TypeAlias = tuple[Sequence[str], Sequence[str]]


def tokens(text: str) -> list[str]:
    """Split a text into tokens, which together are the text."""
    return _TOKEN.findall(text)


def mark(a: str, b: str) -> tuple[Spans, Spans]:
    """Mark the differences between two texts in spans that join to ``a``, and spans that join to ``b``.

    Two similar short values (identifiers, numbers, dates) are marked between their common start and end, character by
    character; all other texts by words. Time and memory are bounded for any input.
    """
    if a == b:
        same = (WordSpan(a, False),) if a else ()
        return same, same
    if not a or not b:
        return (WordSpan(a, True),) if a else (), (WordSpan(b, True),) if b else ()
    if len(a) + len(b) > MOST_CHARACTERS:
        return _spans((a, b), _ends(a, b))
    words = tokens(a), tokens(b)
    if max(map(len, words)) <= _SHORT_TOKENS and max(len(a), len(b)) <= _SHORT_CHARACTERS:
        ends = _ends(a, b)
        if sum(part.end_a - part.start_a for part in ends if part.equal) >= _ALIKE * max(len(a), len(b)):
            return _spans((a, b), ends)
    return _spans(words, _matched(words))


def _matched(words: _Sides) -> list[_Stretch]:
    """Return stretches by difflib, without the common start and end."""
    a, b = words
    ends = _ends(a, b)
    middle = next((stretch for stretch in ends if not stretch.equal), None)
    if middle is None:
        return ends
    _, start_a, end_a, start_b, end_b = middle
    counts = Counter(token for token in a[start_a:end_a] if not token.isspace())
    if sum(counts[token] for token in b[start_b:end_b]) > MOST_PAIRS:
        return ends
    matcher = SequenceMatcher(str.isspace, a[start_a:end_a], b[start_b:end_b], autojunk=False)
    inner = [
        _Stretch(
            equal=tag == "equal", start_a=start_a + i1, end_a=start_a + i2, start_b=start_b + j1, end_b=start_b + j2
        )
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
    ]
    position = ends.index(middle)
    return _fold([*ends[:position], *inner, *ends[position + 1 :]], words)


def _ends(a: Sequence[str], b: Sequence[str]) -> list[_Stretch]:
    """Return the common start, the change and the common end, without empty ones. ``a`` and ``b`` must differ."""
    shorter = min(len(a), len(b))
    start = next((i for i in range(shorter) if a[i] != b[i]), shorter)
    end = next((i for i in range(shorter - start) if a[-1 - i] != b[-1 - i]), shorter - start)
    stop_a, stop_b = len(a) - end, len(b) - end
    parts = (
        _Stretch(equal=True, start_a=0, end_a=start, start_b=0, end_b=start),
        _Stretch(equal=False, start_a=start, end_a=stop_a, start_b=start, end_b=stop_b),
        _Stretch(equal=True, start_a=stop_a, end_a=len(a), start_b=stop_b, end_b=len(b)),
    )
    return [part for part in parts if part.end_a > part.start_a or part.end_b > part.start_b]


def _fold(stretches: list[_Stretch], words: _Sides) -> list[_Stretch]:
    """Join neighbouring changes, and merge small islands of equal text into the two larger changes around them."""
    a, b = words
    folded: list[_Stretch] = []
    for stretch in stretches:
        if folded and not stretch.equal and not folded[-1].equal:
            stretch = _joined(folded.pop(), stretch)
        folded.append(stretch)
        while len(folded) >= 3 and not folded[-1].equal and folded[-2].equal:
            first, island, last = folded[-3:]
            text = "".join(a[island.start_a : island.end_a]).strip()
            smaller = min(
                sum(map(len, (*a[change.start_a : change.end_a], *b[change.start_b : change.end_b])))
                for change in (first, last)
            )
            if len(text) > _ISLAND or (text and smaller <= 2 * len(text)):
                break
            folded[-3:] = [_joined(first, last)]
    return folded


def _joined(first: _Stretch, last: _Stretch) -> _Stretch:
    return _Stretch(equal=False, start_a=first.start_a, end_a=last.end_a, start_b=first.start_b, end_b=last.end_b)


def _spans(words: _Sides, stretches: list[_Stretch]) -> tuple[Spans, Spans]:
    a, b = words
    old: list[WordSpan] = []
    new: list[WordSpan] = []
    for equal, start_a, end_a, start_b, end_b in stretches:
        for spans, text in ((old, "".join(a[start_a:end_a])), (new, "".join(b[start_b:end_b]))):
            # Spaces at the edge of a change are left out of it, unless only spaces changed.
            core = "" if equal else text.strip()
            start = text.index(core)
            end = start + len(core)
            pieces = ((text[:start], False), (core, True), (text[end:], False)) if core else ((text, not equal),)
            for piece, is_changed in pieces:
                if piece and spans and spans[-1].changed == is_changed:
                    spans[-1] = WordSpan(spans[-1].text + piece, is_changed)
                elif piece:
                    spans.append(WordSpan(piece, is_changed))
    return tuple(old), tuple(new)


_AROUND: Final = 60  # the number of characters that are shown on each side of a quote, cut between words


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
