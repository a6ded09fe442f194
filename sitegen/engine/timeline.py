"""Reads the configuration and folds history up to the commit that is built."""

from __future__ import annotations

import dataclasses
import json
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple

from msgspec.structs import asdict, replace

from sitegen.config.findings import error_of, folder_path
from sitegen.config.manifest import ANY_FIELD, read_manifest, significance_level
from sitegen.config.models import EVALUATION_FILE, EvalConfig, EvaluationConfig, Manifest, SiteConfig
from sitegen.config.notes import NOTES_FILE
from sitegen.config.site import located, missing_baseline, read_site
from sitegen.data_files.project_files import SITE_FILES
from sitegen.engine.cached_kinds import CONFIGURATION, END_OF_WALK, CacheStore, Configuration, forget_earlier_walk
from sitegen.engine.failures import attempt
from sitegen.engine.memo import Memo, within
from sitegen.engine.missing_files import MissingFiles
from sitegen.engine.pool import Pool
from sitegen.engine.site_files import SiteFiles
from sitegen.engine.worker_context import WorkerContext, context_of
from sitegen.engine.writer import digest
from sitegen.errors import ConfigurationError, NothingToReportError, SitegenError
from sitegen.history.files_at_commit import FilesAt, manifest_at
from sitegen.history.instructions import OF_JUDGES
from sitegen.history.layout import Layout
from sitegen.history.process import share_processes
from sitegen.history.repository import LARGEST_BLOB, KnownAnswers, Repository
from sitegen.history.timeline import FoldedHistory, FoldEnd, advance, shallow_history
from sitegen.model.changes import EditedFile
from sitegen.model.commits import WORKTREE
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Finding, Parsed, Problem, Severity
from sitegen.model.series import EvalInfo
from sitegen.model.timeline import Edit, EvalHistory, InstructionHistory
from sitegen.pages.commit import ListedCommit
from sitegen.project import Project
from sitegen.recognition import notes_on, search_history
from sitegen.recognition.places import with_found_evals
from sitegen.recognition.searched_files import Search
from sitegen.scoring.kinds import scorer
from sitegen.scoring.redaction import redaction
from sitegen.text.globs import compiled


class Timeline(FoldedHistory, dict=True, gc=True):
    """The history of the built commit and its configuration, for all later stages."""

    project: Project
    config: SiteConfig
    manifest: Manifest
    remarks: tuple[Problem, ...]
    """What is to be said of the configuration, and of evals that nobody named."""
    perhaps: tuple[Problem, ...]
    """Those of the remarks that are about what may be an eval, and was not taken for one."""
    context: WorkerContext
    files: FilesAt
    """The files of the built commit."""
    notes: Mapping[str, bytes] = {}
    """The content of the file of notes of each eval that has one."""
    listed: tuple[ListedCommit, ...] = ()
    """The end of the list of commits that the previous build left, oldest first; empty if everything is new."""
    baselines: Mapping[str, frozenset[str]] = {}
    """The name of each baseline, and the ids of the commits that its revision does not contain."""

    @property
    def jobs(self) -> int | None:
        """Number of processes that the command line asks for, or else the configuration."""
        return self.project.options.jobs or self.config.engine.jobs

    @property
    def new_work(self) -> int:
        """Number of snapshots, edits and commits since the previous build: each is about one page of work."""
        new = self.changed
        snapshots = sum(len(history.snapshots) - new[history.id] for history in self.evals if history.id in new)
        return snapshots + sum(len(record.edits) + 1 for record in self.new_records)

    def info(self, history: EvalHistory) -> EvalInfo:
        """Return the description of an eval for pages."""
        eval_id = history.id
        entry = self.manifest.entry(eval_id)
        # Values have places in documents, and no value is hidden.
        shows_source = traits_of(history.kind).is_structured and not self.context_for(eval_id).redact
        return EvalInfo(
            id=eval_id,
            name=entry.name or eval_id,
            description=entry.description,
            kind=history.kind,
            thresholds=entry.thresholds,
            significance_level=significance_level(entry.settings),
            metadata=entry.metadata,
            nouns=scorer(history.kind).nouns,
            source=entry.source if entry.source and shows_source else "",
            manifest=f"{self.config.evals_dir}/manifest.yaml",
            notes=notes_file(self.layout, eval_id),
        )

    def baselines_of(self, history: EvalHistory) -> tuple[tuple[str, int], ...]:
        """Return the name of each baseline, and the index of the newest snapshot of an eval that its revision has."""
        found = []
        for name, newer in self.baselines.items():
            commits = [snapshot.commit.sha for snapshot in history.snapshots]
            contained = [index for index, sha in enumerate(commits) if sha not in newer and sha != WORKTREE]
            found += [(name, contained[-1])] if contained else []
        return tuple(found)

    def driving_edits(self, eval_id: str) -> tuple[Edit, ...]:
        """Return the edits of the text of the instruction files that drive an eval, by commit, then by path."""
        edits = (edit for file in self.drivers(eval_id) for edit in file.edits)
        # Without those that moved a file, with which no output can have changed.
        changing = (each for each in edits if not (each.old and each.new and each.old.oid == each.new.oid))
        return tuple(sorted(changing, key=attrgetter("place")))

    @cached_property
    def layout(self) -> Layout:
        """Where the files of the evals are."""
        return Layout(self.config, self.manifest)

    def context_for(self, eval_id: str) -> WorkerContext:
        """Return the worker context of one eval, with the globs of all values that are hidden in it."""
        return replace(self.context, redact=(*self.config.redact, *self.manifest.entry(eval_id).redact))

    def drivers(self, eval_id: str) -> tuple[InstructionHistory, ...]:
        """Return the instruction files that drive an eval: any of their paths, present or former, matches its globs.

        The prompts of judges do not drive what these grade: an edit of one is a change of the judge.
        """
        pattern = compiled(self.manifest.entry(eval_id).instructions or ("**",))
        found = [file for file in self.instructions if any(pattern.fullmatch(edit.path) for edit in file.edits)]
        is_graded = any(history.grades for history in self.evals if history.id == eval_id)
        return tuple([file for file in found if not (is_graded and OF_JUDGES.search(file.path))] or found)

    def first_whole_edit(self, end: int) -> tuple[int, str]:
        """Return the place of the oldest edit before the commit ``end`` that has a whole page, not a short one."""
        places = sorted(edit.place for file in self.instructions for edit in file.edits if edit.commit.position < end)
        return (*places, (end, ""))[max(0, len(places) - self.config.limits.reports_kept)]


class Build(NamedTuple):
    """What all stages use after history was read."""

    timeline: Timeline
    files: SiteFiles
    pool: Pool
    step: Callable[[int], None] = lambda steps: None
    """Called with the number of further steps of the stage that are done."""

    @property
    def memo(self) -> Memo:
        """The memo that has the files of the last build."""
        return self.files.last.memo


def read_timeline(project: Project, files: SiteFiles) -> Timeline:
    """Read the history of the commit that is built.

    If the last build ended at another commit than the output folder shows, what is new to it is not what the folder
    lacks, so everything is new.
    """
    memo = files.last.memo
    before = END_OF_WALK.get(memo)
    if before is not None and before.head != files.last.head:
        before = None
    timeline = timeline_of(project, memo, since=before)
    memo.forget(END_OF_WALK.name)  # until the site is finished: what a stopped build saved belongs to no finished one
    if timeline.is_complete:
        forget_earlier_walk(memo, timeline.changed, [file.path for file in timeline.instructions])
    context = replace(timeline.context, foreign=frozenset(files.foreign))
    listed = before.listed if before and not timeline.is_complete else ()
    return replace(timeline, context=context, listed=listed)


_HINTS: Final = 3  # largest number of probable configuration mistakes that an error lists if there is nothing to report


@share_processes()
def timeline_of(
    project: Project, memo: CacheStore, *, since: FoldEnd | None = None, configured_as: Timeline | None = None
) -> Timeline:
    """Read the configuration and fold history. Raises the errors that ``sitegen.update.build`` lists.

    ``since``: the end of the previous build, after which everything is new. ``configured_as``: another revision, whose
    configuration and manifest apply instead of those of the project's own.
    """
    return _Reading(project, memo, configured_as).timeline(since)


class _Reading:
    """One revision as it is read: what users wrote, evals that nobody named, then history by both."""

    def __init__(self, project: Project, memo: CacheStore, configured_as: Timeline | None) -> None:
        """Read what users wrote."""
        self._project, self._memo, self._configured_as = project, memo, configured_as
        self._head = project.head or Repository(project.place).resolve(project.revision)
        self._files = files = FilesAt(project.place, self._head)
        self._newest_files = FilesAt(project.place, self._head, on_disk=project.options.worktree)
        self._config, of_site = read_site(files.of_work_tree.read_rules)
        stated, of_manifest = manifest_at(self._newest_files, self._config, partial(manifest_of, memo))
        self._manifest = stated
        self._remarks = [finding.in_file(finding.file) for finding in of_site]
        self._remarks += [finding.in_file(f"{self._config.evals_dir}/manifest.yaml") for finding in of_manifest]
        self._perhaps: tuple[Problem, ...] = ()
        limits = (configured_as.config if configured_as else self._config).limits
        self._read_up_to = digest(str(limits.max_blob_bytes))
        earlier = CONFIGURATION.get(memo, "answers", [self._read_up_to]) or Configuration()
        self._answers = answers = KnownAnswers(earlier.answers)
        self._repository = Repository(project.place, max_blob_bytes=limits.max_blob_bytes, answers=answers)
        evals_dir = folder_path(self._config.evals_dir)
        self._search = Search(files=files, answers=answers, evals_dir=evals_dir, stated=stated.evals)

    def timeline(self, since: FoldEnd | None) -> Timeline:
        """Find the evals that nobody named, and fold history by all of them."""
        project, files, searches = self._project, self._files, [self._search]
        if project.options.worktree and project.place.root is not None:  # uncommitted files take precedence
            searches.insert(0, Search(self._newest_files))
        evaluations = [search.evaluation for search in searches]
        config, manifest = self._config, self._manifest
        for search in searches:
            config, manifest = with_found_evals(config, manifest, search)
        if self._configured_as:
            config, manifest = self._configured_as.config, self._configured_as.manifest
        layout = self._sound(config, manifest)
        baselines = layout.site.baselines
        if self._repository.shallow_boundary and not project.options.allow_shallow:
            raise shallow_history(self._repository)
        if not self._configured_as:
            layout = self._with_searched_evals(layout)
        folded = self._folded(layout, since, committed=len(searches) == 1)
        named = {entry.id for entry in self._manifest.evals}
        self._remarks += chain.from_iterable(
            _perhaps_repeats(one, layout) for one in folded.evals if one.id not in named
        )
        notes = {one.id: self._newest_files.read(notes_file(layout, one.id), LARGEST_BLOB) for one in folded.evals}
        # A wrong key of an old manifest that the built one still has is listed once, as one that can be corrected.
        standing = {(remark.path, remark.message) for remark in self._remarks}
        of_history = (each for each in folded.problems if (each.path, each.message) not in standing)
        return Timeline(
            **asdict(replace(folded, problems=(*of_history, *_unread(evaluations)))),
            project=project,
            config=layout.site,
            manifest=layout.manifest,
            remarks=tuple(self._remarks),
            perhaps=self._perhaps,
            context=context_of(project, self._repository, layout.site, folded, self._head),
            files=files,
            notes={name: content for name, content in notes.items() if content},
            baselines={
                name: self._repository.commits_without(commit, self._head) for name, commit in baselines.items()
            },
        )

    def _sound(self, config: SiteConfig, manifest: Manifest) -> Layout:
        """Return a configuration of which everything can be read; what is left out is remarked.

        Baselines are the ids of commits, because one that moved is another configuration. Every field of an eval is
        hidden if a glob of its ``redact`` cannot be read. Raises ConfigurationError if one of the site cannot.
        """
        baselines: dict[str, str] = {}
        for name, revision in config.baselines.items():
            try:
                baselines[name] = self._repository.resolve(revision)
            except SitegenError:
                self._remarks.append(missing_baseline(name, revision))
        try:
            redaction(config.redact)
        except ConfigurationError as error:
            wrong = Problem("error", error.message, error.fix or "", path=SITE_FILES[0], field="redact")
            raise next(map(error_of, located([wrong], self._files.of_work_tree.read_rules))) from None
        entries = []
        for entry in manifest.evals:
            try:
                redaction(entry.redact)
            except ConfigurationError as error:
                message = f"evals.{entry.id}: {error.message} Every value of the eval is hidden."
                finding = Finding("error", message, error.fix or "Correct the glob.")
                self._remarks.append(finding.in_file(f"{config.evals_dir}/manifest.yaml"))
                entry = dataclasses.replace(entry, redact=(ANY_FIELD,))
            entries.append(entry)
        config = dataclasses.replace(config, baselines=baselines)
        return Layout(config, dataclasses.replace(manifest, evals=tuple(entries)))

    def _with_searched_evals(self, layout: Layout) -> Layout:
        """Add the evals that a search of a history without names of evals finds, and remark what else may be one."""
        before = (CONFIGURATION.get(self._memo, "search") or Configuration()).search
        part, head = "the search for evals that no manifest names", self._head
        found = attempt(part, lambda: search_history(self._repository, layout, self._search, head, before), commit=head)
        if found is None or isinstance(found, Problem):
            self._remarks += [found] if found else []
            return layout
        if found != before:
            CONFIGURATION.keep(self._memo, "search", Configuration(search=found))
        notes, self._perhaps = notes_on(found, layout.manifest_path)
        self._remarks += (*notes, *self._perhaps)
        return found.applied(layout)

    def _folded(self, layout: Layout, since: FoldEnd | None, *, committed: bool) -> FoldedHistory:
        """Fold history. An error because there is nothing to report lists probable mistakes of the configuration."""
        try:
            folded = advance(
                self._repository,
                layout,
                head=self._head,
                manifests=partial(manifest_of, self._memo),
                files="committed" if committed else "uncommitted",
                since=since,
            )
        except NothingToReportError as error:
            hints = [f"{remark.message} {remark.fix}" for remark in self._remarks]
            missing = MissingFiles(layout=layout, folders=self._files.names, summaries={}, set_aside=frozenset())
            hints += [f"{problem.message} {problem.fix}" for problem in missing.problems()]
            fix = " ".join(hints[:_HINTS]) or error.fix
            raise NothingToReportError(error.message, where=error.where, fix=fix) from None
        if self._answers.given != self._answers.before:
            CONFIGURATION.keep(self._memo, "answers", Configuration(answers=self._answers.given), self._read_up_to)
        return folded


def _perhaps_repeats(history: EvalHistory, layout: Layout) -> Iterator[Problem]:
    """Yield a note if one commit added several runs of an eval that nothing names, and other commits the others."""
    first = {each.outputs[0].path: each.commit.sha for each in reversed(history.snapshots) if each.outputs}
    if not 1 < len({*first.values()}) < len(first):
        return
    from sitegen.recognition.output_series import with_repeats  # as a rule, each commit adds one run

    folder = layout.folders(history.id)[0] or "."
    glob = posixpath.normpath(f"{folder}/{layout.manifest.entry(history.id).outputs}")
    repeats = with_repeats(glob, [*first], lambda path: ())
    if repeats != glob:
        message = f"Each of the {len(first)} runs is an iteration, because not all came with the same commit."
        entry = {"dir": folder, "kind": history.kind, "outputs": posixpath.relpath(repeats, folder)}
        fix = f"If they are repeats under the same instructions, write into {layout.manifest_path}:"
        yield Problem("note", message, f"{fix} {json.dumps({'evals': {history.id: entry}})}", eval_id=history.id)


def notes_file(layout: Layout, eval_id: str) -> str:
    """Return the path of the notes of people about an eval."""
    return posixpath.join(layout.folders(eval_id)[0], NOTES_FILE)


def _unread(evaluations: Sequence[Parsed[EvaluationConfig | None]]) -> Iterator[Problem]:
    """Yield a problem for each key of the configuration of evaluations that does not count, or for the whole file.

    ``evaluations``: the file in the work tree, and in the commit; the first that is there counts.
    """
    evaluation = next((one for one in evaluations if one != Parsed(None)), evaluations[0])
    for finding in evaluation.findings:
        all_lost = " Nothing of the file counts." if evaluation.value is None else ""
        message = f"{finding.message}{all_lost}"
        severity: Severity = "note" if finding.severity == "note" else "warning"
        yield Problem(severity, message, finding.fix, path=EVALUATION_FILE, line=finding.line)


def last_paths_of_edits(files: Iterable[InstructionHistory]) -> dict[EditedFile, str]:
    """Map each edit of a file that was moved later to the last path of the file, which names its pages."""
    return {(edit.path, edit.commit.sha): file.path for file in files for edit in file.edits if edit.path != file.path}


_CHECKED: Final = "paths inside the project; wrong values, truth values as numbers and negative numbers do not count"
"""Names the checks beyond types. Change it whenever they change: values cached after weaker checks are not used."""


def manifest_of(store: CacheStore, content: bytes, evals_dir: str) -> Parsed[Manifest | None]:
    """Read a manifest, of any commit, as ``read_manifest`` does."""
    key = within("manifest", digest(_CHECKED, repr(EvalConfig(id="")), evals_dir, content))
    kept = CONFIGURATION.get(store, key)
    if kept is None:
        kept = CONFIGURATION.keep(store, key, Configuration(manifest=read_manifest(content, evals_dir)))
    assert kept.manifest is not None
    return kept.manifest
