"""What a format of results is: how its files are recognised, and how they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from sitegen.scoring.judged.case import JudgedResults

HEAD: Final = 4096
"""Bytes from the beginning of a file that ``recognises`` is given."""

PACKAGES: Final = {"eval": "zstandard", "parquet": "pyarrow"}
"""The package that unpacks files of an ending, by ending. It need not be installed."""


class ResultFormat(NamedTuple):
    """One format, read from bytes alone: no clock, disk or network, whatever the file says."""

    name: str
    """As a message names it: ``promptfoo``."""
    file_names: tuple[str, ...]
    """What the tool calls its files by convention, without a folder."""
    recognises: Callable[[str, bytes], bool]
    """Whether a file is of this format, by the ending of its name (``json``, in small letters, or empty) and its first
    ``HEAD`` bytes. The rest of the path must not count: a scorecard is kept by content and ending, so that a file that
    is moved is not scored again.
    """
    read: Callable[[bytes], JudgedResults]
    """Raises UnreadableError if nothing of the file can be read; whatever else is wrong is a finding."""
