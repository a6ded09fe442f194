"""The names that a package imports to add a metric to sitegen.

A metric is an ``OwnMetric`` under an entry point of the group ``sitegen.metrics``. The name of the entry point is the
name in the manifest. The other names are those of the result that its function gets.
"""

from sitegen.model.metrics import Counts, Metric, MetricSpec
from sitegen.model.outcomes import Judgement
from sitegen.model.scorecards import DocumentScore, FieldScore, Result, Scorecard
from sitegen.scoring.kinds import OwnMetric

__all__ = [
    "Counts",
    "DocumentScore",
    "FieldScore",
    "Judgement",
    "Metric",
    "MetricSpec",
    "OwnMetric",
    "Result",
    "Scorecard",
]
