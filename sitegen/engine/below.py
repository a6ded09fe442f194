"""Reads, creates and deletes files below the output folder without following any link.

Anybody may have written to the folder, so a file is opened only if it is a regular file in real folders. Since there
are many files in few folders, each folder is checked once.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from sitegen.errors import OutputFolderError
from sitegen.model.named_tuple import NamedTuple


def read_file(folder: Path | str, path: str, *, at_most: int | None = None) -> bytes | None:
    """The content of a file; None if there is no such regular file, or if it is longer than ``at_most`` bytes."""
    if not is_below(path) or not all(map(_is_folder, _parents(str(folder), path))):
        return None
    return read_regular(f"{folder}/{path}", at_most=at_most)


def read_regular(target: str, *, size: int | None = None, at_most: int | None = None) -> bytes | None:
    """The content of a regular file.

    None for anything else, if it does not have ``size`` bytes, or if it has more than ``at_most``.
    """
    try:
        status = os.lstat(target)
        if not stat.S_ISREG(status.st_mode) or size not in (None, status.st_size):
            return None
        if at_most is not None and status.st_size > at_most:
            return None
        with open(os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read()
    except OSError:
        return None


def is_below(path: str) -> bool:
    """Whether a relative path stays below its starting folder and outside every folder of git."""
    return "\0" not in path and not any(part in {"", ".", ".."} or part.lower() == ".git" for part in path.split("/"))


def make_folder(folder: str) -> None:
    """Make one folder. Raises OutputFolderError if something else has its place."""
    try:
        os.mkdir(folder)
    except FileExistsError:
        if not _is_folder(folder):
            raise OutputFolderError(
                "A folder of the site is a link or a file, and no link is followed below the output.",
                where=folder,
                fix="Remove it, or choose another -o.",
            ) from None


class Parents:
    """The folders below an output folder that were checked and are real folders."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._made: set[str] = set()

    def of(self, path: str) -> str:
        """The parent of a file, which is made if there is none. Raises OutputFolderError as ``make_folder`` does."""
        parent = path.rpartition("/")[0]
        if parent not in self._made:
            if not self._made:
                os.makedirs(self._folder, exist_ok=True)
            for place in _parents(self._folder, path):
                make_folder(place)
            self._made.add(parent)
        return f"{self._folder}/{parent}" if parent else self._folder


class Removal(NamedTuple):
    """The result of deleting files; files that no longer existed are in neither field."""

    removed: int
    changed: tuple[str, ...] = ()
    """Paths that were not deleted because somebody changed them: the size differs, or there is no regular file."""


def remove(folder: Path, sizes: Mapping[str, int | None]) -> Removal:
    """Delete files, and folders that become empty. ``sizes``: sizes of the files by path, None if unknown."""
    removed = 0
    changed: list[str] = []
    parents: dict[str, bool] = {}
    for path, size in sizes.items():
        if not is_below(path):
            continue
        parent = path.rpartition("/")[0]
        if parent not in parents:
            parents[parent] = all(map(_is_folder, _parents(str(folder), path)))
        if not parents[parent]:
            continue
        try:
            status = os.lstat(folder / path)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode) and size in (None, status.st_size):
            os.unlink(folder / path)
            removed += 1
        else:
            changed.append(path)
    for parent in sorted((parent for parent, safe in parents.items() if safe), key=len, reverse=True):
        folder_left = parent
        while folder_left:
            try:
                os.rmdir(folder / folder_left)
            except OSError:
                break
            folder_left = folder_left.rpartition("/")[0]
    return Removal(removed, tuple(changed))


def _parents(folder: str, path: str) -> Iterable[str]:
    """The folders between an output folder and a file in it, the outermost first."""
    end = path.find("/")
    while end >= 0:
        yield f"{folder}/{path[:end]}"
        end = path.find("/", end + 1)


def _is_folder(place: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(place).st_mode)
    except OSError:
        return False
