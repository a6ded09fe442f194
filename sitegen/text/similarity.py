"""Compares texts: after normalising (rule 14), by the match fields of items (rules 21, 22 and 25), and by ROUGE."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from itertools import islice
from math import ceil, isqrt
from typing import Any, Final, NamedTuple, TypeAlias

from sitegen.model.frozen import Frozen, grouped
from sitegen.text.plain import normal_form

_EPSILON: Final = 1e-9  # of float means; for a text shorter than 10^8 characters it decides as whole numbers would
_SMALL: Final = 5_000  # the most pairs for which plain calls are cheaper than loading numpy
_ROWS: Final = 2_000_000  # the most cells of a matrix that are in memory at once
_LONGEST: Final = 10_000  # the most code points of a text that are compared
_FEW_STEPS: Final = 2_000_000_000  # the most steps of plain calls: pairs times squared length of the longest text
_MOST_STEPS: Final = 200_000_000_000  # the most steps of two lists, which take ten seconds at worst


class Exact(Frozen):
    """A number, date or boolean. Two of these are equal or not, without degrees of similarity."""

    value: Hashable


Comparable: TypeAlias = str | Exact | None
"""One match field of one item: normalised text, an exact value, or nothing."""


def similarity(left: Sequence[Comparable], right: Sequence[Comparable]) -> float:
    """Return the mean over the fields, 0..1.

    Fields empty on both sides are left out, on one side count 0; 0 without fields.
    """
    total, fields = 0.0, 0
    for a, b in zip(left, right, strict=True):
        if a is None and b is None:
            continue
        fields += 1
        if a == b:
            total += 1.0
        elif isinstance(a, str) and isinstance(b, str):
            a, b = a[:_LONGEST], b[:_LONGEST]
            total += 1 - _levenshtein()(a, b) / max(len(a), len(b))
    return total / fields if fields else 0.0


@cache
def _levenshtein() -> Callable[[str, str], int]:
    """Return the function of rapidfuzz, imported once: the import takes as long as the distance of two short texts."""
    from rapidfuzz.distance.Levenshtein import distance

    return distance


class SimilarPair(NamedTuple):
    """An item of one list and an item of another one, by their indices."""

    left: int
    right: int
    similarity: float
    """0..1"""


def similar_pairs(
    left: Sequence[Sequence[Comparable]],
    right: Sequence[Sequence[Comparable]],
    threshold: float,
    *,
    most: int | None = None,
) -> list[SimilarPair]:
    """Return every pair of items that reaches the threshold, in the order of the left and then of the right items.

    If there are more than ``most`` pairs, only the first are computed.
    """
    if not left or not right or not left[0]:
        return []
    least, count = threshold - _EPSILON, len(left) * len(right)
    longest = max((len(cell) for item in (*left, *right) for cell in item if isinstance(cell, str)), default=0)
    if count <= _SMALL and count * longest**2 <= _FEW_STEPS:
        every = (
            SimilarPair(i, j, similarity(item, candidate))
            for i, item in enumerate(left)
            for j, candidate in enumerate(right)
        )
        return list(islice((pair for pair in every if pair.similarity >= least), most))
    height = max(1, _ROWS // len(right))
    pairs: list[SimilarPair] = []
    for start in range(0, len(left), height):
        block = _matrix(left[start : start + height], right, least, min(_LONGEST, isqrt(_MOST_STEPS // count)))
        left_over = None if most is None else most - len(pairs)
        rows, columns = (indices[:left_over] for indices in (block >= least).nonzero())
        values = block[rows, columns].tolist()
        pairs.extend(map(SimilarPair, (rows + start).tolist(), columns.tolist(), values))
        if len(pairs) == most:
            break
    return pairs


def _matrix(
    left: Sequence[Sequence[Comparable]], right: Sequence[Sequence[Comparable]], least: float, longest: int
) -> Any:
    """Return the similarities of two blocks of items, as a float64 array of shape (left, right).

    Only those that reach ``least`` are exact: of others a text may be further away. ``longest``: the most code points
    of a text.
    """
    import numpy as np
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    total = np.zeros((len(left), len(right)))
    fields = np.zeros((len(left), len(right)))
    for field in range(len(left[0])):
        left_cells = [item[field] for item in left]
        right_cells = [item[field] for item in right]
        present = np.array([cell is not None for cell in left_cells])[:, None] | np.array(
            [cell is not None for cell in right_cells]
        )
        left_texts = [cell[:longest] if isinstance(cell, str) else "" for cell in left_cells]
        right_texts = [cell[:longest] if isinstance(cell, str) else "" for cell in right_cells]
        both = np.array([isinstance(cell, str) for cell in left_cells])[:, None] & np.array(
            [isinstance(cell, str) for cell in right_cells]
        )
        lengths = np.maximum(
            np.array([len(text) for text in left_texts])[:, None], np.array([len(text) for text in right_texts])
        )
        # Even if all other fields are equal, a pair with a greater distance does not reach the least similarity.
        furthest = ceil(len(left[0]) * (1 - least) * int(lengths.max()))
        distances = cdist(left_texts, right_texts, scorer=Levenshtein.distance, dtype=np.int32, score_cutoff=furthest)
        total += np.where(both, 1 - distances / np.maximum(lengths, 1), 0.0)
        places = grouped((cell, place) for place, cell in enumerate(right_cells) if isinstance(cell, Exact))
        for row, cell in enumerate(left_cells):
            if isinstance(cell, Exact) and cell in places:
                total[row, places[cell]] += 1.0
        fields += present
    return np.divide(total, fields, out=np.zeros_like(total), where=fields > 0)


def normalise(text: str) -> str:
    """Return the text in NFC, casefolded, with Unicode white space trimmed and collapsed to one blank.

    NFKC is not used, because ``²`` is not ``2``. Accents, punctuation and zero-width characters are kept.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = normal_form(text).casefold()
    # Casefolding can decompose letters that NFC had composed.
    return " ".join(normal_form(folded).split())


_TOKEN: Final = "[a-z0-9]+"


def rouge(expected: str, actual: str) -> tuple[float, float, float]:
    """Compare a response with the expected text. Without a common token every measure is 0."""
    from rapidfuzz.distance import LCSseq

    target, response = tokens(expected), tokens(actual)
    # Words are replaced by numbers, so that words themselves are compared and not their hashes.
    number = {word: index for index, word in enumerate(dict.fromkeys((*target, *response)))}
    common = LCSseq.similarity([number[word] for word in target], [number[word] for word in response])
    sizes = len(target), len(response)
    return _overlap(target, response, 1), _overlap(target, response, 2), _f_measure(common, *sizes)


def tokens(text: str) -> list[str]:
    """Return the runs of a-z and 0-9 in the text in lower case; every other character separates them."""
    return re.findall(_TOKEN, text.lower())


def _overlap(target: Sequence[str], response: Sequence[str], length: int) -> float:
    """Return the F-measure of common n-grams; a repeated one counts as often as it occurs on both sides."""
    expected, actual = (
        Counter(zip(*(words[start:] for start in range(length)), strict=False)) for words in (target, response)
    )
    return _f_measure((expected & actual).total(), expected.total(), actual.total())


def _f_measure(common: int, expected: int, actual: int) -> float:
    if not common:
        return 0.0
    precision, recall = common / actual, common / expected
    return 2 * precision * recall / (precision + recall)
