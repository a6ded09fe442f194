"""Imports installed code of other packages, but nothing of a project.

It serves two callers, for both of which somebody installed a package on purpose: ``sitegen init --schema`` and the
entry points of kinds and metrics.
"""

from __future__ import annotations

import importlib
import site
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

_OURS: Final = Path(__file__).resolve().parent
_NO_FILES: Final = ("built-in", "frozen", "namespace")


class ForbiddenModuleError(Exception):
    """A module is in a place from which imports are forbidden. The text of the error names the module."""


def environment() -> tuple[Path, ...]:
    """The folders of the running Python: its standard library and its installed packages."""
    import sysconfig

    folders = [*site.getsitepackages(), *map(sysconfig.get_path, ("stdlib", "platstdlib"))]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return tuple(dict.fromkeys(Path(folder).resolve() for folder in folders))


def installed(place: Path) -> bool:
    """Whether a file lies in the environment or belongs to sitegen. Files of editable installations do not."""
    return any(place.resolve().is_relative_to(folder) for folder in (*environment(), _OURS))


def outside(project: Path) -> Callable[[Path], bool]:
    """Return a test whether a file lies outside a project, or in an environment inside it."""
    root = project.resolve()
    return lambda place: not place.resolve().is_relative_to(root) or installed(place)


@contextmanager
def importing(*, allowed: Callable[[Path], bool]) -> Iterator[None]:
    """A context in which imports skip the current folder, and raise ForbiddenModuleError for files not *allowed*."""
    path, finders = sys.path[:], sys.meta_path[:]
    here = Path.cwd()
    sys.path[:] = [entry for entry in path if entry and Path(entry).resolve() != here]
    sys.meta_path[:] = [_AllowedModules(allowed, finders)]
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:], sys.meta_path[:] = path, finders


class _AllowedModules:
    """Delegates to the other finders, and refuses modules in forbidden places."""

    def __init__(self, allowed: Callable[[Path], bool], finders: Sequence[Any]) -> None:
        self._allowed = allowed
        self._finders = finders

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of an allowed module. Raises ForbiddenModuleError for any other module."""
        for finder in self._finders:
            spec: ModuleSpec | None = finder.find_spec(fullname, path, target)
            if spec is not None:
                places = [spec.origin, *(spec.submodule_search_locations or ())]
                if not all(self._allowed(Path(place)) for place in places if place and place not in _NO_FILES):
                    raise ForbiddenModuleError(f"The module {fullname}")
                return spec
        return None
