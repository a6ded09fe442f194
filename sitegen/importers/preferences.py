"""Pairwise preferences: rows that say which of two answers is better, as arenas and A/B tests of prompts write them.

The share of wins, in which a tie is half a win, is that of one of the two by their names, as they may change sides: not
of the baseline, else of the last in natural order (``m-10`` over ``m-9``). AlpacaEval's numbers are of the second one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sitegen.importers.case import BASELINES
from sitegen.importers.tool_values import name_of, number
from sitegen.model.outcomes import Value
from sitegen.text.plain import natural_order

WINS: Final = "win rate of "
"""Begins the name of such a judge, whose scores are shares of a win and no verdicts."""
_WINNERS: Final = ("winner", "preferred", "preference")
_SIDES: Final = re.compile(
    r"(?P<kind>model|generator|variant|prompt|system|agent|skill|candidate|framework|fw|method|name)_?(?P<side>[abAB12])"
)
_TIES: Final = re.compile(r"tie\b.*|tied|draw|equal|same|both.*|neither|none", re.IGNORECASE)
_FIRST: Final = frozenset(("a", "1", "first", "left"))
_SECOND: Final = frozenset(("b", "2", "second", "right"))


def preference_in(row: Mapping[str, Value]) -> dict[str, Value]:
    """Return a row with the share of a win, by the name of its judge, for the winner; empty if it compares nothing."""
    stated = next((row[name] for name in _WINNERS if row.get(name) not in (None, "")), None)
    if stated is None:
        return {}
    named = [(match["side"].lower(), name_of(row[name])) for name in row if (match := _SIDES.fullmatch(name))]
    first = next((name for side, name in named if side in _FIRST and name), "A")
    second = next((name for side, name in named if side in _SECOND and name), "B")
    size, word = number(stated), name_of(stated)
    if size is None and re.fullmatch(r"[12](?:\.[0-9]{1,20})?", word):
        size = float(word)
    side = match["side"] if (match := _SIDES.fullmatch(word)) else word
    of_alpaca = size is not None and bool(named) and 1 <= size <= 2
    if size is not None and of_alpaca:  # 1 is for the first, 2 for the second
        share = size - 1
    elif word == second or side.lower() in _SECOND:
        share = 1.0
    elif word == first or side.lower() in _FIRST:
        share = 0.0
    elif _TIES.fullmatch(word):
        share = 0.5
    else:
        return {}
    ranks = [(not BASELINES.fullmatch(name), () if of_alpaca else natural_order(name)) for name in (first, second)]
    if ranks[1] < ranks[0]:
        first, second, share = second, first, 1 - share
    rest = {name: cell for name, cell in row.items() if name not in _WINNERS}
    return {"scores": {f"{WINS}{second} over {first}": str(share)}, **rest}
