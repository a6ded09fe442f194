"""Reads the patches of edits from one running ``git diff-tree --stdin -p``, which may serve many callers in turn.

Git repeats a line that names no commit, and flushes its output before it waits for the next line. Such a line after
each commit therefore marks the end of the answer, so that the process can continue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import IO, Final

from sitegen.errors import MissingObjectsError
from sitegen.history.process import Process, shared_processes
from sitegen.history.repository_place import RepositoryPlace
from sitegen.model.timeline import Edit

LARGEST: Final = 4_000_000
"""The greatest length of a patch in bytes; longer patches are truncated."""

KEPT: Final = 10_000_000
"""The most bytes of patches that a thread keeps while it shares its processes: about 3,000 edits of one file."""
_LONGEST_COMMAND: Final = 60_000
_AHEAD: Final = 16
"""Number of commits requested from git before the first answer is read. They fit the smallest buffer of a pipe, so that
the processes cannot wait for each other for ever."""
_END: Final = b"end\n"
_FORM: Final = (
    "-p",
    "--histogram",
    "--ignore-cr-at-eol",
    "-U3",
    "--inter-hunk-context=0",
    "--indent-heuristic",
    "--full-index",
    "--text",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
_COMMAND: Final = (
    *("diff-tree", "--stdin", "-r", "--root", "--no-renames", "--diff-merges=first-parent", "--always", "--format=%H"),
    *_FORM,
)
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")


class _KeptPatches:
    """The newest patches that were read once, by commit and path: all edits of a file are counted, then drawn."""

    def __init__(self) -> None:
        self._patches: dict[tuple[str, str], bytes] = {}
        self._room = KEPT

    def add(self, edit: Edit, patch: bytes) -> None:
        """Keep a patch, and forget the oldest ones for which there is no room."""
        self.take(edit)
        self._room -= len(patch)
        self._patches[edit.commit.sha, edit.path] = patch
        while self._room < 0:
            self._room += len(self._patches.pop(next(iter(self._patches))))

    def take(self, edit: Edit) -> bytes | None:
        """Return the patch of an edit and forget it; None if there is none."""
        patch = self._patches.pop((edit.commit.sha, edit.path), None)
        self._room += len(patch or b"")
        return patch

    def close(self) -> None:
        """Forget the patches."""
        self._patches.clear()


def read_patches(repository: RepositoryPlace, edits: Sequence[Edit], folders: tuple[str, ...]) -> Iterator[bytes]:
    """Yield a patch for each edit, in order, as ``Repository.patches`` describes."""
    shared = shared_processes()
    cache = _KeptPatches() if shared is None else shared.setdefault(("patches", repository), _KeptPatches())
    assert isinstance(cache, _KeptPatches)
    cached = [cache.take(edit) for edit in edits]
    asked = [edit for edit, patch in zip(edits, cached, strict=True) if patch is None]
    answers = _patches_from_git(repository, asked, folders)
    for edit, patch in zip(edits, cached, strict=True):
        if patch is None:
            patch = next(answers)
            cache.add(edit, patch)
        yield patch
    next(answers, None)  # reading to the end returns the process, so that it can be shared again


def _patches_from_git(repository: RepositoryPlace, edits: Sequence[Edit], folders: tuple[str, ...]) -> Iterator[bytes]:
    """Yield what git answers for each edit."""
    groups = [(sha, tuple(group)) for sha, group in groupby(edits, key=lambda edit: edit.commit.sha)]
    if not groups:
        return
    with _diff_tree(repository, edits, folders) as process:
        shas = [sha for sha, _ in groups]
        half = _AHEAD // 2
        _send_commits(process, shas[:half])
        for index, (sha, group) in enumerate(groups):
            if index % half == 0:  # several at once: to wake git takes as long as to read its answer
                _send_commits(process, shas[index + half : index + _AHEAD])
            patches = _patches_of_commit(process.stdout, sha, {_blob_ids(edit) for edit in group})
            for edit in group:
                if edit.status == "renamed":
                    yield _patch_of_rename(repository, edit)
                else:
                    yield patches.get(_blob_ids(edit), b"")


@contextmanager
def _diff_tree(repository: RepositoryPlace, edits: Sequence[Edit], folders: tuple[str, ...]) -> Iterator[Process]:
    """Yield the process that this thread shares for the folders, or a new one for the files of these edits alone.

    A shared process is reused only if all of its answers were read; a caller that stops early ends it.
    """
    shared = shared_processes() if folders else None
    key = ("diff-tree", repository, folders)
    process = shared.pop(key, None) if shared is not None else None
    if process is None:
        paths = folders or sorted({blob.path for edit in edits for blob in (edit.old, edit.new) if blob is not None})
        short = sum(map(len, paths)) < _LONGEST_COMMAND
        process = Process(repository, [*_COMMAND, *(["--", *paths] if short else [])])
    assert isinstance(process, Process)
    try:
        yield process
        if shared is not None:
            shared[key] = process
    finally:
        if shared is None or key not in shared:
            process.close()


def _send_commits(process: Process, shas: Sequence[str]) -> None:
    with suppress(BrokenPipeError):  # git has ended; the reader of its answer reports that
        process.stdin.write(b"".join([f"{sha}\n".encode() + _END for sha in shas]))
        process.stdin.flush()


def _patches_of_commit(
    stream: IO[bytes], sha: str, blob_ids: set[tuple[bytes, bytes]]
) -> dict[tuple[bytes, bytes], bytes]:
    """Return a commit's patches between these blobs, by the ids that git writes above each, truncated to ``LARGEST``.

    Every line of a file has a sign before it, so all other lines are git's own. Identifying patches by ids is safe:
    patches between the same blobs are equal, and edits that change only line ends have no patch.

    Raises MissingObjectsError if git ended, or does not have the commit.
    """
    if stream.readline() != f"{sha}\n".encode():
        raise MissingObjectsError
    patches: dict[tuple[bytes, bytes], bytearray] = {}
    patch = bytearray()
    while (line := stream.readline(LARGEST)) != _END:
        if not line.endswith(b"\n"):
            _skip_line(stream)
        if not line:
            raise MissingObjectsError  # git ended because it lacks a content
        if line.startswith(b"diff --git "):
            patch = bytearray()
        elif line.startswith(b"index ") and (match := _INDEX.match(line)):
            ids = (match[1].strip(b"0") and match[1], match[2].strip(b"0") and match[2])  # zeros: no file
            if ids in blob_ids:
                patches[ids] = patch
        if len(patch) < LARGEST:
            patch += line
    return {ids: bytes(patch[:LARGEST]) for ids, patch in patches.items()}


def _skip_line(stream: IO[bytes]) -> None:
    """Read the rest of a line that was truncated to ``LARGEST``."""
    while (rest := stream.readline(LARGEST)) and not rest.endswith(b"\n"):
        pass


def _blob_ids(edit: Edit) -> tuple[bytes, bytes]:
    return (edit.old.oid.encode() if edit.old else b"", edit.new.oid.encode() if edit.new else b"")


def _patch_of_rename(repository: RepositoryPlace, edit: Edit) -> bytes:
    """Return the patch between the two contents of a renamed file, which is rare enough for a process of its own."""
    if edit.old is None or edit.new is None or edit.old.oid == edit.new.oid:
        return b""
    with Process(repository, ["diff", *_FORM, edit.old.oid, edit.new.oid], ()) as diff:
        patch = diff.stdout.read(LARGEST)
        while diff.stdout.read(1 << 20):
            pass
        diff.finish()
    return patch


def plain_patch(old: bytes, new: bytes) -> bytes:
    """Return the patch between two contents, of which git may lack one, without git's header."""
    import difflib

    before, after = (_with_ends(content) for content in (old, new))
    return b"".join(difflib.diff_bytes(difflib.unified_diff, before, after, b"a", b"b"))


def _with_ends(content: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in content.split(b"\n")]
    last = lines.pop()
    return lines if last == b"\n" else [*lines, last + b"\\ No newline at end of file\n"]
