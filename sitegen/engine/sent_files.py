"""The files that the tasks of a build read, in the form in which they are sent to the workers of a cluster.

A worker takes part only if everything that decides the bytes of a site has the same version there.
"""

from __future__ import annotations

import platform
import re
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import metadata
from pathlib import Path
from secrets import token_hex
from typing import Any

from msgspec.structs import replace

from sitegen import __version__
from sitegen.config import extensions
from sitegen.data_files.project_files import open_file
from sitegen.engine.environment import bytecode_folder
from sitegen.engine.template_files import find_templates, own_files, read_template, template_digest, template_folders
from sitegen.engine.worker_context import WorkerContext
from sitegen.errors import WorkerError
from sitegen.history.repository_place import RepositoryPlace
from sitegen.history.sent_history import HistoryRead, PackedHistory, packed, unpacked
from sitegen.history.timeline import WorktreeBlob
from sitegen.model.frozen import Frozen


def installed_here() -> dict[str, str]:
    """Return the versions of Python, sitegen and its packages, by name: with the project they decide a site's bytes.

    Packages that are not installed count as well, because some files can only be read with them.
    """
    try:
        required = metadata.requires("sitegen-evals") or []
    except metadata.PackageNotFoundError:  # run from a folder that was never installed
        required = []
    names = {re.split(r"[^\w.-]", requirement)[0] for requirement in required} - {"distributed"}
    return {
        "sitegen": __version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "templates of sitegen": template_digest(find_templates()),
        **{name: _version_of(name) for name in sorted(names)},
        **extensions.packages(),
    }


def _version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


def refuse_other_versions(here: Mapping[str, str], there: Mapping[str, str], worker: str) -> None:
    """Raise WorkerError if a worker has a package in another version than the machine that builds."""
    names = sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
    if names:
        listed = "; ".join(
            f"{name} {there.get(name, 'missing')} there, {here.get(name, 'missing')} here" for name in names
        )
        raise WorkerError(
            f"A dask worker would not write the same site: {listed}.",
            where=worker,
            fix="Install the same versions on both sides, and start the worker again.",
        )


class WorktreeFile(Frozen):
    """A file of the work tree, in the form in which it is sent to workers."""

    oid: str
    size: int | None
    """None: it could not be opened."""
    content: bytes
    """Empty if the file is larger than what a build reads."""


def _worktree_file(blob: WorktreeBlob, limit: int) -> WorktreeFile:
    try:
        with open_file(blob.file) as stream:
            size = stream.seek(0, 2)
            stream.seek(0)
            return WorktreeFile(blob.oid, size, stream.read(limit) if size <= limit else b"")
    except OSError:
        return WorktreeFile(blob.oid, None, b"")


@dataclass(eq=False)
class BuildFiles:
    """The files that the tasks of a build read from the disk of the machine that builds.

    On a worker they are in a folder that is deleted at the end of the build. If the build is killed, the folder is
    deleted when the cluster drops this object.
    """

    build: str
    """Names the build, and the folders of these files on workers."""
    installed: Mapping[str, str]
    history: PackedHistory | None
    """None if every worker can read the history by its path."""
    templates_place: str
    """The folder of the project's own templates on the machine that builds."""
    templates: Mapping[str, bytes] | None
    """The project's own templates; None if it has no such folder."""
    worktree: tuple[WorktreeFile, ...]

    @classmethod
    def of(cls, context: WorkerContext, history: HistoryRead, *, by_path: bool) -> BuildFiles:
        """Collect the files for tasks with this context. ``by_path``: every worker can read the history by its path."""
        own = context.template_folders[:-1]
        return cls(
            build=f"sitegen-{token_hex(8)}",
            installed=installed_here(),
            history=None if by_path else packed(history),
            templates_place=str(own[0]) if own else "",
            templates={name: read_template(file) for name, file in own_files(own).items()} if own else None,
            worktree=tuple(_worktree_file(blob, context.max_blob_bytes) for blob in context.overlay),
        )

    def __post_init__(self) -> None:
        self._folder: Path | None = None
        self._place: RepositoryPlace | None = None

    def __reduce__(self) -> tuple[type[BuildFiles], tuple[Any, ...]]:
        return BuildFiles, tuple(getattr(self, sent.name) for sent in fields(self))

    def context(self, context: WorkerContext, scratch: str | None, worker: str) -> WorkerContext:
        """Return the context of a task on this worker.

        ``scratch``: where the folder is made; ``worker``: the worker's address. Raises WorkerError if this worker has
        another version of anything that decides the bytes of a site.
        """
        if self._folder is None:
            refuse_other_versions(self.installed, installed_here(), worker)
            folder = Path(tempfile.mkdtemp(prefix=self.build, dir=scratch))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self._write(folder)
            self._folder = folder
        folder = self._folder
        worktree = (WorktreeBlob(file.oid, folder / file.oid) for file in self.worktree)
        return replace(
            context,
            place=self._place or context.place,
            overlay=tuple(worktree),
            template_folders=template_folders(None if self.templates is None else folder / "templates"),
            bytecode=bytecode_folder(),
            out=None,
        )

    def place_of_builder(self, where: str | None) -> str | None:
        """Translate the place of an error to the path on the machine that builds."""
        return where and where.replace(f"{self._folder}/templates", self.templates_place)

    def _write(self, folder: Path) -> None:
        self._place = unpacked(self.history, folder / "history") if self.history else None
        for name, content in (self.templates or {}).items():
            file = folder / "templates" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        for sent in self.worktree:
            if sent.size is not None:
                with (folder / sent.oid).open("wb") as stream:
                    stream.write(sent.content)
                    stream.truncate(sent.size)  # of a file that is too large to be read, only the size is reported
