"""Writing the site: whole files only, changed files only, nothing foreign touched.

A file is written under a temporary name beside its place and moved there, so that a reader, or a process that dies at
any moment, never leaves half a page. The manifest of what was written is kept in the memo, not in the site.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from sitegen.analysis.memo import PageRow
from sitegen.errors import OutputFolderError

MARKER: Final = ".sitegen.json"
"""The file that says that a folder is sitegen's to write: without it, the folder is refused."""
_TEMPORARY: Final = ".~sitegen"
_PLACEHOLDERS: Final = frozenset({".gitkeep", ".gitignore"})


def digest(*parts: bytes | str) -> str:
    """A short digest of parts that cannot run into each other; for keys of pages, not for security."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


class Writer:
    """Writes the files of one owner at a time, and says what it did."""

    def __init__(self, folder: Path, known: Iterable[PageRow] = ()) -> None:
        """``known``: what surely stands in the folder."""
        self._folder = str(folder)
        self._known = {row.path: row for row in known}
        self._made: set[str] = set()
        self._temporary = f"{_TEMPORARY}-{os.getpid()}"
        self.rows: list[PageRow] = []
        self.written = 0
        self.kept = 0

    def known(self, path: str, key: str) -> PageRow | None:
        """The file, if it surely stands in the folder, made from these inputs."""
        row = self._known.get(path)
        return row if row and row.key == key else None

    def is_fresh(self, owner: str, path: str, key: str) -> bool:
        """Whether the file stands there already, made from the same inputs; then it need not even be rendered."""
        row = self.known(path, key)
        if row is None:
            return False
        self.rows.append(row._replace(owner=owner))
        self.kept += 1
        return True

    def standing(self, path: str, key: str) -> bytes | None:
        """The content of a file of the folder, if ``key`` is the digest of it."""
        try:
            content = Path(self._folder, path).read_bytes() if key else b""
        except OSError:
            return None
        return content if digest(content) == key else None

    def write(self, owner: str, path: str, content: bytes, key: str | None = None, *, full: int = 0) -> None:
        """Bring one file to this content. ``key``: the digest of its inputs; default: that of the content.

        ``full``: of a short page, as ``PageRow`` has it.
        """
        key = key or digest(content)
        self.rows.append(PageRow(owner, path, key, len(content), full))
        if self.known(path, key):
            self.kept += 1
            return
        target = f"{self._folder}/{path}"
        if _same(target, content):
            self.kept += 1
            return
        parent = target.rpartition("/")[0]
        if parent not in self._made:
            os.makedirs(parent, exist_ok=True)
            self._made.add(parent)
        temporary = f"{parent}/{self._temporary}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(descriptor, view) :]
        finally:
            os.close(descriptor)
        os.replace(temporary, target)
        self.written += 1


def _same(target: str, content: bytes) -> bool:
    """Whether the file has this content already; the size is asked first, for most changed pages differ in it."""
    try:
        if os.stat(target).st_size != len(content):
            return False
        with open(target, "rb") as file:
            return file.read() == content
    except OSError:
        return False


class Claim(NamedTuple):
    """An output folder that this process holds."""

    folder: Path
    foreign: frozenset[str]
    """Files that stood there before sitegen was forced to use the folder: never deleted."""


@contextmanager
def claimed(folder: Path, *, force: bool) -> Iterator[Claim]:
    """Make the output folder ours and hold it against a second build until the end.

    Raises OutputFolderError if the folder holds files and no marker of ours, unless ``force``. A second build of the
    same folder waits for the first.
    """
    marker = folder / MARKER
    if folder.exists() and not folder.is_dir():
        raise OutputFolderError("The output is a file, not a folder.", where=str(folder), fix="Choose another -o.")
    foreign: list[str] = []
    if not marker.exists():
        foreign = sorted(_files(folder))
        if foreign and not force:
            shown = ", ".join(foreign[:5]) + (", ..." if len(foreign) > 5 else "")
            count = "1 file" if len(foreign) == 1 else f"{len(foreign):,} files"
            raise OutputFolderError(
                f"The output folder was not made by sitegen. It holds {count}: {shown}",
                where=str(folder),
                fix="Choose another folder with -o; or --force, which keeps these files unless a page has their name.",
            )
    folder.mkdir(parents=True, exist_ok=True)
    with open(marker, "a+", encoding="utf-8") as handle:
        # Of this process alone: unlike flock, it is not handed to workers, who might outlive us for a moment.
        fcntl.lockf(handle, fcntl.LOCK_EX)
        handle.seek(0)
        text = handle.read()
        if not text:
            text = json.dumps({"schema": "sitegen/site/1", "foreign": foreign}, indent=1) + "\n"
            handle.write(text)
            handle.flush()
        yield Claim(folder, frozenset(json.loads(text)["foreign"]))


def _files(folder: Path) -> Iterator[str]:
    """Every file below a folder, relative; a lone .gitkeep or .gitignore of git is nobody's content.

    Names, not paths: those of a large site would take more memory than all else that is known of its files.
    """
    start = len(os.path.join(folder, ""))
    for parent, _, names in os.walk(folder):
        within = f"{parent}/"[start:]
        yield from (within + name for name in names if within or name not in _PLACEHOLDERS)


def remove(folder: Path, rows: list[PageRow]) -> int:
    """Delete files that the site no longer has, and the folders that this leaves empty. Returns how many files."""
    removed = 0
    parents = set()
    for row in rows:
        target = folder / row.path
        try:
            target.unlink()
            removed += 1
        except FileNotFoundError:
            pass
        parents.add(target.parent)
    for parent in sorted(parents, key=lambda path: len(path.parts), reverse=True):
        while parent != folder and folder in parent.parents:
            try:
                parent.rmdir()
            except OSError:
                break
            parent = parent.parent
    return removed


def sweep(claim: Claim, rows: Iterable[PageRow]) -> int:
    """Delete whatever stands in the folder and is neither a page nor foreign: what a build that died left behind."""
    ours = {row.path for row in rows} | claim.foreign | {MARKER}
    leftovers = [PageRow("", name, "") for name in _files(claim.folder) if name not in ours]
    return remove(claim.folder, leftovers)


def folder_times(folder: Path, known: Iterable[str], files: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """(relative folder, modification time in ns) of the output and of the folders in it, by path.

    The folders are those that were ``known`` before and those of ``files``; the tree itself is not walked, because that
    would cost more than all else of a build that adds one page.
    """
    names = {"", *known}
    for file in files:
        parent = file.rpartition("/")[0]
        while parent not in names:
            names.add(parent)
            parent = parent.rpartition("/")[0]
    times = []
    for name in sorted(names):
        with suppress(FileNotFoundError):
            times.append((name, os.stat(folder / name).st_mtime_ns))
    return tuple(times)


def same_times(folder: Path, times: tuple[tuple[str, int], ...]) -> bool:
    """Whether nothing was added to or removed from these folders since; edits in place are not seen."""
    try:
        return bool(times) and all(os.stat(folder / path).st_mtime_ns == mtime for path, mtime in times)
    except OSError:
        return False
