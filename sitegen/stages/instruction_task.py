"""Write the pages of one instruction file: its history, and each of its edits as a diff with what it did."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.analysis.memo import PageRow
from sitegen.history.repository import Repository
from sitegen.model.series import Effect
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages import links
from sitegen.pages.edit import edit_page
from sitegen.pages.instruction import EditRecord, instruction_page, line_counts
from sitegen.render.writer import Writer, digest
from sitegen.stages.workshop import Workshop
from sitegen.text.patch import PatchCounts, read_patch
from sitegen.text.sections import TextStats


class InstructionTask(NamedTuple):
    """One instruction file to write."""

    workshop: Workshop
    history: InstructionHistory
    effects: tuple[tuple[Effect, ...], ...]
    """Of each edit."""
    counts: tuple[PatchCounts | None, ...]
    """Of each edit, as far as an earlier build counted them."""
    pages: tuple[PageRow, ...]
    """What surely stands in the output folder."""


class InstructionDone(NamedTuple):
    """What came of it."""

    path: str
    edits: tuple[Edit, ...]
    counts: tuple[PatchCounts | None, ...]
    rows: tuple[PageRow, ...]
    written: int
    kept: int


def owner(path: str) -> str:
    """Who owns the pages of an instruction file."""
    return f"instruction:{path}"


def write_instruction(task: InstructionTask) -> InstructionDone:
    """Write the edits that are not fresh, then the file's own page.

    Patches are read for the edits that are to be written or were never counted; contents for the newest alone.
    """
    shop, history = task.workshop, task.history
    mine = owner(history.path)
    writer = Writer(shop.out, {row.path: row.key for row in task.pages})
    renderer = shop.renderer()
    keys = [
        digest(repr((shop.templates, history.path, history.edits[max(0, index - 1) : index + 1], index, effects)))
        for index, effects in enumerate(task.effects)
    ]
    stale = {
        index
        for index, edit in enumerate(history.edits)
        if not writer.is_fresh(mine, links.edit(history.path, edit.commit.sha), keys[index])
    }
    counts = list(task.counts)
    uncounted = {index for index, known in enumerate(counts) if known is None}
    needed = sorted(stale | uncounted)
    repository = shop.open()
    sizes: list[int | None] = []
    patches = repository.patches([history.edits[index] for index in needed])
    for index, patch in zip(needed, patches, strict=True):
        if index in uncounted:
            counts[index] = _counts(patch)
        if index in stale:
            # Edits come in order, so whatever came before this one is counted by now.
            sizes += line_counts(counts[: index + 1])[len(sizes) :]
            before = TextStats(sizes[index - 1]) if index else None
            page = edit_page(history, index, patch, task.effects[index], before, TextStats(sizes[index]))
            writer.write(mine, page.path, renderer.render(page), keys[index])
    records = [EditRecord(count, effects) for count, effects in zip(counts, task.effects, strict=True)]
    page = instruction_page(history, records, _newest_text(repository, history))
    writer.write(mine, page.path, renderer.render(page))
    return InstructionDone(history.path, history.edits, tuple(counts), tuple(writer.rows), writer.written, writer.kept)


def _counts(patch: bytes) -> PatchCounts | None:
    """What a patch adds and removes; None if that cannot be told, so that no size is made up from it."""
    read = read_patch(patch)
    return None if read.binary or read.unread else read.counts


def _newest_text(repository: Repository, history: InstructionHistory) -> bytes | None:
    """The file as it is now; of a deleted one, as it was last."""
    newest = next((edit.new for edit in reversed(history.edits) if edit.new), None) or history.edits[0].old
    return next(repository.read_blobs([newest.oid])).content if newest else None
