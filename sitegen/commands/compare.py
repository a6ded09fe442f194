"""``sitegen compare``: compares variants, iterations, revisions, or prompts by their responses to test cases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sitegen.commands.printing import print_document, print_error, print_line, print_text
from sitegen.commands.requests import CompareRequest
from sitegen.config.findings import error_of
from sitegen.config.models import PlotFormat
from sitegen.data_files.project_files import write_named
from sitegen.errors import ConfigurationError, NothingToReportError
from sitegen.history.repository_place import top_of
from sitegen.model.frozen import Frozen
from sitegen.project import Options
from sitegen.questions.comparison import (
    ComparisonWithThresholds,
    compare_iterations,
    compare_prompts,
    compare_revisions,
    compare_variants,
)
from sitegen.questions.comparison_files.markdown import comparison_markdown
from sitegen.questions.comparison_files.plots import NoPlotsError, plots
from sitegen.questions.comparison_files.prompts import evaluate, prompts_document, responses_of
from sitegen.questions.work_tree import WorktreeProject
from sitegen.text.values import schema_first
from sitegen.text.values import to_json_bytes as json_bytes

RESULTS: Final = "comparison_results.json"

_VARIANT: Final = re.compile(r"([^:]+):(.+)")
_ITERATION: Final = re.compile(r"(.+)@(\d[\w.-]*|iteration-\d[\w.-]*)")


class ComparedSides(Frozen):
    """What to compare: variants or iterations of one eval, or two revisions."""

    eval_id: str = ""
    variants: tuple[str, ...] = ()
    """All variants of the eval if both this and ``iterations`` are empty."""
    iterations: tuple[str, ...] = ()
    """The names of iterations, as in ``compare_iterations``."""
    revisions: tuple[str, ...] = ()


def compare(request: CompareRequest) -> None:
    """Compare, and print the report or write the files."""
    if request.test_cases:
        _compare_prompts(request, request.sides or [], request.test_cases)
        return
    compared = read_sides(request.sides or [], request.eval_id)
    if compared.revisions:
        _refuse_files(compared.revisions)
    if request.config and not compared.variants and (compared.iterations or compared.revisions):
        raise ConfigurationError("--config is for variants of a prompt.", fix="Leave it out.")
    if compared.revisions or compared.iterations:
        options = Options(repo=request.repo, cache=request.cache)
        if compared.revisions:
            comparison = compare_revisions(options, compared.revisions[0], compared.revisions[1])
        else:
            comparison = compare_iterations(options, compared.eval_id, compared.iterations)
        chosen = None
    else:
        project = WorktreeProject.open(request.repo)
        project = project.configured(compared.eval_id, request.config) if request.config else project
        comparison = compare_variants(project, compared.eval_id, compared.variants)
        chosen = project.evaluation.plot_format
    _print_or_write(request, {RESULTS: schema_first(comparison.document)}, comparison, chosen)


def _compare_prompts(request: CompareRequest, prompts: Sequence[str], test_cases: Path) -> None:
    """Compare prompts by their recorded responses to test cases.

    Raises ConfigurationError for fewer than two prompts, NothingToReportError for a prompt without responses.
    """
    if len(set(prompts)) < 2 or len(set(prompts)) < len(prompts):
        raise ConfigurationError("Two or more different prompts are needed.", fix="Name their files.")
    for name in prompts:
        if not Path(name).is_file():
            raise NothingToReportError("There is no such prompt.", where=name, fix="Name a file that is there.")
    project, eval_id = WorktreeProject.open(request.repo).for_cases(test_cases)
    if request.config:
        project = project.configured(eval_id, request.config)
    for misread in project.misread:
        print_error(error_of(misread))
    timestamp = datetime.now(UTC).replace(microsecond=0).isoformat()
    evaluations = []
    for prompt in map(Path, prompts):
        responses = responses_of(project, eval_id, prompt)
        evaluations.append(evaluate(project, eval_id, prompt, responses, timestamp=timestamp))
    comparison = compare_prompts(project.place(eval_id).entry, evaluations)
    files = {RESULTS: json_bytes(prompts_document(comparison.document.variants[0], evaluations, timestamp))}
    for number, evaluation in enumerate(evaluations, 1):
        files[f"evaluation_{number}.json"] = json_bytes(evaluation.document)
    _print_or_write(request, files, comparison, project.evaluation.plot_format)


def _refuse_files(revisions: Sequence[str]) -> None:
    if all(Path(revision).is_file() for revision in revisions):
        raise ConfigurationError(
            "Prompts are compared by their responses to test cases.",
            where=" ".join(revisions),
            fix="Name the file of the test cases by --test_cases FILE.",
        )


def _print_or_write(
    request: CompareRequest, files: dict[str, bytes], thresholds: ComparisonWithThresholds, chosen: PlotFormat | None
) -> None:
    """*chosen*: the format of the picture in the configuration of the evaluation, if it names one."""
    if request.as_json:
        print_document(files[RESULTS])
    elif request.out is None:
        print_text(comparison_markdown(thresholds.document))
    if request.out is not None:
        plot_format = request.plot_format or chosen or "png"
        for path in _write_files(request.out, files, thresholds, plot_format, top_of(request.repo)):
            print_line(f"wrote {path}", error=True)


def read_sides(sides: list[str], eval_id: str | None) -> ComparedSides:
    """Interpret the arguments. Raises ConfigurationError if they do not fit together."""
    fix = "Give EVAL:VARIANT EVAL:VARIANT, EVAL@ITERATION EVAL@ITERATION, two revisions, or --eval EVAL and variants."
    if len(set(sides)) < len(sides):
        raise ConfigurationError("A side is named twice.", fix=fix)
    if eval_id is not None:
        sides = [
            side if side.startswith(("@", f"{eval_id}:", f"{eval_id}@")) else f"{eval_id}:{side}" for side in sides
        ]
        sides = [f"{eval_id}{side}" if side.startswith("@") else side for side in sides]
        if not sides:
            return ComparedSides(eval_id)
    if len(sides) < 2:
        raise ConfigurationError("Two sides to compare are needed.", fix=fix)
    for pattern in (_VARIANT, _ITERATION):
        matches = [pattern.fullmatch(side) for side in sides]
        if all(matches):
            return _of_one_eval([(match[1], match[2]) for match in matches if match], pattern, fix)
        if any(matches):
            raise ConfigurationError("All sides have to be of the same kind.", where=" ".join(sides), fix=fix)
    if len(sides) > 2:
        raise ConfigurationError("More than two sides have to be variants or iterations of one eval.", fix=fix)
    return ComparedSides(revisions=tuple(sides))


def _of_one_eval(sides: list[tuple[str, str]], pattern: re.Pattern[str], fix: str) -> ComparedSides:
    evals = {eval_id for eval_id, _ in sides}
    if len(evals) > 1:
        raise ConfigurationError("The sides are of different evals.", where=", ".join(sorted(evals)), fix=fix)
    names = tuple(name for _, name in sides)
    if pattern is _ITERATION:
        return ComparedSides(evals.pop(), iterations=names)
    return ComparedSides(evals.pop(), variants=names)


def _write_files(
    out: Path, files: dict[str, bytes], thresholds: ComparisonWithThresholds, plot_format: PlotFormat, top: Path
) -> list[Path]:
    """Write all files, with the report and the picture. Without matplotlib the picture is left out with a message."""
    files = {
        **files,
        "comparison_report.md": comparison_markdown(thresholds.document).encode("utf-8", "backslashreplace"),
    }
    try:
        files[f"comparison_plots.{plot_format}"] = plots(thresholds.document, plot_format, thresholds.thresholds)
    except NoPlotsError as error:
        print_error(error)
    for name, content in files.items():
        write_named(out / name, content, top)
    return [out / name for name in files]
