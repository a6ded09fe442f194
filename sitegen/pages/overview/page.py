"""The first page: every eval at a glance, and what the latest edits of the instructions did."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from sitegen.analysis.noise.intervals import ends_of_mean
from sitegen.model.commits import Commit
from sitegen.model.deltas import Overlap
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Interval
from sitegen.model.series import Effect, EvalInfo, EvalSummary, Headline
from sitegen.model.site import Page
from sitegen.model.timeline import Edit
from sitegen.pages import links
from sitegen.pages.commit.page import CommitView
from sitegen.pages.overview.focus import FocusView, focus_view
from sitegen.stats.counts import mean
from sitegen.text.patch import PatchCounts

if TYPE_CHECKING:
    from sitegen.pages.overview.instructions_only import InstructionOverview

SPARK: Final = 60
"""Points that a sparkline shows: the newest ones."""

FILES: Final = 6
"""Edited files that one of the latest commits is listed with."""


class SiteCounts(NamedTuple):
    """What the whole site holds."""

    commits: int
    """Of the first-parent line."""
    edits: int
    """Edits of instruction files."""
    raised: int
    """Edits after which the mean headline of the evals was higher."""
    lowered: int
    problems: int


class FileEdit(NamedTuple):
    """An edit of one instruction file."""

    edit: Edit
    file: str
    """The name of the file's page: the last path it had."""
    counts: PatchCounts | None = None
    """Where the page says how long an edit is."""


class Worktree(NamedTuple):
    """The uncommitted state, on a site that has it as its newest point."""

    uncommitted: CommitView | None
    """What it did against the newest commit; None if it changed nothing that is read."""


class EditEffects(NamedTuple):
    """The edits of one commit with what became of each eval around it."""

    commit: Commit
    edits: tuple[FileEdit, ...]
    """By path; at least one."""
    effects: tuple[Effect, ...]


class EvalRow(NamedTuple):
    """One eval in the table."""

    info: EvalInfo
    headline: MetricSpec
    deleted: bool
    newest: Headline | None
    spark: tuple[float | None, ...]
    values: tuple[float | None, ...]
    """The first three metrics, None where the kind has fewer."""
    change: float | None
    """Over the documents that the newest two points have in common."""
    overlap: Overlap | None
    """Which these are; None if there are no two points."""
    interval: Interval | None
    """Of the headline."""
    errors: tuple[int, ...]
    least: float | None
    """The target of the headline metric."""
    met: bool | None
    """None without a target, or if the metric is undefined."""
    points: int
    labels: tuple[str, ...]
    """Of the three metrics, empty where the kind has fewer."""
    units: tuple[str, ...]
    """Of the same."""

    @property
    def below(self) -> bool:
        """The headline is known, and it is lower than its target."""
        return self.met is False


class LatestEditRow(NamedTuple):
    """The edits of one commit among the latest."""

    commit: Commit
    edits: tuple[FileEdit, ...]
    more: int
    """Further files that it edited."""
    changes: tuple[tuple[str, float | None], ...]
    """(eval, change of its headline)."""

    @property
    def largest(self) -> tuple[tuple[str, float | None], ...]:
        """The two largest changes."""
        known = [(name, change) for name, change in self.changes if change is not None]
        return tuple(sorted(known, key=lambda pair: -abs(pair[1]))[:2])


class OverviewView(NamedTuple):
    """What ``pages/overview.html`` shows."""

    head: Commit
    newest: str | None
    """Id of the newest commit that has a page."""
    revision: str
    counts: SiteCounts
    rows: tuple[EvalRow, ...]
    labels: tuple[str, ...]
    """Of the first three metrics; empty if not all evals have the same."""
    mean: float | None
    mean_of: int
    left_out: int
    """Evals without a defined headline."""
    recorded: int
    """Evals whose numbers are only recorded, and in no mean."""
    mean_change: float | None
    """Against the mean of the points before the newest ones, without evals whose newest change is undefined."""
    targets: int
    met: int
    below: tuple[str, ...]
    errors: int
    longest: int
    """The most errors of any eval: the length of a full bar."""
    edits: tuple[LatestEditRow, ...]
    largest: float
    """The largest change among the edits: the height of a full bar."""
    focus: FocusView | None
    """What to work on; None if nothing is wrong."""
    suspects: tuple[tuple[EvalInfo, int], ...]
    """Evals with suspect labels, and how many."""
    stale: tuple[EvalInfo, ...]
    """Evals whose newest output is older than their instructions."""
    mean_ends: tuple[float, float] | None
    """The 95 % interval of the mean; None if one of the evals has none."""
    status: bool
    """Any eval has something to say in the column of its state: a target, or no numbers."""
    worktree: Worktree | None = None
    """None: the site ends with a commit."""
    instructions: InstructionOverview | None = None
    """Where there are no evals to speak of."""
    nav: str = "overview"

    @property
    def headline(self) -> str:
        """The name of what the mean is of."""
        return self.labels[0] if self.labels else "headline"


def overview_page(
    summaries: tuple[EvalSummary, ...],
    head: Commit,
    revision: str,
    counts: SiteCounts,
    latest: tuple[EditEffects, ...],
    newest: str | None = None,
    worktree: Worktree | None = None,
    instructions: InstructionOverview | None = None,
) -> Page:
    """The first page. Deleted evals are listed, and left out of the means; so are recorded numbers.

    ``latest`` is newest first; ``newest`` is the id of the newest commit that has a page.
    """
    rows = tuple(_eval_row(summary) for summary in summaries)
    alive = [row for row in rows if not row.deleted and not row.info.recorded]
    now, left_out = mean(row.values[0] for row in alive)
    moved = [row for row in alive if not row.overlap or row.change is not None]
    since, _ = mean(row.values[0] for row in moved)
    before, _ = mean(_before(row) for row in moved)
    targeted = [row for row in rows if row.met is not None and not row.deleted]
    edits = tuple(_latest_edit_row(one) for one in latest)
    view = OverviewView(
        head=head,
        newest=newest,
        revision=revision,
        counts=counts,
        rows=rows,
        labels=rows[0].labels if len({row.labels for row in rows}) == 1 else (),
        mean=now,
        mean_of=len(alive) - left_out,
        left_out=left_out,
        recorded=sum(row.info.recorded and not row.deleted for row in rows),
        mean_change=None if since is None or before is None else since - before,
        targets=len(targeted),
        met=sum(1 for row in targeted if row.met),
        below=tuple(row.info.name for row in targeted if row.below),
        errors=sum(sum(row.errors) for row in alive),
        longest=max((sum(row.errors) for row in rows), default=1) or 1,
        edits=edits,
        largest=max((abs(change) for row in edits for _, change in row.largest if change), default=1.0),
        focus=focus_view(summaries),
        suspects=tuple((one.info, len(one.suspects)) for one in summaries if one.suspects and not one.deleted),
        stale=tuple(one.info for one in summaries if one.stale and not one.deleted),
        mean_ends=ends_of_mean((row.values[0], row.interval) for row in alive),
        status=any(row.least is not None or row.deleted or _unscored(row.newest) for row in rows),
        worktree=worktree,
        instructions=instructions,
    )
    return Page(links.overview(), "pages/overview.html", view)


def _eval_row(summary: EvalSummary) -> EvalRow:
    newest = summary.headlines[-1] if summary.headlines else None
    values: tuple[float | None, ...] = newest.values[:3] if newest else ()
    values += (None,) * (3 - len(values))
    spec = summary.specs[0]
    least = dict(summary.info.thresholds).get(spec.name)
    return EvalRow(
        info=summary.info,
        headline=spec,
        deleted=summary.deleted,
        newest=newest,
        spark=tuple(headline.values[0] for headline in summary.headlines[-SPARK:]),
        values=values,
        change=summary.delta.headline.change if summary.delta else None,
        overlap=summary.delta.overlap if summary.delta else None,
        interval=summary.interval,
        errors=newest.errors if newest else (0, 0, 0, 0),
        least=least,
        met=None if least is None or values[0] is None else spec.reaches(values[0], least),
        points=len(summary.headlines),
        labels=_of_three(spec.label for spec in summary.specs),
        units=_of_three(spec.unit for spec in summary.specs),
    )


def _is_share(effect: Effect) -> bool:
    """Whether the headline is from 0 to 1, as those of all kinds are but recorded times and costs."""
    return not effect.specs or (effect.specs[0].low, effect.specs[0].high) == (0.0, 1.0)


def _unscored(newest: Headline | None) -> bool:
    return newest is None or newest.status != "scored"


def _before(row: EvalRow) -> float | None:
    """The headline before the newest point; of an eval with a single one, that one, which changed nothing."""
    if row.values[0] is None:
        return None
    return row.values[0] - (row.change or 0.0)


def _of_three(texts: Iterable[str]) -> tuple[str, ...]:
    """Those of the first three metrics."""
    known = tuple(texts)[:3]
    return known + ("",) * (3 - len(known))


def _latest_edit_row(effects: EditEffects) -> LatestEditRow:
    changes = tuple((effect.name, effect.change) for effect in effects.effects if _is_share(effect))
    return LatestEditRow(
        commit=effects.commit,
        edits=effects.edits[:FILES],
        more=len(effects.edits) - len(effects.edits[:FILES]),
        changes=changes,
    )
