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
"""The metric of the first value of an effect without specs."""


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
    """One for each metric, the headline first."""
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
    """What a page shows of the patch. It depends on the edit alone, so it can be cached."""

    counts: PatchCounts
    notes: tuple[str, ...]
    """Sentences on what is unusual about the patch."""
    rows: tuple[DiffRow, ...]
    passages: tuple[str, ...]
    """Safe HTML from ``sitegen.text.markdown``."""
    command: str | None
    """The command that shows the whole edit, if the page does not."""


class EffectsView(NamedTuple):
    """The effects of one edit, by size of the headline's change."""

    changed: tuple[EffectRow, ...]
    """Improved or worse."""
    unchanged: tuple[EffectRow, ...]
    confounded: tuple[EffectRow, ...]
    """Evals whose model changed as well."""
    regraded: tuple[EffectRow, ...]
    """Evals whose headline was graded by two different judges."""
    first: tuple[EffectRow, ...]
    silent: tuple[str, ...]
    """Names of evals without any output between this edit and the next."""

    @property
    def judged(self) -> int:
        """Number of changes that were tested against chance."""
        return sum(row.judged is not None for row in self.changed)

    @property
    def beyond_chance(self) -> int:
        """Number of changes that are more than chance."""
        return sum(row.judged is not None and row.judged.why == "beyond chance" for row in self.changed)

    @property
    def improved(self) -> int:
        """Number of evals that improved."""
        return sum(row.verdict == "improved" for row in self.changed)

    @property
    def empty(self) -> bool:
        """Whether the file drives no eval with any point."""
        return not (self.changed or self.unchanged or self.confounded or self.regraded or self.first or self.silent)


class EditView(NamedTuple):
    """What ``pages/edit.html`` shows."""

    nav: str
    name: str
    """The last path of the file, with hidden characters made visible."""
    file: str
    """The last path of the file, as links need it."""
    subject: str
    edit: Edit
    number: int
    """Number of the edit among those of the file, from 1."""
    earlier: Commit | None
    """The commit of the edit before."""
    moved_from: str | None
    """The path before, if the edit moved the file."""
    before: TextStats | None
    after: TextStats | None
    effects: EffectsView
    patch: RenderedPatch
    """The edit itself."""
    thickened: str
    """Why the edit should not have changed this file, which defines an agent; empty for any other edit."""


def draw_edit(edit: Edit, patch: bytes) -> RenderedPatch:
    """Reads git's patch of this one file; the patch is empty if git has none."""
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
        drawn: the patch as the page shows it.
        effects: how each eval that the file drives changed around the edit.
        before: size of the file before the edit, as far as known; None is not shown.
        after: size of the file after it.
        thickens: the edit changes an agent's definition although instructions have files of their own.

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
        patch=drawn,
        thickened=THICKENED if thickens else "",
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
    """Each metric at two points; without specs only the headline. Grades of two different judges have no change."""
    moves = []
    for index, spec in enumerate(specs or (HEADLINE,)):
        first = before.values[index] if before else None
        last = after.values[index] if after else None
        change = None if first is None or last is None or regraded(judge, spec.name) else last - first
        moves.append(
            Move(
                label=spec.label,
                before=first,
                after=last,
                change=change,
                higher_is_better=spec.higher_is_better,
                unit=spec.unit,
            )
        )
    return tuple(moves)


def defined(moves: tuple[Move, ...]) -> tuple[Move, ...]:
    """The headline, and the other metrics that either side has: runs need not record the same metrics."""
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
    """The command that shows the edit: by blobs if there are two, which works for a moved file as well."""
    if edit.old and edit.new and edit.old.oid != edit.new.oid:
        return f"git diff {edit.old.oid[:12]} {edit.new.oid[:12]}"
    if edit.commit.sha == WORKTREE:
        return None
    return f"git show -m --first-parent {edit.commit.short} -- {shlex.quote(line(edit.path))}"
