"""Files that the configuration names, or that make an eval by convention, and that are not there at the built revision.

What lies there under another name is looked at only where something is missing, so that a project in which everything
is found pays for the names in the folders of its evals and of their results, and no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from posixpath import splitext
from typing import Final

from sitegen.config import GROUND_TRUTHS, MAPPINGS, SCORED_FILES, EvalConfig, Kind, Manifest, SiteConfig, files_of
from sitegen.history.entry_rules import EntryRules, is_glob, is_path, normal
from sitegen.history.files_at_commit import Folders
from sitegen.history.folder_tree import FolderTree, outputs_in
from sitegen.history.layout import RECORDED, RESULTS, Layout, iteration_number
from sitegen.model.kinds import traits_of
from sitegen.model.problems import Problem, Severity
from sitegen.model.series import EvalSummary
from sitegen.text.keys import misspelt

_SHOWN: Final = 5
"""Names that a message lists."""
_TRUTH_STEMS: Final = tuple(dict.fromkeys(splitext(name)[0] for name in GROUND_TRUTHS))
_OUTPUTS: Final = frozenset(name for files in SCORED_FILES for name in files.outputs)
_DATA: Final = (".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".csv")
_NO_OUTPUT: Final = frozenset({RECORDED, "aggregate.json", "field_mapping.yaml", *GROUND_TRUTHS})
_IGNORED: Final = "If it is on disk and git add leaves it out, git check-ignore -v says which rule of .gitignore does."


@dataclass(frozen=True, slots=True)
class MissingFiles:
    """The look at one revision."""

    layout: Layout
    config: SiteConfig
    manifest: Manifest
    folders: Folders
    """Of the revision."""
    summaries: Mapping[str, EvalSummary]
    """By id, of all evals that ever were."""
    set_aside: frozenset[str]
    """Ids of evals of which nothing is said: their files count for another, or sitegen failed at them."""

    def problems(self) -> Iterator[Problem]:
        """Of the project, then of the evals of the manifest, then of the others."""
        yield from self._configuration()
        others = (eval_id for eval_id in sorted(self.summaries) if eval_id not in {e.id for e in self.manifest.evals})
        for eval_id in (*(entry.id for entry in self.manifest.evals), *others):
            yield from self._eval(self.layout.entry(eval_id))
        yield from self._strangers()

    def _configuration(self) -> Iterator[Problem]:
        """Configuration files under a name that nobody reads."""
        for path in (self.layout.manifest_path, "sitegen.toml"):
            folder, _, name = path.rpartition("/")
            names = self.folders.names(folder)
            if name in names:
                continue
            stem = splitext(name)[0]
            for other in names:
                if not names[other] and misspelt(splitext(other.lstrip("."))[0], (stem,)) and _is_settings(other):
                    yield Problem(
                        "warning", f"{other!r} is not read.", f"Call it {name!r}.", path=_below(folder, other)
                    )
        own = [path for path in self.config.mapping if path not in MAPPINGS]
        if own and not any(self._is_mapping(path) for path in own):
            what = f"`mapping` of the site's configuration names no file that is there: {', '.join(own)}."
            yield Problem("warning", what, f"Commit the mapping, or correct the path. {_IGNORED}")

    def _is_mapping(self, path: str) -> bool:
        if "{dir}" not in path:
            return self._is_file(path)
        return any(self._is_file(path.replace("{dir}", self._folder(eval_id))) for eval_id in self.summaries)

    def _eval(self, entry: EvalConfig) -> Iterator[Problem]:
        summary = self.summaries.get(entry.id)
        stated = entry in self.manifest.evals
        if entry.id in self.set_aside:
            return
        if summary is None or summary.deleted:
            if stated:
                yield self._no_truth(entry, summary)
            return
        kind = summary.info.kind
        folder = self._folder(entry.id)
        rules = EntryRules.of(entry)
        for what, path, effect in (
            ("mapping", rules.mapping, "it is scored without one"),
            ("schema", rules.schema, "it is scored without one"),
        ):
            if path and traits_of(kind).is_structured and not self._is_file(path.replace("{dir}", folder)):
                yield self._problem(
                    entry.id,
                    "warning",
                    f"The manifest names the {what} {path!r} for {entry.id!r}, which is not there; {effect}.",
                    f"Commit it, or correct the path, which starts at the top of the repository. {_IGNORED}",
                )
        if is_path(entry.outputs):
            if not self._is_file(f"{folder}/{normal(entry.outputs)}"):
                yield self._problem(
                    entry.id,
                    "warning",
                    f"The manifest names the output {entry.outputs!r} for {entry.id!r}, which is not there.",
                    f"Commit it, or correct the path, which starts at {folder}/. {_IGNORED}",
                )
            return
        if not is_glob(entry.outputs):
            yield from self._outputs(entry, kind, folder, known={headline.label for headline in summary.headlines})
        elif not summary.headlines:
            yield self._problem(
                entry.id,
                "warning",
                f"The manifest names the runs {entry.outputs!r} for {entry.id!r}, and there is none.",
                f"Commit one, or correct the glob, which starts at {folder}/. {_IGNORED}",
            )

    def _no_truth(self, entry: EvalConfig, summary: EvalSummary | None) -> Problem:
        folder = self._folder(entry.id)
        names = _near_truths(self.folders.names(folder))
        if entry.ground_truth:
            what = f"The ground truth {entry.ground_truth!r} that the manifest names for {entry.id!r} is not there."
        elif summary is None:
            what = f"The eval {entry.id!r} of the manifest never had a ground truth."
        else:
            what = f"The eval {entry.id!r} of the manifest has no ground truth any more."
        if names:
            fix = (
                f"There is {_listed(names)}: name it as ground_truth, or give it a known name ({_truth_names(entry)})."
            )
        else:
            fix = f"Commit one to {folder}/, or correct its entry in the manifest."
        return self._problem(entry.id, "warning", what, fix)

    def _outputs(self, entry: EvalConfig, kind: Kind, folder: str, known: set[str]) -> Iterator[Problem]:
        """Evals without any output, and iterations without one."""
        files = files_of(kind)
        here, results = self.folders.names(folder), self.folders.names(f"{folder}/{RESULTS}")
        iterations = [name for name in results if results[name] and iteration_number(name) is not None]
        if not files.ground_truths:
            return
        overwritten = entry.outputs == "auto" and any(self._is_file(f"{folder}/{name}") for name in files.overwritten)
        overwritten = overwritten or bool(self._variants(folder, files.variants))
        without = [name for name in iterations if name not in known and not self._has_output(folder, name, kind)]
        if not overwritten and len(without) == len(iterations):
            near = [name for name in _data(here) if name not in _NO_OUTPUT and name not in _near_truths(here)]
            near += [f"{RESULTS}/{name}" for name in _data(results) if name not in _NO_OUTPUT]
            for iteration in without[-1:]:
                inside = _data(self.folders.names(f"{folder}/{RESULTS}/{iteration}"))
                near += [f"{RESULTS}/{iteration}/{name}" for name in inside if name not in _NO_OUTPUT]
            wanted = f"{folder}/{RESULTS}/iteration-001/{files.outputs[0]} or {folder}/{files.overwritten[0]}"
            fix = f"Commit {wanted}. {_IGNORED}"
            if near:
                fix = f"There is {_listed(near)}: if that is the output, call it {wanted}, or name it as outputs."
            yield Problem(
                "warning", f"The eval {entry.id!r} has ground truth and no output.", fix, path=folder, eval_id=entry.id
            )
        elif without:
            one = len(without) == 1
            newest = max(iterations, key=lambda name: iteration_number(name) or 0)
            yield Problem(
                "warning" if newest in without else "note",
                f"{_listed(without)} {'has' if one else 'have'} no output, and {'is' if one else 'are'} passed over.",
                f"Commit {files.outputs[0]} there, or remove {'the folder' if one else 'the folders'}. {_IGNORED}",
                path=f"{folder}/{RESULTS}/{without[0]}",
                eval_id=entry.id,
            )

    def _has_output(self, folder: str, iteration: str, kind: Kind) -> bool:
        """Whether there is anything that counts, a record of a run that gave no output among it."""
        path, files = f"{folder}/{RESULTS}/{iteration}", files_of(kind)
        names = self.folders.names(path)
        tree = FolderTree.of(_below(path, name) for name in names if not names[name])
        return RECORDED in names or bool(outputs_in(path, files.outputs, tree, files.variants))

    def _variants(self, folder: str, variants: str) -> bool:
        if not variants:
            return False
        for path in (folder, f"{folder}/{RESULTS}"):
            tree = FolderTree.of(_below(path, name) for name in self.folders.names(path))
            if outputs_in(path, (), tree, variants):
                return True
        return False

    def _strangers(self) -> Iterator[Problem]:
        """Folders that look like an eval and have no ground truth under a known name."""
        top = self.layout.manifest_path.rpartition("/")[0]
        ids = {*self.summaries, *(entry.id for entry in self.manifest.evals)}
        owned = {folder for eval_id in ids for folder in self.layout.folders(eval_id) if not self._is_gone(eval_id)}
        for name, is_folder in self.folders.names(top).items():
            folder = _below(top, name)
            if not is_folder or folder in owned or name in self.set_aside:
                continue
            names = self.folders.names(folder)
            near = _near_truths(names)
            has_outputs = name not in self.summaries and self._looks_like_outputs(folder, names)
            if near:
                what = f"{folder}/ is no eval: {_listed(near)} is not the name of a ground truth."
                fix = f"Call it one of {', '.join(GROUND_TRUTHS)}, or name it as ground_truth in the manifest."
            elif has_outputs:
                what = f"{folder}/ has outputs and no ground truth, and is no eval."
                fix = f"Commit {folder}/{GROUND_TRUTHS[0]}, or name one as ground_truth in the manifest. {_IGNORED}"
                if any(name in names for name in files_of("judged").outputs):
                    fix = "If they are judged already, write an entry with `kind: judged` into the manifest."
            else:
                continue
            yield Problem("warning", what, fix, path=folder, eval_id=name if name in self.summaries else None)

    def _is_gone(self, eval_id: str) -> bool:
        return eval_id in self.summaries and self.summaries[eval_id].deleted

    def _looks_like_outputs(self, folder: str, names: Mapping[str, bool]) -> bool:
        if any(name in names for name in _OUTPUTS):
            return True
        results = self.folders.names(f"{folder}/{RESULTS}") if names.get(RESULTS) else {}
        return any(iteration_number(name) is not None for name in results)

    def _folder(self, eval_id: str) -> str:
        """The most likely folder of the eval that exists."""
        folders = self.layout.folders(eval_id)
        return next((folder for folder in folders if self.folders.names(folder)), folders[0])

    def _is_file(self, path: str) -> bool:
        folder, _, name = normal(path).rpartition("/")
        return self.folders.names(folder).get(name) is False

    def _problem(self, eval_id: str, severity: Severity, what: str, fix: str) -> Problem:
        return Problem(severity, what, fix, path=self.layout.manifest_path, eval_id=eval_id)


def _near_truths(names: Mapping[str, bool]) -> list[str]:
    """Files that are probably ground truth, under a name that sitegen does not look for."""
    return [
        name
        for name, is_folder in names.items()
        if not is_folder and name not in GROUND_TRUTHS and misspelt(splitext(name)[0], _TRUTH_STEMS)
    ]


def _is_settings(name: str) -> bool:
    return splitext(name)[1].lower() in (".yaml", ".yml", ".json", ".toml")


def _data(names: Mapping[str, bool]) -> list[str]:
    return [name for name, is_folder in names.items() if not is_folder and splitext(name)[1].lower() in _DATA]


def _truth_names(entry: EvalConfig) -> str:
    return ", ".join(files_of(entry.kind).ground_truths if entry.kind else GROUND_TRUTHS)


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
