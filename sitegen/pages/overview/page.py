"""The overview: every eval in a row, what to work on, and the effects of the latest instruction edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sitegen.analysis.noise.intervals import ends_of_mean
from sitegen.analysis.problem_counts import ProblemCounts, problem_counts_text
from sitegen.analysis.standing import LOST, standings
from sitegen.config import Mute
from sitegen.frozen import Frozen
from sitegen.model.commits import Commit
from sitegen.model.noise import Ends
from sitegen.model.problems import Problem
from sitegen.model.series import Effect, EvalSummary
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.pages.commit import CommitView
from sitegen.pages.instructions.edits import EditEffects, FileEdit
from sitegen.pages.overview.focus import EvalLink, FocusView, focus_view, trend_of
from sitegen.pages.overview.news import loss, news
from sitegen.pages.overview.phrases import Phrase, Sentence
from sitegen.pages.overview.undo import Undo
from sitegen.pages.problems import Banner, banner
from sitegen.stats.counts import mean

if TYPE_CHECKING:
    from sitegen.pages.overview.instructions_only import InstructionOverview
from collections.abc import Iterable

from sitegen.analysis.standing import EvalStanding
from sitegen.model.regressions import Step
from sitegen.model.series import Headline

FILES: Final = 6
"""Number of edited files listed for a commit."""

LOSSES: Final = 6
"""Number of evals whose loss is listed below the first sentence."""


class SiteCounts(Frozen):
    """Numbers of the whole site."""

    commits: int
    """Commits of the first-parent line."""
    edits: int
    """Edits of instruction files."""
    raised: int
    """Edits after which the mean headline of the evals was higher."""
    lowered: int
    problems: ProblemCounts


class Worktree(Frozen):
    """The uncommitted changes, on a site whose newest point is the work tree."""

    uncommitted: CommitView | None
    """Effects compared with the newest commit; None if no file that sitegen reads is changed."""


class LatestEditRow(Frozen):
    """The instruction edits of one of the latest commits."""

    commit: Commit
    edits: tuple[FileEdit, ...]
    more: int
    """Number of edited files that are not listed."""
    effects: tuple[Effect, ...]
    """Effects on evals whose headline is a share."""

    @property
    def largest(self) -> tuple[Effect, ...]:
        """The two effects with the largest changes."""
        defined = (effect for effect in self.effects if effect.change is not None)
        return tuple(sorted(defined, key=lambda effect: -abs(effect.change or 0.0))[:2])


class OverviewView(Frozen):
    """What ``pages/overview.html`` shows."""

    head: Commit
    newest: str | None
    """Id of the newest commit that has a page."""
    revision: str
    counts: SiteCounts
    rows: tuple[EvalRow, ...]
    labels: tuple[str, ...]
    """Labels of the first three metrics; empty if the evals have different ones."""
    mean: float | None
    mean_of: int
    undefined: int
    """Number of evals that have an output and no defined headline; no mean includes them."""
    without_output: int
    """Number of evals that have no output now; no mean includes them."""
    recorded: int
    """Number of evals with recorded numbers only; no mean includes them."""
    mean_change: float | None
    """Change since the mean of the previous points; evals whose newest change is undefined are in neither mean."""
    targets: int
    met: int
    below: tuple[str, ...]
    errors: int
    longest: int
    """Largest number of errors of an eval: the length of a full bar."""
    edits: tuple[LatestEditRow, ...]
    largest: float
    """The largest change among the edits: the height of a full bar."""
    focus: FocusView | None
    """The errors to work on; None if no value is wrong."""
    suspects: tuple[EvalSummary, ...]
    """Evals with labels that may be wrong."""
    stale: tuple[EvalLink, ...]
    """Evals whose newest output is older than their instructions."""
    mean_ends: Ends | None
    """The 95 % interval of the mean; None if one of the evals has none."""
    news: tuple[Sentence, ...]
    """Sentences on losses, gains, and what to do next; empty if there are no evals."""
    losses: tuple[tuple[Phrase, ...], ...]
    """A sentence on each further loss, besides the loss in the first sentence."""
    more_losses: int
    """Number of evals with a loss that are not listed."""
    worse: int
    """Number of losses on the list of what is worse than it was."""
    worktree: Worktree | None = None
    """None if the newest point is a commit."""
    banner: Banner | None = None
    """The problem that changes the newest scores most."""
    instructions: InstructionOverview | None = None
    """Shown in place of evals, if there are none."""
    undo: Undo | None = None
    """The edit before the loss that the first sentence names; None without one."""
    nav: str = "overview"

    @property
    def problems(self) -> str:
        """The counts of problems, in the words that a build prints."""
        return problem_counts_text(self.counts.problems)

    @property
    def has_only_scores(self) -> bool:
        """Whether judges gave scores alone in every eval that is not recorded, so that no error is counted."""
        computed = [row.summary for row in self.rows if not row.summary.info.recorded]
        return bool(computed) and all(summary.has_only_scores for summary in computed)

    @property
    def headline(self) -> str:
        """Name of the metric that is averaged."""
        return self.labels[0] if self.labels else "main metric"


def overview_page(
    summaries: tuple[EvalSummary, ...],
    head: Commit,
    revision: str,
    counts: SiteCounts,
    latest: tuple[EditEffects, ...],
    newest: str | None = None,
    worktree: Worktree | None = None,
    instructions: InstructionOverview | None = None,
    mutes: Sequence[Mute] = (),
    problems: tuple[Problem, ...] = (),
    undo: Undo | None = None,
) -> Page:
    """The overview, with the evals in most trouble first.

    Deleted evals are listed last. They are left out of the means, as are recorded numbers and evals without an output.

    ``latest`` is newest first; ``newest`` is the id of the newest commit that has a page; ``undo``: the edit before the
    loss that the first sentence names.
    """
    evals = standings(summaries, mutes)
    scale = shared_scale(summaries)
    deleted = (eval_row(summary, None, scale) for summary in summaries if summary.deleted)
    rows = (*(eval_row(standing.summary, standing, scale) for standing in evals), *deleted)
    living = [summary for summary in summaries if not summary.deleted]
    computed = [row for row in rows if not row.summary.deleted and not row.summary.info.recorded]
    alive = [row for row in computed if not row.summary.without_output]
    now, undefined = mean(row.values[0] for row in alive)
    compared = [row for row in alive if not row.summary.change or row.change is not None]
    after = mean(row.values[0] for row in compared).value
    before = mean(_before(row) for row in compared).value
    targeted = [row for row in rows if row.met is not None and not row.summary.deleted]
    edits = tuple(map(_latest_edit_row, latest))
    focus = focus_view(summaries)
    others = [standing for standing in evals if standing.trouble in LOST][1:]
    view = OverviewView(
        head=head,
        newest=newest,
        revision=revision,
        counts=counts,
        rows=rows,
        labels=rows[0].labels if len({row.labels for row in rows}) == 1 else (),
        mean=now,
        mean_of=len(alive) - undefined,
        undefined=undefined,
        without_output=len(computed) - len(alive),
        recorded=sum(row.summary.info.recorded and not row.summary.deleted for row in rows),
        mean_change=None if after is None or before is None else after - before,
        targets=len(targeted),
        met=sum(1 for row in targeted if row.met),
        below=tuple(row.summary.info.name for row in targeted if not row.met),
        errors=sum(sum(row.errors) for row in alive),
        longest=max((sum(row.errors) for row in rows), default=1) or 1,
        edits=edits,
        largest=max((abs(effect.change) for row in edits for effect in row.largest if effect.change), default=1.0),
        focus=focus,
        suspects=tuple(summary for summary in living if summary.suspects),
        stale=tuple(trend_of(summary) for summary in living if summary.stale),
        mean_ends=ends_of_mean((row.values[0], row.summary.interval) for row in alive),
        news=news(evals, focus, losses_follow=True),
        undo=undo,
        losses=tuple(tuple(loss(standing)) for standing in others[:LOSSES]),
        more_losses=len(others[LOSSES:]),
        worse=sum(len(standing.worse) for standing in evals),
        worktree=worktree,
        instructions=instructions,
        banner=banner(problems, of_site=True),
    )
    return Page(links.overview(), "pages/overview.html", view)


def _before(row: EvalRow) -> float | None:
    """The headline before the newest point; for an eval with a single point, the headline of this point."""
    if row.values[0] is None:
        return None
    return row.values[0] - (row.change or 0.0)


def _latest_edit_row(effects: EditEffects) -> LatestEditRow:
    return LatestEditRow(
        commit=effects.commit,
        edits=effects.edits[:FILES],
        more=len(effects.edits) - len(effects.edits[:FILES]),
        effects=tuple(effect for effect in effects.effects if not effect.specs or effect.specs[0].is_share),
    )


SPARK: Final = 60
"""Number of points of a sparkline: the newest ones."""


class EvalRow(Frozen):
    """One eval among the small multiples."""

    summary: EvalSummary
    standing: EvalStanding | None
    """The eval compared with its past; None if it is deleted."""
    spark: tuple[float | None, ...]
    scale: Ends | None
    """The range of all charts whose metrics are shares; None if the chart has its own range."""
    values: tuple[float | None, ...]
    """The first three metrics; None for missing ones if the kind has fewer."""
    change: float | None
    """Change of the headline, over the documents that the newest two points have in common."""
    errors: tuple[int, ...]
    least: float | None
    """The target of the headline metric."""
    met: bool | None
    """None without a target, or if the metric is undefined."""
    labels: tuple[str, ...]
    """Labels of the three metrics; empty for missing ones."""
    units: tuple[str, ...]
    """Units of the three metrics."""

    @property
    def newest(self) -> Headline | None:
        """The newest point."""
        return self.summary.headlines[-1] if self.summary.headlines else None

    @property
    def fell(self) -> Step | None:
        """The loss that the newest output brought, if it is more than chance or too new to tell."""
        found = (step for step in (self.standing.worse if self.standing else ()) if step.status in ("fell", "new"))
        return min(found, key=lambda step: step.status, default=None)

    @property
    def lost_since(self) -> Headline | None:
        """The last point before the largest older loss."""
        found = (step for step in (self.standing.worse if self.standing else ()) if step.status == "open")
        return next((self.summary.headlines[step.before] for step in found), None)

    @property
    def breaks(self) -> list[int]:
        """Indices in the sparkline of values that cannot be compared with the one before."""
        first = max(0, len(self.summary.headlines) - SPARK)
        return sorted({headline.comparable_since - first for headline in self.summary.headlines} - {0})


def shared_scale(summaries: Iterable[EvalSummary]) -> Ends | None:
    """The range of the newest headlines of all evals whose headline is a share, so that their charts compare."""
    values = [
        value
        for summary in summaries
        if summary.specs[0].is_share
        for headline in summary.headlines[-SPARK:]
        if (value := headline.values[0]) is not None
    ]
    return Ends(min(values), max(values)) if values else None


def eval_row(summary: EvalSummary, standing: EvalStanding | None, scale: Ends | None) -> EvalRow:
    """The row of one eval; ``standing`` is None if the eval is deleted."""
    newest = summary.headlines[-1] if summary.headlines else None
    values: tuple[float | None, ...] = newest.values[:3] if newest else ()
    values += (None,) * (3 - len(values))
    spec = summary.specs[0]
    least = spec.target(summary.info.thresholds)
    return EvalRow(
        summary=summary,
        standing=standing,
        spark=tuple(headline.values[0] for headline in summary.headlines[-SPARK:]),
        scale=scale if spec.is_share else None,
        values=values,
        change=summary.change.headline.change if summary.change else None,
        errors=newest.errors if newest else (0, 0, 0, 0),
        least=least,
        met=None if least is None or values[0] is None else spec.reaches(values[0], least),
        labels=_of_three(spec.label for spec in summary.specs),
        units=_of_three(spec.unit for spec in summary.specs),
    )


def _of_three(texts: Iterable[str]) -> tuple[str, ...]:
    """The first three of the texts, padded with empty ones."""
    first = tuple(texts)[:3]
    return first + ("",) * (3 - len(first))
