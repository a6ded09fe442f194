"""A git repository as one object, whose blobs are a stream. Nothing is ever checked out or written.

GitPython's own commits, trees and diffs are 25 to 1,000 times slower than the plumbing commands below them, and follow
the user's configuration. Therefore git's processes are read as streams; GitPython only starts them. Objects come from
``git cat-file --batch``: blobs by their ids, and others by any name that git resolves.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from io import BytesIO
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import IO, Final, NamedTuple

import msgspec

from sitegen.data_files.folders import MOST_FILES, may_hold_document, packed
from sitegen.data_files.project_files import LARGEST_FILE, LFS, is_pointer, open_file, read_file, read_inside
from sitegen.errors import POINTER, SMALLER_FILE, NothingToReportError, RepositoryError
from sitegen.history.process import Process, shared_processes
from sitegen.history.repository_place import RepositoryPlace, find_repository
from sitegen.history.revisions import REGULAR
from sitegen.model.commits import WORKTREE
from sitegen.text.plain import web_address
from sitegen.text.values import short_digest

LARGEST_BLOB: Final = 20_000_000
"""The size in bytes above which a file is not read, unless the configuration raises it."""

_MOST_VERSIONS: Final = 20  # the most commits of a file of which the contents are asked for
_PIECE: Final = 1 << 20  # bytes that are read at once
_ID = re.compile(rb"(?:[0-9a-f]{40}|[0-9a-f]{64})")

_AHEAD: Final = 16
"""Number of blobs requested from git before the first answer is read, so that both processes work. Their ids fit the
smallest buffer of a pipe, so that the processes cannot wait for each other for ever. When half of them are answered,
as many more are requested at once: to wake git for each blob takes as long as to read it."""

_TREE: Final = "no file but a tree"
_ENTRY: Final = rb"([0-7]+) ([^\0]+)\0(.{%d})"
"""Matches an entry of a tree: its mode, its name, and its id of so many bytes."""
TREE_MODE: Final = "40000"
_LARGEST_TREE: Final = 20_000_000
"""The size of the largest folder whose names are read, in bytes."""
_DEEPEST: Final = 6  # the most levels of folders in a folder of documents
_CHANGED: Final = "changed in the work tree while it was read"
MISSING: Final = "missing from this clone (a partial or damaged one)"


class KnownAnswers:
    """What contents were found to state, by blob id and question, so that no later build reads them again for it."""

    def __init__(self, before: Mapping[str, str] = MappingProxyType({})) -> None:
        self.before = before
        """The answers of the last build, as ``given`` had them."""
        self.given: dict[str, str] = {}
        """The answers that were asked for. Others are of contents that history has no more."""

    def about(self, oid: str | None, question: str, examine: Callable[[], str | None]) -> str | None:
        """Return the answer about a blob, from ``examine`` if it is not known yet. None is not kept.

        ``question``: identifies ``examine`` and all its inputs besides the content of the blob.
        """
        key = f"{oid} {short_digest(question)}"
        answer = self.given.get(key, self.before.get(key))
        if answer is None:
            answer = examine()
        if answer is not None and oid is not None:
            self.given[key] = answer
        return answer


class BlobRead(NamedTuple):
    """git's answer to a blob id, or to another name of an object."""

    oid: str
    content: bytes | None
    reason: str = ""
    """Why there is no content, or not all of a folder: it is missing, no file, too large, or stored in Git LFS."""
    fix: str = ""
    """What to do about a content that is larger than the limit; empty for any other reason."""

    def entries(self) -> Iterator[tuple[str, str, str]]:
        """Yield mode, name and id of each entry of a tree."""
        for entry in re.finditer(_ENTRY % (len(self.oid) // 2), self.content or b"", re.DOTALL):
            mode, name, oid = entry.groups()
            yield mode.decode(), os.fsdecode(name), oid.hex()


NOTHING: Final = BlobRead("", None, MISSING)
"""The answer for an object that does not exist, or that git cannot read."""


class _Question(msgspec.Struct):
    name: bytes
    kind: str
    limit: int
    answer: BlobRead | None = None


class CatFile:
    """One ``git cat-file --batch``, started on first use. Several readers can take turns.

    Git answers in the order of the questions. A reader that meets answers to another reader's questions stores them in
    those questions.
    """

    def __init__(self, repository: RepositoryPlace) -> None:
        self._place = repository
        self._process: Process | None = None
        self._unanswered: deque[_Question] = deque()
        self._here: frozenset[bytes] | None = None
        """The ids of all objects of a partial clone, once one of them may be missing."""

    def read(self, name: bytes, kind: str, limit: int) -> BlobRead:
        """Return the object with a name (no line ends), with its content if it is of the kind and within the limit."""
        question = _Question(name=name, kind=kind, limit=limit)
        self._ask([question])
        answer = self._answer(question)
        return self._blob(answer.oid, question) if kind == "blob" else answer

    def read_blob(self, oid: str, limit: int) -> BlobRead:
        """Return the answer for one id, as ``Repository.read_blobs`` does."""
        question = _question(oid, limit)
        self._ask([question])
        return self._blob(oid, question)

    def read_blobs(self, oids: Iterable[str], limit: int) -> Iterator[BlobRead]:
        """Yield an answer for each id, in order, as ``Repository.read_blobs`` does."""
        pending: deque[tuple[str, _Question]] = deque()
        remaining = iter(oids)
        while several := [(oid, _question(oid, limit)) for oid in islice(remaining, _AHEAD - len(pending))]:
            self._ask([question for _, question in several])
            pending.extend(several)
            several.clear()  # no answer is held for longer than it is needed
            while len(pending) > _AHEAD // 2:
                yield self._blob(*pending.popleft())
        while pending:
            yield self._blob(*pending.popleft())

    def close(self) -> None:
        """End the process; the next read starts another."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _blob(self, oid: str, question: _Question) -> BlobRead:
        answer = self._answer(question)
        if answer.reason == _TREE:
            files = dict(islice(self._documents_below(answer.oid, "", _DEEPEST), MOST_FILES + 1))
            return _packed_folder(oid, files, self.read_blobs(files.values(), question.limit), question.limit)
        if answer.content is None:
            return answer._replace(oid=oid)
        if is_pointer(answer.content):
            return BlobRead(
                oid, content := _fetched(self._place, answer.content, question.limit), "" if content else POINTER
            )
        return BlobRead(oid, answer.content)

    def _documents_below(self, oid: str, above: str, left: int) -> Iterator[tuple[str, str]]:
        tree = self.read(oid.encode(), "tree", _LARGEST_TREE)
        for mode, name, entry in tree.entries():
            path = above + name
            if mode == TREE_MODE and left:
                yield from self._documents_below(entry, f"{path}/", left - 1)
            elif mode in REGULAR and may_hold_document(path):
                yield path, entry

    def _ask(self, questions: Collection[_Question]) -> None:
        self._unanswered.extend(questions)
        if self._process is None:
            self._start_cat_file()
        else:
            self._send(self._process, questions)

    def _start_cat_file(self) -> Process:
        process = self._process = Process(self._place, ["cat-file", "--batch"])
        self._send(process, self._unanswered)
        return process

    def _send(self, process: Process, questions: Iterable[_Question]) -> None:
        names = []
        for question in questions:
            if self._here is not None and _ID.fullmatch(question.name) and question.name not in self._here:
                question.answer = NOTHING
            else:
                names.append(question.name + b"\n")
        with suppress(BrokenPipeError):  # git has ended; the reader of its answer reports that
            process.stdin.write(b"".join(names))
            process.stdin.flush()

    def _answer(self, question: _Question) -> BlobRead:
        while question.answer is None:
            process = self._process or self._start_cat_file()
            oldest = self._unanswered.popleft()
            if oldest.answer is not None:
                continue  # it was not sent
            try:
                oldest.answer = _read_object(process.stdout, oldest)
            except RepositoryError:
                self.close()  # it was silent
                raise
            if oldest.answer is None:
                # Git ended at an object that it cannot read. Only this one is lost: a new process answers the others.
                oldest.answer = NOTHING
                self.close()
                self.lacks(())
        return question.answer

    def lacks(self, oids: Iterable[str]) -> bool:
        """Whether this is a partial clone without one of these objects; git is then asked for none that is not there.

        At an object that the remote has promised, git looks through all that the remote has sent, and ends: 0.1 s for
        each content that a clone of 2,000 commits lacks.
        """
        if self._here is None and any((self._place.common_dir / "objects/pack").glob("*.promisor")):
            command = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)", "--unordered", "--buffer"]
            with Process(self._place, command, ()) as process:
                self._here = frozenset(process.stdout.read().split())
                process.finish()
        return self._here is not None and not self._here.issuperset(oid.encode() for oid in oids)


def _packed_folder(oid: str, files: Mapping[str, str], reads: Iterable[BlobRead], limit: int) -> BlobRead:
    """Return files, given as path -> blob id, as one content, if all ``reads`` of them together keep to the limit.

    Some in Git LFS that were not fetched are in it as pointers, and the reason says so.
    """
    if not 0 < len(files) <= MOST_FILES:
        return BlobRead(oid, None, f"a folder of more than {MOST_FILES:,} files" if files else _TREE)
    contents, size, reason = [], 0, ""
    for path, read in zip(files, reads, strict=True):
        content, reason = (LFS, POINTER) if read.reason == POINTER else (read.content, reason)
        size += len(content or b"")
        if content is None:
            return read._replace(oid=oid)
        if size > limit:
            return BlobRead(oid=oid, content=None, reason=too_large(size, limit), fix=SMALLER_FILE)
        contents.append((path, content))
    return BlobRead(oid, packed(contents) if any(content != LFS for _, content in contents) else None, reason)


def _question(oid: str, limit: int) -> _Question:
    """Ask for a blob by its id; other names of objects can be expressions, and must not reach git."""
    name = oid.encode("utf-8", "surrogateescape")
    return _Question(name=name if _ID.fullmatch(name) else b"0" * 40, kind="blob", limit=limit)


@contextmanager
def cat_file(repository: RepositoryPlace) -> Iterator[CatFile]:
    """Yield the process that this thread shares, or a new one that ends with the context."""
    shared = shared_processes()
    if shared is None:
        with closing(CatFile(repository)) as own:
            yield own
        return
    process = shared.get(("cat-file", repository))
    if process is None:
        process = shared["cat-file", repository] = CatFile(repository)
    yield process


def _file_of_work_tree(file: Path, oid: str, limit: int) -> BlobRead:
    """Return the content of a file of the work tree, if it still has the blob id."""
    try:
        with open_file(file) as stream:
            size = os.fstat(stream.fileno()).st_size
            if size > limit:
                return BlobRead(oid=oid, content=None, reason=too_large(size, limit), fix=SMALLER_FILE)
            content = stream.read(size + 1)
    except OSError as error:
        return BlobRead(oid, None, f"not readable in the work tree ({error.strerror})")
    same = blob_id(BytesIO(content), len(content), len(oid)) == oid
    if not same:
        return BlobRead(oid, None, _CHANGED)
    return BlobRead(oid, None, POINTER) if is_pointer(content) else BlobRead(oid, content)


def blob_id(content: IO[bytes], size: int, digits: int) -> str:
    """Return git's id of a content of ``size`` bytes, with 40 digits (SHA-1) or 64 (SHA-256). Reads it in pieces."""
    state = hashlib.new("sha1" if digits == 40 else "sha256", b"blob %d\0" % size, usedforsecurity=False)
    while piece := content.read(_PIECE):
        state.update(piece)
    return state.hexdigest()


def too_large(size: int, limit: int) -> str:
    """Return the reason for a file over the limit."""
    return f"larger than {limit / 1e6:,.4g} MB ({size / 1e6:,.4g} MB)"


def _fetched(repository: RepositoryPlace, pointer: bytes, limit: int) -> bytes | None:
    """Return the content of a Git LFS pointer; None unless ``git lfs fetch`` has stored it in this clone."""
    stated = re.search(rb"^oid sha256:([0-9a-f]{64})$", pointer, re.MULTILINE)
    if stated is None:
        return None
    name = stated[1].decode()
    try:
        content = read_inside(repository.common_dir, f"lfs/objects/{name[:2]}/{name[2:4]}/{name}", limit)
    except OSError:
        return None
    return content if hashlib.sha256(content).hexdigest() == name else None


def _read_object(stream: IO[bytes], question: _Question) -> BlobRead | None:
    """Read the next answer; None at the end of the stream, or if git ended in the middle of the answer."""
    header = stream.readline()
    if not header.endswith(b"\n"):
        return None
    if header.endswith((b" missing\n", b" ambiguous\n")):  # the name before it may contain anything
        return NOTHING
    oid, kind, digits = header.decode("ascii").split()
    size = int(digits)
    if kind != question.kind or size > question.limit:
        reason = too_large(size, question.limit) if kind == question.kind else f"no file but a {kind}"
        fix = SMALLER_FILE if kind == question.kind else ""
        left = size + 1
        while left and (piece := stream.read(min(left, _PIECE))):
            left -= len(piece)
        return None if left else BlobRead(oid=oid, content=None, reason=reason, fix=fix)
    content = stream.read(size)
    return None if len(content) < size or not stream.read(1) else BlobRead(oid, content)


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
        return BlobRead(oid, file) if isinstance(file, bytes) else _file_of_work_tree(file, oid, self.max_blob_bytes)

    def folder_id(self, commit: str, path: str, files: Mapping[str, str]) -> str:
        """Return an id for the documents of a folder at a commit, for which ``read_blob`` returns them as one content.

        ``files``: these documents, path in the folder -> blob id. It is the id of git's tree; what is not committed
        is read, and added to the overlay.
        """
        name = f"{commit}:{path}".encode("utf-8", "surrogateescape")
        if commit != WORKTREE and b"\n" not in name:
            with cat_file(self.place) as objects:
                if tree := objects.read(name, "tree", _LARGEST_TREE).oid:
                    return tree
        read = _packed_folder("", files, self.read_blobs(files.values()), self.max_blob_bytes)
        content = read.content if read.content is not None else repr(sorted(files.items())).encode()
        oid = blob_id(BytesIO(content), len(content), len(next(iter(files.values()))))
        if read.content is not None:
            self.overlay[oid] = content
        return oid

    def _output_of(self, *arguments: str) -> str:
        with Process(self.place, arguments, ()) as process:
            printed = process.stdout.read().decode("utf-8", "surrogateescape").strip()
            try:
                process.finish()
            except RepositoryError:
                return ""
            return printed
