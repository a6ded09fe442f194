"""What ``sitegen init`` writes: the loop's own files, from ``sitegen/skeletons``, and copies of templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

from sitegen.errors import ConfigurationError, SitegenError
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
"""(name in this package, path in the project), in the order in which one reads them."""

THEME: Final = "theme.css"
COPIED: Final = frozenset({".html", ".css", ".js", ".svg"})
"""Suffixes of templates and assets."""


class InitialisedFile(NamedTuple):
    """What became of one file."""

    path: Path
    new: bool
    """False: there was something of this name, and it was left as it is."""


def initialise(root: Path, found: Mapping[str, bytes] | None = None) -> tuple[InitialisedFile, ...]:
    """Write every skeleton that has no file of its name yet. Raises SitegenError if a folder cannot be made.

    Workflows install what is running: the commit that it was installed from, else its version. *found* are contents, by
    path, of what lies in the project already: they take the place of a skeleton, or come beside them.
    """
    origin, found = source(), found or {}
    files = {path: installing(_skeleton(name), origin) for name, path in SKELETONS}
    return tuple(_write(root, path, content) for path, content in {**files, **found}.items())


def write_schema(root: Path, model: str) -> InitialisedFile:
    """Write the JSON Schema of a pydantic model that is installed. Raises ConfigurationError if there is none."""
    return _write(root, file_of(model), schema_of(model, root))


def copy_templates(root: Path, ours: Path, names: Sequence[str]) -> tuple[InitialisedFile, ...]:
    """Copy templates and assets of ours into the project's own folder, where they go before ours.

    A name is a file below ``site_templates/``, a folder of them, ``theme.css`` or ``all``. Raises ConfigurationError
    if there is no such name, SitegenError if a folder cannot be made.
    """
    every = {path.relative_to(ours).as_posix(): path for path in sorted(ours.rglob("*")) if path.suffix in COPIED}
    known = {name: path for name, path in every.items() if not name.startswith("serve/")}  # in no site
    wanted: dict[str, bytes] = {}
    for name in names:
        if name == THEME:
            wanted[name] = _skeleton(name)
            continue
        below = "" if name == "all" else f"{name.rstrip('/')}/"
        found = [each for each in known if each == name or each.startswith(below)]
        if not found:
            near = get_close_matches(name, (THEME, *known), 1, 0.4)
            fix = f"Did you mean {near[0]!r}?" if near else f"Look into {ours}."
            raise ConfigurationError(f"There is no template {name!r}.", fix=fix)
        wanted |= {each: known[each].read_bytes() for each in found}
    return tuple(_write(root, f"{OWN_TEMPLATES}/{name}", content) for name, content in wanted.items())


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
