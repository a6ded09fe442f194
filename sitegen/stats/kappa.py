"""Agreement of two judges beyond what luck would bring: Cohen's kappa, with its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import fsum, sqrt

from sitegen.model.scorecards import Kappa
from sitegen.stats.intervals import LEVEL
from sitegen.stats.quantiles import normal


def cohens_kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> Kappa | None:
    """Kappa of (one judge's category, the other's) over the same things, with an interval of 95 %.

    kappa = (po - pe) / (1 - pe), where po is the share that both judged alike, and pe the share that two judges with
    these frequencies would judge alike by luck (J. Cohen, *A coefficient of agreement for nominal scales*, 1960). The
    interval is the normal one with the large-sample standard error of J. L. Fleiss, J. Cohen and B. S. Everitt, *Large
    sample standard errors of kappa and weighted kappa*, 1969, formula 13, and never leaves -1..1. None for fewer than
    two things, and where both judges know one category only: luck alone would have them agree.
    """
    judged = len(pairs)
    if judged < 2:
        return None
    both = Counter(pairs)
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    categories = first.keys() | second.keys()
    if len(categories) < 2:
        return None
    agreed = sum(both[category, category] for category in categories)
    observed = agreed / judged
    expected = sum(first[each] * second[each] for each in categories) / judged**2
    value = (observed - expected) / (1 - expected)
    # fsum: the sum must not depend on the order of the categories, which a set does not keep.
    alike = fsum(
        both[each, each] / judged * (1 - (first[each] + second[each]) / judged * (1 - value)) ** 2
        for each in categories
    )
    apart = fsum(
        number / judged * ((second[one] + first[other]) / judged * (1 - value)) ** 2
        for (one, other), number in both.items()
        if one != other
    )
    variance = (alike + apart - (value - expected * (1 - value)) ** 2) / (judged * (1 - expected) ** 2)
    reach = normal(LEVEL) * sqrt(max(0.0, variance))
    return Kappa(value, max(-1.0, value - reach), min(1.0, value + reach), agreed, judged)
