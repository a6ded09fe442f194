"""The page of one commit: what it changed of what the site is made from, and which metrics moved with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from sitegen.model.commits import Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Interval
from sitegen.model.series import EvalInfo, Headline
from sitegen.model.site import Page
from sitegen.model.timeline import Cause, CommitRecord
from sitegen.pages import links
from sitegen.pages.commit import touched
from sitegen.pages.commit.effects import CommitEffect, EarlierEdit
from sitegen.pages.commit.touched import OutputChanges, PathChange, Touched
from sitegen.pages.edit.page import Move, Verdict, defined, moved, verdict
from sitegen.pages.labels import CAUSES
from sitegen.text.plain import cut, line, visible

MOST_POINTS: Final = 500
"""Points of one eval that the page lists."""


class EvalMove(NamedTuple):
    """What happened to one eval at a commit that brought at least one point of it."""

    info: EvalInfo
    specs: tuple[MetricSpec, ...]
    before: Headline | None
    """The last point before the commit."""
    points: tuple[Headline, ...]
    """Of this commit, in series order; at least one."""
    causes: tuple[Cause, ...]
    """Of all of these points together."""
    effect: CommitEffect | None = None
    """What the commit did to the eval; None without a point before."""


class PointRow(NamedTuple):
    """One point of the commit."""

    slug: str
    label: str
    value: float | None
    interval: Interval | None = None


class MoveRow(NamedTuple):
    """One eval: from the last point before the commit to the last one that it brought."""

    eval_id: str
    name: str
    verdict: Verdict
    spec: MetricSpec
    """Of the headline."""
    before: Headline | None
    after: Headline
    moves: tuple[Move, ...]
    why: str
    """The causes in words."""
    points: tuple[PointRow, ...]
    """Empty if there is only one; at most ``MOST_POINTS``."""
    total: int
    best: PointRow | None
    """Of several points the best, the earliest of equals."""
    effect: CommitEffect | None

    @property
    def obvious(self) -> bool:
        """A single new output, which the sentence on its change says already."""
        return self.total == 1 and self.effect is not None and self.why == CAUSES["outputs"]

    @property
    def inconclusive(self) -> bool:
        """The change may be chance."""
        verdict = self.effect.verdict if self.effect else None
        return verdict is not None and verdict.decision == "inconclusive"


class InstructionEdit(NamedTuple):
    """An instruction file that the commit edited."""

    path: str
    """As it was called then, visible."""
    file: str
    """The name of its page: the last path it had."""
    how: touched.How
    thickens: bool
    """It changes an agent's definition, though instructions have files of their own."""


class LinkedEdit(NamedTuple):
    """A commit that edited instructions between the outputs before and those of this one."""

    edit: EarlierEdit
    evals: tuple[str, ...]
    """Names of the evals that it may have to do with; empty: all that have new output."""


class CommitView(NamedTuple):
    """One commit."""

    nav: str
    commit: Commit
    earlier: str | None
    """Id of the commit before it that has a page: so that every one can be reached."""
    subject: str
    body: str
    moves: tuple[MoveRow, ...]
    """By size of the headline's change."""
    improved: int
    worse: int
    beyond_chance: int
    """Evals whose change is more than chance."""
    instructions: tuple[InstructionEdit, ...]
    earlier_edits: tuple[LinkedEdit, ...]
    """Since the outputs before, by commits that came between; the newest first."""
    outputs: tuple[OutputChanges, ...]
    ground_truths: tuple[PathChange, ...]
    rules: tuple[PathChange, ...]
    others: int
    """Further paths, those among them that the site does not read."""

    @property
    def judged(self) -> int:
        """Evals with a new output: what ground truth and rules do to the same one is certain."""
        return sum(row.effect is not None and row.effect.verdict is not None for row in self.moves)

    @property
    def any_inconclusive(self) -> bool:
        """Some change may be chance."""
        return any(row.inconclusive for row in self.moves)


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
        record: what the commit did.
        moves: the evals that it brought points of.
        changed: ``record.changes``, each with what it is.
        files: for the paths of ``record.edits`` the name of the file's page, that is the last path it had.
        names: the evals that the site has a page for: id -> name.
        earlier: id of the commit before it that has a page.
        thickened: paths of agents' definitions that it changed, though instructions have files of their own.

    """
    rows = sorted(map(_move_row, moves), key=lambda row: (-abs(row.moves[0].change or 0), row.name, row.eval_id))
    edits = {item.change.path: item for item in changed if item.role == "instruction"}
    view = CommitView(
        nav="",
        commit=record.commit,
        earlier=earlier,
        subject=line(record.commit.subject, 300) or "(no subject)",
        body=cut(visible(record.commit.body.strip()), 10_000),
        moves=tuple(rows),
        improved=sum(row.verdict == "improved" for row in rows),
        worse=sum(row.verdict == "worse" for row in rows),
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


def _is_beyond_chance(effect: CommitEffect | None) -> bool:
    return effect is not None and effect.verdict is not None and effect.verdict.why == "beyond chance"


def _earlier_edits(rows: Sequence[MoveRow]) -> tuple[LinkedEdit, ...]:
    """The edits of all evals, each once. An eval that was only scored again owes them nothing."""
    compared = [row for row in rows if row.effect and (row.effect.verdict or row.spec.recorded)]
    names: dict[EarlierEdit, list[str]] = {}
    for row in compared:
        for edit in row.effect.edits if row.effect else ():
            names.setdefault(edit, []).append(row.name)
    newest = sorted(names, key=lambda edit: -edit.position)
    return tuple(LinkedEdit(edit, () if len(names[edit]) == len(compared) else tuple(names[edit])) for edit in newest)


def _move_row(move: EvalMove) -> MoveRow:
    last = move.points[-1]
    moves = moved(move.before, last, move.specs)
    if move.effect:
        moves = tuple(one._replace(change=change) for one, change in zip(moves, move.effect.changes, strict=True))
    points = tuple(
        PointRow(slug=at.slug, label=line(at.label, 60), value=at.values[0], interval=at.interval) for at in move.points
    )
    several = len(points) > 1
    return MoveRow(
        eval_id=move.info.id,
        name=line(move.info.name, 80),
        verdict=verdict(moves[0], last),
        spec=move.specs[0],
        before=move.before,
        after=last,
        moves=defined(moves) if move.specs[0].recorded else moves,
        why=", ".join(CAUSES[cause] for cause in move.causes),
        points=points[:MOST_POINTS] if several else (),
        total=len(points),
        best=_best(points, moves[0].higher_is_better) if several else None,
        effect=move.effect,
    )


def _best(points: Sequence[PointRow], higher_is_better: bool) -> PointRow | None:
    sign = 1 if higher_is_better else -1
    best: tuple[float, PointRow] | None = None
    for point in points:
        if point.value is not None and (best is None or sign * point.value > best[0]):
            best = (sign * point.value, point)
    return best[1] if best else None
