"""Finds the files of templates and assets: ours, and those of a project, which take precedence."""

import hashlib
import os
from pathlib import Path
from typing import Final

from sitegen import __version__
from sitegen.data_files.project_files import files_below, fix_of, read_inside
from sitegen.errors import ConfigurationError

KINDS: Final = frozenset({".html", ".css", ".js", ".svg", ".png"})
"""Suffixes of files that are templates or assets."""

_LARGEST_TEMPLATE: Final = 5_000_000  # largest size of a template or an asset, in bytes

THEME: Final = "theme.css"
"""Its rules come after all others: the place for a project's colours."""


def find_templates() -> Path:
    """Return the folder of templates that ships with sitegen: inside an installed package, beside it in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "site_templates"
    return installed if installed.is_dir() else package.parent / "site_templates"


def template_digest(folder: Path) -> str:
    """Return a digest of the version of sitegen and of all templates and assets in a folder of ours, in 16 digits."""
    digest = hashlib.sha256(__version__.encode())
    for name in sorted(shipped_names(folder)):
        with open(f"{folder}/{name}", "rb") as file:
            content = file.read()
        digest.update(f"\0{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()[:16]


def shipped_names(folder: Path) -> list[str]:
    """Return the names of all templates and assets in a folder of ours.

    No path is made of each, which takes longer than finding them: every build begins with this.
    """
    parents = ((f"{parent}/"[len(f"{folder}/") :], names) for parent, _, names in os.walk(folder))
    return [f"{parent}{name}" for parent, names in parents for name in names if os.path.splitext(name)[1] in KINDS]


def own_files(folder: Path | None) -> dict[str, Path]:
    """Map the names of a project's templates and assets to files. Links are ignored.

    In sitegen's own repository the folder is ours, which overrides nothing.
    """
    if folder is None or folder.resolve() == find_templates().resolve():
        return {}
    return {name: folder / name for name in files_below(folder) if os.path.splitext(name)[1] in KINDS}


def read_template(file: Path) -> bytes:
    """Read a template or an asset. Raises ConfigurationError if it is no longer a regular file, or too large."""
    try:
        return read_inside(file.parent, file.name, _LARGEST_TEMPLATE)
    except OSError as error:
        raise ConfigurationError(
            f"A template of the project cannot be read: {error.strerror}.",
            where=str(file),
            fix=fix_of(error, str(file), "Correct it, or build with --no-templates."),
        ) from None
