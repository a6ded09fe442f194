"""Estimates which old pages will not fit into the site, before any of them is rendered.

A wrong estimate costs time but does not change the site: once the size of everything else is known, ``budget.fit``
renders the pages that fit and shortens the rest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from sitegen.analysis.memo import PageRow
from sitegen.model.series import EvalSummary
from sitegen.model.timeline import EvalHistory
from sitegen.pages.links import is_source_picture
from sitegen.stages.size_budget.thinning import SHORT, first_full, report_files
from sitegen.stages.timeline import Timeline

COMMIT_PAGE: Final = 16_000
"""Estimated bytes of the page of a commit."""
EDIT_PAGE: Final = 24_000
"""Estimated bytes of the page of an edit of instructions."""
LISTED_COMMIT: Final = 500
"""Estimated bytes of a commit in lists of commits."""
LISTED_EDIT: Final = 1_800
"""Estimated bytes of an edit in the page of its file."""
PAGES_ONCE: Final = 500_000
"""Estimated bytes of the files that a site has once: scripts, the methods page, search."""
MARGIN: Final = 1.1
"""Factor on the room for full pages: shortening a rendered page is cheaper than rendering a short one later."""


class ExpectedRoom:
    """Learns the size of reports from each finished eval, and estimates which reports of the next eval will fit.

    After the last eval it estimates which pages of edits and commits will fit.
    """

    def __init__(self, timeline: Timeline) -> None:
        limits = timeline.config.limits
        self._full_reports = limits.reports_kept
        commits = [(record.commit.position, COMMIT_PAGE - SHORT) for record in timeline.update.records]
        edits = [(edit.commit.position, EDIT_PAGE - SHORT) for file in timeline.instructions for edit in file.edits]
        self._complete = timeline.update.complete
        self._pages = [*commits, *edits] if self._complete else []
        """Position of each commit and edit, and the bytes that its full page takes beyond a short page."""
        self._room = limits.site_bytes - PAGES_ONCE - SHORT * len(self._pages)
        self._room -= len(commits) * LISTED_COMMIT + len(edits) * LISTED_EDIT
        histories = [update.history for update in timeline.update.evals] if timeline.update.complete else []
        self._points = sum(len(history.snapshots) for history in histories)
        self._positions = sorted(position for history in histories for position in self._positions_of(history))
        self._learnt_points = self._reports = self._report_bytes = self._other_bytes = 0

    def learn(self, summary: EvalSummary, rows: Sequence[PageRow]) -> None:
        """Learn from the files of an eval: all of them, or all except older reports."""
        paths = self.learn_reports(summary, rows)
        # Pictures do not count: they make room before reports do.
        self._other_bytes += sum(row.size for row in rows if row.path not in paths and not is_source_picture(row.path))
        self._learnt_points += len(summary.headlines)

    def learn_reports(self, summary: EvalSummary, rows: Sequence[PageRow]) -> frozenset[str]:
        """Learn from the reports among some files of an eval. Returns the paths that all of its reports can have."""
        first = first_full(len(summary.headlines), self._full_reports)
        paths = report_files(summary.info.id, summary.headlines[first:])
        full = [row for row in rows if row.path in paths and not row.full]
        self._reports += sum(row.path.endswith(".html") and not row.path.endswith("-tree.html") for row in full)
        self._report_bytes += sum(row.size for row in full)
        return paths

    def thinned(self, history: EvalHistory) -> int | None:
        """Estimate how many of the oldest reports of an eval will not fit; None without an estimate.

        An estimate exists only if all evals are written: otherwise the existing reports show how many are short.
        """
        if not self._reports or not self._positions:
            return None
        room = self._room_in_all()
        gained = max(1.0, self._report_bytes / self._reports - SHORT)
        full = int(MARGIN * max(room / 2, room - sum(gain for _, gain in self._pages)) / gained)
        if full >= len(self._positions):
            return None
        oldest = self._positions[-full] if full > 0 else self._positions[-1]
        positions = self._positions_of(history)
        return len(history.snapshots) - len(positions) + bisect_left(positions, oldest)

    def short_before(self) -> int | None:
        """Estimate the position of the oldest commit whose page and edits will fit in full; None as in ``thinned``."""
        if not self._complete:
            return None
        room = self._room_in_all()
        reports = len(self._positions) * (self._report_bytes / self._reports - SHORT) if self._reports else 0.0
        room = MARGIN * (room - min(room / 2, reports))
        for position, gain in sorted(self._pages, reverse=True):
            room -= gain
            if room < 0:
                return position + 1
        return 0

    def _room_in_all(self) -> float:
        """Return the bytes that all full pages together may take beyond short pages."""
        besides = self._other_bytes / self._learnt_points * self._points if self._learnt_points else 0.0
        return self._room - besides - SHORT * len(self._positions)

    def _positions_of(self, history: EvalHistory) -> list[int]:
        """Return the positions of the commits whose reports are full if they fit, ascending."""
        first = first_full(len(history.snapshots), self._full_reports)
        return [snapshot.commit.position for snapshot in history.snapshots[first:]]
