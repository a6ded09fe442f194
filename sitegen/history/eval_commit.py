"""A commit as input to the fold of an eval, the snapshots that it starts, and the sides of case files.

If one file holds both expected values and outputs, each side is identified by the first blob that had it. If a version
changes only one side, code that compares blob ids therefore sees a change of only the ground truth, or only the
outputs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from posixpath import basename
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from sitegen.config.findings import ANSWERED_IN
from sitegen.config.models import EvalConfig, Kind, case_settings, files_of
from sitegen.data_files.reading import installed_for
from sitegen.history.eval_state import (
    EvalInputs,
    EvalState,
    SeriesIteration,
    SeriesState,
    cause_since,
    in_series_order,
    same_file,
    same_files,
)
from sitegen.history.folder_tree import first_blob
from sitegen.history.globs import slug_of_run, time_in
from sitegen.history.layout import (
    RESULTS,
    EntryRules,
    PathRole,
    canonical_settings,
    is_path,
    iteration_number,
    normal,
    records_of,
    required_statements,
    runs_of,
)
from sitegen.history.repository import Repository
from sitegen.model.commits import ChangedPath, Commit
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Problem
from sitegen.model.recorded import Recorded, read_recorded, states
from sitegen.model.timeline import Blob, Cause, Snapshot
from sitegen.scoring import case_files
from sitegen.scoring.answerers import answerers
from sitegen.scoring.run_statements import appended_runs, recorded_in
from sitegen.text.plain import moment_of

_SHORT: Final = 12
"""The digits of a commit's id in the slug of a snapshot."""
_METRICS: Final = 50
"""The most recorded metrics of a snapshot."""
_COMMIT_ID = r"[0-9a-f]{7,64}"

FileChange: TypeAlias = tuple[PathRole, ChangedPath]
"""The change of a file of an eval, and the role of the file."""


class EvalCommit(Frozen):
    """A commit that changed an eval's files, or other inputs of its scores."""

    state: EvalState
    commit: Commit
    changes: tuple[FileChange, ...]
    """Changes of the eval's own files."""
    entry: EvalConfig
    """The eval's entry in the built manifest."""
    repository: Repository
    problems: list[Problem]
    """Those of the whole history; ``report`` adds to them."""
    made_with: Callable[[Recorded], Commit | None]
    """Returns the commit after which instruction files were as a record states them."""
    inputs: EvalInputs = EvalInputs()
    """The inputs of scoring besides outputs, after the commit. Set once the files are updated, as the next two fields
    are."""
    inputs_changed: bool = False
    """Whether the commit changed ``inputs``."""
    kind: Kind = "fields"

    def report(self, problem: Problem) -> None:
        """Add a problem that the eval has at this commit."""
        self.problems.append(replace(problem, commit=self.commit.sha, eval_id=self.entry.id))

    @property
    def scorable(self) -> bool:
        """Whether outputs can be scored: there is ground truth, or they are judged already."""
        return self.inputs.ground_truth is not None or not files_of(self.kind).ground_truths

    def belongs(self, output: Blob) -> bool:
        """Decide whether an output belongs to this eval: its run states the values that the eval's settings require."""
        statements = required_statements(self.entry)
        if not statements:
            return True
        question = f"states {sorted(statements.items())}"
        return bool(self.repository.answer(question, output.oid, lambda content: "yes" * states(content, statements)))

    def draft(self, label: str, outputs: tuple[Blob, ...], recorded: Blob | None = None) -> Snapshot:
        """Return the files of an iteration after the commit as a snapshot without number, slug and cause.

        Its outputs and its own ground truth have separate ids if its files hold both.
        """
        inputs = self.inputs
        if case_settings(inputs.settings) is not None and outputs:
            sides = [self.sides_of(file, inputs.settings) for file in outputs]
            inputs = inputs._replace(ground_truth=outputs[0]._replace(oid=sides[0][0]))
            outputs = tuple(file._replace(oid=output) for file, (_, output) in zip(outputs, sides, strict=True))
        return Snapshot(
            iteration=0,
            label=label,
            slug="",
            commit=self.commit,
            cause=(),
            outputs=outputs,
            **inputs._asdict(),
            recorded=recorded,
        )

    def sides_of(self, file: Blob, settings: str) -> tuple[str, str]:
        """Return the first blobs that had the expected values and the outputs of a case file."""
        state, version = self.state, f"{case_settings(settings)} {file.oid}"
        if version not in state.sides:
            digests = self.repository.answer(
                f"sides of {file.path} {settings}",
                file.oid,
                lambda content: " ".join(case_files.sides_of(file.path, content, settings) or ()),
            )
            if not digests:  # while the file cannot be read, the earlier expected values still apply
                earlier = state.inputs.ground_truth if state.inputs else None
                state.sides[version] = (earlier.oid if earlier else file.oid, file.oid)
            else:
                expected, output = digests.split()
                state.sides[version] = (
                    state.first_with.setdefault(f"expected {expected}", file.oid),
                    state.first_with.setdefault(f"output {output}", file.oid),
                )
        return state.sides[version]

    def names_on_file(self) -> set[str]:
        """Return the names of all iterations that the eval has after the commit."""
        state, runs = self.state, runs_of(self.entry)
        if runs is not None:
            return set(runs.names(state.active or "", state.files))
        results = state.files.folder(f"{state.active}/{RESULTS}")
        return {name for name in (*results.folders, *results.files) if iteration_number(name) is not None}

    def committed_files(self, name: str) -> Snapshot:
        """Return the files of an iteration in a folder, or of a run that a glob matches."""
        state, glob = self.state, runs_of(self.entry)
        if glob is not None:
            outputs = tuple(filter(self.belongs, glob.outputs(state.active or "", name, state.files)))
            below = f"{state.active}/{glob.start}{name if glob.is_folder else ''}".strip("/")
            recorded = self.record_beside(outputs, below, in_own_folder=glob.is_folder)
            return replace(self.draft(name, outputs, recorded), recorded_at=time_in(name, self.commit.committed_at))
        folder = f"{state.active}/{RESULTS}/{name}"
        files = files_of(self.kind)
        outputs = state.files.outputs_in(folder, files.outputs, files.variants)
        draft = self.draft(name, outputs, self.record_beside(outputs, folder))
        if name not in state.with_runs:
            return draft
        start = f"{folder}/runs"
        runs = ((_run_number(blob.path[len(start) + 1 :]), blob) for blob in state.files.blobs(start))
        return replace(draft, runs=tuple(blob for _, blob in sorted(runs)))

    def record_beside(self, outputs: tuple[Blob, ...], folder: str, *, in_own_folder: bool = True) -> Blob | None:
        """Return the record in the folder of an output, which is no output itself."""
        names, taken = records_of(self.kind, in_own_folder=in_own_folder), {blob.path for blob in outputs}
        paths = [f"{folder}/{name}" if folder else name for name in names]
        return first_blob([path for path in paths if path not in taken], self.state.files)

    def new_unit(self, name: str) -> SeriesIteration:
        """Make a new iteration, with a slug that is unique in the series on every file system.

        A run has the number in its name, otherwise its position among all runs so far.
        """
        state = self.state
        if runs_of(self.entry) is not None:
            stated = iteration_number(name.rpartition("/")[2])
            position = len(state.iterations.units) + 1
            if stated is None:
                return state.iterations.new_iteration(position, slug_of_run(name, position))
            return state.iterations.new_iteration(stated, f"{stated:04d}")
        number = iteration_number(name) or 0
        slug = f"{number:04d}"
        if slug in state.iterations.slugs:
            path = f"{state.active}/{RESULTS}/{name}"
            message = f"{name!r} has the number of another iteration, {number}; both are kept."
            self.report(Problem.of_type("same_number", message, "Give each iteration a number of its own.", path))
            slug = f"{slug}-{name.lower()}"
        return state.iterations.new_iteration(number, slug)

    def version_outputs(self) -> tuple[Blob, ...]:
        """Return the files of the output that is overwritten from commit to commit."""
        state = self.state
        folder = state.active or ""
        if is_path(self.entry.outputs):
            path, records = normal(f"{folder}/{self.entry.outputs}"), records_of(self.kind)
            file = first_blob((path, *self.entry.earlier_outputs), state.files)
            truth = self.inputs.ground_truth.path if self.inputs.ground_truth and not self.entry.in_cases else None
            documents = (blob for blob in state.documents(self.entry) if not (truth and blob.path.startswith(truth)))
            return (file,) if file else tuple(sorted(blob for blob in documents if basename(blob.path) not in records))
        files = files_of(self.kind)
        log = first_blob((*(f"{state.active}/{path}" for path in files.elsewhere), *files.at_root), state.files)
        if log:
            return (log,)
        results = f"{state.active}/{RESULTS}"
        return state.files.outputs_in(folder, files.overwritten, files.variants, elsewhere=(results,))

    def update_files(self) -> None:
        """Apply the changes of the eval's own files to its state."""
        state = self.state
        for place, change in self.changes:
            if place.role == "stranger":
                if change.new is not None and place.iteration not in state.strangers:
                    state.strangers.add(place.iteration)
                    path = f"{place.folder}/{RESULTS}/{place.iteration}"
                    message = f"{place.iteration!r} among the results is not an iteration, and is passed over."
                    fix = "Name it iteration-NNN if it should count; otherwise nothing has to be done."
                    self.report(Problem.of_type("stranger_folder", message, fix, path))
                continue
            if place.role == "run":
                state.with_runs.add(place.iteration)
            if change.new is None:
                state.files.remove(change.path)
            else:
                state.files.put(change.path, change.new)
            if place.role == "output":
                state.keep_newest_run(place, change)

    def report_runs_left_out(self, outputs: tuple[Blob, ...]) -> None:
        """Report the runs that the commit appends to a file in addition to the last one."""
        earlier = self.state.output
        if not traits_of(self.kind).is_recorded or len(outputs) != 1 or len(earlier) > 1:
            return
        (path, oid), before = outputs[0], earlier[0].oid if earlier else ""

        def count(content: bytes) -> str | None:
            then = self.repository.read_blob(before).content if before else b""
            return None if then is None else str(appended_runs(path, then, content))

        runs = int(self.repository.answer(f"runs since {before} in {path}", oid, count) or 0)
        if runs > 1:
            left_out = "1 run of this commit is" if runs == 2 else f"{runs - 1:,} runs of this commit are"
            message = (
                f"{left_out} left out: it adds {runs:,} rows with runs, and only the newest run of the file is a point "
                "of the series."
            )
            fix = "Commit the file after each run, or write each run to a file of its own."
            self.report(Problem("note", message, fix, path=path))

    def start_snapshots(
        self, series: SeriesState, touched: Sequence[str], files_by_name: Mapping[str, Snapshot]
    ) -> None:
        """Start snapshots of new and changed iterations, and of the newest iteration if its inputs changed.

        ``touched`` names the iterations that the commit touched and left in place; ``files_by_name`` holds the files of
        these, of waiting iterations, and of the newest iteration if inputs changed. If a ground truth is needed and
        missing, nothing is started, and the touched iterations wait for it.
        """
        if not self.scorable:
            series.waiting |= dict.fromkeys(touched, True)
            return
        started = self._new_or_changed(series, touched, files_by_name)
        for name, snapshot in in_series_order(started):
            series.append(name, snapshot)
        newest = series.newest_scored()
        if newest is None or newest not in files_by_name or not self.inputs_changed or newest in dict(started):
            return
        # Older iterations keep their scores: only the newest is scored again with other inputs.
        draft = files_by_name[newest]
        if cause := cause_since(series.last_snapshot(newest), draft):
            series.append(newest, self._new_snapshot(series.units[newest], cause, draft))

    def _new_or_changed(
        self, series: SeriesState, touched: Sequence[str], files_by_name: Mapping[str, Snapshot]
    ) -> list[tuple[str, Snapshot]]:
        """Return (name, snapshot) of iterations with new outputs. Of the same outputs, update the files beside them."""
        previous = series.snapshots[-1] if series.snapshots else None
        candidates = dict.fromkeys((*touched, *series.waiting))
        series.waiting.clear()
        started = []
        for name in candidates:
            iteration = series.units[name]
            if not iteration.present or name not in files_by_name:
                continue
            draft, last = files_by_name[name], series.last_snapshot(name)
            outputs, settings = draft.outputs, self.inputs.settings
            is_same = last is not None and same_files(last.outputs, outputs)
            if last is not None and is_same and answerers(last.outputs, settings) == answerers(outputs, settings):
                # The current files beside its output; another path alone does not change it.
                if not same_file(last.recorded, draft.recorded):
                    last = self._with_origin(last, draft)
                if not same_files(last.runs, draft.runs):
                    last = replace(last, runs=draft.runs)
                series.snapshots[iteration.points[-1]] = last
                continue
            cause = cause_since(last or previous, draft, waited=name not in touched)
            started.append((name, self._new_snapshot(iteration, ("outputs", *cause), draft)))
        return started

    def _new_snapshot(self, iteration: SeriesIteration, cause: tuple[Cause, ...], draft: Snapshot) -> Snapshot:
        """Make a snapshot of an iteration. Every snapshot but its first has the commit's id in the slug."""
        slug = f"{iteration.slug}-{self.commit.sha[:_SHORT]}" if iteration.points else iteration.slug
        return self._with_origin(replace(draft, iteration=iteration.number, slug=slug, cause=cause), draft)

    def _with_origin(self, snapshot: Snapshot, draft: Snapshot) -> Snapshot:
        """Return the snapshot with its run's statements, from the record beside the output or else from the output."""
        beside = self._read_record(draft.recorded) if draft.recorded else Recorded()
        needs_outputs = not beside.git_commit or traits_of(self.kind).names_scores
        stated = [*self._stated_by_outputs(draft.outputs, snapshot.settings)] if needs_outputs else []
        # Of an output in several files, the first that says anything of its run tells when it was made.
        of_runs = (each for each in stated if each != Recorded(grades=each.grades))
        inside = next(map(self._checked_statement, of_runs), Recorded())
        return replace(
            snapshot,
            grades=tuple(dict.fromkeys(chain.from_iterable(each.grades for each in stated))),
            recorded=draft.recorded,
            recorded_at=beside.timestamp or inside.timestamp or draft.recorded_at,
            made_at=beside.git_commit or inside.git_commit,
            recorded_metrics=beside.metrics,
            usage=beside.usage,
        )

    def _read_record(self, blob: Blob) -> Recorded:
        stated = self.repository.answer("record", blob.oid, lambda content: _as_text(read_recorded(content)))
        if not stated:
            reason = self.repository.read_blob(blob.oid).reason or "no JSON object"
            message = f"The recorded results cannot be read: {reason}."
            fix = "Only the recorded time and numbers are lost; write the file again to restore them."
            self.report(Problem("warning", message, fix, path=blob.path))
            return Recorded()
        return self._checked_statement(_as_record(stated))

    def _stated_by_outputs(self, outputs: tuple[Blob, ...], settings: str) -> Iterator[Recorded]:
        """Yield what each file of an output states; nothing after the first statement if scores have no names."""

        def statement(blob: Blob) -> str | None:
            question = f"run of {self.kind} in {blob.path} {settings} {installed_for((blob.path,))}"
            return self.repository.answer(
                question, blob.oid, lambda content: _as_text(recorded_in(self.kind, blob.path, content, settings))
            )

        for blob in outputs:
            try:
                stated = statement(blob)
            except Exception as error:  # a fault of sitegen at one output must not stop the build
                fault = type(error).__name__
                message = f"sitegen failed while reading what this output states about its run: {fault}."
                fix = "Please report it. The numbers do not depend on it, but the output may be linked to other "
                fix += "instructions."
                self.report(Problem.of_type("unlinked_output", message, fix, blob.path))
                continue
            if stated:
                yield _as_record(stated)
                if not traits_of(self.kind).names_scores:
                    return

    def _checked_statement(self, recorded: Recorded) -> Recorded:
        """Return a record without a time or a commit that is invalid."""
        timestamp = recorded.timestamp if recorded.timestamp and moment_of(recorded.timestamp) else None
        commit = recorded.git_commit if recorded.git_commit and re.fullmatch(_COMMIT_ID, recorded.git_commit) else None
        if recorded.git_commit is None and (edited := self.made_with(recorded)) is not None:
            commit = edited.sha
        metrics = dict(islice(recorded.metrics.items(), _METRICS))
        return replace(recorded, timestamp=timestamp, git_commit=commit, metrics=metrics)


def _as_text(recorded: Recorded | None) -> str:
    """Return a record as JSON in ASCII, empty if there is none."""
    return json.dumps(msgspec.to_builtins(recorded)) if recorded else ""


def _as_record(stated: str) -> Recorded:
    return msgspec.convert(json.loads(stated), Recorded)


def _run_number(path: str) -> int:
    """Return 7 for ``7/extracted.json``; -1 for a name that is not a number, so that it sorts first."""
    name = path.partition("/")[0]
    return int(name) if name.isascii() and name.isdigit() and len(name) < 10 else -1


def with_built_sides(rules: EntryRules, built: EntryRules) -> EntryRules:
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
