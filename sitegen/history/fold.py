"""Folds revisions into the state of history, oldest first.

``HistoryFold.fold`` shows how one commit is folded: its paths are sorted by role, the manifest and the shared files are
updated, evals whose folders moved continue under their new ids, and then instruction files and evals are folded.

``fold_eval`` folds a commit into one eval. There are two candidates for its series. One holds the iterations in
folders, ``results/iteration-NNN``, or the runs that a glob matches. The other holds the versions of an output that is
overwritten from commit to commit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial
from itertools import chain
from posixpath import basename, splitext
from typing import Final

from msgspec.structs import replace

from sitegen.config.models import EvalConfig
from sitegen.history.eval_state import (
    EvalState,
    SeriesIteration,
    SeriesState,
    cause_since,
    differences,
    history_of,
    in_series_order,
    same_file,
    same_files,
)
from sitegen.history.globs import LONGEST_SLUG, NOT_IN_A_SLUG
from sitegen.history.instructions import MOST_ADDED, InstructionHistories, what_instructs
from sitegen.history.layout import (
    RECORDED,
    RESULTS,
    Layout,
    PathRole,
    StartOverError,
    is_in_output,
    is_path,
    iteration_number,
    normal,
    runs_of,
)
from sitegen.history.repository import Repository
from sitegen.history.revisions import commits_up_to, folder_renames, walk
from sitegen.history.rules_in_force import ManifestReader, RulesInForce
from sitegen.history.run_records import earlier_runs, with_origin
from sitegen.model.commits import ChangedPath, Commit, Revision
from sitegen.model.problems import Problem
from sitegen.model.timeline import Cause, CommitRecord, EvalHistory, RenamedEval, Snapshot, last_id
from sitegen.scoring.answerers import answerers_of
from sitegen.text.plain import natural_order

_SHORT: Final = 12  # digits of a commit's id in the slug of a snapshot
OTHERS: Final = 50
"""The most changed paths in the record of a commit that sitegen does not read."""
_WALKED: Final = 10_000_000  # bytes, about, of the commits that the next build need not read again


class HistoryFold:
    """A fold of commits from the root of history: every eval, every instruction file, and a record of each commit."""

    def __init__(
        self,
        repository: Repository,
        layout: Layout,
        renamed: tuple[RenamedEval, ...],
        read_manifest: ManifestReader,
        since: str | None = None,
    ) -> None:
        """``renamed``: evals whose later ids are needed in advance.

        Their entries under the new ids state other ``outputs``. ``since``: the commit after which everything is new.
        """
        self.layout = layout
        self.evals: dict[str, EvalState] = {}
        """By id. It also has evals that never had ground truth, which are not displayed."""
        self.before: dict[str, EvalHistory] | None = None
        """Every eval at the commit *since*, by id; None if the commit was not met."""
        self.first_new = 0
        """Position of the first commit after it."""
        self.backward_dates = 0
        """Number of commits that are dated before their parent."""
        self.problems: list[Problem] = []
        self.records: list[CommitRecord] = []
        """The records do not have their snapshots yet, because only the end of history decides which series counts."""
        self.renamed: list[RenamedEval] = []
        """The evals that the commits renamed, oldest first."""
        self.begun: dict[str, Commit] = {}
        """The commit of the first output of each eval, unless history begins with it."""
        self.last: Revision | None = None
        self._irregular: dict[str, int] = {}  # where among the problems the one of a path is
        self._since = since
        self.repository = repository
        self._known_renames = sorted(renamed, key=lambda rename: rename.position)  # they are found in any order
        # No bound method of this object is passed on: the cycle would keep all states until garbage collection.
        read = repository.read_blob
        answer = repository.answer
        self.instructions = InstructionHistories(
            lambda oid: read(oid).content,
            lambda file: answer(f"says {splitext(file.path)[1]}", file.oid, partial(what_instructs, file.path)),
        )
        self._roles = lru_cache(maxsize=4_096)(  # most commits change a few files that others change too
            lambda path: (
                layout.places(path),
                layout.is_instruction(path),
                layout.is_shared(path) or path == layout.manifest_path,
            )
        )
        """The role of a path in evals, and whether it is an instruction file, or one of the rules of scoring."""
        self._rules = RulesInForce(layout, repository, self.problems.append, read_manifest)

    @property
    def head(self) -> Commit:
        """The last commit that was folded."""
        assert self.last is not None
        return self.last.commit

    def histories(self) -> dict[str, EvalHistory]:
        """Return the history of every eval, by id."""
        return {eval_id: history_of(state) for eval_id, state in sorted(self.evals.items())}

    def walk(self, head: str, known: Sequence[Revision] = ()) -> tuple[Revision, ...]:
        """Fold all commits up to ``head``, and return the first of them. Raises StartOverError as ``fold`` does.

        ``known``: those of an earlier build, which are not read again if history still begins with them.
        """
        place, pathspecs = self.repository.place, self.layout.pathspecs
        commits = [*commits_up_to(place, head)]
        if [revision.commit.sha for revision in known] != commits[: len(known)]:
            known = ()
        first, room = [], _WALKED
        new = walk(place, commits[len(known) :], pathspecs=pathspecs, position=len(known))
        for revision in chain(known, new):
            for path, file_type in revision.irregular:
                self.report_irregular(revision.commit, path, file_type)
            self.fold(revision)
            room -= len(revision.commit.body) + 150 * len(revision.changes)  # of a path and two ids
            if room >= 0:
                first.append(revision)
        return tuple(first)

    def report_irregular(self, commit: Commit, path: str, file_type: str) -> None:
        """Report a symbolic link or a submodule at the path of a file that would be read, or of its folder.

        ``file_type``: empty if it is none any more, so that nobody has to act.
        """
        if (reported := self._irregular.pop(path, None)) is not None:
            self.problems[reported] = replace(self.problems[reported], past=True)
        if not file_type:
            return
        places, instruction, is_rule = self._roles(path)
        names = {basename(glob).replace("*", "x") for glob in self.layout.site.instructions}
        instruction = instruction or any(self.layout.is_instruction(f"{path}/{name}") for name in names)
        if places or instruction or is_rule or self.layout.hides(path):
            self._irregular[path] = len(self.problems)
            message = f"This is {file_type}, which is not followed."
            fix = "Commit a regular file, or a folder, in its place if it should count."
            of = places[0].eval_id if places else None
            new = Problem("note" if instruction else "warning", message, fix, path=path, commit=commit.sha, eval_id=of)
            self.problems.append(new)

    def fold(self, revision: Revision) -> None:
        """Fold the next revision.

        Raises StartOverError if a manifest names files that were not followed, or if an eval is renamed whose entry
        under the new id states other outputs.
        """
        commit, changes = revision.commit, revision.changes
        # By eval, including strangers: folders beside iterations without such a name.
        by_eval: dict[str, dict[ChangedPath, PathRole]] = {}
        instructions, rules, of_evals = [], [], set[ChangedPath]()
        followed = dict[str, ChangedPath]()  # by where the file is now; the commit that moved it may have changed it
        for change in changes:
            _, is_instruction, is_rule = self._roles(change.path)
            path = self.layout.place_now(change.path, commit.position)
            other = followed.get(path, change)
            followed[path] = ChangedPath(path, change.old or other.old, change.new or other.new)
            of_evals |= {change for place in self._roles(path)[0] if place.role != "stranger"}
            instructions += [change] * is_instruction
            rules += [change] * is_rule
        for path, change in followed.items():
            for place in self._roles(path)[0] if change.old != change.new else ():
                by_eval.setdefault(place.eval_id, {})[change] = place
        dates = [datetime.fromisoformat(at.commit.committed_at) for at in (self.last, revision) if at and self.last]
        self.backward_dates += dates != sorted(dates)
        self.last = revision
        if rules:
            for eval_id in self._rules.update(commit, rules, self.evals):
                by_eval.setdefault(eval_id, {})
        self._continue_renamed_evals(by_eval)
        # Instructions come first: an output may record the hash of a file that its own commit adds.
        edits = self.instructions.fold(commit, instructions) if instructions else ()
        added = sum(change.old is None for change in instructions)
        if added > max(MOST_ADDED, len(edits)):
            message = (
                f"{added:,} instruction files in one commit: {MOST_ADDED:,} are followed, others since the next edit."
            )
            fix = "If not all of these files instruct a model, name those that do under instructions in sitegen.toml."
            self.problems.append(Problem("note", message, fix, commit=commit.sha))
        if len(edits) < len(instructions):
            files = set(edits)
            instructions = [change for change in instructions if change.path in files or change.new is None]
        for eval_id in sorted(by_eval):
            state = self._eval_state(eval_id)
            state.commit, state.changes = commit, by_eval[eval_id]
            had_outputs = bool(state.iterations.units or state.overwritten.units)
            fold_eval(state, self._rules.inputs)
            if commit.position and not had_outputs and (state.iterations.units or state.overwritten.units):
                self.begun[eval_id] = commit
        if read := {*of_evals, *rules, *instructions}:
            others = [change for change in changes if change not in read]
            record = CommitRecord(
                commit=commit,
                changes=tuple(sorted(read)),
                other_changes=len(others),
                snapshots=(),
                edits=edits,
                others=tuple(sorted(others)[:OTHERS]),
            )
            self.records.append(record)
        if commit.sha == self._since:
            self.before, self.first_new = self.histories(), commit.position + 1

    def _continue_renamed_evals(self, by_eval: dict[str, dict[ChangedPath, PathRole]]) -> None:
        """Continue an eval under its new id if most of its files moved to a new folder."""
        deleted, added = {}, {}
        for eval_id, changes in by_eval.items():
            if any(change.new is None for change in changes) and eval_id in self.evals:
                deleted[eval_id] = Counter(change.old for change in changes if change.new is None and change.old)
            state = self.evals.get(eval_id)
            is_new = state is None or (not state.files and not state.was_scorable)
            if is_new and any(change.old is None for change in changes):
                added[eval_id] = Counter(change.new for change in changes if change.old is None and change.new)
        for new, old in folder_renames(deleted, added).items():
            # If at least as many files stay as moved, the old eval still exists and the new folder is another eval.
            staying = len(self._eval_state(old).files) - deleted[old].total()
            if self.layout.share_folder(old, new) or staying >= (deleted[old] & added[new]).total():
                continue
            # Earlier commits were folded by the old entry; under the new entry, other files are outputs.
            if self._entry_of(old).outputs != self._entry_of(new).outputs:
                raise StartOverError(self.layout, RenamedEval(old=old, position=self.head.position, new=new))
            state = self.evals[new] = self.evals.pop(old)
            state.id, state.entry = new, self._entry_of(new)
            if old in self.begun:
                self.begun[new] = self.begun.pop(old)
            state.folders = list(dict.fromkeys([*self.layout.folders(new), *state.folders]))
            self.renamed.append(RenamedEval(old=old, position=self.head.position, new=new))
            self.problems[:] = [replace(each, eval_id=new) if each.eval_id == old else each for each in self.problems]
            by_eval[new] = by_eval.pop(old) | by_eval[new]

    def _entry_of(self, eval_id: str) -> EvalConfig:
        """Return the built manifest's entry of an eval, by its final id if the rename is known in advance."""
        return self.layout.entry(last_id(eval_id, self.head.position, self._known_renames))

    def _eval_state(self, eval_id: str) -> EvalState:
        if eval_id not in self.evals:
            self.evals[eval_id] = EvalState(
                id=eval_id,
                folders=list(self.layout.folders(eval_id)),
                entry=self._entry_of(eval_id),
                repository=self.repository,
                problems=self.problems,
                made_with=self.instructions.made_with,
                commit=self.head,
            )
        return self.evals[eval_id]


def fold_eval(state: EvalState, inputs_of: Callable[[EvalState], Snapshot]) -> None:
    """Fold the commit of the state into an eval: its files, then its folder, then its inputs, then its series.

    ``inputs_of``: returns what scores its outputs, without these; called once the files are updated. If ``outputs``
    of the built manifest is ``auto``, the versions of an output are followed until there is an iteration in a folder.
    """
    entry, folder_before, inputs_before = state.entry, state.active, state.inputs
    state.update_files()
    folder = next((name for name in state.folders if state.has_files(name)), None)  # listed by precedence
    state.active = folder_before if folder is None else folder
    moved = state.active != folder_before
    if moved:
        state.newest_run = None
        if folder_before is not None:
            state.renamed_from.append(basename(folder_before))
    state.inputs = inputs_of(state)
    state.kind = state.kind_by(state.inputs)
    state.inputs_changed = differences(inputs_before, state.inputs) != ()
    state.was_scorable = state.was_scorable or (state.scorable and bool(state.files))
    had_iterations = bool(state.iterations.units)
    if not is_path(entry.outputs):
        # In another folder, or with another kind, other files are outputs, so that every iteration is examined again.
        kind_changed = state.kind != state.kind_by(inputs_before)
        _fold_iterations(state, everything=moved or kind_changed)
    if is_path(entry.outputs) or (entry.outputs == "auto" and not state.iterations.units):
        _fold_overwritten(state)
    elif len(versions := state.overwritten.snapshots) > 1 and not had_iterations:
        message = f"{len(versions):,} versions of an overwritten output are shown no more: an iteration is in a folder."
        fix = "Put each version into a folder of its own, or remove the folder and go on to overwrite the output."
        state.report(Problem.of_type("versions_hidden", message, fix, versions[-1].outputs[0].path))


def _fold_iterations(state: EvalState, *, everything: bool) -> None:
    """Fold one commit into the series of iterations. ``everything``: whether all folders count as touched."""
    series = state.iterations
    roles = ("output", "recorded", "run")
    places = (place for place in state.changes.values() if place.role in roles and place.folder == state.active)
    names = {place.iteration for place in places} - {""}
    if everything:
        names |= {*series.units, *state.names_on_file()}
    if not names and not series.units:
        return
    in_order = sorted(names, key=lambda name: (iteration_number(name) or 0, natural_order(name), name))
    files_by_name = {name: state.committed_files(name) for name in in_order}
    # Only a run writes eval-results.json, so without an output it is a run that failed. Other records may lie anywhere.
    touched = [
        name
        for name, files in files_by_name.items()
        if files.outputs or (files.recorded and basename(files.recorded.path) == RECORDED)
    ]
    gone = [
        name for name in files_by_name if name not in touched and name in series.units and series.units[name].present
    ]
    # An iteration whose folder was renamed but kept its number and its output goes on under its new name.
    for new in [name for name in touched if name not in series.units]:
        number, outputs = iteration_number(new), files_by_name[new].outputs
        for old in gone:
            last = series.last_snapshot(old)
            if series.units[old].number == number and last and same_files(last.outputs, outputs):
                series.waiting.pop(old, None)
                series.units = {new if name == old else name: unit for name, unit in series.units.items()}
                gone.remove(old)
                break
    for name in gone:
        series.mark_present(name, False)
    for name in touched:
        if name not in series.units:
            series.units[name] = _new_unit(state, name)
    newest = series.newest_scored()
    untouched = [*series.waiting] if state.scorable else []
    if newest is not None and (state.inputs_changed or series.snapshots[-1].deleted):
        untouched.append(newest)
    for name in untouched:
        if name not in files_by_name:
            files_by_name[name] = state.committed_files(name)
    _start_snapshots(state, series, touched, files_by_name)


def _fold_overwritten(state: EvalState) -> None:
    """Fold one commit into the series of versions. The same content at another path is not a new version."""
    files = state.version_outputs()
    draft = state.draft("", files)
    outputs = draft.outputs
    if not all(map(state.belongs, outputs)):
        outputs = state.output  # the version belongs to another eval, and this eval is unchanged
    series, settings = state.overwritten, state.inputs.settings
    number = len(series.units)
    drafts: dict[str, Snapshot] = {}
    if not outputs and number:
        series.mark_present(str(number), False)
    elif outputs and not (
        same_files(state.output, outputs) and answerers_of(state.output, settings) == answerers_of(outputs, settings)
    ):
        # The versions that waited for a ground truth are overwritten now.
        series.waiting.clear()
        for run in (*((earlier,) for earlier in earlier_runs(state, files)), files):
            number += 1
            series.units[str(number)] = SeriesIteration(number, f"{number:04d}")
            drafts[str(number)] = replace(state.draft("", run), label=f"iteration-{number:03d}")
    state.output = outputs
    entry = state.entry
    is_folder = any(is_in_output(entry, blob.path.removeprefix(f"{state.active}/")) for blob in outputs[:1])
    folder = normal(f"{state.active or ''}/{entry.outputs}") if is_folder else ""
    folder = folder or (outputs[0].path.rpartition("/")[0] if outputs else "")
    recorded = state.record_beside(outputs, folder, in_own_folder=is_folder)
    draft = replace(draft, label=f"iteration-{number:03d}", recorded=recorded)
    _start_snapshots(state, series, [*drafts], {**drafts, str(number): draft})


def _new_unit(state: EvalState, name: str) -> SeriesIteration:
    """Make a new iteration, with a slug that is unique in the series on every file system.

    A run has the number in its name, otherwise its position among all runs so far.
    """
    if runs_of(state.entry) is not None:
        stated = iteration_number(name.rpartition("/")[2])
        position = len(state.iterations.units) + 1
        if stated is None:
            words = re.sub(NOT_IN_A_SLUG, "-", name.lower())[:LONGEST_SLUG].strip("-.")
            return state.iterations.new_iteration(position, f"{position:04d}-{words}".rstrip("-"))
        return state.iterations.new_iteration(stated, f"{stated:04d}")
    number = iteration_number(name) or 0
    slug = f"{number:04d}"
    if slug in state.iterations.slugs:
        path = f"{state.active}/{RESULTS}/{name}"
        message = f"{name!r} has the number of another iteration, {number}; both are kept."
        state.report(Problem.of_type("same_number", message, "Give each iteration a number of its own.", path))
        slug = f"{slug}-{name.lower()}"
    return state.iterations.new_iteration(number, slug)


def _start_snapshots(
    state: EvalState, series: SeriesState, touched: Sequence[str], files_by_name: Mapping[str, Snapshot]
) -> None:
    """Start snapshots of new and changed iterations, and of the newest iteration if its inputs changed.

    One that is there again after it was deleted is new, unless the last snapshot is of the last of those that came
    back: then all are as they were. The newest one that is left is new if those after it were deleted: the last
    snapshot is of the output that counts now.

    Of an iteration with the same outputs, the files beside them are updated. ``touched``: the iterations that the
    commit touched and left in place; ``files_by_name``: the files of these, of waiting iterations, and of the
    newest iteration if inputs changed. If a ground truth is needed and missing, nothing is started, and the touched
    iterations wait for it.
    """
    returned = [name for name in touched if not series.units[name].present]
    for name in returned:
        series.mark_present(name, True)
    if not state.scorable:
        series.waiting |= dict.fromkeys(touched, True)
        return
    previous = series.snapshots[-1] if series.snapshots else None
    last_back = series.last_snapshot(returned[-1]) if returned else None
    if last_back and last_back is previous and same_files(last_back.outputs, files_by_name[returned[-1]].outputs):
        returned = []
    candidates = dict.fromkeys((*touched, *series.waiting))
    series.waiting.clear()
    started = []
    for name in candidates:
        iteration = series.units[name]
        if not iteration.present or name not in files_by_name:
            continue
        draft, last = files_by_name[name], series.last_snapshot(name)
        outputs, settings = draft.outputs, state.inputs.settings
        is_same = last is not None and same_files(last.outputs, outputs) and (name not in returned or last is previous)
        if last is not None and is_same and answerers_of(last.outputs, settings) == answerers_of(outputs, settings):
            # The current files beside its output; another path alone does not change it.
            if not same_file(last.recorded, draft.recorded):
                last = with_origin(state, last, draft)
            if not same_files(last.runs, draft.runs):
                last = replace(last, runs=draft.runs)
            series.snapshots[iteration.points[-1]] = last
            continue
        cause = cause_since(last or previous, draft, waited=name not in touched)
        started.append((name, _new_snapshot(state, iteration, ("outputs", *cause), draft)))
    for name, snapshot in in_series_order(started):
        series.append(name, snapshot)
    newest = series.newest_scored()
    if newest is None or newest not in files_by_name or newest in dict(started):
        return
    # Older iterations keep their scores: only the newest is scored again with other inputs.
    draft, is_left = files_by_name[newest], series.snapshots[-1].deleted
    changed = cause_since(series.last_snapshot(newest), draft) if is_left or state.inputs_changed else ()
    if cause := ("outputs", *changed) if is_left else changed:
        series.append(newest, _new_snapshot(state, series.units[newest], cause, draft))


def _new_snapshot(state: EvalState, iteration: SeriesIteration, cause: tuple[Cause, ...], draft: Snapshot) -> Snapshot:
    """Make a snapshot of an iteration. Every snapshot but its first has the commit's id in the slug."""
    slug = f"{iteration.slug}-{state.commit.sha[:_SHORT]}" if iteration.points else iteration.slug
    return with_origin(state, replace(draft, iteration=iteration.number, slug=slug, cause=cause), draft)
