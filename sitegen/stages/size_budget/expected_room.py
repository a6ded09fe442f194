"""Estimates which old pages will not fit into the site, before any of them is rendered.

A wrong estimate costs time but does not change the site: once the size of everything else is known, ``budget.fit``
renders the pages that fit and shortens the rest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from sitegen.analysis.memo import PageRow
from sitegen.model.series import EvalSummary
from sitegen.model.timeline import EvalHistory
from sitegen.pages.links import is_field, is_source_picture
from sitegen.stages.cached_kinds import ListedField
from sitegen.stages.size_budget.thinning import RESERVED, SHORT, first_full, report_files
from sitegen.stages.timeline import Timeline

COMMIT_PAGE: Final = 16_000
"""Estimated bytes of the page of a commit."""
EDIT_PAGE: Final = 24_000
"""Estimated bytes of the page of an edit of instructions."""
REPORT: Final = 24_000
"""Estimated bytes of a report, before any is rendered: rather too few, so that the first evals leave out too little."""
FIELD_PAGE: Final = 24_000
"""Estimated bytes of the page of a field, before any is rendered."""
LISTED_COMMIT: Final = 500
"""Estimated bytes of a commit in lists of commits."""
LISTED_EDIT: Final = 1_800
"""Estimated bytes of an edit in the page of its file."""
PAGES_ONCE: Final = 500_000
"""Estimated bytes of the files that a site has once: scripts, the methods page, search."""
MARGIN: Final = 1.1
"""Factor on the room for full pages: shortening a rendered page is cheaper than rendering a short one later."""
EARLY_MARGIN: Final = 1.5
"""The factor while evals are still scored: to make a report full again, its whole eval is scored again."""


class ExpectedRoom:
    """Learns the size of reports and pages of fields from each finished eval, and estimates which of the next will fit.

    After the last eval it estimates which pages of edits and commits will fit.
    """

    def __init__(self, timeline: Timeline) -> None:
        limits = timeline.config.limits
        self._full_reports = limits.reports_kept
        commits = [(record.commit.position, COMMIT_PAGE - SHORT) for record in timeline.update.records]
        edits = [(edit.commit.position, EDIT_PAGE - SHORT) for file in timeline.instructions for edit in file.edits]
        self._complete = timeline.update.complete
        pages = sorted((*commits, *edits)) if self._complete else []
        self._page_positions = [position for position, _ in pages]
        """Positions of the pages of commits and edits, ascending."""
        self._gains_before = [0, *accumulate(gain for _, gain in pages)]
        """Entry n: the bytes that full pages take beyond short ones, of the n oldest of these pages."""
        self._room = limits.site_bytes - PAGES_ONCE - SHORT * len(pages)
        self._room -= len(commits) * LISTED_COMMIT + len(edits) * LISTED_EDIT
        histories = [update.history for update in timeline.update.evals] if timeline.update.complete else []
        self._points = sum(len(history.snapshots) for history in histories)
        self._positions = sorted(position for history in histories for position in self._positions_of(history))
        self._reports = self._report_bytes = 0
        self._first, self._later = _BytesOfPoints(), _BytesOfPoints()
        """Files that are never short: those that an eval has at first, and those of ``learn_series_pages``."""
        self._evals, self._learnt_evals = len(histories), 0
        self._fields: list[int] = []
        """Positions of the pages of fields."""
        self._full_fields = self._field_bytes = 0

    def learn(self, summary: EvalSummary, fields: Sequence[ListedField], rows: Sequence[PageRow]) -> None:
        """Learn from the first files of an eval. ``fields``: all of its pages of fields."""
        self._fields += [field.position for field in fields]
        self._learnt_evals += 1
        self._learn(self._first, summary, fields, rows)

    def learn_series_pages(self, summary: EvalSummary, fields: Sequence[ListedField], rows: Sequence[PageRow]) -> None:
        """Learn from the further files that show all points of an eval."""
        self._learn(self._later, summary, fields, rows)

    def _learn(
        self, others: _BytesOfPoints, summary: EvalSummary, fields: Sequence[ListedField], rows: Sequence[PageRow]
    ) -> None:
        can_be_short = self.learn_reports(summary, rows) | {field.path for field in fields}
        # Pictures do not count: they make room before reports do.
        never_short = (row for row in rows if row.path not in can_be_short and not is_source_picture(row.path))
        others.add(sum(row.size for row in never_short), len(summary.headlines))
        full = [row.size for row in rows if is_field(row.path) and not row.full]
        self._full_fields += len(full)
        self._field_bytes += sum(full)

    def learn_reports(self, summary: EvalSummary, rows: Sequence[PageRow]) -> frozenset[str]:
        """Learn from the reports among some files of an eval. Returns the paths that all of its reports can have."""
        first = first_full(len(summary.headlines), self._full_reports)
        paths = report_files(summary.info.id, summary.headlines[first:])
        full = [row for row in rows if row.path in paths and not row.full]
        self._reports += sum(row.path.endswith(".html") and not row.path.endswith("-tree.html") for row in full)
        self._report_bytes += sum(row.size for row in full)
        return paths

    def thinned(self, history: EvalHistory, margin: float = MARGIN) -> int | None:
        """Estimate how many of the oldest reports of an eval will not fit; None without an estimate.

        An estimate exists only if all evals are written: otherwise the existing reports show how many are short.
        ``margin``: factor on the room for full reports.
        """
        if not self._positions:
            return None
        room = self._room_in_all()
        mean = self._report_bytes / self._reports if self._reports else REPORT
        gained = max(1.0, mean - SHORT)
        others = self._gains_before[-1] + len(self._fields) * self._field_gain()
        full = int(margin * max(room / RESERVED, room - others) / gained)
        if full >= len(self._positions):
            return None
        oldest = self._positions[-full] if full > 0 else self._positions[-1]
        positions = self._positions_of(history)
        return len(history.snapshots) - len(positions) + bisect_left(positions, oldest)

    def short_before(self) -> int | None:
        """Estimate the position from which pages of fields, edits and commits will fit; None as in ``thinned``."""
        if not self._complete:
            return None
        room = self._room_in_all()
        reports = len(self._positions) * (self._report_bytes / self._reports - SHORT) if self._reports else 0.0
        room = MARGIN * (room - min(room / RESERVED, reports))
        fields, field_gain = sorted(self._fields), self._field_gain()

        def fits(position: int) -> bool:
            """Decide whether all pages from a position on fit."""
            pages = self._gains_before[-1] - self._gains_before[bisect_left(self._page_positions, position)]
            return pages + (len(fields) - bisect_left(fields, position)) * field_gain <= room

        newest = max((*self._page_positions[-1:], *fields[-1:]), default=-1)
        return bisect_left(range(newest + 1), True, key=fits)

    def _room_in_all(self) -> float:
        """Return the bytes that all full pages together may take beyond short pages."""
        besides = self._first.of(self._points) + self._later.of(self._points)
        fields = len(self._fields) * self._evals_for_one()
        return self._room - besides - SHORT * (len(self._positions) + fields)

    def _field_gain(self) -> float:
        """Return the bytes that a full page of a field takes beyond a short one, for all evals like the learnt one."""
        mean = self._field_bytes / self._full_fields if self._full_fields else FIELD_PAGE
        return max(1.0, mean - SHORT) * self._evals_for_one()

    def _evals_for_one(self) -> float:
        """Return the number of evals for which one learnt eval stands."""
        return self._evals / self._learnt_evals if self._learnt_evals else 1.0

    def _positions_of(self, history: EvalHistory) -> list[int]:
        """Return the positions of the commits whose reports are full if they fit, ascending."""
        first = first_full(len(history.snapshots), self._full_reports)
        return [snapshot.commit.position for snapshot in history.snapshots[first:]]


class _BytesOfPoints:
    """Bytes that were written for points."""

    def __init__(self) -> None:
        self._bytes = self._points = 0

    def add(self, size: int, points: int) -> None:
        self._bytes += size
        self._points += points

    def of(self, points: int) -> float:
        """Return the bytes to expect for so many points."""
        return self._bytes / self._points * points if self._points else 0.0
