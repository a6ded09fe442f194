"""Writes the files of the reports of one eval: each report, its tree, its data and the pictures of its source.

The newest report is written by the task that scores the eval (``eval_job``), so that it can be opened early. What the
older ones show waits as bytes in the building process, and a second task draws them, the newest first. Values that
several reports have in common are stored once in these bytes, so that a waiting report takes a few kilobytes.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.cached import CacheStore, within
from sitegen.model.scorecards import Result
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.pages.data.exports import results_json
from sitegen.pages.report import ReportView, leaves_anything_out
from sitegen.pages.report.rows_file import rows_file
from sitegen.pages.report.tree import TreeView, has_tree, tree_page
from sitegen.render.writer import Writer
from sitegen.stages.cached_kinds import SOURCE_USES, SourceUse
from sitegen.stages.reports import ReportInputs
from sitegen.stages.size_budget.thinning import room_key
from sitegen.stages.sources import EvalSources
from sitegen.stages.worker_context import WorkerContext

TOGETHER: Final = 20_000
"""Judgements of the reports that are stored together: one process holds them all at a time."""
IN_MEMORY: Final = 20_000_000
"""Bytes of waiting reports from which on they are in a temporary file."""


class ReportFiles:
    """Writes the files of reports, in any order."""

    def __init__(
        self,
        context: WorkerContext,
        info: EvalInfo,
        snapshots: Sequence[Snapshot],
        keys: Sequence[str],
        sources: EvalSources | None,
        writer: Writer,
        cache: CacheStore,
    ) -> None:
        """Store what all reports share.

        Args:
            context: what every task of the build shares.
            info: the eval.
            snapshots: all of the eval.
            keys: for each report the digest of everything that it shows.
            sources: the sources of the eval, if it states any.
            writer: writes and records the files.
            cache: gets what each report shows of its source.

        """
        self._context = context
        self._info = info
        self._snapshots = snapshots
        self._keys = keys
        self._sources = sources
        self._writer = writer
        self._cache = cache
        self._owner = f"eval:{info.id}"
        self._renderer = context.renderer()
        self._pictures: set[str] = set()
        """Paths of the pictures of the source that were written or recognised as fresh."""

    def write(self, index: int, page: Page, result: Result) -> None:
        """Write what a report links to, then the report, so that no link of it is ever broken."""
        key, owner = self._keys[index], self._owner
        if isinstance(page.view, ReportView) and (rows := rows_file(page.view)):
            self._writer.write(owner, rows.path, rows.content, key)
        tree = self._tree_page(index, result)
        if tree:
            self._writer.write(owner, tree.path, self._renderer.render(tree), key)
        if leaves_anything_out(result, self._context.discrepancies_per_type):
            snapshot = self._snapshots[index]
            data = results_json(result, self._info, snapshot)
            self._writer.write(owner, links.report_data(self._info.id, snapshot.slug), data, key)
        self._writer.write(owner, page.path, self._renderer.render(page), key)

    def is_fresh(self, index: int) -> bool:
        """Whether the report is up to date; if so, the files beside it are marked as files of the site, too."""
        slug, key = self._snapshots[index].slug, self._keys[index]
        page, *beside = (address(self._info.id, slug) for address in links.REPORT_FILES)
        use = self.source_use(index)
        if use is None or not self._writer.is_fresh(self._owner, page, key):
            return False
        self._write_pictures(use)
        for path in beside:
            self._writer.is_fresh(self._owner, path, key)
        return True

    def source_use(self, index: int) -> SourceUse | None:
        """What the page of an output shows of its source; None if it is not cached."""
        if self._sources is None:
            return SourceUse()
        key = within(self._info.id, self._snapshots[index].slug)
        return SOURCE_USES.get(self._cache, key, [self._keys[index]])

    def _tree_page(self, index: int, result: Result) -> Page | None:
        """Ground truth beside output, with the source if there is one; writes the pictures that it shows."""
        snapshot, use = self._snapshots[index], SourceUse()
        page = tree_page(self._info, snapshot, result) if has_tree(self._info, result) else None
        if self._sources is None:
            return page
        if page and isinstance(page.view, TreeView):
            view, use = self._sources.with_source(page.view, snapshot, result)
            page = replace(page, view=view)
        SOURCE_USES.keep(self._cache, within(self._info.id, snapshot.slug), use, self._keys[index])
        self._write_pictures(use)
        return page

    def _write_pictures(self, use: SourceUse) -> None:
        for path, oid, *_ in use.pictures:
            if self._sources and path not in self._pictures:
                self._pictures.add(path)
                if not any(self._writer.is_fresh(self._owner, path, key) for key in (oid, room_key(oid))):
                    self._writer.write(self._owner, path, self._sources.content(oid), oid)


class WaitingReports:
    """Collects what reports show, from the oldest to the newest, as bytes of which each holds several."""

    def __init__(self) -> None:
        self._last: list[ReportInputs] = []
        self._judgements = 0
        self._parts: list[bytes] = []

    def add(self, inputs: ReportInputs) -> None:
        """Add a report that is to be drawn later."""
        self._last.append(inputs)
        self._judgements += len(inputs.result.judgements)
        if self._judgements >= TOGETHER:
            self._close_part()

    def parts(self) -> tuple[bytes, ...]:
        """Everything that was added."""
        if self._last:
            self._close_part()
        return tuple(self._parts)

    def _close_part(self) -> None:
        self._parts.append(zlib.compress(pickle.dumps(self._last, pickle.HIGHEST_PROTOCOL), 1))
        self._last, self._judgements = [], 0


def newest_first(parts: Sequence[bytes]) -> Iterator[ReportInputs]:
    """The reports of ``WaitingReports.parts``, of which those of one part are held at a time."""
    # Only bytes of a process of this build come here: they were never in a file that anything else could write.
    return chain.from_iterable(reversed(pickle.loads(zlib.decompress(part))) for part in reversed(parts))


class WaitingParts:
    """Holds the parts of all evals: in memory, or in a temporary file without a name once they are many."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115

    def close(self) -> None:
        """Forget everything."""
        self._file.close()

    def put(self, parts: Iterable[bytes]) -> Callable[[], tuple[bytes, ...]]:
        """Store parts. Returns a function that reads them."""
        places = []
        for part in parts:
            places.append((self._file.seek(0, 2), len(part)))
            self._file.write(part)
        return lambda: tuple(self._read(*place) for place in places)

    def _read(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        return self._file.read(size)
