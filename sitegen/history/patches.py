"""Patches of many edits from one ``git diff-tree --stdin -p``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import IO, Final

from sitegen.errors import MissingObjectsError, RepositoryError
from sitegen.history.process import Process
from sitegen.history.repository_place import RepositoryPlace
from sitegen.history.revisions import commit_lines
from sitegen.model.timeline import Edit

LARGEST: Final = 4_000_000
"""Bytes of one patch that are kept; what follows is cut off."""

_LONGEST_COMMAND: Final = 60_000
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
_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\n")
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")


def read_patches(repository: RepositoryPlace, edits: Sequence[Edit]) -> Iterator[bytes]:
    """One patch for each edit, in order, as ``Repository.patches`` says."""
    groups = [(sha, tuple(group)) for sha, group in groupby(edits, key=lambda edit: edit.commit.sha)]
    paths = sorted({path for edit in edits for path in _edit_paths(edit)})
    short = sum(len(path) for path in paths) < _LONGEST_COMMAND
    # Asked for a commit twice, rev-list answers once; diff-tree answers each time.
    asked = sorted({sha for sha, _ in groups})
    listing = commit_lines(repository, ["--no-walk=unsorted", "--stdin"], (sha.encode() + b"\n" for sha in asked))
    lines_of = dict(zip(asked, listing, strict=True)) if asked else {}
    commits = (lines_of[sha] for sha, _ in groups)
    command = ["diff-tree", "--stdin", "-r", "--root", "--no-renames", "--always", "--format=%H", *_FORM]
    with Process(repository, [*command, *(["--", *paths] if short else [])], commits) as trees:
        lines = _PatchLines(trees.stdout)
        for sha, group in groups:
            asked_for = {_blob_ids(edit) for edit in group}
            patches = _patches_of_commit(lines, sha, asked_for)
            for edit in group:
                if edit.status == "renamed":
                    yield _patch_of_rename(repository, edit)
                else:
                    yield patches.get(_blob_ids(edit), b"")
        try:
            trees.finish()
        except RepositoryError as error:
            raise MissingObjectsError from error


class _PatchLines:
    """Lines of a stream with one line of foresight."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.next = self._read()

    def take(self) -> bytes:
        line, self.next = self.next, self._read()
        return line

    def _read(self) -> bytes:
        line = self._stream.readline(LARGEST)
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = self._stream.readline(LARGEST)
        return line


def _patches_of_commit(
    lines: _PatchLines, sha: str, wanted: set[tuple[bytes, bytes]]
) -> dict[tuple[bytes, bytes], bytes]:
    """The wanted patches of one commit by the blob ids that git writes above each.

    Whatever stands in a file, its lines have a sign before them here, so a line that starts otherwise is git's own.
    Two patches between the same blobs are the same, and edits that change nothing but line ends have none: by ids
    nothing can slip.
    """
    if not lines.next:
        raise MissingObjectsError  # git ended at a content that it does not have
    if not lines.next.startswith(sha.encode()):
        raise AssertionError("git answered to another commit than was asked for")
    lines.take()
    patches: dict[tuple[bytes, bytes], bytes] = {}
    while lines.next and not _COMMIT.fullmatch(lines.next):
        if lines.next == b"\n":
            lines.take()
            continue
        section, pair = _file_patch(lines)
        if pair in wanted:
            patches[pair] = section
    return patches


def _file_patch(lines: _PatchLines) -> tuple[bytes, tuple[bytes, bytes]]:
    """One file's patch from ``diff --git`` on, cut to ``LARGEST``, and its pair of ids (zeros: no file)."""
    section = bytearray(lines.take())
    pair = (b"", b"")
    in_header = True
    while lines.next and not lines.next.startswith(b"diff --git ") and not _COMMIT.fullmatch(lines.next):
        line = lines.take()
        if in_header and (match := _INDEX.match(line)):
            pair = (match[1].strip(b"0") and match[1], match[2].strip(b"0") and match[2])
        in_header = in_header and not line.startswith(b"@@")
        if len(section) < LARGEST:
            section += line
    return bytes(section[:LARGEST]), pair


def _blob_ids(edit: Edit) -> tuple[bytes, bytes]:
    return (edit.old.oid.encode() if edit.old else b"", edit.new.oid.encode() if edit.new else b"")


def _edit_paths(edit: Edit) -> tuple[str, ...]:
    return tuple(blob.path for blob in (edit.old, edit.new) if blob is not None)


def _patch_of_rename(repository: RepositoryPlace, edit: Edit) -> bytes:
    """The patch between the two contents of a renamed file: rare enough for a process of its own."""
    if edit.old is None or edit.new is None or edit.old.oid == edit.new.oid:
        return b""
    with Process(repository, ["diff", *_FORM, edit.old.oid, edit.new.oid], ()) as diff:
        patch = diff.stdout.read(LARGEST)
        while diff.stdout.read(1 << 20):
            pass
        diff.finish()
    return patch


def plain_patch(old: bytes, new: bytes) -> bytes:
    """The patch between two contents that git does not have both of, without a header of git's."""
    before, after = (_with_ends(content) for content in (old, new))
    return b"".join(difflib.diff_bytes(difflib.unified_diff, before, after, b"a", b"b"))


def _with_ends(content: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in content.split(b"\n")]
    last = lines.pop()
    return lines if last == b"\n" else [*lines, last + b"\\ No newline at end of file\n"]
