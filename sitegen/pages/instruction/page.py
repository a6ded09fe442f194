"""The page of one instruction file: its edits with their effects, its size over time, its present text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sitegen.analysis.effects import EvalPeak, mean_change
from sitegen.analysis.section_flips import SectionFlips, section_flips
from sitegen.frozen import Frozen
from sitegen.model.commits import Commit
from sitegen.model.series import Effect
from sitegen.model.site import Page
from sitegen.model.timeline import EditStatus, InstructionHistory
from sitegen.pages import links
from sitegen.pages.effects import EffectRow, effect_rows
from sitegen.pages.instruction.file_history import (
    LONGEST_DEFINITION,
    BestRow,
    Growth,
    best_rows,
    growth,
    is_definition,
    restore,
)
from sitegen.pages.labels import subject_of
from sitegen.text.patch import PatchCounts, VersionSlip, VersionStep, version_steps
from sitegen.text.plain import line
from sitegen.text.sections import Section, TextStats, sections, split_lines, text_stats

SHOWN_FIRST: Final = 50
"""Number of edits before "show more"."""

LISTED: Final = 200
"""Number of edits in the list: the newest ones; the page of each edit leads to the one before it."""

SPARK_POINTS: Final = 120
"""Largest number of points of the line of sizes over time; of more points an even selection is drawn."""


class EditRecord(Frozen):
    """The data of one edit for lists of edits that is not in the timeline."""

    counts: PatchCounts | None
    """None if unknown, because the patch could not be read."""
    effects: tuple[Effect, ...] = ()
    sections: tuple[str, ...] = ()
    """Paths of the headings above its changed lines."""


class EditRow(Frozen):
    """One edit in the list."""

    commit: Commit
    subject: str
    status: EditStatus
    moved_from: str | None
    counts: PatchCounts | None
    lines: int | None
    """Number of lines of the file after the edit."""
    effects: tuple[EffectRow, ...]
    """How each eval changed across the edit."""
    version: str | None = None
    """The version that the file states after the edit."""
    slip: VersionSlip | None = None
    words: int | None = None
    """Number of words of the file after the edit."""


class DisplayedFile(Frozen):
    """A file's text, prepared for the page."""

    stats: TextStats
    sections: tuple[Section, ...]
    html: str
    """Safe HTML from ``sitegen.text.markdown``."""
    plain: bool
    """Whether the text is too large to be rendered, and is shown as source."""
    cut: bool
    """Whether the shown text is truncated."""


class InstructionView(Frozen):
    """One file through history."""

    nav: str
    name: str
    file: str
    deleted: bool
    rows: tuple[EditRow, ...]
    """The edits, newest first."""
    lines: tuple[int | None, ...]
    """Number of lines of the file after each edit, oldest first; a selection if there are many."""
    earlier_paths: tuple[str, ...]
    """Earlier paths of the file, oldest first."""
    text: DisplayedFile | None
    """The present text, or the last text of a deleted file; None if there is none to show."""
    restore: str | None
    """The command that restores the newest committed text."""
    notes: tuple[str, ...] = ()
    """Sentences on what to improve about its versions and its length."""
    growth: Growth | None = None
    best: tuple[BestRow, ...] = ()
    flips: tuple[SectionFlips, ...] = ()
    """Sections with the fields that flipped around their edits, not counting the edit that added the file."""
    more_flips: int = 0
    """Number of sections that are not listed."""

    @property
    def versioned(self) -> bool:
        """Whether the file states a version after any of its edits."""
        return any(row.version for row in self.rows)


def show_text(content: bytes) -> DisplayedFile | None:
    """A text ready to be shown; None if it is binary."""
    from sitegen.text.markdown import LARGEST, document

    if b"\0" in content:
        return None
    text = content.decode("utf-8", "replace")
    rendered = document(text)
    return DisplayedFile(
        stats=text_stats(content),
        sections=sections(split_lines(text), rendered.headings),
        html=rendered.html,
        plain=rendered.plain,
        cut=rendered.plain and len(content) > LARGEST,
    )


def instruction_page(
    file: InstructionHistory,
    records: Sequence[EditRecord],
    displayed: DisplayedFile | None,
    peaks: Sequence[EvalPeak] = (),
) -> Page:
    """The page of a file.

    Args:
        file: the whole history of the file.
        records: one record for each edit, in the order of ``file.edits``.
        displayed: the present text, or the last text of a deleted file; None if there is none to show.
        peaks: the best output of each eval that the file drives.

    """
    counts = [record.counts for record in records]
    sizes, words, steps = line_counts(counts), word_counts(counts), version_steps(counts)
    effects = [record.effects for record in records]
    changed = [() if edit.old is None else record.sections for edit, record in zip(file.edits, records, strict=True)]
    flips, more_flips = section_flips(changed, effects)
    rows = tuple(
        EditRow(
            commit=edit.commit,
            subject=subject_of(edit.commit, 160),
            status=edit.status,
            moved_from=line(file.edits[index - 1].path) if index and file.edits[index - 1].path != edit.path else None,
            counts=record.counts,
            lines=size,
            effects=effect_rows(record.effects),
            version=step.version,
            slip=step.slip,
            words=words[index],
        )
        for index, (edit, record, size, step) in enumerate(zip(file.edits, records, sizes, steps, strict=True))
    )
    view = InstructionView(
        nav="instructions",
        name=line(file.path),
        file=file.path,
        deleted=file.deleted,
        rows=rows[::-1],
        lines=thinned(sizes),
        earlier_paths=_earlier_paths(file),
        text=displayed,
        restore=next(filter(None, (restore(edit, file.path) for edit in reversed(file.edits))), None),
        notes=_file_notes(file, steps, displayed),
        growth=growth(file, sizes, words, effects, [mean_change(of_edit) for of_edit in effects]),
        best=best_rows(file, peaks, [step.version for step in steps]),
        flips=flips,
        more_flips=more_flips,
    )
    return Page(links.instruction(file.path), "pages/instruction.html", view)


def line_counts(counts: Sequence[PatchCounts | None]) -> tuple[int | None, ...]:
    """Lines of a file after each of its edits, from the added and removed lines of each.

    The oldest edit added the whole file, also at the edge of a shallow history. After an edit with unknown counts the
    size is unknown.
    """
    return _sizes_after_changes(None if count is None else count.added - count.removed for count in counts)


def word_counts(counts: Sequence[PatchCounts | None]) -> tuple[int | None, ...]:
    """Words of a file after each of its edits, as ``line_counts`` counts lines."""
    return _sizes_after_changes(None if count is None else count.words for count in counts)


def _sizes_after_changes(changes: Iterable[int | None]) -> tuple[int | None, ...]:
    """The size after each change of what was empty at first; unknown from an unknown change on."""
    sizes: list[int | None] = []
    size: int | None = 0
    for change in changes:
        size = None if size is None or change is None else max(0, size + change)
        sizes.append(size)
    return tuple(sizes)


def thinned(sizes: Sequence[int | None]) -> tuple[int | None, ...]:
    """At most ``SPARK_POINTS`` of the values, always including the first and the last."""
    last = len(sizes) - 1
    if last < SPARK_POINTS:
        return tuple(sizes)
    return tuple(sizes[round(step * last / (SPARK_POINTS - 1))] for step in range(SPARK_POINTS))


def _earlier_paths(file: InstructionHistory) -> tuple[str, ...]:
    paths = dict.fromkeys(edit.path for edit in file.edits)
    return tuple(line(path) for path in paths if path != file.path)


def _file_notes(
    file: InstructionHistory, steps: Sequence[VersionStep], displayed: DisplayedFile | None
) -> tuple[str, ...]:
    notes = []
    if silent := sum(step.slip == "text alone" for step in steps):
        notes.append(f"{_edit_count(silent)} changed the text without a new version.")
    if hollow := sum(step.slip == "version alone" for step in steps):
        notes.append(f"{_edit_count(hollow)} gave a new version and changed nothing else.")
    length = displayed.stats.lines if displayed and not file.deleted else None
    if length and length > LONGEST_DEFINITION and is_definition(file.path):
        notes.append(f"An agent definition of {length:,} lines: move the details into instruction files.")
    return tuple(notes)


def _edit_count(count: int) -> str:
    return "1 edit" if count == 1 else f"{count:,} edits"
