"""Sums up the bytes of a site by owner, so that for one more commit only its own files are added.

The memo stores the sums from the build that first looked at every file until all reports fit again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.memo import Memo, PageRow
from sitegen.frozen import Frozen
from sitegen.history.fold_state import decode, encode
from sitegen.history.memo_rows import stored
from sitegen.named_tuple import NamedTuple
from sitegen.pages import links
from sitegen.pages.links import is_field, is_short_list, is_source_picture
from sitegen.render.output_folder import listed_bytes
from sitegen.stages.cached_kinds import COMMIT_ROWS, id_of_commit_row
from sitegen.stages.commits import OWNER as COMMITS_OWNER
from sitegen.stages.eval_task import owner as owner_of
from sitegen.stages.evals import Evals
from sitegen.stages.instruction_task import owner as owner_of_file
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.size_budget.pictures import LEFT_OUT
from sitegen.stages.size_budget.thinning import SHORT, UNMEASURED, first_full, report_files
from sitegen.stages.timeline import Timeline

REPORTS: Final = "reports"
"""The section of the reports and of the files beside them."""
FIELDS: Final = "pages of fields"
EDITS: Final = "edits of instructions"
COMMITS: Final = "commits"
PICTURES: Final = "pictures of sources"
LISTS: Final = "lists of short pages"


class SizeGroup(NamedTuple):
    """Number and size of the files of one section."""

    files: int = 0
    size: int = 0
    """In bytes."""


class PageSizes(Frozen):
    """The pages of one owner that are full or would be full if they fitted, in columns, oldest first."""

    first: int = 0
    """Index of the oldest of these pages among all pages of its sort."""
    positions: tuple[int, ...] = ()
    """Positions of the pages' commits."""
    sizes: tuple[int | None, ...] = ()
    """Bytes of the full page with the files beside it; None if it was never rendered."""
    present: tuple[int, ...] = ()
    """Bytes in the output folder now."""
    short: tuple[bool, ...] = ()
    """Whether each page is short now."""

    def with_others(self, others: PageSizes) -> PageSizes:
        """Merge other pages of commits into these; a page of the same commit is replaced."""
        rows = {
            position: row
            for pages in (self, others)
            for position, *row in zip(pages.positions, pages.sizes, pages.present, pages.short, strict=True)
        }
        positions = tuple(sorted(rows))
        sizes, present, short = zip(*map(rows.__getitem__, positions), strict=True) if rows else ((), (), ())
        return PageSizes(0, positions, sizes=sizes, present=present, short=short)


class PictureSizes(Frozen):
    """Number and size of the pictures of source pages."""

    files: int = 0
    short: int = 0
    """Number of pictures that a small picture replaces now."""
    in_full: int = 0
    """Bytes of all pictures if none were replaced."""
    present: int = 0
    """Bytes in the output folder now."""


class OwnerSizes(Frozen):
    """The bytes of the files of one owner."""

    sections: dict[str, SizeGroup]
    """The sections of these files, by name."""
    pages: dict[str, PageSizes]
    """The pages that can be short, by section."""
    name: str = ""
    """Id of the eval, or path of the instruction file."""
    pictures: PictureSizes = PictureSizes()


class Sizes:
    """The sizes of every owner except one, whose few files are not written yet."""

    def __init__(self, timeline: Timeline, evals: Evals, memo: Memo, site_files: SiteFiles, excluded: str) -> None:
        self._full_reports = timeline.config.limits.reports_kept
        self._complete = timeline.update.complete
        self._summaries = {stored(owner_of(summary.info.id)): summary for summary in evals.summaries}
        self._listed_fields = evals.listed_fields
        self._files = {stored(owner_of_file(file.path)): file for file in timeline.instructions}
        self._memo = memo
        self._site = timeline.project.site
        self._site_files = site_files
        self._excluded = excluded
        stored_sums = {} if self._complete else memo.sizes(self._site)
        self._owners = {name: decode(body, OwnerSizes) for name, body in stored_sums.items()}
        if self._owners:
            self._add_recorded_files()
        else:
            self._add_all_files()

    def pages(self) -> dict[str, dict[str, PageSizes]]:
        """Return the pages that can be short, by sort, then by eval or instruction file."""
        sorts: dict[str, dict[str, PageSizes]] = {REPORTS: {}, FIELDS: {}, EDITS: {}, COMMITS: {}}
        for _, sizes in sorted(self._owners.items()):
            for sort, pages in sizes.pages.items():
                if pages.sizes:
                    sorts[sort][sizes.name] = pages
        return sorts

    def pictures(self) -> dict[str, PictureSizes]:
        """Return the pictures of every eval that has any, by the id of the eval."""
        return {
            summary.info.id: sizes.pictures
            for name, summary in self._summaries.items()
            if (sizes := self._owners.get(name)) and sizes.pictures.files
        }

    def sections(self) -> dict[str, SizeGroup]:
        """Return the sections of the whole site, by name."""
        return _summed(chain.from_iterable(sizes.sections.items() for sizes in self._owners.values()))

    def besides(self, *, pictures: bool) -> int:
        """Return the bytes of all files except pages that can be full and the lists to which short pages lead.

        ``pictures``: as if no picture were replaced.
        """
        size = sum(section.size for section in self.sections().values())
        size -= self.sections().get(LISTS, SizeGroup()).size
        size += SHORT * sum(pages.first for sizes in self._owners.values() for pages in sizes.pages.values())
        size -= sum(sum(pages.present) for sizes in self._owners.values() for pages in sizes.pages.values())
        for sizes in self.pictures().values():
            size += (sizes.in_full if pictures else sizes.files * len(LEFT_OUT)) - sizes.present
        return size

    def write_again(self, owners: Iterable[str]) -> None:
        """Add up the files of owners again that were written a second time."""
        for name in owners:
            self._keep(stored(name), self._of(stored(name), self._site_files.present_files(name)))

    def _add_all_files(self) -> None:
        """Add up all files."""
        self._memo.forget_sizes(self._site)
        earlier: dict[str, list[PageRow]] = defaultdict(list)
        for row in () if self._complete else self._site_files.earlier_files():
            earlier[row.owner].append(row)
        recorded = {stored(owner): owner for owner in self._site_files.recorded.owners()}
        for name in sorted((earlier.keys() | recorded.keys()) - {self._excluded}):
            rows = (*earlier.get(name, ()), *self._site_files.recorded.of(recorded.get(name, name)))
            if rows:
                self._keep(name, self._of(name, rows))

    def _add_recorded_files(self) -> None:
        """Add up the files that this build recorded."""
        for owner in self._site_files.recorded.owners():
            name = stored(owner)
            if self._site_files.recorded.is_whole(owner):
                self._keep(name, self._of(name, self._site_files.present_files(owner)))
            else:
                self._keep(name, self._grown(name, self._site_files.recorded.of(owner)))

    def _grown(self, name: str, rows: Iterable[PageRow]) -> OwnerSizes:
        """Add new or changed files to the sizes of an owner: the commits, or an owner without short pages."""
        owner = self._owners.get(name, OwnerSizes({}, {}))
        before = owner.sections
        paths = [row.path for row in rows]
        replaced = self._of(name, self._memo.pages_at(self._site, name, paths)).sections
        gone = {section: SizeGroup(*(-number for number in of)) for section, of in replaced.items()}
        now = self._of(name, rows)
        sections = _summed(chain(before.items(), gone.items(), now.sections.items()))
        pages = {sort: owner.pages.get(sort, PageSizes()).with_others(new) for sort, new in now.pages.items()}
        return replace(now, sections=sections, pages=pages)

    def _of(self, name: str, rows: Iterable[PageRow]) -> OwnerSizes:
        by_path = {row.path: row for row in rows}
        summary = self._summaries.get(name)
        reports = report_files(summary.info.id, summary.headlines) if summary else frozenset()
        if any(map(is_short_list, by_path)):
            # Their names in the list of files do not count elsewhere: they must not change which pages are short.
            lists = SizeGroup(len(by_path), sum(row.size + listed_bytes(path) for path, row in by_path.items()))
            return OwnerSizes({LISTS: lists}, {})
        listed = SizeGroup(0, sum(map(listed_bytes, by_path)))
        files = (
            (REPORTS if path in reports else _page_sort(path), SizeGroup(1, row.size)) for path, row in by_path.items()
        )
        sections = _summed((("list of files", listed), *files))
        if name == COMMITS_OWNER:
            positions = self._positions_of_commits(by_path)
            commits = [(position, (path,)) for path, position in positions.items()]
            return OwnerSizes(sections, {COMMITS: _page_sizes(0, commits, by_path)})
        if by_path and (file := self._files.get(name)):
            edits = [(edit.commit.position, (links.edit(file.path, edit.commit.sha),)) for edit in file.edits]
            return OwnerSizes(sections, {EDITS: _page_sizes(0, edits, by_path)}, name=file.path)
        if not summary or not by_path:
            return OwnerSizes(sections, {})
        eval_id, first = summary.info.id, first_full(len(summary.headlines), self._full_reports)
        points = [
            (at.commit_position, tuple(address(eval_id, at.slug) for address in links.REPORT_FILES))
            for at in summary.headlines[first:]
        ]
        pictures = _picture_sizes(by_path.values())
        fields = [(field.position, (field.path,)) for field in self._listed_fields.get(eval_id, ())]
        sizes = {REPORTS: _page_sizes(first, points, by_path), FIELDS: _page_sizes(0, fields, by_path)}
        return OwnerSizes(sections, sizes, name=eval_id, pictures=pictures)

    def _positions_of_commits(self, paths: Collection[str]) -> dict[str, int]:
        """Map the path of each of these pages that can be short to the position of its commit, in order of position."""
        ids = map(id_of_commit_row, self._memo.keys(COMMIT_ROWS.name))
        return {path: commit.position for commit in ids if (path := links.commit(commit.sha)) in paths}

    def _keep(self, name: str, sizes: OwnerSizes) -> None:
        self._owners[name] = sizes
        self._memo.keep_sizes(self._site, name, encode(sizes))


def _page_sizes(first: int, pages: Sequence[tuple[int, Sequence[str]]], rows: Mapping[str, PageRow]) -> PageSizes:
    """Return the sizes of pages. Each page is a position and the paths of its files, the page itself first."""
    heads = [rows[paths[0]] for _, paths in pages]
    present = [sum(row.size for path in paths if (row := rows.get(path))) for _, paths in pages]
    return PageSizes(
        first=first,
        positions=tuple(position for position, _ in pages),
        sizes=tuple(
            size if not row.full else None if row.full == UNMEASURED else row.full
            for row, size in zip(heads, present, strict=True)
        ),
        present=tuple(present),
        short=tuple(bool(row.full) for row in heads),
    )


def _picture_sizes(rows: Iterable[PageRow]) -> PictureSizes:
    pictures = [row for row in rows if is_source_picture(row.path)]
    return PictureSizes(
        files=len(pictures),
        short=sum(bool(row.full) for row in pictures),
        in_full=sum(row.full or row.size for row in pictures),
        present=sum(row.size for row in pictures),
    )


def _summed(groups: Iterable[tuple[str, SizeGroup]]) -> dict[str, SizeGroup]:
    sums: dict[str, SizeGroup] = {}
    for name, (files, size) in groups:
        before = sums.get(name, SizeGroup())
        sums[name] = SizeGroup(before.files + files, before.size + size)
    return sums


def _page_sort(path: str) -> str:
    folder = path.partition("/")[0]
    if is_source_picture(path):
        return PICTURES
    if folder == "evals":
        return FIELDS if is_field(path) else "trends and comparisons"
    return {"instructions": EDITS, "commits": COMMITS, "search": "search", "data": "data"}.get(folder, folder)
