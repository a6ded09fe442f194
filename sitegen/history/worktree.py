"""The uncommitted state as one more revision behind the head: folded on a copy of the timeline, never kept."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sitegen.config import Manifest, SiteConfig
from sitegen.history.blobs import blob_id
from sitegen.history.layout import Layout
from sitegen.history.process import Process
from sitegen.history.repository import Repository
from sitegen.history.revisions import REGULAR, Irregular, fields, tokens
from sitegen.history.state import Copied, Parts
from sitegen.history.timeline import Advanced, advance
from sitegen.model.commits import WORKTREE, Change, Commit, Revision


class WorktreeAdvanced(NamedTuple):
    """The timeline with the uncommitted state on its end."""

    advanced: Advanced
    """Against what the parts hold. The head is the commit itself if nothing that is read is changed."""
    overlay: tuple[tuple[str, Path], ...]
    """(blob id, file) of contents that git may not have."""


def with_worktree(
    repository: Repository,
    site: SiteConfig,
    parts: Parts,
    *,
    head: str,
    manifest: Manifest,
    structure: str,
    allow_shallow: bool = False,
) -> WorktreeAdvanced:
    """The timeline of *head* and of the work tree, as ``timeline.advance`` says, without changing *parts*.

    *manifest* is the one of the work tree. Files that git ignores do not count; untracked ones do. Contents are taken
    as they are, without filters. A bare repository has no uncommitted state.
    """
    overlay: dict[str, Path] = {}
    overlaid = repository.overlaid(overlay)

    def extra(layout: Layout, last: Commit, irregular: Irregular) -> Iterator[Revision]:
        if repository.root is None:
            return
        commit = Commit(WORKTREE, last.position + 1, "", last.committed_at, "Uncommitted changes")
        changes = tuple(_changes(repository, repository.root, head, layout.pathspecs, overlay, commit, irregular))
        if changes:
            yield Revision(commit, changes)

    advanced = advance(
        overlaid,
        site,
        Copied(parts),
        head=head,
        manifest=manifest,
        structure=structure,
        allow_shallow=allow_shallow,
        extra=extra,
    )
    return WorktreeAdvanced(advanced, tuple(sorted(overlay.items())))


def is_changed(repository: Repository, head: str) -> bool:
    """Whether any tracked file differs from the commit. A bare repository is never changed."""
    root = repository.root
    return root is not None and any(
        _blob_id(root, path, len(head)) != old for path, old in _tracked(repository, root, head, ())
    )


def listed(repository: Repository) -> tuple[str, ...]:
    """The paths of the work tree that git tracks or would add, sorted; a file of a conflict once."""
    root = repository.root
    if root is None:
        return ()
    command = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    with Process(repository.found, command, (), work_tree=root) as process:
        paths = sorted({os.fsdecode(path) for path in tokens(process.stdout)})
        process.finish()
    return tuple(paths)


def _changes(
    repository: Repository,
    root: Path,
    head: str,
    pathspecs: tuple[str, ...],
    overlay: dict[str, Path],
    commit: Commit,
    irregular: Irregular,
) -> Iterator[Change]:
    """What differs between the commit and the files on disk, by path."""
    before = dict(_tracked(repository, root, head, pathspecs))
    for path in sorted({*before, *_untracked(repository, root, pathspecs)}):
        old = before.get(path)
        file = root / path
        new = _blob_id(root, path, len(head))
        if new is None and file.is_symlink():
            irregular(commit, path, "a symbolic link")
        if new != old:
            if new is not None:
                overlay[new] = file
            yield Change(path, old, new)


def _tracked(
    repository: Repository, root: Path, head: str, pathspecs: tuple[str, ...]
) -> Iterator[tuple[str, str | None]]:
    """(path, blob id in the commit) of every file whose state on disk is not surely the commit's."""
    command = ["diff-index", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=all", head, "--"]
    with Process(repository.found, [*command, *pathspecs], (), work_tree=root) as process:
        parts = tokens(process.stdout)
        for record in parts:
            old_mode, _, old, _, _ = fields(record)
            yield os.fsdecode(next(parts)), old if old_mode in REGULAR else None
        process.finish()


def _untracked(repository: Repository, root: Path, pathspecs: tuple[str, ...]) -> Iterator[str]:
    command = ["ls-files", "--others", "--exclude-standard", "-z", "--"]
    with Process(repository.found, [*command, *pathspecs], (), work_tree=root) as process:
        for path in tokens(process.stdout):
            yield os.fsdecode(path)
        process.finish()


def _blob_id(root: Path, path: str, digits: int) -> str | None:
    """The id of a regular file's content, of any size, no symbolic link on the way to it; None if there is none."""
    at = root
    try:
        for name in path.split("/"):
            if stat.S_ISLNK(at.lstat().st_mode) and at != root:
                return None
            at = at / name
        if not stat.S_ISREG(at.lstat().st_mode):
            return None
        with at.open("rb") as stream:
            return blob_id(stream, os.fstat(stream.fileno()).st_size, digits)
    except OSError:
        return None
