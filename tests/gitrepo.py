"""Repositories for tests: made by ``git fast-import`` with fixed dates, so that the same commits have the same ids."""

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

START = 1_700_000_000
DAY = 86_400
LFS_POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'7' * 64}\nsize 12345\n"
"""The content of a file that is in Git LFS."""


class Link(NamedTuple):
    """A symbolic link."""

    target: str


class Submodule(NamedTuple):
    """A submodule at a commit."""

    sha: str


class Executable(NamedTuple):
    """A file with the executable bit."""

    content: bytes


Content = str | bytes | Link | Submodule | Executable | None


class GitRepo:
    """A repository on disk. Each commit follows the one before it on its branch."""

    def __init__(self, path: Path, *, object_format: str = "sha1", bare: bool = False) -> None:
        self.path = path
        self._when = START
        path.mkdir(parents=True, exist_ok=True)
        is_new = not any(path.iterdir())
        flags = ["--bare"] if bare else []
        self.git("init", "-q", "-b", "main", "--template=", f"--object-format={object_format}", *flags)
        self._branch: str | None = None if is_new else ""  # that the last command committed to; None: there is none

    def git(self, *arguments: str, stdin: bytes | None = None, check: bool = True) -> str:
        """What git prints."""
        self._branch = ""
        done = subprocess.run(
            ["git", *arguments], cwd=self.path, env=_environment(), input=stdin, capture_output=True, check=False
        )
        if check and done.returncode:
            raise AssertionError(f"git {arguments[0]}: {done.stderr.decode(errors='replace')}")
        return os.fsdecode(done.stdout).strip()

    def commit(
        self,
        files: Mapping[str, Content] | None = None,
        *,
        message: str | bytes = "Change",
        branch: str = "main",
        parent: str | None = None,
        merge: str | None = None,
        author: str | bytes = "Ann",
        when: int | None = None,
        zone: str = "+0000",
        encoding: str | None = None,
    ) -> str:
        """Add a commit that sets (or with None deletes) these files; its id. It follows the branch or ``parent``."""
        self._when = self._when + DAY if when is None else when
        ref = f"refs/heads/{branch}"
        begun = self._branch is not None
        if begun and (branch == self._branch or self.git("rev-parse", "--verify", "-q", ref, check=False)):
            parent = parent or f"{ref}^0"
        stream = [b"commit %s\nmark :1\n" % ref.encode()]
        person = b"%s <someone@example.org> %d %s\n" % (_bytes(author), self._when, zone.encode())
        stream += [b"author " + person, b"committer " + person]
        if encoding:
            stream.append(b"encoding %s\n" % encoding.encode())
        stream.append(_data(_bytes(message)))
        if parent:
            stream.append(b"from %s\n" % parent.encode())
        if merge:
            stream.append(b"merge %s\n" % merge.encode())
        stream += [_operation(path, content) for path, content in (files or {}).items()]
        stream.append(b"\nget-mark :1\n")
        commit = self.git("fast-import", "--quiet", "--force", "--date-format=raw-permissive", stdin=b"".join(stream))
        self._branch = branch
        return commit

    def commits(self, changes: Iterable[Mapping[str, Content]]) -> list[str]:
        """Many commits at once; their ids, oldest first."""
        before = "" if self._branch is None else self.git("rev-parse", "--verify", "-q", "refs/heads/main", check=False)
        stream = []
        for files in changes:
            self._when += DAY
            person = b"Ann <someone@example.org> %d +0000\n" % self._when
            stream += [b"commit refs/heads/main\nmark :1\nauthor ", person, b"committer ", person, _data(b"Change")]
            if before:
                stream.append(b"from %s\n" % before.encode())
            before = ""
            stream += [_operation(path, content) for path, content in files.items()]
            stream.append(b"\nget-mark :1\n")
        made = self.git("fast-import", "--quiet", "--force", stdin=b"".join(stream))
        self._branch = "main"
        return made.split()

    def checkout(self) -> None:
        """Bring the work tree and the index to HEAD."""
        self.git("reset", "-q", "--hard")

    def check_in(self, files: Mapping[str, Content], message: str = "Change") -> str:
        """Add a commit and bring the work tree to it; its id."""
        made = self.commit(files, message=message)
        self.checkout()
        return made

    def put(self, path: str, text: str) -> None:
        """Write a file as one change, after the folders above it."""
        (self.path / path).parent.mkdir(parents=True, exist_ok=True)
        new = self.path.parent / "new"
        new.write_text(text)
        new.replace(self.path / path)

    def oid(self, rev: str, path: str) -> str:
        """The blob id of a file at a revision."""
        return self.git("rev-parse", f"{rev}:{path}")


def put(file: Path, text: str) -> None:
    """Write a file, and the folders above it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    unsynced = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsync", "GIT_CONFIG_VALUE_0": "none"}
    return kept | unsynced | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}


def _operation(path: str, content: Content) -> bytes:
    name = _quoted(os.fsencode(path))
    if content is None:
        return b"D %s\n" % name
    if isinstance(content, Submodule):
        return b"M 160000 %s %s\n" % (content.sha.encode(), name)
    if isinstance(content, Link):
        return b"M 120000 inline %s\n%s" % (name, _data(content.target.encode()))
    if isinstance(content, Executable):
        return b"M 100755 inline %s\n%s" % (name, _data(content.content))
    return b"M 100644 inline %s\n%s" % (name, _data(_bytes(content)))


def _quoted(path: bytes) -> bytes:
    return b'"%s"' % b"".join(
        b"\\%03o" % byte if byte < 48 or byte > 122 or byte in b'\\"' else b"%c" % byte for byte in path
    )


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text
