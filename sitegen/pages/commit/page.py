"""The page of one commit: what it changed, and which metrics moved with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from sitegen.analysis.best import best_so_far
from sitegen.model.commits import Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import EvalInfo, Headline
from sitegen.model.site import Page
from sitegen.model.timeline import Cause, CommitRecord
from sitegen.pages import links
from sitegen.pages.commit import touched
from sitegen.pages.commit.effects import CommitEffect, EarlierEdit
from sitegen.pages.commit.touched import OutputChanges, PathChange, Touched
from sitegen.pages.edit.page import EffectRow, defined, moved, verdict
from sitegen.pages.labels import CAUSES
from sitegen.text.plain import cut, line, visible

MOST_POINTS: Final = 500
"""Points of one eval that the page lists."""


class EvalMove(NamedTuple):
    """The points of one eval at a commit, with the last one before."""

    info: EvalInfo
    specs: tuple[MetricSpec, ...]
    before: Headline | None
    """The last point before the commit."""
    points: tuple[Headline, ...]
    """The points of this commit, in series order; at least one."""
    causes: tuple[Cause, ...]
    """The causes of all of these points together."""
    effect: CommitEffect | None = None
    """The effect of the commit on the eval; None without a point before."""


class MoveRow(NamedTuple):
    """One eval: the last point before the commit compared with the last point of the commit."""

    row: EffectRow
    why: str
    """The causes in words."""
    points: tuple[Headline, ...]
    """Empty if there is only one; at most ``MOST_POINTS``."""
    total: int
    best: Headline | None
    """The best of several points, the earliest of equal ones."""
    effect: CommitEffect | None

    @property
    def obvious(self) -> bool:
        """Whether the cause is a single new output, which the sentence on the change says already."""
        return self.total == 1 and self.effect is not None and self.why == CAUSES["outputs"]

    @property
    def is_open(self) -> bool:
        """Whether the change may be chance."""
        verdict = self.effect.verdict if self.effect else None
        return verdict is not None and verdict.is_open


class InstructionEdit(NamedTuple):
    """An instruction file that the commit edited."""

    path: str
    """The path at this commit, with hidden characters made visible."""
    file: str
    """The last path of the file, which names its page."""
    how: touched.How
    thickens: bool
    """The edit changes an agent's definition although instructions have files of their own."""


class LinkedEdit(NamedTuple):
    """A commit that edited instructions between the previous outputs and those of this commit."""

    edit: EarlierEdit
    evals: tuple[str, ...]
    """Names of the evals whose output it may have changed; empty if these are all evals with new output."""


class CommitView(NamedTuple):
    """What ``pages/commit.html`` shows."""

    nav: str
    commit: Commit
    earlier: str | None
    """Id of the newest earlier commit that has a page."""
    subject: str
    body: str
    moves: tuple[MoveRow, ...]
    """Largest change of the headline first."""
    improved: int
    worse: int
    beyond_chance: int
    """Number of evals whose change is more than chance."""
    instructions: tuple[InstructionEdit, ...]
    earlier_edits: tuple[LinkedEdit, ...]
    """Edits of earlier commits since the previous outputs, newest first."""
    outputs: tuple[OutputChanges, ...]
    ground_truths: tuple[PathChange, ...]
    rules: tuple[PathChange, ...]
    others: int
    """Number of other changed paths, including those that the site does not read."""

    @property
    def judged(self) -> int:
        """Number of evals with a verdict: there is none on an output that was only scored again."""
        return sum(row.effect is not None and row.effect.verdict is not None for row in self.moves)

    @property
    def any_open(self) -> bool:
        """Whether any change may be chance."""
        return any(row.is_open for row in self.moves)


def commit_page(
    record: CommitRecord,
    moves: Sequence[EvalMove],
    changed: Sequence[Touched],
    files: Mapping[str, str],
    names: Mapping[str, str],
    earlier: str | None = None,
    thickened: Collection[str] = (),
) -> Page:
    """The page of a commit.

    Args:
        record: the commit and what it changed.
        moves: the evals that have points of the commit.
        changed: ``record.changes`` with the role of each path.
        files: path in ``record.edits`` -> last path of the file, which names its page.
        names: id -> name of the evals that the site has a page for.
        earlier: id of the newest earlier commit that has a page.
        thickened: paths of agents' definitions that it changed although instructions have files of their own.

    """
    rows = sorted(map(_move_row, moves), key=_by_size)
    edits = {item.change.path: item for item in changed if item.role == "instruction"}
    view = CommitView(
        nav="commits",
        commit=record.commit,
        earlier=earlier,
        subject=line(record.commit.subject, 300) or "(no subject)",
        body=cut(visible(record.commit.body.strip()), 10_000),
        moves=tuple(rows),
        improved=sum(move.row.verdict == "improved" for move in rows),
        worse=sum(move.row.verdict == "worse" for move in rows),
        beyond_chance=sum(_is_beyond_chance(row.effect) for row in rows),
        instructions=tuple(
            InstructionEdit(
                path=line(path),
                file=files[path],
                how=touched.how(edits[path].change) if path in edits else "modified",
                thickens=path in thickened,
            )
            for path in record.edits
            if path in files
        ),
        earlier_edits=_earlier_edits(rows),
        outputs=touched.outputs(changed, names),
        ground_truths=touched.paths(changed, "ground_truth", names),
        rules=touched.paths(changed, "rules", names),
        others=record.other_changes + sum(item.role == "other" for item in changed),
    )
    return Page(links.commit(record.commit.sha), "pages/commit.html", view)


def _by_size(move: MoveRow) -> tuple[float, str, str]:
    return -abs(move.row.moves[0].change or 0), move.row.name, move.row.eval_id


def _is_beyond_chance(effect: CommitEffect | None) -> bool:
    return effect is not None and effect.verdict is not None and effect.verdict.why == "beyond chance"


def _earlier_edits(rows: Sequence[MoveRow]) -> tuple[LinkedEdit, ...]:
    """The edits of all evals, each once. Edits cannot have changed an output that was only scored again."""
    compared = [move for move in rows if move.effect and (move.effect.verdict or move.row.spec.recorded)]
    names: dict[EarlierEdit, list[str]] = {}
    for move in compared:
        for edit in move.effect.edits if move.effect else ():
            names.setdefault(edit, []).append(move.row.name)
    newest = sorted(names, key=lambda edit: -edit.position)
    return tuple(LinkedEdit(edit, () if len(names[edit]) == len(compared) else tuple(names[edit])) for edit in newest)


def _move_row(move: EvalMove) -> MoveRow:
    last = move.points[-1]
    moves = moved(move.before, last, move.specs)
    if move.effect:
        moves = tuple(metric._replace(change=change) for metric, change in zip(moves, move.effect.changes, strict=True))
    several = len(move.points) > 1
    values = [point.values[0] for point in move.points]
    best = best_so_far(values, higher_is_better=moves[0].higher_is_better)[-1] if several else None
    return MoveRow(
        row=EffectRow(
            eval_id=move.info.id,
            name=line(move.info.name, 80),
            verdict=verdict(moves[0], last),
            spec=move.specs[0],
            before=move.before,
            after=last,
            moves=defined(moves) if move.specs[0].recorded else moves,
        ),
        why=", ".join(CAUSES[cause] for cause in move.causes),
        points=move.points[:MOST_POINTS] if several else (),
        total=len(move.points),
        best=None if best is None else move.points[best],
        effect=move.effect,
    )
