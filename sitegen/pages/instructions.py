"""The page of all instruction files, by folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sitegen.model.commits import Commit
from sitegen.model.site import Page
from sitegen.model.timeline import InstructionHistory
from sitegen.pages import links
from sitegen.pages.instruction import Impact, line_counts, thinned
from sitegen.pages.matrix import Matrix, matrix
from sitegen.pages.overview import EditEffects
from sitegen.text.patch import PatchCounts
from sitegen.text.plain import line


class FileSize(NamedTuple):
    """What the edits of a file add up to."""

    lines: int | None
    after: tuple[int | None, ...]
    """Lines after each edit, thinned out."""
    version: str | None
    """The last one that an edit named."""


class FileRecord(NamedTuple):
    """One file with what is kept of its edits."""

    history: InstructionHistory
    size: FileSize
    last_impact: Impact
    """Of the newest edit."""


class FileRow(NamedTuple):
    """One file in the list."""

    file: str
    name: str
    """Without the folder."""
    folder: str
    edits: int
    last: Commit
    subject: str
    lines: int | None
    sizes: tuple[int | None, ...]
    """Lines after each edit, thinned out."""
    version: str | None
    impact: Impact


class InstructionFolder(NamedTuple):
    """The files of one folder."""

    folder: str
    rows: tuple[FileRow, ...]


class InstructionsView(NamedTuple):
    """All instruction files."""

    nav: str
    groups: tuple[InstructionFolder, ...]
    deleted: tuple[FileRow, ...]
    edits: int
    """Of all files together."""
    matrix: Matrix | None = None


def instructions_page(files: Iterable[FileRecord], edits: Iterable[EditEffects] = ()) -> Page:
    """The index of instruction files: grouped by folder, both in the order of their names; deleted ones apart.

    Args:
        files: all of them, with what is kept of their edits.
        edits: commits that edited any of them with what became of the evals, newest first.

    """
    records = sorted(files, key=lambda record: record.history.path)
    living = [_instruction_file_row(record) for record in records if not record.history.deleted]
    groups: dict[str, list[FileRow]] = {}
    for row in living:
        groups.setdefault(row.folder, []).append(row)
    view = InstructionsView(
        nav="instructions",
        groups=tuple(InstructionFolder(folder, tuple(rows)) for folder, rows in sorted(groups.items())),
        deleted=tuple(_instruction_file_row(record) for record in records if record.history.deleted),
        edits=sum(len(record.history.edits) for record in records),
        matrix=matrix(edits),
    )
    return Page(links.instructions(), "pages/instructions.html", view)


def file_size(counts: Sequence[PatchCounts | None]) -> FileSize:
    """``counts``: of each edit, oldest first; at least one."""
    lines = line_counts(counts)
    versions = (count.version_after for count in reversed(counts) if count is not None)
    return FileSize(lines[-1], thinned(lines), next(filter(None, versions), None))


def _instruction_file_row(record: FileRecord) -> FileRow:
    history = record.history
    folder, _, name = history.path.rpartition("/")
    last = history.edits[-1].commit
    return FileRow(
        history.path,
        line(name),
        line(folder),
        len(history.edits),
        last,
        line(last.subject, 160) or "(no subject)",
        *record.size,
        record.last_impact,
    )
