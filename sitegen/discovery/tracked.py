"""Walks a history and lists the files that may belong to an eval or instruct a model, with their version counts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from sitegen.errors import SitegenError
from sitegen.frozen import Frozen
from sitegen.history.repository import Repository
from sitegen.model.commits import Revision

MOST_COMMITS: Final = 20_000
"""Number of newest commits that are walked. Files that none of them wrote are ignored."""

MOST_FILES: Final = 50_000
"""The most files that are listed; further files are ignored."""

DATA: Final = frozenset({"json", "jsonl", "ndjson", "csv", "yaml", "yml", "xml", "eval"})
"""Suffixes of files that may hold outputs, expected values or results."""

TEXT: Final = frozenset(
    {"md", "mdc", "txt", "prompt", "prompty", "j2", "jinja", "jinja2", "mustache", "hbs", "yaml", "yml", "json", "toml"}
)
"""Suffixes of files that may instruct a model."""

_SUFFIXES: Final = DATA | TEXT

_SKIPPED = re.compile(
    r"(?:^|/)(?:node_modules|bower_components|vendor|third_party|site-packages|\.?venv|dist|build|target|__snapshots__|"
    r"__pycache__|\.git|\.yarn|\.next|\.sitegen)/"
)
_CODE_OF_PROMPTS = re.compile(r"(?:^|[/_-])prompts?\.(?:py|ts|js)$", re.IGNORECASE)
_RULE_FILES: Final = frozenset({".cursorrules", ".windsurfrules", ".clinerules", ".goosehints"})


class TrackedFile(Frozen):
    """A file of the history, by path."""

    path: str
    oid: str
    """Blob id of the newest content."""
    versions: int
    """Number of commits that wrote the file."""
    deleted: bool

    @property
    def folder(self) -> str:
        """The path without the name; empty at the root."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The path without the folder."""
        return self.path.rpartition("/")[2]

    @property
    def ending(self) -> str:
        """The part of the name after the last dot, in lower case; empty without a dot."""
        return self.name.rpartition(".")[2].lower() if "." in self.name else ""


class TrackedHistory(Frozen):
    """The result of a walk."""

    files: tuple[TrackedFile, ...]
    """Sorted by path."""
    commits: int
    """Number of commits that were walked."""


def tracked_files(repository: Repository, head: str, *, first_parent: bool) -> TrackedHistory:
    """Walk history up to a commit. Paths that cannot be written into a configuration are left out."""
    try:
        since = repository.resolve(f"{head}~{MOST_COMMITS}")
    except SitegenError:  # the history has fewer commits
        since = None
    return _history_of_revisions(repository.walk(head, since=since, first_parent=first_parent))


def _history_of_revisions(revisions: Iterable[Revision]) -> TrackedHistory:
    files: dict[str, TrackedFile] = {}
    commits = 0
    for revision in revisions:
        commits += 1
        for change in revision.changes:
            file = files.get(change.path)
            if change.new is None:
                if file is not None:
                    files[change.path] = replace(file, deleted=True)
            elif file is not None:
                files[change.path] = replace(file, oid=change.new, versions=file.versions + 1, deleted=False)
            elif len(files) < MOST_FILES:
                new_file = TrackedFile(path=change.path, oid=change.new, versions=1, deleted=False)
                if _may_matter(new_file):
                    files[change.path] = new_file
    return TrackedHistory(tuple(files[path] for path in sorted(files)), commits)


def _may_matter(file: TrackedFile) -> bool:
    if file.ending not in _SUFFIXES and file.name not in _RULE_FILES and not _CODE_OF_PROMPTS.search(file.path):
        return False
    return file.path.isprintable() and not _SKIPPED.search(file.path)
