"""The effect of a commit on an eval: the last point before the commit compared with the last point of the commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from sitegen.frozen import Frozen
from sitegen.model.deltas import Change
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict
from sitegen.model.series import HEADLINES, EvalInfo, Point
from sitegen.model.timeline import Edit
from sitegen.pages.change_text import DisplayedChange, Flipped, changes, flipped
from sitegen.pages.edit.effects import FlippedField, flipped_fields
from sitegen.pages.labels import subject_of

FIELDS: Final = 40
"""Number of fields that are stored for an eval: the ones with the most flips."""
EDITS: Final = 20
"""Number of the newest commits with edits that are stored for an eval."""


class EarlierEdit(Frozen):
    """An earlier commit that edited instructions after the previous outputs were made."""

    position: int
    sha: str
    short: str
    subject: str
    files: int


class CommitEffect(Frozen):
    """The effect of a commit on one eval. A commit stores one for each eval with new points, so it is small."""

    changes: tuple[float | None, ...]
    """Changes of the headline and the metrics beside it, over the documents that both points have."""
    headline: DisplayedChange
    verdict: ChangeVerdict | None
    """As in ``Change``."""
    flipped: Flipped
    fields: tuple[FlippedField, ...]
    more_fields: int
    edits: tuple[EarlierEdit, ...] = ()
    """Edits of earlier commits that may have changed the new outputs, newest first; at most ``EDITS``."""
    or_edit: str = ""
    """Short id of the commit whose instructions made the output, if it was not the edit of this commit; empty if that
    is certain."""


def commit_effect(
    info: EvalInfo, specs: tuple[MetricSpec, ...], before: Point, after: Point, change: Change
) -> CommitEffect:
    """The effect of a commit on the eval: *change* is what became of it between these points."""
    fields = flipped_fields(change.flips)
    after = replace(after, change=change)
    by_metric = {metric.name: metric.change for metric in change.metrics}
    return CommitEffect(
        changes=tuple(by_metric.get(spec.name) for spec in specs[:HEADLINES]),
        headline=changes(specs[:1], info.nouns, before, after)[0],
        verdict=change.verdict,
        flipped=flipped(change.flips),
        fields=fields[:FIELDS],
        more_fields=max(0, len(fields) - FIELDS),
    )


def earlier_edits(edits: Iterable[Edit], sha: str) -> tuple[EarlierEdit, ...]:
    """The commits of *edits*, newest first, except for *sha*, whose own page lists its edits already."""
    edited = {(edit.commit.sha, edit.path): edit.commit for edit in edits if edit.commit.sha != sha}
    files = Counter(commit for commit, _ in edited)
    commits = {commit.sha: commit for commit in edited.values()}
    newest = sorted(commits.values(), key=lambda commit: -commit.position)[:EDITS]
    return tuple(
        EarlierEdit(
            position=commit.position,
            sha=commit.sha,
            short=commit.short,
            subject=subject_of(commit, 160),
            files=files[commit.sha],
        )
        for commit in newest
    )
