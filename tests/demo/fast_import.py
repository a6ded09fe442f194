"""A writer of git history: commits of whole trees in, one ``git fast-import`` stream out."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

BRANCH: Final = "main"


class Stream:
    """Collects commits. Every commit is written on one branch, from the parent that it names."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._blobs: dict[bytes, int] = {}
        self._trees: dict[int, dict[str, bytes]] = {}
        self._marks = 0

    def commit(
        self,
        files: Mapping[str, bytes],
        *,
        author: str,
        seconds: int,
        message: str,
        parent: int | None = None,
        merged: int | None = None,
    ) -> int:
        """Write a commit whose tree is exactly these files, by path; the answer is its mark.

        *author* reads ``Name <address>``; *seconds* count from 1970, in UTC.
        """
        before = self._trees.get(parent, {}) if parent is not None else {}
        operations = [b"D %s\n" % path.encode() for path in sorted(before) if path not in files]
        changed = [path for path in sorted(files) if before.get(path) != files[path]]
        operations += [b"M 100644 :%d %s\n" % (self._blob(files[path]), path.encode()) for path in changed]
        text, who = message.encode(), f"{author} {seconds} +0000\n".encode()
        self._marks += 1
        self._parts.append(b"commit refs/heads/%s\nmark :%d\n" % (BRANCH.encode(), self._marks))
        self._parts.append(b"author %scommitter %sdata %d\n%s\n" % (who, who, len(text), text))
        self._parts += [b"from :%d\n" % parent] if parent is not None else []
        self._parts += [b"merge :%d\n" % merged] if merged is not None else []
        self._parts += [*operations, b"\n"]
        self._trees[self._marks] = dict(files)
        return self._marks

    def _blob(self, content: bytes) -> int:
        if content not in self._blobs:
            self._marks += 1
            self._blobs[content] = self._marks
            self._parts.append(b"blob\nmark :%d\ndata %d\n%s\n" % (self._marks, len(content), content))
        return self._blobs[content]

    def write(self, folder: Path) -> str:
        """Make a repository of it with a work tree; the answer is the id of its head commit."""
        _git(folder, "init", "-q", "--object-format=sha1", "--template=", ".")
        _git(folder, "symbolic-ref", "HEAD", f"refs/heads/{BRANCH}")
        _git(folder, "fast-import", "--quiet", "--done", given=b"".join([*self._parts, b"done\n"]))
        _git(folder, "reset", "-q", "--hard")
        return _git(folder, "rev-parse", "HEAD").decode().strip()


def _git(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    """Run git as if nobody had ever configured it: neither settings nor ``GIT_*`` variables reach it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, input=given, capture_output=True, check=True
    )
    return done.stdout
