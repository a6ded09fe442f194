"""The options of a build, the project that they name, and the digest of all inputs of its site besides history."""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from sitegen.data_files import project_files
from sitegen.history.cache_folder import cache_folder
from sitegen.history.repository_place import RepositoryPlace, find_repository
from sitegen.text.embedding import installed

_DASK: Final = "SITEGEN_DASK"  # environment variable with the address of a dask scheduler
OWN_TEMPLATES: Final = "site_templates"
"""Folder of a project with templates that replace ours."""
MARKER: Final = ".sitegen.json"
"""The file that marks a folder as output of sitegen: a folder with other files and without it is refused."""
PLACEHOLDERS: Final = frozenset({".gitkeep", ".gitignore"})
"""Files that do not make a folder one with other files."""


class Options(NamedTuple):
    """The options of a build on the command line."""

    repo: Path = Path()
    out: Path | None = None
    rev: str | None = None
    jobs: int | None = None
    cache: Path | None = None
    force: bool = False
    """Whether pages may replace files that no build wrote, and every file of the output folder is compared."""
    allow_shallow: bool = False
    worktree: bool = False
    base_url: str | None = None
    """Address of the published site, if the configuration has none."""
    own_templates: bool = True
    """Whether to use the templates of the project."""
    dask: str | None = None
    """Address of a dask scheduler; no configuration of a project may name one."""

    def out_below(self, top: Path) -> Path:
        """Return the output folder, without following links: ``site`` in the project unless one is named.

        It is not ``public``, in which web frameworks keep files of a project.
        """
        return self.out or top / "site"


class Project(NamedTuple):
    """A project and its paths, before any content was read."""

    options: Options
    place: RepositoryPlace
    head: str | None
    """Id of the commit that is built; None if there is no such revision."""
    revision: str
    """The revision as the user named it: ``HEAD``, a branch, a tag, an id."""
    out: Path
    cache: Path
    templates: str
    fingerprint: str
    """Digest of everything that affects the bytes of the site, except history and the name of the revision."""
    refs: str
    """Digest of all branches and tags if the configuration may name one as a baseline; else empty."""
    own_templates: Path | None = None
    """The project's folder of templates in the work tree. Templates of history are never used."""

    @property
    def site(self) -> str:
        """The name of the output folder in the memo: bytes that are not UTF-8 are escaped."""
        return os.fsencode(self.out).decode("utf-8", "backslashreplace")

    @property
    def dask(self) -> str | None:
        """Address of a dask scheduler, from the command line or the environment, never from the project.

        The scheduler receives and returns pickled values, so whoever names it decides what this machine runs.
        """
        return self.options.dask or os.environ.get(_DASK) or None


def open_project(options: Options, templates: str) -> Project:
    """Find the project with one short git process and no heavy import, because every build pays for this.

    ``templates``: the digest of the templates. Raises RepositoryError if there is no repository.
    """
    place, head = find_repository(options.repo, options.rev or "HEAD")
    revision = options.rev or _configured_revision(place.top)
    if options.rev is None and revision != "HEAD":
        place, head = find_repository(options.repo, revision)
    own = own_templates(place.root) if options.own_templates else None
    if own:
        names = project_files.files_below(own)
        names_digest = hashlib.sha256(repr(names).encode()).hexdigest()
        templates = hashlib.sha256(f"{templates} {names_digest} {_digest(own, names)}".encode()).hexdigest()[:16]
    asked = (options.worktree, options.allow_shallow, options.base_url)
    decisive = repr((code_of_sitegen(), installed(), templates, place.refs(), asked))
    files = _digest(place.root, project_files.SITE_FILES) if place.root else ""
    return Project(
        options=options,
        place=place,
        head=head,
        revision=revision,
        out=project_files.real(options.out_below(place.top)),
        cache=cache_folder(options.cache, place.top),
        templates=templates,
        refs=place.branches_and_tags() if place.root and _names_baselines(place.root) else "",
        fingerprint=hashlib.sha256(f"{decisive} {files}".encode()).hexdigest(),
        own_templates=own,
    )


@cache
def code_of_sitegen() -> str:
    """Return a digest of sitegen's own code, in 40 digits. What other code has made and kept is made again."""
    state = hashlib.sha1(usedforsecurity=False)
    for folder, folders, names in os.walk(os.path.dirname(__file__)):
        folders.sort()
        for name in sorted(name for name in names if name.endswith(".py")):
            with open(f"{folder}/{name}", "rb") as file:
                state.update(b"\0%s\0" % name.encode() + file.read())
    return state.hexdigest()


def own_templates(root: Path | None) -> Path | None:
    """Return the folder of templates in a work tree; None if it is missing or a link."""
    return root / OWN_TEMPLATES if root and project_files.is_folder_inside(root, OWN_TEMPLATES) else None


def _digest(root: Path, names: Iterable[str]) -> str:
    """Return the digest of the contents of these files, or of the reason why one cannot be read."""
    state = hashlib.sha256()
    for name in names:
        try:
            content = project_files.read_inside(root, name, project_files.LARGEST_FILE)
        except OSError as error:
            content = f"\0 {error.strerror}".encode()
        state.update(len(content).to_bytes(8, "little") + content)
    return state.hexdigest()


def _names_baselines(root: Path) -> bool:
    """Whether a file of the configuration may have a table of baselines, without reading it as TOML."""
    for name in project_files.SITE_FILES:
        with suppress(OSError):
            if b"baselines" in project_files.read_inside(root, name, project_files.LARGEST_CONFIGURATION):
                return True
    return False


def _configured_revision(root: Path) -> str:
    """Return the revision that ``sitegen.toml`` names, without validating the rest of it; ``HEAD`` if it names none."""
    with suppress(OSError):  # the file is missing, or its error is reported when all of it is read
        content = project_files.read_inside(root, "sitegen.toml", project_files.LARGEST_CONFIGURATION)
        # They take time to import, and a build with nothing new of a project without this file needs no library.
        from sitegen.data_files.reading import UnreadableError
        from sitegen.data_files.yaml_reader import read_toml

        with suppress(UnreadableError):
            rev = read_toml(content).get("rev", "HEAD")
            return rev if isinstance(rev, str) else "HEAD"
    return "HEAD"
