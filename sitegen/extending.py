"""The names that a package imports to add an eval kind or a metric to sitegen.

A kind is an ``OwnKind`` under an entry point of the group ``sitegen.kinds``, a metric an ``OwnMetric`` under one of the
group ``sitegen.metrics``. The name of the entry point is the name in the manifest.
"""

from sitegen.kind_files import KindFiles
from sitegen.model.metrics import Counts, Metric, MetricSpec, Nouns
from sitegen.model.outcomes import Judgement
from sitegen.model.panels import NotePanel, PanelColumn, TablePanel
from sitegen.model.problems import Finding
from sitegen.model.scorecards import DocumentScore, FieldScore, Result, Scorecard
from sitegen.scoring.own import OwnKind, OwnMetric
from sitegen.scoring.scorer import File, Scorer, ScoringInputs

__all__ = [
    "Counts",
    "DocumentScore",
    "FieldScore",
    "File",
    "Finding",
    "Judgement",
    "KindFiles",
    "Metric",
    "MetricSpec",
    "NotePanel",
    "Nouns",
    "OwnKind",
    "OwnMetric",
    "PanelColumn",
    "Result",
    "Scorecard",
    "Scorer",
    "ScoringInputs",
    "TablePanel",
]
