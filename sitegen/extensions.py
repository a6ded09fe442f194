"""What installed packages add to sitegen: eval kinds and metrics, by entry points.

Only what lies in the environment that runs is found and imported, never a file of a project: a manifest can name what
its reader has installed, and nothing else. Nothing is looked for until a manifest names something that is not ours.
"""

from __future__ import annotations

from functools import cache
from importlib import metadata
from typing import Final

from sitegen.errors import ConfigurationError
from sitegen.imports import ForbiddenModuleError, environment, importing, installed

KINDS: Final = "sitegen.kinds"
METRICS: Final = "sitegen.metrics"


def names(group: str) -> tuple[str, ...]:
    """The names that installed packages have in a group of entry points, in alphabetical order."""
    return tuple(sorted({point.name for point in _entry_points(group)}))


def extension(group: str, name: str) -> object:
    """What an installed package registers under a name, imported.

    Raises ConfigurationError if no package does, if two do, or if it cannot be imported from the environment.
    """
    found = [point for point in _entry_points(group) if point.name == name]
    if not found:
        known = ", ".join(names(group)) or "none"
        raise ConfigurationError(
            f"no installed package has {name!r} among its entry points {group!r}",
            fix=f"Install the package beside sitegen. Installed: {known}.",
        )
    if len({point.value for point in found}) > 1:
        packages = ", ".join(sorted(point.dist.name for point in found if point.dist))
        raise ConfigurationError(f"{name!r} is registered by several packages: {packages}", fix="Keep one of them.")
    try:
        with importing(allowed=installed):
            return found[0].load()
    except ForbiddenModuleError as error:
        what = f"{error} of {name!r} does not lie in the environment that runs sitegen"
        raise ConfigurationError(what, fix="Install the package, not as an editable one.") from None
    except (Exception, SystemExit) as error:
        what = f"{name!r} cannot be imported: {type(error).__name__}: {error}"
        raise ConfigurationError(what, fix="Mend or remove the installed package.") from None


@cache
def _entry_points(group: str) -> tuple[metadata.EntryPoint, ...]:
    packages = metadata.distributions(path=[str(folder) for folder in environment()])
    return tuple(point for package in packages for point in package.entry_points if point.group == group)
