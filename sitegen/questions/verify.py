"""Scoring outputs of the work tree, and the provenance that is recorded with their results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import Final

from msgspec.structs import replace

from sitegen import __version__
from sitegen.analysis.slices import slice_rows
from sitegen.config.models import files_of
from sitegen.errors import ConfigurationError, NothingToReportError
from sitegen.history.eval_state import settings_with_grades
from sitegen.history.layout import RESULTS, EntryRules, iteration_number
from sitegen.history.process import share_processes
from sitegen.history.repository import Repository
from sitegen.history.worktree import is_changed, work_tree_paths
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import traits_of
from sitegen.model.scorecards import Result
from sitegen.model.timeline import Blob, Snapshot
from sitegen.questions.work_tree import WorktreeEval, WorktreeProject, first_file, iterations
from sitegen.scoring.case_files import sides_of
from sitegen.scoring.documents import results_document
from sitegen.scoring.highlights_files import read_settings
from sitegen.scoring.kinds import File, ScoringInputs, in_order_of, scored_with_own_metrics, scorer, specs_of
from sitegen.scoring.results_file import Metadata, ResultsDocument
from sitegen.scoring.usage import with_stated
from sitegen.text.embedding import embedder
from sitegen.text.plain import encodable

_OF_LOGS: Final = ("range", "run_id")  # settings that only kinds with ``KindTraits.logs_runs`` understand


class Verified(Frozen):
    """An output of an eval and its result."""

    place: WorktreeEval
    outputs: tuple[Path, ...]
    """Several files only if the eval has variants."""
    iteration: int | None
    """Number of the iteration's folder that holds the output, None if it lies elsewhere."""
    result: Result
    recorded_at: str | None
    """The time that the run recorded."""

    @property
    def unsaved_output(self) -> Path | None:
        """The overwritten output, if no iteration holds it yet and an iteration was scored instead."""
        place, project = self.place, self.place.project
        if self.iteration is None or place.entry.outputs != "auto":
            return None
        files = files_of(place.kind)
        candidate = first_file(place.folder, files.overwritten)
        content = project.read(candidate).content if candidate else None
        if content is None:
            return None
        in_iterations = (first_file(folder, files.outputs) for _, folder in iterations(place.folder))
        is_saved = any(file is not None and project.read(file).content == content for file in in_iterations)
        return None if is_saved else candidate

    @property
    def snapshot(self) -> Snapshot:
        """The output as a snapshot of the work tree."""
        root = self.place.project.root
        return Snapshot(
            iteration=self.iteration or 0,
            label=self.outputs[0].parent.name if self.iteration else self.outputs[0].name,
            slug="report",
            commit=Commit(WORKTREE, subject="Work tree"),
            cause=("outputs",),
            outputs=tuple(Blob(str(at.relative_to(root)), "") for at in self.outputs if at.is_relative_to(root)),
        )

    def saved_name(self, output: Path) -> str:
        """Return the name of an output in the folder of an iteration: its own if the kind has files of that name."""
        names = files_of(self.place.kind).outputs
        if len(self.outputs) > 1 or output.name in names:
            return output.name
        return next((name for name in names if Path(name).suffix == output.suffix), names[0])

    def document(self, *, timestamp: str | None = None, methods: tuple[str, ...] = ()) -> ResultsDocument:
        """Return the document that ``verify-one --json`` prints. ``methods``: as in ``results_document``."""
        entry, card, project = self.place.entry, self.result.scorecard, self.place.project
        repository = Repository.open(project.root)
        hashes = {}  # of every instruction file that git tracks or would add, sorted by path
        for name in work_tree_paths(repository):
            content = project.read(project.root / name).content if project.layout.is_instruction(name) else None
            if content is not None:
                hashes[encodable(name)] = hashlib.sha256(content).hexdigest()
        metadata = Metadata(
            iteration=self.iteration,
            timestamp=timestamp,
            git_commit=project.head,
            dirty=project.head is not None and is_changed(repository, project.head),
            instruction_hashes=hashes,
            sitegen=__version__,
        )
        document = results_document(
            self.result, eval_id=encodable(entry.id), metadata=metadata, thresholds=entry.thresholds, methods=methods
        )
        slices = slice_rows(card, specs_of(self.place.kind, (card,))[0])
        return replace(document, slices=tuple(slices))


def verify(
    project: WorktreeProject, eval_id: str, output: Path | None = None, settings: Mapping[str, object] | None = None
) -> Verified:
    """Score an output, by default the newest of the eval, as a site of the work tree scores it.

    Raises NothingToReportError if the eval has no ground truth or no output, and ConfigurationError if it does not
    exist or ``settings`` do not fit. These take precedence over the settings of the eval.
    """
    place = project.place(eval_id)
    unfit = [name for name in settings or () if name in _OF_LOGS]
    if unfit and not traits_of(place.kind).logs_runs:
        names = " and ".join(f"--{name.replace('_', '-')}" for name in unfit)
        raise ConfigurationError(f"{names} is for evals of kind highlights.", fix="Leave it out.")
    if output is not None and not output.is_file():
        by_axis = f"Leave it out: sitegen verify-one {quote(eval_id)} has a row for each model, variant and tag."
        fix = by_axis if "=" in output.name else "Name a file that is there."
        raise NothingToReportError("There is no such output.", where=str(output), fix=fix)
    snapshot = place.newest
    if output:
        named, known = project.shown_path(output), place.history.snapshots if place.history else ()
        snapshot = next((at for at in reversed(known) if [blob.path for blob in at.outputs] == [named]), None)
    outputs = (output,) if output else place.paths_of(snapshot)
    if place.entry.in_cases and outputs and not output:  # the same file holds the expected values
        place = replace(place, ground_truth=outputs[0])
    if not outputs:
        files = files_of(place.kind)
        newest = "The newest iteration of" if place.iterations else "The eval"
        _, at = max(iterations(place.folder), default=(1, Path("iteration-001")))
        raise NothingToReportError(
            f"{newest} {eval_id!r} has no output to score.",
            where=str(place.folder),
            fix=f"Write {RESULTS}/{at.name}/{files.outputs[0]} or {files.overwritten[0]}, or name the file.",
        )
    verified = _scored(place, outputs, snapshot, settings)
    if not scorer(place.kind).metrics:
        verified = replace(verified, result=_with_numbers_of_series(place, verified.result))
    if settings:  # wrong settings of the eval itself are findings alone
        of_entry = read_settings(EntryRules.of(place.entry).settings).findings
        for finding in verified.result.scorecard.findings:
            if finding.severity == "error" and finding.about == "settings" and finding not in of_entry:
                raise ConfigurationError(f"{finding.message}.", fix=finding.fix)
    return verified


@share_processes()
def _with_numbers_of_series(place: WorktreeEval, result: Result) -> Result:
    """Return a recorded result with the numbers of all outputs of its eval, in the order of the site.

    The first output decides which number is the headline; a number that the scored output lacks is undefined.
    """
    project, history = place.project, place.history
    if history is None:
        return result
    rules = EntryRules.of(place.entry).settings  # for all of history, as in the site
    cards = []
    for snapshot in history.snapshots:
        reads = project.repository.read_blobs([blob.oid for blob in snapshot.outputs])
        files = (File(blob.path, read.content) for blob, read in zip(snapshot.outputs, reads, strict=True))
        inputs = ScoringInputs(outputs=tuple(files), settings=rules)
        cards.append(scorer(place.kind).score(inputs))
    specs = specs_of(place.kind, [card.scorecard for card in (*cards, result)])
    return replace(result, scorecard=replace(in_order_of(specs, result.scorecard), specs=specs))


def _ground_truth(place: WorktreeEval, settings: str) -> File | None:
    """Return the ground truth; while a file of cases cannot be read, its earlier expected values, as a site does."""
    if place.ground_truth is None:
        return None
    file = place.project.read(place.ground_truth)
    if not place.entry.in_cases or (file.content and sides_of(file.path, file.content, settings)):
        return file
    history = place.history
    earlier = [at.ground_truth for at in history.snapshots if at.ground_truth] if history else []
    if not earlier:
        return file
    (read,) = place.project.repository.read_blobs([earlier[-1].oid])
    return File(path=earlier[-1].path, content=read.content, reason=read.reason, fix=read.fix)


def verify_iterations(place: WorktreeEval, *, without: Container[object]) -> Iterator[Verified]:
    """Score all iterations that have an output by the present ground truth, except those numbered in ``without``."""
    newest = {snapshot.iteration: snapshot for snapshot in place.iterations if snapshot.outputs}
    for number in sorted(newest.keys()):
        if number not in without:
            yield _scored(place, place.paths_of(newest[number]), newest[number])


def _scored(
    place: WorktreeEval,
    outputs: tuple[Path, ...],
    snapshot: Snapshot | None,
    settings: Mapping[str, object] | None = None,
) -> Verified:
    project, rules = place.project, EntryRules.of(place.entry)
    mapping = schema = None
    if traits_of(place.kind).is_structured:
        below = place.folder.relative_to(project.root).as_posix()
        names = [rules.mapping] if rules.mapping else [name.replace("{dir}", below) for name in project.config.mapping]
        mapping = next((name for name in names if (project.root / name).is_file()), None)
        schema = rules.schema
    own_settings = json.dumps({**json.loads(rules.settings), **(settings or {})})
    history = place.history if traits_of(place.kind).names_scores else None
    inputs = ScoringInputs(
        outputs=tuple(project.read(path) for path in outputs),
        ground_truth=_ground_truth(place, own_settings),
        mapping=project.read(project.root / mapping) if mapping else None,
        schema=project.read(project.root / schema) if schema else None,
        settings=settings_with_grades(own_settings, history.grades) if history else own_settings,
        embedder=embedder(),
    )
    parent = outputs[0].parent if outputs else place.folder
    number = iteration_number(parent.name) if parent.parent == place.folder / RESULTS else None
    result = scored_with_own_metrics(scorer(place.kind), inputs)
    return Verified(
        place=place,
        outputs=outputs,
        iteration=number,
        result=with_stated(result, snapshot.usage if snapshot else None),
        recorded_at=snapshot.recorded_at if snapshot else None,
    )
