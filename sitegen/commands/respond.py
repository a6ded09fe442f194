"""``sitegen respond`` and ``judge``: the two commands that call a model."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, NamedTuple

import typer

from sitegen.commands.progress import Progress
from sitegen.commands.saying import say
from sitegen.config import files_of
from sitegen.configuring import read_site_file
from sitegen.errors import ConfigurationError, NothingToReportError
from sitegen.history.layout import is_path
from sitegen.llm import judging, responding
from sitegen.llm.cases import Case, read_cases
from sitegen.llm.client import CallSettings
from sitegen.llm.prompts import JUDGE, parse, read_prompt
from sitegen.llm.responding import Asked
from sitegen.llm.responses_file import ResponsesFile, partial_of
from sitegen.text.plain import line
from sitegen.verifying import Bench, Place, first_file, newest_outputs

FAILED: Final = 1
"""Exit code if any call gave no answer."""

_VARIANT = re.compile(r"[\w-][\w.-]*")


class Wanted(NamedTuple):
    """What the command line says, of either command."""

    repo: Path
    eval_id: str
    variant: str | None
    prompt: Path | None
    config: Path | None
    model: str | None
    concurrency: int | None
    limit: int | None
    again: bool
    debug: bool
    base_url: str | None = None


def respond(wanted: Wanted) -> None:
    """Run a prompt over the test cases that have no response yet."""
    bench, place, cases = _open(wanted)
    template = read_prompt(wanted.prompt or _named(bench, place, "prompt") or _default_prompt(bench, wanted.eval_id))
    settings = _settings(bench, wanted)
    path = _inside(bench, _target(place, wanted.variant))
    file = ResponsesFile.read(path, [case.id for case in cases])
    todo = responding.missing(cases, file, again=wanted.again, limit=wanted.limit)
    other = 0 if wanted.again else responding.of_another_prompt(template, cases, file)
    if other:
        say(
            f"sitegen: {other} of the responses in {path.name} were made with another prompt; --again makes all anew",
            error=True,
        )
    with Progress(f"Asking {settings.model}", len(todo), debug=wanted.debug) as progress:
        asked = responding.respond(todo, template, file, settings, step=progress.step, log=progress.log)
    if _report(bench, path, asked, "responses"):
        raise typer.Exit(FAILED)


def judge(wanted: Wanted) -> None:
    """Grade the responses that have no grade yet."""
    bench, place, cases = _open(wanted)
    named = wanted.prompt or _named(bench, place, "judge_prompt")
    template = read_prompt(named) if named else parse(JUDGE)
    if "output" not in template.placeholders:
        raise ConfigurationError("The judge's prompt has no {output}.", where=str(named), fix="Say where it stands.")
    settings = _settings(bench, wanted)
    failed = False
    for path in _responses(bench, place, wanted.variant):
        file = ResponsesFile.read(path, [case.id for case in cases])
        todo = judging.ungraded(cases, file, again=wanted.again, limit=wanted.limit)
        with Progress(f"Grading {path.name} by {settings.model}", len(todo), debug=wanted.debug) as progress:
            asked = judging.judge(todo, template, file, settings, step=progress.step, log=progress.log)
        failed |= _report(bench, path, asked, "grades")
    if failed:
        raise typer.Exit(FAILED)


def _open(wanted: Wanted) -> tuple[Bench, Place, tuple[Case, ...]]:
    if wanted.variant is not None and not _VARIANT.fullmatch(wanted.variant):
        raise ConfigurationError(
            f"A variant cannot be called {wanted.variant!r}.", fix="Use letters, digits, dots, hyphens and underscores."
        )
    bench = Bench.open(wanted.repo)
    place = bench.place(wanted.eval_id)
    if place.kind != "responses" or place.ground_truth is None:
        raise ConfigurationError(
            f"The eval {wanted.eval_id!r} is of kind {place.kind!r}: it has no test cases to ask for.",
            where=str(place.folder),
            fix="Name an eval of kind 'responses', or write its test_cases.json.",
        )
    if place.entry.in_cases:
        raise ConfigurationError(
            f"Responses of {wanted.eval_id!r} stand in the file of its expected texts, which would be written over.",
            where=str(place.ground_truth),
            fix="Keep the test cases in a test_cases.json of their own.",
        )
    return bench, place, read_cases(_inside(bench, place.ground_truth))


def _settings(bench: Bench, wanted: Wanted) -> CallSettings:
    """The table ``[llm]``, the file of ``--config`` before the project's own, options before both."""
    llm = (read_site_file(wanted.config) if wanted.config else bench.config).llm
    stated = {each.name: getattr(llm, each.name) for each in fields(llm)}
    options = {"model": wanted.model, "concurrency": wanted.concurrency, "base_url": wanted.base_url}
    return CallSettings(**{**stated, **{name: value for name, value in options.items() if value is not None}})


def _named(bench: Bench, place: Place, setting: str) -> Path | None:
    """The file that one of the eval's settings names, relative to the project."""
    name: Any = json.loads(place.entry.settings).get(setting)
    if name is None:
        return None
    if not isinstance(name, str):
        raise ConfigurationError(f"The setting {setting!r} is no path.", fix="Write a path relative to the project.")
    return _inside(bench, bench.root / name)


def _default_prompt(bench: Bench, eval_id: str) -> Path:
    return _inside(bench, bench.root / "prompts" / f"{eval_id}.md")


def _target(place: Place, variant: str | None) -> Path:
    """The file that a variant's responses are in, or where they belong."""
    if variant is not None:
        names: tuple[str, ...] = (f"responses-{variant}.jsonl", f"responses-{variant}.json")
    elif is_path(place.entry.outputs):
        names = (place.entry.outputs,)
    else:
        names = files_of("responses").overwritten
    return _existing(place.folder, names) or place.folder / names[0]


def _responses(bench: Bench, place: Place, variant: str | None) -> list[Path]:
    """The files to grade: the variant's, or all that lie in the eval's folder; without any, its newest iteration's."""
    found = [_target(place, variant)]
    if variant is None:
        pattern = files_of("responses").variants
        found += sorted(each for each in place.folder.iterdir() if re.fullmatch(pattern, each.name))
    there = [path for path in dict.fromkeys(found) if path.is_file() or partial_of(path).is_file()]
    there = there or [path for path in newest_outputs(place) if variant in (None, _variant_of(path))]
    if not there:
        raise NothingToReportError(
            f"The eval {place.entry.id!r} has no responses to grade.",
            where=str(found[0]),
            fix=f"sitegen respond {place.entry.id}",
        )
    return [_inside(bench, path) for path in there]


def _variant_of(path: Path) -> str:
    return path.stem.partition("-")[2]


def _existing(folder: Path, names: tuple[str, ...]) -> Path | None:
    """The first of the files that is there, if only what an interruption left of it."""
    begun = first_file(folder, tuple(str(partial_of(Path(name))) for name in names))
    return first_file(folder, names) or (begun.with_suffix("") if begun else None)


def _inside(bench: Bench, path: Path) -> Path:
    """A path that the project names; what lies outside is neither sent nor overwritten."""
    resolved = path.resolve()
    if not resolved.is_relative_to(bench.root.resolve()):
        raise ConfigurationError("The project names a file outside of it.", where=str(path), fix="Keep it inside.")
    return resolved


def _report(bench: Bench, path: Path, asked: Asked, what: str) -> bool:
    """Say what came of it, and return whether a call failed."""
    shown = line(str(path.relative_to(bench.root.resolve())))
    if not asked.calls:
        say(f"{shown}: nothing to do; --again makes all {what} anew")
        return False
    for case_id, why in asked.failures:
        say(f"sitegen: case {line(case_id, 80)}: {why}", error=True)
    made = asked.calls - len(asked.failures) - asked.malformed
    malformed = f", {asked.malformed} malformed" if asked.malformed else ""
    failed = f", {len(asked.failures)} failed: the same command asks for them again" if asked.failures else ""
    say(f"{shown}: {made} {what}{malformed}{failed}")
    return bool(asked.failures)
