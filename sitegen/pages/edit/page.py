"""The page of one edit of an instruction file: what it did, and the edit as a diff in three views."""

from __future__ import annotations

import shlex
from typing import Final, Literal, NamedTuple, TypeAlias

from sitegen.model.cells import Flips
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict
from sitegen.model.series import Effect, Headline
from sitegen.model.site import Page
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.model.usage import Exchange, regraded
from sitegen.pages import links
from sitegen.pages.instruction.file_history import THICKENED
from sitegen.text.diff import MOST_LINES, DiffRow, draw
from sitegen.text.patch import Patch, PatchCounts, read_patch
from sitegen.text.plain import line
from sitegen.text.sections import TextStats

Verdict: TypeAlias = Literal["improved", "worse", "unchanged", "confounded", "regraded", "first", "none"]
"""confounded: the model changed too. regraded: the judge changed, whose grades the headline is made from.
first: nothing to compare with, or one side undefined.
none: no output was made before the next edit."""

HEADLINE: Final = MetricSpec("f1", "F1", "")
"""The metric that the first value is taken for where an effect has no specs."""


class Move(NamedTuple):
    """One metric before and after."""

    label: str
    before: float | None
    after: float | None
    change: float | None
    higher_is_better: bool
    unit: str = ""


class EffectRow(NamedTuple):
    """How the metrics of one eval changed around the edit."""

    eval_id: str
    name: str
    verdict: Verdict
    before: Headline | None
    after: Headline | None
    moves: tuple[Move, ...]
    """Of each metric, the headline first."""
    flips: Flips | None = None
    """Fields that were fixed and broken in between."""
    by_rules: float | None = 0.0
    comparable: bool = True
    spec: MetricSpec = HEADLINE
    """Of the headline."""
    judged: ChangeVerdict | None = None
    model: Exchange | None = None
    """Another model made the output after the edit."""
    judge: Exchange | None = None
    """Another judge graded it."""


class RenderedPatch(NamedTuple):
    """The edit itself, as it is shown: all that a patch says. It never changes, whatever becomes of the evals."""

    counts: PatchCounts
    notes: tuple[str, ...]
    """What is unusual about the patch, in sentences."""
    rows: tuple[DiffRow, ...]
    passages: tuple[str, ...]
    """HTML that is safe: by ``sitegen.text.markdown``."""
    command: str | None
    """Shows the whole edit, where the page does not."""


class EffectsView(NamedTuple):
    """The effects of one edit, by size of the headline's change."""

    changed: tuple[EffectRow, ...]
    """Improved or worse."""
    unchanged: tuple[EffectRow, ...]
    confounded: tuple[EffectRow, ...]
    """Of evals whose model changed too."""
    regraded: tuple[EffectRow, ...]
    """Of evals whose headline two judges graded."""
    first: tuple[EffectRow, ...]
    silent: tuple[str, ...]
    """Names of evals without any output between this edit and the next."""

    @property
    def judged(self) -> int:
        """How many changes were held against chance."""
        return sum(row.judged is not None for row in self.changed)

    @property
    def beyond_chance(self) -> int:
        """How many of these are more than chance."""
        return sum(row.judged is not None and row.judged.why == "beyond chance" for row in self.changed)

    @property
    def improved(self) -> int:
        """How many evals went up."""
        return sum(row.verdict == "improved" for row in self.changed)

    @property
    def empty(self) -> bool:
        """No eval is driven by the file, or none has any point."""
        return not (self.changed or self.unchanged or self.confounded or self.regraded or self.first or self.silent)


class EditView(NamedTuple):
    """One edit: its place among the others, what it did, and itself as ``RenderedPatch`` says."""

    nav: str
    name: str
    """The file's path, visible: the last it had."""
    file: str
    """The file's path, for links."""
    subject: str
    edit: Edit
    number: int
    """Which edit of the file it is, from 1."""
    earlier: Commit | None
    """Of the file's edit before."""
    moved_from: str | None
    """The path before, if the edit moved the file."""
    before: TextStats | None
    after: TextStats | None
    effects: EffectsView
    counts: PatchCounts
    notes: tuple[str, ...]
    rows: tuple[DiffRow, ...]
    passages: tuple[str, ...]
    command: str | None


def draw_edit(edit: Edit, patch: bytes) -> RenderedPatch:
    """An edit from git's patch of this one file; empty if git has none."""
    read = read_patch(patch)
    diff = draw(read)
    return RenderedPatch(
        counts=read.counts,
        notes=_patch_notes(edit, read, diff.left_out),
        rows=diff.rows,
        passages=diff.passages,
        command=_command(edit) if diff.left_out or read.unread or not diff.rows else None,
    )


def edit_page(
    file: InstructionHistory,
    index: int,
    drawn: RenderedPatch,
    effects: tuple[Effect, ...],
    before: TextStats | None = None,
    after: TextStats | None = None,
    *,
    thickens: bool = False,
) -> Page:
    """The page of ``file.edits[index]``.

    Args:
        file: the whole history of the file.
        index: which of its edits.
        drawn: the edit itself.
        effects: what became of each eval that the file drives.
        before: size of the file before the edit, as far as known; None is not shown.
        after: size of the file after it.
        thickens: it changes an agent's definition, though instructions have files of their own.

    """
    edit = file.edits[index]
    earlier = file.edits[index - 1] if index else None
    view = EditView(
        nav="instructions",
        name=line(file.path),
        file=file.path,
        subject=line(edit.commit.subject, 300) or "(no subject)",
        edit=edit,
        number=index + 1,
        earlier=earlier.commit if earlier else None,
        moved_from=line(earlier.path) if earlier and earlier.path != edit.path else None,
        before=before,
        after=after,
        effects=effects_view(effects),
        counts=drawn.counts,
        notes=(THICKENED, *drawn.notes) if thickens else drawn.notes,
        rows=drawn.rows,
        passages=drawn.passages,
        command=drawn.command,
    )
    return Page(links.edit(file.path, edit.commit.sha), "pages/edit.html", view)


def effects_view(effects: tuple[Effect, ...]) -> EffectsView:
    """The effects grouped by verdict, each group sorted by the size of the headline's change."""
    rows = [_effect_row(effect) for effect in effects if effect.after is not None]
    rows.sort(key=lambda row: (-abs(row.moves[0].change or 0), row.name, row.eval_id))
    return EffectsView(
        changed=tuple(row for row in rows if row.verdict in ("improved", "worse")),
        unchanged=tuple(row for row in rows if row.verdict == "unchanged"),
        confounded=tuple(row for row in rows if row.verdict == "confounded"),
        regraded=tuple(row for row in rows if row.verdict == "regraded"),
        first=tuple(row for row in rows if row.verdict == "first"),
        silent=tuple(line(effect.name, 80) for effect in effects if effect.after is None),
    )


def _effect_row(effect: Effect) -> EffectRow:
    moves = moved(effect.before, effect.after, effect.specs, effect.judge)
    return EffectRow(
        eval_id=effect.eval_id,
        name=line(effect.name, 80),
        verdict="regraded" if effect.regraded else "confounded" if effect.model else verdict(moves[0], effect.after),
        before=effect.before,
        after=effect.after,
        moves=defined(moves) if effect.specs and effect.specs[0].recorded else moves,
        flips=effect.flips,
        by_rules=effect.by_rules,
        comparable=effect.comparable,
        spec=effect.specs[0] if effect.specs else HEADLINE,
        judged=None if effect.regraded else effect.verdict,
        model=effect.model,
        judge=effect.judge,
    )


def moved(
    before: Headline | None, after: Headline | None, specs: tuple[MetricSpec, ...], judge: Exchange | None = None
) -> tuple[Move, ...]:
    """Each metric of two points; without specs the headline alone. Grades of two judges have no change."""
    found = []
    for index, spec in enumerate(specs or (HEADLINE,)):
        first = before.values[index] if before else None
        last = after.values[index] if after else None
        change = None if first is None or last is None or regraded(judge, spec.name) else last - first
        found.append(
            Move(
                label=spec.label,
                before=first,
                after=last,
                change=change,
                higher_is_better=spec.higher_is_better,
                unit=spec.unit,
            )
        )
    return tuple(found)


def defined(moves: tuple[Move, ...]) -> tuple[Move, ...]:
    """The headline, and of the others those that either side has: a run need not record what others do."""
    return (*moves[:1], *(move for move in moves[1:] if move.before is not None or move.after is not None))


def verdict(headline: Move, after: Headline | None) -> Verdict:
    """What to call the change of a headline metric."""
    if after is None:
        return "none"
    if headline.change is None:
        return "first"
    if headline.change == 0:
        return "unchanged"
    return "improved" if (headline.change > 0) == headline.higher_is_better else "worse"


def _patch_notes(edit: Edit, patch: Patch, left_out: int) -> tuple[str, ...]:
    notes = []
    if patch.unread:
        notes.append(patch.unread)
    elif patch.binary:
        notes.append("The file is binary, or git takes it for binary. There are no lines to show.")
    elif not patch.hunks:
        notes.append(_nothing_to_show(edit, patch))
    if patch.line_endings and patch.hunks:
        notes.append(f"{_line_count(patch.line_endings)} changed only in the line ending. They are shown as unchanged.")
    if left_out:
        notes.append(f"The first {MOST_LINES:,} lines of the diff are shown, {left_out:,} more are left out.")
    return tuple(notes)


def _nothing_to_show(edit: Edit, patch: Patch) -> str:
    if patch.line_endings:
        return f"{_line_count(patch.line_endings)} changed only in the line ending (carriage return). No text changed."
    old, new = edit.old, edit.new
    if old and new and old.oid == new.oid:
        if edit.status == "renamed":
            return "The file was moved. Its text did not change."
        return "The file's mode changed. Its text did not."
    if edit.status in ("added", "deleted"):
        return "The file is empty."
    return "Only line endings changed (carriage return). No text changed."


def _line_count(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"


def _command(edit: Edit) -> str | None:
    """Shows the edit in a terminal: by blobs if there are two, which works for a moved file as well."""
    if edit.old and edit.new and edit.old.oid != edit.new.oid:
        return f"git diff {edit.old.oid[:12]} {edit.new.oid[:12]}"
    if edit.commit.sha == WORKTREE:
        return None
    return f"git show -m --first-parent {edit.commit.short} -- {shlex.quote(line(edit.path))}"
