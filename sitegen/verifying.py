"""Scoring what lies in the work tree now: what ``verify-one`` and ``verify-all`` do, without any history."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from sitegen import __version__
from sitegen.config import GROUND_TRUTHS, OUTPUTS, EvalConfig, Manifest, SiteConfig
from sitegen.configuring import read_manifest, read_site
from sitegen.errors import ConfigurationError, NothingToReportError, SitegenError
from sitegen.history.head import look
from sitegen.history.layout import OVERWRITTEN, RESULTS, Layout, Rules, Watched, is_path, iteration_number
from sitegen.history.repository import Repository
from sitegen.history.worktree import is_changed, listed
from sitegen.model.scorecards import Result
from sitegen.scoring.kinds import scorer
from sitegen.scoring.results_file import Metadata, ResultsDocument, results_document, to_json_bytes
from sitegen.scoring.scorer import File, Inputs
from sitegen.text.plain import encodable

RECORDED: Final = "eval-results.json"


class Verified(NamedTuple):
    """One eval's output, scored."""

    entry: EvalConfig
    folder: Path
    output: Path
    iteration: int | None
    """The number of the iteration's folder that the output lies in; None if it lies elsewhere."""
    result: Result


class Bench(NamedTuple):
    """The work tree of a project, ready to score from."""

    root: Path
    head: str | None
    config: SiteConfig
    manifest: Manifest
    layout: Layout

    @classmethod
    def open(cls, path: Path) -> Bench:
        """The project around a folder. Raises SitegenError without a repository or work tree, or if misconfigured."""
        found, head = look(path)
        if found.root is None:
            raise SitegenError("A bare repository has no work tree to score.", where=str(found.top), fix="Clone it.")
        config = read_site(found.root)
        name = f"{config.evals_dir}/manifest.yaml"
        file = found.root / name
        manifest = read_manifest(file.read_bytes(), name, config.evals_dir) if file.is_file() else Manifest()
        return cls(found.root, head, config, manifest, Layout(config, manifest, Watched()))

    def eval_ids(self) -> tuple[str, ...]:
        """Evals of the manifest, and every folder with a ground truth; sorted."""
        folder = self.root / self.config.evals_dir
        found = {entry.id for entry in self.manifest.evals}
        owned = {path for entry in self.manifest.evals for path in self.layout.folders(entry.id)}
        if folder.is_dir():
            for each in folder.iterdir():
                known = f"{self.config.evals_dir}/{each.name}" in owned
                if not known and any((each / name).is_file() for name in GROUND_TRUTHS):
                    found.add(each.name)
        return tuple(sorted(found))

    def verify(self, eval_id: str, output: Path | None = None) -> Verified:
        """Score one output, by default the eval's newest.

        Raises SitegenError if there is no such eval, no ground truth, or no output.
        """
        if eval_id not in self.eval_ids():
            known = ", ".join(self.eval_ids()) or "none"
            raise ConfigurationError(f"There is no eval {eval_id!r}.", fix=f"The evals of this project: {known}.")
        entry = self.layout.entry(eval_id)
        rules = Rules.of(entry)
        folder = next((path for name in self.layout.folders(eval_id) if (path := self.root / name).is_dir()), None)
        if folder is None:
            raise NothingToReportError(
                f"The folder of {eval_id!r} is not there.", where=self.layout.folders(eval_id)[0]
            )
        truth = _first(folder, (rules.ground_truth,) if rules.ground_truth else GROUND_TRUTHS)
        if truth is None:
            raise NothingToReportError(
                f"The eval {eval_id!r} has no ground truth.", where=str(folder), fix="Add a ground_truth.csv."
            )
        if output is not None and not output.is_file():
            raise NothingToReportError("There is no such output.", where=str(output), fix="Name a file that is there.")
        found = output or newest_output(folder, entry)
        if found is None:
            raise NothingToReportError(
                f"The eval {eval_id!r} has no output to score.",
                where=str(folder),
                fix=f"Write {RESULTS}/iteration-001/{OUTPUTS[0]} or {OUTPUTS[0]}, or name the file.",
            )
        inputs = Inputs(
            outputs=(self._file(found),),
            ground_truth=self._file(truth),
            mapping=self._named(self._mapping(rules, folder)),
            schema=self._named(rules.schema),
            settings=rules.settings,
        )
        number = iteration_number(found.parent.name) if found.parent.parent == folder / RESULTS else None
        return Verified(entry, folder, found, number, scorer(entry.kind).score(inputs))

    def passed_over(self, verified: Verified) -> Path | None:
        """An overwritten output that no iteration holds yet: where an eval has iterations, they count instead of it."""
        if verified.iteration is None or verified.entry.outputs != "auto":
            return None
        candidate = _first(verified.folder, OVERWRITTEN)
        if candidate is None:
            return None
        content = candidate.read_bytes()
        kept = (_first(folder, OUTPUTS) for _, folder in _iterations(verified.folder))
        return None if any(each is not None and each.read_bytes() == content for each in kept) else candidate

    def document(self, verified: Verified, *, timestamp: str | None) -> ResultsDocument:
        """What ``--json`` prints and ``--save`` writes."""
        return results_document(
            verified.result,
            eval_id=encodable(verified.entry.id),
            metadata=Metadata(
                iteration=verified.iteration,
                timestamp=timestamp,
                git_commit=self.head,
                dirty=self._dirty(),
                instruction_hashes=dict(self._instruction_hashes()),
                sitegen=__version__,
            ),
        )

    def save(self, verified: Verified, document: ResultsDocument) -> tuple[Path, ResultsDocument]:
        """Keep an output with its results as the next iteration, and add it to ``aggregate.json``.

        An output that already lies in an iteration's folder stays there, and its results are written beside it. Returns
        the iteration's folder, and the document as it was written there.
        """
        results = verified.folder / RESULTS
        if verified.iteration is None:
            number = max((number for number, _ in _iterations(verified.folder)), default=0) + 1
            folder = results / f"iteration-{number:03d}"
            folder.mkdir(parents=True)
            name = f"{Path(OUTPUTS[0]).stem}{verified.output.suffix}"
            shutil.copyfile(verified.output, folder / (name if name in OUTPUTS else OUTPUTS[0]))
            document = replace(document, metadata=replace(document.metadata, iteration=number))
        else:
            folder = verified.output.parent
        (folder / RECORDED).write_bytes(to_json_bytes(document))
        _add_to_aggregate(results / "aggregate.json", document)
        return folder, document

    def _mapping(self, rules: Rules, folder: Path) -> str | None:
        below = folder.relative_to(self.root).as_posix()
        names = [rules.mapping] if rules.mapping else [name.replace("{dir}", below) for name in self.config.mapping]
        return next((name for name in names if (self.root / name).is_file()), None)

    def _named(self, name: str | None) -> File | None:
        return self._file(self.root / name) if name else None

    def _file(self, path: Path) -> File:
        shown = path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)
        try:
            if path.stat().st_size > self.config.limits.max_blob_bytes:
                return File(shown, None, f"larger than {self.config.limits.max_blob_bytes:,} bytes")
            return File(shown, path.read_bytes())
        except OSError as error:
            return File(shown, None, error.strerror or "it cannot be read")

    def _dirty(self) -> bool:
        return self.head is not None and is_changed(Repository.open(self.root), self.head)

    def _instruction_hashes(self) -> Iterator[tuple[str, str]]:
        """(path, SHA-256) of the instruction files that git knows or would add, by path."""
        for name in listed(Repository.open(self.root)):
            if self.layout.is_instruction(name) and (self.root / name).is_file():
                yield encodable(name), hashlib.sha256((self.root / name).read_bytes()).hexdigest()


def newest_output(folder: Path, entry: EvalConfig) -> Path | None:
    """The output of the highest iteration; without iterations the one that is overwritten."""
    if is_path(entry.outputs):
        return _first(folder, (entry.outputs,))
    iterations = [(number, output) for number, each in _iterations(folder) if (output := _first(each, OUTPUTS))]
    if iterations:
        return max(iterations)[1]
    return None if entry.outputs == "iterations" else _first(folder, OVERWRITTEN)


def _iterations(folder: Path) -> Iterator[tuple[int, Path]]:
    """(number, folder) of each iteration, also of one that has no output."""
    results = folder / RESULTS
    if not results.is_dir():
        return
    for each in results.iterdir():
        number = iteration_number(each.name)
        if number is not None:
            yield number, each


def _first(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((path for name in names if (path := folder / name).is_file()), None)


def _add_to_aggregate(file: Path, document: ResultsDocument) -> None:
    """Replace or add one iteration's line, whatever else the file holds."""
    try:
        body: dict[str, Any] = json.loads(file.read_bytes())
        known = [line for line in body["iterations"] if line.get("iteration") != document.metadata.iteration]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        body, known = {"eval_id": document.eval_id}, []
    line = {
        "iteration": document.metadata.iteration,
        "timestamp": document.metadata.timestamp,
        "precision": document.metrics.precision,
        "recall": document.metrics.recall,
        "f1": document.metrics.f1,
        "total_errors": sum(document.errors_by_type.values()),
        "errors_by_type": document.errors_by_type,
    }
    body["iterations"] = sorted([*known, line], key=lambda each: each.get("iteration") or 0)
    file.write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")
