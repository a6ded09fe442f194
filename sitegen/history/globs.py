"""Globs over whole paths, as ``.gitignore`` and ``pathlib`` read them, compiled to one regular expression.

``*`` and ``?`` stay within a folder, ``**`` between slashes is any number of folders, ``[a-z]`` and ``[!a-z]`` are
sets, a backslash takes the next character as it is, and a slash at the end means everything below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_SPECIAL = re.compile(r"[*?\[\\]")
_PART = re.compile(
    r"(?P<folders>(?:(?<=/)|^)\*\*/)|(?P<below>(?:(?<=/)|^)\*\*$)|(?P<star>\*+)|(?P<any>\?)|(?P<set>\[[!^]?\]?[^\]/]*\])|\\(?P<plain>.)"
)


@lru_cache(maxsize=256)
def compiled(globs: tuple[str, ...]) -> re.Pattern[str]:
    """What matches (with ``fullmatch``) every path that one of the globs names; no globs match nothing."""
    return re.compile("|".join(f"(?:{_expression(glob)})" for glob in globs) or r"(?!)", re.DOTALL)


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether one of the globs names the path."""
    return compiled(tuple(globs)).fullmatch(path) is not None


def literal_prefix(glob: str) -> str:
    """The folder, or the file if nothing is special, that holds everything a glob can name; empty: anywhere."""
    glob = _normal(glob)
    special = _SPECIAL.search(glob)
    if special is None:
        return glob
    return glob[: special.start()].rpartition("/")[0]


def _normal(glob: str) -> str:
    glob = glob.removeprefix("./").lstrip("/")
    return glob + "**" if glob.endswith("/") else glob


def _expression(glob: str) -> str:
    glob = _normal(glob)
    pieces, end = [], 0
    for match in _PART.finditer(glob):
        pieces += [re.escape(glob[end : match.start()]), _translated(match)]
        end = match.end()
    return "".join(pieces) + re.escape(glob[end:])


def _translated(match: re.Match[str]) -> str:
    if match["folders"]:
        return "(?:[^/]+/)*"
    if match["below"]:
        return ".+"
    if match["star"]:
        return "[^/]*"
    if match["any"]:
        return "[^/]"
    if match["plain"]:
        return re.escape(match["plain"])
    content = match["set"][1:-1]
    negated = content[0] in "!^"
    content = (content[1:] if negated else content).replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]")
    content = content.replace("&&", r"\&&").replace("||", r"\||").replace("~~", r"\~~").replace("--", r"\--")
    return f"(?!/)[{'^' if negated else ''}{content}]"
