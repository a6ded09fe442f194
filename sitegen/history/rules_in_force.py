"""The inputs of evals outside their own files, at the commit being folded: the manifest, mappings and schemas."""

import json
from collections.abc import Callable, Iterable, Mapping
from posixpath import basename
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.config.findings import ANSWERED_IN
from sitegen.config.models import EvalConfig, Manifest, case_settings, files_of
from sitegen.data_files.folders import may_hold_document
from sitegen.errors import POINTER, MissingObjectsError
from sitegen.history.eval_state import NOTHING_SCORED, EvalState
from sitegen.history.folder_tree import first_blob
from sitegen.history.layout import EntryRules, Layout, StartOverError, canonical_settings, kind_of, normal
from sitegen.history.repository import Repository
from sitegen.model.commits import ChangedPath, Commit
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Parsed, Problem
from sitegen.model.timeline import Blob, Snapshot

_DEFAULT_RULES: Final = EntryRules()
_NOTHING_TO_DO: Final = "Nothing has to be done if a later commit corrected it."


ManifestReader: TypeAlias = Callable[[bytes, str], Parsed[Manifest | None]]
"""Reads a manifest as ``config.manifest.read_manifest`` does, whose arguments it takes."""


class RulesInForce:
    """The rules of the newest readable manifest, and the shared files that they refer to.

    An eval that this manifest does not name has the rules of the built revision's manifest, so that outputs from before
    the first manifest are scored like later ones. If the built manifest changes, history is read again.
    """

    def __init__(
        self, layout: Layout, repository: Repository, report: Callable[[Problem], None], read_manifest: ManifestReader
    ) -> None:
        self._by_eval: dict[str, EntryRules] = {}
        self._by_folder: dict[str, str] = {}
        """The eval id of each folder that the manifest names."""
        self._shared: dict[str, str] = {}
        """Path -> blob id of mappings, schemas and ground truths outside their eval's folder."""
        self._truths: dict[str, Blob] = {}
        """Ground truths that are folders, by their paths, as long as none of their documents changes."""
        self._read_manifest = read_manifest
        self._layout = layout
        self._repository = repository
        self._report = report

    def update(self, commit: Commit, changes: Iterable[ChangedPath], evals: Mapping[str, EvalState]) -> list[str]:
        """Apply a commit's changes of shared files and of the manifest. Returns the ids of the affected evals.

        Raises StartOverError if the manifest names files that were not followed so far.
        """
        before = {eval_id: self._shared_dependencies(state) for eval_id, state in evals.items()}
        for change in changes:
            if not self._layout.is_shared(change.path):
                continue
            self._forget_folders(change)
            if change.new is None:
                self._shared.pop(change.path, None)
            else:
                self._shared[change.path] = change.new
        for change in changes:
            if change.path == self._layout.manifest_path:
                self._update_rules(commit, change)
        return [eval_id for eval_id, outside in before.items() if outside != self._shared_dependencies(evals[eval_id])]

    def inputs(self, state: EvalState) -> Snapshot:
        """Return what scores the outputs of an eval, as a snapshot without any."""
        folder = state.active or state.folders[0]
        rules = self._rules(state.id, folder)
        entry = self._layout.entry(state.id)
        if traits_of(entry.kind).is_recorded:
            # Nothing is scored, and the newest manifest decides which of the numbers are displayed.
            return replace(NOTHING_SCORED, settings=self._layout.rules(state.id).settings)
        if case_settings(rules.settings) is None:
            truth = self._own_file(state, entry, rules)
        else:
            file = state.newest_case_file()
            truth = file and file._replace(oid=state.sides_of(file, rules.settings)[0])
        if not traits_of(kind_of(entry, truth.path if truth else None)).is_structured:
            return replace(NOTHING_SCORED, ground_truth=truth, settings=rules.settings)
        return replace(
            NOTHING_SCORED,
            ground_truth=truth,
            mapping=self._mapping(rules, folder),
            schema=self._schema(rules, folder),
            settings=rules.settings,
        )

    def _own_file(self, state: EvalState, entry: EvalConfig, rules: EntryRules) -> Blob | None:
        stated = rules.ground_truth
        if stated is None and entry.kind and not files_of(entry.kind).ground_truths:
            stated = entry.ground_truth  # no name by convention: the test cases beside responses with verdicts
        truth = state.ground_truth(entry.kind, stated, self._shared)
        if truth is None and stated and traits_of(kind_of(entry, None)).is_structured:
            truth = self._folder(state, stated)
        if truth is None and rules.borrowed:  # the file may have had its conventional name earlier
            truth = state.ground_truth(entry.kind, None, self._shared)
        return truth

    def _folder(self, state: EvalState, stated: str) -> Blob | None:
        """Return a folder with a file for each document as one ground truth; None if it holds no document."""
        path = normal(f"{state.active or ''}/{stated}")
        for change in state.changes:
            self._forget_folders(change)
        if path not in self._truths:
            own = (blob for blob in state.files.blobs(path) if may_hold_document(blob.path))
            start = f"{path}/"
            shared = (Blob(name, oid) for name, oid in self._shared.items() if name.startswith(start))
            documents = {blob.path.removeprefix(start): blob.oid for blob in (*own, *shared)}
            if not documents:
                return None
            oid = self._repository.folder_id(state.commit.sha, path, documents)
            self._truths[path] = Blob(start, oid)
        return self._truths[path]

    def _forget_folders(self, change: ChangedPath) -> None:
        for path in [path for path in self._truths if change.path.startswith(f"{path}/")]:
            del self._truths[path]

    def _update_rules(self, commit: Commit, change: ChangedPath) -> None:
        if change.new is None:
            self._by_eval, self._by_folder = {}, {}
            return
        read = self._repository.read_blob(change.new)
        if read.content is None:
            in_lfs = read.reason == POINTER
            fix = (in_lfs and MissingObjectsError(in_lfs=True).fix) or _NOTHING_TO_DO
            message = f"The manifest cannot be read: {read.reason}."
            self._report(Problem("warning", message, fix, path=change.path, commit=commit.sha, not_fetched=in_lfs))
            return
        manifest, findings = self._read_manifest(read.content, self._layout.site.evals_dir)
        for finding in findings:
            if finding.severity == "error":  # nobody can correct an old commit
                line, path = finding.line, change.path
                self._report(
                    Problem("warning", finding.message, _NOTHING_TO_DO, path=path, line=line, commit=commit.sha)
                )
        if manifest is None:
            return
        watched = self._layout.named_by(manifest)
        if not self._layout.watched.covers(watched):
            layout = self._layout
            raise StartOverError(Layout(layout.site, layout.manifest, layout.watched | watched, layout.moved))
        self._by_eval = {entry.id: EntryRules.of(entry) for entry in manifest.evals}
        self._by_folder = {normal(entry.dir): entry.id for entry in manifest.evals if entry.dir}

    def _shared_dependencies(self, state: EvalState) -> tuple[object, ...]:
        folder = state.active
        if folder is None:
            return ()
        rules = self._rules(state.id, folder)
        path = normal(f"{folder}/{rules.ground_truth}") if rules.ground_truth else ""
        truth = self._shared.get(path) if path else None
        documents = tuple(file for file in self._shared.items() if path and file[0].startswith(f"{path}/"))
        return rules, self._mapping(rules, folder), self._schema(rules, folder), truth, documents

    def _rules(self, eval_id: str, folder: str) -> EntryRules:
        """Return the rules of an eval in the commit's manifest, in which it may have another id or folder."""
        former_id = self._by_folder.get(folder, basename(folder))
        own = self._by_eval.get(eval_id)
        if own is None and not self._layout.share_folder(eval_id, former_id):
            own = self._by_eval.get(former_id)
        built = self._layout.rules(eval_id)
        return _with_built_sides(own, built) if own is not None else replace(built, borrowed=True)

    def _mapping(self, rules: EntryRules, folder: str) -> Blob | None:
        shared = self._shared
        mapping = self._layout.mapping(rules, folder, shared)
        return self._layout.mapping(_DEFAULT_RULES, folder, shared) if mapping is None and rules.borrowed else mapping

    def _schema(self, rules: EntryRules, folder: str) -> Blob | None:
        return first_blob([rules.schema.replace("{dir}", folder)], self._shared) if rules.schema else None


def _with_built_sides(rules: EntryRules, built: EntryRules) -> EntryRules:
    """Return the rules of a commit with the built manifest's places of outputs, and of the sides in case files."""
    has_same_sides = case_settings(rules.settings) == case_settings(built.settings)
    if has_same_sides and ANSWERED_IN not in rules.settings + built.settings:
        return rules
    settings, structure = json.loads(rules.settings), json.loads(built.settings)
    in_cases = case_settings(built.settings) is not None
    taken_over = [ANSWERED_IN]
    if not has_same_sides:
        settings["ground_truth_format"] = structure["ground_truth_format"] if in_cases else "auto"
        taken_over.append("cases")
    for key in taken_over:
        settings.pop(key, None)
        if key in structure and (in_cases or key == ANSWERED_IN):
            settings[key] = structure[key]
    return replace(rules, settings=canonical_settings(settings))
