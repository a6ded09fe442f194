"""The overview: every eval in a row, what to work on, and the effects of the latest instruction edits.

``pages/overview.html`` reads the summaries of the evals, and asks the view and this module, as ``overview``.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Final

from sitegen.analysis.causes import ProblemCause, ProblemCounts
from sitegen.analysis.noise.samples import ends_of_mean
from sitegen.analysis.standing import LOST, EvalStanding
from sitegen.model.changes import Ends
from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen
from sitegen.model.series import EvalSummary
from sitegen.model.site import Page
from sitegen.model.timeline import InstructionHistory
from sitegen.pages import links
from sitegen.pages.commit import CommitView
from sitegen.pages.instructions import EditEffects, FileEdit, FileRecord, edits_by_commit
from sitegen.pages.overview.focus import FocusView, Phrase, Sentence, focus_view
from sitegen.pages.overview.news import Undo, loss, news
from sitegen.stats.counts import mean
from sitegen.stats.intervals import mean as mean_of_values
from sitegen.text.patch import PatchCounts

FILES: Final = 6
"""Number of edited files listed for a commit."""

VERSIONS: Final = 20
"""Number of instruction files listed in a project without evals: the ones with the most versions."""

LOSSES: Final = 6
"""Number of evals whose loss is listed below the first sentence."""

CARDS: Final = 3
"""The most evals whose rows are shown as cards."""

SPARK: Final = 60
"""Number of points of a sparkline: the newest ones."""


class SiteCounts(Frozen):
    """Numbers of the whole site."""

    commits: int
    """Commits of the first-parent line."""
    edits: int
    better: int
    """Commits with edits after which some eval was better beyond chance."""
    worse: int
    problems: ProblemCounts


class OverviewView(Frozen, dict=True, gc=True):
    """What ``pages/overview.html`` shows."""

    summaries: tuple[EvalSummary, ...]
    """All evals. Deleted ones are listed last and left out of the means."""
    evals: tuple[EvalStanding, ...]
    """The evals that are not deleted, compared with their past, the one in most trouble first."""
    head: Commit
    revision: str
    counts: SiteCounts
    latest: tuple[EditEffects, ...]
    """The latest commits with edits of instructions, newest first."""
    newest: str | None = None
    """Id of the newest commit that has a page."""
    uncommitted: CommitView | None = None
    """The work tree compared with the newest commit; None if no file that sitegen reads is changed."""
    score_changes: tuple[ProblemCause, ...] = ()
    """The causes of problems that change the newest scores, the most severe first."""
    files: tuple[FileRecord, ...] = ()
    """The instruction files, which are shown in place of evals if there are none."""
    undo: Undo | None = None
    """The edit before the loss that the first sentence names; None without one."""
    worktree: bool = False
    """Whether the newest point is the work tree, and not a commit."""
    instructions: tuple[InstructionHistory, ...] = ()

    @property
    def page(self) -> Page:
        """The page that shows it."""
        return Page(links.overview(), "pages/overview.html", self)

    @property
    def alive(self) -> list[EvalSummary]:
        """The evals that are not deleted."""
        return [summary for summary in self.summaries if not summary.deleted]

    @property
    def focus(self) -> FocusView | None:
        """The errors to work on; None if no value is wrong."""
        return focus_view(self.alive)

    @property
    def news(self) -> tuple[Sentence, ...]:
        """Sentences on losses, gains, and what to do next; empty if there are no evals."""
        return news(self.evals, self.focus, self.instructions)

    @cached_property
    def made_with(self) -> dict[str, tuple[FileEdit, ...]]:
        """By eval, the edits of the commit that its newest output was made with, where there is one."""
        edits = edits_by_commit(self.instructions)
        return {one.info.id: edits.get(one.made_with[-1].position, ()) for one in self.summaries if one.made_with}

    @property
    def losses(self) -> list[tuple[Phrase, ...]]:
        """A sentence on each further loss, besides the loss in the first sentence."""
        return [tuple(loss(standing)) for standing in self.evals if standing.trouble in LOST][1:]

    @property
    def computed(self) -> list[EvalSummary]:
        """The evals whose numbers are not only recorded."""
        return [standing.summary for standing in self.evals if not standing.summary.info.recorded]

    @property
    def scored(self) -> list[EvalSummary]:
        """The evals that are in the means: neither recorded numbers nor without an output."""
        return [summary for summary in self.computed if not summary.without_output]

    @property
    def has_only_scores(self) -> bool:
        """Whether judges gave scores alone in every eval that is not recorded, so that no error is counted."""
        return bool(self.computed) and all(summary.has_only_scores for summary in self.computed)

    @property
    def targets(self) -> list[tuple[EvalSummary, list[str]]]:
        """The evals in which a metric with a target is defined, and the labels of the metrics that miss theirs."""
        judged = [standing.summary for standing in self.evals if standing.summary.targets]
        return [(summary, [label for label, is_met in summary.targets if not is_met]) for summary in judged]

    @property
    def mean_now(self) -> tuple[float | None, int]:
        """The mean of the headlines, and the number of evals that it leaves out because theirs is undefined."""
        values = [summary.value for summary in self.scored]
        return mean(values), values.count(None)

    @property
    def mean_change(self) -> float | None:
        """Change since the mean of the previous points; evals whose newest change is undefined are in neither mean."""
        defined = [
            (summary.value, summary.headline_change or 0.0)
            for summary in self.scored
            if summary.value is not None and (summary.change is None or summary.headline_change is not None)
        ]
        if not defined:
            return None
        return mean_of_values([value for value, _ in defined]) - mean_of_values([value - by for value, by in defined])

    @property
    def mean_ends(self) -> Ends | None:
        """The 95 % interval of the mean; None if one of the evals has none."""
        return ends_of_mean((summary.value, summary.interval) for summary in self.scored)

    @property
    def scale_of(self) -> Ends | None:
        """The range of the newest headlines and the targets of all evals whose headline is a share: charts compare."""
        shares = [summary for summary in self.summaries if summary.specs[0].is_share]
        values = [headline.values[0] for summary in shares for headline in summary.headlines[-SPARK:]]
        values += [summary.target[0] for summary in shares]
        defined = [value for value in values if value is not None]
        return Ends(min(defined), max(defined)) if defined else None

    @property
    def living_files(self) -> list[FileRecord]:
        """The instruction files that are not deleted, those with most versions first."""
        living = (file for file in self.files if not file.history.deleted)
        return sorted(living, key=lambda file: (-len(file.history.edits), file.history.path))

    @property
    def authors(self) -> list[tuple[str, int]]:
        """The authors of edits of instruction files, with their numbers of commits, most commits first."""
        by_commit = {edit.commit.sha: edit.commit.author for file in self.files for edit in file.history.edits}
        return sorted(Counter(by_commit.values()).items(), key=lambda author: (-author[1], author[0]))

    def counts_of(self, edited: FileEdit) -> PatchCounts | None:
        """How many lines an edit added and removed; None if unknown."""
        file = next((file for file in self.files if file.history.path == edited.file), None)
        return file.counts[file.history.edits.index(edited.edit)] if file else None
