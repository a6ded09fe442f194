"""Files at a commit: for the few that are read by name and not by blob id, such as the manifest."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Self

from sitegen.history.head import Found
from sitegen.history.process import Process
from sitegen.history.repository import LARGEST_BLOB, Repository


class FilesAt:
    """Reads files of one commit, by name, from one process that stays open. A context manager."""

    def __init__(self, found: Found, commit: str) -> None:
        self.found = found
        self._commit = commit
        self._process: Process | None = None

    def read(self, path: str, largest: int = LARGEST_BLOB) -> bytes | None:
        """The bytes of a file; None if there is none, or it is larger than so many bytes."""
        process = self._process = self._process or Process(self.found, ["cat-file", "--batch"])
        with suppress(BrokenPipeError):  # git ended: it answers nothing
            process.stdin.write(f"{self._commit}:".encode() + os.fsencode(path) + b"\n")
            process.stdin.flush()
        header = process.stdout.readline().split()
        if len(header) != 3 or header[1] != b"blob":
            if header[-1:] != [b"missing"]:  # a folder: what it holds comes next
                self.close()
            return None
        size = int(header[2])
        if size > largest:
            self.close()
            return None
        content = process.stdout.read(size + 1)
        return content[:size]

    def close(self) -> None:
        """End the process; the next read starts another."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def content_at(repository: Repository, commit: str, path: str) -> bytes | None:
    """The bytes of a single file at a commit, as ``FilesAt`` reads it."""
    with FilesAt(repository.found, commit) as files:
        return files.read(path, repository.max_blob_bytes)
