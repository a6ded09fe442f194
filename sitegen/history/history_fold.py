"""Folds revisions into the state of history, oldest first.

``HistoryFold.fold`` shows how one commit is folded: its paths are sorted by role, the manifest and the shared
files are updated, evals whose folders moved continue under their new ids, and then instruction files and evals are
folded.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain
from posixpath import splitext
from typing import Final

from msgspec.structs import replace

from sitegen.config.models import EvalConfig
from sitegen.history.eval_fold import fold_eval, history_of
from sitegen.history.eval_state import EvalState
from sitegen.history.instructions import MOST_ADDED, InstructionHistories
from sitegen.history.layout import Layout, PathRole, StartOverError, normal
from sitegen.history.repository import Repository
from sitegen.history.revisions import commits_up_to, file_renames, folder_renames, walk
from sitegen.history.rules_in_force import ManifestReader, RulesInForce
from sitegen.model.commits import WORKTREE, ChangedPath, Commit, Revision
from sitegen.model.problems import Problem
from sitegen.model.timeline import CommitRecord, EvalHistory, RenamedEval, last_id

OTHERS: Final = 50
"""The most changed paths in the record of a commit that sitegen does not read."""
_WALKED: Final = 10_000_000
"""About the most bytes of commits that the next build need not read again."""
_MOST_ALIASES: Final = 20
"""The most earlier places of an eval that are looked for; for each, history is read once more."""


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
        self._begun: dict[str, str] = {}
        """The commit of the first output of each eval, unless history begins with it."""
        self._last: Revision | None = None
        self._since = since
        self.repository = repository
        self._known_renames = sorted(renamed, key=lambda rename: rename.position)  # they are found in any order
        # No bound method of this object is passed on: the cycle would keep all states until garbage collection.
        read = repository.read_blob
        self.instructions = InstructionHistories(lambda oid: read(oid).content)
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
        assert self._last is not None
        return self._last.commit

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
        """Report a symbolic link or a submodule at the path of a file that would be read, or of its folder."""
        places, instruction, is_rule = self._roles(path)
        if places or instruction or is_rule or self.layout.hides(path):
            problem = Problem(
                severity="note" if instruction else "warning",
                message=f"This is {file_type}, which is not followed.",
                fix="Commit a regular file, or a folder, in its place if it should count.",
                path=path,
                commit=commit.sha,
                eval_id=places[0].eval_id if places else None,
            )
            self.problems.append(problem)

    def fold(self, revision: Revision) -> None:
        """Fold the next revision.

        Raises StartOverError if a manifest names files that were not followed, or if an eval is renamed whose entry
        under the new id states other outputs.
        """
        commit, changes = revision.commit, revision.changes
        # By eval, including strangers: folders beside iterations without such a name.
        by_eval: dict[str, dict[ChangedPath, PathRole]] = {}
        instructions, rules = [], []
        for change in changes:
            places, is_instruction, is_rule = self._roles(change.path)
            for place in places:
                by_eval.setdefault(place.eval_id, {})[change] = place
            instructions += [change] * is_instruction
            rules += [change] * is_rule
        if self._last is not None:
            before, now = (datetime.fromisoformat(each.committed_at) for each in (self.head, commit))
            self.backward_dates += now < before
        self._last = revision
        of_evals = {change for own in by_eval.values() for change, place in own.items() if place.role != "stranger"}
        if rules:
            for eval_id in self._rules.update(commit, rules, self.evals):
                by_eval.setdefault(eval_id, {})
        self._continue_renamed_evals(by_eval)
        # Instructions come first: an output may record the hash of a file that its own commit adds.
        edits = self.instructions.fold(commit, instructions) if instructions else ()
        added = sum(change.old is None for change in instructions)
        if added > max(MOST_ADDED, len(edits)):
            message = (
                f"{added:,} instruction files in one commit: {MOST_ADDED:,} are followed, the others since their next "
                "edits."
            )
            fix = "If not all of these files instruct a model, name those that do under instructions in sitegen.toml."
            self.problems.append(Problem("note", message, fix, commit=commit.sha))
        if len(edits) < len(instructions):
            followed = set(edits)
            instructions = [change for change in instructions if change.path in followed or change.new is None]
        for eval_id in sorted(by_eval):
            state = self._eval_state(eval_id)
            state.commit, state.changes = commit, by_eval[eval_id]
            had_outputs = bool(state.iterations.units or state.overwritten.units)
            fold_eval(state, self._rules.inputs)
            if commit.position and not had_outputs and (state.iterations.units or state.overwritten.units):
                self._begun[eval_id] = commit.sha
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
            if old in self._begun:
                self._begun[new] = self._begun.pop(old)
            state.folders = list(dict.fromkeys([*self.layout.folders(new), *state.folders]))
            self.renamed.append(RenamedEval(old=old, position=self.head.position, new=new))
            self.problems[:] = [replace(each, eval_id=new) if each.eval_id == old else each for each in self.problems]
            by_eval[new] = by_eval.pop(old) | by_eval[new]

    def follow_earlier_places(self) -> None:
        """Raise StartOverError with an alias for each eval that was elsewhere before its first output.

        It is the folder of half of the files that came then, under the same names, or else the path of the output.
        """
        places = [
            (sha, name, f"{folder}/", (f"{folder}/{normal(entry.outputs)}", *entry.earlier_outputs))
            for name, sha in self._begun.items()
            if not (entry := self.layout.entry(name)).aliases[_MOST_ALIASES:]
            for folder in self.evals[name].folders
        ]

        uncommitted = self._last.changes if self._last and self._last.commit.sha == WORKTREE else ()

        def examine() -> str:
            found: list[tuple[str, str]] = []
            committed = walk(self.repository.place, {*self._begun.values()} - {WORKTREE})
            changes = {WORKTREE: uncommitted} | {each.commit.sha: each.changes for each in committed}
            renames = {sha: file_renames(changes[sha], lambda oid: None) for sha in changes}
            for sha, name, start, outputs in places:
                moved = renames[sha]
                added = [path for path, old, _ in changes[sha] if path.startswith(start) and old is None]
                pairs = [(path[len(start) :], moved[path].path) for path in added if path in moved]
                folders = Counter(old.removesuffix(end) for end, old in pairs if old.endswith(f"/{end}"))
                found += [(name, folder) for folder, number in folders.most_common(1) if 2 * number >= len(added)]
                earlier = [moved[path].path for path in outputs if path in moved]
                found += [(name, path) for path in earlier if splitext(path)[1] == splitext(outputs[0])[1]]
            return json.dumps(found)

        if not places:
            return
        # What is uncommitted may be something else in the next build.
        answers, question = self.repository.answers, f"places before {places}"
        answer = examine() if uncommitted else answers.about(places[-1][0], question, examine)
        owners = {folder: name for name, state in self.evals.items() for folder in state.folders}
        found: dict[str, EvalConfig] = {}
        for name, at in json.loads(answer or "[]"):
            entry, folders = self.layout.entry(name), self.evals[name].folders
            of_others = any(owners.get(place.folder) != name for place in self.layout.places(at))
            if at not in owners and at not in entry.aliases and not of_others:
                unnamed = [folder for folder in folders if folder not in self.layout.folders(name)]
                found.setdefault(name, dataclasses.replace(entry, aliases=(*entry.aliases, *unnamed, at)))
        if found:
            entries = {entry.id: entry for entry in self.layout.manifest.evals} | found
            manifest = dataclasses.replace(self.layout.manifest, evals=tuple(entries.values()))
            raise StartOverError(Layout(self.layout.site, manifest, self.layout.watched))

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
