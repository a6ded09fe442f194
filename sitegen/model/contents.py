"""What history asks scoring about the contents of outputs: history reads git, and knows no format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from sitegen.model.recorded import Recorded


class CaseSides(NamedTuple):
    """Digests of the two sides of a file of cases: the same digest, the same to a scorer."""

    expected: str
    output: str


def _no_sides(path: str, content: bytes, settings: str) -> CaseSides | None:
    """No file holds both sides."""


def _no_record(kind: str, path: str, content: bytes, settings: str) -> Recorded | None:
    """No output states anything about the run that made it."""


class Contents(NamedTuple):
    """The answers; whoever asks nothing needs none of them."""

    sides: Callable[[str, bytes, str], CaseSides | None] = _no_sides
    """(path, content, settings) of a file of cases. None: its sides cannot be told apart."""
    recorded: Callable[[str, str, bytes, str], Recorded | None] = _no_record
    """(kind, path, content, settings) of an output: what it states about its own run. None: nothing."""


NO_CONTENTS: Final = Contents()
"""Of a history whose outputs nobody reads."""
