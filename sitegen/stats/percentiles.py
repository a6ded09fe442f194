"""Percentiles of a handful of values, as they are and without interpolation."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil


def nearest_rank(values: Sequence[float], share: float) -> float:
    """The least of the values that at least this share of them does not exceed; 0 < share <= 1, and values there are.

    The nearest-rank percentile (for instance NIST/SEMATECH e-Handbook of Statistical Methods, 7.2.6.2): always one of
    the values, so that few of them promise no more than they know.
    """
    return sorted(values)[ceil(share * len(values) - 1e-9) - 1]
