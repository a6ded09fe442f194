"""Folds the uncommitted state as one more revision after the head, on a copy of the timeline that is never stored."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from itertools import starmap
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from sitegen.data_files.project_files import open_inside
from sitegen.history.blobs import blob_id
from sitegen.history.fold_state import CopiedParts, PartStore
from sitegen.history.index import unproven
from sitegen.history.layout import Layout
from sitegen.history.process import Process
from sitegen.history.repository import Repository
from sitegen.history.revisions import Irregular, tokens
from sitegen.history.timeline import Advanced, WorktreeBlob
from sitegen.model.commits import WORKTREE, ChangedPath, Commit, Revision

_LARGEST_HASHED: Final = 1_000_000_000
"""The size in bytes of the largest file that is hashed; far above any practical ``max_blob_bytes``."""


def with_worktree(repository: Repository, parts: PartStore, follow: Callable[..., Advanced]) -> Advanced:
    """Return the timeline of the head and of the work tree, without changing *parts*.

    The head is the commit itself if no file that is read has changed. *follow* is ``timeline.advance`` with all of its
    arguments but the repository, the parts and *extra*; its manifest is that of the work tree. Untracked files count,
    unless git ignores them. Contents are read without filters. A bare repository has no uncommitted state.
    """
    overlay: dict[str, Path] = {}

    def extra(layout: Layout, last: Commit, irregular: Irregular) -> Iterator[Revision]:
        commit = Commit(
            sha=WORKTREE,
            position=last.position + 1,
            author="",
            committed_at=last.committed_at,
            subject="Uncommitted changes",
        )
        report = partial(irregular, commit)
        if changes := tuple(_uncommitted_changes(repository, last.sha, layout.pathspecs, overlay, report)):
            yield Revision(commit, changes)

    advanced = follow(repository.overlaid(overlay), parts=CopiedParts(parts), extra=extra)
    return replace(advanced, overlay=tuple(sorted(starmap(WorktreeBlob, overlay.items()))))


def is_changed(repository: Repository, head: str) -> bool:
    """Whether any tracked file differs from the commit. A bare repository is never changed."""
    root = repository.root
    return root is not None and any(
        _file_blob_id(root, path, len(head)) != old for path, old in unproven(repository.place, root, head, ())
    )


def work_tree_paths(repository: Repository) -> tuple[str, ...]:
    """Return the paths of the work tree that git tracks or would add, sorted; a file in conflict once."""
    root = repository.root
    if root is None:
        return ()
    command = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    with Process(repository.place, command, (), work_tree=root) as process:
        paths = sorted({os.fsdecode(path) for path in tokens(process.stdout)})
        process.finish()
    return tuple(paths)


def _uncommitted_changes(
    repository: Repository,
    head: str,
    pathspecs: tuple[str, ...],
    overlay: dict[str, Path],
    irregular: Callable[[str, str], None],
) -> Iterator[ChangedPath]:
    root = repository.root
    if root is None:
        return
    before = dict(unproven(repository.place, root, head, pathspecs))
    for path in sorted({*before, *_untracked_paths(repository, root, pathspecs)}):
        old = before.get(path)
        file = root / path
        new = _file_blob_id(root, path, len(head))
        if new is None and file.is_symlink():
            irregular(path, "a symbolic link")
        if new != old:
            if new is not None:
                overlay[new] = file
            yield ChangedPath(path, old, new)


def _untracked_paths(repository: Repository, root: Path, pathspecs: tuple[str, ...]) -> Iterator[str]:
    command = ["ls-files", "--others", "--exclude-standard", "-z", "--"]
    with Process(repository.place, [*command, *pathspecs], (), work_tree=root) as process:
        for path in tokens(process.stdout):
            yield os.fsdecode(path)
        process.finish()


def _file_blob_id(root: Path, path: str, digits: int) -> str | None:
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
