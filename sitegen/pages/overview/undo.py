"""The edit before the largest loss: the lines that it changed, and the command that takes it back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final, TypeAlias

from sitegen.analysis.go_back import FileThen
from sitegen.analysis.standing import LOST, EvalStanding
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages.file_history import go_back_command
from sitegen.pages.overview.phrases import worst_step
from sitegen.text.patch import PatchLine, read_patch

LINES: Final = 4
"""Largest number of changed lines that are shown."""


Undo: TypeAlias = tuple[InstructionHistory, Edit, tuple[PatchLine, ...], int, str | None]
"""The newest edit between the outputs before and after a loss. Association in time: it need not be the cause.

The file, the edit, the first lines that it changed, the number of changed lines that are left out, and the command that
restores the edited files as they were before; None if there are too many, or if the edit is uncommitted.
"""


def undo_of(
    evals: Sequence[EvalStanding], files: Iterable[InstructionHistory], patch_of: Callable[[Edit], bytes]
) -> Undo | None:
    """Return the edit before the loss that the first sentence names; None if it names none, or no edit is beside it.

    *evals* are as for ``news``; *patch_of* reads the patch of an edit.
    """
    scored = [standing for standing in evals if standing.summary.headlines]
    if not scored or scored[0].trouble not in LOST or not scored[0].worse:
        return None
    circumstances = worst_step(scored[0]).circumstances
    edited = circumstances.edited
    if edited is None:
        return None
    beside = {(beside.path, beside.sha) for beside in circumstances.edits}
    found = [
        (file, edit)
        for file in files
        for edit in file.edits
        if edit.commit.sha == edited.sha and (edit.path, edited.sha) in beside
    ]
    if not found:
        return None
    drawn = [(file, edit, read_patch(patch_of(edit))) for file, edit in found]
    file, edit, patch = max(drawn, key=lambda one: one[2].counts.added + one[2].counts.removed)
    changed = (line for hunk in patch.hunks for line in hunk.lines if line.kind in ("added", "removed"))
    lines = tuple(islice(changed, LINES))
    return (
        file,
        edit,
        lines,
        max(0, patch.counts.added + patch.counts.removed - len(lines)),
        go_back_command(edited, [_before(file, edit) for file, edit in found], parent=True),
    )


def _before(file: InstructionHistory, edit: Edit) -> FileThen:
    return FileThen(then=edit.old.path if edit.old else None, now=None if file.deleted else file.path)
