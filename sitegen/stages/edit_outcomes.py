"""What became of an eval around each edit, as the memo keeps it: one entry an eval and edit, for few are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from sys import intern
from typing import Final, NamedTuple

from sitegen.analysis.memo import Memo
from sitegen.analysis.noise.changes import output_verdict
from sitegen.history.fold_state import decode, encode
from sitegen.model.cells import Flips, Tally
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict
from sitegen.model.series import Point

AROUND: Final = "around"


class EditOutcome(NamedTuple):
    """The last output that speaks for an edit, against the newest point that speaks for an earlier one."""

    edit: int
    """Position of its commit."""
    flips: Flips
    """Without what stayed wrong."""
    verdict: ChangeVerdict | None
    """Without its fields; None if both are the same output."""


def edit_outcome(edit: int, before: Point, after: Point, flips: Flips, kind: str, headline: MetricSpec) -> EditOutcome:
    """Judged without what repeats tell: they may join a point later, when nothing reads this again."""
    after = after._replace(flips=flips)
    verdict = output_verdict(before, after, kind, higher_is_better=headline.higher_is_better)
    return EditOutcome(edit, flips._replace(still=()), verdict and verdict._replace(fields=()))


def keep_around(memo: Memo, eval_id: str, rows: Iterable[EditOutcome]) -> None:
    """Keep what became of an eval around some edits."""
    memo.put_all(AROUND, ((_key(row.edit, eval_id), encode(row)) for row in rows))


def known_around(memo: Memo, position: int, eval_id: str) -> EditOutcome | None:
    """What became of an eval around the edit at a position; None if there was nothing to compare with."""
    body = memo.get(AROUND, _key(position, eval_id))
    if body is None:
        return None
    row = decode(body, EditOutcome)
    flips = row.flips._replace(fixed=_interned(row.flips.fixed), broken=_interned(row.flips.broken))
    return row._replace(flips=flips)


def forget_around(memo: Memo) -> None:
    """Forget it all: history is read from its root again."""
    memo.forget(AROUND)


def _key(position: int, eval_id: str) -> str:
    return f"{position}:{eval_id}"


def _interned(tally: Tally) -> Tally:
    """The same few names stand in thousands of entries."""
    return tuple((intern(attribute), number) for attribute, number in tally)
