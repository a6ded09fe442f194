"""The overview of a project without evals: its instruction files, their sizes, pairs and authors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Final

from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen
from sitegen.model.named_tuple import NamedTuple
from sitegen.pages.instructions import FileRecord
from sitegen.text.patch import PatchCounts

FILES: Final = 20
"""Number of files that the page lists: the ones with the most versions."""

PAIRS: Final = 8
AUTHORS: Final = 8

MOST_AT_ONCE: Final = 25
"""Largest number of files in a commit that counts for pairs: larger commits usually move or reformat all files."""

_LEAST_TOGETHER: Final = 2
"""Smallest number of commits that the files of a pair have in common."""


class FilePair(NamedTuple):
    """Two files that the same commits edited."""

    first: str
    second: str
    commits: int
    """Number of commits that edited both files."""
    either: int
    """Number of commits that edited at least one; commits of more than ``MOST_AT_ONCE`` files do not count."""


class AuthorLine(Frozen):
    """An author of instruction edits."""

    name: str
    commits: int
    files: int
    last: Commit


class InstructionOverview(Frozen):
    """The instructions of a project as a whole."""

    files: tuple[FileRecord, ...]
    newest: Mapping[str, PatchCounts | None]
    """By file, the lines that its newest edit added and removed."""
    living: int
    deleted: int
    lines: int
    """Number of lines of all existing files whose size is known."""
    commits: int
    """Number of commits that edited any file."""
    pairs: tuple[FilePair, ...]
    """Pairs, most often edited together and least often separately first."""
    authors: tuple[AuthorLine, ...]
    author_count: int
    """Number of all authors, including ones that are not listed."""


def instruction_overview(
    records: Iterable[FileRecord], newest: Mapping[str, PatchCounts | None]
) -> InstructionOverview:
    """Sum up all instruction files. ``newest`` has, by file, the lines that its newest edit added and removed."""
    files = tuple(records)
    living = [record for record in files if not record.history.deleted]
    by_commit: dict[str, set[str]] = {}
    commits: dict[str, Commit] = {}
    for record in files:
        for edit in record.history.edits:
            by_commit.setdefault(edit.commit.sha, set()).add(record.history.path)
            commits[edit.commit.sha] = edit.commit
    listed = sorted(living, key=lambda record: (-len(record.history.edits), record.history.path))[:FILES]
    authors = _authors(by_commit, commits)
    return InstructionOverview(
        files=tuple(listed),
        newest=newest,
        living=len(living),
        deleted=len(files) - len(living),
        lines=sum(record.lines[-1] or 0 for record in living),
        commits=len(by_commit),
        pairs=_file_pairs(by_commit, frozenset(record.history.path for record in living)),
        authors=authors[:AUTHORS],
        author_count=len(authors),
    )


def _file_pairs(by_commit: Mapping[str, set[str]], living: frozenset[str]) -> tuple[FilePair, ...]:
    edited: Counter[str] = Counter()
    together: Counter[tuple[str, str]] = Counter()
    for touched in by_commit.values():
        if len(touched) <= MOST_AT_ONCE:
            living_files = sorted(touched & living)
            edited.update(living_files)
            together.update(combinations(living_files, 2))
    pairs = [
        FilePair(first=first, second=second, commits=commits, either=edited[first] + edited[second] - commits)
        for (first, second), commits in together.items()
        if commits >= _LEAST_TOGETHER
    ]
    return tuple(sorted(pairs, key=lambda pair: (-pair.commits * pair.commits / pair.either, pair))[:PAIRS])


def _authors(by_commit: Mapping[str, set[str]], commits: Mapping[str, Commit]) -> tuple[AuthorLine, ...]:
    files: dict[str, set[str]] = {}
    by_author: dict[str, list[Commit]] = {}
    for sha, touched in by_commit.items():
        name = commits[sha].author
        files.setdefault(name, set()).update(touched)
        by_author.setdefault(name, []).append(commits[sha])
    rows = (
        AuthorLine(
            name=name, commits=len(own), files=len(files[name]), last=max(own, key=lambda commit: commit.position)
        )
        for name, own in by_author.items()
    )
    return tuple(sorted(rows, key=lambda row: (-row.commits, row.name)))
