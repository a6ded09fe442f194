"""Which old reports will hardly have room, told before any of them is rendered.

Decides how much is rendered in vain or later than it could be, and nothing of the site: ``budget.fit`` renders whatever
has room after all, and shortens the rest, once the size of everything else is known.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

from sitegen.analysis.memo import PageRow
from sitegen.model.series import EvalSummary
from sitegen.model.timeline import EvalHistory
from sitegen.stages.size_budget.thinning import SHORT, first_full, report_files
from sitegen.stages.timeline import Timeline

COMMIT_PAGE: Final = 7_000
"""Bytes of a commit's page, about."""
EDIT_PAGE: Final = 24_000
"""Bytes of the page of an edit of instructions, about."""
PAGES_ONCE: Final = 400_000
"""Bytes of what is there once, about: scripts, the methods page, search."""
MARGIN: Final = 1.1
"""So many times the reports that seem to have room are rendered: to shorten one takes less than to make it later."""


class ExpectedRoom:
    """Learns from each eval that is done how large reports are, and tells which of the next eval will have room."""

    def __init__(self, timeline: Timeline) -> None:
        limits = timeline.config.limits
        self._kept = limits.reports_kept
        self._room = limits.site_bytes - PAGES_ONCE - timeline.commits * COMMIT_PAGE
        self._room -= sum(len(file.edits) for file in timeline.instructions) * EDIT_PAGE
        histories = [update.history for update in timeline.update.evals] if timeline.update.complete else []
        self._points = sum(len(history.snapshots) for history in histories)
        self._positions = sorted(position for history in histories for position in self._positions_of(history))
        self._learnt_points = self._reports = self._report_bytes = self._other_bytes = 0

    def learn(self, summary: EvalSummary, rows: Iterable[PageRow]) -> None:
        """Take the files of an eval that is done."""
        paths = report_files(summary.info.id, summary.headlines[first_full(len(summary.headlines), self._kept) :])
        for row in rows:
            if row.path not in paths:
                self._other_bytes += row.size
            elif not row.full:
                self._reports += row.path.endswith(".html")
                self._report_bytes += row.size
        self._learnt_points += len(summary.headlines)

    def thinned(self, history: EvalHistory) -> int | None:
        """How many of the oldest reports of an eval will hardly have room; None as long as nothing tells.

        Only where every eval is made anew: else what stands already tells more.
        """
        if not self._reports or not self._positions:
            return None
        others = self._other_bytes / self._learnt_points * self._points + SHORT * len(self._positions)
        gained = max(1.0, self._report_bytes / self._reports - SHORT)
        full = int(MARGIN * (self._room - others) / gained)
        if full >= len(self._positions):
            return None
        oldest = self._positions[-full] if full > 0 else self._positions[-1]
        positions = self._positions_of(history)
        return len(history.snapshots) - len(positions) + bisect_left(positions, oldest)

    def _positions_of(self, history: EvalHistory) -> list[int]:
        """Of the commits of the snapshots whose reports are full if there is room; ascending."""
        first = first_full(len(history.snapshots), self._kept)
        return [snapshot.commit.position for snapshot in history.snapshots[first:]]
