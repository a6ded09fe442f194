"""Tells which reports of an eval are full, and writes the short pages in the place of the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Self

from sitegen.analysis.memo import PageRow
from sitegen.model.series import Headline, Series
from sitegen.pages import links
from sitegen.pages.short_pages import short_report
from sitegen.render.environment import Renderer
from sitegen.render.writer import Writer, digest
from sitegen.scoring.kinds import scorer

SHORT: Final = 2_000
"""Bytes that every short page counts for, because its real size is known only after it is written."""
UNMEASURED: Final = 1
"""Stands for the size of a full report that was never rendered."""


def first_full(points: int, full: int | None) -> int:
    """Index of the oldest point with a full report. ``full``: how many have one; None: all."""
    return 0 if full is None else max(0, points - full)


def report_files(eval_id: str, points: Iterable[Headline]) -> frozenset[str]:
    """Paths of the reports of these points and of the files beside them."""
    return frozenset(address(eval_id, at.slug) for at in points for address in links.REPORT_FILES)


class Short(NamedTuple):
    """The points with a short page in the place of a full report."""

    passed: int
    """How many of the oldest are short because of ``limits.reports_kept``."""
    room: frozenset[int]
    """Indices of further points that are short so that the site fits into ``limits.site_bytes``."""

    @classmethod
    def of(cls, points: int, full: int | None, thinned: int) -> Self:
        """``thinned``: how many of the oldest are short so that the site fits."""
        passed = first_full(points, full)
        return cls(passed, frozenset(range(passed, thinned)))

    @classmethod
    def standing(cls, keys: Sequence[str], full: int | None, rows: Sequence[PageRow]) -> Self:
        """The points that are short already. ``keys``: for each point the digest of what its full report shows."""
        short = {row.key for row in rows if row.full}
        room = (index for index, key in enumerate(keys) if room_key(key) in short) if short else ()
        passed = first_full(len(keys), full)
        return cls(passed, frozenset(index for index in room if index >= passed))

    def __contains__(self, index: object) -> bool:
        return index in self.room or index in range(self.passed)

    def key(self, index: int, full: str) -> str:
        """The digest of what a short page is made from; another one where no full report was measured."""
        return room_key(full) if index in self.room else digest("thinned", full)


def write_thinned(
    writer: Writer, renderer: Renderer, owner: str, series: Series, keys: Sequence[str], short: Short
) -> None:
    """Write the pages of short points. ``keys``: for each point the digest of what its full report shows."""
    for index in (*range(short.passed), *sorted(short.room)):
        point, full = series.points[index], keys[index]
        path, key = links.report(series.info.id, point.snapshot.slug), short.key(index, full)
        if not writer.is_fresh(owner, path, key):
            size = 0
            if index in short.room:
                files = [address(series.info.id, point.snapshot.slug) for address in links.REPORT_FILES]
                size = sum(row.size for file in files if (row := writer.standing_row(file, full))) or UNMEASURED
            previous = series.points[index - 1].snapshot if index else None
            specs = scorer(series.history.kind).metrics
            page = short_report(series.info, specs, point.snapshot, point.scorecard, previous)
            writer.write(owner, path, renderer.render(page), key, full=size)


def room_key(full: str) -> str:
    """The digest of a page that is short so that the site fits. ``full``: the digest of the full report."""
    return digest("room", full)
