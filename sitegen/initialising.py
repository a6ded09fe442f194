"""Writes the files of ``sitegen init``: skeletons, configuration, schemas of models, and copies of templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Final

from sitegen.errors import ConfigurationError, SitegenError
from sitegen.frozen import Frozen
from sitegen.imported_model import file_of, schema_of
from sitegen.installed_from import installing, source
from sitegen.project import OWN_TEMPLATES
from sitegen.project_files import NotOpenedError, write_inside

SKELETONS: Final = (
    ("manifest.yaml", "evals/manifest.yaml"),
    ("field_mapping.yaml", "schemas/field_mapping.yaml"),
    ("agent.md", ".claude/agents/verifier.md"),
    ("instructions.md", ".claude/instructions/verifier/instructions.md"),
    ("error-types.md", ".claude/instructions/verifier/error-types.md"),
    ("metrics.md", ".claude/instructions/verifier/metrics.md"),
    ("critic.md", ".claude/agents/critic.md"),
    ("critic-instructions.md", ".claude/instructions/critic/instructions.md"),
    ("extractor.md", ".claude/instructions/extractors/instructions.md"),
    ("settings.json", ".claude/settings.json"),
    ("pages.yml", ".github/workflows/pages.yml"),
    ("gate.yml", ".github/workflows/gate.yml"),
    ("gate-comment.yml", ".github/workflows/gate-comment.yml"),
)
"""(name in ``sitegen/skeletons``, path in the project), in reading order."""

THEME: Final = "theme.css"
COPIED: Final = frozenset({".html", ".css", ".js", ".svg"})
"""Suffixes of templates and assets that can be copied."""


class InitialisedFile(Frozen):
    """A file that was to be written."""

    path: Path
    new: bool
    """False if the path existed already and was not changed."""


def initialise(root: Path, configuration: Mapping[str, bytes] | None = None) -> tuple[InitialisedFile, ...]:
    """Write every skeleton whose path is free. Raises SitegenError if a folder cannot be made.

    Workflows install the sitegen that runs: the commit that it was installed from, otherwise its version.
    *configuration* holds further contents by path, which replace a skeleton of the same path.
    """
    origin = source()
    skeletons = {path: installing(_skeleton(name), origin) for name, path in SKELETONS}
    return tuple(_write(root, path, content) for path, content in {**skeletons, **(configuration or {})}.items())


def write_schema(root: Path, model: str) -> InitialisedFile:
    """Write the JSON Schema of an installed pydantic model. Raises ConfigurationError if there is no such model."""
    return _write(root, file_of(model), schema_of(model, root))


def copy_templates(root: Path, ours: Path, names: Sequence[str]) -> tuple[InitialisedFile, ...]:
    """Copy built-in templates and assets into the project's own folder, where they override the built-in ones.

    A name is a file or a folder below ``site_templates/``, ``theme.css`` or ``all``. Raises ConfigurationError
    if there is no such name, SitegenError if a folder cannot be made.
    """
    templates = {path.relative_to(ours).as_posix(): path for path in sorted(ours.rglob("*")) if path.suffix in COPIED}
    templates = {path: file for path, file in templates.items() if not path.startswith("serve/")}  # of no site
    contents: dict[str, bytes] = {}
    for name in names:
        if name == THEME:
            contents[name] = _skeleton(name)
            continue
        folder = "" if name == "all" else f"{name.rstrip('/')}/"
        matches = [path for path in templates if path == name or path.startswith(folder)]
        if not matches:
            close = get_close_matches(name, (THEME, *templates), 1, 0.4)
            fix = f"Did you mean {close[0]!r}?" if close else f"Look into {ours}."
            raise ConfigurationError(f"There is no template {name!r}.", fix=fix)
        contents |= {path: templates[path].read_bytes() for path in matches}
    return tuple(_write(root, f"{OWN_TEMPLATES}/{name}", content) for name, content in contents.items())


def _skeleton(name: str) -> bytes:
    return files("sitegen").joinpath("skeletons", name).read_bytes()


def _write(root: Path, name: str, content: bytes) -> InitialisedFile:
    target = root / name
    try:
        write_inside(root, name, content, replace=False)
    except FileExistsError:
        return InitialisedFile(target, new=False)
    except NotOpenedError as error:
        raise SitegenError(
            f"A folder cannot be written to: {error.strerror}.",
            where=str(target.parent),
            fix="Put a folder there, and run init again.",
        ) from None
    except NotADirectoryError:
        raise SitegenError(
            "A file stands where a folder is needed.", where=str(target.parent), fix="Rename it, and run init again."
        ) from None
    return InitialisedFile(target, new=True)
