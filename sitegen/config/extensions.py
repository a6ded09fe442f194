"""Imports the metrics that installed packages register, but nothing of a project.

Only packages in the running environment are found and imported: a manifest can name what its reader has installed, and
nothing else. Nothing is searched before a manifest names something not built in.
"""

from __future__ import annotations

import importlib
import site
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

from sitegen.errors import ConfigurationError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


_OURS: Final = Path(__file__).resolve().parents[1]
_NO_FILES: Final = ("built-in", "frozen", "namespace")


def environment() -> tuple[Path, ...]:
    """Return the folders of the running Python: its standard library and its installed packages."""
    import sysconfig

    folders = [*site.getsitepackages(), *map(sysconfig.get_path, ("stdlib", "platstdlib"))]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return tuple(dict.fromkeys(Path(folder).resolve() for folder in folders))


def installed(place: Path) -> bool:
    """Whether a file lies in the environment or belongs to sitegen. Files of editable installations do not."""
    return any(place.resolve().is_relative_to(folder) for folder in (*environment(), _OURS))


@contextmanager
def _importing() -> Iterator[None]:
    """A context in which imports skip the current folder, and raise ConfigurationError for what is not installed."""
    path, finders = sys.path[:], sys.meta_path[:]

    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        for finder in finders:
            spec: ModuleSpec | None = finder.find_spec(name, path, target)
            if spec is not None:
                places = [spec.origin, *(spec.submodule_search_locations or ())]
                if not all(installed(Path(place)) for place in places if place and place not in _NO_FILES):
                    raise ConfigurationError(f"The module {name}")
                return spec
        return None

    here = Path.cwd()
    sys.path[:] = [entry for entry in path if entry and Path(entry).resolve() != here]
    sys.meta_path[:] = [cast("Any", SimpleNamespace(find_spec=find_spec))]
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:], sys.meta_path[:] = path, finders


METRICS: Final = "sitegen.metrics"
"""The group of entry points."""


def packages() -> dict[str, str]:
    """Name -> version of the installed packages that add metrics."""
    return {point.dist.name: point.dist.version for point in _entry_points() if point.dist}


def metric_object(name: str) -> object:
    """Import the object that an installed package registers as a metric.

    Raises ConfigurationError if there is no such package or more than one, or if the import from the environment fails.
    """
    points = [point for point in _entry_points() if point.name == name]
    if not points:
        names = ", ".join(sorted({point.name for point in _entry_points()})) or "none"
        raise ConfigurationError(
            f"no installed package has {name!r} among its entry points {METRICS!r}",
            fix=f"Install the package beside sitegen. Installed: {names}.",
        )
    if len({point.value for point in points}) > 1:
        packages = ", ".join(sorted(point.dist.name for point in points if point.dist))
        raise ConfigurationError(f"{name!r} is registered by several packages: {packages}", fix="Keep one of them.")
    try:
        with _importing():
            return points[0].load()
    except ConfigurationError as error:
        problem = f"{error.message} of {name!r} does not lie in the environment that runs sitegen"
        raise ConfigurationError(problem, fix="Install the package, not as an editable one.") from None
    except (Exception, SystemExit) as error:
        problem = f"{name!r} cannot be imported: {type(error).__name__}: {error}"
        raise ConfigurationError(problem, fix="Mend or remove the installed package.") from None


@cache
def _entry_points() -> tuple[EntryPoint, ...]:
    from importlib import metadata  # imports the whole of ``email``

    packages = metadata.distributions(path=[str(folder) for folder in environment()])
    return tuple(point for package in packages for point in package.entry_points if point.group == METRICS)
