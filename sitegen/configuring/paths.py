"""Paths that a configuration names: relative to the project, and inside of it."""

from __future__ import annotations

from posixpath import normpath
from typing import Final

OUTSIDE: Final = "it leads out of the project"
FIX: Final = "Write a path inside the project, relative to what the key is relative to."


def leads_out(path: str, below: str = "") -> bool:
    """Whether a path is absolute, or leads out of the project from the folder *below*, which is relative to it.

    ``{dir}`` may stand for the project itself.
    """
    inside = normpath("/".join(part for part in (below, path.replace("{dir}", ".")) if part))
    return path.startswith("/") or inside == ".." or inside.startswith("../")
