"""Contents of blobs from ``git cat-file --batch``: in bulk, or one at a time."""

from __future__ import annotations

import hashlib
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import IO, Final, NamedTuple, Self

from sitegen.history.head import Found
from sitegen.history.process import Process
from sitegen.project_files import open_file

LFS: Final = b"version https://git-lfs.github.com/spec/"
_LARGEST_POINTER: Final = 1_024
_PIECE: Final = 1 << 20
_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")

POINTER: Final = "a Git LFS pointer: git has the file's address, not its contents"
CHANGED: Final = "changed in the work tree while it was read"
MISSING: Final = "missing from this clone (a partial or damaged one)"


class BlobRead(NamedTuple):
    """What git gave for a blob id."""

    oid: str
    content: bytes | None
    reason: str = ""
    """Why there is no content: missing, no file, larger than the limit, a Git LFS pointer."""


def too_large(size: int, limit: int) -> str:
    """The reason for a file over the limit."""
    return f"larger than {limit / 1e6:,.4g} MB ({size / 1e6:,.4g} MB)"


def checked(oid: str, content: bytes) -> BlobRead:
    """A content that was read, unless it only stands for one."""
    if content.startswith(LFS) and len(content) < _LARGEST_POINTER:
        return BlobRead(oid, None, POINTER)
    return BlobRead(oid, content)


def read_blobs(found: Found, oids: Iterable[str], limit: int) -> Iterator[BlobRead]:
    """One answer for each id, in order, as ``Repository.read_blobs`` says."""
    waiting = iter(oids)
    asked: deque[str] = deque()
    more = True
    while more:
        with Process(found, ["cat-file", "--batch", "--buffer"], _questions(asked, waiting)) as cat:
            # Each question stands in `asked` before git sees it, so the answer is to the first one there.
            while answer := _answer(cat.stdout, asked, limit):
                yield answer
            cat.close()
            failure = cat.failure
        if failure is not None:
            raise failure
        # git ended over an object that it could not read, and nothing is lost but that one.
        more = bool(asked)
        if more:
            yield BlobRead(asked.popleft(), None, MISSING)


def read_file(file: Path, oid: str, limit: int) -> BlobRead:
    """The contents of a file of the work tree, if they are still those of the blob id."""
    try:
        with open_file(file) as stream:
            size = os.fstat(stream.fileno()).st_size
            if size > limit:
                return BlobRead(oid, None, too_large(size, limit))
            content = stream.read(limit + 1)
    except OSError as error:
        return BlobRead(oid, None, f"not readable in the work tree ({error.strerror})")
    same = blob_id(BytesIO(content), len(content), len(oid)) == oid
    return checked(oid, content) if same else BlobRead(oid, None, CHANGED)


def blob_id(content: IO[bytes], size: int, digits: int) -> str:
    """The id that git gives to a content of so many bytes, of 40 digits (SHA-1) or 64 (SHA-256); read in pieces."""
    state = hashlib.new("sha1" if digits == 40 else "sha256", b"blob %d\0" % size, usedforsecurity=False)
    while piece := content.read(_PIECE):
        state.update(piece)
    return state.hexdigest()


def _questions(asked: deque[str], waiting: Iterator[str]) -> Iterator[bytes]:
    for oid in tuple(asked):
        yield oid.encode() + b"\n"
    for oid in waiting:
        asked.append(oid)
        # Nothing but an id may reach git: names of objects can be expressions.
        yield (oid if _ID.fullmatch(oid) else "0" * 40).encode() + b"\n"


def _answer(stream: IO[bytes], asked: deque[str], limit: int) -> BlobRead | None:
    """The next answer; None at the end of the stream, or if git ended in the middle of it."""
    header = stream.readline().split()
    if not header:
        return None
    if len(header) < 3:
        return BlobRead(asked.popleft(), None, MISSING)
    kind, size = header[1], int(header[2])
    if kind != b"blob" or size > limit:
        if not _skip(stream, size + 1):
            return None
        reason = too_large(size, limit) if kind == b"blob" else f"no file but a {kind.decode('ascii', 'replace')}"
        return BlobRead(asked.popleft(), None, reason)
    content = stream.read(size)
    if len(content) < size or not stream.read(1):
        return None
    return checked(asked.popleft(), content)


def _skip(stream: IO[bytes], size: int) -> bool:
    while size:
        piece = stream.read(min(size, _PIECE))
        if not piece:
            return False
        size -= len(piece)
    return True


class CatFile:
    """A ``git cat-file --batch`` that is asked one object at a time and stays open. A context manager."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self._process: Process | None = None

    def ask(self, name: bytes) -> IO[bytes]:
        """Where the answer about an object of this name begins, or nothing if git ended; a name has no line ends."""
        process = self._process = self._process or Process(self.found, ["cat-file", "--batch"])
        with suppress(BrokenPipeError):  # git ended: it answers nothing
            process.stdin.write(name + b"\n")
            process.stdin.flush()
        return process.stdout

    def close(self) -> None:
        """End the process; the next read starts another."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class BlobReader(CatFile):
    """Reads one blob at a time."""

    def __init__(self, found: Found, limit: int) -> None:
        super().__init__(found)
        self._limit = limit

    def read(self, oid: str) -> BlobRead:
        """The contents of a blob, or why there are none."""
        if not _ID.fullmatch(oid):
            return BlobRead(oid, None, MISSING)
        answer = _answer(self.ask(oid.encode()), deque([oid]), self._limit)
        if answer is None:
            self.close()
            return BlobRead(oid, None, MISSING)
        return answer
