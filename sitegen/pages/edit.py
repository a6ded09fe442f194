"""The page of one edit of an instruction file: how evals changed around it, and the edit as a diff in three views.

The lines of a diff, of which there are hundreds on thousands of pages, are escaped f-strings.
"""

import shlex
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final, Literal

from markupsafe import Markup

from sitegen.model.commits import WORKTREE
from sitegen.model.frozen import Frozen
from sitegen.model.site import Page
from sitegen.model.timeline import Edit
from sitegen.pages import links
from sitegen.pages.effects import EffectRow, FlippedFields, fields_and_passages
from sitegen.pages.html.cells import text
from sitegen.pages.html.formats import count
from sitegen.text.patch import MOST_LINES, DiffRow, Hunk, Patch, PatchCounts, draw, read_patch, rendered
from sitegen.text.plain import counted, line
from sitegen.text.sections import TextStats
from sitegen.text.words import Spans

_CHANGED: Final[dict[str, tuple[str, Literal["del", "ins"]]]] = {"−": ("d", "del"), "+": ("a", "ins")}
"""The class of a line and the tag of its changed words, by its sign."""

FILES: Final = 20
"""The most instruction files whose diffs another page than that of an edit shows."""
_LINES: Final = 600  # the most lines of these diffs together

_NAMED_FIELDS: Final = 8  # number of fields that the head of a passage names


class RenderedPatch(Frozen):
    """The parts of a patch that a page shows."""

    rows: tuple[DiffRow, ...]
    hunks: tuple[Hunk, ...]
    """The drawn hunks; the last one may be truncated."""
    counts: PatchCounts
    notes: tuple[str, ...]
    command: str | None
    """The command that shows the whole edit, if the page does not."""


class EditView(Frozen):
    """What ``pages/edit.html`` shows."""

    path: str
    """The last path of the file, which its pages are named after."""
    edits: Sequence[Edit]
    """The edit, after the one before it if there is one. The page shows nothing of others."""
    index: int
    """Which of the edits of the file it is."""
    patch: RenderedPatch
    effects: tuple[EffectRow, ...]
    sizes: tuple[TextStats | None, TextStats | None] = (None, None)
    """The size of the file before and after the edit; None if unknown, and not shown."""
    thickens: bool = False
    """Whether the edit changes an agent's definition although instructions have separate files."""

    @property
    def page(self) -> Page:
        """The page that shows it."""
        return Page(links.edit(self.path, self.edit.commit.sha), "pages/edit.html", self)

    @property
    def fields(self) -> FlippedFields:
        """The fields that flipped around the edit."""
        return fields_and_passages(self.effects, {self.path: self.patch.hunks})

    @property
    def passages(self) -> tuple[str, ...]:
        """The changed passages as rendered Markdown: safe HTML. None if all of the file is new, or gone."""
        return tuple(map(rendered, self.patch.hunks)) if self.edit.old and self.edit.new else ()

    @property
    def edit(self) -> Edit:
        """The edit itself."""
        return self.edits[-1]

    @property
    def earlier(self) -> Edit | None:
        """The previous edit of the file."""
        return self.edits[0] if self.index else None

    @property
    def size(self) -> tuple[tuple[str, int | None, int | None], ...]:
        """Units with their numbers before and after the edit; both are the same if only one is known."""
        old, new = (stats or TextStats() for stats in self.sizes)
        sizes = (("lines", old.lines, new.lines), ("words", old.words, new.words))
        return tuple(
            (unit, after if before is None else before, before if after is None else after)
            for unit, before, after in sizes
            if before is not None or after is not None
        )

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions that the file states before and after the edit, by the patch or else by the text."""
        counts, (before, after) = self.patch.counts, self.sizes
        old = counts.version_before or (before.version if before else None)
        new = counts.version_after or (after.version if after else None)
        return tuple(dict.fromkeys(filter(None, (old, new))))


def short_edit(path: str, edit: Edit, index: int, counts: PatchCounts | None) -> Page:
    """The page of an old edit: how many lines it changed, and how they are seen."""
    numbers = [("Lines added", count(counts.added)), ("Lines removed", count(counts.removed))] if counts else []
    view = path, f"Edit {index + 1} of the file", edit.commit, "", "lines were", command_of(edit), numbers
    return Page(links.edit(path, edit.commit.sha), "pages/short.html", view)


def draw_edit(edit: Edit, patch: Patch) -> RenderedPatch:
    """Draws git's patch of this one file; the patch is empty if git has none."""
    rows, hunks, left_out = draw(patch)
    return RenderedPatch(
        rows=rows,
        hunks=hunks,
        counts=patch.counts,
        notes=_patch_notes(edit, patch, left_out),
        command=command_of(edit) if left_out or patch.unread or not rows else None,
    )


def draw_few(edits: Sequence[Edit], patches: Iterable[bytes]) -> dict[str, RenderedPatch]:
    """Draw the diffs that another page than that of an edit shows, by path: of few lines each, until it has enough."""
    diffs: dict[str, RenderedPatch] = {}
    room = _LINES
    for edit, patch in zip(edits, patches, strict=True):
        lines = patch.count(b"\n")  # those of git's header too, so that a patch without room is not read
        if lines <= room and (read := read_patch(patch)).hunks:
            diffs[edit.path] = draw_edit(edit, read)
            room -= lines
    return diffs


def _patch_notes(edit: Edit, patch: Patch, left_out: int) -> tuple[str, ...]:
    notes, endings = [], f"{counted(patch.line_endings, 'line')} changed only in the line ending"
    if patch.unread:
        notes.append(patch.unread)
    elif patch.binary:
        notes.append("The file is binary, or git takes it for binary. There are no lines to show.")
    elif not patch.hunks:
        notes.append(f"{endings} (carriage return). No text changed." if patch.line_endings else _nothing_to_show(edit))
    if patch.line_endings and patch.hunks:
        notes.append(f"{endings}. They are shown as unchanged.")
    if left_out:
        notes.append(f"The first {MOST_LINES:,} lines of the diff are shown, {left_out:,} more are left out.")
    return tuple(notes)


def _nothing_to_show(edit: Edit) -> str:
    old, new = edit.old, edit.new
    if old and new and old.oid == new.oid:
        if edit.status == "renamed":
            return "The file was moved. Its text did not change."
        return "The file's mode changed. Its text did not."
    if edit.status in ("added", "deleted"):
        return "The file is empty."
    return "Only line endings changed (carriage return). No text changed."


def command_of(edit: Edit) -> str | None:
    """The command that shows the edit: by blobs if there are two, which works for a moved file as well."""
    if edit.old and edit.new and edit.old.oid != edit.new.oid:
        return f"git diff {edit.old.oid[:12]} {edit.new.oid[:12]}"
    if edit.commit.sha == WORKTREE:
        return None
    return f"git show -m --first-parent {edit.commit.short} -- {shlex.quote(line(edit.path))}"


def diff_lines(rows: Iterable[DiffRow], fields: FlippedFields, path: str) -> Markup:
    """Table rows of six cells: number, sign, text of the old side, then the same of the new side.

    The style sheet shows them side by side or one below the other, so that both views are one table. Each passage has a
    head with its address, and links to the flipped fields that it names.
    """
    passage, drawn = 0, []
    for kind, old_line, new_line, old, new in rows:
        if kind == "context":
            content = escape(old[0].text, quote=False) if old else ""
            same = f'<b class="md-h">{content}</b>' if content.startswith("#") else content
            drawn.append(
                f'<tr class="ctx muted"><td class="ln-n">{old_line}</td><td class="sg"></td><td class="cx">{same}</td>'
                f'<td class="ln-n mid">{new_line}</td><td class="sg again"></td><td class="cx again">{same}</td></tr>\n'
            )
        elif kind == "change":
            drawn.append(f"<tr>{_side(old_line, old, '−')}{_side(new_line, new, '+', ' mid')}</tr>\n")
        elif kind == "hunk":
            passage += 1
            named = _named_fields(fields, fields.named[path][passage - 1])
            head = f"<b>Passage {passage}</b> {_marked(old or (), 'ins')} {named}"
            drawn.append(f'<tr class="hk" id="{fields.passage(path, passage)}"><td colspan="6">{head}</td></tr>\n')
        else:
            drawn.append(f'<tr class="rk"><td colspan="6">{_marked(old or (), "ins")}</td></tr>\n')
    return Markup("".join(drawn))


def _named_fields(fields: FlippedFields, named: Sequence[str]) -> str:
    """The flipped fields that a passage names, with how many of their cells were fixed and broken."""
    listed = []
    for field in named[:_NAMED_FIELDS]:
        fixed, broken = fields.flips(field)
        signs = " ".join([f"+{fixed:,}"] * bool(fixed) + [f"−{broken:,}"] * bool(broken))
        listed.append(f'<a href="#{fields.anchor(field)}"><code>{text(field)}</code></a> {signs}')
    more = len(named) - _NAMED_FIELDS
    rest = f' <span class="nowrap">and {more:,} more</span>' if more > 0 else ""
    return f'<span class="ab">names {", ".join(listed)}{rest}</span>' if named else ""


def _side(line: int | None, spans: Spans | None, sign: str, middle: str = "") -> str:
    """Number, sign and text of a changed line on one side; empty cells if the side has no such line."""
    if spans is None:
        return f'<td class="ln-n e{middle}"></td><td class="sg e"></td><td class="e"></td>'
    kind, tag = _CHANGED[sign]
    return (
        f'<td class="ln-n {kind}{middle}">{line}</td><td class="sg {kind}">{sign}</td>'
        f'<td class="{kind}">{_marked(spans, tag)}</td>'
    )


def _marked(spans: Spans, tag: Literal["del", "ins"]) -> str:
    written = ((escape(content, quote=False), changed) for content, changed in spans)
    return "".join([f"<{tag}>{content}</{tag}>" if changed else content for content, changed in written])
