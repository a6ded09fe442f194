"""Writes the site: only whole files, only changed files, and never over a foreign file.

A file is written under a temporary name beside its place and then moved, so that no reader ever sees half a page, and
no killed process leaves one. Before that, the file is added to the list of the output folder.
"""

import hashlib
import os
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from posixpath import basename
from typing import Final

from sitegen.engine.cached_kinds import encode
from sitegen.engine.memo import PageRow
from sitegen.engine.output_folder import LIST, TEMPORARY, content_digest, list_line, make_parents, read_regular
from sitegen.errors import OutputFolderError
from sitegen.history.cache_folder import user_key
from sitegen.model.frozen import Frozen

QUICK: Final = 1
"""Level of zlib for contents sent over a network; higher levels take more time than they save."""


INPUTS_OF: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "output": {
        "scorecard": (
            *("kind", "metrics_of_packages", "packages", "redact", "largest_file"),
            *("outputs", "rules", "settings", "usage"),
        ),
        "rules as read": ("largest_file", "mapping", "settings"),
    },
    "eval": {
        "report": (
            *("look", "largest_file", "discrepancies_per_type", "eval", "metrics", "moved_files"),
            *("points", "made_with", "edits_beside", "source", "notes"),
        ),
        "short report": ("report",),
        "comparison": ("reports", "baselines"),
        "field": ("report", "cells", "notes"),
        "case": ("report", "answered", "notes"),
    },
    "instruction file": {
        "edit": (
            *("look", "largest_file", "path", "edit_and_the_one_before", "index"),
            *("is_short", "effects", "thickens"),
        )
    },
    "hundred commits": {"commit": ("look", "commit")},
    "list": {"page of commits": ("look", "commits")},
    "site": {"assets": ("look",), "methods": ("look", "kinds", "added_metrics")},
}
"""What decides the scorecard of an output, and for each owner of files its pages.

What has the same digest is not made again, so a page gets no more than its inputs: that of an edit no other edits of
the file, a report and the page of a field no later points (``_EvalPages._until``). All other pages are made in each
build that touches their owner, and written if their bytes differ. Digests of one use are not here: of manifests and
answers (``engine/timeline.py``), of corrected labels (``eval_job.py``), and of what is to be done at all
(``project.py``, ``history/timeline.py``, ``recognition``, ``questions/public.py``)."""


def digest_of_inputs(owner: str, page: str, **inputs: object) -> str:
    """Return the digest of what decides a page or a scorecard. Raises ValueError unless it is that of the table."""
    names = INPUTS_OF[owner][page]
    if inputs.keys() != set(names):
        raise ValueError(f"The inputs of {page} are {', '.join(names)}.")
    return digest(page, encode([inputs[name] for name in names]))


def digest(*parts: bytes | str) -> str:
    """Return a short digest of parts with unambiguous boundaries; for keys, not for security."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


class WrittenFiles(Frozen):
    """The files of one owner after a writer brought them up to date."""

    rows: tuple[PageRow, ...]
    """All files of the owner, including files that were up to date."""
    written: int
    """Number of these files that the folder did not have with this content."""
    contents: tuple[tuple[str, bytes], ...] = ()
    """Paths and contents, compressed by zlib, of files that are not written yet: they were made on another machine."""


class Writer:
    """Writes the files of one owner into an output folder, and records them."""

    def __init__(
        self,
        folder: Path | None,
        owner: str = "",
        present: Iterable[PageRow] = (),
        foreign: Collection[str] = (),
        *,
        listed: bool = True,
    ) -> None:
        """``present``: files of the owner that are known to be in the folder; ``foreign``: files that no build wrote.

        ``folder``: None on a machine without the output folder, where files are collected for the machine that has it.
        ``listed``: whether the folder has a list of its files; needed only if a build may delete files.
        """
        self._folder = None if folder is None else str(folder)
        self._owner = owner
        self._present = {row.path: row for row in present}
        self._foreign = foreign
        self._is_listed = listed
        self._list: int | None = None
        """The descriptor of the list of the folder. It stays open: a build adds tens of thousands of files."""
        self._key: bytes | None = None
        self._real_folders: set[str] = set()
        """The folders below the output folder that were checked."""
        self._contents: list[tuple[str, bytes]] = []
        self._temporary = f"{TEMPORARY}-{os.getpid()}"
        self.rows: list[PageRow] = []
        self._written: set[str] = set()

    @property
    def files(self) -> WrittenFiles:
        """The files that the writer wrote or found up to date so far, each as it was written last."""
        rows = {row.path: row for row in self.rows}
        return WrittenFiles(tuple(rows.values()), len(self._written), tuple(self._contents))

    def __del__(self) -> None:
        if self._list is not None:
            os.close(self._list)

    def is_fresh(self, path: str, key: str) -> bool:
        """Whether the folder has the file already, made from the same inputs, so that it need not be rendered."""
        row = self._present.get(path)
        if row is None or row.key != key:
            return False
        # Recorded like a written file, because unrecorded files are deleted at the end of the build.
        self.rows.append(row)
        return True

    def are_fresh(self, path: str, key: str) -> bool:
        """``is_fresh`` for a page and all files that were made from the same inputs."""
        if not self.is_fresh(path, key):
            return False
        self.rows.extend(row for row in self._present.values() if row.key == key)
        return True

    def write(self, path: str, content: bytes, key: str | None = None) -> None:
        """Write a file, unless it has this content already.

        ``key``: the digest of its inputs; default: that of the content. Raises OutputFolderError if a folder, or a
        file that no build wrote, has the place.
        """
        of_content = content_digest(content) if not key else ""
        key = key or of_content
        if self.is_fresh(path, key):
            return
        of_content = of_content or content_digest(content)
        self.rows.append(PageRow(owner=self._owner, path=path, key=key, size=len(content), content=of_content))
        self._present.pop(path, None)
        self._store(path, content, of_content)

    def write_contents(self, files: WrittenFiles) -> int:
        """Write the files that are not written yet. Returns how many were not in the folder already."""
        for path, compressed in files.contents:
            content = zlib.decompress(compressed)
            self._store(path, content, content_digest(content))
        return len(self._written)

    def _store(self, path: str, content: bytes, of_content: str) -> None:
        """Put a file in its place, unless it has this content already."""
        if self._folder is None:
            self._contents.append((path, zlib.compress(content, QUICK)))
            return
        parent, target = self._parent_of(path), f"{self._folder}/{path}"
        if read_regular(target, len(content)) == content:
            self._add_to_list([path], of_content)
            return
        if os.path.isdir(target) and not os.path.islink(target):
            raise OutputFolderError(
                "A folder stands where a page goes.", where=target, fix="Move it away, or choose another -o."
            )
        if self._is_foreign(path) and os.path.lexists(target):
            raise OutputFolderError(
                "A file that no build wrote stands where a page goes.",
                where=target,
                fix="Move it away, or choose another -o; --force replaces such files, and keeps all others.",
            )
        self._add_to_list([path], of_content)
        _put(f"{parent}/{self._temporary}", target, content)
        self._written.add(path)

    def _add_to_list(self, paths: Iterable[str], of_content: str) -> None:
        """Add files with the same content to the list of the folder, before they are moved into their places."""
        if not self._is_listed:
            return
        if self._list is None:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
            self._list, self._key = os.open(f"{self._folder}/{LIST}", flags, 0o644), user_key()
        _write_all(self._list, b"".join([list_line(of_content, path, self._key) for path in paths]))

    def _parent_of(self, path: str) -> str:
        """Return the parent of a file, which is made if there is none. Raises OutputFolderError if it is no folder."""
        parent = path.rpartition("/")[0]
        if parent not in self._real_folders:
            make_parents(str(self._folder), path)
            self._real_folders.add(parent)
        return f"{self._folder}/{parent}" if parent else str(self._folder)

    def reserve(self, paths: Iterable[str], make: Callable[[], bytes]) -> None:
        """Give one content to those of these paths that are free, as one file with many names.

        The paths are recorded nowhere but in the list of the folder: pages are to replace all of them.
        """
        own = ((f"{self._parent_of(path)}/{basename(path)}", path) for path in paths if not self._is_foreign(path))
        free = [path for target, path in own if not os.path.lexists(target)]
        if not free:
            return
        content, source = make(), None
        self._add_to_list(free, content_digest(content))
        for path in free:
            target = f"{self._folder}/{path}"
            try:
                if source is not None:
                    os.link(source, target, follow_symlinks=False)
                    continue
            except OSError:  # too many names, or the file system has no such links
                pass
            _put(f"{self._parent_of(path)}/{self._temporary}", target, content)
            source = target

    def _is_foreign(self, path: str) -> bool:
        """Whether no build wrote a file, or only others are in a folder above it."""
        if not self._foreign:
            return False
        ends = (at + 1 for at, letter in enumerate(path) if letter == "/")
        return path in self._foreign or any(path[:end] in self._foreign for end in ends)


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _put(temporary: str, target: str, content: bytes) -> None:
    """Write a file of a build's own under a temporary name, and move it to its place."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        descriptor = os.open(temporary, flags, 0o644)
    except FileExistsError:  # left by a killed build
        os.unlink(temporary)
        descriptor = os.open(temporary, flags, 0o644)
    try:
        _write_all(descriptor, content)
    except OSError as error:  # such as that of a full disk, which does not name the file
        raise OSError(error.errno, error.strerror, temporary) from None
    finally:
        os.close(descriptor)
    os.replace(temporary, target)
