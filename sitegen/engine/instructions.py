"""Writes the pages of instruction files that have new edits, or edits whose effects changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, repeat

from msgspec.structs import replace

from sitegen.analysis.effects import EffectIndex
from sitegen.engine.cached_kinds import COUNTED_EDITS
from sitegen.engine.evals import Evals, write_failed
from sitegen.engine.failures import attempt
from sitegen.engine.memo import PageRow
from sitegen.engine.timeline import Build
from sitegen.engine.worker_context import WorkerContext
from sitegen.engine.writer import Writer, WrittenFiles, digest_of_inputs
from sitegen.history.patches import read_patches
from sitegen.history.repository import NOTHING
from sitegen.model.commits import WORKTREE
from sitegen.model.frozen import Frozen
from sitegen.model.problems import Problem
from sitegen.model.series import Effect
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages import links
from sitegen.pages.edit import EditView, draw_edit, short_edit
from sitegen.pages.effects import effect_rows, grade_counts
from sitegen.pages.instruction import CountedEdit, InstructionView, apart_since, show_text, sizes_after, thickens
from sitegen.pages.instructions import FileRecord
from sitegen.text.patch import read_patch, touched_sections
from sitegen.text.sections import NO_TEXT, Outline, TextStats, outline, text_stats


class InstructionTask(Frozen):
    """Everything that a process needs to write the pages of one instruction file."""

    context: WorkerContext
    history: InstructionHistory
    effects: tuple[tuple[Effect, ...], ...]
    counted: tuple[CountedEdit | None, ...]
    """The size and sections of each edit; None if no earlier build counted the edit."""
    short: int
    """How many of the oldest edits have a short page."""
    pages: tuple[PageRow, ...]
    """Pages of the file that are known to be in the output folder."""
    apart: int | None
    """Position of the commit that first gave agents instructions in files of their own."""


def owner(path: str) -> str:
    """Return the name under which the site's files record the pages of an instruction file."""
    return f"instruction:{path}"


def addresses_of(file: InstructionHistory) -> list[str]:
    """Return the addresses of the pages of a file and of its edits, oldest first."""
    return [links.instruction(file.path), *(links.edit(file.path, edit.commit.sha) for edit in file.edits)]


def write_instruction(task: InstructionTask) -> tuple[tuple[CountedEdit, ...], WrittenFiles] | Problem:
    """Count the edits that were never counted, write the pages of edits that are out of date, then that of the file.

    Returns the size and sections of each edit, and the files.
    If sitegen fails, a problem is returned, and the pages written so far do not become part of the site.
    """
    path = task.history.path
    return attempt("the pages of this instruction file", lambda: _InstructionWork(task).run(), path=path)


class _InstructionWork:
    def __init__(self, task: InstructionTask) -> None:
        self._task = task
        self._history = task.history
        self._edits = task.history.edits
        self._with_earlier = [self._edits[max(0, index - 1) : index + 1] for index in range(len(self._edits))]
        """Each edit, after the one before it. Its page gets no others of the file."""
        self._repository = task.context.open()
        self._writer = Writer(task.context.out, owner(task.history.path), task.pages, task.context.foreign)
        self._renderer = task.context.renderer()
        self._counted = list(task.counted)
        self._thick = [thickens(edit, task.apart) for edit in self._edits]
        _, *self._pages = addresses_of(task.history)
        self._keys = list(map(self._page_key, range(len(self._edits))))

    def run(self) -> tuple[tuple[CountedEdit, ...], WrittenFiles]:
        """Count edits, oldest first, because each adds to the one before; then write pages, newest first."""
        pages = enumerate(zip(self._pages, self._keys, strict=True))
        stale = [index for index, (path, key) in pages if not self._writer.is_fresh(path, key)]
        self._count([index for index, edit in enumerate(self._counted) if edit is None])
        counts = [edit and edit.counts for edit in self._counted]
        sizes = sizes_after(counts)
        whole = [index for index in reversed(stale) if index >= self._task.short]
        for index, patch in self._patches(whole):
            page = EditView(
                path=self._history.path,
                edits=self._with_earlier[index],
                index=index,
                patch=draw_edit(self._edits[index], read_patch(patch)),
                effects=effect_rows(self._task.effects[index]),
                sizes=(sizes[index - 1] if index else None, sizes[index]),
                thickens=self._thick[index],
            ).page
            self._writer.write(page.path, self._renderer.render(page), self._keys[index])
        for index in stale[: len(stale) - len(whole)]:
            page = short_edit(self._history.path, self._edits[index], index, counts[index])
            self._writer.write(page.path, self._renderer.render(page), self._keys[index])
        counted = tuple(edit for edit in self._counted if edit is not None)
        newest = next((edit.new for edit in reversed(self._edits) if edit.new), None) or self._edits[0].old
        read = self._repository.read_blob(newest.oid) if newest else NOTHING
        text = f"the file is {read.reason}" if read.content is None else show_text(read.content)
        page = InstructionView(file=self._history, edits=counted, effects=self._task.effects, text=text).page
        self._writer.write(page.path, self._renderer.render(page))
        return counted, self._writer.files

    def _count(self, indices: Sequence[int]) -> None:
        first = self._edits[0].old  # the text that a file had before it was followed counts as added
        before = text_stats(self._repository.read_blob(first.oid).content or b"") if first else TextStats(0, 0)
        for (index, patch), (old, new) in zip(self._patches(indices), self._outlines(indices), strict=True):
            read = read_patch(patch)
            # No size is computed from a patch or a text that cannot be read.
            counts = None if read.binary or read.unread or new is None else read.counts
            if counts is not None and index == 0:
                words = None if counts.words is None else counts.words + (before.words or 0)
                counts = counts._replace(added=counts.added + (before.lines or 0), words=words)
            self._counted[index] = CountedEdit(
                counts=counts, sections=touched_sections(read.hunks, old or NO_TEXT, new or NO_TEXT)
            )

    def _patches(self, indices: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        edits = [self._edits[index] for index in indices]
        return zip(indices, read_patches(self._repository, edits, self._task.context.instructions), strict=True)

    def _outlines(self, indices: Sequence[int]) -> Iterator[tuple[Outline | None, Outline | None]]:
        """Yield the sections of the text before and after each of these edits; None for one that cannot be read.

        The text after an edit is usually the text before the next edit, so equal neighbours are read and parsed once.
        """
        edits = [self._edits[index] for index in indices]
        oids = [blob.oid if blob else None for edit in edits for blob in (edit.old, edit.new)]
        reads = self._repository.read_blobs([oid for oid, _ in groupby(oids) if oid])
        outlines = (None if read.content is None else outline(read.content) for read in reads)
        sides = (
            side for oid, same in groupby(oids) for side in repeat(next(outlines) if oid else NO_TEXT, len(list(same)))
        )
        return zip(sides, sides, strict=True)

    def _page_key(self, index: int) -> str:
        """Return the digest of everything on the page of an edit: the edit, the edit before, effects, templates."""
        is_short = index < self._task.short
        return digest_of_inputs(
            "instruction file",
            "edit",
            look=self._task.context.look,
            largest_file=str(self._task.context.limits.max_blob_bytes),
            path=self._history.path,
            edit_and_the_one_before=self._with_earlier[index],
            index=index,
            is_short=is_short,
            effects=() if is_short else self._task.effects[index],
            thickens=self._thick[index],
        )


class WrittenInstructions(Frozen):
    """The facts about instruction files that later stages need."""

    effects: EffectIndex
    better: int
    """Number of commits with edits after which some eval was better beyond chance."""
    worse: int
    files: tuple[FileRecord, ...] = ()
    failures: tuple[Problem, ...] = ()
    """One problem for each file whose pages sitegen failed to make, by path."""


def count_effects(evals: Evals) -> WrittenInstructions:
    """Return what is known of the instruction files before their pages are written, without a record of any file."""
    timeline = evals.build.timeline
    driven_by = {
        history.id: frozenset(file.path for file in drivers)
        for history in timeline.evals
        if len(drivers := timeline.drivers(history.id)) < len(timeline.instructions)
    }
    effects = EffectIndex(evals.summaries, driven_by)
    found = [{effect.decision for effect in of_edit} for of_edit in effects.by_edit.values()]
    better, worse = (sum(word in decisions for decisions in found) for word in ("better", "worse"))
    return WrittenInstructions(effects=effects, better=better, worse=worse)


def write_instructions(evals: Evals, expected: WrittenInstructions) -> WrittenInstructions:
    """Write the pages of files that were edited, and of files whose edits have effects on new outputs.

    ``expected``: the result of ``count_effects``.
    """
    build = evals.build
    timeline, memo = build.timeline, build.memo
    # Uncommitted edits do not count: with each, another page would be short until it is committed.
    first_whole = timeline.first_whole_edit(timeline.head.position + (timeline.head.sha != WORKTREE))
    touched = _touched(evals, expected.effects, first_whole)
    failures: dict[str, Problem] = {}
    apart = apart_since(timeline.instructions)
    tasks = (
        InstructionTask(
            context=timeline.context,
            history=file,
            effects=tuple(expected.effects.effects_of(edit.commit.position, file.path) for edit in file.edits),
            counted=_counted(build, file),
            short=sum(edit.place < first_whole for edit in file.edits),
            pages=build.files.present_files(owner(file.path)),
            apart=apart,
        )
        for file in touched
    )
    for task, done in build.pool.map(write_instruction, tasks):
        edits, path = task.history.edits, task.history.path
        build.step(len(edits))
        if isinstance(done, Problem):
            failures[path] = done
            write_failed(build, owner(path), addresses_of(task.history), done)
            continue
        counted, files = done
        by_contents = zip((_contents(edit, timeline.context) for edit in edits), counted, strict=True)
        COUNTED_EDITS.keep(memo, path, dict(by_contents))
        build.files.record(owner(path), files)
    current = {file.path for file in timeline.instructions}
    for former in sorted({edit.path for file in touched for edit in file.edits} - current):
        build.files.drop(owner(former))
    index, records = expected.effects, []
    for file in timeline.instructions:
        effects = [(edit.commit, index.effects_of(edit.commit.position, file.path)) for edit in file.edits]
        rows = effect_rows(of for _, of_edit in effects for of in of_edit)
        grades = grade_counts(row.grade for row in rows if row.verdict and not row.doubt)
        counts = tuple(None if file.path in failures else edit and edit.counts for edit in _counted(build, file))
        measured = (each for each in reversed(effects) if any(effect.change is not None for effect in each[1]))
        last, newest = next(measured, (None, ()))
        records.append(FileRecord(history=file, counts=counts, grades=grades, measured=last, effects=newest))
    return replace(expected, files=tuple(records), failures=tuple(failures[path] for path in sorted(failures)))


def _touched(evals: Evals, effects: EffectIndex, first_whole: tuple[int, str]) -> list[InstructionHistory]:
    """Return the files that were edited, with other effects, or of which an edit is short now."""
    timeline = evals.build.timeline
    edited = {instruction.path for instruction in timeline.edited}
    first_before = timeline.first_whole_edit(timeline.first_new)
    touched = [
        file
        for file in timeline.instructions
        if timeline.is_complete
        or file.path in edited
        or any(at.commit.position in evals.measured or first_before <= at.place < first_whole for at in file.edits)
    ]
    return sorted(touched, key=lambda file: (file.edits[-1].commit.position, len(file.edits)), reverse=True)


def _counted(build: Build, file: InstructionHistory) -> tuple[CountedEdit | None, ...]:
    """Return the size and sections of each edit; None if no earlier build counted it."""
    counted = COUNTED_EDITS.get(build.memo, file.path) or {}
    return tuple(counted.get(_contents(edit, build.timeline.context)) for edit in file.edits)


def _contents(edit: Edit, context: WorkerContext) -> str:
    """Return the key of an edit's counts and sections: its two contents, and how much of a content is read.

    The key contains no commit, so that counts survive a rewritten history.
    """
    return f"{context.limits.max_blob_bytes}:{edit.old.oid if edit.old else ''}..{edit.new.oid if edit.new else ''}"
