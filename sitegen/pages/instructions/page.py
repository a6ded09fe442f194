"""The page of all instruction files: a list by folder, and a matrix of what each edit did to each eval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

from sitegen.model.commits import Commit
from sitegen.model.series import Effect
from sitegen.model.site import Page
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages import links
from sitegen.pages.instruction.page import Impact, line_counts, thinned
from sitegen.text.patch import PatchCounts
from sitegen.text.plain import line

ROWS: Final = 100
"""Commits in the matrix, the newest ones; older ones have pages of their own."""

NOTICED: Final = 0.05
"""Points below which a change is written as 0 and does not make an edit mixed."""


class FileEdit(NamedTuple):
    """An edit of one instruction file."""

    edit: Edit
    file: str
    """The last path of the file, which its page is named after."""
    counts: PatchCounts | None = None
    """Lines added and removed, on pages that say so."""


class EditEffects(NamedTuple):
    """The instruction edits of one commit, with their effect on each eval."""

    commit: Commit
    edits: tuple[FileEdit, ...]
    """By path; at least one."""
    effects: tuple[Effect, ...]


class FileSize(NamedTuple):
    """The size of a file over its edits, and its version."""

    lines: int | None
    after: tuple[int | None, ...]
    """Lines after each edit, a selection if there are many."""
    version: str | None
    """The last version that an edit stated."""


class FileRecord(NamedTuple):
    """One file with its size and the effects of its newest edit."""

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
    size: FileSize
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
        files: all instruction files.
        edits: commits that edited any of them, with their effects on evals, newest first.

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
    """The size of a file from the counts of its edits, oldest first; there is at least one."""
    lines = line_counts(counts)
    versions = (count.version_after for count in reversed(counts) if count is not None)
    return FileSize(lines[-1], thinned(lines), next(filter(None, versions), None))


def _instruction_file_row(record: FileRecord) -> FileRow:
    history = record.history
    folder, _, name = history.path.rpartition("/")
    last = history.edits[-1].commit
    return FileRow(
        file=history.path,
        name=line(name),
        folder=line(folder),
        edits=len(history.edits),
        last=last,
        subject=line(last.subject, 160) or "(no subject)",
        size=record.size,
        impact=record.last_impact,
    )


class Shift(NamedTuple):
    """The change of one eval around one edit."""

    points: float
    """Change of the headline metric that outputs made, in hundredths of the metric's range."""
    better: float
    """The same, signed so that up is better."""


class MatrixRow(NamedTuple):
    """One commit that edited instructions, with output of some eval before and after."""

    commit: Commit
    subject: str
    files: tuple[str, ...]
    """Names of the files that it edited."""
    target: str
    """Address of the page of the edit or commit, from the root of the site."""
    shifts: tuple[Shift | None, ...]
    """In the order of the columns; None without output on both sides."""

    @property
    def mixed(self) -> bool:
        """Whether one eval improved and another one became worse."""
        better = [shift.better for shift in self.shifts if shift]
        return any(change >= NOTICED for change in better) and any(change <= -NOTICED for change in better)


class MatrixColumn(NamedTuple):
    """One eval."""

    eval_id: str
    name: str
    gained: int
    """Commits of the matrix after which it was better."""
    lost: int


class Matrix(NamedTuple):
    """Commits with edits, newest first, by the evals that any of them moved."""

    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...]
    older: bool
    """There are older commits that are not shown."""

    @property
    def mixed(self) -> int:
        """Number of mixed rows."""
        return sum(row.mixed for row in self.rows)


def matrix(edits: Iterable[EditEffects]) -> Matrix | None:
    """The matrix; None if no edit has output before and after.

    Args:
        edits: commits with their edits and effects, newest first; read only as far as rows are shown.

    """
    with_outputs = (edit for edit in edits if any(effect.change is not None for effect in edit.effects))
    newest = list(islice(with_outputs, ROWS + 1))
    if not newest:
        return None
    older, newest = len(newest) > ROWS, newest[:ROWS]
    changes = [{effect.eval_id: shift for effect in edit.effects if (shift := _shift(effect))} for edit in newest]
    names = {effect.eval_id: line(effect.name, 60) for edit in newest for effect in edit.effects if _shift(effect)}
    columns = sorted(names, key=lambda eval_id: (names[eval_id], eval_id))
    return Matrix(
        tuple(_column(eval_id, names[eval_id], (row.get(eval_id) for row in changes)) for eval_id in columns),
        tuple(
            MatrixRow(
                commit=edit.commit,
                subject=line(edit.commit.subject, 160) or "(no subject)",
                files=tuple(line(file_edit.file, 120) for file_edit in edit.edits),
                target=_edit_address(edit),
                shifts=tuple(map(row.get, columns)),
            )
            for edit, row in zip(newest, changes, strict=True)
        ),
        older,
    )


def _shift(effect: Effect) -> Shift | None:
    change = effect.by_outputs
    if change is None:
        return None
    if not effect.specs:
        return Shift(100 * change, 100 * change)
    spec = effect.specs[0]
    points = 100 * change / (spec.high - spec.low)
    return Shift(points, points if spec.higher_is_better else -points)


def _column(eval_id: str, name: str, shifts: Iterable[Shift | None]) -> MatrixColumn:
    better = [shift.better for shift in shifts if shift]
    gained, lost = sum(change >= NOTICED for change in better), sum(change <= -NOTICED for change in better)
    return MatrixColumn(eval_id=eval_id, name=name, gained=gained, lost=lost)


def _edit_address(edit: EditEffects) -> str:
    """The page of the edit or, if the commit has several, the page of the commit."""
    if len(edit.edits) == 1 or edit.commit.sha == edit.commit.short:
        return links.edit(edit.edits[0].file, edit.commit.sha)
    return links.commit(edit.commit.sha)
