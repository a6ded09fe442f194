"""Opens an archive of full reports, and writes files into it: a folder beside the site, or any store that fsspec knows.

Nothing in an archive is ever deleted, and a place that holds other files is refused, so that none is replaced. Below
a folder the rules of the output folder hold. Only the command line and the environment name an archive.
"""

from __future__ import annotations

import os
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sitegen.errors import ArchiveError, ConfigurationError, SitegenError
from sitegen.history.repository_place import RepositoryPlace
from sitegen.project import ArchivePlace
from sitegen.render.below import read_file
from sitegen.render.output_folder import refuse_project
from sitegen.render.writer import CompressedFile, Writer, WrittenFiles
from sitegen.text.addresses import is_web_address

MARKER: Final = ".sitegen-archive.json"
"""The file that marks a place as an archive of sitegen."""
_MARK: Final = b'{"schema": "sitegen/archive/1"}\n'
_FIX: Final = "Check the address, the network and your rights there, and build again: what is missing is written then."


class Archive(ABC):
    """An archive that was opened."""

    is_new: bool
    """Whether nothing had been written to it before."""

    @abstractmethod
    def store(self, files: Iterable[CompressedFile]) -> None:
        """Write files. Raises ArchiveError; files that were written before stay."""


def open_archive(place: ArchivePlace, out: Path, repository: RepositoryPlace) -> Archive:
    """Open the archive of a site, and mark it if it is empty.

    Args:
        place: the archive.
        out: the output folder.
        repository: the project, which must not be written to.

    Raises:
        ConfigurationError: pages could not link to the archive, or a package is not installed.
        OutputFolderError: it would be the project, or a folder of git.
        ArchiveError: it cannot be reached, or holds files of others.

    """
    if place.url and not is_web_address(place.url):
        raise ConfigurationError(
            f"The public address {place.url!r} of the archive is not an address of a site.",
            fix="Write one such as https://example.org/path: http or https, without user name, ? and #.",
        )
    named, folder = place.named, place.folder
    if not place.url and (folder is None or folder.parent != out.parent or folder == out):
        raise ConfigurationError(
            "Without a public address, only a folder beside the output folder can be the archive: the site and the "
            "archive link to each other.",
            where=_without_password(place.address),
            fix="Name its public address with --archive-url, or a folder beside the site with --archive.",
        )
    if named is None or folder is None:
        return _Store(place.address)
    if folder.is_relative_to(out) or out.is_relative_to(folder):
        raise ConfigurationError(
            "The archive lies in the output folder, or holds it.", where=str(folder), fix="Choose another --archive."
        )
    refuse_project(named, folder, repository, "The archive", "--archive")
    return _Folder(folder)


class _Folder(Archive):
    """An archive in a folder. No link below it is followed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with _failures(str(folder)):
            self.is_new = read_file(folder, MARKER) != _MARK
            if self.is_new:
                if folder.exists() and os.listdir(folder):
                    raise _foreign(str(folder))
                self.store([CompressedFile(MARKER, zlib.compress(_MARK))])

    def store(self, files: Iterable[CompressedFile]) -> None:
        with _failures(str(self._folder)):
            Writer(self._folder, listed=False).write_contents(WrittenFiles((), 0, tuple(files)))


class _Store(Archive):
    """An archive that fsspec opens."""

    def __init__(self, address: str) -> None:
        self._place = _without_password(address)
        self._files, self._root = _file_system(address)
        self._parents: set[str] = set()
        with _failures(self._place):
            self.is_new = not self._files.exists(f"{self._root}/{MARKER}")
            if self.is_new:
                listed = self._files.ls(self._root, detail=False) if self._files.exists(self._root) else []
                if any(path.strip("/") != self._root.strip("/") for path in listed):  # stores may list the place itself
                    raise _foreign(self._place)
                self.store([CompressedFile(MARKER, zlib.compress(_MARK))])

    def store(self, files: Iterable[CompressedFile]) -> None:
        contents = {f"{self._root}/{file.path}": zlib.decompress(file.content) for file in files}
        parents = {path.rpartition("/")[0] for path in contents} - self._parents
        with _failures(self._place):
            for parent in sorted(parents):
                self._files.makedirs(parent, exist_ok=True)
            self._parents |= parents
            if contents:
                self._files.pipe(contents)


def _file_system(address: str) -> Any:
    """Return the file system of an address, and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise ConfigurationError(
            "The named archive is not a folder, and fsspec is not installed.",
            where=_without_password(address),
            fix="pip install 'sitegen-evals[archive]', and the package that fsspec needs for such addresses: s3fs, "
            "gcsfs, adlfs.",
        ) from error
    try:
        files, root = url_to_fs(address)
    except ImportError as error:
        raise ConfigurationError(
            f"fsspec lacks a package for the archive: {error}",
            where=_without_password(address),
            fix="Install that package.",
        ) from error
    except Exception as error:
        raise ArchiveError(
            _without_password(f"fsspec cannot open the archive: {error}"),
            where=_without_password(address),
            fix="Correct the address in --archive.",
        ) from error
    return files, root.rstrip("/")


@contextmanager
def _failures(place: str) -> Iterator[None]:
    """Raise ArchiveError instead of whatever the system, or a library for a store, raises."""
    try:
        yield
    except ArchiveError:
        raise
    except SitegenError as error:
        raise ArchiveError(
            error.message, where=error.where or place, fix="Remove it, or choose another --archive."
        ) from error
    except Exception as error:  # every library has exceptions of its own
        raise ArchiveError(
            _without_password(f"The archive cannot be written: {type(error).__name__}: {error}"), where=place, fix=_FIX
        ) from error


def _foreign(place: str) -> ArchiveError:
    return ArchiveError(
        "The archive holds files and was not made by sitegen.", where=place, fix="Name a new or an empty folder."
    )


def _without_password(text: str) -> str:
    """The text without user names and passwords in addresses."""
    return re.sub(r"://[^/@\s]*@", "://", text)
