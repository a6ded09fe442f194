"""The options of a build, the project that they name, and the digest of all inputs of its site besides history."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final
from urllib.parse import quote

from sitegen import __version__
from sitegen.errors import ConfigurationError
from sitegen.history.cache_folder import cache_folder
from sitegen.history.repository_place import RepositoryPlace, find_repository
from sitegen.named_tuple import NamedTuple
from sitegen.project_files import (
    LARGEST_CONFIGURATION,
    LARGEST_FILE,
    SITE_FILES,
    files_below,
    is_folder_inside,
    read_inside,
)
from sitegen.text.embedding import installed

ARCHIVE: Final = "SITEGEN_ARCHIVE"
"""Environment variable with the address of an archive."""
ARCHIVE_URL: Final = "SITEGEN_ARCHIVE_URL"
"""Environment variable with the public address of the archive."""
DASK: Final = "SITEGEN_DASK"
"""Environment variable with the address of a dask scheduler."""
OWN_TEMPLATES: Final = "site_templates"
"""Folder of a project with templates that replace ours."""


class Options(NamedTuple):
    """The options of a build on the command line."""

    repo: Path = Path()
    out: Path | None = None
    rev: str | None = None
    jobs: int | None = None
    cache: Path | None = None
    force: bool = False
    allow_shallow: bool = False
    worktree: bool = False
    pin: str | None = None
    base_url: str | None = None
    """Address of the published site, if the configuration has none."""
    own_templates: bool = True
    """Whether to use the templates of the project."""
    verify: bool = False
    """Whether to compare every file of the output folder, even if no folder changed."""
    dask: str | None = None
    """Address of a dask scheduler; no configuration of a project may name one."""
    archive: str | None = None
    """Folder or fsspec address of an archive; no configuration of a project may name one."""
    archive_url: str | None = None
    """Public address of the archive."""


class ArchivePlace(NamedTuple):
    """The place of the full reports that the site has no room for, as the user named it."""

    address: str
    """A folder, or an address that fsspec understands."""
    url: str = ""
    """The address under which readers find it; empty: it is a folder beside the site, and links are relative."""

    @property
    def named(self) -> Path | None:
        """The folder as it was named; None if fsspec opens the archive."""
        address = self.address.removeprefix("file://").removeprefix("local://")
        return None if "://" in address or "::" in address else Path(os.path.abspath(address))

    @property
    def folder(self) -> Path | None:
        """The folder, with links followed; None if fsspec opens the archive."""
        return self.named.resolve() if self.named else None

    @property
    def prefix(self) -> str:
        """The way from the root of the site to the archive, with a slash at the end."""
        if self.url:
            return f"{as_link(self.url.rstrip('/'))}/"
        return f"../{as_link(self.folder.name)}/" if self.folder else ""

    def way_back(self, out: Path, base_url: str | None) -> str:
        """The way from the archive to the root of the site; empty if pages in the archive could not link to it."""
        if self.url:
            return f"{as_link(base_url)}/" if base_url else ""
        return f"../{as_link(out.name)}/"


def as_link(address: str) -> str:
    """An address or a name of a folder, in characters that need no escaping in HTML or in a script."""
    return quote(address.encode("utf-8", "surrogateescape"), safe="/:%@+,;=~()[]*!$")


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
    """Digest of the templates."""
    fingerprint: str
    """Digest of everything that affects the bytes of the site, except history and the name of the revision."""
    pin: str | None = None
    """Id of the commit whose ground truth and rules all history is scored by; None if each commit is scored by its
    own."""
    own_templates: Path | None = None
    """The project's folder of templates in the work tree. Templates of history are never used."""
    archive: ArchivePlace | None = None
    """Where full reports go that the site has no room for."""

    @property
    def asked_out(self) -> Path:
        """The output folder as the user named it, without following links."""
        return Path(os.path.abspath(self.options.out or self.place.top / "public"))

    @property
    def site(self) -> str:
        """The name of the output folder in the memo."""
        return str(self.out)

    @property
    def dask(self) -> str | None:
        """Address of a dask scheduler, from the command line or the environment, never from the project.

        The scheduler receives and returns pickled values, so whoever names it decides what this machine runs.
        """
        return self.options.dask or os.environ.get(DASK) or None


def open_project(options: Options, templates: str) -> Project:
    """Find the project with one short git process and no heavy import, because every build pays for this.

    ``templates`` is the digest of the templates. Raises RepositoryError if there is no repository, ConfigurationError
    if the revision to pin to does not exist.
    """
    place, head = find_repository(options.repo, options.rev or "HEAD")
    revision = options.rev or _configured_revision(place.top)
    if options.rev is None and revision != "HEAD":
        place, head = find_repository(options.repo, revision)
    pin = _pinned(options)
    own = own_templates(place.root) if options.own_templates else None
    if own:
        templates = hashlib.sha256(f"{templates} {_digest_folder(own)}".encode()).hexdigest()[:16]
    archive = _archive(options)
    asked = (options.worktree, options.allow_shallow, pin, options.base_url, archive)
    decisive = repr((__version__, installed(), templates, place.refs(), asked))
    files = _digest(place.root, SITE_FILES) if place.root else ""
    return Project(
        options=options,
        place=place,
        head=head,
        revision=revision,
        out=(options.out or place.top / "public").resolve(),
        cache=cache_folder(options.cache, place.top),
        templates=templates,
        fingerprint=hashlib.sha256(f"{decisive} {files}".encode()).hexdigest(),
        pin=pin,
        own_templates=own,
        archive=archive,
    )


def own_templates(root: Path | None) -> Path | None:
    """The folder of templates in a work tree; None if it is missing or a link."""
    return root / OWN_TEMPLATES if root and is_folder_inside(root, OWN_TEMPLATES) else None


def _archive(options: Options) -> ArchivePlace | None:
    """Return the archive that the command line or the environment names, as they name it."""
    address = options.archive or os.environ.get(ARCHIVE)
    url = options.archive_url or os.environ.get(ARCHIVE_URL) or ""
    if options.archive_url and not address:
        raise ConfigurationError(
            "The public address of an archive is named, but no archive.",
            where=options.archive_url,
            fix="Name the archive with --archive, or leave out --archive-url.",
        )
    return ArchivePlace(address, url) if address else None


def _digest_folder(folder: Path) -> str:
    names = files_below(folder)
    return f"{hashlib.sha256(repr(names).encode()).hexdigest()} {_digest(folder, names)}"


def _digest(root: Path, names: Iterable[str]) -> str:
    """The digest of the contents of these files, or of the reason why one cannot be read."""
    state = hashlib.sha256()
    for name in names:
        try:
            content = read_inside(root, name, LARGEST_FILE)
        except OSError as error:
            content = f"\0 {error.strerror}".encode()
        state.update(len(content).to_bytes(8, "little") + content)
    return state.hexdigest()


def _pinned(options: Options) -> str | None:
    if options.pin is None:
        return None
    _, pin = find_repository(options.repo, options.pin)
    if pin is None:
        raise ConfigurationError(
            f"There is no revision {options.pin!r} to pin to.", fix="Name a commit, tag or branch."
        )
    return pin


def _configured_revision(root: Path) -> str:
    """The revision that ``sitegen.toml`` names, without validating the rest of it; ``HEAD`` if it names none."""
    try:
        content = read_inside(root, "sitegen.toml", LARGEST_CONFIGURATION)
    except OSError:
        return "HEAD"  # the file is missing, or its error is reported when all of it is read
    import tomllib

    try:
        rev = tomllib.loads(content.decode("utf-8-sig")).get("rev", "HEAD")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return "HEAD"  # reported when all of the file is read
    return rev if isinstance(rev, str) else "HEAD"
