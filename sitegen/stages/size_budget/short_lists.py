"""Writes the lists to which short pages lead, once it is decided which pages are short.

A list is made of what the memo has. Its key is that of its short pages, so that it stays as it is until one of them
changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from sitegen.analysis.effects import EffectIndex
from sitegen.analysis.memo import Memo, PageRow
from sitegen.model.problems import Problem
from sitegen.model.site import Page
from sitegen.model.timeline import InstructionHistory
from sitegen.pages import links
from sitegen.pages.edit.effects import effects_view
from sitegen.pages.short_lists import ChangeRow, edit_row, list_of_commits, list_of_edits, list_of_reports
from sitegen.pages.short_pages import number_of_list
from sitegen.render.writer import digest
from sitegen.scoring.kinds import scorer, series_specs
from sitegen.scoring.usage import specs_with_usage
from sitegen.stages.cached_kinds import COMMIT_ROWS, id_of_commit_row
from sitegen.stages.commits import OWNER as COMMITS_OWNER
from sitegen.stages.eval_task import owner as owner_of_eval
from sitegen.stages.evals import Evals, eval_history
from sitegen.stages.failures import attempt
from sitegen.stages.instruction_task import owner as owner_of_file
from sitegen.stages.instructions import counts_of_edits, edit_effects
from sitegen.stages.scorecard_store import EvalScorecards, pins_of, under_pins
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.size_budget.thinning import first_full, list_owner
from sitegen.stages.timeline import Timeline

PlaceT = TypeVar("PlaceT")
"""The identity of a page in a list: the index in the series or in the file, or the key of a commit's row."""


def write_lists_of_reports(timeline: Timeline, evals: Evals, memo: Memo, site_files: SiteFiles) -> tuple[Problem, ...]:
    """Write the lists of the evals of this build. Returns a problem for each eval whose lists could not be made."""
    failures: list[Problem | None] = []
    for summary in evals.summaries:
        eval_id, owner = summary.info.id, owner_of_eval(summary.info.id)
        if site_files.recorded.is_whole(owner):
            rows = {row.path: row for row in site_files.recorded.of(owner)}
            passed = first_full(len(summary.headlines), timeline.config.limits.reports_kept)
            lists = _lists_of_series([rows.get(links.report(eval_id, at.slug)) for at in summary.headlines], passed)
            make = partial(_write_reports, timeline, memo, site_files, eval_id, lists)
            failures.append(attempt("the lists of short reports of this eval", make, eval_id=eval_id))
    return tuple(filter(None, failures))


def write_lists_of_changes(
    timeline: Timeline, effects: EffectIndex, memo: Memo, site_files: SiteFiles
) -> tuple[Problem, ...]:
    """Write the lists of edits and commits. Returns a problem for each part whose lists could not be made."""
    failures: list[Problem | None] = []
    for file in timeline.instructions:
        if site_files.recorded.is_whole(owner_of_file(file.path)):
            make = partial(_write_edits, timeline, effects, memo, site_files, file)
            failures.append(attempt("the lists of short edits of this instruction file", make, path=file.path))
    failures.append(attempt("the lists of short commits", partial(_write_commits, timeline, memo, site_files)))
    return tuple(filter(None, failures))


def _lists_of_series(pages: Sequence[PageRow | None], passed: int) -> dict[int, dict[int, PageRow]]:
    """Return the short pages of each list, by the number of the list and the index of the page.

    ``pages``: oldest first; None for a page that could not be made; ``passed``: number of pages that are short by
    ``limits.reports_kept``.
    """
    lists: defaultdict[int, dict[int, PageRow]] = defaultdict(dict)
    for index, page in enumerate(pages):
        if page and (page.full or index < passed):
            lists[number_of_list(index)][index] = page
    return lists


def _write(
    timeline: Timeline,
    site_files: SiteFiles,
    owner: str,
    lists: Mapping[int, Mapping[PlaceT, PageRow]],
    make: Callable[[int, Sequence[PlaceT]], Page],
    *,
    address: Callable[[int], str],
    staying: Iterable[PageRow] = (),
) -> None:
    """Write the lists that are out of date. No others remain, except ``staying``.

    ``lists``: the short pages of each list; ``make``: makes a list from its number and the places of these pages.
    """
    name = list_owner(owner)
    writer, renderer = site_files.writer(name), timeline.context.renderer()
    for number, pages in lists.items():
        path, key = address(number), digest(timeline.context.templates, *(page.key for page in pages.values()))
        if not writer.is_fresh(name, path, key):
            writer.write(name, path, renderer.render(make(number, tuple(pages))), key)
    files = writer.files
    site_files.replace(name, replace(files, rows=(*staying, *files.rows)))


def _write_reports(
    timeline: Timeline, memo: Memo, site_files: SiteFiles, eval_id: str, lists: Mapping[int, Mapping[int, PageRow]]
) -> None:
    history = under_pins(eval_history(timeline, memo, eval_id), pins_of(timeline, memo)) if lists else None

    def make(number: int, indices: Sequence[int]) -> Page:
        assert history
        info = timeline.info(history)
        snapshots = [history.snapshots[index] for index in indices]
        scored = EvalScorecards(timeline.context_for(eval_id), history, memo)
        scored.fill(snapshots)
        cards = [scored[at] for at in snapshots]
        specs = series_specs(scorer(info.kind), (at.settings for at in snapshots), cards)
        return list_of_reports(info, number, specs_with_usage(specs, cards), snapshots, cards)

    _write(timeline, site_files, owner_of_eval(eval_id), lists, make, address=partial(links.short_reports, eval_id))


def _write_edits(
    timeline: Timeline, effects: EffectIndex, memo: Memo, site_files: SiteFiles, file: InstructionHistory
) -> None:
    owner = owner_of_file(file.path)
    rows = {row.path: row for row in site_files.recorded.of(owner)}
    lists = _lists_of_series([rows.get(links.edit(file.path, edit.commit.sha)) for edit in file.edits], 0)
    counts = counts_of_edits(memo, file, timeline.context, ()) if lists else ()

    def row(index: int) -> ChangeRow:
        of_edit = edit_effects(memo, effects, file.edits[index].commit.position, file.path)
        return edit_row(file, index, effects_view(of_edit).rows, counts[index])

    def make(number: int, indices: Sequence[int]) -> Page:
        return list_of_edits(file, number, [row(index) for index in indices])

    _write(timeline, site_files, owner, lists, make, address=partial(links.short_edits, file.path))


def _write_commits(timeline: Timeline, memo: Memo, site_files: SiteFiles) -> None:
    """Write the lists of commits. Unless all pages of commits were recorded, only lists with a recorded page change."""
    recorded = {row.path: row for row in site_files.recorded.of(COMMITS_OWNER)}
    whole = site_files.recorded.is_whole(COMMITS_OWNER)
    keys: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for key in memo.keys(COMMIT_ROWS.name):
        at = id_of_commit_row(key)
        keys[number_of_list(at.position)][key] = links.commit(at.sha)
    changing = {number for number, paths in keys.items() if whole or not recorded.keys().isdisjoint(paths.values())}
    lists: dict[int, dict[str, PageRow]] = {}
    for number in sorted(changing):
        paths = keys[number]
        earlier = () if whole else memo.pages_at(timeline.project.site, COMMITS_OWNER, paths.values())
        rows = {row.path: row for row in earlier}
        candidates = ((key, recorded.get(path) or rows.get(path)) for key, path in paths.items())
        pages = {key: page for key, page in candidates if page and page.full}
        if pages:
            lists[number] = pages
    addresses = set(map(links.short_commits, changing))
    lists_before = () if whole else site_files.present_files(list_owner(COMMITS_OWNER))
    older = dict(zip(sorted(keys)[1:], sorted(keys), strict=False))

    def make(number: int, places: Sequence[str]) -> Page:
        rows = [row for key in places if (row := COMMIT_ROWS.get(memo, key))]
        return list_of_commits(number, rows, older.get(number))

    staying = [row for row in lists_before if row.path not in addresses]
    _write(timeline, site_files, COMMITS_OWNER, lists, make, address=links.short_commits, staying=staying)
