"""Interprets the paths of a configuration: the folder of an eval, and paths that lead out of the project."""

from __future__ import annotations

import re
from posixpath import normpath
from typing import Final

from sitegen.config.models import EvalConfig

OUTSIDE: Final = "it leads out of the project"
FIX: Final = "Write a path inside the project, relative to what the key is relative to."

_NAMES_A_FILE: Final = r"(?!.*://).*[^/\s]\.[A-Za-z0-9]{1,8}"


def leads_out(path: str, below: str = "") -> bool:
    """Whether a path is absolute, or leads out of the project from the folder *below*, which is relative to it.

    ``{dir}`` may stand for the project itself. A path with a null character, which no system can open, leads nowhere
    inside either.
    """
    inside = normpath("/".join(part for part in (below, path.replace("{dir}", ".")) if part))
    return "\0" in inside or path.startswith("/") or inside == ".." or inside.startswith("../")


def is_source(value: object) -> bool:
    """Whether the value of ``source`` names files; any other value, such as an address or a remark, is metadata."""
    return isinstance(value, str) and re.fullmatch(_NAMES_A_FILE, value.strip()) is not None


def home_of(entry: EvalConfig, evals_dir: str) -> str:
    """Return the folder of an eval, relative to the root: the folder in its entry, otherwise the folder of its id."""
    return folder_path(entry.dir or f"{evals_dir}/{entry.id}")


def folder_path(path: str) -> str:
    """Return a folder of a configuration relative to the root; empty for the root."""
    folder = normpath(path.strip("/"))
    return "" if folder == "." else folder
