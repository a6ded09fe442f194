"""A format of judged results: how its files are recognised, and how they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sitegen.frozen import Frozen
from sitegen.scoring.judged.case import JudgedResults

HEAD: Final = 4096
"""Number of bytes at the beginning of a file that are passed to ``recognises``."""


class ResultFormat(Frozen):
    """A format of results. Its files are read from their bytes alone, without clock, disk or network."""

    name: str
    """The name in messages: ``promptfoo``."""
    recognises: Callable[[str, bytes], bool]
    """Whether a file is of this format, by the ending of its name (``json``, in lower case, or empty) and its first
    ``HEAD`` bytes. The rest of the path must not count: scorecards are stored by content and ending, so that a moved
    file is not scored again.
    """
    read: Callable[[bytes], JudgedResults]
    """Raises UnreadableError if nothing of the file can be read. Any other fault is a finding."""
