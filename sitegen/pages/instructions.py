"""The page of all instruction files: the best versions, the effect of each edit on each eval, and the files.

``pages/instructions.html`` reads the model itself, and calls the functions of this module for what the model lacks.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from posixpath import basename, splitext
from typing import Final, NamedTuple, TypeAlias

from sitegen.analysis.effects import BestInstructions
from sitegen.model.changes import EditedFile
from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.series import Effect
from sitegen.model.site import Page
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages import links
from sitegen.pages.effects import NOTICED, Grade
from sitegen.pages.instruction import sizes_after
from sitegen.text.patch import PatchCounts, PatchLine, read_patch
from sitegen.text.plain import line

VERSIONS: Final = 20
"""Number of best versions on the page: those that are the best for most evals."""

COSTS: Final = 20
"""Number of evals listed for a version besides those for which it is the best: the largest losses."""

FILES: Final = 200
"""Number of files with a row: those whose edits changed evals most surely."""

DELETED: Final = 100
"""Number of deleted files with a row: those that were deleted last."""

NAMED_FILES: Final = 1_000
"""Number of further files that the page only names."""

ROWS: Final = 100
"""Number of commits in the matrix: the newest ones; every commit has its own page."""

COLUMNS: Final = 40
"""Number of evals in the matrix: those that moved after most of its commits."""

PAINTED: Final[dict[Grade, str]] = dict(
    zip(
        ("better", "likely better", "worse in part", "likely worse", "worse"),
        ("g2", "g1", "w1", "b1", "b2"),
        strict=True,
    )
)
"""The class of a cell of the matrix by its verdict; any other cell is not painted."""


class FileEdit(NamedTuple):
    """An edit of one instruction file."""

    edit: Edit
    file: str
    """The last path of the file, which names its page."""


def edits_by_variant(edits: Iterable[Edit], moved: Mapping[EditedFile, str]) -> Mapping[str, Sequence[FileEdit]]:
    """Return the edits of instruction files by the variants that the files may be the prompts of, oldest first.

    A variant is named by the path of its prompt or an end of it, or by the path or the name without the suffix, as
    ``respond`` does. ``moved``: as ``EvalTask`` has it.
    """
    found = defaultdict[str, list[FileEdit]](list)
    for edit in edits:
        parts, stem = edit.path.split("/"), splitext(edit.path)[0]
        names = {"/".join(parts[start:]) for start in range(len(parts))}
        for name in {*names, stem.replace("/", "."), basename(stem)}:
            found[name].append(FileEdit(edit, moved.get((edit.path, edit.commit.sha), edit.path)))
    return found


def edits_by_commit(files: Iterable[InstructionHistory]) -> dict[int, tuple[FileEdit, ...]]:
    """Return the edits of each commit by its position, oldest first; those of a commit by path."""
    edits = grouped((edit.commit.position, FileEdit(edit, file.path)) for file in files for edit in file.edits)
    return {position: tuple(sorted(edits[position], key=attrgetter("edit.path"))) for position in sorted(edits)}


class EditEffects(Frozen):
    """The instruction edits of one commit, with their effect on each eval."""

    edits: tuple[FileEdit, ...]
    """The edits by path; at least one."""
    effects: tuple[Effect, ...]

    @property
    def commit(self) -> Commit:
        """Their commit."""
        return self.edits[0].edit.commit

    @property
    def shifted(self) -> dict[str, Effect]:
        """The effects with output on both sides by the same model, by the ids of the evals."""
        same_model = (effect for effect in self.effects if effect.change is not None and not effect.window.model)
        return {effect.info.id: effect for effect in same_model}


class FileRecord(Frozen):
    """One file with how much each of its edits changed, and how evals changed around its edits."""

    history: InstructionHistory
    counts: tuple[PatchCounts | None, ...]
    """How much each edit changed; None if unknown."""
    grades: tuple[tuple[Grade, int], ...]
    """Verdicts on evals, over all of its edits."""
    measured: Commit | None = None
    """The commit of its newest edit with an output before and after; None if there is none."""
    effects: tuple[Effect, ...] = ()

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
        return above or folder

    @property
    def last(self) -> Commit:
        """The commit of its newest edit."""
        return self.history.edits[-1].commit

    @property
    def lines(self) -> tuple[int | None, ...]:
        """Number of lines after each edit."""
        return tuple(size.lines for size in sizes_after(self.counts))

    @property
    def version(self) -> str | None:
        """The last version that an edit stated."""
        return next((count.version_after for count in self.counts[::-1] if count and count.version_after), None)

    @property
    def sureness(self) -> tuple[int, ...]:
        """The order of files: the most certain effects of their edits first."""
        numbers = dict(self.grades)
        sure, likely = (
            sum(numbers.get(grade, 0) for grade in grades)
            for grades in (("worse", "worse in part", "better"), ("likely worse", "likely better"))
        )
        return -sure, -likely, -numbers.get("cannot tell", 0)


class Matrix(Frozen):
    """Commits with edits, newest first, by the evals that any of them moved."""

    edits: tuple[EditEffects, ...]
    """The rows: commits with output of some eval before and after."""
    evals: dict[str, tuple[str, int, int]]
    """The columns, by ids of evals: the name, and the numbers of commits after which it was surely better and worse."""
    older: bool
    other_evals: int
    """Number of evals that are not shown."""

    @property
    def mixed(self) -> set[int]:
        """The positions of the commits with which one eval of the matrix improved and another one became worse."""
        found = set()
        for edit in self.edits:
            decisions = {effect.decision for effect in edit.effects if effect.info.id in self.evals}
            if decisions & {"better", "likely better"} and decisions & {"worse", "likely worse"}:
                found.add(edit.commit.position)
        return found


class InstructionsView(Frozen):
    """All instruction files."""

    files: tuple[FileRecord, ...]
    """By path."""
    matrix: Matrix | None
    best: tuple[BestInstructions, ...]
    """The state of all instructions when evals were at their best, newest first."""


def instructions_page(
    files: Iterable[FileRecord], edits: Iterable[EditEffects], best: tuple[BestInstructions, ...]
) -> Page:
    """The index of instruction files.

    ``edits``: commits that edited any of them, with their effects on evals, newest first. ``best``: as in
    ``InstructionsView``.
    """
    by_path = tuple(sorted(files, key=lambda file: file.history.path))
    view = InstructionsView(files=by_path, matrix=matrix(edits), best=best)
    return Page(links.instructions(), "pages/instructions.html", view)


def best_for_most(versions: tuple[BestInstructions, ...]) -> list[BestInstructions]:
    """Choose the versions that are the best for most evals; they stay in their order."""
    evals = [sum(effect.is_best for effect in version.evals) for version in versions]
    ranked = sorted(range(len(versions)), key=lambda index: -evals[index])[:VERSIONS]
    return [versions[index] for index in sorted(ranked)]


def matrix(edits: Iterable[EditEffects]) -> Matrix | None:
    """The matrix; None if no edit has output before and after.

    ``edits``: commits with their edits and effects, newest first; read only as far as rows are shown.
    """
    with_outputs = (edit for edit in edits if any(effect.change is not None for effect in edit.effects))
    newest = tuple(islice(with_outputs, ROWS + 1))
    if not newest:
        return None
    older, newest = len(newest) > ROWS, newest[:ROWS]
    better, worse, moved, names = Counter[str](), Counter[str](), Counter[str](), dict[str, str]()
    for effect in (effect for edit in newest for effect in edit.shifted.values()):
        names[effect.info.id] = line(effect.info.name, 60)
        better[effect.info.id] += effect.decision == "better"
        worse[effect.info.id] += effect.decision == "worse"
        moved[effect.info.id] += abs(effect.gain or 0.0) >= NOTICED
    by_name = sorted(names, key=lambda eval_id: (names[eval_id], eval_id))
    shown = set(sorted(by_name, key=lambda eval_id: -moved[eval_id])[:COLUMNS])
    return Matrix(
        edits=newest,
        evals={eval_id: (names[eval_id], better[eval_id], worse[eval_id]) for eval_id in by_name if eval_id in shown},
        older=older,
        other_evals=len(names) - len(shown),
    )


_LINES: Final = 4  # the most changed lines of an edit that a page shows beside a loss

ChangedLines: TypeAlias = tuple[FileEdit, tuple[PatchLine, ...], int]
"""An edit, the first lines that it changed, if there are others without those that changed in numbers alone, and the
number of changed lines that are left out."""


def changed_lines(edits: Sequence[FileEdit], patches: Iterable[bytes]) -> ChangedLines:
    """The one of some edits that changed most lines. ``patches``: those of the edits."""
    drawn = zip(edits, map(read_patch, patches), strict=True)
    largest, patch = max(drawn, key=lambda one: one[1].counts.added + one[1].counts.removed)
    changed = [line for hunk in patch.hunks for line in hunk.lines if line.kind in ("added", "removed")]
    numberless = {line: re.sub(r"\d+", "", line.text) for line in changed}
    number_of = Counter(numberless.values())
    told = [line for line in changed if line.text.strip()]
    shown = ([line for line in told if number_of[numberless[line]] == 1] or told)[:_LINES]
    more = patch.counts.added + patch.counts.removed - len(changed) + len(told) - len(shown)
    return largest, tuple(shown), more
