"""What the first page shows where there are instructions and no evals: files, versions, sizes, authors, company."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Final, NamedTuple

from sitegen.model.commits import Commit
from sitegen.pages.instructions.page import FileRecord
from sitegen.text.patch import PatchCounts

FILES: Final = 20
"""Files that are listed: those with most versions."""

PAIRS: Final = 8
AUTHORS: Final = 8

MOST_AT_ONCE: Final = 25
"""Files of a commit that say something of each other; a commit that edits more moves or reformats them all."""

LEAST_TOGETHER: Final = 2
"""Commits that a pair must have in common."""


class FileLine(NamedTuple):
    """One file in the list."""

    file: str
    versions: int
    lines: int | None
    sizes: tuple[int | None, ...]
    """Lines after each edit, thinned out."""
    version: str | None
    """The last one that the file states of itself."""
    authors: int
    last: Commit
    counts: PatchCounts | None
    """Of the newest edit."""


class FilePair(NamedTuple):
    """Two files that the same commits edited."""

    one: str
    other: str
    commits: int
    of: int
    """Commits that edited either of them, without those that edited more files than ``MOST_AT_ONCE``."""


class AuthorLine(NamedTuple):
    """Who edited."""

    name: str
    commits: int
    files: int
    last: Commit


class InstructionOverview(NamedTuple):
    """The instructions of a project as a whole."""

    files: tuple[FileLine, ...]
    living: int
    deleted: int
    lines: int
    """Of all files that are there and whose size is known."""
    commits: int
    """That edited any of them."""
    pairs: tuple[FilePair, ...]
    """Edited together most often, and hardly one without the other, first."""
    authors: tuple[AuthorLine, ...]
    everyone: int
    """How many authors there are."""


def instruction_overview(
    records: Iterable[FileRecord], newest: Mapping[str, PatchCounts | None]
) -> InstructionOverview:
    """Sum up all instruction files. ``newest``: by file, what its newest edit added and removed."""
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
        files=tuple(_file_line(record, newest.get(record.history.path)) for record in listed),
        living=len(living),
        deleted=len(files) - len(living),
        lines=sum(record.size.lines or 0 for record in living),
        commits=len(by_commit),
        pairs=_file_pairs(by_commit, frozenset(record.history.path for record in living)),
        authors=authors[:AUTHORS],
        everyone=len(authors),
    )


def _file_line(record: FileRecord, counts: PatchCounts | None) -> FileLine:
    edits = record.history.edits
    return FileLine(
        file=record.history.path,
        versions=len(edits),
        lines=record.size.lines,
        sizes=record.size.after,
        version=record.size.version,
        authors=len({edit.commit.author for edit in edits}),
        last=edits[-1].commit,
        counts=counts,
    )


def _file_pairs(by_commit: Mapping[str, set[str]], living: frozenset[str]) -> tuple[FilePair, ...]:
    edited: Counter[str] = Counter()
    together: Counter[tuple[str, str]] = Counter()
    for touched in by_commit.values():
        if len(touched) <= MOST_AT_ONCE:
            there = sorted(touched & living)
            edited.update(there)
            together.update(combinations(there, 2))
    pairs = [
        FilePair(one=one, other=other, commits=commits, of=edited[one] + edited[other] - commits)
        for (one, other), commits in together.items()
        if commits >= LEAST_TOGETHER
    ]
    return tuple(sorted(pairs, key=lambda pair: (-pair.commits * pair.commits / pair.of, pair))[:PAIRS])


def _authors(by_commit: Mapping[str, set[str]], commits: Mapping[str, Commit]) -> tuple[AuthorLine, ...]:
    files: dict[str, set[str]] = {}
    made: dict[str, list[Commit]] = {}
    for sha, touched in by_commit.items():
        name = commits[sha].author
        files.setdefault(name, set()).update(touched)
        made.setdefault(name, []).append(commits[sha])
    rows = (
        AuthorLine(
            name=name, commits=len(own), files=len(files[name]), last=max(own, key=lambda commit: commit.position)
        )
        for name, own in made.items()
    )
    return tuple(sorted(rows, key=lambda row: (-row.commits, row.name)))
