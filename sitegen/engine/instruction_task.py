"""Writes the pages of one instruction file: its history, and each of its edits as a diff with its effects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, repeat

from sitegen.analysis.effects import EvalPeak
from sitegen.engine.failures import attempt
from sitegen.engine.memo import PageRow
from sitegen.engine.worker_context import WorkerContext
from sitegen.engine.writer import WrittenFiles, digest
from sitegen.history.fold_state import encode
from sitegen.model.frozen import Frozen
from sitegen.model.problems import Problem
from sitegen.model.series import Effect
from sitegen.model.timeline import InstructionHistory
from sitegen.pages import links
from sitegen.pages.edit import RenderedPatch, draw_edit, edit_page
from sitegen.pages.file_history import thickens
from sitegen.pages.instruction import (
    CountedEdit,
    DisplayedFile,
    instruction_page,
    line_counts,
    show_text,
    word_counts,
)
from sitegen.text.patch import PatchCounts, read_patch, touched_sections
from sitegen.text.sections import NO_TEXT, Outline, TextStats, outline


class InstructionTask(Frozen):
    """Everything that a process needs to write the pages of one instruction file."""

    context: WorkerContext
    history: InstructionHistory
    effects: tuple[tuple[Effect, ...], ...]
    """The effects of each edit."""
    counted: tuple[CountedEdit | None, ...]
    """The size and sections of each edit; None if no earlier build counted the edit."""
    pages: tuple[PageRow, ...]
    """Pages of the file that are known to be in the output folder."""
    peaks: tuple[EvalPeak, ...]
    """The best outputs of the evals that the file drives."""
    folders: tuple[str, ...]
    """Folders and files that contain all instruction files of the project; empty: instruction files may be anywhere."""
    apart: int | None
    """Position of the commit that first gave agents instructions in files of their own."""


class InstructionDone(Frozen):
    """The result of an ``InstructionTask``."""

    counted: tuple[CountedEdit, ...]
    """The size and sections of each edit."""
    files: WrittenFiles


def owner(path: str) -> str:
    """Return the name under which the site's files record the pages of an instruction file."""
    return f"instruction:{path}"


def write_instruction(task: InstructionTask) -> InstructionDone | Problem:
    """Count the edits that were never counted, write the pages of edits that are out of date, then that of the file.

    If sitegen fails, a problem is returned, and the pages written so far do not become part of the site.
    """
    path = task.history.path
    return attempt("the pages of this instruction file", lambda: _InstructionWork(task).run(), path=path)


class _InstructionWork:
    def __init__(self, task: InstructionTask) -> None:
        self._task = task
        self._history = task.history
        self._edits = task.history.edits
        self._owner = owner(task.history.path)
        self._repository = task.context.open()
        self._writer = task.context.writer(task.pages)
        self._renderer = task.context.renderer()
        self._counted = list(task.counted)
        self._pages = [links.edit(task.history.path, edit.commit.sha) for edit in self._edits]
        self._keys = list(map(self._page_key, range(len(self._edits))))

    def run(self) -> InstructionDone:
        """Count edits, oldest first, because each adds to the one before; then write pages, newest first."""
        stale = {index for index in range(len(self._edits)) if not self._is_fresh(index)}
        uncounted = {index for index, edit in enumerate(self._counted) if edit is None}
        self._count(sorted(uncounted))
        counts = [edit and edit.counts for edit in self._counted]
        sizes = tuple(map(TextStats, line_counts(counts), word_counts(counts)))
        for index, patch in self._patches(sorted(stale, reverse=True)):
            self._write_edit(index, draw_edit(self._edits[index], patch), sizes)
        return self._finish()

    def _count(self, indices: Sequence[int]) -> None:
        for (index, patch), outlines in zip(self._patches(indices), self._outlines(indices), strict=True):
            sections = touched_sections(read_patch(patch).hunks, *outlines)
            self._counted[index] = CountedEdit(counts=_patch_counts(patch), sections=sections)

    def _patches(self, indices: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        edits = [self._edits[index] for index in indices]
        return zip(indices, self._repository.patches(edits, self._task.folders), strict=True)

    def _outlines(self, indices: Sequence[int]) -> Iterator[tuple[Outline, Outline]]:
        """Yield the sections of the text before and after each of these edits.

        The text after an edit is usually the text before the next edit, so equal neighbours are read and parsed once.
        """
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
        """Return the digest of everything on the page of an edit: the edit, the edit before, effects, templates."""
        edits = self._edits[max(0, index - 1) : index + 1]
        context, path, effects = self._task.context, self._history.path, self._task.effects[index]
        return digest(encode((context.templates, path, edits, index, effects, self._thickens(index))))

    def _thickens(self, index: int) -> bool:
        return thickens(self._edits[index], self._task.apart)

    def _is_fresh(self, index: int) -> bool:
        return self._writer.is_fresh(self._owner, self._pages[index], self._keys[index])

    def _text(self) -> DisplayedFile | None:
        newest = next((edit.new for edit in reversed(self._edits) if edit.new), None) or self._edits[0].old
        if newest is None:
            return None
        content = next(self._repository.read_blobs([newest.oid])).content
        return None if content is None else show_text(content)

    def _write_edit(self, index: int, drawn: RenderedPatch, sizes: Sequence[TextStats]) -> None:
        """Write the page of an edit. ``sizes``: the size of the file after each edit."""
        page = edit_page(
            self._history,
            index,
            drawn,
            self._task.effects[index],
            sizes[index - 1] if index else None,
            sizes[index],
            thickens=self._thickens(index),
        )
        self._writer.write(self._owner, page.path, self._renderer.render(page), self._keys[index])

    def _finish(self) -> InstructionDone:
        counted = tuple(edit for edit in self._counted if edit is not None)
        page = instruction_page(self._history, counted, self._task.effects, self._text(), self._task.peaks)
        self._writer.write(self._owner, page.path, self._renderer.render(page))
        return InstructionDone(
            counted=counted,
            files=self._writer.files,
        )


def _patch_counts(patch: bytes) -> PatchCounts | None:
    """Return how much a patch adds and removes; None if it cannot be read, so that no size is computed from it."""
    read = read_patch(patch)
    return None if read.binary or read.unread else read.counts
