"""What ``sitegen init`` writes: the loop's own files, from ``sitegen/skeletons``."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

from sitegen.errors import SitegenError

SKELETONS: Final = (
    ("manifest.yaml", "evals/manifest.yaml"),
    ("field_mapping.yaml", "schemas/field_mapping.yaml"),
    ("agent.md", ".claude/agents/verifier.md"),
    ("instructions.md", ".claude/instructions/verifier/instructions.md"),
    ("error-types.md", ".claude/instructions/verifier/error-types.md"),
    ("metrics.md", ".claude/instructions/verifier/metrics.md"),
    ("pages.yml", ".github/workflows/pages.yml"),
    ("gate.yml", ".github/workflows/gate.yml"),
    ("gate-comment.yml", ".github/workflows/gate-comment.yml"),
)
"""(name in this package, path in the project), in the order in which one reads them."""


class Written(NamedTuple):
    """What became of one file."""

    path: Path
    new: bool
    """False: there was something of this name, and it was left as it is."""


def initialise(root: Path) -> tuple[Written, ...]:
    """Write every skeleton that has no file of its name yet. Raises SitegenError if a folder cannot be made."""
    return tuple(_write(root / path, name) for name, path in SKELETONS)


def _write(target: Path, name: str) -> Written:
    content = files("sitegen").joinpath("skeletons", name).read_bytes()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Exclusive: a file that appears in this moment is not overwritten either, and no link is followed.
        with open(target, "xb") as file:
            file.write(content)
    except FileExistsError:
        if target.exists() or target.is_symlink():
            return Written(target, new=False)
        raise SitegenError(
            "A file stands where a folder is needed.", where=str(target.parent), fix="Rename it, and run init again."
        ) from None
    except NotADirectoryError:
        raise SitegenError(
            "A file stands where a folder is needed.", where=str(target.parent), fix="Rename it, and run init again."
        ) from None
    return Written(target, new=True)
