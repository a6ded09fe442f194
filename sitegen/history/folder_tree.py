"""The files of an eval at a commit, as a tree of folders that finds the files of one folder at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from sys import intern

from msgspec import Struct, field

from sitegen.model.timeline import Blob


class FolderTree(Struct):
    """The files and folders in a folder. Paths are relative to it; no folder in it is empty."""

    files: dict[str, str] = field(default_factory=dict)
    """Name -> blob id."""
    folders: dict[str, FolderTree] = field(default_factory=dict)

    @classmethod
    def of(cls, paths: Iterable[str]) -> FolderTree:
        """Return a tree of files without their contents."""
        tree = cls()
        for path in paths:
            tree.put(path, "")
        return tree

    def __bool__(self) -> bool:
        return bool(self.files or self.folders)

    def __len__(self) -> int:
        return len(self.files) + sum(map(len, self.folders.values()))

    def get(self, path: str) -> str | None:
        """Return the blob id of a file; None if there is no such file."""
        folder, _, name = path.rpartition("/")
        return (self.folder(folder) if folder else self).files.get(name)

    def folder(self, path: str) -> FolderTree:
        """Return a folder, empty if it does not exist. The empty path is this folder."""
        tree = self
        for name in path.split("/") if path else ():
            if name not in tree.folders:
                return FolderTree()
            tree = tree.folders[name]
        return tree

    def names(self, folder: str) -> dict[str, bool]:
        """Return the names in a folder, and whether each is a folder; none if there is no such folder."""
        there = self.folder(folder)
        return dict.fromkeys(there.files, False) | dict.fromkeys(there.folders, True)

    def put(self, path: str, oid: str) -> None:
        """Set the content of a file."""
        tree = self
        *folders, name = path.split("/")
        for folder in folders:
            tree = tree.folders.setdefault(folder, FolderTree())
        tree.files[name] = oid

    def remove(self, path: str) -> None:
        """Remove a file, if it exists, and the folders that become empty."""
        first, slash, rest = path.partition("/")
        if not slash:
            self.files.pop(first, None)
        elif first in self.folders:
            self.folders[first].remove(rest)
            if not self.folders[first]:
                del self.folders[first]

    def blobs(self, folder: str = "") -> Iterator[Blob]:
        """Yield all files below a folder, with their whole paths."""
        yield from self.folder(folder)._blobs(f"{folder}/" if folder else "")

    def _blobs(self, start: str) -> Iterator[Blob]:
        for name, oid in self.files.items():
            yield Blob(start + name, oid)
        for name, folder in self.folders.items():
            yield from folder._blobs(f"{start}{name}/")

    def outputs_in(
        self, folder: str, names: Iterable[str], variants: str = "", *, elsewhere: Iterable[str] = ()
    ) -> tuple[Blob, ...]:
        """Return the output files of a folder: the files of all variants, by path, otherwise the first of the names.

        Variants may also lie ``elsewhere``, in other folders.
        """
        found = first_blob((f"{folder}/{name}".lstrip("/") for name in names), self)
        first = (found,) if found else ()
        if not variants:
            return first
        is_variant = re.compile(variants)
        of_variants = [
            Blob(f"{place}/{name}", oid)
            for place in (folder, *elsewhere)
            for name, oid in self.folder(place).files.items()
            if is_variant.fullmatch(name)
        ]
        return tuple(sorted((*of_variants, *first)))


def first_blob(paths: Iterable[str], files: FolderTree | Mapping[str, str]) -> Blob | None:
    """Return the first of the paths at which a file exists. ``files``: maps paths to blob ids."""
    for path in paths:
        if (oid := files.get(path)) is not None:
            return Blob(intern(path), oid)
    return None
