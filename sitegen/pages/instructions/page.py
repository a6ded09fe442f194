"""The page of all instruction files: the best versions, a list by folder, and the matrix of edits by evals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sitegen.analysis.go_back import BestInstructions, EvalThen
from sitegen.frozen import Frozen
from sitegen.model.commits import Commit
from sitegen.model.series import Effect
from sitegen.model.site import Page
from sitegen.model.timeline import InstructionHistory
from sitegen.pages import links
from sitegen.pages.effects import Grade
from sitegen.pages.file_history import go_back_command
from sitegen.pages.instruction import line_counts, thinned
from sitegen.pages.instructions.edits import EditEffects
from sitegen.pages.instructions.matrix import Matrix, matrix
from sitegen.pages.labels import subject_of
from sitegen.text.patch import PatchCounts
from sitegen.text.plain import line

VERSIONS: Final = 20
"""Number of best versions on the page: those that are the best for most evals."""

COSTS: Final = 20
"""Number of evals listed for a version besides those for which it is the best: the largest losses."""

FILES: Final = 200
"""Number of files with a row: those whose edits changed evals most surely."""

DELETED: Final = 100
"""Number of deleted files with a row: those that were deleted last."""

NAMED: Final = 1_000
"""Number of further files that the page only names."""


class FileSize(Frozen):
    """The size of a file over its edits, and its version."""

    lines: int | None
    after: tuple[int | None, ...]
    """Lines after each edit, a selection if there are many."""
    version: str | None
    """The last version that an edit stated."""


class FileRecord(Frozen):
    """One file with its size and how evals changed around its edits."""

    history: InstructionHistory
    size: FileSize
    grades: tuple[tuple[Grade, int], ...]
    """Verdicts on evals, over all of its edits."""
    newest_effects: tuple[Effect, ...] = ()
    """Effects of its newest edit with an output before and after."""
    newest_measured: Commit | None = None
    """The commit of that edit; None if there is none."""

    @property
    def name(self) -> str:
        """Name with the last folder, which distinguishes files of the same name."""
        folder, _, name = self.history.path.rpartition("/")
        above, _, last_folder = folder.rpartition("/")
        return line(f"{last_folder}/{name}" if above else name)

    @property
    def folder(self) -> str:
        """The folders that the name leaves out."""
        folder, _, _ = self.history.path.rpartition("/")
        above, _, _ = folder.rpartition("/")
        return line(above or folder)

    @property
    def last(self) -> Commit:
        """The commit of its newest edit."""
        return self.history.edits[-1].commit

    @property
    def subject(self) -> str:
        """Subject of the commit of the newest edit with an output before and after, or else of the newest edit."""
        return subject_of((self.newest_measured or self.last), 160)

    @property
    def authors(self) -> int:
        """Number of authors of its edits."""
        return len({edit.commit.author for edit in self.history.edits})


class BestVersionRow(Frozen):
    """The state of all instructions when evals were at their best."""

    version: BestInstructions
    subject: str
    best_for: tuple[EvalThen, ...]
    others: tuple[EvalThen, ...]
    """The other evals, largest loss first, at most ``COSTS``."""
    more: int
    """Number of evals that are left out, which lose less."""
    command: str | None
    """The command to go back; None if the instructions are the same as then, or if no command is possible."""


class InstructionsView(Frozen):
    """All instruction files."""

    nav: str
    files: tuple[FileRecord, ...]
    """Files, most certain effects of edits first, at most ``FILES``."""
    deleted: tuple[FileRecord, ...]
    """Deleted files by path, at most ``DELETED``."""
    living: int
    """Number of all files that are not deleted."""
    gone: int
    edits: int
    """Number of edits of all files together."""
    named: tuple[FileRecord, ...] = ()
    """Further files by path, of which only the names are shown."""
    matrix: Matrix | None = None
    best: tuple[BestVersionRow, ...] = ()
    """The versions that are the best for any eval, newest first, at most ``VERSIONS``."""
    other_versions: int = 0
    """Number of such versions that are left out."""

    @property
    def more(self) -> int:
        """Number of files that are not shown at all."""
        return self.living + self.gone - len(self.files) - len(self.deleted) - len(self.named)


def instructions_page(
    files: Iterable[FileRecord], edits: Iterable[EditEffects] = (), best: tuple[BestInstructions, ...] = ()
) -> Page:
    """The index of instruction files: the best versions, what edits did to evals, and all files.

    Args:
        files: all instruction files.
        edits: commits that edited any of them, with their effects on evals, newest first.
        best: the state of all instructions when evals were at their best.

    """
    records = sorted(files, key=_path)
    living = sorted((record for record in records if not record.history.deleted), key=_surest_first)
    gone = sorted((record for record in records if record.history.deleted), key=_last_edit, reverse=True)
    further = sorted((*living[FILES:], *gone[DELETED:]), key=_path)
    view = InstructionsView(
        nav="instructions",
        files=tuple(living[:FILES]),
        deleted=tuple(sorted(gone[:DELETED], key=_path)),
        living=len(living),
        gone=len(gone),
        edits=sum(len(record.history.edits) for record in records),
        named=tuple(further[:NAMED]),
        matrix=matrix(edits),
        best=tuple(map(_best_row, _best_for_most(best))),
        other_versions=max(0, len(best) - VERSIONS),
    )
    return Page(links.instructions(), "pages/instructions.html", view)


def file_size(counts: Sequence[PatchCounts | None]) -> FileSize:
    """The size of a file from the counts of its edits, oldest first; there is at least one."""
    lines = line_counts(counts)
    versions = (count.version_after for count in reversed(counts) if count is not None)
    return FileSize(lines[-1], thinned(lines), next(filter(None, versions), None))


def _best_for_most(versions: tuple[BestInstructions, ...]) -> list[BestInstructions]:
    """Choose the versions that are the best for most evals; they stay in their order."""
    evals = [sum(effect.is_best for effect in version.evals) for version in versions]
    ranked = sorted(range(len(versions)), key=lambda index: -evals[index])[:VERSIONS]
    return [versions[index] for index in sorted(ranked)]


def _best_row(version: BestInstructions) -> BestVersionRow:
    others = [effect for effect in version.evals if not effect.is_best]
    return BestVersionRow(
        version=version,
        subject=subject_of(version.commit, 160),
        best_for=tuple(effect for effect in version.evals if effect.is_best),
        others=tuple(others[:COSTS]),
        more=len(others[COSTS:]),
        command=go_back_command(version.commit, version.files),
    )


def _path(record: FileRecord) -> str:
    return record.history.path


def _last_edit(record: FileRecord) -> int:
    return record.last.position


def _surest_first(record: FileRecord) -> tuple[int, ...]:
    numbers = dict(record.grades)
    sure, likely = (
        sum(numbers.get(grade, 0) for grade in grades)
        for grades in (("worse", "better"), ("likely worse", "likely better"))
    )
    return -sure, -likely, -numbers.get("cannot tell", 0)
