"""Chance that never changes: a linear congruential generator and a hash, on integers alone.

``random`` keeps ``random()`` stable between versions of Python, but not what ``choice`` or ``sample`` make of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
_MASK = (1 << 64) - 1


class Dice:
    """A stream of numbers that a seed determines for ever."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def below(self, limit: int) -> int:
        """An integer from 0 up to, but not including, the limit."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & _MASK
        return (self._state >> 33) % limit

    def between(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return low + self.below(high - low + 1)

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.below(len(options))]

    def draw(self, options: Sequence[T], count: int) -> list[T]:
        """So many different ones of the options, in their own order."""
        left = list(range(len(options)))
        taken = sorted(left.pop(self.below(len(left))) for _ in range(min(count, len(left))))
        return [options[index] for index in taken]


def hashed(*parts: str) -> int:
    """64 bits that depend on every character (FNV-1a, then mixed so that the low digits can be used)."""
    state = 14695981039346656037
    for byte in "\0".join(parts).encode():
        state = ((state ^ byte) * 1099511628211) & _MASK
    state ^= state >> 33
    state = (state * 0xFF51AFD7ED558CCD) & _MASK
    return state ^ (state >> 33)
