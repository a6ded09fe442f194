"""Reads the patches of edits from one running ``git diff-tree --stdin -p``, which may serve many callers in turn.

Git repeats a line that names no commit, and flushes its output before it waits for the next line. Such a line after
each commit therefore marks the end of the answer, so that the process can continue.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import IO, Final, TypeAlias

from sitegen.data_files.project_files import LFS
from sitegen.errors import POINTER, MissingObjectsError
from sitegen.history.process import Process, shared_processes
from sitegen.history.repository import NOTHING, Repository, cat_file
from sitegen.history.repository_place import RepositoryPlace
from sitegen.model.commits import WORKTREE
from sitegen.model.timeline import Edit

PATCH_BYTES: Final = 4_000_000
"""The greatest length of a patch in bytes; longer patches are truncated."""

KEPT: Final = 20_000_000
"""The most bytes of patches that a thread keeps while it shares its processes."""
_OTHERS: Final = 10_000_000
"""The most bytes of patches that one call keeps before they are asked for. The rest holds 3,000 edits of a file."""
_LONGEST_COMMAND: Final = 60_000  # characters of paths
_AHEAD: Final = 16
"""Number of commits requested from git before the first answer is read. They fit the smallest buffer of a pipe, so that
the processes cannot wait for each other for ever."""
_END: Final = b"end\n"
_FORM: Final = (
    *("-p", "--histogram", "--ignore-cr-at-eol", "-U3", "--inter-hunk-context=0", "--indent-heuristic"),
    *("--full-index", "--text", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"),
)
_COMMAND: Final = (
    *("diff-tree", "--stdin", "-r", "--root", "--no-renames", "--diff-merges=first-parent", "--always", "--format=%H"),
    *_FORM,
)
_OF_POINTER: Final = re.compile(rb"(?m)^[-+ ]" + re.escape(LFS))
"""Matches a patch of a pointer, or of a text that quotes one."""
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")


_OF_TEXTS: Final = ("renamed", "combined")
"""The kinds of edits whose patches no commit has: git compares their two texts."""

_BlobIds: TypeAlias = tuple[bytes, bytes]
"""The ids of the contents before and after an edit. Patches between the same contents are equal."""


class _KeptPatches:
    """The newest patches that were read, by commit.

    All edits of a file are counted, then drawn, and the files of a commit are counted one after the other, although git
    writes all patches of a commit in one answer.
    """

    def __init__(self) -> None:
        self._patches: dict[tuple[str, _BlobIds], bytes] = {}
        self._whole: set[str] = set()
        """Commits with no patch besides those that are kept."""
        self._room = KEPT

    def add(self, sha: str, patches: Mapping[_BlobIds, bytes], *, whole: bool = False) -> None:
        """Keep patches of a commit, and forget the oldest ones for which there is no room."""
        if whole:
            self._whole.add(sha)
        for ids, patch in patches.items():
            self._room += len(self._patches.pop((sha, ids), b"")) - len(patch)
            self._patches[sha, ids] = patch
        while self._room < 0:
            oldest = next(iter(self._patches))
            self._room += len(self._patches.pop(oldest))
            self._whole.discard(oldest[0])

    def get(self, edit: Edit) -> bytes | None:
        """Return the patch of an edit; None if it is not known."""
        empty = b"" if edit.commit.sha in self._whole and edit.status not in _OF_TEXTS else None
        return self._patches.get((edit.commit.sha, _blob_ids(edit)), empty)

    def close(self) -> None:
        """Forget the patches."""
        self._patches.clear()
        self._whole.clear()


def read_patches(
    repository: Repository, edits: Sequence[Edit], folders: tuple[str, ...] = (), since: str = ""
) -> Iterator[bytes]:
    """Yield the patch of each edit, in order, from one process; empty if only line ends changed.

    Patches are histogram diffs with three lines of context that ignore carriage returns at line ends; for a renamed
    file, the difference between its two contents. They are truncated to 4 MB. ``folders``: with every file that
    is requested within ``share_processes``: callers that name the same folders share a process.
    ``since``: id of the commit with the first texts of all combined edits, so that one process compares them all.
    Raises MissingObjectsError for a content that a partial clone lacks, or in Git LFS that was not fetched.
    """
    committed = [edit for edit in edits if edit.commit.sha != WORKTREE]
    with cat_file(repository.place) as objects:  # git would end, after 0.1 s
        if objects.lacks(blob.oid for edit in committed for blob in (edit.old, edit.new) if blob):
            raise MissingObjectsError(committed[0].path, committed[0].commit.sha)
    answers = _committed_patches(repository.place, committed, folders, since)
    for edit in edits:
        patch = next(answers) if edit.commit.sha != WORKTREE else b""
        # Few texts quote a pointer, and to look at the beginning of each line takes long.
        if edit.commit.sha == WORKTREE or (LFS in patch and _OF_POINTER.search(patch)):
            # Git does not know the edit, or knows the addresses of its contents in Git LFS.
            sides = [repository.read_blob(blob.oid) if blob else NOTHING for blob in (edit.old, edit.new)]
            if any(side.reason == POINTER for side in sides):
                raise MissingObjectsError(edit.path, edit.commit.sha, in_lfs=True)
            before, after = (side.content or b"" for side in sides)
            patch = plain_patch(before, after)
        yield patch
    next(answers, None)  # reading to the end returns the process, so that it can be shared again


def _committed_patches(
    repository: RepositoryPlace, edits: Sequence[Edit], folders: tuple[str, ...], since: str
) -> Iterator[bytes]:
    shared = shared_processes()
    kept = _KeptPatches() if shared is None else shared.setdefault(("patches", repository, folders), _KeptPatches())
    assert isinstance(kept, _KeptPatches)
    known = [kept.get(edit) for edit in edits]
    asked = [edit for edit, patch in zip(edits, known, strict=True) if patch is None and edit.status not in _OF_TEXTS]
    answers = _patches_from_git(repository, asked, folders, kept)
    combined = [edit for edit in edits if edit.status == "combined"]
    between: Mapping[_BlobIds, bytes] = {}
    if combined and since:  # a commit before all of them
        last = max((edit.commit for edit in combined), key=lambda commit: commit.position).sha
        with _diff_tree(repository, combined, ()) as process:
            _send_commits(process, [f"{last} {since}"])  # git takes the second for the parent of the first
            between = _patches_of_commit(process.stdout, last, set(map(_blob_ids, combined)), 0)[0]
    for edit, patch in zip(edits, known, strict=True):
        patch = between.get(_blob_ids(edit), patch)
        if patch is None:
            patch = _patch_of_texts(repository, edit) if edit.status in _OF_TEXTS else next(answers)
        yield patch
    next(answers, None)  # reading to the end returns the process, so that it can be shared again


def _patches_from_git(
    repository: RepositoryPlace, edits: Sequence[Edit], folders: tuple[str, ...], kept: _KeptPatches
) -> Iterator[bytes]:
    groups = [(sha, tuple(group)) for sha, group in groupby(edits, key=lambda edit: edit.commit.sha)]
    if not groups:
        return
    with _diff_tree(repository, edits, folders) as process:
        shas, half = [sha for sha, _ in groups], _AHEAD // 2
        _send_commits(process, shas[:half])
        for index, (sha, group) in enumerate(groups):
            if index % half == 0:  # several at once: to wake git takes as long as to read its answer
                _send_commits(process, shas[index + half : index + _AHEAD])
            room = _OTHERS // len(groups) if folders else 0  # without folders, git was asked for these files alone
            patches, whole = _patches_of_commit(process.stdout, sha, {_blob_ids(edit) for edit in group}, room)
            kept.add(sha, patches, whole=whole and bool(folders))
            for edit in group:
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
    stream: IO[bytes], sha: str, asked: set[_BlobIds], room: int
) -> tuple[dict[_BlobIds, bytes], bool]:
    """Return patches of a commit, each truncated to ``PATCH_BYTES``, and whether the commit has no others.

    These are all that are ``asked`` for, except those of edits that change only line ends, which have none. They are
    joined by some ``room`` bytes of others, where possible of those that git writes after the first that is asked for,
    since files have their turn in the order of their names. Patches are known by the ids that git writes above each:
    every line of a file has a sign before it, so all other lines are git's own.

    Raises MissingObjectsError if git ended, or does not have the commit.
    """
    if stream.readline() != f"{sha}\n".encode():
        raise MissingObjectsError
    patches: dict[_BlobIds, bytearray] = {}
    others: dict[_BlobIds, bytearray] = {}
    patch = bytearray()
    whole, left = True, room
    while (line := stream.readline(PATCH_BYTES)) != _END:
        if not line.endswith(b"\n"):
            while (rest := stream.readline(PATCH_BYTES)) and not rest.endswith(b"\n"):
                pass  # the rest of a line that is longer than what is read
        if not line:
            raise MissingObjectsError  # git ended because it lacks a content
        if line.startswith(b"diff --git "):
            patch = bytearray()
        elif line.startswith(b"index ") and (match := _INDEX.match(line)):
            ids = (match[1].strip(b"0") and match[1], match[2].strip(b"0") and match[2])  # zeros: no file
            if left <= 0 and not patches:
                whole, others, left = False, {}, room
            if ids in asked:
                patches[ids] = patch
            elif left > 0:
                others[ids] = patch
            else:
                whole = False
        if len(patch) < PATCH_BYTES:
            patch += line
            left -= len(line)
    return {ids: bytes(patch[:PATCH_BYTES]) for ids, patch in (others | patches).items()}, whole


def _blob_ids(edit: Edit) -> _BlobIds:
    return (edit.old.oid.encode() if edit.old else b"", edit.new.oid.encode() if edit.new else b"")


def _patch_of_texts(repository: RepositoryPlace, edit: Edit) -> bytes:
    """Return the patch between the two texts of an edit, which is asked for so seldom that a process does it alone."""
    if edit.old is None or edit.new is None or edit.old.oid == edit.new.oid:
        return b""
    with Process(repository, ["diff", *_FORM, edit.old.oid, edit.new.oid]) as diff:
        patch = diff.stdout.read(PATCH_BYTES)
        while diff.stdout.read(1 << 20):
            pass
        diff.finish()
    return patch


def plain_patch(old: bytes, new: bytes) -> bytes:
    """Return the patch between two contents, of which git may lack one, without git's header."""
    import difflib

    before, after = ([line + b"\n" for line in content.split(b"\n")] for content in (old, new))
    for lines in (before, after):
        last = lines.pop()
        lines += [last + b"\\ No newline at end of file\n"] * (last != b"\n")
    return b"".join(difflib.diff_bytes(difflib.unified_diff, before, after, b"a", b"b"))
