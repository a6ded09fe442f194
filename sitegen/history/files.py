"""Files at a commit: for the few that are read by name and not by blob id, such as the manifest."""

from __future__ import annotations

import os

from sitegen.history.blobs import CatFile
from sitegen.history.head import Found
from sitegen.history.repository import LARGEST_BLOB, Repository


class FilesAt(CatFile):
    """Reads files of one commit, by name."""

    def __init__(self, found: Found, commit: str) -> None:
        super().__init__(found)
        self._commit = commit

    def read(self, path: str, largest: int = LARGEST_BLOB) -> bytes | None:
        """The bytes of a file; None if there is none, or it is larger than so many bytes."""
        if "\n" in path:  # git would take it for two names
            return None
        stream = self.ask(f"{self._commit}:".encode() + os.fsencode(path))
        header = stream.readline().split()
        if len(header) != 3 or header[1] != b"blob":
            if header[-1:] != [b"missing"]:  # a folder: what it holds comes next
                self.close()
            return None
        size = int(header[2])
        if size > largest:
            self.close()
            return None
        content = stream.read(size + 1)
        return content[:size]


def content_at(repository: Repository, commit: str, path: str) -> bytes | None:
    """The bytes of a single file at a commit, as ``FilesAt`` reads it."""
    with FilesAt(repository.found, commit) as files:
        return files.read(path, repository.max_blob_bytes)
