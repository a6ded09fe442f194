"""How alike two texts are: normalised (rule 14), by the words that name an item (rules 21, 22 and 25), by ROUGE."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

EPSILON: Final = 1e-9
"""Tolerance of float means. For one text shorter than 10^8 characters it decides as whole numbers would."""

_SMALL: Final = 5_000
"""Pairs up to which plain calls are cheaper than loading numpy."""
_ROWS: Final = 2_000_000
"""Cells of a matrix that are held at once."""
_LONGEST: Final = 10_000
"""Code points of a text that are looked at."""


class Exact(NamedTuple):
    """A number, date or boolean: as another it is, or it is not."""

    value: Hashable


Cell: TypeAlias = str | Exact | None
"""One match field of one item: normalised text, an exact value, or nothing."""


def similarity(left: Sequence[Cell], right: Sequence[Cell]) -> float:
    """The mean over the fields, 0..1. Both sides empty: left out; one side empty: 0; nothing left: 0."""
    from rapidfuzz.distance.Levenshtein import distance

    total = 0.0
    fields = 0
    for one, other in zip(left, right, strict=True):
        if one is None and other is None:
            continue
        fields += 1
        if one == other:
            total += 1.0
        elif isinstance(one, str) and isinstance(other, str):
            one, other = one[:_LONGEST], other[:_LONGEST]
            total += 1 - distance(one, other) / max(len(one), len(other))
    return total / fields if fields else 0.0


def similar_pairs(
    left: Sequence[Sequence[Cell]], right: Sequence[Sequence[Cell]], threshold: float, *, most: int | None = None
) -> list[tuple[int, int, float]]:
    """Every pair of items that reaches the threshold, as (left index, right index, similarity), in that order.

    Of more than *most* pairs the first ones; the rest is not looked for.
    """
    if not left or not right or not left[0]:
        return []
    least = threshold - EPSILON
    if len(left) * len(right) <= _SMALL:
        every = ((i, j, similarity(one, other)) for i, one in enumerate(left) for j, other in enumerate(right))
        return list(islice((pair for pair in every if pair[2] >= least), most))
    height = max(1, _ROWS // len(right))
    found: list[tuple[int, int, float]] = []
    for start in range(0, len(left), height):
        block = _matrix(left[start : start + height], right)
        left_over = None if most is None else most - len(found)
        rows, columns = (each[:left_over] for each in (block >= least).nonzero())
        values = block[rows, columns].tolist()
        found.extend(zip((rows + start).tolist(), columns.tolist(), values, strict=True))
        if len(found) == most:
            break
    return found


def _matrix(left: Sequence[Sequence[Cell]], right: Sequence[Sequence[Cell]]) -> Any:
    """The similarities of two blocks of items, as a float64 array of shape (left, right)."""
    import numpy as np
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    total = np.zeros((len(left), len(right)))
    fields = np.zeros((len(left), len(right)))
    for field in range(len(left[0])):
        ones = [item[field] for item in left]
        others = [item[field] for item in right]
        present = np.array([one is not None for one in ones])[:, None] | np.array([o is not None for o in others])
        texts = [one[:_LONGEST] if isinstance(one, str) else "" for one in ones]
        other_texts = [other[:_LONGEST] if isinstance(other, str) else "" for other in others]
        both = np.array([isinstance(one, str) for one in ones])[:, None] & np.array(
            [isinstance(other, str) for other in others]
        )
        distances = cdist(texts, other_texts, scorer=Levenshtein.distance, dtype=np.int32)
        longest = np.maximum(
            np.array([len(text) for text in texts])[:, None], np.array([len(text) for text in other_texts])
        )
        total += np.where(both, 1 - distances / np.maximum(longest, 1), 0.0)
        places: dict[Exact, list[int]] = {}
        for place, other in enumerate(others):
            if isinstance(other, Exact):
                places.setdefault(other, []).append(place)
        for row, one in enumerate(ones):
            if isinstance(one, Exact) and one in places:
                total[row, places[one]] += 1.0
        fields += present
    return np.divide(total, fields, out=np.zeros_like(total), where=fields > 0)


def normalise(text: str) -> str:
    """NFC, casefolded, Unicode white space trimmed and collapsed to one blank.

    Not NFKC: ``²`` is not ``2``. Accents, punctuation and zero-width characters stay.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFC", text).casefold()
    # Casefolding can leave letters decomposed that NFC had composed.
    return " ".join(unicodedata.normalize("NFC", folded).split())


_TOKEN: Final = re.compile("[a-z0-9]+")


class Rouge(NamedTuple):
    """F-measures of one response, 0..1."""

    rouge1: float
    rouge2: float
    rouge_l: float


def rouge(expected: str, actual: str) -> Rouge:
    """Hold a response against the expected text. Without a common token every measure is 0."""
    target, given = tokens(expected), tokens(actual)
    return Rouge(_overlap(target, given, 1), _overlap(target, given, 2), _subsequence(target, given))


def tokens(text: str) -> list[str]:
    """Stretches of a-z and 0-9 of the text in lower case; every other letter separates."""
    return _TOKEN.findall(text.lower())


def _overlap(target: Sequence[str], given: Sequence[str], length: int) -> float:
    """Common n-grams, each as often as it stands on both sides."""
    wanted, found = _ngrams(target, length), _ngrams(given, length)
    return _f_measure((wanted & found).total(), wanted.total(), found.total())


def _ngrams(words: Sequence[str], length: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(length)), strict=False))


def _subsequence(target: Sequence[str], given: Sequence[str]) -> float:
    """The longest common subsequence of tokens."""
    from rapidfuzz.distance import LCSseq

    # Numbers for words: what is compared is the word itself, not its hash.
    number = {word: index for index, word in enumerate(dict.fromkeys((*target, *given)))}
    common = LCSseq.similarity([number[word] for word in target], [number[word] for word in given])
    return _f_measure(common, len(target), len(given))


def _f_measure(common: int, wanted: int, found: int) -> float:
    if not common:
        return 0.0
    precision, recall = common / found, common / wanted
    return 2 * precision * recall / (precision + recall)
