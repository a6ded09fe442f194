"""The flips around each edit, as the memo keeps them: one entry an eval and edit, for few are asked for at once."""

from __future__ import annotations

from collections.abc import Iterable
from sys import intern
from typing import Final

from sitegen.analysis.memo import Memo
from sitegen.history.state import decode, encode
from sitegen.model.flips import Flips, Tally

FLIPS: Final = "flips"


def keep_flips(memo: Memo, eval_id: str, rows: Iterable[tuple[int, Flips]]) -> None:
    """Keep what flipped in an eval around the edits at some positions, without what stayed wrong."""
    for position, flips in rows:
        memo.put(FLIPS, _key(position, eval_id), encode(flips._replace(still=())))


def known_flips(memo: Memo, position: int, eval_id: str) -> Flips | None:
    """What flipped in an eval around the edit at a position; None if there was nothing to compare with."""
    body = memo.get(FLIPS, _key(position, eval_id))
    if body is None:
        return None
    flips = decode(body, Flips)
    return flips._replace(fixed=_interned(flips.fixed), broken=_interned(flips.broken))


def forget_flips(memo: Memo) -> None:
    """Forget them all: history is read from its root again."""
    for key in memo.keys(FLIPS):
        memo.delete(FLIPS, key)


def _key(position: int, eval_id: str) -> str:
    return f"{position}:{eval_id}"


def _interned(tally: Tally) -> Tally:
    """The same few names stand in thousands of entries."""
    return tuple((intern(attribute), number) for attribute, number in tally)
