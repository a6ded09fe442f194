"""Reads files of a commit or of the work tree by path: the few whose blob ids are not known, such as the manifest."""

import os
import posixpath
import re
from collections.abc import Callable, Iterator
from posixpath import join, normpath
from typing import Final, NamedTuple, TypeAlias

from sitegen.config.findings import leads_out
from sitegen.config.manifest import manifest_in_force, read_manifest
from sitegen.config.models import Manifest, SiteConfig
from sitegen.config.site import read_rules
from sitegen.data_files.project_files import fetch_command, is_folder_inside, read_inside
from sitegen.errors import POINTER, ConfigurationError, MissingObjectsError
from sitegen.history.repository import LARGEST_BLOB, MISSING, NOTHING, TREE_MODE, BlobRead, Repository, cat_file
from sitegen.history.repository_place import RepositoryPlace
from sitegen.history.revisions import REGULAR
from sitegen.model.problems import Parsed
from sitegen.text.globs import compiled, literal_prefix

_LARGEST_SEARCH: Final = 1_000  # the most folders in which a file that matches a glob is searched
_LISTED: Final = (TREE_MODE, *REGULAR)


Folders: TypeAlias = Callable[[str], dict[str, bool]]
"""Returns the names in a folder, and whether each is a folder; none if there is no such folder."""


class FilesAt:
    """Reads files and folders of one commit by path. Use it within ``share_processes`` to read several."""

    def __init__(self, place: RepositoryPlace, commit: str, *, on_disk: bool = False) -> None:
        """``on_disk``: whether names and contents are those of the work tree over the commit, which may be empty then.

        No link in it is followed. It counts for nothing in a bare repository.
        """
        self.place = place
        self._commit = commit
        self._on_disk = on_disk and place.root is not None
        self._names: dict[str, dict[str, bool]] = {}
        self._ids: tuple[str, dict[str, str]] = ("", {})
        """The folder that was listed or asked about last, and the blob ids of its files by name."""

    def read(self, path: str, largest: int = LARGEST_BLOB) -> bytes | None:
        """Return the bytes of a file; None if there is none, or if it is larger than ``largest`` bytes."""
        if self._on_disk:
            try:
                return read_inside(self.place.top, path, largest)
            except OSError:
                return None
        return self._object(path, "blob", largest).content

    def refusal(self, path: str, largest: int = LARGEST_BLOB) -> str:
        """Return why ``read`` returns nothing of a file, or that it is empty; empty if it can be read."""
        read = self._object(path, "blob", largest)
        return read.reason if read.content is None else "" if read.content.strip() else "it is empty"

    def read_rules(self, path: str, largest: int = LARGEST_BLOB) -> bytes | None:
        """Return the bytes of a file that decides how others are read; None if there is none.

        Raises ConfigurationError if it is there and cannot be read.
        """
        if self._on_disk:
            return read_rules(self.place.top, path, largest)
        read = self._object(path, "blob", largest)
        if read.content is None and self.blob_id(path) is not None:
            fix = MissingObjectsError().fix if read.reason == MISSING else "Commit a smaller file."
            raise ConfigurationError(
                f"{posixpath.basename(path)} cannot be read: {read.reason}.",
                where=f"{path} at {self._commit[:7]}",
                fix=fetch_command(path) if read.reason == POINTER else fix,
            )
        return read.content

    @property
    def of_work_tree(self) -> "FilesAt":
        """Those of the work tree over the commit."""
        return FilesAt(self.place, self._commit, on_disk=True)

    def commits(self, path: str) -> tuple[str, ...]:
        """Return the newest commits up to this one that wrote the file, the newest first."""
        return Repository(self.place).commits_with(self._commit, path) if self._commit else ()

    def earlier(self, path: str, largest: int = LARGEST_BLOB) -> Iterator[bytes]:
        """Yield the contents of the file in the commits before this one that can be read, the newest first."""
        for commit in self.commits(path)[0 if self._on_disk else 1 :]:
            if (content := FilesAt(self.place, commit).read(path, largest)) is not None:
                yield content

    def names(self, folder: str) -> dict[str, bool]:
        """Return the names in a folder, and whether each is a folder. Links and submodules are left out."""
        if folder in self._names:
            return self._names[folder]
        if self._on_disk:
            if not is_folder_inside(self.place.top, folder):
                return {}
            with os.scandir(self.place.top / folder) as entries:
                own = [each for each in entries if not each.is_symlink() and (each.is_dir() or each.is_file())]
                return self._names.setdefault(folder, {each.name: each.is_dir() for each in own})
        parent, own_name = posixpath.split(folder)
        if own_name and parent in self._names and not self._names[parent].get(own_name):
            return {}  # git need not be asked
        listed = [entry for entry in self._object(folder, "tree", LARGEST_BLOB).entries() if entry[0] in _LISTED]
        self._ids = folder, {name: oid for mode, name, oid in listed}
        return self._names.setdefault(folder, {name: mode == TREE_MODE for mode, name, _ in listed})

    def blob_id(self, path: str) -> str | None:
        """Return the id of a file's content without reading it; None if there is no such file, or if it is on disk."""
        folder, name = posixpath.split(path)
        if self._on_disk or self.names(folder).get(name) is not False:
            return None
        if self._ids[0] != folder:  # the ids of all folders would take twice the memory of the names
            del self._names[folder]
            self.names(folder)
        return self._ids[1][name]

    def _object(self, path: str, kind: str, largest: int) -> BlobRead:
        """Return the object at a path, with its content if it is of the kind and has at most ``largest`` bytes."""
        name = f"{self._commit}:".encode() + os.fsencode(path)
        if b"\n" in name:  # git would read it as two names
            return NOTHING
        with cat_file(self.place) as objects:
            return objects.read(name, kind, largest)


def manifest_at(
    files: FilesAt, config: SiteConfig, read: Callable[[bytes, str], Parsed[Manifest | None]] = read_manifest
) -> Parsed[Manifest]:
    """Return the manifest among these files, empty if there is none. Raises ConfigurationError if it cannot be read."""
    path = f"{config.evals_dir}/manifest.yaml"
    content = files.read_rules(path, config.limits.max_blob_bytes)
    return Parsed(Manifest()) if content is None else manifest_in_force(content, path, config.evals_dir, read)


def first_file_named(glob: str, folders: Folders) -> str | None:
    """Return the first file, by depth and then by path, that a glob matches within ``_LARGEST_SEARCH`` folders."""
    pattern, top = compiled((glob,)), literal_prefix(glob)
    parent, _, name = top.rpartition("/")
    if name and folders(parent).get(name) is False:
        return top
    level, searched = [top], 0
    while level:
        below: list[str] = []
        for folder in level:
            searched += 1
            if searched > _LARGEST_SEARCH:
                return None
            names = folders(folder)
            for path, is_folder in sorted((f"{folder}/{name}" if folder else name, names[name]) for name in names):
                if is_folder:
                    below.append(path)
                elif pattern.fullmatch(path):
                    return path
        level = below
    return None


MOST_FILES: Final = 2_000
"""The most files of a pattern at one commit; only the first by path count."""

_PLACEHOLDER: Final = r"\{(document|page)\}"
_EXPRESSIONS: Final = {"document": "[^/]+", "page": "[0-9]{1,6}"}


class SourceFile(NamedTuple):
    """A document, or one page of it."""

    path: str
    document: str | None
    """Id of the document; None if the file is the source of every document."""
    page: int | None
    """None if the file is the whole document."""


def source_files(pattern: str, folder: str, folders: Folders) -> tuple[SourceFile, ...]:
    """Return the files that match a pattern, by path. The pattern is relative to the eval's ``folder``."""
    whole_pattern = normpath(join(folder, pattern))
    if leads_out(pattern, folder):
        return ()
    *segments, _ = whole_pattern.split("/")
    level = [""]
    for segment in segments:
        if re.search(_PLACEHOLDER, segment):
            children = ((above, folders(above)) for above in level[:_LARGEST_SEARCH])
            fits = re.compile(_expression(segment)).fullmatch
            level = [join(above, name) for above, names in children for name in names if names[name] and fits(name)]
        else:
            level = [join(above, segment) for above in level]
    fits = re.compile(_expression(whole_pattern)).fullmatch
    files = []
    for above in level[:_LARGEST_SEARCH]:
        for name, is_folder in folders(above).items():
            match = None if is_folder else fits(join(above, name))
            if match:
                stated = match.groupdict()
                page = stated.get("page")
                files.append(SourceFile(match[0], stated.get("document"), None if page is None else int(page)))
    return tuple(sorted(files)[:MOST_FILES])


def _expression(pattern: str) -> str:
    """Return a regular expression in which a repeated placeholder has one value. Zeros before a page are ignored."""
    pieces: list[str] = []
    end = 0
    seen: set[str] = set()
    for match in re.finditer(_PLACEHOLDER, pattern):
        name = match[1]
        zeros = "0*" if name == "page" else ""
        group = f"(?P={name})" if name in seen else f"(?P<{name}>{_EXPRESSIONS[name]})"
        pieces += [re.escape(pattern[end : match.start()]), zeros, group]
        seen.add(name)
        end = match.end()
    return "".join(pieces) + re.escape(pattern[end:])
