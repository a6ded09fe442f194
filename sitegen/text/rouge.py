"""ROUGE-1, ROUGE-2 and ROUGE-L as the package ``rouge_score`` computes them, without a stemmer (rule 31).

Chin-Yew Lin, "ROUGE: a Package for Automatic Evaluation of Summaries", 2004. The package itself would bring nltk and
absl for what is sixty lines here; a table of tests holds these against its numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

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
