"""Kind ``judged``: the results of an external judge, which sitegen sums up and does not judge again."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from importlib.util import find_spec
from posixpath import splitext
from typing import Final

PACKAGES: Final = {"eval": "zstandard", "parquet": "pyarrow"}
"""The package that unpacks files, by the ending of their names."""

MOST_ROWS: Final = 100_000
"""The most rows of one table."""


def installed_for(paths: Iterable[str]) -> str:
    """Name the installed packages without which some files could not be read. Empty for most files.

    Scorecards of these files are stored by these names as well. A path may be a glob.
    """
    patterns = {ending(path) for path in paths}
    return " ".join(
        package
        for suffix, package in PACKAGES.items()
        if any(fnmatchcase(suffix, pattern) for pattern in patterns) and find_spec(package)
    )


def ending(path: str) -> str:
    """The ending of a file's name in lower case, without its dot."""
    return splitext(path)[1][1:].lower()
