"""A git repository as one object: blobs and patches as streams. Nothing is ever checked out or written.

GitPython's own commits, trees and diffs are 25 to 1,000 times slower than the plumbing commands below them, and follow
the user's configuration. Therefore git's processes are read as streams; GitPython only starts them.

To workers on another machine the history that a build reads is sent as one git pack, unless it is there already.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Final

from sitegen.data_files.project_files import LARGEST_FILE, LFS, read_file
from sitegen.errors import POINTER, MissingObjectsError, NothingToReportError, RepositoryError
from sitegen.history import blobs, patches
from sitegen.history.blobs import NOTHING, BlobRead, KnownAnswers, cat_file
from sitegen.history.process import Process
from sitegen.history.repository_place import RepositoryPlace, find_repository
from sitegen.model.commits import WORKTREE
from sitegen.model.frozen import Frozen
from sitegen.model.timeline import Edit
from sitegen.text.plain import web_address

LARGEST_BLOB: Final = 20_000_000
"""The size in bytes above which a file is not read, unless the configuration raises it."""

_MOST_VERSIONS: Final = 20  # the most commits of a file of which the contents are asked for
_OF_POINTER: Final = re.compile(rb"(?m)^[-+ ]" + re.escape(LFS))
"""Matches a patch of a pointer, or of a text that quotes one."""


class Repository:
    """A git repository, read only."""

    def __init__(
        self,
        place: RepositoryPlace,
        *,
        max_blob_bytes: int = LARGEST_BLOB,
        overlay: dict[str, Path | bytes] | None = None,
        answers: KnownAnswers | None = None,
    ) -> None:
        """``overlay``: maps ids of contents that are only in the work tree to their files, or to a packed folder.

        ``answers``: those of ``answer`` that are known already.
        """
        self.answers = answers or KnownAnswers()
        self.place = place
        self.overlay = {} if overlay is None else overlay
        self.max_blob_bytes = max_blob_bytes

    @classmethod
    def open(cls, path: Path, *, max_blob_bytes: int = LARGEST_BLOB) -> Repository:
        """Open the repository around a folder, which may be in a work tree, a linked work tree or a bare repository.

        Raises RepositoryError, with git's own message, if there is none or git refuses to read it.
        """
        return cls(find_repository(path)[0], max_blob_bytes=max_blob_bytes)

    def overlaid(self, overlay: dict[str, Path | bytes]) -> Repository:
        """Return the same repository with an overlay of contents from the work tree."""
        return Repository(self.place, max_blob_bytes=self.max_blob_bytes, overlay=overlay, answers=self.answers)

    @property
    def name(self) -> str:
        """The name of the folder, without ``.git``."""
        return self.place.root.name if self.place.root else self.place.git_dir.name.removesuffix(".git")

    @property
    def shallow_boundary(self) -> tuple[str, ...]:
        """Ids of the commits whose parents are cut off; empty if the history is complete."""
        if not self.place.shallow:
            return ()
        listed = read_file(self.place.common_dir / "shallow", LARGEST_FILE)
        return tuple(sorted(listed.decode("ascii", "replace").split()))

    def origin_url(self) -> str | None:
        """Return the web address of the remote ``origin``, without credentials and ``.git``; None if it has none."""
        return web_address(self._output_of("config", "--get", "remote.origin.url"))

    def default_branch(self) -> str | None:
        """Return the branch that ``origin`` shows first, else ``main`` or ``master``, else the one checked out."""
        for command in (
            ("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"),
            ("for-each-ref", "--count=1", "--format=%(refname:short)", "refs/heads/main", "refs/heads/master"),
            ("symbolic-ref", "--quiet", "--short", "HEAD"),
        ):
            if branch := self._output_of(*command):
                return branch.removeprefix("origin/")
        return None

    def resolve(self, rev: str) -> str:
        """Return the full id of the commit that a revision names.

        Raises NothingToReportError if there are no commits yet, RepositoryError if the revision is unknown.
        """
        if not rev.startswith("-") and "\0" not in rev:
            answer = self._output_of("rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}")
            if answer:
                return answer
        where = str(self.place.top)
        if not self._output_of("rev-list", "--all", "--max-count=1") and not self._output_of(
            "rev-parse", "--quiet", "--verify", "HEAD"
        ):
            raise NothingToReportError("The repository has no commits yet.", where=where, fix="Commit something first.")
        raise RepositoryError(
            f"There is no revision {rev!r}.",
            where=where,
            fix="Name a branch, a tag or a commit that git rev-parse knows; in a clone of CI, fetch it first.",
        )

    def count_commits(self, head: str) -> int:
        """Return the number of commits on the first-parent line of ``head``; 0 if git cannot read them."""
        return int(self._output_of("rev-list", "--first-parent", "--count", head, "--") or 0)

    def commits_without(self, contained: str, head: str) -> frozenset[str]:
        """Return the ids of the commits that lead to ``head`` and are not contained in another commit."""
        return frozenset(self._output_of("rev-list", head, f"^{contained}", "--").split())

    def commits_with(self, head: str, path: str) -> tuple[str, ...]:
        """Return the newest commits on the first-parent line of ``head`` that changed a file, the newest first."""
        arguments = ("rev-list", "--first-parent", f"--max-count={_MOST_VERSIONS}", head, "--", path)
        return tuple(self._output_of(*arguments).split())

    def merge_base(self, first: str, second: str) -> str | None:
        """Return the id of the newest common ancestor of two commits, on any line; None if there is none."""
        return self._output_of("merge-base", first, second) or None

    def read_blobs(self, oids: Iterable[str]) -> Iterator[BlobRead]:
        """Yield the contents of many blobs, in order, from the shared process of ``share_processes`` or from a new one.

        ``oids``: read ahead of the answers. If a content cannot be read (missing, no blob, larger than
        ``max_blob_bytes``, in Git LFS and not fetched), the answer has the reason, and the content is never held.
        """
        with cat_file(self.place) as objects:
            if not self.overlay:
                yield from objects.read_blobs(oids, self.max_blob_bytes)
                return
            requested = tuple(oids)
            committed = (oid for oid in requested if oid not in self.overlay)
            answers = objects.read_blobs(committed, self.max_blob_bytes)
            for oid in requested:
                file = self.overlay.get(oid)
                yield self._overlaid_blob(file, oid) if file else next(answers)

    def read_blob(self, oid: str) -> BlobRead:
        """Return the content of a blob. Use it within ``share_processes`` to read several."""
        if file := self.overlay.get(oid):
            return self._overlaid_blob(file, oid)
        with cat_file(self.place) as objects:
            return objects.read_blob(oid, self.max_blob_bytes)

    def answer(self, question: str, oid: str, examine: Callable[[bytes], str | None]) -> str | None:
        """Return what a content states, as ``KnownAnswers.about`` does, reading it if needed; None if it cannot.

        ``question``: identifies ``examine`` and all its inputs besides the content.
        """

        def read() -> str | None:
            content = self.read_blob(oid).content
            return None if content is None else examine(content)

        return self.answers.about(oid, question, read)

    def _overlaid_blob(self, file: Path | bytes, oid: str) -> BlobRead:
        return BlobRead(oid, file) if isinstance(file, bytes) else blobs.read_file(file, oid, self.max_blob_bytes)

    def folder_id(self, commit: str, path: str, files: Mapping[str, str]) -> str:
        """Return an id for the documents of a folder at a commit, for which ``read_blob`` returns them as one content.

        ``files``: these documents, path in the folder -> blob id. It is the id of git's tree; what is not committed
        is read, and added to the overlay.
        """
        name = f"{commit}:{path}".encode("utf-8", "surrogateescape")
        if commit != WORKTREE and b"\n" not in name:
            with cat_file(self.place) as objects:
                if tree := objects.read(name, "tree", blobs.LARGEST_TREE).oid:
                    return tree
        read = blobs.packed_folder("", files, self.read_blobs(files.values()), self.max_blob_bytes)
        content = read.content if read.content is not None else repr(sorted(files.items())).encode()
        oid = blobs.blob_id(BytesIO(content), len(content), len(next(iter(files.values()))))
        if read.content is not None:
            self.overlay[oid] = content
        return oid

    def patches(self, edits: Sequence[Edit], folders: tuple[str, ...] = (), since: str = "") -> Iterator[bytes]:
        """Yield the patch of each edit, in order, from one process; empty if only line ends changed.

        Patches are histogram diffs with three lines of context that ignore carriage returns at line ends; for a renamed
        file, the difference between its two contents. They are truncated to 4 MB. ``folders``: with every file that
        is requested within ``share_processes``: callers that name the same folders share a process.
        ``since``: id of the commit with the first texts of all combined edits, so that one process compares them all.
        Raises MissingObjectsError for a content that a partial clone lacks, or in Git LFS that was not fetched.
        """
        committed = [edit for edit in edits if edit.commit.sha != WORKTREE]
        with cat_file(self.place) as objects:  # git would end, after 0.1 s
            if objects.lacks(blob.oid for edit in committed for blob in (edit.old, edit.new) if blob):
                raise MissingObjectsError(committed[0].path, committed[0].commit.sha)
        answers = patches.read_patches(self.place, committed, folders, since)
        for edit in edits:
            patch = next(answers) if edit.commit.sha != WORKTREE else b""
            # Few texts quote a pointer, and to look at the beginning of each line takes long.
            is_of_pointer = LFS in patch and _OF_POINTER.search(patch)
            yield self._own_patch(edit) if edit.commit.sha == WORKTREE or is_of_pointer else patch
        next(answers, None)  # reading to the end returns the process, so that it can be shared again

    def _own_patch(self, edit: Edit) -> bytes:
        """Return the patch of an edit that git does not know, or of whose contents it knows the address in Git LFS."""
        sides = [self.read_blob(blob.oid) if blob else NOTHING for blob in (edit.old, edit.new)]
        if any(side.reason == POINTER for side in sides):
            raise MissingObjectsError(edit.path, edit.commit.sha, in_lfs=True)
        before, after = (side.content or b"" for side in sides)
        return patches.plain_patch(before, after)

    def _output_of(self, *arguments: str) -> str:
        """Return the output of a short command; empty if it fails."""
        with Process(self.place, arguments, ()) as process:
            printed = process.stdout.read().decode("utf-8", "surrogateescape").strip()
            try:
                process.finish()
            except RepositoryError:
                return ""
            return printed


class PackedHistory(Frozen):
    """A history in the form in which it is sent."""

    head: str
    pack: bytes
    shallow: bytes
    """The ids of the commits whose parents are cut off, as git lists them."""

    def unpacked(self, folder: Path) -> RepositoryPlace:
        """Make a bare repository of a history in a new folder. Raises RepositoryError if git rejects the pack."""
        for name in ("objects", "refs"):
            os.makedirs(folder / name)
        sha256 = len(self.head) == 64
        lines = ["[core]", "bare = true", f"repositoryformatversion = {int(sha256)}"]
        (folder / "config").write_text("\n".join([*lines, *["[extensions]", "objectFormat = sha256"] * sha256, ""]))
        (folder / "HEAD").write_text(f"{self.head}\n")
        if self.shallow:
            (folder / "shallow").write_bytes(self.shallow)
        place = RepositoryPlace(git_dir=folder, common_dir=folder, root=None, shallow=bool(self.shallow))
        with Process(place, ["index-pack", "--stdin"], (self.pack,)) as process:
            process.stdout.read()
            process.finish()
        return place


def packed(place: RepositoryPlace, commits: Iterable[str]) -> PackedHistory:
    """Pack all objects that git has of what commits and HEAD reach, about as large as the packs of the repository.

    Raises RepositoryError if git cannot read an object.
    """
    _, head = find_repository(place.git_dir)
    commits = dict.fromkeys((*commits, *([head] if head else [])))
    arguments = ("--revs", "--stdout", "--quiet", "--delta-base-offset", "--missing=allow-any")
    with Process(place, ["pack-objects", *arguments], (f"{commit}\n".encode() for commit in commits)) as process:
        pack = process.stdout.read()
        process.finish()
    shallow = read_file(place.common_dir / "shallow", LARGEST_FILE) if place.shallow else b""
    return PackedHistory(head or next(iter(commits)), pack, shallow)
