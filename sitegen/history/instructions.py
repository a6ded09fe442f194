"""Instruction files through history: which commit edited which file, under which name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from sitegen.history.renames import file_renames
from sitegen.model.commits import Change, Commit
from sitegen.model.timeline import Blob, Edit, EditStatus, InstructionHistory

_HASH: Final = re.compile(r"(?:(?:sha256|sha1|md5)[:-])?([0-9a-f]{7,64})")


class Instructions:
    """The histories that new commits touch; the others stay where they are."""

    def __init__(
        self,
        load: Callable[[str], InstructionHistory | None],
        load_all: Callable[[], Iterable[InstructionHistory]],
        read: Callable[[str], bytes | None],
    ) -> None:
        """*load* gives what is known of a path, *load_all* of every path.

        *read* gives a blob's content; it is asked only where a rename is in doubt, and where an output records hashes.
        """
        self._load = load
        self._load_all = load_all
        self._read = read
        self._known: dict[str, InstructionHistory | None] | None = None
        self._digests: dict[str, tuple[str, ...]] = {}
        self.touched: dict[str, InstructionHistory | None] = {}
        """By path; None where the history went on under another name."""

    def fold(self, commit: Commit, changes: Sequence[Change]) -> tuple[str, ...]:
        """Fold one commit's changes of instruction files; the paths of its edits."""
        renames = file_renames(changes, self._read)
        left = {change.path for change in renames.values()}
        edits = [_edit(commit, change, renames.get(change.path)) for change in changes if change.path not in left]
        for edit in edits:
            names = dict.fromkeys(blob.path for blob in (edit.old, edit.new) if blob is not None)
            earlier = [history for name in names if (history := self._history(name)) is not None]
            known = [each for history in earlier for each in history.edits]
            if len(earlier) > 1:
                known.sort(key=lambda each: each.commit.position)
            self.touched[edit.path] = InstructionHistory(edit.path, (*known, edit), edit.status == "deleted")
        self.touched |= dict.fromkeys(left)
        return tuple(sorted(edit.path for edit in edits))

    def with_hashes(self, hashes: Sequence[tuple[str, str]]) -> Commit | None:
        """The commit that left instruction files with these hashes, the newest of several; None if any fits no edit.

        A hash is the id of the blob, or SHA-256, SHA-1 or MD5 of the file's bytes, in full or from 7 digits on.
        *hashes* are (path, hash); an empty path stands for any file.
        """
        if not hashes:
            return None
        if self._known is None:
            self._known = {history.path: history for history in self._load_all()}
        histories = [history for history in {**self._known, **self.touched}.values() if history is not None]
        newest: list[Commit] = []
        for path, written in hashes:
            digest = _HASH.fullmatch(written)
            fitting = [
                edit.commit
                for history in histories
                for edit in history.edits
                if digest and edit.new and path in ("", edit.path, history.path) and self._fits(edit.new, digest[1])
            ]
            if not fitting:
                return None
            newest.append(max(fitting, key=lambda commit: commit.position))
        return max(newest, key=lambda commit: commit.position)

    def _fits(self, blob: Blob, digest: str) -> bool:
        if blob.oid.startswith(digest):
            return True
        if blob.oid not in self._digests:
            content = self._read(blob.oid)
            made = (hashlib.sha256, hashlib.sha1, hashlib.md5)
            self._digests[blob.oid] = (
                () if content is None else tuple(each(content, usedforsecurity=False).hexdigest() for each in made)
            )
        return any(each.startswith(digest) for each in self._digests[blob.oid])

    def _history(self, path: str) -> InstructionHistory | None:
        if path not in self.touched:
            self.touched[path] = self._load(path)
        return self.touched[path]


def _edit(commit: Commit, change: Change, source: Change | None) -> Edit:
    """The edit that a change is; *source* is the deletion behind it if it is a rename."""
    old = Blob(change.path, change.old) if change.old else None
    new = Blob(change.path, change.new) if change.new else None
    if source is not None and source.old is not None:
        return Edit(commit, change.path, "renamed", Blob(source.path, source.old), new)
    status: EditStatus = "deleted" if new is None else "added" if old is None else "modified"
    return Edit(commit, change.path, status, old, new)
