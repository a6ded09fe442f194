"""Writes the site: only whole files, only changed files, and never over a foreign file.

A file is written under a temporary name beside its place and then moved, so that no reader ever sees half a page, and
no killed process leaves one. Before that, the file is added to the list of the output folder.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from sitegen.engine.cached import encode
from sitegen.engine.memo import PageRow
from sitegen.engine.output_folder import TEMPORARY, FileList, Parents, content_digest, read_regular
from sitegen.errors import OutputFolderError
from sitegen.model.frozen import Frozen

QUICK: Final = 1
"""Level of zlib for contents sent over a network; higher levels take more time than they save."""


INPUTS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "eval": {
        "report": (
            *("templates", "discrepancies_per_type", "eval", "metrics", "moved_files"),
            *("points", "made_with", "edits_beside", "source"),
        ),
        "short report": ("report",),
        "comparison": ("reports",),
        "field": ("report", "cells"),
        "older points": ("report", "newest_rules", "former_ids", "columns"),
    },
    "instruction file": {"edit": ("templates", "path", "edit_and_the_one_before", "index", "effects", "thickens")},
    "hundred commits": {"commit": ("templates", "commit")},
    "list": {"page of commits": ("templates", "commits")},
    "site": {"assets": ("templates",), "methods": ("templates", "added_metrics")},
}
"""For each owner of files, the inputs of its pages: a page whose inputs have the same digest is not made again.

All other pages are made in each build that touches their owner, and written if their bytes differ."""


def digest_of_inputs(owner: str, page: str, **inputs: object) -> str:
    """Return the digest of the inputs of a page. Raises ValueError unless they are those of the table."""
    names = INPUTS[owner][page]
    if inputs.keys() != set(names):
        raise ValueError(f"The inputs of {page} are {', '.join(names)}.")
    return digest(page, *(encode(inputs[name]) for name in names))


def digest(*parts: bytes | str) -> str:
    """Return a short digest of parts with unambiguous boundaries; for keys of pages, not for security."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


class CompressedFile(Frozen):
    """A file that was made on another machine."""

    path: str
    content: bytes
    """Compressed by zlib."""


class WrittenFiles(Frozen):
    """The files of one owner after a writer brought them up to date."""

    rows: tuple[PageRow, ...]
    """All files of the owner, including files that were up to date."""
    written: int
    """Number of these files that the folder did not have with this content."""
    contents: tuple[CompressedFile, ...] = ()
    """Files that are not written yet, because they were made on another machine."""


class Writer:
    """Writes files into an output folder, and records each with its owner."""

    def __init__(
        self, folder: Path, present: Iterable[PageRow] = (), foreign: Collection[str] = (), *, listed: bool = True
    ) -> None:
        """``present``: files known to be in the folder; ``foreign``: files that no build wrote.

        ``listed``: whether the folder has a list of its files; needed only if a build may delete files.
        """
        self._folder = str(folder)
        self._present = {row.path: row for row in present}
        self._foreign = foreign
        self._list = FileList(self._folder) if listed else None
        self._parents = Parents(self._folder)
        self._temporary = f"{TEMPORARY}-{os.getpid()}"
        self.rows: list[PageRow] = []
        self._written: set[str] = set()

    @property
    def files(self) -> WrittenFiles:
        """The files that the writer wrote or found up to date so far, each as it was written last."""
        rows = {row.path: row for row in self.rows}
        return WrittenFiles(tuple(rows.values()), len(self._written))

    @property
    def written(self) -> int:
        """How many files were not in the folder with their content."""
        return len(self._written)

    def up_to_date_row(self, path: str, key: str) -> PageRow | None:
        """The record of a file, if it is known that the folder has it, made from these inputs."""
        row = self._present.get(path)
        return row if row and row.key == key else None

    def up_to_date_rows(self, key: str) -> list[PageRow]:
        """The records of all files that the folder is known to have and that were made from these inputs."""
        return [row for row in self._present.values() if row.key == key]

    def is_fresh(self, owner: str, path: str, key: str) -> bool:
        """Whether the folder has the file already, made from the same inputs, so that it need not be rendered."""
        row = self.up_to_date_row(path, key)
        if row is None:
            return False
        # Recorded like a written file, because unrecorded files are deleted at the end of the build.
        self.rows.append(row._replace(owner=owner))
        return True

    def are_fresh(self, owner: str, path: str, key: str) -> bool:
        """``is_fresh`` for a page and all files that were made from the same inputs."""
        if self.up_to_date_row(path, key) is None:
            return False
        self.rows.extend(row._replace(owner=owner) for row in self.up_to_date_rows(key))
        return True

    def write(self, owner: str, path: str, content: bytes, key: str | None = None) -> None:
        """Write a file, unless it has this content already.

        ``key``: the digest of its inputs; default: that of the content. Raises OutputFolderError if a folder, or a
        file that no build wrote, has the place.
        """
        of_content = content_digest(content) if not key else ""
        key = key or of_content
        if present := self.up_to_date_row(path, key):
            self.rows.append(present._replace(owner=owner))
            return
        of_content = of_content or content_digest(content)
        self.rows.append(PageRow(owner=owner, path=path, key=key, size=len(content), content=of_content))
        self._present.pop(path, None)
        self._store(path, content, of_content)

    def write_contents(self, files: WrittenFiles) -> int:
        """Write the files that are not written yet. Returns how many were not in the folder already."""
        for file in files.contents:
            content = zlib.decompress(file.content)
            self._store(file.path, content, content_digest(content))
        return self.written

    def _store(self, path: str, content: bytes, of_content: str) -> None:
        """Put a file in its place, unless it has this content already."""
        parent = self._parents.of(path)
        target = f"{self._folder}/{path}"
        if read_regular(target, size=len(content)) == content:
            if self._list:
                self._list.add([path], of_content)
            return
        if os.path.isdir(target) and not os.path.islink(target):
            raise OutputFolderError(
                "A folder stands where a page goes.", where=target, fix="Move it away, or choose another -o."
            )
        if is_foreign(path, self._foreign) and os.path.lexists(target):
            raise OutputFolderError(
                "A file that no build wrote stands where a page goes.",
                where=target,
                fix="Move it away, or choose another -o; --force replaces such files, and keeps all others.",
            )
        if self._list:
            self._list.add([path], of_content)
        self._put(f"{parent}/{self._temporary}", target, content)
        self._written.add(path)

    def reserve(self, paths: Iterable[str], make: Callable[[], bytes]) -> list[str]:
        """Give one content to those of these paths that are free, as one file with many names. Returns the paths.

        The paths are recorded nowhere but in the list of the folder: pages are to replace all of them.
        """
        free = [path for path in paths if not is_foreign(path, self._foreign) and not self._exists(path)]
        if not free:
            return free
        content, source = make(), None
        if self._list:
            self._list.add(free, content_digest(content))
        for path in free:
            target = f"{self._folder}/{path}"
            try:
                if source is not None:
                    os.link(source, target, follow_symlinks=False)
                    continue
            except OSError:  # too many names, or the file system has no such links
                pass
            self._put(f"{self._parents.of(path)}/{self._temporary}", target, content)
            source = target
        return free

    def _exists(self, path: str) -> bool:
        self._parents.of(path)  # makes it, and refuses a link
        return os.path.lexists(f"{self._folder}/{path}")

    @staticmethod
    def _put(temporary: str, target: str, content: bytes) -> None:
        _write_new(temporary, content)
        os.replace(temporary, target)


class ContentsWriter(Writer):
    """Collects files on a machine without the output folder, for the machine that has it to write."""

    def __init__(self, present: Iterable[PageRow]) -> None:
        super().__init__(Path(), present)
        self._contents: list[CompressedFile] = []

    @property
    def files(self) -> WrittenFiles:
        """The files that the folder must have, and the contents that it lacks."""
        return WrittenFiles(super().files.rows, 0, tuple(self._contents))

    def _store(self, path: str, content: bytes, of_content: str) -> None:
        self._contents.append(CompressedFile(path, zlib.compress(content, QUICK)))


def _write_new(place: str, content: bytes) -> None:
    """Write a file of a build's own, in place of one that an earlier build may have left."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        descriptor = os.open(place, flags, 0o644)
    except FileExistsError:  # left by a killed build
        os.unlink(place)
        descriptor = os.open(place, flags, 0o644)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError as error:  # such as that of a full disk, which does not name the file
        raise OSError(error.errno, error.strerror, place) from None
    finally:
        os.close(descriptor)


def is_foreign(path: str, foreign: Collection[str]) -> bool:
    """Whether a file is foreign, or in a folder that contains only foreign files."""
    if not foreign:
        return False
    ends = (at + 1 for at, letter in enumerate(path) if letter == "/")
    return path in foreign or any(path[:end] in foreign for end in ends)
