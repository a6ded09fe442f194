"""Folds revisions into the state of history, oldest first.

``HistoryFold.fold`` shows how one commit is folded: its paths are sorted by role, the manifest and the shared files are
updated, evals whose folders moved continue under their new ids, and then instruction files and each eval that has
changes (``eval_fold``) are folded.
"""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache, partial
from itertools import chain
from posixpath import basename, splitext
from typing import Final

from msgspec.structs import replace

from sitegen.history.eval_fold import fold_eval
from sitegen.history.eval_state import EvalState, history_of
from sitegen.history.instructions import MOST_ADDED, InstructionHistories, what_instructs
from sitegen.history.layout import Layout, PathRole, StartOverError
from sitegen.history.repository import Repository
from sitegen.history.revisions import commits_up_to, folder_renames, walk
from sitegen.history.rules_in_force import ManifestReader, RulesInForce
from sitegen.model.commits import ChangedPath, Commit, Revision
from sitegen.model.problems import Problem
from sitegen.model.timeline import CommitRecord, EvalHistory, RenamedEval, last_id

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
        in_order = sorted(renamed, key=lambda rename: rename.position)  # they are found in any order
        self._last_rename = in_order[-1].position if in_order else -1
        last = {rename.old: layout.entry(last_id(rename.old, rename.position, in_order)) for rename in in_order}
        by_old = [dataclasses.replace(entry, id=old, dir=None, aliases=()) for old, entry in last.items()]
        self._before_rename = layout.with_entries(by_old)
        """The layout until the last rename that is known in advance: the new entries apply to the old ids as well."""
        # No bound method of this object is passed on: the cycle would keep all states until garbage collection.
        read = repository.read_blob
        answer = repository.answer
        self.instructions = InstructionHistories(
            lambda oid: read(oid).content,
            lambda file: answer(f"says {splitext(file.path)[1]}", file.oid, partial(what_instructs, file.path)),
        )
        self._roles = lru_cache(maxsize=4_096)(  # most commits change a few files that others change too
            lambda path, layout: (
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
        places, instruction, is_rule = self._roles(path, self._layout_at(commit))
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
        layout = self._layout_at(commit)
        # By eval, including strangers: folders beside iterations without such a name.
        by_eval: dict[str, dict[ChangedPath, PathRole]] = {}
        instructions, rules, of_evals = [], [], set[ChangedPath]()
        followed = dict[str, ChangedPath]()  # by where the file is now; the commit that moved it may have changed it
        for change in changes:
            _, is_instruction, is_rule = self._roles(change.path, layout)
            path = self.layout.place_now(change.path, commit.position)
            other = followed.get(path, change)
            followed[path] = ChangedPath(path, change.old or other.old, change.new or other.new)
            of_evals |= {change for place in self._roles(path, layout)[0] if place.role != "stranger"}
            instructions += [change] * is_instruction
            rules += [change] * is_rule
        for path, change in followed.items():
            for place in self._roles(path, layout)[0] if change.old != change.new else ():
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
            layout = self._layout_at(self.head)
            if layout.entry(old).outputs != layout.entry(new).outputs:
                raise StartOverError(self.layout, RenamedEval(old=old, position=self.head.position, new=new))
            state = self.evals[new] = self.evals.pop(old)
            state.id, state.entry = new, layout.entry(new)
            if old in self.begun:
                self.begun[new] = self.begun.pop(old)
            state.folders = list(dict.fromkeys([*self.layout.folders(new), *state.folders]))
            self.renamed.append(RenamedEval(old=old, position=self.head.position, new=new))
            self.problems[:] = [replace(each, eval_id=new) if each.eval_id == old else each for each in self.problems]
            by_eval[new] = by_eval.pop(old) | by_eval[new]

    def _layout_at(self, commit: Commit) -> Layout:
        """Return the layout of a commit, which has other entries under the old ids of renamed evals."""
        return self._before_rename if commit.position <= self._last_rename else self.layout

    def _eval_state(self, eval_id: str) -> EvalState:
        if eval_id not in self.evals:
            self.evals[eval_id] = EvalState(
                id=eval_id,
                folders=list(self.layout.folders(eval_id)),
                entry=self._layout_at(self.head).entry(eval_id),
                repository=self.repository,
                problems=self.problems,
                instructions=self.instructions,
                commit=self.head,
            )
        return self.evals[eval_id]
