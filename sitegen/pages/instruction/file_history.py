"""What the history of an instruction file teaches: its size beside the evals, its best versions, how to restore one.

A definition of an agent is meant to stay thin: what the agent does stands in instruction files beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from shlex import quote
from typing import Final, NamedTuple

from sitegen.analysis.effects import BestVersion, EvalPeak, best_versions
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.noise import Interval
from sitegen.model.series import Effect
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.text.plain import line

EVALS: Final = 8
"""Evals whose line is drawn at once; the others stand behind a fold."""

_PATTERN: Final = frozenset("*?[\\:")
"""Characters that git reads as a pattern in a path, not as themselves."""

LONGEST_DEFINITION: Final = 100
"""Lines beyond which a definition holds more than which instructions to read."""

THICKENED: Final = (
    "This edit changes the definition of an agent, while instructions stand in files of their own below "
    ".claude/instructions/. A definition is meant to say only which of them to read: a rule in it is out of reach of "
    "whoever improves the instructions."
)


class Track(NamedTuple):
    """One number after each edit, oldest first."""

    label: str
    values: tuple[float | None, ...]
    eval_id: str | None = None
    """None: a size of the file."""
    interval: Interval | None = None
    """Around the last known value of an eval."""

    @property
    def known(self) -> tuple[float, ...]:
        """The values that are defined; at least one."""
        return tuple(value for value in self.values if value is not None)


class Tendency(NamedTuple):
    """Edits that made the file longer, or shorter, and what the mean headline did around them."""

    edits: int
    """How many; an edit counts if there is an output before and after it."""
    raised: int
    lowered: int


class Growth(NamedTuple):
    """The size of a file beside the headline of each eval that it drives."""

    sizes: tuple[Track, ...]
    evals: tuple[Track, ...]
    """Measured under two versions or more; those measured most often first."""
    first: Commit
    last: Commit
    longer: Tendency
    shorter: Tendency
    drawn: int = EVALS
    """How many of the evals are shown at once."""


class BestRow(NamedTuple):
    """The best version for one eval."""

    of: EvalPeak
    name: str
    number: int
    """Of the edit, from 1."""
    commit: Commit
    version: str | None
    is_newest: bool
    gone: bool
    """The file was deleted then."""
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
        file: its history.
        lines: after each edit.
        words: after each edit.
        effects: of each edit.
        means: the mean change of the headlines around each edit, signed so that up is better.

    """
    sizes = tuple(
        track for track in (Track("Lines", tuple(lines)), Track("Words", tuple(words))) if len(track.known) > 1
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
    """The best version of a file for each eval; ``versions``: what the file states after each edit."""
    return tuple(_best_row(file, best, versions[best.edit]) for best in best_versions(file.edits, peaks))


def _best_row(file: InstructionHistory, best: BestVersion, version: str | None) -> BestRow:
    edit = file.edits[best.edit]
    is_newest = best.edit == len(file.edits) - 1
    return BestRow(
        of=best.peak,
        name=line(best.peak.name, 80),
        number=best.edit + 1,
        commit=edit.commit,
        version=version,
        is_newest=is_newest,
        gone=edit.new is None,
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
        Track(label=names[eval_id], values=tuple(some), eval_id=eval_id, interval=last.get(eval_id))
        for eval_id, some in values.items()
    ]
    measured = [track for track in tracks if len(track.known) > 1]
    return tuple(sorted(measured, key=lambda track: (-len(track.known), track.label, track.eval_id)))


def _tendency(means: Iterable[float | None]) -> Tendency:
    known = [mean for mean in means if mean is not None]
    return Tendency(len(known), sum(mean > 0 for mean in known), sum(mean < 0 for mean in known))


def restore(edit: Edit, now: str) -> str | None:
    """Puts the file where it is now, as an edit left it.

    None if the edit left no file, is not committed, or if a path cannot be shown as it is: no command is better than
    one for another file.

    Args:
        edit: the edit that made the version.
        now: the file's path now.

    """
    if edit.new is None or edit.commit.sha == WORKTREE or line(edit.path) != edit.path or line(now) != now:
        return None
    if edit.path != now:
        return f"git show {quote(f'{edit.commit.short}:{edit.path}')} > {quote(now)}"
    literal = "--literal-pathspecs " if _PATTERN & set(now) else ""
    return f"git {literal}checkout {edit.commit.short} -- {quote(now)}"


def is_definition(path: str) -> bool:
    """Whether the path is that of an agent's definition."""
    return "/.claude/agents/" in f"/{path}"


def apart_since(files: Iterable[InstructionHistory]) -> int | None:
    """Position of the commit that first gave agents instructions in files of their own; None if none did."""
    positions = (
        edit.commit.position for file in files for edit in file.edits if "/.claude/instructions/" in f"/{edit.path}"
    )
    return min(positions, default=None)


def thickens(edit: Edit, apart: int | None) -> bool:
    """Whether the edit changes a definition after instructions had files of their own; ``apart`` as above.

    The commit that takes the instructions out of the definition is what is asked for.
    """
    return edit.status == "modified" and is_definition(edit.path) and apart is not None and edit.commit.position > apart
