"""Amounts in words: money, tokens, seconds and numbers of things."""

from __future__ import annotations

from math import floor, log10
from typing import Final

COUNT: Final = "count"
"""The unit of a number of things, which is written without one."""


def amount(value: float, unit: str) -> str:
    """An amount with its unit, as exact as it is worth reading: ``0.0123 USD``, ``12,345``, ``1.24 s``."""
    if unit in ("tokens", COUNT):
        return f"{value:,.0f}"
    small = 0 < abs(value) < 1  # a fraction of a cent is what most answers cost
    digits = min(8, 2 - floor(log10(abs(value)))) if small else 2
    whole, _, fraction = f"{value:,.{digits}f}".partition(".")
    return f"{whole}.{fraction.rstrip('0').ljust(2, '0')} {unit}"
