"""Guesses from the name of a recorded number which direction is better, its range, and whether it is a headline."""

from __future__ import annotations

import re
from math import floor, log10
from typing import Final

from sitegen.model.noise import Ends

_WORD: Final = re.compile(r"[A-Z]?[a-z]+[0-9]*|[A-Z]+(?![a-z])[0-9]*|[0-9]+")


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_AMOUNTS: Final = _words_of("""
    bits bpb byte bytes cost costs count counts distance distances duration elapsed gb kb latencies latency loss losses
    mae mb memory milliseconds ms mse nll number perplexity ppl price regret rmse runtime sec second seconds secs size
    time times token tokens total usd
""")
"""Words that name amounts without a natural upper bound."""

_LOWER: Final = (_AMOUNTS - _words_of("count counts number size total")) | _words_of("""
    brier cer ece err error errors fail failed failing failure failures false fn fnr fp fpr hallucinated hallucination
    hallucinations invalid mape missed misses missing omission omissions regression regressions rejected skipped std
    stderr stddev stdev timeout timeouts toxicity violation violations wer wrong
""")
_HIGHER: Final = _words_of("""
    acc accuracy auc auroc bleu correct em exact f1 f2 found match matched pass passed passing precision quality recall
    reward rouge score scores similarity success successes
""")
_METRICS: Final = _HIGHER | _words_of("""
    average avg brier cer faithful faithfulness hit kappa mape mean mrr ndcg relevance relevancy solve wer win
""")
_PERCENT: Final = _HIGHER | _words_of("percent percentage pct rate")
_HEADLINES: Final = (
    "f1",
    "macro_f1",
    "f1_macro",
    "pooled_f1",
    "f1_score",
    "accuracy",
    "acc",
    "acc_norm",
    "exact_match",
    "em",
    "pass_rate",
    "pass@1",
    "success_rate",
    "average_quality",
    "score",
    "mean_score",
    "overall",
)
"""Names that become the headline unless the settings choose one, the best first."""

_NO_MEASURES: Final = _words_of("""
    batch build date day epoch epochs exit hash id index iteration iterations line month pid port priority run seed
    shots step steps timestamp version year
""")
_NO_RESULTS: Final = _words_of("""
    args arguments config configuration env environment git hyperparameters metadata options parameters params settings
    system versions
""")


def lower_is_better(name: str) -> bool:
    """Whether the name suggests that lower is better: a loss, an error, a time, a cost.

    The last part of the name decides if it has a word for either direction, then a word for "lower" in an earlier part.
    Otherwise higher is better.
    """
    parts = [_name_words(part) for part in name.split(".")]
    if parts[-1] & _LOWER:
        return True
    return not parts[-1] & _HIGHER and any(part & _LOWER for part in parts[:-1])


def is_measure(name: str) -> bool:
    """Whether a number is a measurement, and not a seed, a time stamp or part of the run's configuration."""
    *outer, last = name.split(".")
    words = _WORD.findall(last)
    if (words and words[-1].casefold() in _NO_MEASURES) or last.endswith(("_stderr", "_at")) or "_stderr," in last:
        return False
    return not any(part.casefold() in _NO_RESULTS for part in outer)


def headline_rank(name: str) -> int:
    """How well a number of this name serves as the headline. 0 is best."""
    last = name.rpartition(".")[2].casefold().partition(",")[0]
    if last in _HEADLINES:
        return _HEADLINES.index(last)
    return len(_HEADLINES) + (1 if lower_is_better(name) or _name_words(name) & _AMOUNTS else 0)


def is_headline(name: str) -> bool:
    """Whether the name is that of a usual headline metric, such as ``f1``."""
    return headline_rank(name) < len(_HEADLINES)


def names_a_metric(name: str) -> bool:
    """Whether any word of a name is that of a metric, such as ``overall_pass_rate`` or ``rougeL``."""
    return bool(_name_words(name.rpartition(".")[2]) & _METRICS)


def is_amount(name: str) -> bool:
    """Whether a number is an amount, such as a time, a cost or a number of tokens, which no judge gives."""
    return bool(_name_words(name.rpartition(".")[2]) & _AMOUNTS)


def is_count(name: str, value: float | None) -> bool:
    """Whether a number counts something, judged by its name and its first value: it is whole, and no share or percent.

    A 0 or 1 is a count only if its name is that of an amount or of errors.
    """
    if value is None or not value.is_integer():
        return False
    words = _name_words(name.rpartition(".")[2])
    if words & _AMOUNTS:
        return True
    return not words & _PERCENT and (abs(value) > 1 or bool(words & _LOWER))


def range_of(name: str, value: float | None) -> Ends:
    """The range of a number, from its name and its first value. Changes are measured as parts of it.

    A share ranges from 0 to 1, or to 100 if its value shows that it is a percentage. Any other range ends at the next
    round number (1, 2 or 5 times a power of ten) that is not below the value.
    """
    size = abs(value or 0.0)
    amount = is_amount(name)
    if not amount and 1 < size <= 100 and _name_words(name) & _PERCENT:
        high = 100.0 if size > 10 else _round_up(size)
    elif size == 0 or (size <= 1 and not amount):
        high = 1.0
    else:
        high = _round_up(size)
    return Ends(-high if value is not None and value < 0 else 0.0, high)


def _name_words(name: str) -> frozenset[str]:
    """The words of a name in lower case. A word with a digit, such as ``rouge1``, counts without it as well."""
    words = [word.casefold() for word in _WORD.findall(name)]
    return frozenset((*words, *(word.rstrip("0123456789") for word in words)))


def _round_up(size: float) -> float:
    if not 1e-300 < size < 1e300:
        return max(size, 1.0)
    power = 10.0 ** floor(log10(size))
    return next(float(f"{factor * power:.6g}") for factor in (1, 2, 5, 10) if factor * power >= size * (1 - 1e-9))
