"""Writes the pages and files that a site has once: the overview and what else all pages lead to."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import chain, count, groupby, starmap, takewhile
from posixpath import dirname
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.causes import causes_of, count_causes
from sitegen.analysis.standing import standings
from sitegen.config.site import located
from sitegen.data_files.project_files import SITE_FILES
from sitegen.data_files.yaml_reader import read_configuring_yaml
from sitegen.engine.built_site import Site
from sitegen.engine.commits import write_search_log
from sitegen.engine.eval_pages import PagesTask
from sitegen.engine.evals import Evals, addresses
from sitegen.engine.failures import attempt
from sitegen.engine.instructions import WrittenInstructions, addresses_of
from sitegen.engine.summary import summary_file
from sitegen.engine.timeline import last_paths_of_edits
from sitegen.engine.unmatched import unmatched, unmatched_redactions
from sitegen.engine.writer import digest_of_inputs
from sitegen.errors import POINTER, RepositoryError
from sitegen.history.files_at_commit import FilesAt
from sitegen.history.patches import read_patches
from sitegen.history.repository import MISSING
from sitegen.model.commits import WORKTREE
from sitegen.model.problems import Problem
from sitegen.model.series import EvalSummary
from sitegen.model.site import Page, RawFile
from sitegen.model.timeline import Edit
from sitegen.pages import links, other_pages
from sitegen.pages.commit import COMMITS, CommitView, older_than_page
from sitegen.pages.data import search
from sitegen.pages.data.exports import badge_files, index_file, schema_files
from sitegen.pages.data.feed import feed_file
from sitegen.pages.field import ANSWERED, fields_page
from sitegen.pages.instructions import EditEffects, edits_by_commit, instructions_page
from sitegen.pages.labels import own_unit, signed, split, verdict_word
from sitegen.pages.overview.news import undo_of
from sitegen.pages.overview.page import OverviewView, SiteCounts
from sitegen.pages.regressions import regressions_page
from sitegen.pages.suspect_truth import suspect_labels_page
from sitegen.scoring.kinds import BUILTIN_KINDS, installed_versions, own_specs, scorer
from sitegen.text.keys import key_path
from sitegen.text.plain import counted, line
from sitegen.text.values import metric_text

_NOTES: Final = 5  # the most lines of the terminal that say what may be an eval and was not taken for one
_LATEST_EDITS: Final = 6  # number of commits with edits of instructions that the overview lists
OWNER: Final = "site"
SHORT_REPORT: Final = 3_000
"""Bytes that a short report takes at most, unless its commit or its eval has an extraordinary name."""
_CASE: Final = 7_000  # bytes of the page of a case without what was asked and answered


class SiteWriter:
    """Writes these pages before all others and, at the end of a build, those that show more by then."""

    def __init__(self, evals: Evals, expected: WrittenInstructions) -> None:
        """``expected``: what is known of the instruction files before their pages are written."""
        self._build = build = evals.build
        self._timeline = build.timeline
        self._evals = evals
        self._instructions = expected
        self._uncommitted: CommitView | None = None
        self._renderer = build.timeline.context.renderer()
        self._writer = build.files.writer(OWNER)
        self._search_entries = write_search_log(evals)
        self._problems = self._problems_of(evals.failures)
        self._causes = causes_of(self._problems)
        self._is_complete = bool(evals.summaries) and not build.timeline.project.options.worktree
        """Whether everything that the overview shows is known at first. If not: sizes of edits, which it shows without
        evals, or the page of uncommitted changes."""
        manifest, infos = build.timeline.manifest, [summary.info for summary in evals.summaries]
        groups = [(info.kind, own_specs(manifest.entry(info.id).settings)) for info in infos]
        self._added: tuple[other_pages.KindMetrics, ...] = tuple(dict.fromkeys(group for group in groups if group[1]))
        self._kinds = tuple(kind for kind in BUILTIN_KINDS if kind in {info.kind for info in infos} or not infos)
        inputs = {"look": build.timeline.context.look, "kinds": self._kinds, "added_metrics": self._added}
        self._keys = {links.methods(): digest_of_inputs("site", "methods", **inputs)}
        """Digests of the inputs of pages that stay while these do: this one needs the scorers of its kinds."""
        self._failures: tuple[Problem, ...] = ()

    def write_first(self, later: Iterable[PagesTask]) -> str | None:
        """Write files that link to nothing, then placeholders for all pages that are not there, then these pages.

        ``later``: the pages of the scored evals. Whenever a build is stopped, every link of a page that is there leads
        somewhere. Returns the path of the overview, if it shows everything already.
        """
        makers = self.pages()
        self._failures = self._write_other_files()
        navigation = (*makers, links.commits())
        placeholder = cache(
            lambda root: self._renderer.render(Page(links.not_found(), "pages/not_found.html", (root, True)))
        )
        for root, of_root in groupby(chain(navigation, self._later_pages(later)), key=links.up):
            self._build.files.reserve(of_root, partial(placeholder, root))
        if not self._is_complete:
            return None
        del makers[links.instructions()]
        self._failures += self._write_pages(makers)
        return str(self._timeline.project.out / links.overview())

    def finish(
        self, instructions: WrittenInstructions, uncommitted: CommitView | None, failures: Iterable[Problem]
    ) -> Site:
        """Write the list of instruction files, and all of these pages again if a part of the site failed since.

        ``uncommitted``: the view of the page of uncommitted changes. ``failures``: those at pages of commits, then at
        pages of evals that were scored.
        """
        self._instructions, self._uncommitted = instructions, uncommitted
        failures = (*self._evals.failures, *instructions.failures, *failures)
        problems = (*self._problems_of(failures), *self._unread_instructions())
        if self._is_complete and problems == self._problems:
            self._failures += self._write_pages({links.instructions(): self.pages()[links.instructions()]})
        else:
            self._failures = self._write_all(problems)
        if more := (*self._failures, *self._too_large()):
            self._write_all((*problems, *more))  # pages that list or count problems show these, too
        self._build.files.record(OWNER, self._writer.files)
        return self._outcome((*failures, *self._failures))

    def pages(self) -> dict[str, Callable[[], Page]]:
        """Return what makes every page, by its path, in the order of the navigation."""
        timeline, summaries, instructions = self._timeline, self._evals.summaries, self._instructions
        head, revision = timeline.head, timeline.project.revision
        counts = SiteCounts(
            commits=head.position + (head.sha != WORKTREE),  # uncommitted files are none
            edits=sum(len(file.edits) for file in timeline.instructions),
            better=instructions.better,
            worse=instructions.worse,
            problems=count_causes(self._causes),
        )
        mutes = timeline.config.regressions.mute
        infos = tuple(summary.info for summary in summaries)

        def overview() -> Page:
            evals = standings(summaries, mutes)
            return OverviewView(
                summaries=summaries,
                evals=evals,
                head=head,
                revision=revision,
                counts=counts,
                latest=self._edits[:_LATEST_EDITS],
                newest=timeline.records[-1].commit.sha if timeline.records else None,
                uncommitted=self._uncommitted,
                score_changes=other_pages.score_changes(self._problems),
                files=instructions.files,
                undo=undo_of(evals, timeline.instructions, instructions.effects, self._patches),
                worktree=timeline.project.options.worktree and timeline.project.place.root is not None,
                instructions=timeline.instructions,
            ).page

        return {
            links.overview(): overview,
            links.instructions(): lambda: instructions_page(
                instructions.files, self._edits, instructions.effects.best_instructions(timeline.instructions)
            ),
            links.regressions(): lambda: regressions_page(summaries, mutes, last_paths_of_edits(timeline.instructions)),
            links.fields(): lambda: fields_page(summaries, self._edits),
            links.suspect_labels(): lambda: suspect_labels_page(summaries),
            links.methods(): lambda: other_pages.methods_page(
                (*((kind, scorer(kind).metrics) for kind in self._kinds), *self._added)
            ),
            links.problems(): lambda: other_pages.problems_page(self._causes, infos, head, revision),
            links.not_found(): lambda: other_pages.not_found_page(timeline.context.site.base_url),
        }

    @cached_property
    def _edits(self) -> tuple[EditEffects, ...]:
        edits, by_edit = edits_by_commit(self._timeline.instructions), self._instructions.effects.by_edit
        return tuple(EditEffects(of, tuple(by_edit.get(position, ()))) for position, of in reversed(edits.items()))

    def _patches(self, edits: Sequence[Edit]) -> list[bytes]:
        try:
            return list(read_patches(self._timeline.context.open(), edits, self._timeline.context.instructions))
        except RepositoryError:
            return [b""] * len(edits)

    def other_files(self) -> Iterator[RawFile]:
        """Yield the files for programs (index and schemas of the data, summary, feed, badges), and those for search."""
        timeline, summaries = self._timeline, self._evals.summaries
        head, site = timeline.head, timeline.context.site
        latest = self._edits[:_LATEST_EDITS]
        yield index_file(
            head.sha,
            timeline.project.revision,
            summaries,
            tuple(file.path for file in timeline.instructions),
            count_causes(self._causes).current,
        )
        yield from schema_files()
        yield summary_file(site, head, summaries, latest, timeline.instructions, timeline.config.regressions.mute)
        yield feed_file(site, head, summaries)
        yield from chain.from_iterable(badge_files(summary) for summary in summaries if not summary.deleted)
        fields = [(eval_id, record.attributes, record.cases) for eval_id, record in self._evals.records.items()]
        yield search.list_file(summaries, timeline.instructions, fields, self._search_entries)
        named = (names for _, *both in fields for names in both)
        yield from map(search.fields_file, dict.fromkeys(filter(None, named)))
        yield other_pages.NO_JEKYLL

    def _write_all(self, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
        self._problems, self._causes = problems, causes_of(problems)
        return (*self._write_other_files(), *self._write_pages(self.pages()))

    def _write_other_files(self) -> tuple[Problem, ...]:
        """Write styles, scripts and pictures, and all files for programs or none. Returns a problem if these fail."""
        key = digest_of_inputs("site", "assets", look=self._timeline.context.look)
        if not self._writer.are_fresh(links.asset("app.css"), key):
            for asset in self._renderer.assets():
                self._writer.write(asset.path, asset.content, key)
        files = attempt("the files for machines and for search", lambda: tuple(self.other_files()))
        if isinstance(files, Problem):
            return (files,)
        for file in files:
            self._writer.write(file.path, file.content)
        return ()

    def _write_pages(self, makers: Mapping[str, Callable[[], Page]]) -> tuple[Problem, ...]:
        """Write pages; in the place of one that fails a page that says so. Returns a problem for each of these."""
        return tuple(filter(None, starmap(self._write_page, makers.items())))

    def _write_page(self, path: str, make: Callable[[], Page]) -> Problem | None:
        key = self._keys.get(path)
        if key and self._writer.is_fresh(path, key):
            return None
        content = attempt(f"the page {path}", lambda: self._renderer.render(make()))
        if isinstance(content, bytes):
            self._writer.write(path, content, key)
            return None
        self._writer.write(path, self._renderer.render(other_pages.failed_page(path, content)))
        return content

    def _too_large(self) -> tuple[Problem, ...]:
        """Return a problem if the site has more than ``limits.site_bytes``. It names the ``reports_kept`` that fits."""
        limit, complete = self._timeline.config.limits.site_bytes, self._timeline.is_complete
        size = sum(row.size for row in self._writer.files.rows)
        recorded = sum(row.size for row in self._build.files.files(complete=True))
        if not complete and size + recorded + self._build.memo.size_of_site(self._timeline.project.site)[1] <= limit:
            return ()  # although files of the last build that are recorded again count twice
        files = [row for row in self._build.files.files(complete=complete) if row.owner != OWNER]
        size += sum(row.size for row in files)
        if size <= limit:
            return ()
        kept, rest = reports_that_fit(self._evals.summaries, {row.path: row.size for row in files}, size - limit)
        fix = f"Write reports_kept = {kept} under [limits]: older reports of each eval become short pages."
        if not kept:
            fix = f"Even reports_kept = 1 leaves about {limit + rest:,} bytes. Raise site_bytes if your host allows it."
        what = f"The site has {size:,} bytes, more than the {limit:,} of site_bytes."
        return (Problem.of_type("large_site", what, fix, path=SITE_FILES[0]),)

    def _problems_of(self, failures: tuple[Problem, ...]) -> tuple[Problem, ...]:
        """Return all problems, failures of sitegen itself first.

        Problems of earlier manifests in history are past: the built revision's one is valid.
        """
        manifest, head = f"{self._timeline.config.evals_dir}/manifest.yaml", self._timeline.head.sha
        of_history = (
            replace(problem, past=problem.past or (problem.path == manifest and problem.commit != head))
            for problem in self._timeline.problems
        )
        return (*failures, *of_history, *self._problems_of_today())

    def _problems_of_today(self) -> Iterator[Problem]:
        """Yield what fits nothing and the problems of the evals; with the line of the key in the configuration."""
        lines: dict[tuple[str | None, str], int] | None = None
        """By the id of an eval and the key in its entry."""
        files, manifest = self._timeline.files, self._timeline.layout.manifest_path
        problems = chain(unmatched(self._evals), *(record.problems for record in self._evals.records.values()))
        for problem in located(problems, files.of_work_tree.read_rules):
            if problem.past or problem.line or problem.path != manifest:
                yield problem
                continue
            if lines is None:  # reading the file takes time, and few projects have such a problem
                newest = FilesAt(files.place, self._timeline.head.sha, on_disk=self._timeline.project.options.worktree)
                content = newest.read_rules(manifest, self._timeline.config.limits.max_blob_bytes)
                keys = read_configuring_yaml(content or b"")[1].items()
                of_evals = ((at[1], key_path(at[2:]), line) for at, line in keys if at[0] == "evals" and at[1:])
                lines = {(str(of), key.removeprefix("settings.")): line for of, key, line in of_evals}
            above = ((problem.eval_id, problem.field[:end]) for end in range(len(problem.field), -1, -1))
            yield replace(problem, line=next((lines[key] for key in above if key in lines), None))

    def _unread_instructions(self) -> Iterator[Problem]:
        """Yield a note on each instruction file that is too large to be read: an edit of it has no size either."""
        for file in self._instructions.files:
            if not file.history.deleted and None in file.counts and (blob := file.history.edits[-1].new):
                read = self._timeline.context.open().read_blob(blob.oid)
                if read.fix:  # if it is not in this clone, its pages have failed
                    message = f"The text of these instructions cannot be read: {read.reason}."
                    yield Problem("note", message, read.fix, path=file.history.path)

    def _later_pages(self, scored: Iterable[PagesTask]) -> Iterator[str]:
        """Yield the paths of the pages to which others lead and that later stages write."""
        for task in scored:
            yield from addresses(task.record)
        for file in self._timeline.edited:
            yield from addresses_of(file)
        for record in self._timeline.new_records:
            yield links.commit(record.commit.sha)
        listed = len(self._timeline.records)
        for number in range(older_than_page(listed, listed) // COMMITS):
            yield links.older_commits(number + 1)

    def _outcome(self, failures: tuple[Problem, ...]) -> Site:
        """Return what the command line and the API report. ``failures``: parts that sitegen failed to make."""
        counts = count_causes(self._causes)
        notes = [problem.message for problem in self._timeline.perhaps]
        shown = len(notes) if len(notes) <= _NOTES else _NOTES - 1
        more = [f"{counted(len(notes) - shown, 'more such note')} on {links.problems()}."] * (len(notes) > shown)
        return Site(
            page=str(self._timeline.project.out / links.overview()),
            head=self._timeline.head.sha,
            commits=self._timeline.head.position + (self._timeline.head.sha != WORKTREE),
            evals=len(self._evals.summaries),
            iterations=sum(len(summary.headlines) for summary in self._evals.summaries),
            errors=counts.error,
            warnings=counts.warning,
            problems_in_words=counts.text,
            failed=sum(not problem.not_fetched for problem in failures) + self._evals.lost_contents.count(MISSING),
            not_fetched=sum(one.not_fetched for one in self._problems) + self._evals.lost_contents.count(POINTER),
            unmatched_redactions=tuple(glob for glob, _ in unmatched_redactions(self._evals)),
            own_metrics=installed_versions(*(entry.settings for entry in self._timeline.manifest.evals)),
            sentences=(*self._newest_outputs(), *(line(note, 200) for note in notes[:shown]), *more),
        )

    def _newest_outputs(self) -> Iterator[str]:
        """Yield the value and the verdict of each eval with an output of the newest commit that has any."""
        alive = [one for one in self._evals.summaries if one.headlines and not one.deleted]
        newest = max((one.headlines[-1].commit_position for one in alive), default=0)
        here = [one for one in alive if one.headlines[-1].commit_position == newest]
        for one in here[:_NOTES]:
            spec = one.specs[0]
            at = one.headlines[-1]
            verdict = one.change.verdict if one.change else None
            value = "—" if at.values[0] is None else metric_text(at.values[0], spec.unit)
            words = [verdict_word(verdict, spec.higher_is_better)] if verdict else []
            change = [signed(one.headline_change, spec)] * (one.change is not None)
            parts = split(one.change.headline.parts, spec) if one.change and one.change.headline.parts else {}
            if parts.keys() - {"outputs"}:
                change[0] += f" ({', '.join(f'{name} {own_unit(by, spec)}' for name, by in parts.items())})"
            said = ", ".join(dict.fromkeys([f"{spec.label} {value}", *change, *words]))
            yield line(f"{one.info.name}, {at.label}: {said}", 200)
        if len(here) > _NOTES:
            yield f"and {counted(len(here) - _NOTES, 'more eval')} with an output of this commit"


def reports_that_fit(summaries: Iterable[EvalSummary], sizes: Mapping[str, int], excess: int) -> tuple[int, int]:
    """Return the largest number of full reports of each eval with which the site fits, and the excess that is left.

    The number is 0 if even one of each eval is too many. ``excess``: bytes of the site above its limit. The pages of
    cases have the answers of as many outputs; what was asked takes as much as those of one.
    """
    saved_by_age, folders = Counter[int](), Counter[str]()
    for path, size in sizes.items():
        folders[dirname(path)] += max(0, size - _CASE)
    for summary in summaries:
        answers = folders[dirname(links.case(summary.info.id, ""))] // (1 + min(ANSWERED, len(summary.headlines)))
        for age, at in enumerate(reversed(summary.headlines)):
            files = (sizes.get(address(summary.info.id, at.slug), 0) for address in links.REPORT_FILES)
            cases = (sizes.get(f"{links.report_cases(summary.info.id, at.slug)}{part}.js", 0) for part in count(1))
            own = sum(files) + sum(takewhile(bool, cases)) - SHORT_REPORT
            saved_by_age[age] += max(0, own) + answers * (age < ANSWERED)
    for age in range(max(saved_by_age, default=0), 0, -1):
        excess -= saved_by_age[age]
        if excess <= 0:
            return age, excess
    return 0, excess
