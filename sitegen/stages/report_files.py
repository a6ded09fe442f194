"""Writes the files of the reports of one eval: each report, its tree, its data and the pictures of its source.

The task that scores the eval (``eval_job``) writes the newest report, so that it can be opened early. The inputs of
older reports wait as bytes in the building process, and further tasks draw these reports, the newest first. Values
that several reports share are stored once in these bytes, so that a waiting report takes a few kilobytes.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import IO, TYPE_CHECKING, Final

from msgspec.structs import replace

from sitegen.analysis.cached import CacheStore
from sitegen.history.memo_rows import within
from sitegen.model.scorecards import Result
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.named_tuple import NamedTuple
from sitegen.pages import links
from sitegen.pages.data.exports import results_json
from sitegen.pages.report.discrepancy_rows import rows_file
from sitegen.pages.report.page import ReportView
from sitegen.pages.report.tree import TreeView, has_tree, tree_page
from sitegen.render.writer import Writer
from sitegen.stages.cached_kinds import SOURCE_USES, SourceUse
from sitegen.stages.reports import ReportInputs
from sitegen.stages.worker_context import WorkerContext

if TYPE_CHECKING:
    from sitegen.stages.sources import EvalSources

TOGETHER: Final = 20_000
"""Number of judgements in the reports of one part, all of which a process holds at the same time."""
REPORTS: Final = 20
"""Largest number of reports in one part. A task draws whole parts, and processes wait for the last one."""
IN_MEMORY: Final = 1_000_000
"""Largest number of bytes of waiting reports in memory; more are stored in a temporary file."""


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
        """Store the values that all reports share.

        Args:
            context: the values that all tasks of the build share.
            info: the eval.
            snapshots: all snapshots of the eval.
            keys: for each report, the digest of everything that it shows.
            sources: the sources of the eval, if it states any.
            writer: writes and records the files.
            cache: stores the parts of its source that each report shows.

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
        """Paths of the pictures of the source that were written or found to be up to date."""

    def write(self, index: int, page: Page, result: Result) -> None:
        """Write the files that a report links to, then the report, so that none of its links is ever broken."""
        key, owner = self._keys[index], self._owner
        view = page.view
        assert isinstance(view, ReportView)
        if rows := rows_file(view):
            self._writer.write(owner, rows.path, rows.content, key)
        tree = self._tree_page(index, result)
        if tree:
            self._writer.write(owner, tree.path, self._renderer.render(tree), key)
        if result.data is not None or view.leaves_anything_out:
            snapshot = self._snapshots[index]
            data = results_json(result, self._info, snapshot)
            self._writer.write(owner, links.report_data(self._info.id, snapshot.slug), data, key)
        self._writer.write(owner, page.path, self._renderer.render(page), key)

    def is_fresh(self, index: int) -> bool:
        """Decide whether a report is up to date; if so, also record the files beside it as files of the site."""
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
        """Return the parts of its source that the page of an output shows; None if they are not cached."""
        if self._sources is None:
            return SourceUse()
        key = within(self._info.id, self._snapshots[index].slug)
        return SOURCE_USES.get(self._cache, key, [self._keys[index]])

    def _tree_page(self, index: int, result: Result) -> Page | None:
        """Make the page of ground truth beside output, with the source if there is one; write the pictures it shows."""
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
                if not self._writer.is_fresh(self._owner, path, oid):
                    self._writer.write(self._owner, path, self._sources.content(oid), oid)


class WaitingPart(NamedTuple):
    """The inputs of consecutive reports of an eval, encoded."""

    reports: int
    """Number of reports."""
    content: bytes


class WaitingReports:
    """Collects the inputs of reports, from the oldest to the newest, encoded in parts of several reports each."""

    def __init__(self) -> None:
        self._last: list[ReportInputs] = []
        self._judgements = 0
        self._parts: list[WaitingPart] = []

    def add(self, inputs: ReportInputs) -> None:
        """Add the inputs of a report that will be drawn later."""
        self._last.append(inputs)
        self._judgements += len(inputs.result.judgements)
        if self._judgements >= TOGETHER or len(self._last) >= REPORTS:
            self._close_part()

    def parts(self) -> tuple[WaitingPart, ...]:
        """Return all added inputs, encoded, the oldest part first."""
        if self._last:
            self._close_part()
        return tuple(self._parts)

    def _close_part(self) -> None:
        content = zlib.compress(pickle.dumps(self._last, pickle.HIGHEST_PROTOCOL), 1)
        self._parts.append(WaitingPart(len(self._last), content))
        self._last, self._judgements = [], 0


def newest_first(parts: Sequence[WaitingPart]) -> Iterator[ReportInputs]:
    """Yield the inputs of some ``WaitingReports.parts``; only the reports of one part are held at a time."""
    # These bytes are from a process of this build, and were never in a file that another program could write.
    return chain.from_iterable(reversed(pickle.loads(zlib.decompress(part.content))) for part in reversed(parts))


class StoredPart(NamedTuple):
    """The place of a part in ``WaitingParts``."""

    reports: int
    start: int
    size: int


def ranges(parts: Sequence[StoredPart], reports: int) -> Iterator[Sequence[StoredPart]]:
    """Split the parts of an eval into ranges of at least so many reports, except the oldest; the newest range first."""
    end, held = len(parts), 0
    for index in reversed(range(end)):
        held += parts[index].reports
        if held >= reports or index == 0:
            yield parts[index:end]
            end, held = index, 0


class WaitingParts:
    """Holds the parts of all evals: in memory or, if they are large, in a temporary file without a name."""

    @cached_property
    def _file(self) -> IO[bytes]:
        from tempfile import SpooledTemporaryFile  # imports much that a build with few new outputs does not need

        return SpooledTemporaryFile(max_size=IN_MEMORY)

    def close(self) -> None:
        """Discard all parts."""
        if "_file" in vars(self):
            self._file.close()

    def put(self, parts: Iterable[WaitingPart]) -> tuple[StoredPart, ...]:
        """Store parts. Returns their places."""
        places = []
        for reports, content in parts:
            places.append(StoredPart(reports, self._file.seek(0, 2), len(content)))
            self._file.write(content)
        return tuple(places)

    def read(self, places: Iterable[StoredPart]) -> tuple[WaitingPart, ...]:
        """Return the parts at these places."""
        parts = []
        for reports, start, size in places:
            self._file.seek(start)
            parts.append(WaitingPart(reports, self._file.read(size)))
        return tuple(parts)
