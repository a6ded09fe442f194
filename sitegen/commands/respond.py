"""``sitegen respond`` and ``judge``, which call a model, and the evaluation that does both and scores the responses."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import typer
from msgspec.structs import replace

from sitegen.commands import verify
from sitegen.commands.build import stage_progress
from sitegen.commands.printing import print_error, print_line
from sitegen.commands.requests import CallRequest, JudgeRequest, RespondRequest, word_and_methods
from sitegen.config.findings import error_of
from sitegen.config.manifest import evaluation_methods
from sitegen.config.models import files_of
from sitegen.config.site import read_site_file
from sitegen.data_files.project_files import real, write_named
from sitegen.errors import ConfigurationError, NothingToReportError
from sitegen.history.layout import is_path
from sitegen.llm import calling, files
from sitegen.llm.client import CallSettings, Log
from sitegen.model.metrics import traits_of
from sitegen.questions.comparison_files.prompts import evaluate, variant_name
from sitegen.questions.work_tree import WorktreeEval, WorktreeProject, first_file
from sitegen.scoring.responses.document import METHODS, metrics_of
from sitegen.scoring.responses.files import TestCase
from sitegen.text.plain import line
from sitegen.text.values import to_json_bytes

FAILED: Final = 1
"""Exit code if a call gave no answer."""

_VARIANT = re.compile(r"[\w-][\w.-]*")


class AskedEval(NamedTuple):
    """The eval that a command is about, with its test cases."""

    request: CallRequest
    place: WorktreeEval
    cases: tuple[TestCase, ...]

    @classmethod
    def of(cls, request: CallRequest, eval_id: str | None, test_cases: Path | None = None) -> AskedEval:
        """Read the eval that the command line names. Raises SitegenError if it has no test cases to ask for."""
        if request.variant is not None and not _VARIANT.fullmatch(request.variant):
            raise ConfigurationError(
                f"A variant cannot be called {request.variant!r}.",
                fix="Use letters, digits, dots, hyphens and underscores.",
            )
        if (eval_id is None) == (test_cases is None):
            raise ConfigurationError("One eval at a time.", fix="Name it by its id, or by --test_cases FILE.")
        project = WorktreeProject.open(request.repo)
        if test_cases:
            project, eval_id = project.for_cases(test_cases)
        eval_id, file = str(eval_id), request.config
        if file is not None and file.suffix == ".toml":  # a file like sitegen.toml
            project = replace(project, config=dataclasses.replace(project.config, llm=read_site_file(file).llm))
        else:
            project = project if file is None else project.configured(eval_id, file)
            for misread in project.misread:
                if misread.severity == "error":  # a model would be called by other settings
                    raise error_of(misread)
                print_error(error_of(misread))
        place = project.place(eval_id)
        if not traits_of(place.kind).answers_cases or place.ground_truth is None:
            raise ConfigurationError(
                f"The eval {eval_id!r} is of kind {place.kind!r}: it has no test cases to ask for.",
                where=str(place.folder),
                fix="Name an eval of kind 'responses', or write its test_cases.json.",
            )
        if place.entry.in_cases:
            raise ConfigurationError(
                f"The responses of {eval_id!r} are in the file of its expected texts, which would be overwritten.",
                where=str(place.ground_truth),
                fix="Keep the test cases in a test_cases.json of their own.",
            )
        return cls(request, place, files.read_prompt_cases(_inside(project, place.ground_truth)))

    def respond(self, template: files.Prompt, path: Path) -> bool:
        """Ask for the responses. Returns whether a call failed."""
        request = self.request
        settings = self._call_settings(request.model)
        file = files.ResponsesFile.read(path, [case.id for case in self.cases])
        slots = ((case, slot) for case in self.cases for slot in file.slots(case.id))
        todo = [at for at in slots if request.again or not calling.is_answered(file.rows.get(at[1]))][: request.limit]
        ids = {case.id for case in self.cases}
        answered = [row for slot, row in file.rows.items() if slot.case_id in ids and calling.is_answered(row)]
        outdated = sum(row.get("prompt", template.digest) != template.digest for row in answered)
        if outdated and not request.again:
            origin = f"{outdated} of the responses in {path.name} were made with another prompt"
            print_line(f"sitegen: {origin}; --again repeats them all", error=True)
        with self._progress(f"Asking {settings.model}", len(todo)) as (step, log):
            calls = calling.ModelCalls(template=template, file=file, settings=settings, step=step, log=log)
            asked = calls.ask_for_responses(todo)
        return self._print_outcome(path, asked, "responses")

    def judge(self, template: files.Prompt, paths: Sequence[Path], model: str | None) -> bool:
        """Grade the responses in files, by default with the configured model. Returns whether a call failed."""
        request = self.request
        settings = self._call_settings(model or self.place.project.config.llm.judge_model)
        failed = False
        for path in paths:
            file = files.ResponsesFile.read(path, [case.id for case in self.cases])
            todo = calling.responses_to_grade(self.cases, file, again=request.again)[: request.limit]
            authors = [calling.DATED.sub("", str(file.rows[slot].get("model") or "")) for _, slot in todo]
            if own := authors.count(calling.DATED.sub("", settings.model)):
                option = "--judge-model" if isinstance(request, RespondRequest) else "--model"
                by = f"{own} of the responses in {path.name} are by {settings.model}, which grades its own answers"
                print_line(f"sitegen: {by}; judge_model or {option} names another judge", error=True)
            with self._progress(f"Grading {path.name} by {settings.model}", len(todo)) as (step, log):
                calls = calling.ModelCalls(template=template, file=file, settings=settings, step=step, log=log)
                asked = calls.grade_responses(todo)
            failed |= self._print_outcome(path, asked, "grades")
        return failed

    def judge_template(self, prompt: Path | None) -> files.Prompt:
        """Return the judge's prompt in a file, by default that of the eval's settings or else sitegen's own."""
        named = prompt or self.prompt_of_setting("judge_prompt")
        template = files.read_prompt(named) if named else files.parse_template(files.JUDGE)
        if "output" not in template.placeholders:
            raise ConfigurationError(
                "The judge's prompt has no {output}.", where=str(named), fix="Put {output} where the answer belongs."
            )
        return template

    def prompt_of_setting(self, setting: str) -> Path | None:
        """Return the file that a setting of the eval names."""
        name: Any = json.loads(self.place.entry.settings).get(setting)
        if name is None:
            return None
        if not isinstance(name, str) or "\0" in name:
            raise ConfigurationError(
                f"The setting {setting!r} is not a path.", fix="Write a path relative to the project."
            )
        return _inside(self.place.project, self.place.project.root / name)

    def responses_path(self, variant: str | None) -> Path:
        """Return the file of a variant's responses, which may not exist yet."""
        place = self.place
        if variant is not None:
            names: tuple[str, ...] = (f"responses-{variant}.jsonl", f"responses-{variant}.json")
        elif is_path(place.entry.outputs):
            names = (place.entry.outputs,)
        else:
            names = files_of("responses").overwritten
        partial = first_file(place.folder, tuple(str(files.partial_of(Path(name))) for name in names))
        interrupted = partial.with_suffix("") if partial else place.folder / names[0]
        return first_file(place.folder, names) or interrupted

    def responses(self) -> list[Path]:
        """Return the files to grade: the variant's, or all in the eval's folder, else those of the newest iteration."""
        place, variant = self.place, self.request.variant
        candidates = [self.responses_path(variant)]
        if variant is None and place.folder.is_dir():
            pattern = files_of("responses").variants
            candidates += sorted(file for file in place.folder.iterdir() if re.fullmatch(pattern, file.name))
        existing = [path for path in dict.fromkeys(candidates) if path.is_file() or files.partial_of(path).is_file()]
        existing = existing or [
            path for path in place.paths_of(place.newest) if variant in (None, path.stem.partition("-")[2])
        ]
        if not existing:
            raise NothingToReportError(
                f"The eval {place.entry.id!r} has no responses to grade.",
                where=str(candidates[0]),
                fix=f"sitegen respond {shlex.quote(place.entry.id)}",
            )
        return [_inside(self.place.project, path) for path in existing]

    def _call_settings(self, model: str | None) -> CallSettings:
        options = {"model": model, "base_url": self.request.base_url}
        given = {name: value for name, value in options.items() if value is not None}
        return CallSettings(**{**vars(self.place.project.config.llm), **given})

    @contextmanager
    def _progress(self, label: str, calls: int) -> Iterator[tuple[Callable[[], None], Log]]:
        """Show calls as a bar on a terminal, elsewhere as one line at the start; with ``--debug``, a line for each."""
        debug = self.request.debug

        def log(text: str) -> None:
            if debug:
                print_line(line(text), error=True)

        try:
            with stage_progress(bars=sys.stderr.isatty() and not debug) as progress:
                if calls:
                    progress.stage(line(label, 200), calls)
                yield partial(progress.step, 1), log
        except KeyboardInterrupt:
            print_line("stopped; the answers so far are kept, and the same command continues from there", error=True)
            raise

    def _print_outcome(self, path: Path, asked: calling.CallOutcome, noun: str) -> bool:
        """Print the numbers of successes and failures, and return whether a call failed."""
        name = line(self.place.project.shown_path(path))
        if not asked.calls:
            print_line(f"{name}: nothing to do; --again repeats all {noun}")
            return False
        for case_id, reason in asked.failures:
            print_line(f"sitegen: case {line(case_id, 80)}: {reason}", error=True)
        succeeded = asked.calls - len(asked.failures) - asked.malformed
        malformed = f", {asked.malformed} malformed" if asked.malformed else ""
        failed = f", {len(asked.failures)} failed: the same command asks for them again" if asked.failures else ""
        print_line(f"{name}: {succeeded} {noun}{malformed}{failed}")
        return bool(asked.failures)


def respond(request: RespondRequest) -> None:
    """Run a prompt on the test cases that have no response yet, and on request grade and score all responses."""
    eval_id, methods = word_and_methods(request, "eval")
    asked = AskedEval.of(request, eval_id, request.test_cases)
    project, entry = asked.place.project, asked.place.entry
    if request.test_cases and not request.prompt:
        raise ConfigurationError("--test_cases goes with a prompt.", fix="Name it by --prompt FILE.")
    prompt = (
        request.prompt
        or asked.prompt_of_setting("prompt")
        or _inside(project, project.root / "prompts" / f"{entry.id}.md")
    )
    template, variant = files.read_prompt(prompt), request.variant
    if request.test_cases and not variant:
        variant = variant_name(project, prompt)
    path = _inside(project, asked.responses_path(variant))
    methods = methods or evaluation_methods(entry.settings) or tuple(METHODS)
    metrics_of(methods)  # raises for an unknown method before any call is paid for
    judges = asked.judge_template(None) if request.evaluates and "quality" in methods else None
    failed = asked.respond(template, path)
    if request.evaluates:
        if judges:
            failed |= asked.judge(judges, [path], request.judge_model)
        timestamp = datetime.now(UTC).replace(microsecond=0).isoformat()
        verified, document = evaluate(asked.place, prompt, path, timestamp=timestamp, methods=methods)
        print_line(*verify.one_eval(verified, methods))
        if request.output:
            write_named(request.output, to_json_bytes(document), project.root)
            print_line(f"wrote {request.output}", error=True)
    if failed:
        raise typer.Exit(FAILED)


def judge(request: JudgeRequest) -> None:
    """Grade the responses that have no grade yet."""
    asked = AskedEval.of(request, request.eval_id)
    if asked.judge(asked.judge_template(request.prompt), asked.responses(), request.model):
        raise typer.Exit(FAILED)


def _inside(project: WorktreeProject, path: Path) -> Path:
    """Return a resolved path in the project. Raises ConfigurationError for others: none may be sent or overwritten."""
    resolved = real(path)
    if not resolved.is_relative_to(real(project.root)):
        raise ConfigurationError("The project names a file outside itself.", where=str(path), fix="Keep it inside.")
    return resolved
