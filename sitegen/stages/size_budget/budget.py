"""Keeps a site within its size limit: short pages replace the oldest full ones, and no number is lost.

Pictures of source pages are replaced first: all of them, if pages and pictures do not fit together.

Reports are shortened before other pages, until they take a quarter of the room. Of the reports, and of the pages of
fields, edits and commits together, the newest that fit are full; a field is as old as the last change of its cells.
This depends on sizes alone, so older pages need not be rendered; it never depends on the state that an earlier build
left, or on estimates. Most builds need not add up every file (``surely_fits``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, zip_longest
from math import ceil
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.analysis.memo import Memo
from sitegen.config import BuildLimits
from sitegen.frozen import Frozen
from sitegen.model.problems import Problem
from sitegen.named_tuple import NamedTuple
from sitegen.stages.commits import OWNER as COMMITS_OWNER
from sitegen.stages.commits import write_commits_again
from sitegen.stages.eval_task import owner as owner_of_eval
from sitegen.stages.evals import Evals
from sitegen.stages.instruction_task import owner as owner_of_file
from sitegen.stages.instructions import WrittenInstructions, write_edits_again
from sitegen.stages.pool import Pool
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.size_budget.expected_room import COMMIT_PAGE, EDIT_PAGE, FIELD_PAGE, Fitted
from sitegen.stages.size_budget.pictures import replace_pictures
from sitegen.stages.size_budget.short_lists import write_lists_of_changes, write_lists_of_reports
from sitegen.stages.size_budget.shortening import write_again
from sitegen.stages.size_budget.sizes import COMMITS, EDITS, FIELDS, LISTS, REPORTS, PageSizes, SizeGroup, Sizes
from sitegen.stages.size_budget.thinning import RESERVED, SHORT, list_owner
from sitegen.stages.timeline import Timeline

STEPS: Final = 8
"""Number of binary digits to which the number of short pages is rounded up, so that few commits change it."""
_MEGA: Final = 1_000_000
_LISTED: Final = 50_000
"""Least size in bytes of a section that a message names."""
_NOUNS: Final = {REPORTS: "reports", FIELDS: "pages of fields", EDITS: "pages of edits", COMMITS: "pages of commits"}

_ESTIMATES: Final = {FIELDS: FIELD_PAGE, EDITS: EDIT_PAGE, COMMITS: COMMIT_PAGE}

Pages: TypeAlias = Mapping[str, Mapping[str, PageSizes]]
"""The pages that can be short, by sort, then by eval or instruction file."""


class Division(NamedTuple):
    """The decision on which pages are shortened."""

    thinned: dict[str, dict[str, int]]
    """Number of the oldest pages to shorten, by sort, then by eval or instruction file."""
    certain: bool = True
    """Whether the decision uses only sizes of rendered pages; otherwise some pages must be rendered and measured."""


class Filled(Frozen):
    """The number of pages that fit into some room, and their size."""

    full: int
    used: int
    """Bytes that these pages take beyond short pages."""
    certain: bool


def fit(
    timeline: Timeline,
    evals: Evals,
    instructions: WrittenInstructions,
    memo: Memo,
    site_files: SiteFiles,
    pool: Pool,
    owner: str,
    once: int,
) -> Fitted:
    """Replace exactly as many of the oldest pages by short ones as the limit requires.

    ``owner``: the owner of the files that a site has once, which are not written yet; ``once``: the bytes of them.
    """
    limits = timeline.config.limits
    sizes = Sizes(timeline, evals, memo, site_files, owner)
    failures: tuple[Problem, ...] = ()
    certain, with_pictures = False, True
    while not certain and not failures:
        room = limits.site_bytes - once - sizes.besides(pictures=with_pictures)
        thinned, certain = divide(sizes.pages(), room)
        if certain and with_pictures and sizes.pictures() and any(chain(*map(dict.values, thinned.values()))):
            certain = with_pictures = False
            continue
        pictures, changes = sizes.pictures(), _changes(sizes.pages(), thinned, certain=certain)
        failures = (
            *write_again(timeline, memo, site_files, pool, changes[REPORTS], changes[FIELDS]),
            *write_edits_again(timeline, instructions.effects, memo, site_files, pool, changes[EDITS]),
            *write_commits_again(
                timeline, evals, instructions.effects, memo, site_files, pool, changes[COMMITS].get("")
            ),
        )
        sizes.write_again(map(owner_of_eval, dict.fromkeys((*changes[REPORTS], *changes[FIELDS]))))
        sizes.write_again(map(owner_of_file, changes[EDITS]))
        sizes.write_again([COMMITS_OWNER] if changes[COMMITS] else ())
        # A report that is full again can bring pictures that were not counted.
        certain = certain and (not with_pictures or sizes.pictures() == pictures)
    failures += (
        *write_lists_of_reports(timeline, evals, memo, site_files),
        *write_lists_of_changes(timeline, instructions.effects, memo, site_files),
    )
    sizes.write_again(name for name in site_files.recorded.owners() if name.startswith(list_owner("")))
    problems = _replace_pictures(timeline, site_files, sizes, in_full=with_pictures)
    count = sum(chain(*map(dict.values, thinned.values())))
    is_whole = not count and not problems
    site_files.bound = sum(section.size for section in sizes.sections().values()) if is_whole else None
    if count:
        problem = _too_large(limits, sizes, once, thinned)
        if not timeline.project.archive and any(thinned[REPORTS].values()):
            problem = replace(problem, fix=f"{problem.fix} sitegen build --archive has another place for full reports.")
        problems = (*problems, problem)
    return Fitted(problems, count, failures)


def _replace_pictures(timeline: Timeline, site_files: SiteFiles, sizes: Sizes, *, in_full: bool) -> tuple[Problem, ...]:
    """Replace the pictures of sources, or restore them. A problem reports how many are replaced."""
    limit = timeline.config.limits.site_bytes
    pictures = sizes.pictures()
    changed = [eval_id for eval_id, at in pictures.items() if (at.short if in_full else at.short < at.files)]
    for eval_id in changed:
        replace_pictures(timeline, site_files, eval_id, in_full=in_full)
    sizes.write_again(map(owner_of_eval, changed))
    if in_full:
        return ()
    files, size = sum(at.files for at in pictures.values()), sum(at.in_full for at in pictures.values())
    return (
        Problem.of_type(
            "left_out_pictures",
            f"With the {files:,} pictures of source pages, {_mega(size)}, the site would "
            f"be larger than the {_mega(limit)} of site_bytes. So all of them are left out.",
            "Commit smaller pictures, or raise site_bytes under [limits] where the site is not on GitHub Pages.",
            path="sitegen.toml",
        ),
    )


def divide(sorts: Pages, room: int) -> Division:
    """Choose the newest pages that fit into *room* bytes as full pages, and shorten the others.

    A quarter of the room is reserved for reports, as far as they need it; pages of fields, edits and commits fill the
    rest first. Pages are ordered by commit, then by sort, then by eval or file.
    """
    reports, others = _oldest_first(sorts, (REPORTS,)), _oldest_first(sorts, (FIELDS, EDITS, COMMITS))
    room -= SHORT * (len(reports) + len(others))
    reserved = _filled(reports, room // RESERVED)
    first = _filled(others, room - (reserved.used if reserved.full == len(reports) else room // RESERVED))
    rest = _filled(reports, room - first.used)
    certain = reserved.certain and first.certain and rest.certain
    counts = {sort: dict.fromkeys(pages, 0) for sort, pages in sorts.items()}
    for order, full in ((reports, rest.full), (others, first.full)):
        thinned = max(0, len(order) - full)
        for _, sort, name, _ in order[: _stepped(thinned, len(order)) if certain else thinned]:
            counts[sort][name] += 1
    return Division(counts, certain)


def _oldest_first(sorts: Pages, names: tuple[str, ...]) -> list[tuple[int, str, str, int | None]]:
    """Return (position, sort, eval or file, size) of the pages of these sorts, oldest first."""
    return sorted(
        (
            (position, sort, name, size)
            for sort in names
            for name, pages in sorts.get(sort, {}).items()
            for position, size in zip(pages.positions, pages.sizes, strict=True)
        ),
        key=lambda page: page[:3],
    )


def _filled(order: list[tuple[int, str, str, int | None]], room: int) -> Filled:
    """Compute how many of the newest pages fit into *room* bytes beyond the bytes of their short pages.

    If the next older page was never rendered, the mean size of the full ones estimates how many more will fit.
    """
    used = 0
    for full, (*_, size) in enumerate(reversed(order)):
        if size is None:
            more = ceil(max(0, room - used) * full / used) + 1 if used else 1
            return Filled(min(len(order), full + more), room if full else 0, certain=False)
        gain = max(0, size - SHORT)
        if used + gain > room:
            return Filled(full, used, certain=True)
        used += gain
    return Filled(len(order), used, certain=True)


def _stepped(count: int, most: int) -> int:
    """Round a count up to ``STEPS`` binary digits. Hysteresis would depend on earlier builds."""
    step = 1 << max(0, count.bit_length() - STEPS)
    return min(most, -(-count // step) * step)


def _changes(sorts: Pages, thinned: Mapping[str, Mapping[str, int]], *, certain: bool) -> dict[str, dict[str, int]]:
    """Return how many of the oldest pages have to be short, for each eval or file whose pages have to change.

    A full page stays full until the sizes are certain, because it might have to become full again.
    """
    return {
        sort: {
            name: pages.first + count if count else 0
            for name, pages in sorted(owners.items())
            for count in [thinned[sort][name] if certain else min(thinned[sort][name], sum(pages.short))]
            if not all(pages.short[:count]) or any(pages.short[count:])
        }
        for sort, owners in sorts.items()
    }


def _too_large(limits: BuildLimits, sizes: Sizes, once: int, thinned: Mapping[str, Mapping[str, int]]) -> Problem:
    sorts, sections = sizes.pages(), sizes.sections()
    size = once + sum(section.size for section in sections.values())
    of_once = {"pages that are there once": SizeGroup(size=once)}
    in_full = dict(of_once)
    for name, section in sections.items():
        if name == LISTS:
            continue
        pages = sorts.get(name) or {}
        present = sum(sum(of_owner.present) for of_owner in pages.values())
        full = sum(map(sum, _sizes_in_full(pages, _mean_and_largest(name, pages)[0]))) if pages else 0
        in_full[name] = section._replace(size=section.size - present + full)
    cause = (
        f"In full the site would have about {_mega(sum(group.size for group in in_full.values()))}, more than the "
        f"{_mega(limits.site_bytes)} of site_bytes"
    )
    counts = {sort: sum(counts.values()) for sort, counts in thinned.items() if any(counts.values())}
    named = [
        f"{_oldest_of(count, sum(len(pages.sizes) for pages in sorts[sort].values()))} full {_NOUNS[sort]}"
        for sort, count in counts.items()
    ]
    shortened = f"{', '.join(named)} became short pages without losing a number"
    fix = ""
    if size > limits.site_bytes:
        message = f"{cause}. Though {shortened}, it still has {_mega(size)}: {_listed_sizes({**of_once, **sections})}."
        fix = "Publish fewer evals"
    else:
        message = f"{cause}: {_listed_sizes(in_full)}. So {shortened}, and it has {_mega(size)}."
        if counts.keys() == {REPORTS}:
            room = limits.site_bytes - once - sizes.besides(pictures=False)
            room -= sum(map(sum, chain(*(_sizes_in_full(sorts[sort], 0) for sort in (FIELDS, EDITS, COMMITS)))))
            evals = sorts[REPORTS]
            advised = _reports_that_fit(room, _sizes_in_full(evals, _mean_and_largest(REPORTS, evals)[1]))
            fix = f"If that is fine, reports_kept = {advised} under [limits] says so: the newest of each eval stay full"
    return Problem.of_type(
        "shortened_reports",
        message,
        f"{fix}{'. Or raise' if fix else 'Raise'} site_bytes where the site is not on GitHub Pages.",
        path="sitegen.toml",
    )


def _mean_and_largest(sort: str, pages: Mapping[str, PageSizes]) -> tuple[int, int]:
    """Return the mean and the largest size of full pages; without any, an estimate or the newest report's size.

    Short pages do not count: which of them were ever rendered in full depends on earlier builds.
    """
    columns = (zip(of_owner.sizes, of_owner.short, strict=True) for _, of_owner in sorted(pages.items()))
    full = [size for size, short in chain.from_iterable(columns) if size and not short]
    if not full and sort in _ESTIMATES:
        full = [_ESTIMATES[sort]]
    if not full:
        *_, newest = sorted(pages.items(), key=lambda item: (item[1].positions[-1], item[0]))
        full = [newest[1].sizes[-1] or SHORT]
    return sum(full) // len(full), max(full)


def _sizes_in_full(pages: Mapping[str, PageSizes], otherwise: int) -> list[list[int]]:
    """Return the sizes of the pages of each eval or file, oldest first; short pages count as ``otherwise`` bytes."""
    return [
        [otherwise if short or size is None else size for size, short in zip(owner.sizes, owner.short, strict=True)]
        for owner in pages.values()
    ]


def _reports_that_fit(room: int, evals: Iterable[list[int]]) -> int:
    """Return how many of the newest full reports of each eval fit into *room* bytes."""
    newest_first = [*zip_longest(*(reversed(sizes) for sizes in evals))]
    room -= SHORT * sum(size is not None for sizes in newest_first for size in sizes)
    for count, sizes in enumerate(newest_first):
        room -= sum(max(0, size - SHORT) for size in sizes if size is not None)
        if room < 0:
            return count
    return len(newest_first)


def _oldest_of(count: int, total: int) -> str:
    return f"the {count:,} oldest of {total:,}" if count < total else f"{total:,} of {total:,}"


def _listed_sizes(sections: Mapping[str, SizeGroup]) -> str:
    """Return the sections with their sizes, the largest first, without those that round to nothing."""
    largest = sorted(sections.items(), key=lambda section: (-section[1].size, section[0]))
    texts = [(f"{name} {_mega(group.size)}", group) for name, group in largest if group.size >= _LISTED]
    return ", ".join(f"{text} ({group.files:,} files)" if group.files else text for text, group in texts)


def _mega(size: int) -> str:
    return f"{size / _MEGA:,.1f} MB" if size >= _LISTED else f"{size / 1000:,.0f} kB"
