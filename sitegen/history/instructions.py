"""Instruction files through history: which commit edited which file, under which name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from posixpath import splitext
from typing import Final

from sitegen.history.renames import file_renames
from sitegen.model.commits import ChangedPath, Commit
from sitegen.model.recorded import Recorded
from sitegen.model.timeline import Blob, Edit, EditStatus, InstructionHistory
from sitegen.text.sections import VERSION_LINES, split_lines, stated_version

_LONGEST_HEAD: Final = 20_000
"""Bytes of a file in which its version is looked for."""
_VERSION_IN_NAME: Final = re.compile(r"(?:^|[-_./ ])v([0-9]+(?:[.-][0-9]+)*)$", re.IGNORECASE)
_HASH: Final = re.compile(r"(?:(?:sha256|sha1|md5)[:-])?([0-9a-f]{7,64})")


class InstructionHistories:
    """The histories that new commits touch; the others stay where they are."""

    def __init__(
        self,
        load: Callable[[str], InstructionHistory | None],
        load_all: Callable[[], Iterable[InstructionHistory]],
        read: Callable[[str], bytes | None],
    ) -> None:
        """*load* gives what is known of a path, *load_all* of every path.

        *read* gives a blob's content; it is asked only where a rename is in doubt, or an output records hashes or
        versions.
        """
        self._load = load
        self._load_all = load_all
        self._read = read
        self._known: dict[str, InstructionHistory | None] | None = None
        self._digests: dict[str, tuple[str, ...]] = {}
        self._versions: dict[str, str] = {}
        self.touched: dict[str, InstructionHistory | None] = {}
        """By path; None where the history went on under another name."""

    def fold(self, commit: Commit, changes: Sequence[ChangedPath]) -> tuple[str, ...]:
        """Fold one commit's changes of instruction files; the paths of its edits."""
        renames = file_renames(changes, self._read)
        left = {change.path for change in renames.values()}
        edits = [
            _edit_of_change(commit, change, renames.get(change.path)) for change in changes if change.path not in left
        ]
        for edit in edits:
            names = dict.fromkeys(blob.path for blob in (edit.old, edit.new) if blob is not None)
            earlier = [history for name in names if (history := self._history(name)) is not None]
            known = [each for history in earlier for each in history.edits]
            if len(earlier) > 1:
                known.sort(key=lambda each: each.commit.position)
            self.touched[edit.path] = InstructionHistory(edit.path, (*known, edit), edit.status == "deleted")
        self.touched |= dict.fromkeys(left)
        return tuple(sorted(edit.path for edit in edits))

    def made_with(self, recorded: Recorded) -> Commit | None:
        """The commit that left instruction files as a record states them: by its hashes, else by its versions."""
        return self.with_hashes(recorded.instruction_hashes) or self.with_versions(recorded.prompt_versions)

    def with_versions(self, versions: Sequence[tuple[str, str]]) -> Commit | None:
        """As ``with_hashes``, by the versions that files state of themselves, in their first lines or their names."""
        wanted = [(path, _plain_version(version)) for path, version in versions]
        return self._left_by([(path, partial(self._has_version, version)) for path, version in wanted])

    def with_hashes(self, hashes: Sequence[tuple[str, str]]) -> Commit | None:
        """The commit that left instruction files with these hashes, the newest of several; None if any fits no edit.

        A hash is the id of the blob, or SHA-256, SHA-1 or MD5 of the file's bytes, in full or from 7 digits on.
        *hashes* are (path, hash); an empty path stands for any file.
        """
        return self._left_by([(path, partial(self._has_hash, written)) for path, written in hashes])

    def _left_by(self, stated: Sequence[tuple[str, Callable[[Blob], bool]]]) -> Commit | None:
        if not stated:
            return None
        if self._known is None:
            self._known = {history.path: history for history in self._load_all()}
        histories = [history for history in {**self._known, **self.touched}.values() if history is not None]
        newest: list[Commit] = []
        for path, fits in stated:
            fitting = [
                edit.commit
                for history in histories
                for edit in history.edits
                if edit.new and path in ("", edit.path, history.path) and fits(edit.new)
            ]
            if not fitting:
                return None
            newest.append(max(fitting, key=lambda commit: commit.position))
        return max(newest, key=lambda commit: commit.position)

    def _has_hash(self, written: str, blob: Blob) -> bool:
        digest = _HASH.fullmatch(written)
        if digest is None:
            return False
        if blob.oid.startswith(digest[1]):
            return True
        if blob.oid not in self._digests:
            content = self._read(blob.oid)
            made = (hashlib.sha256, hashlib.sha1, hashlib.md5)
            # Tools that read a prompt may take the white space off its ends before they hash it.
            texts = () if content is None else dict.fromkeys((content, content.strip()))
            self._digests[blob.oid] = tuple(
                each(text, usedforsecurity=False).hexdigest() for text in texts for each in made
            )
        return any(each.startswith(digest[1]) for each in self._digests[blob.oid])

    def _has_version(self, version: str, blob: Blob) -> bool:
        if blob.oid not in self._versions:
            content = self._read(blob.oid)
            lines = split_lines((content or b"")[:_LONGEST_HEAD].decode("utf-8", "replace"))[:VERSION_LINES]
            self._versions[blob.oid] = next(filter(None, map(stated_version, lines)), "")
        in_name = _VERSION_IN_NAME.search(splitext(blob.path)[0])
        return version in (_plain_version(self._versions[blob.oid]), in_name[1] if in_name else "") and bool(version)

    def _history(self, path: str) -> InstructionHistory | None:
        if path not in self.touched:
            self.touched[path] = self._load(path)
        return self.touched[path]


def _plain_version(version: str) -> str:
    """``v1.2`` and ``1.2`` are one version."""
    return version.strip().lower().removeprefix("v")


def _edit_of_change(commit: Commit, change: ChangedPath, source: ChangedPath | None) -> Edit:
    """The edit that a change is; *source* is the deletion behind it if it is a rename."""
    old = Blob(change.path, change.old) if change.old else None
    new = Blob(change.path, change.new) if change.new else None
    if source is not None and source.old is not None:
        return Edit(commit, change.path, "renamed", Blob(source.path, source.old), new)
    status: EditStatus = "deleted" if new is None else "added" if old is None else "modified"
    return Edit(commit, change.path, status, old, new)
