"""The page of one edit of an instruction file: its effects, the edit as a diff in three views, and the flipped fields.

Fields that flipped around an edit or a commit are linked both ways with the passages of diffs that name them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sitegen.analysis.section_flips import PassageWords, mentioned_fields
from sitegen.frozen import Frozen
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.series import Effect
from sitegen.model.site import Page
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages import links
from sitegen.pages.edit.effects import EffectRow, EffectsView, effects_view
from sitegen.pages.instruction.file_history import THICKENED
from sitegen.pages.labels import subject_of
from sitegen.text.diff import MOST_LINES, DiffRow, draw
from sitegen.text.patch import Patch, PatchCounts, read_patch
from sitegen.text.plain import line
from sitegen.text.sections import TextStats

MOST_FIELDS: Final = 200
"""Number of fields that a page lists: the ones with the most flips."""


class FieldEffect(Frozen):
    """A flipped field in one eval."""

    eval_id: str
    name: str
    fixed: int
    broken: int


class PassageLink(Frozen):
    """A link to a passage of a diff."""

    anchor: str
    label: str


class FieldRow(Frozen):
    """A field that flipped in any eval."""

    anchor: str
    attribute: str
    evals: tuple[FieldEffect, ...]
    passages: tuple[PassageLink, ...]
    """Passages whose changed lines name the field."""

    @property
    def fixed(self) -> int:
        """Cells fixed over all evals."""
        return sum(effect.fixed for effect in self.evals)

    @property
    def broken(self) -> int:
        """Cells broken over all evals."""
        return sum(effect.broken for effect in self.evals)


class Passage(Frozen):
    """A passage of a diff, with the fields that it names and that flipped."""

    anchor: str
    number: int
    fields: tuple[FieldRow, ...]


class FlippedFields(Frozen):
    """The fields that flipped over all evals, those with the most flips first, and the passages that name them."""

    rows: tuple[FieldRow, ...]
    more: int
    """Number of fields that are not listed."""
    passages: tuple[tuple[Passage, ...], ...]
    """The passages of each file."""


def fields_and_passages(rows: Iterable[EffectRow], files: Mapping[str, Sequence[PassageWords]]) -> FlippedFields:
    """The flipped fields of all evals, linked both ways with the passages that name them.

    Args:
        rows: the evals.
        files: the words of the passages of each edited file, by path.

    """
    evals: dict[str, list[FieldEffect]] = {}
    for row in rows:
        for attribute, fixed, broken in row.fields:
            effect = FieldEffect(eval_id=row.eval_id, name=row.name, fixed=fixed, broken=broken)
            evals.setdefault(attribute, []).append(effect)
    names = sorted(evals, key=lambda name: (-sum(effect.fixed + effect.broken for effect in evals[name]), name))
    listed = names[:MOST_FIELDS]
    mentions = [mentioned_fields(passages, listed, path) for path, passages in files.items()]
    passage_links = [
        _passage_links(path, place if len(files) > 1 else None, len(words))
        for place, (path, words) in enumerate(files.items())
    ]
    table = {
        name: FieldRow(
            anchor=f"d{number}",
            attribute=name,
            evals=tuple(evals[name]),
            passages=tuple(
                link
                for of_file, links_of_file in zip(mentions, passage_links, strict=True)
                for fields, link in zip(of_file, links_of_file, strict=True)
                if name in fields
            ),
        )
        for number, name in enumerate(listed, start=1)
    }
    passages = tuple(
        tuple(
            Passage(anchor=link.anchor, number=number, fields=tuple(table[name] for name in fields))
            for number, (fields, link) in enumerate(zip(of_file, links_of_file, strict=True), start=1)
        )
        for of_file, links_of_file in zip(mentions, passage_links, strict=True)
    )
    return FlippedFields(rows=tuple(table.values()), more=len(names) - len(listed), passages=passages)


def _passage_links(path: str, place: int | None, passages: int) -> list[PassageLink]:
    """A link to each passage of a file. ``place``: of the file among several; None if it is the only one."""
    numbers = range(1, passages + 1)
    if place is None:
        return [PassageLink(f"p{number}", str(number)) for number in numbers]
    name = line("/".join(path.split("/")[-2:]), 60)  # files of several agents may have the same name
    return [PassageLink(f"f{place + 1}p{number}", f"{name} {number}") for number in numbers]


class RenderedPatch(Frozen):
    """The parts of a patch that a page shows. They depend only on the edit, so they can be cached."""

    counts: PatchCounts
    notes: tuple[str, ...]
    """Sentences on what is unusual about the patch."""
    rows: tuple[DiffRow, ...]
    passages: tuple[str, ...]
    """Safe HTML from ``sitegen.text.markdown``; empty if only lines are shown."""
    words: tuple[PassageWords, ...]
    """The words of each drawn passage."""
    lines: int
    """Number of drawn lines."""
    command: str | None
    """The command that shows the whole edit, if the page does not."""


class EditView(Frozen):
    """What ``pages/edit.html`` shows."""

    nav: str
    name: str
    """The last path of the file, with hidden characters made visible."""
    file: str
    """The last path of the file, for links."""
    subject: str
    edit: Edit
    number: int
    """Number of the edit among the edits of the file, from 1."""
    earlier: Commit | None
    """The commit of the previous edit."""
    moved_from: str | None
    """The previous path, if the edit moved the file."""
    before: TextStats | None
    after: TextStats | None
    effects: EffectsView
    fields: FlippedFields
    patch: RenderedPatch
    """The edit itself."""
    thickened: str
    """Why the edit should not have changed this file, the definition of an agent; empty for any other edit."""

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The passages of the diff, each with the flipped fields that it names."""
        return self.fields.passages[0]


def draw_edit(edit: Edit, patch: bytes, *, with_passages: bool = True) -> RenderedPatch:
    """Reads git's patch of this one file; the patch is empty if git has none."""
    read = read_patch(patch)
    diff = draw(read, with_passages=with_passages)
    return RenderedPatch(
        counts=read.counts,
        notes=_patch_notes(edit, read, diff.left_out),
        rows=diff.rows,
        passages=diff.passages,
        words=tuple(map(PassageWords.of, diff.hunks)),
        lines=sum(len(hunk.lines) for hunk in diff.hunks),
        command=command_of(edit) if diff.left_out or read.unread or not diff.rows else None,
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
        drawn: the rendered patch.
        effects: how each eval that the file drives changed around the edit.
        before: size of the file before the edit; None if unknown, and not shown.
        after: size of the file after the edit.
        thickens: whether the edit changes an agent's definition although instructions have separate files.

    """
    edit = file.edits[index]
    earlier = file.edits[index - 1] if index else None
    outcome = effects_view(effects)
    view = EditView(
        nav="instructions",
        name=line(file.path),
        file=file.path,
        subject=subject_of(edit.commit, 300),
        edit=edit,
        number=index + 1,
        earlier=earlier.commit if earlier else None,
        moved_from=line(earlier.path) if earlier and earlier.path != edit.path else None,
        before=before,
        after=after,
        effects=outcome,
        fields=fields_and_passages(outcome.rows, {file.path: drawn.words}),
        patch=drawn,
        thickened=THICKENED if thickens else "",
    )
    return Page(links.edit(file.path, edit.commit.sha), "pages/edit.html", view)


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


def command_of(edit: Edit) -> str | None:
    """The command that shows the edit: by blobs if there are two, which works for a moved file as well."""
    if edit.old and edit.new and edit.old.oid != edit.new.oid:
        return f"git diff {edit.old.oid[:12]} {edit.new.oid[:12]}"
    if edit.commit.sha == WORKTREE:
        return None
    return f"git show -m --first-parent {edit.commit.short} -- {shlex.quote(line(edit.path))}"
