"""The only module that computes precision, recall, F1 and their means (rules 1, 2, 6, 7 and 9)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import comb, fsum
from operator import attrgetter
from typing import Any, Final, NamedTuple

from sitegen.model.frozen import Frozen, replace
from sitegen.model.metrics import Convention, Counts, ErrorNumbers, Metric, MetricSpec
from sitegen.model.outcomes import ERROR_TYPES, ErrorType, Judgement, Outcome
from sitegen.model.scorecards import DocumentScore

_OUTCOMES: Final[tuple[Outcome, ...]] = ("correct", "true_negative", *ERROR_TYPES)
_outcome_of: Final = attrgetter("outcome")


def tally(judgements: Sequence[Judgement], convention: Convention = "standard") -> Counts:
    """Count judgements.

    A format error without an expected value stands for a whole list. The missing cells of the list are judged as
    omissions, so the format error itself adds no FN (rule 24).
    """
    outcomes = tuple(map(_outcome_of, judgements))
    counts = _counted(outcomes, convention)
    if counts.format_error:
        whole_lists = sum(
            judgement.outcome == "format_error" and judgement.expected is None for judgement in judgements
        )
        return _counted(outcomes, convention, whole_lists)
    return counts


@lru_cache(maxsize=1024)
def _counted(outcomes: tuple[Outcome, ...], convention: Convention, whole_lists: int = 0) -> Counts:
    number = Counter(outcomes)
    tp, tn, omission, hallucination, wrong_value, format_error = [number.get(outcome, 0) for outcome in _OUTCOMES]
    wrong = 0 if convention == "omissions_only" else wrong_value + format_error - whole_lists
    false_positives = hallucination + wrong_value + format_error
    return Counts(
        tp=tp,
        fp=false_positives,
        fn=omission + wrong,
        tn=tn,
        omission=omission,
        hallucination=hallucination,
        wrong_value=wrong_value,
        format_error=format_error,
    )


def by_attribute(judgements: Iterable[Judgement], first: Iterable[str] = ()) -> dict[str, list[Judgement]]:
    """Group judgements by attribute: ``first``, even without judgements, then other attributes as they occur."""
    of_attribute: dict[str, list[Judgement]] = defaultdict(list, {attribute: [] for attribute in first})
    for judgement in judgements:
        of_attribute[judgement.attribute].append(judgement)
    return of_attribute


CELLS: Final = ("tp", "fp", "fn", "tn")  # the names of the first counts, as files have them
APART: Final = CELLS[1:3]
"""The counts that are one number, and no number of their own, where an answer is only right or wrong."""


def total(counts: Iterable[Counts]) -> Counts:
    """Sum each count, for pooled metrics; all are 0 for no counts."""
    columns = zip(*counts, strict=True)
    return Counts(*(sum(column) for column in columns))


class Share(NamedTuple):
    """The numerator and the denominator of a ratio, for one unit or for a whole output."""

    part: float
    whole: float

    @property
    def value(self) -> float | None:
        """The ratio; None if the denominator is 0."""
        return self.part / self.whole if self.whole else None


class CountRatio(Frozen):
    """A metric that is a ratio of summed counts."""

    name: str
    label: str
    initial: str
    """The label in narrow tables."""
    explanation: str
    """One sentence for the Methods page."""
    note: str
    """Text on the counts behind a value: a format string with the fields of ``Counts``, and ``wrong`` (FP and FN
    together), ``expected`` (the number of values) and ``things`` (what the kind calls them)."""
    share: Callable[[Counts], Share]

    def of(self, counts: Counts) -> float | None:
        """Return the ratio; None if the denominator is 0."""
        return self.share(counts).value

    @property
    def word(self) -> str:
        """The label inside a sentence."""
        return self.label if self.label.isupper() else self.label.lower()

    @property
    def spec(self) -> MetricSpec:
        """The ratio as a metric."""
        return MetricSpec(self.name, self.label, self.explanation)


RATIOS: Final = (
    CountRatio(
        name="f1",
        label="F1",
        initial="F1",
        explanation="2 TP / (2 TP + FP + FN), from the counts of all documents together.",
        note="{tp:,} correct, of {given:,} given and {expected:,} expected",
        share=lambda counts: Share(2 * counts.tp, 2 * counts.tp + counts.fp + counts.fn),
    ),
    CountRatio(
        name="precision",
        label="Precision",
        initial="P",
        explanation="TP / (TP + FP): the share of the given values that is right.",
        note="{tp:,} of {given:,} given{things} correct",
        share=lambda counts: Share(counts.tp, counts.tp + counts.fp),
    ),
    CountRatio(
        name="recall",
        label="Recall",
        initial="R",
        explanation="TP / (TP + FN): the share of the expected values that was found.",
        note="{tp:,} of {expected:,} expected{things} correct",
        share=lambda counts: Share(counts.tp, counts.tp + counts.fn),
    ),
)
"""The ratios of every kind that counts true and false positives, the headline first.

Metrics, columns, tables by field and by document, exports, data frames and results files all use this table.
"""

FIELD_ACCURACY: Final = CountRatio(
    name="field_accuracy",
    label="Field accuracy",
    initial="A",
    explanation="(TP + TN) / fields judged, including those that are empty on both sides.",
    note="",
    share=lambda counts: Share(counts.tp + counts.tn, judged(counts)),
)

ACCURACY: Final = CountRatio(
    name="accuracy",
    label="Accuracy",
    initial="A",
    explanation="Correct / expected: the share of what was expected that was given.",
    note="",
    share=lambda counts: Share(counts.tp, counts.tp + counts.fn),
)
"""Of highlights and of responses, where it was asked for under this name; it is recall."""

PASSED: Final = CountRatio(
    name="pass_rate",
    label="Passed",
    initial="P",
    explanation="Cases that passed / cases with a verdict.",
    note="{tp:,} of {expected:,}{things} passed",
    share=lambda counts: Share(counts.tp, counts.tp + counts.fn),
)
"""Of cases that have one verdict each and nothing else, for which it is also precision, recall and F1."""

BY_NAME: Final = {row.name: row for row in (*RATIOS, FIELD_ACCURACY, ACCURACY)}
"""Every metric that is a ratio of summed counts."""


def in_file_order() -> tuple[CountRatio, ...]:
    """Return the ratios as data files list them: the headline last."""
    return (*RATIOS[1:], RATIOS[0])


def cells(counts: Counts, left_out: Container[str] = ()) -> dict[str, Any]:
    """Return each of ``CELLS``, by name; None for those that are left out."""
    return {name: None if name in left_out else count for name, count in zip(CELLS, counts, strict=False)}


def ratios(counts: Counts, left_out: Container[str] = ()) -> dict[str, float | None]:
    """Return the value of each ratio, by name, in the order of data files; None for those that are left out."""
    return {row.name: None if row.name in left_out else row.of(counts) for row in in_file_order()}


@lru_cache(maxsize=8192)
def f1(counts: Counts) -> float | None:
    """F1: 0 if there are only errors, undefined only if nothing was judged."""
    return RATIOS[0].of(counts)


@lru_cache(maxsize=4_096)
def share_of(metric: str, counts: Counts) -> Share | None:
    """Return the share behind a metric that is a ratio of summed counts; None for other metrics."""
    row = BY_NAME.get(metric)
    return row.share(counts) if row else None


def errors(counts: Counts) -> int:
    """Return the number of attributes with an error of any type."""
    return counts.omission + counts.hallucination + counts.wrong_value + counts.format_error


def error_numbers(counts: Counts) -> ErrorNumbers:
    """Return the number of errors of each type."""
    return counts.omission, counts.hallucination, counts.wrong_value, counts.format_error


def errors_by_type(counts: Counts) -> dict[ErrorType, int]:
    """Return the number of errors of each type, as documents have them."""
    return {error_type: getattr(counts, error_type) for error_type in ERROR_TYPES}


def judged(counts: Counts) -> int:
    """Return the number of attributes that were compared with the ground truth, agreed blanks included."""
    return counts.tp + counts.tn + errors(counts)


@lru_cache(maxsize=4_096)  # the counts of a field are the same in most outputs
def wrong_share(counts: Counts | None) -> float | None:
    """Return the share of errors among the judged attributes; None if nothing was judged."""
    total = judged(counts) if counts else 0
    return errors(counts) / total if counts and total else None


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the defined values (rule 6); None if no value is defined."""
    defined = [value for value in values if value is not None]
    return fsum(defined) / len(defined) if defined else None


def values_by_case(documents: Iterable[DocumentScore], metrics: Iterable[str]) -> dict[str, dict[str, list[float]]]:
    """Return the values of each metric in each case that has any: one of each variant and model that answered it."""
    values: dict[str, dict[str, list[float]]] = {name: {} for name in metrics}
    for document in documents:
        for name, value in document.metrics:
            if value is not None and name in values:
                values[name].setdefault(document.case, []).append(value)
    return values


def mean_over_cases(values: Mapping[str, Sequence[float]]) -> float | None:
    """Return the mean of values by case: each case counts once, whoever answered it; None without any."""
    are_alike = len({len(of_case) for of_case in values.values()}) == 1
    return mean(chain(*values.values()) if are_alike else map(mean, values.values()))  # to the last bit if alike


OF_DRAWS: Final = ("pass_any", "pass_all", "flaky")
"""The metrics of k answers that are drawn from those to a case."""
DRAWN_FROM: Final = ("repeats", "repeats_passed")
"""What a document states beside them: how many of its answers have a verdict, and how many of these passed."""


def drawn_alike(sides: Sequence[Sequence[DocumentScore]], metric: str) -> Sequence[Sequence[DocumentScore]]:
    """Return documents with ``OF_DRAWS`` for one k if a case has more answers on one side: the least number of any."""
    of_draws = sides if metric in OF_DRAWS else ()
    numbers = [{each.name: dict(each.metrics).get(DRAWN_FROM[0]) for each in side} for side in of_draws]
    if all(of == numbers[0] for of in numbers):  # as a rule
        return sides
    k, drawn = int(min(filter(None, chain(*map(dict.values, numbers))), default=0)), [[*side] for side in sides]
    for side, place in ((of, place) for of in drawn for place in range(len(of))):
        known = dict(side[place].metrics)
        number, passed = (int(known.get(name) or 0) for name in DRAWN_FROM)
        fail, succeed = (comb(each, k) / max(1, comb(number, k)) for each in (number - passed, passed))
        known |= zip(OF_DRAWS, (1 - fail, succeed, 1 - fail - succeed), strict=True) if number else ()
        side[place] = replace(side[place], metrics=tuple(Metric(*each) for each in known.items()))
    return drawn


def averages(counts: Sequence[Counts]) -> dict[str, float | None]:
    """Return each of ``RATIOS`` over evals (rule 7): the mean, ``macro_f1``, and that of all counts, ``pooled_f1``."""
    macro = {f"macro_{row.name}": mean([row.of(one) for one in counts]) for row in RATIOS}
    return macro | {f"pooled_{row.name}": row.of(total(counts)) for row in RATIOS}
