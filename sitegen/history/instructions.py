"""Folds the edits of instruction files: the commit, the file and its path at the time."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain
from pathlib import Path
from posixpath import splitext
from typing import Final

from sitegen.history.revisions import file_renames
from sitegen.model.commits import ChangedPath, Commit
from sitegen.model.recorded import Recorded
from sitegen.model.timeline import Blob, Edit, EditStatus, InstructionHistory
from sitegen.model.usage import JUDGE_PROMPT
from sitegen.text.globs import compiled
from sitegen.text.sections import VERSION_LINES, split_lines, stated_version

_LONGEST_HEAD: Final = 20_000  # number of bytes at the start of a file that are searched for its version
_VERSION_IN_NAME: Final = r"(?:^|[-_./ ])[vV]([0-9]+(?:[.-][0-9]+)*)$"
MOST_ADDED: Final = 5_000
"""The most instruction files that are followed since the commit that added them together."""
_HASH: Final = r"(?:(?:sha256|sha1|md5)[:-])?([0-9a-f]{7,64})"
_PYTHON: Final = re.compile(
    rb"""(?s)#[^\n]*|([rRfFbBuU]{0,2}(?:("{3}|'{3})(?:\\.|[^\\])*?(?:\2|\\?\Z)|(["'])(?:\\.|(?!\3)[^\\\n])*\3?))"""
)
"""Matches a comment, or as the group a string, also one that does not end: the search takes linear time."""
_SCRIPT: Final = re.compile(rb"""(?s)//[^\n]*|/\*.*?(?:\*/|\Z)|(`(?:\\.|[^\\`])*`?|(["'])(?:\\.|(?!\2)[^\\\n])*\2?)""")
"""The same of JavaScript and TypeScript."""
_UNSURE: Final = re.compile(rb"[(,=:\[!&|?{};\n][ \t]*/(?![/*>])|\$\{[^}`$]{0,1000}`")
"""Matches a regular expression of a script, and a template in a template, either of which may hide where one ends."""


OF_JUDGES: Final = re.compile(r"(?:^|[-_./ ])(?:judge|grader|rubric|evaluator)s?(?=[-_./ ]|$)", re.IGNORECASE)
"""A word in the path of a prompt that tells a judge how to grade."""


class InstructionHistories:
    """The histories of all instruction files so far."""

    def __init__(self, read: Callable[[str], bytes | None], said: Callable[[Blob], str | None]) -> None:
        """``read``: returns a blob's content.

        It is called only to decide about a possible rename, or if an output records hashes or versions. ``said``:
        returns the digest of ``what_instructs`` in a file; None if that cannot be read.
        """
        self._read = read
        self._said = said
        self._alike: dict[str, dict[str, None]] = {}
        """What a file said before and after a commit that is no edit -> its blobs."""
        self._files: dict[str, list[Edit]] = {}
        """The edits of each file, oldest first, by its path; without files that continue under another name."""
        self._digests: dict[str, tuple[str, ...]] = {}
        self._versions: dict[str, str] = {}

    def histories(self) -> tuple[InstructionHistory, ...]:
        """Return the history of every file, by path."""
        return tuple(
            InstructionHistory(path, tuple(edits), edits[-1].status == "deleted")
            for path, edits in sorted(self._files.items())
        )

    def fold(self, commit: Commit, changes: Sequence[ChangedPath]) -> tuple[str, ...]:
        """Fold one commit's changes of instruction files. Returns the paths of its edits.

        A file beyond ``MOST_ADDED`` is followed since its next edit.
        """
        renames = file_renames(changes, self._read)
        former_paths = {change.path for change in renames.values()}
        added, edited = 0, []
        for change in changes:
            if change.path in former_paths:
                continue
            source = renames.get(change.path)  # the deletion of the old path
            old = Blob(change.path, change.old) if change.old else None
            new = Blob(change.path, change.new) if change.new else None
            status: EditStatus = "deleted" if new is None else "added" if old is None else "modified"
            if source is not None and source.old is not None:
                old, status = Blob(source.path, source.old), "renamed"
            if status == "modified" and old and new and (digest := self._said(old)) and digest == self._said(new):
                self._alike.setdefault(digest, {old.oid: None})[new.oid] = None
                continue
            edit = Edit(commit=commit, path=change.path, status=status, old=old, new=new)
            names = dict.fromkeys(blob.path for blob in (edit.old, edit.new) if blob is not None)
            earlier = [file for name in names if (file := self._files.get(name)) is not None]
            blob = edit.new or edit.old
            if not earlier and blob is not None and blob.oid in _skeleton_ids():
                continue  # to add, move or delete a file as ``sitegen init`` writes it is nobody's edit
            added += edit.status == "added"
            if not earlier and (edit.status == "deleted" or (edit.status == "added" and added > MOST_ADDED)):
                continue
            file = earlier[0] if len(earlier) == 1 else sorted(chain(*earlier), key=lambda edit: edit.commit.position)
            file.append(edit)
            self._files[edit.path] = file
            edited.append(edit.path)
        for path in former_paths:
            self._files.pop(path, None)
        return tuple(sorted(edited))

    def judges(self, globs: tuple[str, ...]) -> tuple[str, ...]:
        """Return the present prompts of judges, each with its version, among the files that ``globs`` match, or all.

        None if they alone instruct: then they are what is graded.
        """
        driving = [path for path in sorted(self._files) if not globs or compiled(globs).fullmatch(path)]
        present = {path: blob.oid for path in driving if (blob := self._files[path][-1].new)}
        judges = [path for path in present if OF_JUDGES.search(path)]
        return tuple(f"{JUDGE_PROMPT}{path} {present[path][:7]}" for path in judges if len(judges) < len(present))

    def made_with(self, recorded: Recorded) -> Commit | None:
        """Return the commit after which instruction files matched a record.

        They match by its hashes, or else by the version that files state in their first lines or their names.
        """
        path, version = recorded.prompt_version or ("", "")
        stated = [(path, partial(self._has_version, _plain_version(version)))] if recorded.prompt_version else []
        return self.with_hashes(recorded.instruction_hashes) or self._left_by(stated)

    def with_hashes(self, hashes: Sequence[tuple[str, str]]) -> Commit | None:
        """Return the newest commit after which instruction files had these hashes; None if a hash matches no edit.

        A hash is the id of the blob, or SHA-256, SHA-1 or MD5 of the file's bytes, complete, or abbreviated to at least
        7 digits. An empty path stands for any file.
        """
        stated = []
        for path, written in hashes:
            digest = re.fullmatch(_HASH, written)
            if digest is None:
                return None
            stated.append((path, partial(self._has_hash, digest[1])))
        return self._left_by(stated)

    def _left_by(self, stated: Sequence[tuple[str, Callable[[Blob], bool]]]) -> Commit | None:
        newest: list[Commit] = []
        for path, fits in stated:
            # The last path of a file stands for all of its paths.
            fitting = (
                (edit for edit in reversed(edits) if edit.new and path in ("", name, edit.path) and fits(edit.new))
                for name, edits in self._files.items()
            )
            commits = [edit.commit for of_file in fitting if (edit := next(of_file, None)) is not None]
            if not commits:
                return None
            newest.append(max(commits, key=lambda commit: commit.position))
        return max(newest, key=lambda commit: commit.position, default=None)

    def _has_hash(self, digest: str, blob: Blob) -> bool:
        for oid in {blob.oid: None} | (self._alike.get(self._said(blob) or "", {}) if self._alike else {}):
            if oid.startswith(digest):
                return True
            if oid not in self._digests:
                content = self._read(oid)
                functions = (hashlib.sha256, hashlib.sha1, hashlib.md5)
                # Some tools strip the white space at both ends of a prompt before they hash it.
                texts = () if content is None else dict.fromkeys((content, content.strip()))
                digests = (function(text, usedforsecurity=False) for text in texts for function in functions)
                self._digests[oid] = tuple(digest.hexdigest() for digest in digests)
            if any(stored.startswith(digest) for stored in self._digests[oid]):
                return True
        return False

    def _has_version(self, version: str, blob: Blob) -> bool:
        if blob.oid not in self._versions:
            content = self._read(blob.oid)
            lines = split_lines((content or b"")[:_LONGEST_HEAD].decode("utf-8", "replace"))[:VERSION_LINES]
            self._versions[blob.oid] = next(filter(None, map(stated_version, lines)), "")
        in_name = re.search(_VERSION_IN_NAME, splitext(blob.path)[0])
        return version in (_plain_version(self._versions[blob.oid]), in_name[1] if in_name else "") and bool(version)


def what_instructs(path: str, content: bytes) -> str:
    """Return a digest of the strings of code, or of any other text, without white space at the ends of lines."""
    text = b"\n".join(line.rstrip() for line in content.split(b"\n")).rstrip()
    strings = _PYTHON if path.endswith(".py") else _SCRIPT if re.search(r"\.[cm]?[jt]sx?$", path) else None
    if strings and not (strings is _SCRIPT and _UNSURE.search(text)):
        text = b"\0".join(match[1] for match in strings.finditer(text) if match[1])
    return hashlib.sha256(text).hexdigest()


def _plain_version(version: str) -> str:
    """``v1.2`` and ``1.2`` are one version."""
    return version.strip().lower().removeprefix("v")


@cache
def _skeleton_ids() -> frozenset[str]:
    """Return the blob ids of the instruction files that ``sitegen init`` writes, in both formats of objects."""
    skeletons = Path(__file__).parents[1] / "recognition" / "skeletons"
    contents = [skeleton.read_bytes() for skeleton in skeletons.glob("*.md")]
    return frozenset(
        algorithm(b"blob %d\0%b" % (len(content), content)).hexdigest()
        for content in contents
        for algorithm in (hashlib.sha1, hashlib.sha256)
    )
