"""Estimates which old pages will not fit into the site, before any of them is rendered.

A wrong estimate costs time but does not change the site: once the size of everything else is known, ``budget.fit``
renders the pages that fit and shortens the rest.

An upper bound on the size of the site, the last sum of all files and every file recorded since, spares most builds from
adding up every file.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from sitegen.analysis.memo import PageRow
from sitegen.frozen import Frozen
from sitegen.model.problems import Problem
from sitegen.model.series import EvalSummary
from sitegen.model.timeline import EvalHistory
from sitegen.pages import links
from sitegen.pages.links import is_field, is_source_picture
from sitegen.render.output_folder import listed_bytes
from sitegen.stages.cached_kinds import ListedField
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.size_budget.thinning import RESERVED, SHORT, first_full, report_files
from sitegen.stages.timeline import Timeline

COMMIT_PAGE: Final = 16_000
"""Estimated bytes of the page of a commit, before any is rendered."""
EDIT_PAGE: Final = 24_000
"""Estimated bytes of the page of an edit of instructions, before any is rendered."""
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
LISTED_FILE: Final = 80
"""Estimated bytes of a file in the list of written files."""
MARGIN: Final = 1.03
"""Factor on the room for full pages: shortening a rendered page is cheaper than rendering a short one later."""
_SHORT_FILE: Final = SHORT + LISTED_FILE
EARLY_MARGIN: Final = 1.5
"""The factor while evals are still scored: to make a report full again, its whole eval is scored again."""


class ExpectedRoom:
    """Learns the size of each sort of page from those that are written, and estimates which of the next will fit."""

    def __init__(self, timeline: Timeline) -> None:
        limits = timeline.config.limits
        self._full_reports = limits.reports_kept
        self._complete = timeline.update.complete
        records, files, updates = (
            (timeline.update.records, timeline.instructions, timeline.update.evals) if self._complete else ((), (), ())
        )
        self._commit_positions = sorted(record.commit.position for record in records)
        self._edit_positions = sorted(edit.commit.position for file in files for edit in file.edits)
        self._room = limits.site_bytes - PAGES_ONCE
        self._room -= len(self._commit_positions) * (_SHORT_FILE + LISTED_COMMIT)
        self._room -= len(self._edit_positions) * (_SHORT_FILE + LISTED_EDIT)
        histories = [update.history for update in updates]
        self._points = sum(len(history.snapshots) for history in histories)
        self._positions = sorted(position for history in histories for position in self._positions_of(history))
        self._first, self._later = _BytesOfPoints(), _BytesOfPoints()
        """Files that are never short: those that an eval has at first, and those of ``learn_series_pages``."""
        self._evals, self._learnt_evals = len(histories), 0
        self._fields: list[int] = []
        """Positions of the pages of fields, ascending."""
        self._reports, self._full_fields = _FullPages(REPORT), _FullPages(FIELD_PAGE)
        self._commits, self._edits = _FullPages(COMMIT_PAGE), _FullPages(EDIT_PAGE)

    def learn(self, summary: EvalSummary, fields: Sequence[ListedField], rows: Sequence[PageRow]) -> None:
        """Learn from the first files of an eval. ``fields``: all of its pages of fields."""
        self._fields += [field.position for field in fields]
        self._fields.sort()
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
        self._full_fields.add(row for row in rows if is_field(row.path))

    def learn_reports(self, summary: EvalSummary, rows: Sequence[PageRow]) -> frozenset[str]:
        """Learn from the reports among some files of an eval. Returns the paths that all of its reports can have."""
        first = first_full(len(summary.headlines), self._full_reports)
        paths = report_files(summary.info.id, summary.headlines[first:])
        self._reports.add((row for row in rows if row.path in paths), _is_report)
        return paths

    def learn_edits(self, path: str, rows: Iterable[PageRow]) -> None:
        """Learn from the pages of an instruction file."""
        self._edits.add(row for row in rows if row.path != links.instruction(path))

    def learn_commits(self, rows: Iterable[PageRow]) -> None:
        """Learn from pages of commits."""
        self._commits.add(rows)

    def thinned(self, history: EvalHistory, margin: float = MARGIN) -> int | None:
        """Estimate how many of the oldest reports of an eval will not fit; None without an estimate.

        An estimate exists only if all evals are written: otherwise the existing reports show how many are short.
        ``margin``: factor on the room for full reports.
        """
        if not self._positions:
            return None
        room = self._room_in_all()
        full = int(margin * max(room / RESERVED, room - self._others_from(0)) / self._reports.gain)
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
        room = MARGIN * (room - min(room / RESERVED, len(self._positions) * self._reports.gain))
        newest = max((column[-1] for column in self._columns() if column), default=-1)
        return bisect_left(range(newest + 1), True, key=lambda position: self._others_from(position) <= room)

    def _others_from(self, position: int) -> float:
        """Return the bytes that full pages of commits, edits and fields take beyond short ones, from a position on."""
        commits, edits, fields = (len(column) - bisect_left(column, position) for column in self._columns())
        return commits * self._commits.gain + edits * self._edits.gain + fields * self._field_gain()

    def _columns(self) -> tuple[list[int], list[int], list[int]]:
        return self._commit_positions, self._edit_positions, self._fields

    def _room_in_all(self) -> float:
        """Return the bytes that all full pages together may take beyond short pages."""
        besides = self._first.of(self._points) + self._later.of(self._points)
        fields = len(self._fields) * self._evals_for_one()
        return self._room - besides - _SHORT_FILE * (len(self._positions) + fields)

    def _field_gain(self) -> float:
        """Return the bytes that a full page of a field takes beyond a short one, for all evals like the learnt one."""
        return self._full_fields.gain * self._evals_for_one()

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


class _FullPages:
    """The full pages of one sort that were written."""

    def __init__(self, estimate: int) -> None:
        """``estimate``: bytes of such a page, before any is written."""
        self._estimate = estimate
        self._pages = self._bytes = 0

    def add(self, rows: Iterable[PageRow], is_page: Callable[[str], bool] = bool) -> None:
        """Count the full ones of some pages. ``is_page``: whether a path is that of a page, not of a file beside it."""
        for row in rows:
            if not row.full:
                self._pages += is_page(row.path)
                self._bytes += row.size

    @property
    def gain(self) -> float:
        """The mean of the bytes that a full page, with the files beside it, takes beyond a short one."""
        return max(1.0, (self._bytes / self._pages if self._pages else self._estimate) - SHORT)


def _is_report(path: str) -> bool:
    return path.endswith(".html") and not path.endswith("-tree.html")


class Fitted(Frozen):
    """The result of fitting a site into its limit."""

    problems: tuple[Problem, ...] = ()
    thinned: int = 0
    """Number of shortened pages."""
    failures: tuple[Problem, ...] = ()
    """One problem for each eval or instruction file whose pages sitegen failed to make again."""


def surely_fits(timeline: Timeline, site_files: SiteFiles, once: int) -> bool:
    """Decide whether all reports are full and the upper bound is within the limit."""
    complete = timeline.update.complete
    earlier = 0 if complete else site_files.bound
    if earlier is None or any(row.full for row in site_files.recorded.all()):
        return False
    site_files.bound = earlier + sum(row.size + listed_bytes(row.path) for row in site_files.recorded.all())
    return site_files.bound + once <= timeline.config.limits.site_bytes
