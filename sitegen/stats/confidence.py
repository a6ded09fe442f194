"""How well the confidence that is stated for values tells those that are right from those that are wrong."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Final, NamedTuple

from sitegen.model.frozen import grouped
from sitegen.model.metrics import Metric, MetricSpec
from sitegen.model.outcomes import Judgement, Stated
from sitegen.stats.intervals import mean, wilson

AUROC: Final = MetricSpec(
    "auroc",
    "AUROC of confidence",
    "The chance that a value which is right has a higher stated confidence than one which is wrong.",
    is_optional=True,
)

_BINS: Final = 10  # parts of the range from 0 to 1 in which values of similar confidence are compared

_FEWEST: Final = 3  # values of a field of which something is said

_THRESHOLDS: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
_SURE: Final = 0.99  # the share of right values above a threshold from which a page says that these need no look
_FEWEST_SURE: Final = 30  # values above a threshold: of one or two, nobody knows how often they are wrong


class Reliability(NamedTuple):
    """Some values with a stated confidence."""

    number: int
    confidence: float
    """The mean of what is stated."""
    right: float
    """The share of them that is right."""
    auroc: float | None
    """None if all of them are right, or all wrong."""

    @property
    def most_wrong(self) -> float:
        """The share that may be wrong of further values like these, at most: the end of the 95 % interval."""
        return 1 - wilson(self.right, self.number).low


def stated_by_field(judgements: Iterable[Judgement]) -> dict[str, list[Stated]]:
    """Return the stated confidences of values by field, in the order of the judgements."""
    fields: dict[str, list[Stated]] = {}
    for judgement in judgements:
        if judgement.stated:
            fields.setdefault(judgement.attribute, []).extend(judgement.stated)
    return fields


def auroc_metric(judgements: Iterable[Judgement]) -> tuple[Metric, ...]:
    """Return the AUROC of all stated confidences as a metric; empty if it is undefined."""
    value = auroc([*chain.from_iterable(stated_by_field(judgements).values())])
    return () if value is None else (Metric(AUROC.name, value),)


def auroc(values: Sequence[Stated]) -> float | None:
    """Return the area under the curve of true and false positives, by ranks (Mann, Whitney 1947; Hanley, McNeil 1982).

    A tie counts half. None if there are not both right and wrong values.
    """
    right = sum(is_right for _, is_right in values)
    wrong = len(values) - right
    if not right or not wrong:
        return None
    won, wrong_below = 0.0, 0
    for _, tied in groupby(sorted(values, key=itemgetter(0)), key=itemgetter(0)):
        rights = [is_right for _, is_right in tied]
        tied_right = sum(rights)
        won += tied_right * (wrong_below + (len(rights) - tied_right) / 2)
        wrong_below += len(rights) - tied_right
    return won / (right * wrong)


def reliability(values: Sequence[Stated]) -> Reliability:
    """Sum up some values, at least one."""
    return Reliability(
        number=len(values),
        confidence=mean([confidence for confidence, _ in values]),
        right=sum(is_right for _, is_right in values) / len(values),
        auroc=auroc(values),
    )


def bins(values: Iterable[Stated]) -> dict[float, Reliability]:
    """Return the values by the lower end of the part of the range that has their confidence; 1 is in the last."""
    parts = grouped((min(int(value[0] * _BINS + 1e-9), _BINS - 1), value) for value in values)
    return {part / _BINS: reliability(parts[part]) for part in sorted(parts)}


def skippable(values: Sequence[Stated]) -> tuple[float, Reliability] | None:
    """Return the least threshold at which at most one of a hundred values is wrong, of enough; None without any.

    And only where others like them are wrong less often than all values are: else the confidence says nothing.
    """
    sure = (row for row in at_least(values).items() if row[1].number >= _FEWEST_SURE and row[1].right >= _SURE)
    return next((row for row in sure if row[1].most_wrong < 1 - reliability(values).right), None)


def at_least(values: Sequence[Stated]) -> dict[float, Reliability]:
    """Return the values whose confidence reaches each of some thresholds, as far as there are any."""
    reached = {least: [value for value in values if value[0] >= least] for least in _THRESHOLDS}
    return {least: reliability(those) for least, those in reached.items() if those}


def by_field(values: Mapping[str, Sequence[Stated]]) -> dict[str, Reliability]:
    """Return each field with enough values; those in which the most stated confidence is wrong first."""
    found = {field: reliability(of_field) for field, of_field in values.items() if len(of_field) >= _FEWEST}
    return dict(sorted(found.items(), key=lambda row: (row[1].right - row[1].confidence, row[0])))
