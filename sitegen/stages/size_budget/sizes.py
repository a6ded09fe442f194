"""What the files of a site have in bytes, summed up by owner: of one more commit only its own files are looked at.

The sums are kept as long as the site needs them: from the build that looked at every file, until all reports have room.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import chain
from typing import Final, NamedTuple

from sitegen.analysis.memo import Memo, PageRow
from sitegen.history.fold_state import decode, encode, stored
from sitegen.model.series import EvalSummary
from sitegen.pages import links
from sitegen.stages.eval_job import owner as owner_of
from sitegen.stages.evals import Evals
from sitegen.stages.site_files import Ledger
from sitegen.stages.size_budget.thinning import UNMEASURED, first_full, report_files
from sitegen.stages.timeline import Timeline

REPORTS: Final = "reports"
"""The section of the reports and of the data beside them."""


class SizeGroup(NamedTuple):
    """Files of one sort."""

    files: int = 0
    size: int = 0
    """Bytes."""


class ReportSizes(NamedTuple):
    """The reports of an eval that are full, or would be if there were room; a column each, oldest first."""

    first: int = 0
    """Index of the oldest in the series."""
    positions: tuple[int, ...] = ()
    """Of their commits."""
    sizes: tuple[int | None, ...] = ()
    """Bytes in full, with the data beside each; None where nobody rendered the full report so far."""
    standing: tuple[int, ...] = ()
    """Bytes of what stands in the output folder now."""
    short: tuple[bool, ...] = ()
    """They make room already."""


class OwnerSizes(NamedTuple):
    """What the files of one owner have."""

    sections: dict[str, SizeGroup]
    """By name."""
    reports: ReportSizes = ReportSizes()


class Sizes:
    """Of every owner but one, whose few files are not written yet."""

    def __init__(self, timeline: Timeline, evals: Evals, memo: Memo, ledger: Ledger, but: str) -> None:
        self._kept = timeline.config.limits.reports_kept
        self._complete = timeline.update.complete
        self._summaries = {stored(owner_of(summary.info.id)): summary for summary in evals.summaries}
        self._memo = memo
        self._site = timeline.project.site
        self._ledger = ledger
        self._but = but
        known = () if self._complete else memo.sizes(self._site)
        self._owners = {name: decode(body, OwnerSizes) for name, body in known}
        if self._owners:
            self._go_on()
        else:
            self._begin()

    def reports(self) -> dict[str, ReportSizes]:
        """Of every eval, by id."""
        return {
            one.info.id: found.reports
            for name, one in self._summaries.items()
            if (found := self._owners.get(name)) and found.reports.sizes
        }

    def sections(self) -> dict[str, SizeGroup]:
        """Of the whole site, by name."""
        return _summed(chain.from_iterable(one.sections.items() for one in self._owners.values()))

    def besides(self) -> int:
        """Bytes of all files but the reports that are full if there is room."""
        every = sum(section.size for one in self._owners.values() for section in one.sections.values())
        return every - sum(sum(reports.standing) for reports in self.reports().values())

    def write_again(self, eval_ids: Iterable[str]) -> None:
        """Some evals were written a second time."""
        for eval_id in eval_ids:
            name = owner_of(eval_id)
            self._keep(stored(name), self._of(stored(name), self._ledger.standing_files(name)))

    def _begin(self) -> None:
        """Look at every file."""
        rows: dict[str, list[PageRow]] = defaultdict(list)
        for row in chain(self._ledger.recorded(), () if self._complete else self._ledger.earlier_files()):
            rows[stored(row.owner)].append(row)
        rows.pop(self._but, None)
        self._memo.forget_sizes(self._site)
        for name, files in rows.items():
            self._keep(name, self._of(name, files))

    def _go_on(self) -> None:
        """Look at the files that this build recorded."""
        for owner in self._ledger.owners():
            name = stored(owner)
            if self._ledger.is_whole(owner):
                self._keep(name, self._of(name, self._ledger.standing_files(owner)))
            else:
                self._keep(name, self._grown(name, self._ledger.recorded_of(owner)))

    def _grown(self, name: str, rows: Iterable[PageRow]) -> OwnerSizes:
        """Of an owner without reports that has these files besides, or anew."""
        before = self._owners.get(name, OwnerSizes({})).sections
        paths = [row.path for row in rows]
        replaced = self._of(name, self._memo.pages_at(self._site, name, paths)).sections
        gone = {section: SizeGroup(*(-number for number in of)) for section, of in replaced.items()}
        now = self._of(name, rows).sections
        return OwnerSizes(_summed(chain(before.items(), gone.items(), now.items())))

    def _of(self, name: str, rows: Iterable[PageRow]) -> OwnerSizes:
        by_path = {row.path: row for row in rows}
        summary = self._summaries.get(name)
        reports = report_files(summary.info.id, summary.headlines) if summary else frozenset()
        sections = _summed(
            (REPORTS if path in reports else _page_sort(path), SizeGroup(1, row.size)) for path, row in by_path.items()
        )
        return OwnerSizes(sections, self._reports(summary, by_path) if summary and by_path else ReportSizes())

    def _reports(self, summary: EvalSummary, files: dict[str, PageRow]) -> ReportSizes:
        """Those that are short by ``reports_kept`` have no say."""
        eval_id, first = summary.info.id, first_full(len(summary.headlines), self._kept)
        shown = summary.headlines[first:]
        pages = [files[links.report(eval_id, at.slug)] for at in shown]
        beside = [files.get(links.report_data(eval_id, at.slug)) for at in shown]
        standing = [page.size + (data.size if data else 0) for page, data in zip(pages, beside, strict=True)]
        return ReportSizes(
            first=first,
            positions=tuple(at.commit_position for at in shown),
            sizes=tuple(
                size if not page.full else None if page.full == UNMEASURED else page.full
                for page, size in zip(pages, standing, strict=True)
            ),
            standing=tuple(standing),
            short=tuple(bool(page.full) for page in pages),
        )

    def _keep(self, name: str, sizes: OwnerSizes) -> None:
        self._owners[name] = sizes
        self._memo.keep_sizes(self._site, name, encode(sizes))


def _summed(found: Iterable[tuple[str, SizeGroup]]) -> dict[str, SizeGroup]:
    sums: dict[str, SizeGroup] = {}
    for name, (files, size) in found:
        before = sums.get(name, SizeGroup())
        sums[name] = SizeGroup(before.files + files, before.size + size)
    return sums


def _page_sort(path: str) -> str:
    folder = path.partition("/")[0]
    if folder == "evals":
        return "pages of fields" if "/fields/" in path else "trends and comparisons"
    return {"instructions": "edits of instructions", "search": "search", "data": "data"}.get(folder, folder)
