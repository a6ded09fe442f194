"""What a build is asked for, and the digest of everything besides history that decides its bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final, NamedTuple

from sitegen import __version__
from sitegen.history.place import Place, digest_files

SITE_FILES: Final = ("sitegen.toml", "pyproject.toml")
"""Where the site's configuration may stand, below the root of the work tree; the first that has any counts."""


class Options(NamedTuple):
    """What the command line says of a build."""

    repo: Path = Path()
    out: Path | None = None
    rev: str | None = None
    jobs: int | None = None
    cache: Path | None = None
    force: bool = False
    allow_shallow: bool = False
    worktree: bool = False


def configured_revision(root: Path) -> str:
    """The revision that ``sitegen.toml`` names, without validating the rest of it; ``HEAD`` if it names none."""
    file = root / "sitegen.toml"
    if not file.exists():
        return "HEAD"
    import tomllib

    try:
        rev = tomllib.loads(file.read_text(encoding="utf-8")).get("rev", "HEAD")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError):
        return "HEAD"  # said properly when the file is read for good
    return rev if isinstance(rev, str) else "HEAD"


def fingerprint(place: Place, options: Options, templates: str) -> str:
    """Everything but history that decides the bytes of the site, in one digest."""
    said = repr((__version__, templates, place.refs, options.rev, options.worktree, options.allow_shallow))
    files = () if place.bare else tuple(place.root / name for name in SITE_FILES)
    return hashlib.sha256(f"{said} {digest_files(*files)}".encode()).hexdigest()
