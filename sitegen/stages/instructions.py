"""Third stage: the instruction files whose edits, or the effects of whose edits, are new."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from sitegen.analysis.effects import EffectIndex, mean_change
from sitegen.analysis.memo import Memo
from sitegen.history.fold_state import decode, encode
from sitegen.model.problems import Problem
from sitegen.model.series import Effect
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages import links
from sitegen.pages.agents import apart_since
from sitegen.pages.instruction import impact
from sitegen.pages.instructions import FileRecord, FileSize, file_size
from sitegen.stages.edit_outcomes import EditOutcome, known_around
from sitegen.stages.engine import Pool
from sitegen.stages.evals import Evals
from sitegen.stages.failures import write_in_its_place
from sitegen.stages.instruction_task import InstructionTask, Newest, owner, write_instruction
from sitegen.stages.site_files import Ledger
from sitegen.stages.timeline import Timeline
from sitegen.stages.worker_context import Workshop
from sitegen.text.patch import PatchCounts

COUNTS = "counts"
SIZE = "file size"
SECTIONS = "sections"
NEWEST = "newest edit"
VERDICTS = "verdicts"


class WrittenInstructions(NamedTuple):
    """What is known of the instruction files after their pages are written."""

    effects: EffectIndex
    files: tuple[FileRecord, ...]
    raised: int
    """Commits with edits after which the mean headline of the evals was higher."""
    lowered: int
    failures: tuple[Problem, ...] = ()
    """The files whose pages could not be made, by path."""


def index_effects(timeline: Timeline, evals: Evals) -> EffectIndex:
    """What every edit did to every eval, ready to be asked."""
    driven_by = {
        entry.id: frozenset(file.path for file in timeline.drivers(entry.id))
        for entry in timeline.manifest.evals
        if entry.instructions
    }
    return EffectIndex(evals.summaries, driven_by)


def write_instructions(
    timeline: Timeline, evals: Evals, memo: Memo, ledger: Ledger, pool: Pool, step: Callable[[int], None]
) -> WrittenInstructions:
    """Write the files that are touched: by an edit, or by a point that says what an edit did."""
    effects = index_effects(timeline, evals)
    positions = _touched_positions(timeline, effects)
    touched = [file for file in timeline.instructions if _is_touched(timeline, evals, effects, file, positions)]
    touched.sort(key=_most_edits_first)
    apart = apart_since(timeline.instructions)
    tasks = (_task(timeline, memo, ledger, effects, file)._replace(apart=apart) for file in touched)
    failures: dict[str, Problem] = {}
    for task, done in pool.map(write_instruction, tasks):
        step(len(task.history.edits))
        if isinstance(done, Problem):
            failures[task.history.path] = done
            _write_failed(timeline, memo, ledger, task.history, done)
            continue
        memo.put(COUNTS, done.path, _by_contents(done.edits, done.counts, timeline.shop))
        memo.put(SIZE, done.path, encode(file_size(done.counts)))
        memo.put(SECTIONS, done.path, _by_contents(done.edits, done.sections, timeline.shop))
        memo.put(NEWEST, done.path, encode(done.newest))
        ledger.record(owner(done.path), done.rows, done.written, done.kept)
    for former in _former_names(timeline.instructions, touched):
        ledger.drop(owner(former))
        _forget(memo, former)
    verdicts = _verdicts(timeline, memo, effects, positions)
    return WrittenInstructions(
        effects=effects,
        files=tuple(
            FileRecord(file, _size(memo, file), impact(effects.around(file.edits[-1].commit.position, file.path)))
            for file in timeline.instructions
        ),
        raised=sum(verdict > 0 for verdict in verdicts),
        lowered=sum(verdict < 0 for verdict in verdicts),
        failures=tuple(failures[path] for path in sorted(failures)),
    )


def _write_failed(timeline: Timeline, memo: Memo, ledger: Ledger, file: InstructionHistory, problem: Problem) -> None:
    """Pages lead to every edit of a file; nothing is known of its size."""
    _forget(memo, file.path)
    writer, renderer = ledger.writer(owner(file.path)), timeline.shop.renderer()
    edits = (links.edit(file.path, edit.commit.sha) for edit in file.edits)
    for path in (links.instruction(file.path), *edits):
        write_in_its_place(writer, renderer, owner(file.path), path, problem)
    ledger.record(owner(file.path), writer.rows, writer.written, writer.kept)


def _forget(memo: Memo, path: str) -> None:
    for kind in (COUNTS, SIZE, SECTIONS, NEWEST):
        memo.delete(kind, path)


def _touched_positions(timeline: Timeline, effects: EffectIndex) -> frozenset[int]:
    """Positions of the edits whose effects the new points changed; all of them after a walk from the root."""
    if timeline.update.complete:
        return frozenset(effects.positions())
    return frozenset(
        position
        for update in timeline.update.evals
        for position in effects.spoken_for(update.history.id, update.first_new)
    )


def _is_touched(
    timeline: Timeline, evals: Evals, effects: EffectIndex, file: InstructionHistory, positions: frozenset[int]
) -> bool:
    """Whether the file was edited, or new points say what an edit of it did, or which version of it is the best."""
    return (
        timeline.update.complete
        or file.path in {one.path for one in timeline.update.instructions}
        or any(edit.commit.position in positions for edit in file.edits)
        or any(effects.drives(file.path, eval_id) for eval_id in evals.new_peaks)
    )


def _most_edits_first(file: InstructionHistory) -> int:
    return -len(file.edits)


def _task(
    timeline: Timeline, memo: Memo, ledger: Ledger, effects: EffectIndex, file: InstructionHistory
) -> InstructionTask:
    return InstructionTask(
        workshop=timeline.shop,
        history=file,
        effects=tuple(_effects(memo, effects, edit.commit.position, file.path) for edit in file.edits),
        counts=_counts(memo, file, timeline.shop),
        sections=_sections(memo, file, timeline.shop),
        newest=None if timeline.update.complete else _newest(memo, file),
        pages=ledger.known(owner(file.path)),
        peaks=effects.peaks(file.path),
    )


def _effects(memo: Memo, index: EffectIndex, position: int, path: str) -> tuple[Effect, ...]:
    """Of an edit of a file, with the fields that flipped around it, and whether that is more than chance."""
    return tuple(_told(effect, known_around(memo, position, effect.eval_id)) for effect in index.around(position, path))


def _told(effect: Effect, around: EditOutcome | None) -> Effect:
    return effect._replace(flips=around.flips, verdict=around.verdict) if around else effect


def edit_counts(memo: Memo, file: InstructionHistory, shop: Workshop) -> Iterable[tuple[Edit, PatchCounts | None]]:
    """Each edit of a file whose pages are written, with what it added and removed; None: that is not known."""
    return zip(file.edits, _counts(memo, file, shop), strict=True)


def _counts(memo: Memo, file: InstructionHistory, shop: Workshop) -> tuple[PatchCounts | None, ...]:
    """Of each edit, as far as they are known."""
    body = memo.get(COUNTS, file.path)
    known = json.loads(body) if body else {}
    return tuple(PatchCounts(*one) if (one := known.get(_between(edit, shop))) else None for edit in file.edits)


def _size(memo: Memo, file: InstructionHistory) -> FileSize:
    body = memo.get(SIZE, file.path)
    # The build that first saw the file kept it, unless it failed to make its pages.
    return decode(body, FileSize) if body else file_size([None] * len(file.edits))


def _sections(memo: Memo, file: InstructionHistory, shop: Workshop) -> tuple[tuple[str, ...], ...]:
    """Of each edit; empty where its counts are not known either."""
    body = memo.get(SECTIONS, file.path)
    known = json.loads(body) if body else {}
    return tuple(tuple(known.get(_between(edit, shop), ())) for edit in file.edits)


def _newest(memo: Memo, file: InstructionHistory) -> Newest | None:
    body = memo.get(NEWEST, file.path)
    return decode(body, Newest) if body else None


def _by_contents(edits: Sequence[Edit], known: Sequence[object], shop: Workshop) -> bytes:
    return json.dumps({_between(edit, shop): one for edit, one in zip(edits, known, strict=True)}).encode()


def _between(edit: Edit, shop: Workshop) -> str:
    """The two contents of an edit and how much of one is read: all that its counts and sections depend on.

    So they survive rewritten history.
    """
    return f"{shop.max_blob_bytes}:{edit.old.oid if edit.old else ''}..{edit.new.oid if edit.new else ''}"


def _former_names(files: Iterable[InstructionHistory], touched: Iterable[InstructionHistory]) -> list[str]:
    """Paths that files had before they were renamed, and that no file has now."""
    now = {file.path for file in files}
    return sorted({edit.path for file in touched for edit in file.edits} - now)


def _verdicts(timeline: Timeline, memo: Memo, effects: EffectIndex, positions: frozenset[int]) -> tuple[int, ...]:
    """Of each commit with edits: 1 if the mean headline rose, -1 if it fell, 0 else."""
    body = None if timeline.update.complete else memo.get(VERDICTS, "")
    known: dict[str, int] = json.loads(body) if body else {}
    for position in sorted(positions):
        change = mean_change(effects.around(position)) or 0.0
        known[str(position)] = (change > 0) - (change < 0)
    memo.put(VERDICTS, "", json.dumps(known).encode())
    return tuple(known.values())
