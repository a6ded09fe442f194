"""Folds the uncommitted state as one more revision after the head.

Files that may differ from the commit are found without git opening any.
"""

import os
import re
import stat
from collections.abc import Callable, Generator, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final, TypeAlias

from sitegen.data_files.project_files import open_inside
from sitegen.history.fold import HistoryFold
from sitegen.history.process import Process
from sitegen.history.repository import Repository, blob_id
from sitegen.history.repository_place import RepositoryPlace
from sitegen.history.revisions import REGULAR, raw_record_fields, tokens
from sitegen.model.commits import WORKTREE, ChangedPath, Commit, Revision

_STATE: Final = (
    rb"  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n  dev: \d+\tino: (\d+)\n  uid: (\d+)\tgid: (\d+)\n"
    rb"  size: (\d+)\tflags: ([0-9a-f]+)\n"
)
"""The text that ``ls-files --debug`` prints after each path. Its format is not guaranteed: if a line does not match, no
recorded state is used, and the contents of all files are compared."""

_ASSUMED: Final = 0x8000 | 0x4000_0000  # the user declared the file unchanged, or not on disk (a sparse checkout)
_ONLY_INTENDED: Final = 0x2000_0000  # Flag: ``git add --intent-to-add``. The entry has no content yet.
_SUBMODULE: Final = "160000"
_32_BITS: Final = 0xFFFF_FFFF  # the index has that much of a number


_Entry: TypeAlias = tuple[str, str, str, tuple[int, ...] | None]
"""Path, mode, blob id, and the numbers of ``_STATE``: what was so when git last saw that the file was unchanged."""


def unproven(place: RepositoryPlace, head: str, pathspecs: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
    """Yield every tracked file whose content on disk is not certain to be the commit's, without submodules.

    With each path comes its blob id in the commit; None if the commit has no regular file there.
    """
    options = ["--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=all", "--no-ext-diff"]
    parts = _answer(place, ["diff-index", *options, head, "--", *pathspecs])  # git reads no file on disk
    differ = ((raw_record_fields(record), os.fsdecode(next(parts))) for record in parts)
    staged = {path: old if old_mode in REGULAR else None for (old_mode, _, old, _, _), path in differ}
    yield from staged.items()
    index, root = place.git_dir / "index", str(place.root)
    written = _in_32_bits(os.stat(index).st_mtime_ns) if index.exists() else (0, 0)
    in_folder = _folder_test(root)
    for path, mode, oid, recorded in _index_entries(place, pathspecs):
        flags = recorded[-1] if recorded else 0
        if path in staged or mode == _SUBMODULE or flags & _ASSUMED:
            continue
        folder, file = path.rpartition("/")[0], f"{root}/{path}"
        if recorded is None or not in_folder(folder) or not _is_same(file, recorded, written):
            yield path, oid if mode in REGULAR and not flags & _ONLY_INTENDED else None


def _answer(place: RepositoryPlace, arguments: list[str]) -> Generator[bytes]:
    """Yield the parts of git's answer about the work tree or its index."""
    with Process(place, arguments, (), in_work_tree=True) as process:
        yield from tokens(process.stdout)
        process.finish()


def _index_entries(place: RepositoryPlace, pathspecs: tuple[str, ...]) -> Iterator[_Entry]:
    parts = _answer(place, ["ls-files", "--stage", "--debug", "-z", "--", *pathspecs])
    name = next(parts, b"")
    for part in parts:
        state = re.match(_STATE, part)
        if state is None:
            parts.close()
            for alone in _answer(place, ["ls-files", "--stage", "-z", "--", *pathspecs]):
                yield from _index_entry(alone, None)
            return
        *numbers, flags = state.groups()
        yield from _index_entry(name, (*map(int, numbers), int(flags, 16)))
        name = part[state.end() :]


def _index_entry(name: bytes, recorded: tuple[int, ...] | None) -> Iterator[_Entry]:
    """Parse ``mode id stage<tab>path``; yields no entry if the stage shows a conflict."""
    about, _, path = name.partition(b"\t")
    mode, oid, stage = about.decode("ascii").split(" ")
    if stage == "0":
        yield os.fsdecode(path), mode, oid, recorded


def _folder_test(root: str) -> Callable[[str], bool]:
    """Return a test whether a path below ``root`` is a folder without a link above it. It examines each path once."""

    @cache
    def is_folder(folder: str) -> bool:
        if not folder:
            return True
        try:
            status = os.lstat(f"{root}/{folder}")
        except OSError:
            return False
        return stat.S_ISDIR(status.st_mode) and is_folder(folder.rpartition("/")[0])

    return is_folder


def _is_same(file: str, recorded: tuple[int, ...], written: tuple[int, ...]) -> bool:
    """Whether a file certainly has the content that the index has, which was written at a time.

    Git records numbers cut to 32 bits. Nanoseconds are 0 if the program that wrote the index does not record them.

    A file that was changed when the index was written, or later, is uncertain: another content can have the same times
    and size ("racy git" in git's technical documentation).
    """
    try:
        now = os.lstat(file)
    except OSError:
        return False
    changed, modified, identity = recorded[:2], recorded[2:4], recorded[4:8]
    exact = slice(2 if modified[1] else 1)
    return (
        modified[exact] == _in_32_bits(now.st_mtime_ns)[exact]
        and modified[exact] < written[exact]
        and changed[exact] == _in_32_bits(now.st_ctime_ns)[exact]
        and identity == tuple(number & _32_BITS for number in (now.st_ino, now.st_uid, now.st_gid, now.st_size))
    )


def _in_32_bits(nanoseconds: int) -> tuple[int, ...]:
    """Return seconds and nanoseconds as git records them."""
    return nanoseconds // 10**9 & _32_BITS, nanoseconds % 10**9


_NO_COMMIT: Final = "0" * 40  # in place of the id of the last commit if there is none
_LARGEST_HASHED: Final = 1_000_000_000
"""The size in bytes of the largest file that is hashed; far above any practical ``max_blob_bytes``."""


def uncommitted(fold: HistoryFold, head: str | None, *, ignored: bool = False) -> Iterator[Revision]:
    """Yield the uncommitted state as a revision after the last that was folded; nothing if no file of it has changed.

    The files that differ are added to the overlay of the repository. Untracked files count, unless git ignores them.
    ``ignored``: whether those of evals count nevertheless. Contents are read without filters. A bare repository has no
    uncommitted state. ``head``: as for ``advance``.
    """
    repository, pathspecs = fold.repository, fold.layout.pathspecs
    root = repository.place.root
    if root is None:
        return
    position, committed_at = (fold.head.position + 1, fold.head.committed_at) if head else (0, "")
    commit = Commit(sha=WORKTREE, position=position, committed_at=committed_at, subject="Uncommitted changes")
    before = dict(unproven(repository.place, head, pathspecs)) if head else {}

    def listed(*options: str) -> Iterator[str]:
        return map(os.fsdecode, _answer(repository.place, ["ls-files", *options, "-z", "--", *pathspecs]))

    names = {*before, *listed(*([] if head else ["--cached"]), "--others", "--exclude-standard")}
    if ignored:
        names |= {*filter(fold.layout.places, listed("--others", "--ignored", "--exclude-standard"))}
    changes = []
    for path in sorted(names):
        old, new = before.get(path), file_blob_id(root, path, len(head or _NO_COMMIT))
        fold.report_irregular(commit, path, "a symbolic link" if new is None and (root / path).is_symlink() else "")
        if new != old:
            if new is not None:
                repository.overlay[new] = root / path
            changes.append(ChangedPath(path, old, new))
    if changes:
        yield Revision(commit, tuple(changes))


def is_changed(repository: Repository, head: str) -> bool:
    """Whether any tracked file differs from the commit. A bare repository is never changed."""
    root = repository.place.root
    return root is not None and any(
        file_blob_id(root, path, len(head)) != old for path, old in unproven(repository.place, head, ())
    )


def work_tree_paths(repository: Repository) -> tuple[str, ...]:
    """Return the paths of the files there are that git tracks or would add, sorted; a file in conflict once."""
    if repository.place.root is None:
        return ()
    choices = ("--cached", "--others", "--exclude-standard"), ("--deleted",)
    known, gone = ({*_answer(repository.place, ["ls-files", *options, "-z"])} for options in choices)
    return tuple(sorted(map(os.fsdecode, known - gone)))


def file_blob_id(root: Path, path: str, digits: int) -> str | None:
    """Return the id of a regular file's content; None if there is no such file, or if a symbolic link leads to it.

    A file above ``_LARGEST_HASHED`` is not read: its size and time stand for its content.
    """
    try:
        with open_inside(root, path) as stream:
            status = os.fstat(stream.fileno())
            if status.st_size > _LARGEST_HASHED:
                state = f"{status.st_size} {status.st_mtime_ns}".encode()
                return blob_id(BytesIO(state), len(state), digits)
            return blob_id(stream, status.st_size, digits)
    except OSError:
        return None
