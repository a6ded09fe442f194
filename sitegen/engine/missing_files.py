"""Finds files that the configuration names, or that an eval should have by convention, but the built revision lacks.

Similar names are searched for only where a file is missing. For a complete project, the search only lists the folders
of its evals and of their results.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from posixpath import join, relpath, split, splitext
from typing import Final

from msgspec.structs import replace

from sitegen.config.models import GROUND_TRUTHS, MAPPINGS, SCORED_FILES, EvalConfig, files_of
from sitegen.data_files.folders import may_hold_document
from sitegen.history.files_at_commit import Folders, source_files
from sitegen.history.folder_tree import FolderTree
from sitegen.history.layout import RECORDED, RESULTS, EntryRules, Layout, is_glob, is_path, iteration_number, normal
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Problem
from sitegen.model.series import EvalSummary
from sitegen.text.keys import misspelt
from sitegen.text.values import first_names

_TRUTH_STEMS: Final = tuple(dict.fromkeys(splitext(name)[0] for name in GROUND_TRUTHS))
_OUTPUTS: Final = frozenset(name for files in SCORED_FILES for name in files.outputs)
_WITHOUT_OUTPUT: Final = "The eval {!r} has ground truth and no output."
_SETTINGS: Final = (".yaml", ".yml", ".json", ".toml")
_DATA: Final = (".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".csv")
_NO_OUTPUT: Final = frozenset({RECORDED, "aggregate.json", "field_mapping.yaml", *GROUND_TRUTHS})
_IGNORED: Final = "If it is on disk and git add leaves it out, git check-ignore -v says which rule of .gitignore does."


class MissingFiles(Frozen):
    """Looks for missing files at one revision."""

    layout: Layout
    folders: Folders
    summaries: Mapping[str, EvalSummary]
    """Of all evals that ever existed, by id."""
    set_aside: frozenset[str]
    """Ids of evals to skip: their files count for another eval, or sitegen failed to make them."""

    def problems(self) -> Iterator[Problem]:
        """Yield the problems of the project, then of the evals of the manifest, then of all other evals."""
        yield from self._configuration()
        stated = [entry.id for entry in self.layout.manifest.evals]
        for eval_id in stated:
            yield from self._eval(self.layout.entry(eval_id), stated=True)
        for eval_id in sorted(self.summaries.keys() - set(stated)):
            yield from self._eval(self.layout.entry(eval_id), stated=False)
        yield from self._strangers()

    def _configuration(self) -> Iterator[Problem]:
        """Report configuration files with a misspelt name, and mappings that do not exist."""
        mapped = (each for each, of in self.summaries.items() if traits_of(of.info.kind).is_structured)
        places = [self._folder(each) for each in mapped if not self.layout.entry(each).mapping]
        mappings = (normal(path.replace("{dir}", place)) for place in places for path in self.layout.site.mapping)
        for path in dict.fromkeys((self.layout.manifest_path, "sitegen.toml", *mappings)):
            folder, _, name = path.rpartition("/")
            names = self.folders(folder)
            if name in names:
                continue
            stem = splitext(name)[0]
            for near in names:
                is_settings = not names[near] and splitext(near)[1].lower() in _SETTINGS
                if is_settings and misspelt(splitext(near.lstrip("."))[0], (stem,)):
                    yield Problem("warning", f"{near!r} is not read.", f"Call it {name!r}.", path=_below(folder, near))
        own = [path for path in self.layout.site.mapping if path not in MAPPINGS]
        folders = [*map(self._folder, self.summaries)] or [""]
        if own and not any(self._is_file(path.replace("{dir}", folder)) for path in own for folder in folders):
            message = f"`mapping` of the site's configuration names no file that is there: {', '.join(own)}."
            yield Problem("warning", message, f"Commit the mapping, or correct the path. {_IGNORED}")

    def _eval(self, entry: EvalConfig, *, stated: bool) -> Iterator[Problem]:
        summary = self.summaries.get(entry.id)
        if entry.id in self.set_aside:
            return
        if summary is None or summary.deleted:
            if stated:
                kind = summary.info.kind if summary else entry.kind
                has_truth = kind is None or files_of(kind).ground_truths
                yield self._no_truth(entry, summary) if has_truth else self._no_results(entry, summary)
            return
        kind, folder = summary.info.kind, self._folder(entry.id)
        if entry.dir and folder != self.layout.folders(entry.id)[0]:
            message = f"The folder {entry.dir!r} of {entry.id!r} is not there; {_described_folder(folder)} counts."
            yield replace(self._warning(entry.id, message, f"Correct `dir`, or remove it. {_IGNORED}"), field="dir")
        rules = EntryRules.of(entry)
        for role, path in (("mapping", rules.mapping), ("schema", rules.schema)):
            if path and traits_of(kind).is_structured and not self._is_file(path.replace("{dir}", folder)):
                message = f"The manifest names the {role} {path!r} for {entry.id!r}, which is not there; "
                message += "it is scored without one."
                fix = self._correction(role, path, folder)
                yield Problem.of_type("missing_rules", message, fix, self.layout.manifest_path, entry.id, role)
        if entry.source:
            yield from self._source(entry, summary)
        lacks = ""
        named = f"{entry.outputs!r} for {entry.id!r}"
        if entry.answered_in or is_glob(entry.outputs):
            lacks = "" if summary.headlines else f"the outputs {named}, and there is none."
        elif not is_path(entry.outputs):
            yield from self._outputs(entry, summary)
        elif entry.outputs.startswith("../") or not self._is_there(f"{folder}/{normal(entry.outputs)}"):
            lacks = f"the output {named}, which is not there."
        if lacks:
            fix = self._correction("outputs", entry.outputs, folder)
            yield self._warning(entry.id, f"The manifest names {lacks}", fix)

    def _correction(self, key: str, path: str, folder: str) -> str:
        """Return what to do about a path of an entry that leads nowhere, perhaps as it starts at the wrong place."""
        start, other = ("", folder) if key in ("mapping", "schema") else (folder, "")
        for place in (normal(_below(other, path)), normal(_below(start, path))):
            if not folder or not self._is_there(place):
                continue
            inside = relpath(place, start or ".")
            if key == "outputs" and inside.startswith("../"):
                return (
                    f"Write `dir: .`, and all paths of the entry from the top of the repository (`outputs: {place}`): "
                    f"an output lies in the folder of its eval, {folder}/."
                )
            return f"Write `{key}: {inside}`: the path starts at {_described_folder(start)}."
        return f"Commit it, or correct the path, which starts at {_described_folder(start)}. {_IGNORED}"

    def _no_truth(self, entry: EvalConfig, summary: EvalSummary | None) -> Problem:
        folder = self._folder(entry.id)
        if entry.ground_truth and self._is_there(f"{folder}/{normal(entry.ground_truth)}"):
            output = _below(folder, files_of(entry.kind or "fields").outputs[0])
            fix = f"Commit {output}, or name the output as `outputs` in the manifest. {_IGNORED}"
            return self._warning(entry.id, _WITHOUT_OUTPUT.format(entry.id), fix)
        names = _near_truths(self.folders(folder))
        if entry.ground_truth:
            named = "that the manifest names for" if self._is_file(self.layout.manifest_path) else "of"
            message = f"The ground truth {entry.ground_truth!r} {named} {entry.id!r} is not there."
        elif summary is None:
            message = f"The eval {entry.id!r} of the manifest never had a ground truth."
        else:
            message = f"The eval {entry.id!r} of the manifest has no ground truth any more."
        if names:
            usual = ", ".join(files_of(entry.kind).ground_truths if entry.kind else GROUND_TRUTHS)
            fix = f"There is {first_names(names)}: name it as ground_truth, or give it a known name ({usual})."
        elif entry.ground_truth:
            fix = self._correction("ground_truth", entry.ground_truth, folder)
        else:
            fix = f"Commit one to {_described_folder(folder)}, or correct its entry in the manifest."
        return self._warning(entry.id, message, fix)

    def _no_results(self, entry: EvalConfig, summary: EvalSummary | None) -> Problem:
        since = "has no results any more" if summary else "never had any results"
        folder = self._folder(entry.id)
        fix = f"Commit results below {_described_folder(folder)}, or correct or remove its entry in the manifest."
        if is_path(entry.outputs) and self._is_there(entry.outputs):
            fix = self._correction("outputs", entry.outputs, folder)
        return self._warning(entry.id, f"The eval {entry.id!r} of the manifest {since}.", fix)

    def _outputs(self, entry: EvalConfig, summary: EvalSummary) -> Iterator[Problem]:
        """Report outputs that do not count, iterations without one, and evals without any."""
        files, folder = files_of(summary.info.kind), self._folder(entry.id)
        place = _below(folder, RESULTS)
        of_runs = (each for each in self.layout.manifest.evals if each.id == f"{entry.id}-runs")
        has_recorded = any(traits_of(each.kind).is_recorded for each in of_runs)  # numbers of runs without outputs
        if not (files.ground_truths or summary.headlines):
            yield self._no_results(entry, None)
        if not files.ground_truths or has_recorded:
            return
        folders = (name for name, is_folder in self.folders(place).items() if is_folder)
        numbered = ((number, name) for name in folders if (number := iteration_number(name)) is not None)
        iterations = [name for _, name in sorted(numbered)]
        beside = [name for name in files.overwritten if entry.outputs == "auto" and self._is_file(f"{folder}/{name}")]
        if beside and iterations:
            message = f"{first_names(beside)} is not scored: this eval has folders of iterations, which alone count."
            fix = f"Move it to {RESULTS}/iteration-NNN/ if it should count; otherwise nothing has to be done."
            yield Problem("note", message, fix, path=f"{folder}/{beside[0]}", eval_id=entry.id)
        scored = {headline.label for headline in summary.headlines}
        without = [
            name
            for name in iterations
            if name not in scored and not self._holds(f"{place}/{name}", (RECORDED, *files.outputs), files.variants)
        ]
        # An output can also be at a place that only the kind, or a finder of evals, knows.
        has_none = summary.without_output or not summary.headlines
        overwritten = beside or any(self._holds(path, (), files.variants) for path in (folder, place))
        if has_none and not overwritten and len(without) == len(iterations):
            yield self._no_output(entry, without[-1:])
        elif without:
            single = len(without) == 1
            yield Problem.of_type(
                "newest_without_output" if iterations[-1] in without else "iteration_without_output",
                f"{first_names(without)} {'has' if single else 'have'} no output, "
                f"and {'is' if single else 'are'} left out.",
                f"Commit {files.outputs[0]} there, or remove {'the folder' if single else 'the folders'}. {_IGNORED}",
                path=f"{place}/{without[0]}",
                eval_id=entry.id,
            )
        numbers = {iteration_number(name) or 0 for name in iterations}
        gone = sorted((iteration_number(label) or 0, label) for label in scored)
        if deleted := [label for number, label in gone if number > max(numbers, default=inf)]:
            message = f"{first_names(deleted)} of {entry.id!r} {'was' if len(deleted) == 1 else 'were'} deleted, "
            message += "and what is left counts as the newest output."
            path = f"{place}/{deleted[-1]}"
            fix = f"Nothing has to be done if that was meant; git log -1 -- {path} names the commit that did it."
            yield Problem("note", message, fix, path=path, eval_id=entry.id)

    def _holds(self, folder: str, names: Sequence[str], variants: str) -> bool:
        """Whether a folder has a file with one of these names, or that of a variant."""
        inside = self.folders(folder)
        tree = FolderTree.of(_below(folder, name) for name in inside if not inside[name])
        return bool(tree.outputs_in(folder, names, variants))

    def _no_output(self, entry: EvalConfig, newest: Sequence[str]) -> Problem:
        """Report an eval without any output, and files that may be it. ``newest``: its newest iteration."""
        files, folder = files_of(self.summaries[entry.id].info.kind), self._folder(entry.id)
        here = self.folders(folder)
        usual = f"{_below(folder, RESULTS)}/iteration-001/{files.outputs[0]} or {_below(folder, files.overwritten[0])}"
        fix = f"Commit {usual}. {_IGNORED}"
        places = (*(f"{RESULTS}/{iteration}" for iteration in newest), RESULTS)
        near = [f"{place}/{name}" for place in places for name in _data(self.folders(_below(folder, place)))]
        if near := [*near, *(name for name in _data(here) if name not in _near_truths(here))]:
            place, name = split(near[0])
            # A name with another ending would make JSON of what is none.
            known = next((known for known in files.outputs if splitext(known)[1] == splitext(name)[1].lower()), "")
            rename = f"call it {_below(folder, join(place, known))}, or " if known else ""
            stated = f"{RESULTS}/*/{name}" if place not in ("", RESULTS) else near[0]
            fix = f"There is {first_names(near)}: if that is the output, {rename}write "
            fix += f'`outputs: "{stated}"` into its entry in the manifest.'
        runs = f"{RESULTS}/{newest[0]}/runs" if newest else ""
        repeats = [run for run, is_folder in self.folders(_below(folder, runs)).items() if is_folder] if runs else []
        if names := _data(self.folders(_below(folder, f"{runs}/{repeats[0]}"))) if repeats else ():
            fix = f"Its runs hold {names[0]}: if they are repeats of one output, write "
            fix += f'`outputs: "{RESULTS}/*/runs/{{repeat}}/{names[0]}"` into its entry in the manifest.'
        return Problem("warning", _WITHOUT_OUTPUT.format(entry.id), fix, path=folder, eval_id=entry.id)

    def _strangers(self) -> Iterator[Problem]:
        """Report folders that look like an eval but have no ground truth under a standard name."""
        top = self.layout.manifest_path.rpartition("/")[0]
        ids = {*self.summaries, *(entry.id for entry in self.layout.manifest.evals)}
        gone = {eval_id for eval_id, summary in self.summaries.items() if summary.deleted}
        owned = {folder for eval_id in ids - gone for folder in self.layout.folders(eval_id)}
        for name, is_folder in self.folders(top).items():
            folder = _below(top, name)
            if not is_folder or folder in owned or name in self.set_aside:
                continue
            names = self.folders(folder)
            near = _near_truths(names)
            results = self.folders(_below(folder, RESULTS)) if names.get(RESULTS) else {}
            has_iterations = any(iteration_number(each) is not None for each in results)
            has_outputs = has_iterations or any(each in names for each in _OUTPUTS)
            if near:
                message = f"{folder}/ is not an eval: {first_names(near)} is not the name of a ground truth."
                fix = f"Call it one of {', '.join(GROUND_TRUTHS)}, or name it as ground_truth in the manifest."
            elif has_outputs:
                so = " any more" if name in self.summaries else ", and is not an eval"
                message = f"{folder}/ has outputs and no ground truth{so}."
                fix = f"Commit {folder}/{GROUND_TRUTHS[0]}, or name one as ground_truth in the manifest. {_IGNORED}"
                if any(name in names for name in files_of("judged").outputs):
                    fix = "If they are judged already, write an entry with `kind: judged` into the manifest."
            else:
                continue
            yield Problem("warning", message, fix, path=folder, eval_id=name if name in self.summaries else None)

    def _source(self, entry: EvalConfig, summary: EvalSummary) -> Iterator[Problem]:
        folder = self._folder(entry.id)
        stated = f"The source {entry.source!r} of {entry.id!r}"
        if not traits_of(summary.info.kind).is_structured:
            message, fix = f"{stated} is not shown: outputs of this kind have no fields.", "Remove `source`."
        elif not summary.info.source:
            message = f"{stated} is not shown, because a page of it can hold what `redact` hides."
            fix = "Remove `source`, or `redact` if the documents may be published."
        elif not source_files(summary.info.source, folder, self.folders):
            message = f"{stated} names no file below {folder or 'the top of the repository'}."
            fix = (
                "Commit the documents, or correct the path: {document} stands for the id of a document, {page} for the "
                f"number of a page. {_IGNORED}"
            )
        else:
            return
        yield Problem.of_type("missing_source", message, fix, self.layout.manifest_path, entry.id, "source")

    def _folder(self, eval_id: str) -> str:
        """Return the first of the eval's folders that exists, or else the first one."""
        folders = self.layout.folders(eval_id)
        return next((folder for folder in folders if self.folders(folder)), folders[0])

    def _is_file(self, path: str) -> bool:
        folder, _, name = normal(path).rpartition("/")
        return self.folders(folder).get(name) is False

    def _is_there(self, path: str) -> bool:
        """Whether there is a file, or a folder that holds documents, which may be in folders of their own."""
        inside = self.folders(normal(path)).items()
        return self._is_file(path) or any(is_folder or may_hold_document(name) for name, is_folder in inside)

    def _warning(self, eval_id: str, message: str, fix: str) -> Problem:
        path = self.layout.manifest_path if self._is_file(self.layout.manifest_path) else self._folder(eval_id)
        return Problem("warning", message, fix, path=path, eval_id=eval_id)


def _near_truths(names: Mapping[str, bool]) -> list[str]:
    files = (name for name, is_folder in names.items() if not is_folder and name not in GROUND_TRUTHS)
    return [name for name in files if misspelt(splitext(name)[0], _TRUTH_STEMS)]


def _data(names: Mapping[str, bool]) -> list[str]:
    """Return the files with data that are not known to be something else than an output."""
    files = (name for name, is_folder in names.items() if not is_folder and name not in _NO_OUTPUT)
    return [name for name in files if splitext(name)[1].lower() in _DATA]


def _described_folder(folder: str) -> str:
    return f"{folder}/" if folder else "the top of the repository"


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
