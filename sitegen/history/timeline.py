"""The timeline: a fold over revisions, oldest first, that can stop at any commit and go on from there.

What is kept of the past is small (``state``) and in parts, so that one more commit loads only what it touches. Where
going on could give another result than starting from the root, it starts from the root.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

from sitegen.config import GROUND_TRUTHS, EvalConfig, Manifest, SiteConfig
from sitegen.errors import NothingToReportError, ShallowRepositoryError
from sitegen.history import evals
from sitegen.history.blobs import BlobRead
from sitegen.history.evals import Touch, ground_truth, history_of, layout_of
from sitegen.history.instructions import Instructions
from sitegen.history.layout import Layout, Place, Rules, Watched, first_blob, folder_name, normal
from sitegen.history.renames import folder_renames
from sitegen.history.repository import Repository
from sitegen.history.revisions import Irregular
from sitegen.history.state import EvalState, Inputs, Parts, State, Store
from sitegen.model.commits import Change, Commit, Revision
from sitegen.model.problems import Problem
from sitegen.model.timeline import Blob, CommitRecord, EvalHistory, EvalUpdate, InstructionHistory, Update

VERSION: Final = 1
"""Raised whenever the same history would fold to something else."""

_NO_RULES: Final = Rules()


class Advanced(NamedTuple):
    """The timeline at a commit, against the previous time."""

    update: Update
    head: Commit
    commits: int
    """On the first-parent line up to the head."""
    problems: tuple[Problem, ...]
    """Of all history, not only of what is new: by commit, those of the whole last."""


Extra: TypeAlias = Callable[[Layout, Commit, Irregular], Iterable[Revision]]
"""Makes revisions that follow the head: of the work tree."""


class _StartOverError(Exception):
    """Going on would give another result than starting from the root: because of these paths, or of a rename."""

    def __init__(self, watched: Watched | None = None) -> None:
        super().__init__()
        self.watched = watched


def advance(
    repository: Repository,
    site: SiteConfig,
    parts: Parts,
    *,
    head: str,
    manifest: Manifest,
    structure: str,
    allow_shallow: bool = False,
    extra: Extra | None = None,
) -> Advanced:
    """Bring the timeline that *parts* holds to the commit *head*.

    *manifest* is the one of the built revision: it says which evals there are and where they live. *structure* is a
    digest of all that decides how history is read, see ``layout.structure_digest``. The result is the same whatever
    *parts* held before; only ``Update`` tells new from known. *extra* yields what is folded behind the head.

    Raises ShallowRepositoryError if the history is cut off and that is not allowed, NothingToReportError if no eval
    ever had ground truth.
    """
    boundary = repository.shallow_boundary
    if boundary and not allow_shallow:
        raise ShallowRepositoryError(
            "The history of this clone is cut off: its oldest commit would seem to have made everything.",
            where=str(repository.root or repository.git_dir),
            fix="Run git fetch --unshallow; in a GitHub workflow, give actions/checkout the input fetch-depth: 0.",
        )
    store = Store(parts)
    state = store.state()
    structure = f"{VERSION} {structure}"
    if state is not None and not _can_go_on(repository, site, state, head, structure, boundary):
        state = None
    watched = Watched()
    while True:
        fold = Fold(repository, site, manifest, store, state or State(structure, boundary), watched, state is None)
        try:
            fold.run(head)
            if extra is not None:
                fold.fold(extra(fold.layout, fold.head, fold.irregular))
            return fold.finish()
        except _StartOverError as reason:
            state = None
            watched |= fold.layout.watched | (reason.watched or Watched())
        finally:
            fold.close()


def _can_go_on(
    repository: Repository, site: SiteConfig, state: State, head: str, structure: str, boundary: tuple[str, ...]
) -> bool:
    if state.head is None or (state.structure, state.boundary) != (structure, boundary):
        return False
    return state.head.sha == head or (site.first_parent and repository.follows(state.head.sha, head))


def current(
    parts: Parts, site: SiteConfig, manifest: Manifest
) -> tuple[tuple[EvalHistory, ...], tuple[InstructionHistory, ...]]:
    """All evals by id and all instruction files by path, as the parts hold them."""
    store = Store(parts)
    layout = Layout(site, manifest, Watched())
    histories = (history_of(state, layout.entry(state.id)) for state in store.evals() if state.had_ground_truth)
    return tuple(histories), tuple(store.instructions())


class Fold:
    """One advance: the state, what it loaded, and what it found."""

    def __init__(
        self,
        repository: Repository,
        site: SiteConfig,
        manifest: Manifest,
        store: Store,
        state: State,
        watched: Watched,
        complete: bool,
    ) -> None:
        self._repository = repository
        self._site = site
        self._manifest = manifest
        self._store = store
        self._state = state
        self._complete = complete
        self._stored_head = state.head
        known = Watched(frozenset(state.shared_paths), frozenset(state.ground_truth_names))
        self.layout = Layout(site, manifest, watched | known)
        self._stale = not complete and not known.covers(self.layout.watched)
        self._evals: dict[str, EvalState] = {}
        self._before: dict[str, EvalHistory] = {}
        self._reader = repository.reader()
        self._instructions = Instructions(self._known_instruction, lambda oid: self.read(oid).content)
        self._problems: list[Problem] = []
        self._records: list[tuple[CommitRecord, list[_Started]]] = []

    def read(self, oid: str) -> BlobRead:
        """A blob's content, for the few files that decide how history is read."""
        return self._repository.read_blob(oid, self._reader)

    @property
    def head(self) -> Commit:
        """The last commit that was folded."""
        assert self._state.head is not None
        return self._state.head

    def close(self) -> None:
        """End what runs."""
        self._reader.close()

    def run(self, head: str) -> None:
        """Fold the commits after the state's up to *head*."""
        if self._stale:
            raise _StartOverError
        since = self._state.head
        if since is not None and since.sha == head:
            return
        self.fold(
            self._repository.walk(
                head,
                since=since.sha if since else None,
                first_position=since.position + 1 if since else 0,
                first_parent=self._site.first_parent,
                pathspecs=self.layout.pathspecs,
                irregular=self.irregular,
            )
        )

    def fold(self, revisions: Iterable[Revision]) -> None:
        """Fold revisions, oldest first."""
        for revision in revisions:
            self._fold(revision)

    def finish(self) -> Advanced:
        """What came of it; the parts are written now, and nothing before."""
        state = self._state
        if state.head is None or not state.with_ground_truth:
            raise self._nothing()
        updates = [self._update(each) for _, each in sorted(self._evals.items()) if each.had_ground_truth]
        files = [history for _, history in sorted(self._instructions.touched.items()) if history is not None]
        records = tuple(_finished(record, started) for record, started in self._records)
        problems = self._all_problems()
        if self._complete or state.head != self._stored_head:
            self._write(problems)
        return Advanced(
            Update(self._complete, tuple(each for each in updates if each is not None), tuple(files), records),
            state.head,
            state.head.position + 1,
            self._shown(problems),
        )

    def irregular(self, commit: Commit, path: str, what: str) -> None:
        """Report a symbolic link or a submodule where a file is wanted, or a folder with such files."""
        place = self.layout.place(path)
        instruction = self.layout.is_instruction(path)
        read = place is not None or instruction or self.layout.is_shared(path) or path == self.layout.manifest_path
        if not read and not self.layout.hides(path):
            return
        self._problems.append(
            Problem(
                "note" if instruction else "warning",
                f"This is {what}, which is not followed.",
                "Commit a regular file, or a folder, in its place if it should count.",
                path=path,
                commit=commit.sha,
                eval_id=place.eval_id if place else None,
            )
        )

    def _fold(self, revision: Revision) -> None:
        state, commit = self._state, revision.commit
        if state.head is not None and _time(commit) < _time(state.head):
            state.backward_dates += 1
        state.head = commit
        by_eval: dict[str, list[tuple[Place, Change]]] = {}
        shared, edited, read = [], [], []
        manifest = None
        for change in revision.changes:
            place = self.layout.place(change.path)
            if place is not None:
                by_eval.setdefault(place.eval_id, []).append((place, change))
            is_shared, is_manifest = self.layout.is_shared(change.path), change.path == self.layout.manifest_path
            is_instruction = self.layout.is_instruction(change.path)
            if is_shared:
                shared.append(change)
            if is_manifest:
                manifest = change
            if is_instruction:
                edited.append(change)
            if is_shared or is_manifest or is_instruction or (place is not None and place.role != "stranger"):
                read.append(change)
        for eval_id in self._reruled(commit, shared, manifest) if shared or manifest else ():
            by_eval.setdefault(eval_id, [])
        self._follow_renames(by_eval)
        started = [self._touch(commit, eval_id, tuple(by_eval[eval_id])) for eval_id in sorted(by_eval)]
        edits = self._edit(commit, edited) if edited else ()
        if read:
            record = CommitRecord(commit, tuple(sorted(read)), len(revision.changes) - len(read), (), edits)
            self._records.append((record, started))

    def _touch(self, commit: Commit, eval_id: str, changes: tuple[tuple[Place, Change], ...]) -> _Started:
        each = self._eval(eval_id)
        counts = len(each.iterations.snapshots), len(each.overwritten.snapshots)
        entry = self.layout.entry(eval_id)
        evals.touch(each, Touch(commit, changes, self._inputs, entry, self.read, self._report))
        self._state.evals[eval_id] = each.active
        if each.had_ground_truth:
            self._state.with_ground_truth[eval_id] = True
        return _Started(
            each,
            entry,
            tuple(snapshot.slug for snapshot in each.iterations.snapshots[counts[0] :]),
            tuple(snapshot.slug for snapshot in each.overwritten.snapshots[counts[1] :]),
        )

    def _report(self, problem: Problem) -> None:
        self._problems.append(problem)

    def _edit(self, commit: Commit, changes: list[Change]) -> tuple[str, ...]:
        for change in changes:
            if change.new is None:
                self._state.instructions.pop(change.path, None)
            else:
                self._state.instructions[change.path] = change.new
        return self._instructions.fold(commit, changes)

    def _reruled(self, commit: Commit, shared: list[Change], manifest: Change | None) -> list[str]:
        """Take changes of mappings, schemas and the manifest; the known evals that they concern."""
        before = {eval_id: self._outside(eval_id) for eval_id in self._state.evals}
        for change in shared:
            if change.new is None:
                self._state.shared.pop(change.path, None)
            else:
                self._state.shared[change.path] = change.new
        if manifest is not None:
            self._take_manifest(commit, manifest)
        return [eval_id for eval_id, outside in before.items() if outside != self._outside(eval_id)]

    def _take_manifest(self, commit: Commit, change: Change) -> None:
        state = self._state
        state.manifest = change.new
        if change.new is None:
            state.rules, state.rule_folders = {}, {}
            return
        from sitegen.configuring import read_manifest_leniently

        read = self.read(change.new)
        if read.content is None:
            self._report_manifest(commit, change, f"The manifest cannot be read: {read.reason}.", None)
            return
        manifest, findings = read_manifest_leniently(read.content, change.path, self._site.evals_dir)
        for finding in findings:
            self._report_manifest(commit, change, finding.what, finding.line)
        if manifest is None:
            return
        named = self.layout.named_by(manifest)
        if not self.layout.watched.covers(named):
            raise _StartOverError(named)
        state.rules = {entry.id: Rules.of(entry) for entry in manifest.evals}
        state.rule_folders = {normal(entry.dir): entry.id for entry in manifest.evals if entry.dir}

    def _report_manifest(self, commit: Commit, change: Change, what: str, line: int | None) -> None:
        fix = "Nothing is to be done if a later commit corrected it: where it cannot be read, the one before counts."
        self._problems.append(Problem("warning", what, fix, path=change.path, line=line, commit=commit.sha))

    def _outside(self, eval_id: str) -> tuple[object, ...]:
        """What an eval depends on outside its own files, without loading it."""
        folder = self._state.evals[eval_id]
        if folder is None:
            return ()
        rules = self._rules(eval_id, folder)
        truth = self._state.shared.get(normal(f"{folder}/{rules.ground_truth}")) if rules.ground_truth else None
        return rules, self._mapping(rules, folder), self._schema(rules, folder), truth

    def _inputs(self, each: EvalState) -> Inputs:
        folder = each.active or each.folders[0]
        rules = self._rules(each.id, folder)
        return Inputs(
            ground_truth(each, rules.ground_truth, self._state.shared),
            self._mapping(rules, folder),
            self._schema(rules, folder),
            rules.settings,
        )

    def _rules(self, eval_id: str, folder: str) -> Rules:
        """What the manifest of the commit says of an eval, which may have had another id or folder there."""
        rules, folders = self._state.rules, self._state.rule_folders
        return rules.get(eval_id) or rules.get(folders.get(folder, folder_name(folder))) or _NO_RULES

    def _mapping(self, rules: Rules, folder: str) -> Blob | None:
        return self.layout.mapping(rules, folder, self._state.shared)

    def _schema(self, rules: Rules, folder: str) -> Blob | None:
        return first_blob([rules.schema.replace("{dir}", folder)], self._state.shared) if rules.schema else None

    def _follow_renames(self, by_eval: dict[str, list[tuple[Place, Change]]]) -> None:
        """An eval whose files mostly went to a new folder goes on under the new one's name."""
        if len(by_eval) < 2:
            return
        gone, came = {}, {}
        for eval_id, changes in by_eval.items():
            if any(change.new is None for _, change in changes) and eval_id in self._state.evals:
                gone[eval_id] = Counter(change.old for _, change in changes if change.new is None and change.old)
            if any(change.old is None for _, change in changes) and self._is_new(eval_id):
                came[eval_id] = Counter(change.new for _, change in changes if change.old is None and change.new)
        if not gone or not came:
            return
        for new, old in folder_renames(gone, came).items():
            state = self._eval(old)
            left = len(state.files) - gone[old].total()
            if left >= (gone[old] & came[new]).total():
                continue
            if not self._complete:
                raise _StartOverError
            del self._evals[old], self._state.evals[old]
            self._state.with_ground_truth.pop(old, None)
            state.id = new
            state.folders = list(dict.fromkeys([*self.layout.folders(new), *state.folders]))
            self._evals[new] = state
            self._problems = [
                problem._replace(eval_id=new) if problem.eval_id == old else problem for problem in self._problems
            ]
            by_eval[new] = [*by_eval.pop(old), *by_eval[new]]

    def _is_new(self, eval_id: str) -> bool:
        if eval_id not in self._state.evals:
            return True
        state = self._eval(eval_id)
        return not state.files and not state.had_ground_truth

    def _eval(self, eval_id: str) -> EvalState:
        state = self._evals.get(eval_id)
        if state is None:
            state = None if self._complete else self._store.eval(eval_id)
            if state is None:
                state = EvalState(eval_id, list(self.layout.folders(eval_id)))
            else:
                self._before[eval_id] = history_of(state, self.layout.entry(eval_id))
            self._evals[eval_id] = state
        return state

    def _known_instruction(self, path: str) -> InstructionHistory | None:
        return None if self._complete else self._store.instruction(path)

    def _update(self, each: EvalState) -> EvalUpdate | None:
        history = history_of(each, self.layout.entry(each.id))
        before = self._before.get(each.id)
        if before is None or not each.had_ground_truth:
            return EvalUpdate(history, 0)
        if before == history:
            return None
        if before.layout != history.layout and before.snapshots:
            raise _StartOverError
        pairs = zip(before.snapshots, history.snapshots, strict=False)
        return EvalUpdate(
            history, next((index for index, (old, new) in enumerate(pairs) if old != new), len(before.snapshots))
        )

    def _all_problems(self) -> list[Problem]:
        known = [] if self._complete else self._store.problems()
        first: dict[Problem, Problem] = {}
        for problem in (*known, *self._problems):
            first.setdefault(problem._replace(commit=None), problem)
        return list(first.values())

    def _shown(self, problems: list[Problem]) -> tuple[Problem, ...]:
        """The problems of evals that are shown and of the whole, with those that are found at the end."""
        known = self._state.with_ground_truth
        return (*(each for each in problems if each.eval_id is None or each.eval_id in known), *self._of_the_whole())

    def _of_the_whole(self) -> Iterator[Problem]:
        for entry in self._manifest.evals:
            if entry.id not in self._state.with_ground_truth:
                yield Problem(
                    "warning",
                    f"The eval {entry.id!r} of the manifest never had a ground truth.",
                    f"Commit one to {self.layout.folders(entry.id)[0]}/, or correct its entry in the manifest.",
                    path=self.layout.manifest_path,
                    eval_id=entry.id,
                )
        if number := self._state.backward_dates:
            yield Problem(
                "note",
                f"{number:,} {'commit is' if number == 1 else 'commits are'} dated before the commit they follow.",
                "Nothing is to be done: commits are in the order of the history, not of their dates.",
            )
        if self._state.boundary:
            yield Problem(
                "warning",
                "The history of this clone is cut off: its oldest commit seems to have made everything.",
                "Run git fetch --unshallow; in a GitHub workflow, give actions/checkout the input fetch-depth: 0.",
                commit=self._state.boundary[0],
            )

    def _write(self, problems: list[Problem]) -> None:
        state, watched = self._state, self.layout.watched
        state.shared_paths, state.ground_truth_names = sorted(watched.shared), sorted(watched.ground_truths)
        if self._complete:
            self._store.clear()
        if self._complete or self._problems:
            self._store.put_problems(problems)
        for eval_id, each in self._evals.items():
            self._store.put_eval(eval_id, each)
        for path, history in self._instructions.touched.items():
            self._store.put_instruction(path, history)
        self._store.put_state(state)

    def _nothing(self) -> NothingToReportError:
        folder = self.layout.manifest_path.rpartition("/")[0] or "."
        return NothingToReportError(
            f"There is no eval: no folder in {folder}/ ever had a ground truth ({', '.join(GROUND_TRUTHS)}), "
            f"and {self.layout.manifest_path} names no other.",
            where=str(self._repository.root or self._repository.git_dir),
            fix=f"Commit {folder}/NAME/ground_truth.csv and {folder}/NAME/results/iteration-001/extracted.json.",
        )


class _Started(NamedTuple):
    """The snapshots that one commit started in an eval, of both candidates for its series."""

    state: EvalState
    entry: EvalConfig
    iterations: tuple[str, ...]
    overwritten: tuple[str, ...]


def _finished(record: CommitRecord, started: list[_Started]) -> CommitRecord:
    """The record with the snapshots of the series that was chosen, under the names that evals have in the end."""
    snapshots = []
    for each in started:
        if each.state.had_ground_truth:
            layout = layout_of(each.state, each.entry)
            slugs = each.iterations if layout == "iterations" else each.overwritten
            snapshots += [(each.state.id, slug) for slug in slugs]
    return record._replace(snapshots=tuple(snapshots))


def _time(commit: Commit) -> float:
    return datetime.fromisoformat(commit.committed_at).timestamp()
