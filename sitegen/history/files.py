"""A single file at a commit: for the few that are read by name and not by blob id, such as the manifest."""

from __future__ import annotations

import os

from sitegen.history.process import Process
from sitegen.history.repository import Repository


def content_at(repository: Repository, commit: str, path: str) -> bytes | None:
    """The bytes of a file at a commit; None if there is no such file, or it is larger than any file that is read."""
    question = f"{commit}:".encode() + os.fsencode(path)
    with Process(repository.found, ["cat-file", "--batch"], [question + b"\n"]) as answers:
        header = answers.stdout.readline().split()
        if len(header) != 3 or header[1] != b"blob" or int(header[2]) > repository.max_blob_bytes:
            return None
        return answers.stdout.read(int(header[2]))
