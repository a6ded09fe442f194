"""The page of one commit: what it changed, and which metrics moved with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.best import best_so_far
from sitegen.frozen import Frozen
from sitegen.model.commits import Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import Effect, EvalInfo, Headline
from sitegen.model.site import Page
from sitegen.model.timeline import Cause, CommitRecord, Edit
from sitegen.pages import links
from sitegen.pages.change_text import origin, verdict_words
from sitegen.pages.commit import touched
from sitegen.pages.commit.effects import CommitEffect, EarlierEdit
from sitegen.pages.commit.touched import OutputChanges, PathChange, Touched
from sitegen.pages.edit.effects import (
    ONLY_RECORDED,
    EffectRow,
    EffectsView,
    Grade,
    Move,
    by_grade,
    defined,
    effects_view,
    moved,
)
from sitegen.pages.edit.page import FlippedFields, Passage, RenderedPatch, fields_and_passages
from sitegen.pages.labels import CAUSES, subject_of
from sitegen.text.plain import counted, cut, line, visible

MOST_POINTS: Final = 500
"""Largest number of points of one eval that the page lists."""


class EvalMove(Frozen):
    """The points of one eval at a commit, with the last earlier point."""

    info: EvalInfo
    specs: tuple[MetricSpec, ...]
    before: Headline | None
    """The last point before the commit."""
    points: tuple[Headline, ...]
    """The points of this commit, in series order; at least one."""
    causes: tuple[Cause, ...]
    """The causes of all of these points together."""
    effect: CommitEffect | None = None
    """The effect of the commit on the eval; None without an earlier point."""
    originals: tuple[str | None, ...] = ()
    """For each of these points, the label of the first point with the same output; None if it is the first."""
    outputs: int = 1
    """Number of different outputs of these points."""

    @property
    def has_new_output(self) -> bool:
        """Whether any of these points has an output that no earlier point has."""
        return None in self.originals


class CommitPageInputs(Frozen):
    """The inputs of the page of one commit."""

    record: CommitRecord
    """The commit and what it changed."""
    moves: tuple[EvalMove, ...]
    """The evals that have points of the commit."""
    changed: tuple[Touched, ...]
    """``record.changes`` with the role of each path."""
    files: dict[str, str]
    """Maps each path in ``record.edits`` to the last path of the file, which names its page."""
    names: dict[str, str]
    """Maps the ids of the evals with a page to their names."""
    earlier: str | None = None
    """Id of the newest earlier commit that has a page."""
    thickened: tuple[str, ...] = ()
    """Paths of agents' definitions that the commit changed although instructions have separate files."""
    edits: tuple[Edit, ...] = ()
    """The edits of instruction files whose text changed, which the page shows as diffs."""
    effects: tuple[Effect, ...] = ()
    """How evals changed with the edits of a commit that has no new output itself."""


class MoveRow(Frozen):
    """One eval: the last point before the commit compared with the last point of the commit."""

    row: EffectRow
    move: EvalMove
    best: Headline | None
    """The best of several points; of equal points the earliest."""


class InstructionEdit(Frozen):
    """An instruction file that the commit edited."""

    path: str
    """The path at this commit, with hidden characters made visible."""
    file: str
    """The last path of the file, which names its page."""
    how: touched.How
    thickens: bool
    """Whether the edit changes an agent's definition although instructions have separate files."""
    patch: RenderedPatch | None = None
    """The diff of the edit; None if only the page of the edit has it."""
    passages: tuple[Passage, ...] = ()


class LinkedEdit(Frozen):
    """A commit that edited instructions between the previous outputs and the outputs of this commit."""

    edit: EarlierEdit
    evals: tuple[str, ...]
    """Names of the evals whose output it may have changed; empty if it may have changed all new outputs."""


class CommitView(Frozen):
    """What ``pages/commit.html`` shows."""

    nav: str
    commit: Commit
    earlier: str | None
    """Id of the newest earlier commit that has a page."""
    subject: str
    body: str
    moves: tuple[MoveRow, ...]
    """The evals that have points of the commit, by how they changed across it."""
    moved: EffectsView
    """Effects across the commit; empty for a commit without points."""
    edited: EffectsView
    """Effects across the edits of a commit without new output, the same as on the pages of these edits."""
    fields: FlippedFields
    instructions: tuple[InstructionEdit, ...]
    earlier_edits: tuple[LinkedEdit, ...]
    """Edits of earlier commits since the previous outputs, newest first."""
    outputs: tuple[OutputChanges, ...]
    unscored: tuple[PathChange, ...]
    """Outputs that are not scored, because their evals have folders of iterations."""
    ground_truths: tuple[PathChange, ...]
    rules: tuple[PathChange, ...]
    others: tuple[PathChange, ...]
    """Other changed paths in the record of the commit."""
    more_others: int
    """Number of further changed paths, which the site does not read."""

    @property
    def effects(self) -> EffectsView:
        """What became of the evals: across the edits if there is no new output, otherwise across the commit."""
        return self.edited if self.edited.rows else self.moved

    @property
    def files(self) -> int:
        """Number of instruction files whose diff the page shows."""
        return sum(edit.patch is not None for edit in self.instructions)


def commit_page(inputs: CommitPageInputs, patches: Mapping[str, RenderedPatch] | None = None) -> Page:
    """Make the page of a commit. ``patches``: the shown diffs, by path in ``record.edits``."""
    record, changed, files, names = inputs.record, inputs.changed, inputs.files, inputs.names
    by_eval = {move.row.eval_id: move for move in map(_move_row, inputs.moves)}
    across = EffectsView(by_grade(move.row for move in by_eval.values()))
    edited = effects_view(inputs.effects)
    rows = tuple(by_eval[row.eval_id] for row in across.rows)
    drawn = {path: patch for path, patch in (patches or {}).items() if path in files}
    flips = fields_and_passages(edited.rows or across.rows, {path: patch.words for path, patch in drawn.items()})
    passages = dict(zip(drawn, flips.passages, strict=True))
    edits = {item.change.path: item for item in changed if item.role == "instruction"}
    skeletons = [Touched(edit.change, "other") for path, edit in edits.items() if edit.change.new and path not in files]
    view = CommitView(
        nav="commits",
        commit=record.commit,
        earlier=inputs.earlier,
        subject=subject_of(record.commit, 300),
        body=cut(visible(record.commit.body.strip()), 10_000),
        moves=rows,
        moved=across,
        edited=edited,
        fields=flips,
        instructions=tuple(
            InstructionEdit(
                path=line(path),
                file=files[path],
                how=touched.how(edits[path].change) if path in edits else "modified",
                thickens=path in inputs.thickened,
                patch=drawn.get(path),
                passages=passages.get(path, ()),
            )
            for path in record.edits
            if path in files
        ),
        earlier_edits=_earlier_edits(rows),
        outputs=touched.outputs(changed, names),
        unscored=touched.paths(changed, "unscored", names),
        ground_truths=touched.paths(changed, "ground_truth", names),
        rules=touched.paths(changed, "rules", names),
        others=touched.paths(
            (*changed, *skeletons, *(Touched(change, "other") for change in record.others)), "other", names
        ),
        more_others=record.other_changes - len(record.others),
    )
    return Page(links.commit(record.commit.sha), "pages/commit.html", view)


def _earlier_edits(rows: Sequence[MoveRow]) -> tuple[LinkedEdit, ...]:
    """The edits of all evals, each once. Edits cannot have changed a re-scored output."""
    compared = [
        (move.row.name, effect)
        for move in rows
        if (effect := move.move.effect) and (effect.verdict or move.row.headline.spec.recorded)
    ]
    names: dict[EarlierEdit, list[str]] = {}
    for name, effect in compared:
        for edit in effect.edits:
            names.setdefault(edit, []).append(name)
    newest = sorted(names, key=lambda edit: -edit.position)
    return tuple(LinkedEdit(edit, () if len(names[edit]) == len(compared) else tuple(names[edit])) for edit in newest)


def _move_row(move: EvalMove) -> MoveRow:
    last = move.points[-1]
    moves = moved(move.before, last, move.specs)
    if move.effect:
        moves = tuple(replace(metric, change=change) for metric, change in zip(moves, move.effect.changes, strict=True))
    values = [point.values[0] for point in move.points]
    best = best_so_far(values, higher_is_better=moves[0].spec.higher_is_better)[-1] if len(move.points) > 1 else None
    return MoveRow(
        row=_effect_row(move, defined(moves) if move.specs[0].recorded else moves),
        move=move,
        best=None if best is None else move.points[best],
    )


def _effect_row(move: EvalMove, moves: tuple[Move, ...]) -> EffectRow:
    effect, spec = move.effect, move.specs[0]
    causes = ", ".join(CAUSES[cause] for cause in move.causes)
    grade: Grade = "first output"
    why = causes
    if effect and effect.verdict:
        grade, why = effect.verdict.decision, verdict_words(effect.verdict, spec, move.info.nouns)
    elif effect and spec.recorded:
        grade, why = "recorded", ONLY_RECORDED
    elif effect:
        others = [CAUSES[cause] for cause in move.causes if cause != "outputs"]
        grade, why = "same output", ", ".join(others) or "identical to an earlier one"
    return EffectRow(
        eval_id=move.info.id,
        name=line(move.info.name, 80),
        grade=grade,
        why=why,
        before=move.before,
        after=move.points[-1],
        moves=moves,
        verdict=effect.verdict if effect else None,
        fixed=effect.flipped.fixed if effect else 0,
        broken=effect.flipped.broken if effect else 0,
        fields=effect.fields if effect else (),
        remarks=tuple(_remarks(effect, spec)) if effect else (),
    )


def _remarks(effect: CommitEffect, spec: MetricSpec) -> Iterator[str]:
    """The parts and restrictions of the change, and the errors that stayed or disappeared with documents."""
    if effect.or_edit:
        yield f"The output was made with the instructions of this commit or of {effect.or_edit}."
    if not effect.headline.by_outputs and (parts := origin(effect.headline, spec)):
        yield f"{parts[0].upper()}{parts[1:]}."
    elif effect.headline.note:
        yield f"{effect.headline.note[0].upper()}{effect.headline.note[1:]}."
    appeared, vanished = effect.flipped.appeared, effect.flipped.vanished
    if appeared or vanished:
        yield f"{counted(appeared, 'error')} appeared and {vanished:,} went with documents or expected values."
