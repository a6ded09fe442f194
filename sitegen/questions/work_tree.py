"""A project in the work tree: its configuration, and its evals with their files, ready to be scored."""

from __future__ import annotations

import dataclasses
import errno
from collections.abc import Iterator, Mapping
from functools import cached_property
from os.path import lexists, normpath
from pathlib import Path
from posixpath import commonprefix
from shlex import quote

from msgspec.structs import replace

from sitegen.config.manifest import evaluated_entry, evaluated_llm, overlaid, read_named
from sitegen.config.models import (
    EVALUATION_FILE,
    GROUND_TRUTHS,
    EvalConfig,
    EvaluationConfig,
    Kind,
    Manifest,
    SiteConfig,
    files_of,
)
from sitegen.config.site import read_site
from sitegen.data_files import project_files
from sitegen.data_files.folders import may_hold_document, packed
from sitegen.errors import POINTER, SMALLER_FILE, ConfigurationError, NothingToReportError, SitegenError
from sitegen.history.files_at_commit import FilesAt, manifest_at
from sitegen.history.layout import LONE, RESULTS, EntryRules, Layout, iteration_number, kind_of, truth_names
from sitegen.history.repository import Repository, too_large
from sitegen.history.repository_place import find_repository
from sitegen.history.timeline import advance
from sitegen.history.worktree import file_blob_id
from sitegen.model.frozen import Frozen
from sitegen.model.problems import Problem
from sitegen.model.timeline import Blob, EvalHistory, Snapshot
from sitegen.recognition import search_history
from sitegen.recognition.found_cases import case_file_entry
from sitegen.recognition.places import with_found_evals
from sitegen.recognition.searched_files import Search
from sitegen.scoring.kinds import File
from sitegen.text.plain import encodable


class WorktreeEval(Frozen):
    """An eval in the work tree."""

    project: WorktreeProject
    entry: EvalConfig
    kind: Kind
    folder: Path
    ground_truth: Path | None
    """None if outputs of the kind are judged already."""

    @property
    def history(self) -> EvalHistory | None:
        """The history of the eval, as in ``WorktreeProject.histories``."""
        return self.project.histories.get(self.entry.id)

    @property
    def newest(self) -> Snapshot | None:
        """The newest output, as a site of the work tree shows it; None if its iteration has none, or all are deleted.

        It is the last by commit, within one commit by recorded time and then by number; an uncommitted one comes last.
        """
        return None if self.history is None or self.history.without_output else self.history.snapshots[-1]

    @property
    def iterations(self) -> tuple[Snapshot, ...]:
        """The snapshots of all folders of iterations that are there."""
        history = self.history
        named = history.snapshots if history and history.layout == "iterations" else ()
        return tuple(snapshot for snapshot in named if not snapshot.deleted)

    def paths_of(self, snapshot: Snapshot | None) -> tuple[Path, ...]:
        """Return where the files of an output are now."""
        return tuple(map(self._path_of, snapshot.outputs)) if snapshot else ()

    def _path_of(self, blob: Blob) -> Path:
        """Return the path of a file, or of one with its content if it was moved: the one whose path ends most alike."""
        root, path = self.project.root, self.project.root / blob.path
        if path.is_file():
            return path
        named = (each.relative_to(root).as_posix() for each in self.folder.rglob(f"*{path.suffix}"))
        moved = [name for name in named if file_blob_id(root, name, len(blob.oid)) == blob.oid]
        alike = max(moved, key=lambda name: len(commonprefix((name[::-1], blob.path[::-1]))), default=blob.path)
        return root / alike


def documents_in(folder: Path) -> tuple[Path, ...]:
    """Return the files of a folder that hold a document each, by path."""
    return tuple(folder / name for name in project_files.files_below(folder) if may_hold_document(name))


def iterations(folder: Path) -> Iterator[tuple[int, Path]]:
    """Yield the number and the folder of every iteration of an eval, with an output or without, in arbitrary order."""
    results = folder / RESULTS
    for child in results.iterdir() if results.is_dir() else ():
        number = iteration_number(child.name)
        if number is not None:
            yield number, child


def first_file(folder: Path, names: tuple[str, ...]) -> Path | None:
    """Return the first of these names under which the folder has a file."""
    return next((path for name in names if (path := Path(normpath(folder / name))).is_file()), None)


class WorktreeProject(Frozen, gc=True, dict=True):
    """A project's work tree with its configuration, ready to score outputs."""

    root: Path
    head: str | None
    config: SiteConfig
    manifest: Manifest
    layout: Layout
    evaluation: EvaluationConfig = EvaluationConfig()
    """Read from the file that ``--config`` names, otherwise from the evaluation file in the project."""
    misread: tuple[Problem, ...] = ()
    """What does not count of the configuration."""

    @classmethod
    def open(cls, path: Path, evals_dir: Path | None = None) -> WorktreeProject:
        """Open the project that contains a folder. ``evals_dir``: replaces the configured folder of evals.

        Raises SitegenError without a repository or a work tree, or for a wrong configuration.
        """
        repository, head = find_repository(path)
        root = repository.root
        if root is None:
            raise SitegenError(
                "A bare repository has no work tree to score.", where=str(repository.top), fix="Clone it."
            )
        files = FilesAt(repository, head or "", on_disk=True)
        config, of_site = read_site(files.read_rules)
        if evals_dir is not None:
            # A relative path starts at the current folder if that is in the project, and else at the top.
            from_here = evals_dir.absolute()
            folder = from_here if from_here.is_relative_to(root) else root / evals_dir
            name = folder.relative_to(root).as_posix() if folder.is_relative_to(root) else ""
            if not name or ".." in folder.parts or not project_files.is_folder_inside(root, name):
                fix = "Name a folder below the project's."
                raise ConfigurationError("There is no such folder in the project.", where=str(evals_dir), fix=fix)
            config = dataclasses.replace(config, evals_dir=name)
        manifest, of_manifest = manifest_at(files, config)
        searched = Search(files, stated=manifest.evals)
        layout = Layout(*with_found_evals(config, manifest, searched))
        if found := search_history(Repository(repository), layout, searched, head):
            layout = found.applied(layout)
        evaluation, of_evaluation = searched.evaluation
        return cls(
            root,
            head,
            layout.site,
            layout.manifest,
            layout,
            evaluation=evaluation or EvaluationConfig(),
            misread=(
                *(finding.in_file(finding.file) for finding in of_site),
                *(finding.in_file(layout.manifest_path) for finding in of_manifest),
                *(finding.in_file(EVALUATION_FILE) for finding in of_evaluation),
            ),
        )

    @cached_property
    def histories(self) -> Mapping[str, EvalHistory]:
        """The history of each eval by its id, with the uncommitted state at the end, and with files that git ignores.

        Reads history from its root, and stores nothing.
        """
        without_instructions = Layout(dataclasses.replace(self.config, instructions=()), self.manifest)
        try:
            advanced = advance(self.repository, without_instructions, head=self.head, files="ignored")
        except NothingToReportError:
            return {}
        return {history.id: history for history in advanced.evals}

    @cached_property
    def repository(self) -> Repository:
        """The repository, for contents up to the largest size that is scored. ``histories`` adds uncommitted ones."""
        return Repository.open(self.root, max_blob_bytes=self.config.limits.max_blob_bytes)

    def shown_path(self, path: Path) -> str:
        """Return a path relative to the root if it is below the root, otherwise unchanged."""
        resolved, root = project_files.real(path), project_files.real(self.root)
        return encodable(resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else str(path))

    @cached_property
    def eval_ids(self) -> tuple[str, ...]:
        """Evals of the manifest and folders that hold a ground truth, sorted."""
        folder = self.root / self.config.evals_dir
        ids = {entry.id for entry in self.manifest.evals}
        folders_of_entries = {path for entry in self.manifest.evals for path in self.layout.folders(entry.id)}
        for child in folder.iterdir() if folder.is_dir() else ():
            is_own = f"{self.config.evals_dir}/{child.name}" not in folders_of_entries
            if is_own and first_file(child, GROUND_TRUTHS):
                ids.add(child.name)
        if first_file(folder, files_of(LONE).ground_truths):
            ids.add(LONE)
        return tuple(sorted(ids))

    def configured(self, eval_id: str, file: Path) -> WorktreeProject:
        """Return the project with settings of an eval from a file, which take precedence over the manifest.

        The file holds keys of a manifest entry, or an evaluation, whose keys also choose the model that is called.
        Raises ConfigurationError.
        """
        try:
            stated, findings = read_named(
                eval_id, project_files.read_file(file, project_files.LARGEST_CONFIGURATION), str(file)
            )
        except OSError as error:
            raise ConfigurationError(
                f"The file cannot be read: {error.strerror}.", where=str(file), fix="Name another."
            ) from error
        entry = self.manifest.entry(eval_id)
        misread = (*self.misread, *(finding.in_file(str(file)) for finding in findings))
        if isinstance(stated, EvalConfig):
            return replace(self._with_entry(overlaid(entry, stated)), misread=misread)
        project = self._with_entry(evaluated_entry(entry, stated))
        config = dataclasses.replace(self.config, llm=evaluated_llm(self.config.llm, stated))
        misread = tuple(problem for problem in misread if problem.path != EVALUATION_FILE)
        return replace(project, config=config, evaluation=stated, misread=misread)

    def for_cases(self, file: Path) -> tuple[WorktreeProject, str]:
        """Return the project and the id of the eval with these test cases; without one, the project gets a new eval.

        Raises ConfigurationError if the file lies outside the project.
        """
        path, root = project_files.real(file), project_files.real(self.root)
        if not path.is_relative_to(root):
            fix = "Copy them into the project: the responses are kept beside them."
            raise ConfigurationError("The test cases lie outside of the project.", where=str(file), fix=fix)
        ids = self.eval_ids
        for eval_id in ids:
            try:
                truth = self.place(eval_id).ground_truth
            except SitegenError:
                continue
            if truth is not None and project_files.real(truth) == path:
                return self, eval_id
        entry = case_file_entry(path.relative_to(root).as_posix(), ids)
        return self._with_entry(evaluated_entry(entry, self.evaluation)), entry.id

    def _with_entry(self, entry: EvalConfig) -> WorktreeProject:
        other_entries = (other for other in self.manifest.evals if other.id != entry.id)
        manifest = dataclasses.replace(self.manifest, evals=(*other_entries, entry))
        return replace(self, manifest=manifest, layout=Layout(self.config, manifest))

    def place(self, eval_id: str) -> WorktreeEval:
        """Locate an eval. Raises SitegenError if there is no such eval, or if its ground truth is missing."""
        ids = self.eval_ids
        if eval_id not in ids:
            what = f"There is no eval {eval_id!r}." if eval_id else "An eval has to be named."
            fix = f"The evals of this project: {', '.join(ids) or 'none; to look for some: sitegen init'}."
            if eval_id in self.histories:
                what, place = f"The eval {eval_id!r} was deleted.", quote(f"{self.config.evals_dir}/{eval_id}")
                fix = f"sitegen history {quote(eval_id)} lists its outputs, git log -1 -- {place} says who did it."
            raise ConfigurationError(what, fix=fix)
        entry = self.layout.entry(eval_id)
        stated = EntryRules.of(entry).ground_truth
        folders = self.layout.folders(eval_id)
        folder = next((self.root / name for name in folders if project_files.is_folder_inside(self.root, name)), None)
        if folder is None and stated and stated.startswith("../") and not lexists(self.root / folders[0]):
            folder = self.root / folders[0]  # the first responses create it
        if folder is None:
            raise NothingToReportError(f"The folder of {eval_id!r} is not there.", where=folders[0])
        conventional = files_of(entry.kind).ground_truths if entry.kind else GROUND_TRUTHS
        truth = None
        names = truth_names(entry.kind, stated)
        if names:
            truth = first_file(folder, names)
            if entry.in_cases:
                cases = WorktreeEval(project=self, entry=entry, kind="", folder=folder, ground_truth=None)
                truth = next(iter(cases.paths_of(cases.newest)), None)
            if truth is None and stated and documents_in(Path(normpath(folder / stated))):
                truth = Path(normpath(folder / stated))
            if truth is None and conventional:
                raise NothingToReportError(
                    f"The eval {eval_id!r} has no ground truth.", where=str(folder), fix=f"Add a {conventional[0]}."
                )
        kind = kind_of(entry, truth.name if truth else None)
        return WorktreeEval(project=self, entry=entry, kind=kind, folder=folder, ground_truth=truth)

    def read(self, path: Path) -> File:
        """Return the content of a file inside or outside the project, or the reason why it cannot be read."""
        if path.is_dir():
            return self._read_folder(path)
        is_inside = path.is_relative_to(self.root)
        name = path.relative_to(self.root).as_posix() if is_inside else str(path)
        largest = self.config.limits.max_blob_bytes
        try:
            content = (
                project_files.read_inside(self.root, name, largest)
                if is_inside
                else project_files.read_file(path, largest)
            )
            return File(name, content)
        except OSError as error:
            reason = error.strerror or "it cannot be read"
            return File(
                path=name,
                content=None,
                reason=reason,
                fix=project_files.fix_of(error, name, SMALLER_FILE if error.errno == errno.EFBIG else ""),
            )

    def _read_folder(self, folder: Path) -> File:
        """Return the documents of a folder as one packed file, or why one of them cannot be read."""
        files = [self.read(path) for path in documents_in(folder)]
        path, largest = f"{self.shown_path(folder)}/", self.config.limits.max_blob_bytes
        if unread := next((file for file in files if file.content is None and file.reason != POINTER), None):
            return replace(unread, path=path)
        if (size := sum(len(file.content or b"") for file in files)) > largest:
            return File(path=path, content=None, reason=too_large(size, largest), fix=SMALLER_FILE)
        names = (file.path.removeprefix(path) for file in files)
        return File(
            path, packed((name, file.content or project_files.LFS) for name, file in zip(names, files, strict=True))
        )
