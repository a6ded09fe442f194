"""Whether proposals hold: history is folded with them, and the newest output of each is scored, as a build would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from sitegen.config import Manifest, SiteConfig
from sitegen.errors import NothingToReportError, SitegenError
from sitegen.history.fold_state import PartStore
from sitegen.history.repository import Repository
from sitegen.history.timeline import advance, current_histories
from sitegen.model.kinds import traits_of
from sitegen.model.scorecards import Scorecard
from sitegen.model.timeline import Blob, EvalHistory, InstructionHistory, Snapshot
from sitegen.scoring.kinds import CONTENTS, scorer, specs_of
from sitegen.scoring.own import scored_with_own_metrics
from sitegen.scoring.scorer import File, ScoringInputs
from sitegen.text.values import metric_text

_LEAST_GIVEN: Final = 0.25
"""Of the expected values of kind ``fields``, the share that an output must give some value for."""

_LEAST_CORRECT: Final = 0.1
"""Of the values that it gives for expected ones, the share that must be correct."""


_LEAST_ROUGE: Final = 0.1
"""Of kind ``responses``, where no output is what was expected to the letter."""


class Trial(NamedTuple):
    """What a build would find."""

    evals: tuple[EvalHistory, ...]
    """By id."""
    instructions: tuple[InstructionHistory, ...]


class TrialResult(NamedTuple):
    """What an eval's newest output comes to."""

    points: int
    newest: str
    """``F1 0.83 over 24 fields``; empty if it has no number."""
    lacks: str
    """Why it is no eval; empty if it is one."""


class _TimelineParts:
    """Parts of the timeline, in memory."""

    def __init__(self) -> None:
        self._content: dict[tuple[str, str], bytes] = {}

    def get(self, kind: str, key: str) -> bytes | None:
        return self._content.get((kind, key))

    def put(self, kind: str, key: str, content: bytes) -> None:
        self._content[kind, key] = content

    def delete(self, kind: str, key: str) -> None:
        self._content.pop((kind, key), None)

    def keys(self, kind: str) -> tuple[str, ...]:
        return tuple(key for part_kind, key in self._content if part_kind == kind)


def trial(repository: Repository, config: SiteConfig, manifest: Manifest, head: str) -> Trial:
    """Fold history by a configuration. A cut-off history is folded as far as it goes."""
    parts: PartStore = _TimelineParts()
    try:
        advance(
            repository,
            config,
            parts,
            head=head,
            manifest=manifest,
            structure="",
            contents=CONTENTS,
            allow_shallow=True,
        )
    except NothingToReportError:
        return Trial((), ())
    return Trial(*current_histories(parts, config, manifest))


def standing(repository: Repository, history: EvalHistory) -> TrialResult:
    """Score the newest output of an eval that is there. Never raises: what cannot be scored says why."""
    points = tuple(snapshot for snapshot in history.snapshots if snapshot.outputs)
    if not points:
        return TrialResult(0, "", "no output was found")
    try:
        card = _scorecard(repository, history.kind, points[-1])
    except SitegenError as error:
        return TrialResult(len(points), "", f"{error.what}")
    value = card.metrics[0].value if card.metrics else None
    if card.status != "scored" or value is None:
        first = next(
            (finding.what for finding in card.findings if finding.severity == "error"), "nothing can be scored"
        )
        return TrialResult(len(points), "", first)
    if traits_of(history.kind).is_structured and not _agrees(card):
        return TrialResult(len(points), "", "hardly any expected value stands in the output")
    if traits_of(history.kind).answers_cases and not value and not (card.metric("rouge1") or 0) > _LEAST_ROUGE:
        return TrialResult(len(points), "", "no output says what was expected")
    spec = specs_of(scorer(history.kind), [card])[0]
    value_text = metric_text(value, unit=spec.unit)
    return TrialResult(len(points), f"{spec.label} {value_text} over {_size(history.kind, card)}", "")


def _size(kind: str, card: Scorecard) -> str:
    """What the number is over: documents, cases, or answers to be expected."""
    if traits_of(kind).answers_cases:
        return f"{card.expected_values:,} expected {'answer' if card.expected_values == 1 else 'answers'}"
    nouns, documents = scorer(kind).nouns, len(card.documents)
    return f"{documents:,} {nouns.document if documents == 1 else nouns.documents}"


def _agrees(card: Scorecard) -> bool:
    counts = card.counts
    given = counts.tp + counts.wrong_value + counts.format_error
    return counts.tp > 0 and given >= _LEAST_GIVEN * (given + counts.omission) and counts.tp >= _LEAST_CORRECT * given


def _scorecard(repository: Repository, kind: str, snapshot: Snapshot) -> Scorecard:
    roles = (snapshot.ground_truth, snapshot.mapping, snapshot.schema)
    wanted = dict.fromkeys(blob.oid for blob in (*snapshot.outputs, *roles) if blob)
    answers: Mapping[str, File] = {
        read.oid: File("", read.content, read.reason) for read in repository.read_blobs(tuple(wanted))
    }

    def file(blob: Blob | None) -> File | None:
        return answers[blob.oid]._replace(path=blob.path) if blob else None

    outputs = tuple(answers[blob.oid]._replace(path=blob.path) for blob in snapshot.outputs)
    truth, mapping, schema = map(file, roles)
    return scored_with_own_metrics(
        scorer(kind),
        ScoringInputs(outputs=outputs, ground_truth=truth, mapping=mapping, schema=schema, settings=snapshot.settings),
    ).scorecard
