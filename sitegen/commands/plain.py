"""``build`` as it is mostly typed, read without typer: its imports take longer than a build with nothing to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sitegen.project import Options

_FOLDERS: Final = {"-o": "out", "--out": "out", "--cache": "cache"}


def plain_build(arguments: Sequence[str]) -> Options | None:
    """What ``build [REPO] [-o DIR] [--cache DIR]`` asks for; None for anything else, which is typer's to read."""
    if not arguments or arguments[0] != "build":
        return None
    paths: dict[str, Path] = {}
    words = iter(arguments[1:])
    for word in words:
        name = _FOLDERS.get(word, "repo")
        path = word if name == "repo" else next(words, "-")
        if name in paths or path.startswith("-"):
            return None
        paths[name] = Path(path)
    return Options(paths.get("repo", Path()), paths.get("out"), cache=paths.get("cache"))
