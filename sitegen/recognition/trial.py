"""Tries proposals: folds history with them, and scores the newest output of each eval as a build would."""

from __future__ import annotations

from typing import Final

from sitegen.config.models import Manifest, SiteConfig
from sitegen.errors import NothingToReportError, SitegenError
from sitegen.history.fold_state import CopiedParts
from sitegen.history.layout import Layout
from sitegen.history.repository import Repository
from sitegen.history.timeline import advance, current_histories
from sitegen.model.frozen import Frozen
from sitegen.model.kinds import traits_of
from sitegen.model.scorecards import Scorecard
from sitegen.model.timeline import Blob, EvalHistory, Snapshot
from sitegen.scoring.kinds import CONTENTS, scorer, specs_of
from sitegen.scoring.own import scored_with_own_metrics
from sitegen.scoring.scorer import File, ScoringInputs
from sitegen.text.plain import counted
from sitegen.text.values import metric_text

_LEAST_ANSWERED: Final = 0.25
"""The least share of expected values for which a structured output must have some value."""

_LEAST_CORRECT: Final = 0.1
"""The least share of these values that must be correct."""

_LEAST_ROUGE: Final = 0.1
"""The least ROUGE-1 of responses of which none is exactly as expected."""


class TrialResult(Frozen):
    """The score of an eval's newest output."""

    points: int
    newest: str
    """Its headline and sample, ``F1 0.83 over 24 fields``; empty if it has no number."""
    lacks: str
    """The reason for rejecting the eval; empty if it is accepted."""

    @property
    def summary(self) -> str:
        """Summarise the result: ``12 iterations; the newest: F1 0.830 over 2 documents``."""
        iterations = counted(self.points, "iteration")
        return f"{iterations}; the newest: {self.newest}" if self.newest else iterations


def fold_evals(repository: Repository, config: SiteConfig, manifest: Manifest, head: str) -> tuple[EvalHistory, ...]:
    """Return the histories of all evals under a configuration, by id. A shallow history is folded as far as it goes."""
    parts, layout = CopiedParts(), Layout(config, manifest)
    try:
        advance(repository, layout, parts, head=head, contents=CONTENTS)
    except NothingToReportError:
        return ()
    return current_histories(parts, layout)


def score_newest(repository: Repository, history: EvalHistory) -> TrialResult:
    """Score the newest output of an eval. If that is impossible, the result has the reason. Never raises."""
    points = tuple(snapshot for snapshot in history.snapshots if snapshot.outputs)
    if not points:
        return TrialResult(0, "", "no output was found")
    try:
        card = _scorecard(repository, history.kind, points[-1])
    except SitegenError as error:
        return TrialResult(len(points), "", f"{error.message}")
    value = card.metrics[0].value if card.metrics else None
    if card.status != "scored" or value is None:
        errors = (finding.message for finding in card.findings if finding.severity == "error")
        return TrialResult(len(points), "", next(errors, "nothing can be scored"))
    if traits_of(history.kind).is_structured and not _agrees(card):
        return TrialResult(len(points), "", "the output contains hardly any expected value")
    if traits_of(history.kind).answers_cases and not value and not (card.metric("rouge1") or 0) > _LEAST_ROUGE:
        return TrialResult(len(points), "", "no output says what was expected")
    spec = specs_of(history.kind, [card])[0]
    value_text = metric_text(value, unit=spec.unit)
    return TrialResult(len(points), f"{spec.label} {value_text} over {_sample(history.kind, card)}", "")


def _sample(kind: str, card: Scorecard) -> str:
    """Return the number of documents, cases or expected answers that a metric is computed from, in words."""
    if traits_of(kind).answers_cases:
        return counted(card.expected_values, "expected answer")
    nouns, documents = scorer(kind).nouns, len(card.documents)
    return f"{documents:,} {nouns.document if documents == 1 else nouns.documents}"


def _agrees(card: Scorecard) -> bool:
    counts = card.counts
    answered = counts.tp + counts.wrong_value + counts.format_error
    is_answered = answered >= _LEAST_ANSWERED * (answered + counts.omission)
    return is_answered and counts.tp > 0 and counts.tp >= _LEAST_CORRECT * answered


def _scorecard(repository: Repository, kind: str, snapshot: Snapshot) -> Scorecard:
    roles = (snapshot.ground_truth, snapshot.mapping, snapshot.schema)
    oids = dict.fromkeys(blob.oid for blob in (*snapshot.outputs, *roles) if blob)
    contents = {content.oid: content for content in repository.read_blobs(tuple(oids))}

    def file(blob: Blob) -> File:
        return File(blob.path, contents[blob.oid].content, contents[blob.oid].reason)

    outputs = tuple(map(file, snapshot.outputs))
    truth, mapping, schema = (file(blob) if blob else None for blob in roles)
    return scored_with_own_metrics(
        scorer(kind),
        ScoringInputs(outputs=outputs, ground_truth=truth, mapping=mapping, schema=schema, settings=snapshot.settings),
    ).scorecard
