"""The page of one instruction file: its edits with their effects, its size and best versions, its present text.

``pages/instruction.html`` reads the model itself, and asks the view for what the model lacks. The page offers
commands that go back to an earlier version and tells an agent's definition, which should stay short, from instructions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from shlex import quote
from typing import Final, NamedTuple

from sitegen.analysis.effects import FileThen
from sitegen.analysis.section_flips import SectionFlips, section_flips
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.frozen import Frozen
from sitegen.model.series import Effect
from sitegen.model.site import Page
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages import links
from sitegen.text.patch import PatchCounts, VersionStep, version_steps
from sitegen.text.plain import counted, line
from sitegen.text.sections import Section, TextStats, sections, split_lines, text_stats

_PATTERN: Final = frozenset("*?[\\:")  # characters that make git read a path as a pattern

MOST_FILES: Final = 100
"""Largest number of files that one command restores."""


def way_back(edits: Sequence[tuple[Edit, str]]) -> str | None:
    """The command that brings files back as they were before all of some edits; None if ``go_back_command`` gives none.

    ``edits``: each with the path of its file now.
    """
    newest_first = sorted(edits, key=lambda each: -each[0].commit.position)
    then = {now: edit.old.path if edit.old else None for edit, now in newest_first}
    pairs = [*zip(then.values(), then, strict=True)]
    return go_back_command(newest_first[-1][0].commit, pairs, parent=True) if pairs else None


def go_back_command(commit: Commit, files: Sequence[FileThen], *, parent: bool = False) -> str | None:
    """One command that restores files to their state at a commit; files that were added since are removed.

    ``parent``: to their state before the commit. None if there are no files, or too many; if the changes are
    uncommitted; and if a path has characters that a page cannot show, because a wrong command would be worse than none.
    """
    paths = [path for file in files for path in file if path is not None]
    if not 0 < len(files) <= MOST_FILES or commit.sha == WORKTREE or any(line(path) != path for path in paths):
        return None
    literal = "--literal-pathspecs " if any(_PATTERN & set(path) for path in paths) else ""
    revision = f"{commit.short}~1" if parent else commit.short
    checked_out = [then for then, now in files if then and now in (then, None)]
    added = [now for then, now in files if now and not then]
    moved = [(then, now) for then, now in files if then and now and then != now]
    commands = [f"git {literal}checkout {revision} -- {' '.join(map(quote, checked_out))}"] * bool(checked_out)
    commands += [f"git show {quote(f'{revision}:{then}')} > {quote(now)}" for then, now in moved]
    commands += [f"git {literal}rm -q -- {' '.join(map(quote, added))}"] * bool(added)
    return " && ".join(commands)


def is_definition(path: str) -> bool:
    """Whether a path is the definition of an agent."""
    return "/.claude/agents/" in f"/{path}"


def apart_since(files: Iterable[InstructionHistory]) -> int | None:
    """Position of the first commit with instructions of agents in separate files; None if there is none."""
    positions = (
        edit.commit.position for file in files for edit in file.edits if "/.claude/instructions/" in f"/{edit.path}"
    )
    return min(positions, default=None)


def thickens(edit: Edit, apart: int | None) -> bool:
    """Whether the edit changes a definition although instructions have separate files since position ``apart``.

    The commit that moves the instructions out of the definition does not count.
    """
    return edit.status == "modified" and is_definition(edit.path) and apart is not None and edit.commit.position > apart


LISTED_EDITS: Final = 200
"""Number of edits in the list: the newest ones; the page of each edit leads to the one before it."""

SPARK_POINTS: Final = 120
"""Largest number of points of the line of sizes over time; of more points an even selection is drawn."""

_LONGEST_DEFINITION: Final = 100
"""Number of lines above which a definition contains more than the list of instructions to read."""


class CountedEdit(NamedTuple):
    """How much text an edit of an instruction file changed, and where."""

    counts: PatchCounts | None
    """None: the patch or the text after it cannot be read."""
    sections: tuple[str, ...]
    """Headings of the sections that the edit touched."""


class DisplayedFile(Frozen):
    """A file's text, prepared for the page."""

    stats: TextStats
    sections: tuple[Section, ...]
    html: str
    """Safe HTML from ``sitegen.text.markdown``."""
    plain: bool
    """Whether the text is too large to be rendered, and is shown as source."""
    cut: bool


class InstructionView(Frozen):
    """One file through history. What is known of its edits is in their order, oldest first."""

    file: InstructionHistory
    edits: tuple[CountedEdit, ...]
    effects: tuple[tuple[Effect, ...], ...]
    """How each eval changed across each edit."""
    text: DisplayedFile | str
    """The present text, or the last text of a deleted file; in words why there is none to show."""

    @property
    def page(self) -> Page:
        """The page that shows it."""
        return Page(links.instruction(self.file.path), "pages/instruction.html", self)

    @property
    def lines(self) -> tuple[int | None, ...]:
        """Number of lines of the file after each edit."""
        return tuple(size.lines for size in sizes_after(edit.counts for edit in self.edits))

    @property
    def words(self) -> tuple[int | None, ...]:
        """Number of words of the file after each edit."""
        return tuple(size.words for size in sizes_after(edit.counts for edit in self.edits))

    @property
    def versions(self) -> tuple[VersionStep, ...]:
        """The version that the file states after each edit."""
        return version_steps(edit.counts for edit in self.edits)

    @property
    def notes(self) -> list[str]:
        """Sentences on what to improve about the versions and the length of the file."""
        slips = [step.slip for step in self.versions]
        found = []
        if silent := slips.count("text alone"):
            found.append(f"{counted(silent, 'edit')} changed the text without a new version.")
        if hollow := slips.count("version alone"):
            found.append(f"{counted(hollow, 'edit')} gave a new version and changed nothing else.")
        length = 0 if self.file.deleted or isinstance(self.text, str) else self.text.stats.lines
        if (length or 0) > _LONGEST_DEFINITION and is_definition(self.file.path):
            found.append(f"An agent definition of {length:,} lines: move the details into instruction files.")
        return found

    @property
    def sizes(self) -> list[tuple[str, tuple[int | None, ...]]]:
        """The sizes after each edit that are known after several of them, each with its unit."""
        found = (("Lines", self.lines), ("Words", self.words))
        return [(unit, values) for unit, values in found if sum(value is not None for value in values) > 1]

    @property
    def tracks(self) -> list[tuple[Effect, tuple[float | None, ...]]]:
        """The headline of each eval with output under at least two versions, after each edit; the most versions first.

        Each stands with its newest effect that has a value.
        """
        newest: dict[str, Effect] = {}
        values: dict[str, list[float | None]] = {}
        for index, effects in enumerate(self.effects):
            for effect in effects:
                if effect.after.values[0] is not None:
                    newest[effect.info.id] = effect
                    values.setdefault(effect.info.id, [None] * len(self.effects))[index] = effect.after.values[0]
        measured = {eval_id: len(track) - track.count(None) for eval_id, track in values.items()}
        order = sorted(newest, key=lambda eval_id: (-measured[eval_id], newest[eval_id].info.name, eval_id))
        return [(newest[eval_id], tuple(values[eval_id])) for eval_id in order if measured[eval_id] > 1]

    def tendency(self, *, longer: bool) -> tuple[int, int, int]:
        """How evals changed with edits that made the file longer, or shorter.

        Returns the number of such edits with output before and after them, and with how many of these some eval got
        better, and worse, beyond chance.
        """
        grown = [0, *(0 if a is None or b is None else b - a for a, b in pairwise(self.lines))]
        sized = [of for of, size in zip(self.effects, grown, strict=True) if size and (size > 0) is longer]
        found = [{effect.decision for effect in effects if effect.gain is not None} for effects in sized]
        better, worse = (sum(word in decisions for decisions in found) for word in ("better", "worse"))
        return len(found) - found.count(set()), better, worse

    @property
    def flips_of_sections(self) -> tuple[tuple[SectionFlips, ...], int]:
        """Sections with the fields that flipped around their edits, and the number of sections that are left out.

        The edit that added the file does not count.
        """
        edits = zip(self.file.edits, self.edits, strict=True)
        return section_flips([() if edit.old is None else found.sections for edit, found in edits], self.effects)

    @property
    def anchors(self) -> dict[str, str]:
        """Ids of the headings of the shown text by their titles; of several with one title that of the first."""
        headings = [] if isinstance(self.text, str) else [section.heading for section in self.text.sections]
        return {heading.title: heading.anchor for heading in reversed(headings)}

    def worst_edit(self, path: str) -> tuple[int, int]:
        """How many values broke around the edit of a section with which most did, and the index of this edit."""
        flips = [[of.window.flips for of in effects if of.window.model is None] for effects in self.effects]
        broken = (sum(number for of in every if of for _, number in of.broken) for every in flips)
        edits = zip(broken, range(len(flips)), self.edits, self.file.edits, strict=True)
        return max((number, at) for number, at, found, edit in edits if edit.old and path in found.sections)


def show_text(content: bytes) -> DisplayedFile | str:
    """A text ready to be shown; in words why it is not."""
    from sitegen.text.markdown import MOST_CHARACTERS, document

    if b"\0" in content:
        return "the file is binary"
    text = content.decode("utf-8", "replace")
    rendered = document(text)
    return DisplayedFile(
        stats=text_stats(content),
        sections=sections(split_lines(text), rendered.headings),
        html=rendered.html,
        plain=rendered.plain,
        cut=rendered.plain and len(content) > MOST_CHARACTERS,
    )


def sizes_after(counts: Iterable[PatchCounts | None]) -> tuple[TextStats, ...]:
    """Lines and words of a file after each of its edits, from how much each changed; unknown from an unknown one on.

    The oldest edit added the whole file, also at the edge of a shallow history.
    """
    sizes = []
    lines: int | None = 0
    words: int | None = 0
    for count in counts:
        lines = None if lines is None or count is None else max(0, lines + count.added - count.removed)
        words = None if words is None or count is None or count.words is None else max(0, words + count.words)
        sizes.append(TextStats(lines, words))
    return tuple(sizes)


def thinned(sizes: Sequence[int | None]) -> tuple[int | None, ...]:
    """At most ``SPARK_POINTS`` of the values, always including the first and the last."""
    last = len(sizes) - 1
    if last < SPARK_POINTS:
        return tuple(sizes)
    return tuple(sizes[round(step * last / (SPARK_POINTS - 1))] for step in range(SPARK_POINTS))
