"""Scores outputs of the work tree, and saves them and their results with the provenance of both.

An output is saved as the next iteration of its eval, of which ``aggregate.json`` gets a line.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any, Final

from msgspec.structs import replace

from sitegen import __version__
from sitegen.analysis.slices import slice_rows
from sitegen.config.models import files_of
from sitegen.data_files.project_files import LARGEST_FILE, read_file, read_inside, real, write_inside
from sitegen.errors import ConfigurationError, NothingToReportError, SitegenError
from sitegen.history.eval_state import settings_with_grades
from sitegen.history.layout import RECORDED, RESULTS, EntryRules, is_glob, iteration_number
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
from sitegen.scoring.kinds import (
    File,
    ScoringInputs,
    in_order_of,
    nouns_of,
    scored_with_own_metrics,
    scorer,
    specs_of,
    specs_of_results,
)
from sitegen.scoring.results_file import Metadata, ResultsDocument
from sitegen.scoring.usage import with_stated
from sitegen.stats.counts import errors_by_type, ratios
from sitegen.text.embedding import embedder
from sitegen.text.plain import encodable
from sitegen.text.values import to_json_bytes

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


_LARGEST_COPIED: Final = 1_000_000_000  # the size of the largest output that is copied, in bytes


def save(verified: Verified, document: ResultsDocument) -> tuple[Path, ResultsDocument]:
    """Save an output with its results as the next iteration, and update ``aggregate.json``.

    Returns the file of the results, and the written document.

    An output that already lies in an iteration's folder stays there, and its results are written beside it. Of a
    kind whose output is a log of all runs, only the results are kept, as ``results/run-<timestamp>.json``.

    Raises ConfigurationError if the eval's outputs are runs that a glob names, because the name of the next one is
    unknown, or share a file with the expected values, every version of which is an iteration.
    """
    place = verified.place
    if place.entry.in_cases:
        raise ConfigurationError(
            f"Expected values and outputs of {place.entry.id!r} are in one file: a copy of it would be another eval.",
            where=str(place.ground_truth),
            fix="Commit the file: every version of it is an iteration.",
        )
    if is_glob(place.entry.outputs) or place.entry.answered_in:
        raise ConfigurationError(
            f"The outputs of {place.entry.id!r} are the files that {place.entry.outputs!r} names: there is no next "
            "iteration to save.",
            fix="Commit the output under a name that it fits, or leave 'outputs' out of the manifest.",
        )
    if traits_of(place.kind).is_recorded:
        raise ConfigurationError(
            f"{place.entry.id!r} only records numbers: there is nothing that was scored and could be saved.",
            fix="Commit the file that the run wrote.",
        )
    results = place.folder / RESULTS
    if traits_of(place.kind).logs_runs and verified.iteration is None:
        moment = (document.metadata.timestamp or "").partition("+")[0].replace(":", "-")
        name = f"{RESULTS}/run-{moment}.json"
        write_inside(place.folder, name, to_json_bytes(document))
        return place.folder / name, document
    if verified.iteration is None:
        number = max((number for number, _ in iterations(place.folder)), default=0) + 1
        folder = results / f"iteration-{number:03d}"
        for output in verified.outputs:
            name = f"{RESULTS}/{folder.name}/{verified.saved_name(output)}"
            write_inside(place.folder, name, read_file(output, _LARGEST_COPIED), replace=False)
        document = replace(document, metadata=replace(document.metadata, iteration=number))
    else:
        folder = verified.outputs[0].parent
    record = (folder / RECORDED).relative_to(place.folder).as_posix()
    write_inside(place.folder, record, to_json_bytes(document))
    # The line of this iteration is written, and those of others that have none yet: they are scored now, by the present
    # ground truth and rules, with the time that their own results record. Everything else in the file stays.
    metadata = document.metadata
    name = f"{RESULTS}/aggregate.json"
    try:
        body: dict[str, Any] = json.loads(read_inside(place.folder, name, LARGEST_FILE))
        earlier = [line for line in body["iterations"] if line.get("iteration") != metadata.iteration]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        body, earlier = {"eval_id": encodable(place.entry.id)}, []
    there = [metadata.iteration, *(line.get("iteration") for line in earlier)]
    saved = replace(verified, iteration=metadata.iteration, recorded_at=metadata.timestamp)
    newest = {snapshot.iteration: snapshot for snapshot in place.iterations if snapshot.outputs}
    missing = (newest[number] for number in sorted(newest) if number not in there)
    others = (_scored(place, place.paths_of(snapshot), snapshot) for snapshot in missing)
    lines = [*earlier, *map(_aggregate_line, (*others, saved))]
    body["iterations"] = sorted(lines, key=lambda line: line.get("iteration") or 0)
    write_inside(place.folder, name, f"{json.dumps(body, indent=2)}\n".encode())
    return place.folder / record, document


def save_into(folder: Path, verified: Verified, document: ResultsDocument) -> Path:
    """Write the results and a copy of the output to a folder that the user named, and create it if necessary.

    Returns the file of the results. Raises SitegenError if there cannot be such a folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"The folder cannot be made: {error.strerror}."
        raise SitegenError(message, where=str(folder), fix="Name another folder.") from None
    for output in verified.outputs:
        if real(output.parent) != real(folder):
            write_inside(folder, verified.saved_name(output), read_file(output, _LARGEST_COPIED))
    write_inside(folder, RECORDED, to_json_bytes(document))
    return folder / RECORDED


def _aggregate_line(verified: Verified) -> dict[str, Any]:
    card = verified.result.scorecard
    errors = errors_by_type(card.counts)
    same = nouns_of(card.kind, specs_of_results(verified.result)).same
    named_ratios = ratios(card.counts, same)
    return {
        "iteration": verified.iteration,
        "timestamp": verified.recorded_at,
        **named_ratios,
        **{
            name: value
            for name, value in card.metrics
            if not traits_of(verified.place.kind).is_structured and name not in {*named_ratios, *same}
        },
        "total_errors": sum(errors.values()),
        "errors_by_type": errors,
    }
