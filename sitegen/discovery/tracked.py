"""The files of a history that may belong to an eval or instruct a model, and how often each was written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from sitegen.history.repository import Repository
from sitegen.model.commits import Revision

MOST_COMMITS: Final = 20_000
"""Commits that are walked: the newest ones. A file that none of them wrote is not looked at."""

MOST_FILES: Final = 50_000
"""Files that are remembered: the first ones that history brought."""

DATA: Final = frozenset({"json", "jsonl", "ndjson", "csv", "yaml", "yml", "xml", "eval"})
"""Endings of files that may hold outputs, expected values or results."""

TEXT: Final = frozenset(
    {"md", "mdc", "txt", "prompt", "prompty", "j2", "jinja", "jinja2", "mustache", "hbs", "yaml", "yml", "json", "toml"}
)
"""Endings of files that may instruct a model."""

_SKIPPED = re.compile(
    r"(?:^|/)(?:node_modules|bower_components|vendor|third_party|site-packages|\.?venv|dist|build|target|__snapshots__|"
    r"__pycache__|\.git|\.yarn|\.next|\.sitegen)/"
)
_CURSOR: Final = frozenset({".cursorrules", ".windsurfrules", ".clinerules", ".goosehints"})


class TrackedFile(NamedTuple):
    """One path of the history."""

    path: str
    oid: str
    """Of its newest content."""
    versions: int
    """Commits that wrote a content."""
    last: int
    """Position of the newest of them."""
    deleted: bool

    @property
    def folder(self) -> str:
        """Without the name; empty at the top."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        """Without the folder."""
        return self.path.rpartition("/")[2]

    @property
    def ending(self) -> str:
        """Of the name, in small letters; empty without one."""
        return ending_of(self.path)


class TrackedHistory(NamedTuple):
    """What the walk found."""

    files: tuple[TrackedFile, ...]
    """By path."""
    commits: int
    """Of the line, up to the one that was looked at."""
    is_whole: bool
    """Whether all of history was walked."""


def ending_of(path: str) -> str:
    """What follows the last dot of a path's name, in small letters; empty without one."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def tracked_files(repository: Repository, head: str, *, first_parent: bool) -> TrackedHistory:
    """Walk history up to a commit. Paths that cannot be written into a configuration are left out."""
    since = _resolved(repository, f"{head}~{MOST_COMMITS}")
    revisions = repository.walk(head, since=since, first_parent=first_parent)
    files, commits = _collected(revisions)
    return TrackedHistory(files, commits, since is None)


def _collected(revisions: Iterable[Revision]) -> tuple[tuple[TrackedFile, ...], int]:
    found: dict[str, TrackedFile] = {}
    commits = 0
    for revision in revisions:
        commits += 1
        for change in revision.changes:
            path, known = change.path, found.get(change.path)
            if change.new is None:
                if known is not None:
                    found[path] = known._replace(deleted=True)
            elif known is not None:
                found[path] = TrackedFile(
                    path=path, oid=change.new, versions=known.versions + 1, last=revision.commit.position, deleted=False
                )
            elif len(found) < MOST_FILES and _may_matter(path):
                found[path] = TrackedFile(
                    path=path, oid=change.new, versions=1, last=revision.commit.position, deleted=False
                )
    return tuple(found[path] for path in sorted(found)), commits


def _may_matter(path: str) -> bool:
    ending = ending_of(path)
    if ending not in DATA and ending not in TEXT and path.rpartition("/")[2] not in _CURSOR and not _is_code(path):
        return False
    return path.isprintable() and not _SKIPPED.search(path)


def _is_code(path: str) -> bool:
    """Whether this is a file of code that is named after the prompts in it."""
    return re.search(r"(?:^|[/_-])prompts?\.(?:py|ts|js)$", path, re.IGNORECASE) is not None


def _resolved(repository: Repository, rev: str) -> str | None:
    from sitegen.errors import SitegenError

    try:
        return repository.resolve(rev)
    except SitegenError:
        return None
