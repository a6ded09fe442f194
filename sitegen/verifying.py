"""Scoring what lies in the work tree now: what ``verify-one`` and ``verify-all`` do, without any history."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from os.path import lexists, normpath
from pathlib import Path
from typing import Final, NamedTuple

from sitegen import __version__
from sitegen.config import (
    EVALUATION_FILE,
    GROUND_TRUTHS,
    EvalConfig,
    EvaluationConfig,
    Kind,
    KindFiles,
    Manifest,
    SiteConfig,
    files_of,
)
from sitegen.configuring import (
    case_file_entry,
    evaluated_entry,
    evaluated_llm,
    found_evaluation,
    overlaid,
    read_manifest,
    read_named,
    read_site,
    with_found_evals,
    work_tree_files,
)
from sitegen.errors import ConfigurationError, NothingToReportError, SitegenError
from sitegen.history.globs import RunGlob, natural_order
from sitegen.history.layout import (
    LONE,
    RECORDED,
    RESULTS,
    EntryRules,
    Layout,
    Watched,
    is_path,
    iteration_number,
    kind_of,
    runs_of,
    wanted_of,
)
from sitegen.history.repository import Repository
from sitegen.history.repository_place import find_repository
from sitegen.history.worktree import is_changed, work_tree_paths
from sitegen.model.kinds import traits_of
from sitegen.model.problems import Finding
from sitegen.model.recorded import read_recorded, states
from sitegen.model.scorecards import Result
from sitegen.model.usage import RunUsage
from sitegen.project_files import LARGEST_CONFIGURATION, LARGEST_FILE, is_folder_inside, read_file, read_inside
from sitegen.scoring.case_files import kind_of_case_file
from sitegen.scoring.highlights.settings import read_settings
from sitegen.scoring.kinds import scorer
from sitegen.scoring.own import scored_with_own_metrics
from sitegen.scoring.results_file import Metadata
from sitegen.scoring.scorer import File, ScoringInputs
from sitegen.scoring.usage import with_stated
from sitegen.text.embedding import embedder
from sitegen.text.plain import encodable

_OF_LOGS: Final = ("range", "run_id")
"""Settings that only evals of logs have (``KindTraits.logs_runs``)."""


class WorktreeEval(NamedTuple):
    """An eval as it lies in the work tree."""

    root: Path
    """The top of the work tree."""
    entry: EvalConfig
    kind: Kind
    folder: Path
    ground_truth: Path | None
    """None: outputs of the kind are judged already."""

    @property
    def files(self) -> KindFiles:
        """Which files are its outputs by convention."""
        return files_of(self.kind)


class Verified(NamedTuple):
    """One eval's output, scored."""

    place: WorktreeEval
    outputs: tuple[Path, ...]
    """One file; several of an eval with variants."""
    iteration: int | None
    """The number of the iteration's folder that the output lies in; None if it lies elsewhere."""
    result: Result


class WorktreeProject(NamedTuple):
    """The work tree of a project, ready to score from."""

    root: Path
    head: str | None
    config: SiteConfig
    manifest: Manifest
    layout: Layout
    evaluation: EvaluationConfig = EvaluationConfig()
    """Of the file that ``--config`` names, else of the one that lies in the project."""
    misread: ConfigurationError | None = None
    """What is wrong with the one that lies in the project: nothing of it counts then."""

    @classmethod
    def open(cls, path: Path, evals_dir: Path | None = None) -> WorktreeProject:
        """The project around a folder, with its evals in *evals_dir* instead of where the configuration has them.

        Raises SitegenError without a repository or work tree, or if misconfigured.
        """
        repository, head = find_repository(path)
        if repository.root is None:
            raise SitegenError(
                "A bare repository has no work tree to score.", where=str(repository.top), fix="Clone it."
            )
        config = read_site(repository.root)
        if evals_dir is not None:
            config = replace(config, evals_dir=_folder_in_project(repository.root, evals_dir))
        name = f"{config.evals_dir}/manifest.yaml"
        try:
            content = read_inside(repository.root, name, config.limits.max_blob_bytes)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            manifest = Manifest()
        except OSError as error:
            raise ConfigurationError(
                f"The manifest cannot be read: {error.strerror}.", where=name, fix="Put a regular file there."
            ) from None
        else:
            manifest = read_manifest(content, name, config.evals_dir)
        searched = work_tree_files(repository.root, kind_of_case_file)
        config, manifest = with_found_evals(config, manifest, searched)
        bench = cls(repository.root, head, config, manifest, Layout(config, manifest, Watched()))
        match found_evaluation(searched):
            case EvaluationConfig() as evaluation:
                return bench._replace(evaluation=evaluation)
            case Finding() as wrong:
                where = f"{EVALUATION_FILE}:{wrong.line}" if wrong.line else EVALUATION_FILE
                return bench._replace(misread=ConfigurationError(wrong.what, where=where, fix=wrong.fix))
        return bench

    def eval_ids(self) -> tuple[str, ...]:
        """Evals of the manifest, and every folder with a ground truth; sorted."""
        folder = self.root / self.config.evals_dir
        ids = {entry.id for entry in self.manifest.evals}
        owned = {path for entry in self.manifest.evals for path in self.layout.folders(entry.id)}
        if folder.is_dir():
            for child in folder.iterdir():
                is_owned = f"{self.config.evals_dir}/{child.name}" in owned
                if not is_owned and first_file(child, GROUND_TRUTHS):
                    ids.add(child.name)
            if first_file(folder, files_of(LONE).ground_truths):
                ids.add(LONE)
        return tuple(sorted(ids))

    def configured(self, eval_id: str, file: Path) -> WorktreeProject:
        """With what a file says of one eval in place of what the manifest says.

        It holds keys of an entry of the manifest, or those of an evaluation, which are also about the model that is
        called. Raises ConfigurationError.
        """
        try:
            stated = read_named(eval_id, read_file(file, LARGEST_CONFIGURATION), str(file))
        except OSError as error:
            raise ConfigurationError(
                f"The file cannot be read: {error.strerror}.", where=str(file), fix="Name another."
            ) from error
        entry = self.manifest.entry(eval_id)
        if isinstance(stated, EvalConfig):
            return self._with_entry(overlaid(entry, stated))
        bench = self._with_entry(evaluated_entry(entry, stated))
        config = replace(self.config, llm=evaluated_llm(self.config.llm, stated))
        return bench._replace(config=config, evaluation=stated, misread=None)

    def for_cases(self, file: Path) -> tuple[WorktreeProject, str]:
        """The eval whose test cases a file holds, and its id: one that is known, or else one for this file.

        Raises ConfigurationError if the file lies outside the project.
        """
        path = file.resolve()
        root = self.root.resolve()
        if not path.is_relative_to(root):
            fix = "Copy them into the project: the responses are kept beside them."
            raise ConfigurationError("The test cases lie outside of the project.", where=str(file), fix=fix)
        ids = self.eval_ids()
        for eval_id in ids:
            try:
                truth = self.place(eval_id).ground_truth
            except SitegenError:
                continue
            if truth is not None and truth.resolve() == path:
                return self, eval_id
        entry = case_file_entry(path.relative_to(root).as_posix(), ids)
        return self._with_entry(evaluated_entry(entry, self.evaluation)), entry.id

    def _with_entry(self, entry: EvalConfig) -> WorktreeProject:
        others = tuple(other for other in self.manifest.evals if other.id != entry.id)
        manifest = replace(self.manifest, evals=(*others, entry))
        return self._replace(manifest=manifest, layout=Layout(self.config, manifest, Watched()))

    def place(self, eval_id: str) -> WorktreeEval:
        """Where an eval lies. Raises SitegenError if there is no such eval, or if it has no ground truth."""
        if eval_id not in self.eval_ids():
            ids = ", ".join(self.eval_ids()) or "none"
            raise ConfigurationError(f"There is no eval {eval_id!r}.", fix=f"The evals of this project: {ids}.")
        entry = self.layout.entry(eval_id)
        stated = EntryRules.of(entry).ground_truth
        folders = self.layout.folders(eval_id)
        folder = next((self.root / name for name in folders if is_folder_inside(self.root, name)), None)
        if folder is None and stated and stated.startswith("../") and not lexists(self.root / folders[0]):
            folder = self.root / folders[0]  # there is one as soon as there are responses
        if folder is None:
            raise NothingToReportError(
                f"The folder of {eval_id!r} is not there.", where=self.layout.folders(eval_id)[0]
            )
        conventional = files_of(entry.kind).ground_truths if entry.kind else GROUND_TRUTHS
        if not conventional:
            return WorktreeEval(
                root=self.root, entry=entry, kind=kind_of(entry, None), folder=folder, ground_truth=None
            )
        truth = (
            _newest_cases(folder, entry)
            if entry.in_cases
            else first_file(folder, (stated,) if stated else conventional)
        )
        if truth is None:
            raise NothingToReportError(
                f"The eval {eval_id!r} has no ground truth.", where=str(folder), fix=f"Add a {conventional[0]}."
            )
        return WorktreeEval(
            root=self.root, entry=entry, kind=kind_of(entry, truth.name), folder=folder, ground_truth=truth
        )

    def verify(
        self,
        eval_id: str,
        output: Path | None = None,
        settings: Mapping[str, object] | None = None,
        *,
        missing_counts: bool = False,
    ) -> Verified:
        """Score one output, by default the eval's newest, by its own settings and by those that are given here.

        With *missing_counts* an eval that has expected values and no output is scored as one that gave none of them
        (rule 8). Raises SitegenError if there is no such eval, no ground truth, or else no output, ConfigurationError
        if the settings that are given here do not fit.
        """
        place = self.place(eval_id)
        unfit = [name for name in settings or () if name in _OF_LOGS]
        if unfit and not traits_of(place.kind).logs_runs:
            names = " and ".join(f"--{name.replace('_', '-')}" for name in unfit)
            raise ConfigurationError(f"{names} is for evals of kind highlights.", fix="Leave it out.")
        if output is not None and not output.is_file():
            raise NothingToReportError("There is no such output.", where=str(output), fix="Name a file that is there.")
        outputs = (output,) if output else newest_outputs(place)
        if not outputs and not (missing_counts and place.ground_truth and place.folder.is_dir()):
            name = place.files.outputs[0]
            raise NothingToReportError(
                f"The eval {eval_id!r} has no output to score.",
                where=str(place.folder),
                fix=f"Write {RESULTS}/iteration-001/{name} or {place.files.overwritten[0]}, or name the file.",
            )
        verified = self._scored(place, outputs, settings)
        if settings:
            _refuse_unfit(verified.result, EntryRules.of(place.entry).settings)
        return verified

    def verify_iterations(self, place: WorktreeEval, *, without: Container[object] = ()) -> Iterator[Verified]:
        """Score the iterations of an eval that have an output, by today's ground truth and rules."""
        for number, outputs in outputs_of_iterations(place):
            if number not in without:
                yield self._scored(place, outputs)

    def _scored(
        self, place: WorktreeEval, outputs: tuple[Path, ...], settings: Mapping[str, object] | None = None
    ) -> Verified:
        rules = EntryRules.of(place.entry)
        structured = traits_of(place.kind).is_structured
        inputs = ScoringInputs(
            outputs=tuple(self._file(path) for path in outputs),
            ground_truth=self._file(place.ground_truth) if place.ground_truth else None,
            mapping=self._named(self._mapping(rules, place.folder)) if structured else None,
            schema=self._named(rules.schema) if structured else None,
            settings=json.dumps({**json.loads(rules.settings), **(settings or {})}),
            embedder=embedder(),
        )
        parent = outputs[0].parent if outputs else place.folder
        number = iteration_number(parent.name) if parent.parent == place.folder / RESULTS else None
        result = scored_with_own_metrics(scorer(place.kind), inputs)
        return Verified(
            place=place,
            outputs=outputs,
            iteration=number,
            result=with_stated(result, self._recorded_usage(parent) if number else None),
        )

    def passed_over(self, verified: Verified) -> Path | None:
        """An overwritten output that no iteration holds yet: where an eval has iterations, they count instead of it."""
        place = verified.place
        if verified.iteration is None or place.entry.outputs != "auto":
            return None
        candidate = first_file(place.folder, place.files.overwritten)
        if candidate is None:
            return None
        content = self._file(candidate).content
        if content is None:
            return None
        in_iterations = (first_file(folder, place.files.outputs) for _, folder in iterations(place.folder))
        return (
            None
            if any(file is not None and self._file(file).content == content for file in in_iterations)
            else candidate
        )

    def metadata(self, verified: Verified, *, timestamp: str | None) -> Metadata:
        """Where a result comes from, for the document that is printed or saved."""
        return Metadata(
            iteration=verified.iteration,
            timestamp=timestamp,
            git_commit=self.head,
            dirty=self.head is not None and is_changed(Repository.open(self.root), self.head),
            instruction_hashes=dict(self._instruction_hashes()),
            sitegen=__version__,
        )

    def _recorded_usage(self, iteration: Path) -> RunUsage | None:
        """What the record beside an output says that it took."""
        content = self._file(iteration / RECORDED).content
        recorded = read_recorded(content) if content else None
        return recorded.usage if recorded else None

    def _mapping(self, rules: EntryRules, folder: Path) -> str | None:
        below = folder.relative_to(self.root).as_posix()
        names = [rules.mapping] if rules.mapping else [name.replace("{dir}", below) for name in self.config.mapping]
        return next((name for name in names if (self.root / name).is_file()), None)

    def _named(self, name: str | None) -> File | None:
        return self._file(self.root / name) if name else None

    def _file(self, path: Path) -> File:
        shown = path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)
        try:
            largest = self.config.limits.max_blob_bytes
            inside = path.is_relative_to(self.root)
            return File(shown, read_inside(self.root, shown, largest) if inside else read_file(path, largest))
        except OSError as error:
            return File(shown, None, error.strerror or "it cannot be read")

    def _instruction_hashes(self) -> Iterator[tuple[str, str]]:
        """(path, SHA-256) of the instruction files that git knows or would add, by path."""
        for name in work_tree_paths(Repository.open(self.root)):
            if self.layout.is_instruction(name) and (content := self._file(self.root / name).content) is not None:
                yield encodable(name), hashlib.sha256(content).hexdigest()


def _folder_in_project(root: Path, folder: Path) -> str:
    """A folder as a path from the root; of a relative one, from the current folder if that is below the root.

    Raises ConfigurationError if there is no such folder in the project.
    """
    from_here = folder.absolute()
    path = from_here if from_here.is_relative_to(root) else root / folder
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
    if not name or ".." in path.parts or not is_folder_inside(root, name):
        raise ConfigurationError(
            "There is no such folder in the project.", where=str(folder), fix="Name a folder below the project's."
        )
    return name


def _refuse_unfit(result: Result, own_settings: str) -> None:
    """Raise a ConfigurationError for settings of the command line that do not fit; the eval's own are findings."""
    findings_of_entry = read_settings(own_settings)[1]
    for finding in result.scorecard.findings:
        if finding.severity == "error" and finding.about == "settings" and finding not in findings_of_entry:
            raise ConfigurationError(f"{finding.what}.", fix=finding.fix)


def newest_outputs(place: WorktreeEval) -> tuple[Path, ...]:
    """The output of the highest iteration; without iterations the one that is overwritten. Empty if there is none."""
    entry, files = place.entry, place.files
    if runs := runs_of(entry):
        return _newest_run(place.folder, runs, wanted_of(entry))
    if is_path(entry.outputs):
        stated = first_file(place.folder, (entry.outputs,))
        return (stated,) if stated else ()
    if by_iteration := outputs_of_iterations(place):
        return by_iteration[-1][1]
    if entry.outputs == "iterations":
        return ()
    if entry.id == LONE and not first_file(place.folder, files.elsewhere):
        log = first_file(place.root, files.at_root)
        if log is not None:
            return (log,)
    return _outputs_in(place.folder, files.overwritten, files) or _outputs_in(place.folder / RESULTS, (), files)


def _newest_cases(folder: Path, entry: EvalConfig) -> Path | None:
    """The file that holds both sides; of several runs that of the last."""
    runs = runs_of(entry)
    return next(iter(_newest_run(folder, runs)), None) if runs else first_file(folder, (entry.outputs,))


def _newest_run(folder: Path, runs: RunGlob, where: dict[str, str] | None = None) -> tuple[Path, ...]:
    """The files of the run whose name comes last, numbers in it by value, of those that state what is wanted."""
    start = folder / runs.start
    below = (
        [path.relative_to(folder).as_posix() for path in start.rglob("*") if path.is_file()] if start.is_dir() else []
    )
    named: dict[str, list[Path]] = {}
    for inside in sorted(below):
        name = runs.name(inside)
        if name is not None and (not where or _states_wanted(folder, inside, where)):
            named.setdefault(name, []).append(folder / inside)
    return tuple(named[max(named, key=natural_order)]) if named else ()


def _states_wanted(folder: Path, inside: str, where: dict[str, str]) -> bool:
    try:
        return states(read_inside(folder, inside, LARGEST_FILE), where)
    except OSError:
        return False


def outputs_of_iterations(place: WorktreeEval) -> list[tuple[int, tuple[Path, ...]]]:
    """(number, its outputs) of each iteration that has any, by number."""
    files = place.files
    by_number = (
        (number, _outputs_in(iteration, files.outputs, files)) for number, iteration in iterations(place.folder)
    )
    return sorted((number, outputs) for number, outputs in by_number if outputs)


def iterations(folder: Path) -> Iterator[tuple[int, Path]]:
    """(number, folder) of each iteration of an eval, also of one that has no output."""
    results = folder / RESULTS
    if not results.is_dir():
        return
    for child in results.iterdir():
        number = iteration_number(child.name)
        if number is not None:
            yield number, child


def first_file(folder: Path, names: tuple[str, ...]) -> Path | None:
    """The first of the names that there is a file of."""
    return next((path for name in names if (path := Path(normpath(folder / name))).is_file()), None)


def _outputs_in(folder: Path, names: tuple[str, ...], files: KindFiles) -> tuple[Path, ...]:
    """The outputs in one folder: the first of the names, and with it those of all variants."""
    first = first_file(folder, names)
    outputs = [first] if first else []
    if files.variants and folder.is_dir():
        outputs += [path for path in folder.iterdir() if re.fullmatch(files.variants, path.name) and path.is_file()]
    return tuple(sorted(outputs))
