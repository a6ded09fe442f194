"""Write the pages of one instruction file: its history, and each of its edits as a diff with what it did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, repeat
from typing import NamedTuple

from sitegen.analysis.effects import EvalPeak
from sitegen.analysis.memo import PageRow
from sitegen.history.fold_state import encode
from sitegen.model.problems import Problem
from sitegen.model.series import Effect
from sitegen.model.timeline import InstructionHistory
from sitegen.pages import links
from sitegen.pages.edit.page import RenderedPatch, draw_edit, edit_page
from sitegen.pages.instruction.file_history import thickens
from sitegen.pages.instruction.page import (
    DisplayedFile,
    EditRecord,
    instruction_page,
    line_counts,
    show_text,
    word_counts,
)
from sitegen.render.writer import WrittenFiles, digest
from sitegen.stages.cached_kinds import CountedEdit, NewestEdit
from sitegen.stages.failures import attempt
from sitegen.stages.worker_context import WorkerContext
from sitegen.text.patch import PatchCounts, read_patch
from sitegen.text.sections import NO_TEXT, Outline, TextStats, outline, touched


class InstructionTask(NamedTuple):
    """One instruction file whose pages are to be written."""

    context: WorkerContext
    history: InstructionHistory
    effects: tuple[tuple[Effect, ...], ...]
    """Of each edit."""
    counted: tuple[CountedEdit | None, ...]
    """Of each edit; None where no earlier build could count it."""
    newest: NewestEdit | None
    """As an earlier build left it; it may be out of date."""
    pages: tuple[PageRow, ...]
    """What surely stands in the output folder."""
    peaks: tuple[EvalPeak, ...]
    """Of the evals that the file drives."""
    folders: tuple[str, ...]
    """Folders and files that hold every instruction file of the project; empty: they may lie anywhere."""
    apart: int | None
    """Position of the commit that first gave agents instructions in files of their own."""


class InstructionDone(NamedTuple):
    """What a process returns for an ``InstructionTask``."""

    counted: tuple[CountedEdit, ...]
    """Every edit."""
    newest: NewestEdit
    files: WrittenFiles


def owner(path: str) -> str:
    """The owner under which the site's list of files keeps the pages of an instruction file."""
    return f"instruction:{path}"


def write_instruction(task: InstructionTask) -> InstructionDone | Problem:
    """Write the edits that are not fresh, then the file's own page.

    Patches are read for the edits that are to be written or were never counted, contents for the latter and the newest.
    A failure of sitegen is a problem; whatever was written until then is no file of the site.
    """
    path = task.history.path
    return attempt("the pages of this instruction file", lambda: _InstructionWork(task).run(), path=path)


class _InstructionWork:
    """Runs one task, edit after edit."""

    def __init__(self, task: InstructionTask) -> None:
        self._task = task
        self._history = task.history
        self._edits = task.history.edits
        self._owner = owner(task.history.path)
        self._repository = task.context.open()
        self._writer = task.context.writer(task.pages)
        self._renderer = task.context.renderer()
        self._counted = list(task.counted)
        self._sizes: list[TextStats] = []
        self._keys = [self._page_key(index) for index in range(len(self._edits))]

    def run(self) -> InstructionDone:
        """Read the patches that are needed, oldest first and each once, and write the pages that are out of date."""
        last = len(self._edits) - 1
        stale = {index for index in range(len(self._edits)) if not self._is_fresh(index)}
        uncounted = {index for index, edit in enumerate(self._counted) if edit is None}
        kept = self._task.newest
        newest = kept if kept and kept.edit == self._edits[last] and last not in uncounted else None
        needed = sorted((stale | uncounted) - {last}) + ([] if newest else [last])
        patches = self._repository.patches([self._edits[index] for index in needed], self._task.folders)
        outlines = self._outlines([index for index in needed if index in uncounted])
        for index, patch in zip(needed, patches, strict=True):
            if index in uncounted:
                sections = touched(read_patch(patch).hunks, *next(outlines))
                self._counted[index] = CountedEdit(counts=_patch_counts(patch), sections=sections)
            if index == last:
                drawn = draw_edit(self._edits[last], patch)
                newest = NewestEdit(edit=self._edits[last], patch=drawn, text=self._text())
            elif index in stale:
                self._write_edit(index, draw_edit(self._edits[index], patch))
        assert newest is not None
        if last in stale:
            self._write_edit(last, newest.patch)
        return self._finish(newest)

    def _outlines(self, indices: Iterable[int]) -> Iterator[tuple[Outline, Outline]]:
        """Sections of the texts before and after some edits. The text after one edit is mostly that before the next."""
        edits = [self._edits[index] for index in indices]
        oids = [blob.oid if blob else None for edit in edits for blob in (edit.old, edit.new)]
        contents = self._repository.read_blobs([oid for oid, _ in groupby(oids) if oid])
        sides = (
            side
            for oid, same in groupby(oids)
            for side in repeat(outline(next(contents).content or b"") if oid else NO_TEXT, len(list(same)))
        )
        return zip(sides, sides, strict=True)

    def _page_key(self, index: int) -> str:
        """The digest of all that the page of an edit shows: it and the one before, its effects, the templates."""
        edits = self._edits[max(0, index - 1) : index + 1]
        context, path, effects = self._task.context, self._history.path, self._task.effects[index]
        return digest(encode((context.templates, path, edits, index, effects, self._thickens(index))))

    def _thickens(self, index: int) -> bool:
        return thickens(self._edits[index], self._task.apart)

    def _is_fresh(self, index: int) -> bool:
        page = links.edit(self._history.path, self._edits[index].commit.sha)
        return self._writer.is_fresh(self._owner, page, self._keys[index])

    def _text(self) -> DisplayedFile | None:
        """The file as it is now; of a deleted one, as it was last."""
        newest = next((edit.new for edit in reversed(self._edits) if edit.new), None) or self._edits[0].old
        content = next(self._repository.read_blobs([newest.oid])).content if newest else None
        return None if content is None else show_text(content)

    def _write_edit(self, index: int, drawn: RenderedPatch) -> None:
        # Edits come in order, so whatever came before this one is counted by now.
        known = [edit and edit.counts for edit in self._counted[: index + 1]]
        self._sizes += list(map(TextStats, line_counts(known), word_counts(known)))[len(self._sizes) :]
        before = self._sizes[index - 1] if index else None
        page = edit_page(
            self._history,
            index,
            drawn,
            self._task.effects[index],
            before,
            self._sizes[index],
            thickens=self._thickens(index),
        )
        self._writer.write(self._owner, page.path, self._renderer.render(page), self._keys[index])

    def _finish(self, newest: NewestEdit) -> InstructionDone:
        counted = tuple(edit for edit in self._counted if edit is not None)
        records = [
            EditRecord(edit.counts, effects, edit.sections)
            for edit, effects in zip(counted, self._task.effects, strict=True)
        ]
        page = instruction_page(self._history, records, newest.text, self._task.peaks)
        self._writer.write(self._owner, page.path, self._renderer.render(page))
        return InstructionDone(
            counted=counted,
            newest=newest,
            files=self._writer.files,
        )


def _patch_counts(patch: bytes) -> PatchCounts | None:
    """What a patch adds and removes; None if that cannot be told, so that no size is made up from it."""
    read = read_patch(patch)
    return None if read.binary or read.unread else read.counts
