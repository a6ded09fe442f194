"""Third stage: writes the pages of instruction files with new edits, or with edits whose effects changed."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from sys import intern

from msgspec.structs import replace

from sitegen.analysis.effects import EffectIndex, mean_change
from sitegen.engine.cached_kinds import (
    COUNTED_EDITS,
    EDIT_OUTCOMES,
)
from sitegen.engine.evals import Evals
from sitegen.engine.failures import write_in_its_place
from sitegen.engine.instruction_task import InstructionTask, owner, write_instruction
from sitegen.engine.memo import Memo
from sitegen.engine.pool import Pool
from sitegen.engine.site_files import SiteFiles
from sitegen.engine.timeline import Timeline
from sitegen.engine.worker_context import WorkerContext
from sitegen.history.globs import literal_prefixes
from sitegen.history.memo_rows import within
from sitegen.model.cells import Tally
from sitegen.model.deltas import Change
from sitegen.model.frozen import Frozen
from sitegen.model.problems import Problem
from sitegen.model.series import Effect
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages import links
from sitegen.pages.effects import grade_counts
from sitegen.pages.file_history import apart_since
from sitegen.pages.instruction import CountedEdit
from sitegen.pages.instructions import FileRecord
from sitegen.text.patch import PatchCounts


class WrittenInstructions(Frozen):
    """The facts about instruction files that later stages need."""

    effects: EffectIndex
    raised: int
    """Number of commits with edits after which the mean headline of the evals was higher."""
    lowered: int
    files: tuple[FileRecord, ...] = ()
    failures: tuple[Problem, ...] = ()
    """One problem for each file whose pages sitegen failed to make, by path."""


def count_effects(timeline: Timeline, evals: Evals) -> WrittenInstructions:
    """What is known of the instruction files before their pages are written, without a record of any file."""
    driven_by = {
        entry.id: frozenset(file.path for file in timeline.drivers(entry.id))
        for entry in timeline.manifest.evals
        if entry.instructions
    }
    effects = EffectIndex(evals.summaries, driven_by)
    changes = [mean_change(effects.effects_of(position)) or 0.0 for position in effects.positions()]
    return WrittenInstructions(
        effects=effects,
        raised=sum(change > 0 for change in changes),
        lowered=sum(change < 0 for change in changes),
    )


def write_instructions(
    timeline: Timeline,
    evals: Evals,
    expected: WrittenInstructions,
    memo: Memo,
    site_files: SiteFiles,
    pool: Pool,
    step: Callable[[int], None],
) -> WrittenInstructions:
    """Write the pages of files that were edited, and of files whose edits have effects on new outputs.

    ``expected``: the result of ``count_effects``.
    """
    effects = expected.effects
    positions = touched_positions(timeline, effects)
    touched = [file for file in timeline.instructions if _is_touched(timeline, evals, effects, file, positions)]
    touched.sort(key=lambda file: (file.edits[-1].commit.position, len(file.edits)), reverse=True)  # newest edits first
    apart = apart_since(timeline.instructions)

    tasks = (_task(timeline, memo, site_files, effects, file, apart) for file in touched)
    failures: dict[str, Problem] = {}
    for task, done in pool.map(write_instruction, tasks):
        step(len(task.history.edits))
        path = task.history.path
        if isinstance(done, Problem):
            failures[path] = done
            _write_failed(timeline, site_files, task.history, done)
            continue
        counted = zip(task.history.edits, done.counted, strict=True)
        COUNTED_EDITS.keep(memo, path, {_contents(edit, timeline.context): counts for edit, counts in counted})
        site_files.record(owner(path), done.files)
    for former in _former_names(timeline.instructions, touched):
        site_files.recorded.drop(owner(former))
    return replace(
        expected,
        files=tuple(
            _file_record(file, counts_of_edits(memo, file, timeline.context, failures), effects)
            for file in timeline.instructions
        ),
        failures=tuple(failures[path] for path in sorted(failures)),
    )


def _file_record(file: InstructionHistory, counts: tuple[PatchCounts | None, ...], index: EffectIndex) -> FileRecord:
    positions = [edit.commit.position for edit in file.edits]
    grades = grade_counts(decision for position in positions for decision in index.decisions(position, file.path))
    for edit in reversed(file.edits):
        effects = index.effects_of(edit.commit.position, file.path)
        if any(effect.change is not None for effect in effects):
            return FileRecord(
                history=file,
                counts=counts,
                grades=grades,
                measured=edit.commit,
                effects=effects,
            )
    return FileRecord(history=file, counts=counts, grades=grades)


def _write_failed(timeline: Timeline, site_files: SiteFiles, file: InstructionHistory, problem: Problem) -> None:
    """Write a page for every edit of a file that failed, because other pages link to them."""
    writer, renderer = site_files.writer(owner(file.path)), timeline.context.renderer()
    edits = (links.edit(file.path, edit.commit.sha) for edit in file.edits)
    for path in (links.instruction(file.path), *edits):
        write_in_its_place(writer, renderer, owner(file.path), path, problem)
    site_files.record(owner(file.path), writer.files)


def touched_positions(timeline: Timeline, effects: EffectIndex) -> frozenset[int]:
    """Return positions of edits whose effects new points changed; of all edits if history was read from its root."""
    if timeline.update.complete:
        return frozenset(effects.positions())
    return frozenset(
        position
        for update in timeline.update.evals
        for position in effects.edits_measured_from(update.history.id, update.first_new)
    )


def _is_touched(
    timeline: Timeline, evals: Evals, effects: EffectIndex, file: InstructionHistory, positions: frozenset[int]
) -> bool:
    """Decide whether the file was edited, or new points changed the effects of an edit or which version is best."""
    return (
        timeline.update.complete
        or file.path in {instruction.path for instruction in timeline.update.instructions}
        or any(edit.commit.position in positions for edit in file.edits)
        or any(effects.drives(file.path, eval_id) for eval_id in evals.new_peaks)
    )


def _task(
    timeline: Timeline,
    memo: Memo,
    site_files: SiteFiles,
    effects: EffectIndex,
    file: InstructionHistory,
    apart: int | None,
) -> InstructionTask:
    """Make the task for one file."""
    counted = _counted(memo, file)
    return InstructionTask(
        context=timeline.context,
        history=file,
        effects=tuple(edit_effects(memo, effects, edit.commit.position, file.path) for edit in file.edits),
        counted=tuple(counted.get(_contents(edit, timeline.context)) for edit in file.edits),
        pages=site_files.present_files(owner(file.path)),
        peaks=effects.peaks(file.path),
        folders=literal_prefixes(timeline.config.instructions),
        apart=apart,
    )


def edit_effects(memo: Memo, index: EffectIndex, position: int, path: str | None = None) -> tuple[Effect, ...]:
    """Return ``EffectIndex.effects_of``, with the flipped fields and whether the change is more than chance."""
    return tuple(
        _with_outcome(effect, EDIT_OUTCOMES.get(memo, within(effect.eval_id, position)))
        for effect in index.effects_of(position, path)
    )


def _with_outcome(effect: Effect, outcome: Change | None) -> Effect:
    """Add the outcome to an effect. ``outcome``: None if there is no output before or after the edit."""
    if outcome is None:
        return effect
    flips = replace(outcome.flips, fixed=_interned(outcome.flips.fixed), broken=_interned(outcome.flips.broken))
    return replace(effect, flips=flips, verdict=outcome.verdict)


def _interned(tally: Tally) -> Tally:
    """Share one copy of each name, because thousands of outcomes repeat the same few."""
    return tuple((intern(attribute), number) for attribute, number in tally)


def counts_of_edits(
    memo: Memo, file: InstructionHistory, context: WorkerContext, failed: Container[str]
) -> tuple[PatchCounts | None, ...]:
    """Return how much each edit of a file added and removed; None if unknown, or if the pages of the file failed."""
    counted = {} if file.path in failed else _counted(memo, file)
    edits = (counted.get(_contents(edit, context)) for edit in file.edits)
    return tuple(edit and edit.counts for edit in edits)


def _counted(memo: Memo, file: InstructionHistory) -> dict[str, CountedEdit]:
    return COUNTED_EDITS.get(memo, file.path) or {}


def _contents(edit: Edit, context: WorkerContext) -> str:
    """Return the key of an edit's counts and sections: its two contents, and how much of a content is read.

    The key contains no commit, so that counts survive a rewritten history.
    """
    return f"{context.max_blob_bytes}:{edit.old.oid if edit.old else ''}..{edit.new.oid if edit.new else ''}"


def _former_names(files: Iterable[InstructionHistory], touched: Iterable[InstructionHistory]) -> list[str]:
    current = {file.path for file in files}
    return sorted({edit.path for file in touched for edit in file.edits} - current)
