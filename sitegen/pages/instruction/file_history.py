"""A file's history as evidence for improving it: its size beside the evals, the best versions, how to restore one.

An agent's definition should stay short: its instructions belong in separate files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from shlex import quote
from typing import Final

from sitegen.analysis.effects import BestVersion, EvalPeak, best_versions
from sitegen.analysis.go_back import FileThen
from sitegen.frozen import Frozen
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.noise import Interval
from sitegen.model.series import Effect
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.text.plain import line

EVALS: Final = 8
"""Number of evals whose line is visible at first; the others are folded."""

_PATTERN: Final = frozenset("*?[\\:")
"""Characters that make git read a path as a pattern."""

MOST_FILES: Final = 100
"""Largest number of files that one command restores."""

LONGEST_DEFINITION: Final = 100
"""Number of lines above which a definition contains more than the list of instructions to read."""


class Track(Frozen):
    """One number after each edit, oldest first."""

    label: str
    values: tuple[float | None, ...]
    eval_id: str | None = None
    """None if the track is a size of the file."""
    interval: Interval | None = None
    """The interval around the last value of an eval."""

    @property
    def defined(self) -> tuple[float, ...]:
        """The values without those that are undefined; at least one."""
        return tuple(value for value in self.values if value is not None)


class Tendency(Frozen):
    """The change of the mean headline around edits that made the file longer, or shorter."""

    edits: int
    """Number of edits with output before and after them."""
    raised: int
    lowered: int


class Growth(Frozen):
    """The size of a file beside the headline of each eval that it drives."""

    sizes: tuple[Track, ...]
    evals: tuple[Track, ...]
    """Evals with output under at least two versions, the most versions first."""
    first: Commit
    last: Commit
    longer: Tendency
    shorter: Tendency
    drawn: int = EVALS
    """Number of evals that are visible at first."""


class BestRow(Frozen):
    """The best version for one eval."""

    peak: EvalPeak
    name: str
    number: int
    """Number of the edit, from 1."""
    commit: Commit
    or_edit: Commit | None
    """As in ``BestVersion``."""
    version: str | None
    is_newest: bool
    deleted: bool
    """Whether the edit deleted the file."""
    command: str | None


def growth(
    file: InstructionHistory,
    lines: Sequence[int | None],
    words: Sequence[int | None],
    effects: Sequence[Sequence[Effect]],
    means: Sequence[float | None],
) -> Growth | None:
    """The sizes beside the evals; None if the file has a single version, or if no size is known.

    Args:
        file: the history of the file.
        lines: number of lines after each edit.
        words: number of words after each edit.
        effects: the effects of each edit.
        means: the mean change of the headlines around each edit, positive for the better.

    """
    sizes = tuple(
        track for track in (Track("Lines", tuple(lines)), Track("Words", tuple(words))) if len(track.defined) > 1
    )
    if not sizes:
        return None
    grown = [0, *(0 if a is None or b is None else b - a for a, b in pairwise(lines))]
    return Growth(
        sizes=sizes,
        evals=_tracks(effects),
        first=file.edits[0].commit,
        last=file.edits[-1].commit,
        longer=_tendency(mean for mean, size in zip(means, grown, strict=True) if size > 0),
        shorter=_tendency(mean for mean, size in zip(means, grown, strict=True) if size < 0),
    )


def best_rows(
    file: InstructionHistory, peaks: Sequence[EvalPeak], versions: Sequence[str | None]
) -> tuple[BestRow, ...]:
    """The best version of a file for each eval; ``versions``: the version that the file states after each edit."""
    return tuple(_best_row(file, best, versions[best.edit]) for best in best_versions(file.edits, peaks))


def _best_row(file: InstructionHistory, best: BestVersion, version: str | None) -> BestRow:
    edit = file.edits[best.edit]
    is_newest = best.edit == len(file.edits) - 1
    return BestRow(
        peak=best.peak,
        name=line(best.peak.name, 80),
        number=best.edit + 1,
        commit=edit.commit,
        or_edit=best.or_edit,
        version=version,
        is_newest=is_newest,
        deleted=edit.new is None,
        command=None if is_newest else restore(edit, file.path),
    )


def _tracks(effects: Sequence[Sequence[Effect]]) -> tuple[Track, ...]:
    names: dict[str, str] = {}
    last: dict[str, Interval | None] = {}
    values: dict[str, list[float | None]] = {}
    for index, edit in enumerate(effects):
        for effect in edit:
            names[effect.eval_id] = line(effect.name, 60)
            track = values.setdefault(effect.eval_id, [None] * len(effects))
            if effect.after and effect.after.values[0] is not None:
                track[index], last[effect.eval_id] = effect.after.values[0], effect.after.interval
    tracks = [
        Track(label=names[eval_id], values=tuple(track), eval_id=eval_id, interval=last.get(eval_id))
        for eval_id, track in values.items()
    ]
    measured = [track for track in tracks if len(track.defined) > 1]
    return tuple(sorted(measured, key=lambda track: (-len(track.defined), track.label, track.eval_id)))


def _tendency(means: Iterable[float | None]) -> Tendency:
    defined = [mean for mean in means if mean is not None]
    return Tendency(len(defined), sum(mean > 0 for mean in defined), sum(mean < 0 for mean in defined))


def restore(edit: Edit, now: str) -> str | None:
    """The command that restores the file, at its present path, as an edit left it; None if it left no file.

    Args:
        edit: the edit that made the version.
        now: the file's path now.

    """
    return None if edit.new is None else go_back_command(edit.commit, [FileThen(then=edit.path, now=now)])


def go_back_command(commit: Commit, files: Sequence[FileThen], *, parent: bool = False) -> str | None:
    """One command that restores files to their state at a commit; files that were added since are removed.

    With *parent*, to their state before the commit. None if there are no files, or too many; if the changes are
    uncommitted; and if a path has characters that a page cannot show, because a wrong command would be worse than none.
    """
    paths = [path for file in files for path in file if path is not None]
    if not 0 < len(files) <= MOST_FILES or commit.sha == WORKTREE or any(line(path) != path for path in paths):
        return None
    literal = "--literal-pathspecs " if any(_PATTERN & set(path) for path in paths) else ""
    revision = f"{commit.short}~1" if parent else commit.short
    checked_out = [file.then for file in files if file.then and file.now in (file.then, None)]
    added = [file.now for file in files if file.now and not file.then]
    moved = [(file.then, file.now) for file in files if file.then and file.now and file.then != file.now]
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
