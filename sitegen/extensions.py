"""Finds eval kinds and metrics that installed packages add through entry points.

Only packages in the running environment are found and imported, never a file of a project: a manifest can name what
its reader has installed, and nothing else. Nothing is searched before a manifest names something that is not built in.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from sitegen.errors import ConfigurationError
from sitegen.imports import ForbiddenModuleError, environment, importing, installed

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

KINDS: Final = "sitegen.kinds"
METRICS: Final = "sitegen.metrics"


def names(group: str) -> tuple[str, ...]:
    """The names of installed entry points of a group, in alphabetical order."""
    return tuple(sorted({point.name for point in _entry_points(group)}))


def packages() -> dict[str, str]:
    """Name -> version of the installed packages that add kinds or metrics."""
    points = (*_entry_points(KINDS), *_entry_points(METRICS))
    return {point.dist.name: point.dist.version for point in points if point.dist}


class InstalledExtension(NamedTuple):
    """A kind or a metric of an installed package."""

    group: str
    """Of entry points: ``KINDS`` or ``METRICS``."""
    name: str
    version: int


def extension(group: str, name: str) -> object:
    """Import the object that an installed package registers under a name.

    Raises ConfigurationError if there is no such package or more than one, or if the import from the environment fails.
    """
    points = [point for point in _entry_points(group) if point.name == name]
    if not points:
        installed_names = ", ".join(names(group)) or "none"
        raise ConfigurationError(
            f"no installed package has {name!r} among its entry points {group!r}",
            fix=f"Install the package beside sitegen. Installed: {installed_names}.",
        )
    if len({point.value for point in points}) > 1:
        packages = ", ".join(sorted(point.dist.name for point in points if point.dist))
        raise ConfigurationError(f"{name!r} is registered by several packages: {packages}", fix="Keep one of them.")
    try:
        with importing(allowed=installed):
            return points[0].load()
    except ForbiddenModuleError as error:
        problem = f"{error} of {name!r} does not lie in the environment that runs sitegen"
        raise ConfigurationError(problem, fix="Install the package, not as an editable one.") from None
    except (Exception, SystemExit) as error:
        problem = f"{name!r} cannot be imported: {type(error).__name__}: {error}"
        raise ConfigurationError(problem, fix="Mend or remove the installed package.") from None


@cache
def _entry_points(group: str) -> tuple[EntryPoint, ...]:
    from importlib import metadata  # imports the whole of ``email``

    packages = metadata.distributions(path=[str(folder) for folder in environment()])
    return tuple(point for package in packages for point in package.entry_points if point.group == group)
