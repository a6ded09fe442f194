"""Importing code that is not ours: only what is installed, and nothing of a project.

Two things import it, both because somebody installed a package for that: ``sitegen init --schema`` and the entry points
of kinds and metrics.
"""

from __future__ import annotations

import importlib
import site
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

_OURS: Final = Path(__file__).resolve().parent
_NO_FILES: Final = ("built-in", "frozen", "namespace")


class ForbiddenModuleError(Exception):
    """A module was found in a place from which nothing is imported. Its text names the module."""


def environment() -> tuple[Path, ...]:
    """The folders of the Python that runs: its standard library and where packages are installed for it."""
    folders = [*site.getsitepackages(), *map(sysconfig.get_path, ("stdlib", "platstdlib"))]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return tuple(dict.fromkeys(Path(folder).resolve() for folder in folders))


def installed(place: Path) -> bool:
    """Whether a file lies in the environment, or is ours. A package that is installed as an editable one does not."""
    return any(place.resolve().is_relative_to(folder) for folder in (*environment(), _OURS))


def outside(project: Path) -> Callable[[Path], bool]:
    """Whether a file lies outside a project, or in an environment that lies in it."""
    root = project.resolve()
    return lambda place: not place.resolve().is_relative_to(root) or installed(place)


@contextmanager
def importing(*, allowed: Callable[[Path], bool]) -> Iterator[None]:
    """Imports below see neither the current folder nor any file that is not *allowed*.

    They raise ``ForbiddenModuleError`` for one that is not.
    """
    path, finders = sys.path[:], sys.meta_path[:]
    here = Path.cwd()
    sys.path[:] = [entry for entry in path if entry and Path(entry).resolve() != here]
    sys.meta_path[:] = [_AllowedModules(allowed, finders)]
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:], sys.meta_path[:] = path, finders


class _AllowedModules(MetaPathFinder):
    """Asks the finders that there are, and refuses what they find in other places."""

    def __init__(self, allowed: Callable[[Path], bool], finders: Sequence[Any]) -> None:
        self._allowed = allowed
        self._finders = finders

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module that is allowed. Raises ForbiddenModuleError for another one."""
        for finder in self._finders:
            spec: ModuleSpec | None = finder.find_spec(fullname, path, target)
            if spec is not None:
                places = [spec.origin, *(spec.submodule_search_locations or ())]
                if not all(self._allowed(Path(place)) for place in places if place and place not in _NO_FILES):
                    raise ForbiddenModuleError(f"The module {fullname}")
                return spec
        return None
