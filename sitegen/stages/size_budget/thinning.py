"""Decides which pages of an owner are full, and writes short pages in the place of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, Self

from sitegen.analysis.memo import PageRow
from sitegen.frozen import Frozen
from sitegen.model.series import Headline, Series
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.pages.short_pages import short_report
from sitegen.render.environment import Renderer
from sitegen.render.writer import Writer, digest

SHORT: Final = 1_500
"""Assumed bytes of every short page and its row in a list: their real size is known only after they are written."""
RESERVED: Final = 4
"""Of the four sorts of pages that can be short, reports have this part of the room, one in so many bytes."""
UNMEASURED: Final = 1
"""Stands for the size of a full page that was never rendered."""


def first_full(points: int, full: int | None) -> int:
    """Return the index of the oldest point with a full report. ``full``: number of full reports; None: all."""
    return 0 if full is None else max(0, points - full)


def report_files(eval_id: str, points: Iterable[Headline]) -> frozenset[str]:
    """Return the paths of the reports of these points and of the files beside them."""
    return frozenset(address(eval_id, at.slug) for at in points for address in links.REPORT_FILES)


class Short(Frozen):
    """The points with a short page in the place of a full report."""

    passed: int
    """Number of the oldest points that are short because of ``limits.reports_kept``."""
    room: frozenset[int]
    """Indices of further points that are short so that the site fits into ``limits.site_bytes``."""

    @classmethod
    def of(cls, points: int, full: int | None, thinned: int) -> Self:
        """Apply both limits. ``thinned``: number of the oldest points that are short so that the site fits."""
        passed = first_full(points, full)
        return cls(passed, frozenset(range(passed, thinned)))

    @classmethod
    def as_written(cls, keys: Sequence[str], full: int | None, rows: Sequence[PageRow]) -> Self:
        """Find the points that are short already. ``keys``: for each point, the digest of its full report's content."""
        short = {row.key for row in rows if row.full}
        room = (index for index, key in enumerate(keys) if room_key(key) in short) if short else ()
        passed = first_full(len(keys), full)
        return cls(passed, frozenset(index for index in room if index >= passed))

    def __contains__(self, index: object) -> bool:
        return index in self.room or index in range(self.passed)


def write_thinned(
    writer: Writer, renderer: Renderer, owner: str, series: Series, keys: Sequence[str], short: Short
) -> None:
    """Write the pages of short points. ``keys``: for each point, the digest of its full report's content."""
    info = series.info
    for index in (*range(short.passed), *sorted(short.room)):
        at = series.points[index].snapshot
        make = partial(short_report, info.id, index, at)
        if index in short.room:
            files = [address(info.id, at.slug) for address in links.REPORT_FILES]
            write_short(writer, renderer, owner, files, keys[index], make)
            continue
        path, key = links.report(info.id, at.slug), digest("thinned", keys[index])
        if not writer.is_fresh(owner, path, key):
            writer.write(owner, path, renderer.render(make()), key)


def write_short(
    writer: Writer, renderer: Renderer, owner: str, files: Sequence[str], full: str, make: Callable[[], Page]
) -> None:
    """Write the short page that replaces a full one so that the site fits.

    ``files``: the page and the files beside it, which a short page does not have; ``full``: the digest of the full
    page's content; ``make``: makes the short page.
    """
    if writer.is_fresh(owner, files[0], room_key(full)):
        return
    size = sum(row.size for file in files if (row := writer.up_to_date_row(file, full))) or UNMEASURED
    writer.write(owner, files[0], renderer.render(make()), room_key(full), full=size)


def list_owner(owner: str) -> str:
    """Return the name under which the site's files record the lists to which the short pages of an owner lead."""
    return f"short:{owner}"


def room_key(full: str) -> str:
    """Return the digest of a page that is short so that the site fits. ``full``: the digest of the full page."""
    return digest("room", full)
