"""``sitegen compare``: compares variants, models and tags, iterations, revisions, or prompts by their responses."""

import re
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, TypeAlias

from sitegen.commands.printing import print_document, print_error, print_line, print_markdown
from sitegen.commands.requests import CompareRequest
from sitegen.config.findings import error_of
from sitegen.config.models import PlotFormat
from sitegen.data_files.project_files import write_named
from sitegen.errors import ConfigurationError, NothingToReportError, RepositoryError, SitegenError
from sitegen.history.repository_place import top_of
from sitegen.model.metrics import traits_of
from sitegen.questions import comparison
from sitegen.questions.comparison_files.markdown import comparison_markdown
from sitegen.questions.comparison_files.plots import plots
from sitegen.questions.comparison_files.prompts import ComparisonDocument, evaluate, prompts_document, responses_of
from sitegen.questions.work_tree import WorktreeProject
from sitegen.text.values import schema_first, to_json_bytes

RESULTS: Final = "comparison_results.json"

SideKind: TypeAlias = Literal["variants", "iterations", "revisions"]

_SIDES: Final[dict[SideKind, re.Pattern[str]]] = {
    "variants": re.compile(r"([^:]+):(.+)"),
    "iterations": re.compile(r"(.+)@(\w[\w.-]*)"),
}
"""How a side of one eval is written: the id of the eval, and the name of the side."""

_ON_AXIS: Final = re.compile(r"[\w-]+=.+")  # how a value on an axis is written: ``model=mini``


def compare(request: CompareRequest) -> None:
    """Compare, and print the report or write the files."""
    if request.test_cases:
        _compare_prompts(request, request.test_cases)
        return
    try:
        kind, eval_id, names = read_sides(request.sides or [], request.eval_id)
    except ConfigurationError as error:
        fix = f"{error.fix} Here: {_examples(request)}"
        raise ConfigurationError(error.message, where=error.where, fix=fix) from None
    if kind == "revisions" and all(Path(revision).is_file() for revision in names):
        message = "Prompts are compared by their responses to test cases."
        fix = "Name the file of the test cases by --test_cases FILE."
        raise ConfigurationError(message, where=" ".join(names), fix=fix)
    if request.config and kind != "variants":
        raise ConfigurationError("--config is for variants of a prompt.", fix="Leave it out.")
    chosen = None
    if kind == "revisions":
        try:
            document, thresholds = comparison.compare_revisions(request.options, names)
        except RepositoryError as error:
            project = WorktreeProject.open(request.options.repo)
            if names[0] not in project.histories or repr(names[0]) not in error.message:
                raise
            document, thresholds = comparison.compare_variants(project, names[0], names[1:])
    elif kind == "iterations":
        document, thresholds = comparison.compare_iterations(request.options, eval_id, names)
    else:
        project = WorktreeProject.open(request.options.repo)
        project = project.configured(eval_id, request.config) if request.config else project
        document, thresholds = comparison.compare_variants(project, eval_id, names)
        chosen = project.evaluation.plot_format
    _print_or_write(request, {RESULTS: schema_first(document)}, document, thresholds, chosen)


def _examples(request: CompareRequest) -> str:
    """Return two commands that compare something of this project: of the named eval first, and revisions."""
    revisions, named = "sitegen compare HEAD~1 HEAD", {re.split("[:@]", side)[0] for side in request.sides or []}
    histories = WorktreeProject.open(request.options.repo).histories.values()
    for history in sorted(histories, key=lambda history: history.id not in named):
        if history.id in named and traits_of(history.kind).answers_cases:
            return f"sitegen compare --eval {shlex.quote(history.id)}, which compares its variants, or {revisions}."
        labels = dict.fromkeys(at.label for at in history.snapshots if re.fullmatch(r"iteration-\d+", at.label))
        if len(labels) > 1:
            sides = " ".join(shlex.quote(f"{history.id}@{label}") for label in [*labels][-2:])
            return f"sitegen compare {sides}, or {revisions}."
    return f"{revisions}."


def _compare_prompts(request: CompareRequest, test_cases: Path) -> None:
    """Compare prompts by their recorded responses to test cases.

    Raises ConfigurationError for fewer than two prompts, NothingToReportError for a prompt without responses.
    """
    prompts = request.sides or []
    if len(set(prompts)) < 2 or len(set(prompts)) < len(prompts):
        raise ConfigurationError("Two or more different prompts are needed.", fix="Name their files.")
    for name in prompts:
        if not Path(name).is_file():
            raise NothingToReportError("There is no such prompt.", where=name, fix="Name a file that is there.")
    project, eval_id = WorktreeProject.open(request.options.repo).for_cases(test_cases)
    if request.config:
        project = project.configured(eval_id, request.config)
    for misread in project.misread:
        print_error(error_of(misread))
    timestamp = datetime.now(UTC).replace(microsecond=0).isoformat()
    place = project.place(eval_id)
    evaluations = [
        evaluate(place, prompt, responses_of(place, prompt), timestamp=timestamp) for prompt in map(Path, prompts)
    ]
    document, thresholds = comparison.compare_prompts(place.entry, evaluations)
    files = {RESULTS: to_json_bytes(prompts_document(document.variants[0], evaluations, timestamp))}
    for number, (_, evaluation) in enumerate(evaluations, 1):
        files[f"evaluation_{number}.json"] = to_json_bytes(evaluation)
    _print_or_write(request, files, document, thresholds, project.evaluation.plot_format)


def _print_or_write(
    request: CompareRequest,
    files: dict[str, bytes],
    document: ComparisonDocument,
    thresholds: comparison.Thresholds,
    chosen: PlotFormat | None,
) -> None:
    """Print the comparison, and write all files with the report and the picture, if a folder is named.

    Without matplotlib, the picture is left out with a message. ``chosen``: the format of the picture in the
    configuration of the evaluation, if it names one.
    """
    if request.as_json:
        print_document(files[RESULTS])
    elif request.out is None:
        print_markdown(comparison_markdown(document))
    if request.out is None:
        return
    report = comparison_markdown(document).encode("utf-8", "backslashreplace")
    files = {**files, "comparison_report.md": report}
    plot_format = request.plot_format or chosen or "png"
    picture = plots(document, plot_format, thresholds)
    if picture is None:
        message = "There is no picture of the comparison: matplotlib is not installed."
        print_error(SitegenError(message, fix="In a clone of sitegen: pip install '.[plots]'"))
    else:
        files[f"comparison_plots.{plot_format}"] = picture
    top = top_of(request.options.repo)
    for name, content in files.items():
        write_named(request.out / name, content, top)
        print_line(f"wrote {request.out / name}", error=True)


def read_sides(sides: list[str], eval_id: str | None) -> tuple[SideKind, str, tuple[str, ...]]:
    """Return what is compared, by the arguments: values on an axis or iterations of an eval and names, or revisions.

    No names mean all variants. Raises ConfigurationError if the arguments do not fit together.
    """
    fix = "Give EVAL VALUE VALUE with values such as model=mini, EVAL@ITERATION EVAL@ITERATION, or revisions. "
    fix += "Values behind iterations, EVAL@1 EVAL@2 model=mini, compare these answers alone."
    if len(set(sides)) < len(sides):
        raise ConfigurationError("A side is named twice.", fix=fix)
    on_axis = list(filter(_ON_AXIS.fullmatch, sides))
    if behind := on_axis if any("@" in side for side in {*sides} - {*on_axis}) else []:
        sides = [side for side in sides if side not in behind]
    elif eval_id is None and len(sides) > 2 and on_axis == sides[1:]:
        eval_id, *sides = sides
    on_first = _SIDES["iterations"].fullmatch(sides[0]) if sides else None
    if eval_id is None and on_first and all(re.fullmatch(r"@\w[\w.-]*", side) for side in sides[1:]):
        eval_id = on_first[1]
    if eval_id is not None:
        whole = (f"{eval_id}:", f"{eval_id}@")
        sides = [side if side.startswith(whole) else f"{eval_id}{':' * (side[:1] != '@')}{side}" for side in sides]
        if not sides:
            return "variants", eval_id, ()
    if len(sides) < 2:
        raise ConfigurationError("Two sides to compare are needed.", fix=fix)
    for kind, pattern in _SIDES.items():
        matches = [match for side in sides if (match := pattern.fullmatch(side))]
        if matches:
            evals = {match[1] for match in matches}
            if len(matches) < len(sides) or len(evals) > 1:
                message = "All sides have to be of the same kind, and of one eval."
                raise ConfigurationError(message, where=" ".join(sides), fix=fix)
            return kind, evals.pop(), (*(match[2] for match in matches), *behind)
    if on_axis:
        raise ConfigurationError("No eval is named.", where=" ".join(sides), fix=fix)
    return "revisions", "", tuple(sides)
