"""What new commits did to one eval, packed: the memo holds it of all evals until the pages of commits are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Final

from sitegen.analysis.attribution import mixtures
from sitegen.analysis.deltas import MetricsFor, ScoredPoint, delta
from sitegen.analysis.flips import flips
from sitegen.analysis.memo import Memo
from sitegen.history.fold_state import decode, encode
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Series
from sitegen.model.timeline import Edit, Snapshot
from sitegen.pages.commit_effects import CommitEffect, commit_effect, earlier_edits

BROUGHT: Final = "brought"


def mixtures_of_commits(snapshots: Sequence[Snapshot], first_new: int = 0) -> Iterator[Snapshot]:
    """The mixtures that commits with several points need besides those of neighbours."""
    for before, after in _spans(snapshots, first_new):
        if after - before > 1:
            yield from mixtures(snapshots[before], snapshots[after])


def brought_by(
    series: Series,
    metrics_for: MetricsFor,
    linked: Sequence[tuple[Edit, ...]],
    first_new: int,
    card: Callable[[Snapshot], Scorecard],
) -> tuple[tuple[str, bytes], ...]:
    """(id of a commit, what it did to the eval) for the commits of new points; not for one without a point before.

    ``linked``: the edits beside each point, as ``OutputEdits`` has them.
    """
    snapshots = series.history.snapshots
    found = []
    for before, after in _spans(snapshots, first_new):
        earlier, later = series.points[before], series.points[after]
        if after - before > 1:
            sides = ScoredPoint(earlier.snapshot, earlier.scorecard), ScoredPoint(later.snapshot, later.scorecard)
            later = later._replace(delta=delta(metrics_for, *sides, card), flips=flips(series.cells, before, after))
        made = commit_effect(series.info, series.specs, earlier, later)
        if made is not None:
            sha = later.snapshot.commit.sha
            edits = earlier_edits(chain.from_iterable(linked[before + 1 : after + 1]), sha)
            found.append((sha, encode(made._replace(edits=edits))))
    return tuple(found)


def keep_brought(memo: Memo, eval_id: str, rows: Iterable[tuple[str, bytes]]) -> None:
    """Keep what ``brought_by`` found."""
    memo.put_all(BROUGHT, ((_key(sha, eval_id), body) for sha, body in rows))


def known_brought(memo: Memo, eval_id: str, sha: str) -> CommitEffect | None:
    """What a new commit did to an eval; None if there was no point before."""
    body = memo.get(BROUGHT, _key(sha, eval_id))
    return None if body is None else decode(body, CommitEffect)


def forget_brought(memo: Memo) -> None:
    """Forget it all: the commits are written."""
    memo.forget(BROUGHT)


def _key(sha: str, eval_id: str) -> str:
    return f"{sha}:{eval_id}"


def _spans(snapshots: Sequence[Snapshot], first_new: int) -> Iterator[tuple[int, int]]:
    """The last point before each commit, and the last one of it."""
    for _, points in groupby(range(len(snapshots)), key=lambda index: snapshots[index].commit.position):
        first, *rest = points
        last = rest[-1] if rest else first
        if first and last >= first_new:
            yield first - 1, last
