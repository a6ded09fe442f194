"""Keeps a site within its size limit: short pages replace the oldest full reports, and no number is lost.

Before any report, the pictures of source pages make room: all of them, if reports and pictures do not fit together.

The newest reports over all evals that fit beside everything else stay full. This depends on their sizes alone, so
older reports need not be rendered; it never depends on what an earlier build left or on estimates. Most builds need
not add up every file, because an upper bound is stored: the last sum of all files, and every file recorded since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, zip_longest
from math import ceil
from operator import itemgetter
from typing import Final, NamedTuple

from sitegen.analysis.memo import Memo
from sitegen.config import BuildLimits
from sitegen.model.problems import Problem
from sitegen.stages.engine import Pool
from sitegen.stages.evals import Evals, write_again
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.size_budget.pictures import replace_pictures
from sitegen.stages.size_budget.sizes import REPORTS, ReportSizes, Sizes
from sitegen.stages.size_budget.thinning import SHORT
from sitegen.stages.timeline import Timeline

STEPS: Final = 8
"""Binary digits to which the number of short reports is rounded up, so that few commits change it."""
_MEGA: Final = 1_000_000


class Fitted(NamedTuple):
    """The result of fitting a site into its limit."""

    problems: tuple[Problem, ...] = ()
    thinned: int = 0
    """Number of shortened reports."""
    failures: tuple[Problem, ...] = ()
    """One for each eval whose reports could not be made again."""


class Division(NamedTuple):
    """Which reports are shortened."""

    thinned: dict[str, int]
    """How many of the oldest reports of each eval, by its id."""
    certain: bool = True
    """Whether sizes of rendered reports decide it; otherwise some reports have to be rendered and measured."""


def fit(
    timeline: Timeline, evals: Evals, memo: Memo, site_files: SiteFiles, pool: Pool, owner: str, once: int
) -> Fitted:
    """Replace as many of the oldest reports by short pages as the limit requires, and no others.

    ``owner``: the owner of the files that a site has once, which are not written yet; ``once``: their bytes.
    """
    limits = timeline.config.limits
    if _surely_fits(timeline, site_files, once):
        memo.forget_sizes(timeline.project.site)
        return Fitted()
    sizes = Sizes(timeline, evals, memo, site_files, owner)
    failures: tuple[Problem, ...] = ()
    certain, with_pictures = False, True
    while not certain and not failures:
        thinned, certain = divide(sizes.reports(), limits.site_bytes - once - sizes.besides(pictures=with_pictures))
        if certain and with_pictures and sizes.pictures() and any(thinned.values()):
            certain = with_pictures = False
            continue
        pictures, changes = sizes.pictures(), _changes(sizes.reports(), thinned)
        failures = write_again(timeline, memo, site_files, pool, changes)
        sizes.write_again(changes)
        # A report that is full again can bring pictures that were not counted.
        certain = certain and (not with_pictures or sizes.pictures() == pictures)
    problems = _replace_pictures(timeline, site_files, sizes, in_full=with_pictures)
    count = sum(thinned.values())
    is_whole = not count and not problems
    site_files.bound = sum(section.size for section in sizes.sections().values()) if is_whole else None
    if count:
        problems = (*problems, _too_large(limits, sizes, once, count))
    return Fitted(problems, count, failures)


def _replace_pictures(timeline: Timeline, site_files: SiteFiles, sizes: Sizes, *, in_full: bool) -> tuple[Problem, ...]:
    """Replace the pictures of sources, or take them back. A problem says how many are replaced."""
    limit = timeline.config.limits.site_bytes
    pictures = sizes.pictures()
    changed = [eval_id for eval_id, at in pictures.items() if (at.short if in_full else at.short < at.files)]
    for eval_id in changed:
        replace_pictures(timeline, site_files, eval_id, in_full=in_full)
    sizes.write_again(changed)
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


def divide(evals: Mapping[str, ReportSizes], room: int) -> Division:
    """Let the newest reports that fit into *room* bytes be full, and shorten the others.

    Reports are ordered by commit, then by eval, then by point. If the next older report was never rendered, the mean
    size of the full ones estimates how many more will fit.
    """
    order = [
        (position, eval_id, size)
        for eval_id, reports in sorted(evals.items())
        for position, size in zip(reports.positions, reports.sizes, strict=True)
    ]
    order.sort(key=itemgetter(0))
    left = room - SHORT * len(order)
    full, gained, certain = 0, 0, True
    for _, _, size in reversed(order):
        if size is None:
            certain = False
            full += ceil(max(0, left) * full / gained) + 1 if gained else 1
            break
        gained += max(0, size - SHORT)
        left -= max(0, size - SHORT)
        if left < 0:
            break
        full += 1
    thinned = max(0, len(order) - full)
    counts = dict.fromkeys(evals, 0)
    for _, eval_id, _ in order[: _stepped(thinned, len(order)) if certain else thinned]:
        counts[eval_id] += 1
    return Division(counts, certain)


def _stepped(count: int, most: int) -> int:
    """The count rounded up to ``STEPS`` binary digits. Hysteresis would depend on earlier builds."""
    step = 1 << max(0, count.bit_length() - STEPS)
    return min(most, -(-count // step) * step)


def _surely_fits(timeline: Timeline, site_files: SiteFiles, once: int) -> bool:
    """Whether all reports are full and the upper bound is within the limit."""
    complete = timeline.update.complete
    earlier = 0 if complete else site_files.bound
    if earlier is None or any(row.full for row in site_files.recorded()):
        return False
    site_files.bound = earlier + sum(row.size for row in site_files.recorded())
    return site_files.bound + once <= timeline.config.limits.site_bytes


def _changes(evals: Mapping[str, ReportSizes], thinned: Mapping[str, int]) -> dict[str, int]:
    """How many of the oldest points are to be short, for each eval whose reports are not as they should be."""
    return {
        eval_id: reports.first + count if count else 0
        for eval_id, reports in sorted(evals.items())
        if not all(reports.short[: (count := thinned[eval_id])]) or any(reports.short[count:])
    }


def _too_large(limits: BuildLimits, sizes: Sizes, once: int, thinned: int) -> Problem:
    evals, sections = sizes.reports(), sizes.sections()
    size = once + sum(section.size for section in sections.values())
    mean, largest = _mean_and_largest(evals)
    standing = sum(sum(reports.standing) for reports in evals.values())
    reports = sections[REPORTS]
    shares = [(section.size, name, section.files) for name, section in sections.items() if name != REPORTS]
    in_full = sum(map(sum, _sizes_in_full(evals, mean)))
    shares.append((reports.size - standing + in_full, REPORTS, reports.files))
    shares.append((once, "pages that are there once", 0))
    shares.sort(key=lambda share: (-share[0], share[1]))
    listed = ", ".join(f"{name} {_mega(share)}{_file_count(files)}" for share, name, files in shares)
    cause = (
        f"In full the site would have about {_mega(sum(share for share, _, _ in shares))}, more than the "
        f"{_mega(limits.site_bytes)} of site_bytes: {listed}."
    )
    count = sum(len(sizes_of_eval.sizes) for sizes_of_eval in evals.values())
    shortened = f"the {thinned:,} oldest of {count:,} full reports became short pages without losing a number"
    if size > limits.site_bytes:
        outcome = f"Though {shortened}, it has {_mega(size)}."
        fix = "Publish fewer evals"
    else:
        outcome = f"So {shortened}, and it has {_mega(size)}."
        room = limits.site_bytes - once - sizes.besides(pictures=False)
        advised = _reports_that_fit(room, _sizes_in_full(evals, largest))
        fix = f"If that is fine, reports_kept = {advised} under [limits] says so: the newest of each eval stay full"
    return Problem.of_type(
        "shortened_reports",
        f"{cause} {outcome}",
        f"{fix}. Or raise site_bytes where the site is not on GitHub Pages.",
        path="sitegen.toml",
    )


def _mean_and_largest(evals: Mapping[str, ReportSizes]) -> tuple[int, int]:
    """Mean and largest size of the full reports; without any, the size of the newest one, which was always rendered.

    Short ones do not count: which of them were ever rendered depends on earlier builds.
    """
    columns = (zip(reports.sizes, reports.short, strict=True) for _, reports in sorted(evals.items()))
    full = [size for size, short in chain.from_iterable(columns) if size and not short]
    if not full:
        *_, newest = sorted(evals.items(), key=lambda item: (item[1].positions[-1], item[0]))
        full = [newest[1].sizes[-1] or SHORT]
    return sum(full) // len(full), max(full)


def _sizes_in_full(evals: Mapping[str, ReportSizes], otherwise: int) -> list[list[int]]:
    """The sizes of the reports of each eval, oldest first; short ones count as ``otherwise`` bytes."""
    return [
        [otherwise if short or size is None else size for size, short in zip(reports.sizes, reports.short, strict=True)]
        for reports in evals.values()
    ]


def _reports_that_fit(room: int, evals: Iterable[list[int]]) -> int:
    """How many of the newest full reports of each eval fit into *room* bytes."""
    newest_first = [*zip_longest(*(reversed(sizes) for sizes in evals))]
    room -= SHORT * sum(size is not None for sizes in newest_first for size in sizes)
    for count, sizes in enumerate(newest_first):
        room -= sum(max(0, size - SHORT) for size in sizes if size is not None)
        if room < 0:
            return count
    return len(newest_first)


def _file_count(count: int) -> str:
    return f" ({count:,} files)" if count else ""


def _mega(size: int) -> str:
    return f"{size / _MEGA:,.1f} MB"
