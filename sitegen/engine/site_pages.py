"""Lists the pages and files that a site has once, with the inputs of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import merge
from itertools import groupby, islice
from operator import attrgetter
from typing import Final

from sitegen.analysis.causes import ProblemCause, count_causes
from sitegen.analysis.go_back import best_instructions
from sitegen.analysis.standing import standings
from sitegen.engine.commits import Commits
from sitegen.engine.evals import Evals
from sitegen.engine.instructions import WrittenInstructions
from sitegen.engine.summary import summary_file
from sitegen.engine.timeline import Timeline, last_paths_of_edits
from sitegen.engine.writer import digest
from sitegen.errors import RepositoryError
from sitegen.model.frozen import Frozen
from sitegen.model.named_tuple import NamedTuple
from sitegen.model.problems import Problem
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page, RawFile
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages import links
from sitegen.pages.data import search
from sitegen.pages.data.exports import badge_files, index_file, schema_files
from sitegen.pages.data.feed import feed_file
from sitegen.pages.fields import fields_page
from sitegen.pages.instructions import EditEffects, FileEdit, instructions_page
from sitegen.pages.methods import KindMetrics, methods_page
from sitegen.pages.other_pages import NO_JEKYLL, not_found_page
from sitegen.pages.overview.page import SiteCounts, overview_page
from sitegen.pages.overview.undo import undo_of
from sitegen.pages.problems import problems_page
from sitegen.pages.regressions import regressions_page
from sitegen.pages.suspect_truth import suspect_labels_page
from sitegen.scoring.kinds import BUILTIN_KINDS, scorer
from sitegen.scoring.own import own_specs

_LATEST_EDITS: Final = 6
"""Number of commits with edits of instructions that the overview lists."""


class PageMaker(NamedTuple):
    """A page, and the function that makes it."""

    path: str
    make: Callable[[], Page]
    key: str = ""
    """Digest of the inputs of a page that few commits change; the page is made if it differs. Empty: always made."""


class SitePages(Frozen):
    """All inputs of the pages and files except the problems, because rendering can add problems."""

    timeline: Timeline
    evals: Evals
    instructions: WrittenInstructions
    commits: Commits
    search_entries: int
    """Number of entries of the search log."""

    @property
    def templates(self) -> str:
        """Digest of the templates, as in ``WorkerContext``."""
        return self.timeline.context.templates

    def pages(self, problems: tuple[Problem, ...], causes: tuple[ProblemCause, ...]) -> tuple[PageMaker, ...]:
        """Every page, in the order of the navigation."""
        timeline, summaries, instructions = self.timeline, self.evals.summaries, self.instructions
        head, revision = timeline.head, timeline.project.revision
        counts = SiteCounts(
            commits=timeline.commits,
            edits=sum(len(file.edits) for file in timeline.instructions),
            raised=instructions.raised,
            lowered=instructions.lowered,
            problems=count_causes(causes),
        )
        has_worktree = timeline.project.options.worktree and timeline.project.place.root is not None
        newest, mutes = self.commits.newest, timeline.config.regressions.mute
        infos = tuple(summary.info for summary in summaries)
        added = _added_metrics(timeline, infos)

        def overview() -> Page:
            undo = undo_of(standings(summaries, mutes), timeline.instructions, self._patch)
            return overview_page(
                summaries,
                head,
                revision,
                counts,
                self._latest(),
                newest,
                self.commits.uncommitted,
                instructions.files,
                mutes,
                problems,
                undo,
                worktree=has_worktree,
            )

        return (
            PageMaker(links.overview(), overview),
            PageMaker(
                links.instructions(),
                lambda: instructions_page(
                    instructions.files,
                    _edits_by_commit(timeline, instructions),
                    best_instructions(timeline.instructions, summaries, instructions.effects),
                ),
            ),
            PageMaker(
                links.regressions(),
                lambda: regressions_page(summaries, mutes, last_paths_of_edits(timeline.instructions)),
            ),
            PageMaker(links.fields(), lambda: fields_page(summaries)),
            PageMaker(links.suspect_labels(), lambda: suspect_labels_page(summaries)),
            PageMaker(
                links.methods(),
                lambda: methods_page((*_builtin_metrics(), *added)),
                digest(self.templates, repr(added)),
            ),
            PageMaker(links.problems(), lambda: problems_page(causes, infos, head, revision)),
            PageMaker(links.not_found(), lambda: not_found_page(timeline.context.site.base_url)),
        )

    def _latest(self) -> tuple[EditEffects, ...]:
        """Return the newest commits with edits of instructions, newest first."""
        return tuple(islice(_edits_by_commit(self.timeline, self.instructions), _LATEST_EDITS))

    def _patch(self, edit: Edit) -> bytes:
        """Read the patch of an edit; nothing if this clone lacks its contents."""
        try:
            return next(self.timeline.context.open().patches([edit]))
        except RepositoryError:
            return b""

    def other_files(self, causes: tuple[ProblemCause, ...]) -> Iterator[RawFile]:
        """Yield the files for programs (index and schemas of the data, summary, feed, badges), and those for search."""
        timeline, summaries = self.timeline, self.evals.summaries
        head, site = timeline.head, timeline.context.site
        yield index_file(
            head.sha,
            timeline.project.revision,
            tuple(summary.info.id for summary in summaries),
            tuple(file.path for file in timeline.instructions),
            count_causes(causes).current,
            {summary.info.id: summary.patterns for summary in summaries if summary.patterns},
        )
        yield from schema_files()
        yield summary_file(
            site,
            head,
            summaries,
            self._latest(),
            timeline.config.regressions.mute,
        )
        yield feed_file(site, head, summaries)
        for summary in summaries:
            if not summary.deleted:
                yield from badge_files(summary)
        yield search.list_file(summaries, timeline.instructions, self.evals.fields, self.search_entries)
        for attributes in dict.fromkeys(fields for _, fields in self.evals.fields if fields):
            yield search.fields_file(attributes)
        yield NO_JEKYLL


def _builtin_metrics() -> Iterator[KindMetrics]:
    return ((kind, metrics) for kind in BUILTIN_KINDS if (metrics := scorer(kind).metrics))


def _added_metrics(timeline: Timeline, evals: tuple[EvalInfo, ...]) -> tuple[KindMetrics, ...]:
    groups = [(info.kind, own_specs(timeline.manifest.entry(info.id).settings)) for info in evals]
    return tuple(dict.fromkeys((kind, metrics) for kind, metrics in groups if metrics))


def _edits_by_commit(timeline: Timeline, instructions: WrittenInstructions) -> Iterator[EditEffects]:
    """Yield the commits with edits, newest first; lazily, because a long history has thousands."""
    position_of = attrgetter("edit.commit.position")
    newest_first = merge(*map(_newest_first, timeline.instructions), key=position_of, reverse=True)
    for position, same_commit in groupby(newest_first, key=position_of):
        edits = tuple(sorted(same_commit, key=attrgetter("edit.path")))
        yield EditEffects(edits[0].edit.commit, edits, instructions.effects.effects_of(position))


def _newest_first(file: InstructionHistory) -> Iterator[FileEdit]:
    return (FileEdit(edit, file.path) for edit in reversed(file.edits))
