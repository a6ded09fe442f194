"""Transfers the history that a build reads to another machine, as one git pack, unless it is there already."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from sitegen.data_files.project_files import LARGEST_FILE, read_file
from sitegen.errors import RepositoryError
from sitegen.history.process import Process
from sitegen.history.repository import Repository
from sitegen.history.repository_place import RepositoryPlace, find_repository
from sitegen.model.frozen import Frozen


class HistoryRead(Frozen):
    """The history that the tasks of a build read."""

    place: RepositoryPlace
    """The repository on the machine that builds."""
    head: str | None
    """The commit of HEAD there."""
    commits: tuple[str, ...]
    """The commits from which everything that is read is reachable."""

    @classmethod
    def at(cls, place: RepositoryPlace, commits: Iterable[str]) -> HistoryRead:
        """Return the history of these commits and of HEAD."""
        head = find_repository(place.git_dir).head
        return cls(place, head, tuple(dict.fromkeys((*commits, *([head] if head else [])))))


def can_read(history: HistoryRead) -> bool:
    """Whether this process can read all of the history by its path.

    A clone at the same path on this machine is sufficient if it has the commits and the same HEAD. A shallow or partial
    clone is not, because it may lack contents of the original.
    """
    try:
        here = find_repository(history.place.git_dir)
        if here.head != history.head or here.place.shallow or here.place.common_dir != history.place.common_dir:
            return False
        if (here.place.common_dir / "objects/info/alternates").exists() or _is_partial(here.place):
            return False
        return all(Repository(here.place).resolve(commit) for commit in history.commits)
    except (RepositoryError, OSError):
        return False


def _is_partial(place: RepositoryPlace) -> bool:
    """Whether git may lack contents of the history that it has (``git clone --filter``)."""
    with Process(place, ["config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$"], ()) as config:
        return bool(config.stdout.read())


class PackedHistory(Frozen):
    """A history in the form in which it is sent."""

    head: str
    """The commit of HEAD."""
    pack: bytes
    shallow: bytes
    """The ids of the commits whose parents are cut off, as git lists them."""


def packed(history: HistoryRead) -> PackedHistory:
    """Pack all objects of a history that git has. The pack is about as large as the packs of the repository.

    Raises RepositoryError if git cannot read an object.
    """
    place, commits = history.place, history.commits
    arguments = ("--revs", "--stdout", "--quiet", "--delta-base-offset", "--missing=allow-any")
    with Process(place, ["pack-objects", *arguments], (f"{commit}\n".encode() for commit in commits)) as process:
        pack = process.stdout.read()
        process.finish()
    shallow = read_file(place.common_dir / "shallow", LARGEST_FILE) if place.shallow else b""
    return PackedHistory(history.head or commits[0], pack, shallow)


def unpacked(history: PackedHistory, folder: Path) -> RepositoryPlace:
    """Make a bare repository of a history in a new folder. Raises RepositoryError if git rejects the pack."""
    for name in ("objects", "refs"):
        os.makedirs(folder / name)
    sha256 = len(history.head) == 64
    lines = ["[core]", "bare = true", f"repositoryformatversion = {int(sha256)}"]
    (folder / "config").write_text("\n".join([*lines, *["[extensions]", "objectFormat = sha256"] * sha256, ""]))
    (folder / "HEAD").write_text(f"{history.head}\n")
    if history.shallow:
        (folder / "shallow").write_bytes(history.shallow)
    place = RepositoryPlace(git_dir=folder, common_dir=folder, root=None, shallow=bool(history.shallow))
    with Process(place, ["index-pack", "--stdin"], (history.pack,)) as process:
        process.stdout.read()
        process.finish()
    return place
