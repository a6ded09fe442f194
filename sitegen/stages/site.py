"""Last stage: the pages and files that are there once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from heapq import merge
from itertools import groupby, islice
from typing import Final, NamedTuple, Self, TypeAlias

from sitegen.analysis.memo import Memo
from sitegen.model.metrics import MetricSpec
from sitegen.model.problems import Problem
from sitegen.model.site import Page, RawFile
from sitegen.model.timeline import InstructionHistory
from sitegen.pages import links, search
from sitegen.pages.instruction_overview import InstructionOverview, instruction_overview
from sitegen.pages.instructions import FileRecord, instructions_page
from sitegen.pages.methods import methods_page
from sitegen.pages.overview import EditEffects, FileEdit, SiteCounts, Worktree, overview_page
from sitegen.pages.placeholders import NO_JEKYLL, failed_page, not_found_page
from sitegen.pages.problems import problems_page
from sitegen.pages.regressions import regressions_page
from sitegen.render.environment import Renderer
from sitegen.scoring.kinds import SCORERS, scorer
from sitegen.scoring.own import installed_versions, own_specs
from sitegen.stages.commits import Commits
from sitegen.stages.engine import Pool
from sitegen.stages.evals import Evals
from sitegen.stages.failures import attempt
from sitegen.stages.for_machines import machine_files
from sitegen.stages.instructions import WrittenInstructions, counts_of_edits
from sitegen.stages.search import write_search_log
from sitegen.stages.site_files import Ledger, Site
from sitegen.stages.size_budget.budget import fit
from sitegen.stages.timeline import Timeline
from sitegen.stages.unmatched import unmatched, unmatched_redactions
from sitegen.text.patch import PatchCounts

OWNER: Final = "site"
LATEST_EDITS: Final = 6
"""Commits on the overview that edited instructions."""

_Making: TypeAlias = tuple[str, Callable[[], Page]]
"""The address of a page, and what makes it."""


class _Once(NamedTuple):
    """The files that are there once."""

    files: tuple[RawFile, ...]
    failures: tuple[Problem, ...]
    """The parts that could not be made."""


class _Alone(NamedTuple):
    """Instruction files of a project that has no evals: what each of their edits added and removed."""

    files: tuple[FileRecord, ...]
    counts: dict[tuple[str, str], PatchCounts | None]
    """By file and commit."""

    @classmethod
    def of(cls, timeline: Timeline, instructions: WrittenInstructions, memo: Memo) -> Self:
        """As the stage of the instructions kept it."""
        failed = {problem.path or "" for problem in instructions.failures}
        counts = {
            (record.history.path, edit.commit.sha): counts
            for record in instructions.files
            for edit, counts in zip(
                record.history.edits, counts_of_edits(memo, record.history, timeline.shop, failed), strict=True
            )
        }
        return cls(instructions.files, counts)

    def overview(self) -> InstructionOverview:
        """All of them together."""
        newest = {file.history.path: file.history.edits[-1].commit.sha for file in self.files}
        return instruction_overview(self.files, {path: self.counts.get((path, sha)) for path, sha in newest.items()})

    def with_counts(self, latest: tuple[EditEffects, ...]) -> tuple[EditEffects, ...]:
        """Commits, each of their edits with what it added and removed."""
        return tuple(
            one._replace(
                edits=tuple(each._replace(counts=self.counts.get((each.file, one.commit.sha))) for each in one.edits)
            )
            for one in latest
        )


def write_site(
    timeline: Timeline,
    evals: Evals,
    instructions: WrittenInstructions,
    commits: Commits,
    memo: Memo,
    ledger: Ledger,
    pool: Pool,
) -> Site:
    """Write what belongs to the site as a whole, and say what it holds. ``pool``: for old reports to make room."""
    failures = (*evals.failures, *instructions.failures, *commits.failures)
    problems = (*failures, *_of_history(timeline), *unmatched(timeline, evals), *evals.problems)
    entries = write_search_log(timeline, evals, memo, ledger)
    renderer = timeline.shop.renderer()
    latest = tuple(islice(_edits(timeline, instructions), LATEST_EDITS))
    alone = None if evals.summaries else _Alone.of(timeline, instructions, memo)
    if alone:
        latest = alone.with_counts(latest)

    def files(problems: tuple[Problem, ...]) -> _Once:
        pages = _pages(timeline, evals, instructions, latest, problems, commits, alone)
        others = partial(_files, timeline, evals, latest, entries, len(problems))
        return _once(renderer, pages, others)

    once = files(problems)
    fitted = fit(timeline, evals, memo, ledger, pool, OWNER, sum(len(file.content) for file in once.files))
    failures += (*once.failures, *fitted.failures)
    if more := (*once.failures, *fitted.failures, *fitted.problems):
        problems += more
        once = files(problems)
    writer = ledger.writer(OWNER)
    for file in once.files:
        writer.write(OWNER, file.path, file.content)
    ledger.record(OWNER, writer.rows, writer.written, writer.kept)
    severities = [problem.severity for problem in problems if not problem.past]
    return Site(
        page=str(timeline.project.out / links.overview()),
        head=timeline.head.sha,
        commits=timeline.commits,
        evals=len(evals.summaries),
        iterations=sum(len(summary.headlines) for summary in evals.summaries),
        errors=severities.count("error"),
        warnings=severities.count("warning"),
        notes=severities.count("note"),
        past=len(problems) - len(severities),
        thinned=fitted.thinned,
        failed=len(failures) + evals.lost_outputs,
        unmatched_redactions=tuple(glob for glob, _ in unmatched_redactions(timeline, evals)),
        extensions=installed_versions(timeline.manifest.evals),
    )


def _once(renderer: Renderer, pages: Iterable[_Making], others: Callable[[], tuple[RawFile, ...]]) -> _Once:
    """Every page, or one in its place that says why there is none; the other files all or not at all."""
    files, failures = list(renderer.assets()), []
    for path, make in pages:
        content = attempt(f"the page {path}", partial(_rendered, renderer, make))
        if isinstance(content, Problem):
            failures.append(content)
            content = renderer.render(failed_page(path, content))
        files.append(RawFile(path, content))
    found = attempt("the files for machines and for search", others)
    if isinstance(found, Problem):
        failures.append(found)
    else:
        files += found
    return _Once(tuple(files), tuple(failures))


def _rendered(renderer: Renderer, make: Callable[[], Page]) -> bytes:
    return renderer.render(make())


def _of_history(timeline: Timeline) -> tuple[Problem, ...]:
    """Problems of the walk. Of a manifest they are past: the one that is built by was read, or there were no site."""
    manifest = f"{timeline.config.evals_dir}/manifest.yaml"
    return tuple(
        problem._replace(past=problem.path == manifest and problem.commit != timeline.head.sha)
        for problem in timeline.problems
    )


def _pages(
    timeline: Timeline,
    evals: Evals,
    instructions: WrittenInstructions,
    latest: tuple[EditEffects, ...],
    problems: tuple[Problem, ...],
    commits: Commits,
    alone: _Alone | None,
) -> tuple[_Making, ...]:
    """Every page that is there once, in the order of the navigation."""
    head, revision = timeline.head, timeline.project.revision
    counts = SiteCounts(
        commits=timeline.commits,
        edits=sum(len(file.edits) for file in timeline.instructions),
        raised=instructions.raised,
        lowered=instructions.lowered,
        problems=len(problems),
    )
    has_worktree = timeline.project.options.worktree and timeline.project.found.root is not None
    worktree = Worktree(commits.uncommitted) if has_worktree else None
    summaries, mutes = evals.summaries, timeline.config.regressions.mute
    infos = tuple(summary.info for summary in summaries)
    metrics = _explained_metrics(timeline)
    newest = commits.newest
    summed = alone.overview() if alone else None
    return (
        (links.overview(), lambda: overview_page(summaries, head, revision, counts, latest, newest, worktree, summed)),
        (links.instructions(), lambda: instructions_page(instructions.files, _edits(timeline, instructions))),
        (links.regressions(), lambda: regressions_page(summaries, mutes, _moved(timeline))),
        (links.methods(), lambda: methods_page(metrics)),
        (links.problems(), lambda: problems_page(problems, infos, head, revision)),
        (links.not_found(), lambda: not_found_page(timeline.shop.site.base_url)),
    )


def _explained_metrics(timeline: Timeline) -> tuple[tuple[str, tuple[MetricSpec, ...]], ...]:
    """The metrics of every kind of ours, then those of installed packages that evals of this site have."""
    histories = [each.history for each in timeline.update.evals if each.history.snapshots]
    installed = sorted({history.kind for history in histories} - {each.kind for each in SCORERS})
    kinds = ((each.kind, each.metrics) for each in (*SCORERS, *map(scorer, installed)) if each.metrics)
    own = ((history.kind, own_specs(history.snapshots[-1].settings)) for history in histories)
    return (*kinds, *dict.fromkeys(each for each in own if each[1]))


def _moved(timeline: Timeline) -> dict[tuple[str, str], str]:
    """Path and commit of the edits of files that were moved since -> the file's last path."""
    return {
        (edit.path, edit.commit.sha): file.path
        for file in timeline.instructions
        for edit in file.edits
        if edit.path != file.path
    }


def _edits(timeline: Timeline, instructions: WrittenInstructions) -> Iterator[EditEffects]:
    """The commits with edits, newest first; as many as are asked for, for a long history has thousands."""
    newest_first = merge(*map(_backwards, timeline.instructions), key=_position, reverse=True)
    for position, found in groupby(newest_first, key=_position):
        edits = tuple(sorted(found, key=_edited_path))
        yield EditEffects(edits[0].edit.commit, edits, instructions.effects.around(position))


def _backwards(file: InstructionHistory) -> Iterator[FileEdit]:
    return (FileEdit(edit, file.path) for edit in reversed(file.edits))


def _position(one: FileEdit) -> int:
    return one.edit.commit.position


def _edited_path(one: FileEdit) -> str:
    return one.edit.path


def _files(
    timeline: Timeline, evals: Evals, latest: tuple[EditEffects, ...], entries: int, problems: int
) -> tuple[RawFile, ...]:
    """Data and search. ``entries``: how many the search log has."""
    files = tuple((file.path, file.deleted) for file in timeline.instructions)
    fields = tuple(search.SearchFields(eval_id, attributes) for eval_id, attributes in evals.attributes)
    return (
        *machine_files(timeline, evals, latest, problems),
        search.list_file(evals.summaries, files, fields, entries),
        *(search.fields_file(names) for names in dict.fromkeys(one.attributes for one in fields if one.attributes)),
        NO_JEKYLL,
    )
