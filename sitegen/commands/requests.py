"""The command lines of commands with many options, each as a dataclass whose fields are the arguments and options.

Also arguments and options that several commands share, and how values are made of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_type_hints

import typer

if TYPE_CHECKING:
    from sitegen.project import Options

EvalId = Annotated[str, typer.Argument(metavar="EVAL", help="Id of the eval.")]
Repo = Annotated[Path, typer.Argument(metavar="REPO", help="The project: any folder of a git repository.")]
RepoOption = Annotated[Path, typer.Option("--repo", metavar="REPO", help="The project, if it is not this folder.")]
Methods = Annotated[
    list[str] | None,
    typer.Option(help="Kind responses: exact_match, consistency, quality or rouge; can be repeated. Default: all."),
]
OutputFile = Annotated[
    Path | None, typer.Option("--output", metavar="FILE", help="Write the results to this file as JSON.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def _option(of_type: Any, *names: str, **settings: Any) -> tuple[Any, Any]:
    """Return the default of an option, by which it is as if it was not given, and its annotation."""
    return False if of_type is bool else None, Annotated[of_type, typer.Option(*names, **settings)]


_OF_PROJECT: Final[dict[str, tuple[Any, Any]]] = {
    "REPO": (Path(), Repo),
    "out": _option(Path | None, "--out", "-o", help="Output folder. Default: site in the project, which git ignores."),
    "jobs": _option(int | None, min=1, help="Number of processes, at most four per core. Default: one per core."),
    "worktree": _option(bool, "--worktree", help="Take the uncommitted state as the newest iteration."),
    "allow_shallow": _option(bool, "--allow-shallow", help="Read a shallow clone too, whose history is cut off."),
    "force": _option(
        bool,
        "--force",
        help="Use a folder that sitegen did not create, and compare every file: pages replace what differs.",
    ),
    "base_url": _option(
        str | None, "--base-url", metavar="URL", help="Address of the published site, unless sitegen.toml has one."
    ),
    "own_templates": (
        True,
        Annotated[
            bool,
            typer.Option("--templates/--no-templates", help="Let site_templates/ of the project override templates."),
        ],
    ),
    "dask": _option(
        str | None,
        metavar="URL",
        help="Build on the workers of this dask scheduler, such as tcp://10.0.0.1:8786 (extra 'dask'). "
        "Default: SITEGEN_DASK of the environment.",
    ),
    "rev": _option(str | None, help="Revision. Default: HEAD."),
    "repo": (Path(), RepoOption),
    "cache": _option(Path | None, help="Folder of the memo, safe to delete. Default: .sitegen in the project."),
}
"""Default and annotation of each option that is a field of ``Options``, whose import takes longer than the help. REPO
is ``repo`` as an argument."""


def spelled_out(*of_project: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command that takes values of several arguments or options each, which typer then takes one by one.

    A dataclass consists of its fields, which are arguments or options as their annotations say; ``options`` of those of
    ``_OF_PROJECT`` that are named here.
    """
    return partial(_taking_words, of_project)


def _taking_words(of_project: tuple[str, ...], make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes what a command or a dataclass takes from single words, and calls it with this."""
    hints = get_type_hints(make, localns={"Options": Any}, include_extras=True)
    makers: dict[str, tuple[Callable[..., Any], list[Parameter]]] = {}
    parameters: list[Parameter] = []
    for name, parameter in signature(make).parameters.items():
        if name == "options":
            stated = ((option.lower(), *_OF_PROJECT[option]) for option in of_project)
            makers[name] = (
                _options,
                [
                    Parameter(word, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
                    for word, default, annotation in stated
                ],
            )
        elif is_dataclass(hints[name]):
            maker = _taking_words(of_project, hints[name])
            makers[name] = maker, [*signature(maker).parameters.values()]
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))
    parameters += [part for _, parts in makers.values() for part in parts]

    @wraps(make, updated=())
    def with_words(**words: Any) -> Any:
        for name, (maker, parts) in makers.items():
            words[name] = maker(**{part.name: words.pop(part.name) for part in parts})
        return make(**words)

    with_words.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    with_words.__annotations__ = {}  # the signature has them, as values
    return with_words


def _options(**words: Any) -> Options:
    from sitegen.project import Options

    return Options(**words)


def word_and_methods(request: VerifyRequest | RespondRequest, noun: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the one word of the command line besides methods, and all methods: names of more may follow ``--methods``.

    Raises ConfigurationError if more than one other word remains.
    """
    from sitegen.errors import ConfigurationError
    from sitegen.scoring.responses.document import METHODS

    words, methods = request.rest or (), request.methods or ()
    further = [word for word in words if methods and word in METHODS]
    others = [word for word in words if word not in further]
    if len(others) > 1:
        raise ConfigurationError(f"One {noun} at a time: {', '.join(others)}.", fix="Name one.")
    return others[0] if others else None, (*methods, *further)


@dataclass(frozen=True, kw_only=True)
class VerifyRequest:
    """The command line of ``verify-one``."""

    eval_id: EvalId = ""
    rest: Annotated[list[str] | None, typer.Argument(metavar="[OUTPUT]", help="Default: the eval's newest output.")] = (
        None
    )
    methods: Methods = None
    range: Annotated[
        str | None, typer.Option("--range", metavar="X-Y", help="Kind highlights: only paragraphs X to Y.")
    ] = None
    run_id: Annotated[
        str | None,
        typer.Option("--run-id", metavar="ID", help="Kind highlights: this run of the log. Default: the newest."),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keys of the eval's entry, or how prompts are evaluated (YAML). Overrides the manifest.",
        ),
    ] = None
    results_file: OutputFile = None
    save: Annotated[
        bool, typer.Option("--save", help="Keep results and a report in its iteration-NNN/, or as the next one.")
    ] = False
    output_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write output, results and report to this folder.")
    ] = None
    open_report: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False
    as_json: Json = False
    debug: Annotated[bool, typer.Option("--debug", help="Report which files were read.")] = False
    repo: RepoOption = Path()


@dataclass(frozen=True, kw_only=True)
class CallRequest:
    """What the commands that call a model share."""

    prompt: Path | None = None
    variant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Use the file responses-NAME.jsonl instead of responses.json.")
    ] = None
    model: Annotated[str | None, typer.Option(help="Name of the model. Overrides the configuration.")] = None
    limit: Annotated[int | None, typer.Option(min=1, help="Greatest number of calls for each file.")] = None
    again: bool = False
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="How prompts are evaluated (YAML), or a table [llm] as in sitegen.toml (TOML).",
        ),
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url", metavar="URL", help="Address of the API, to which your key is sent. No file can set it."
        ),
    ] = None
    debug: Annotated[bool, typer.Option("--debug", help="Report each call: status, attempts, seconds.")] = False
    repo: RepoOption = Path()


@dataclass(frozen=True, kw_only=True)
class RespondRequest(CallRequest):
    """The command line of ``respond``."""

    rest: Annotated[list[str] | None, typer.Argument(metavar="[EVAL]", help="Id of an eval of kind responses.")] = None
    prompt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Default: the setting 'prompt', otherwise prompts/EVAL.md.")
    ] = None
    again: Annotated[bool, typer.Option("--again", help="Ask for every case, including those already answered.")] = (
        False
    )
    test_cases: Annotated[
        Path | None,
        typer.Option("--test_cases", "--test-cases", metavar="FILE", help="The test cases, instead of EVAL."),
    ] = None
    judge_model: Annotated[
        str | None, typer.Option("--judge-model", help="Name of the model that grades. Overrides the configuration.")
    ] = None
    methods: Methods = None
    output: OutputFile = None

    @property
    def evaluates(self) -> bool:
        """Whether the responses are graded and scored too."""
        return self.test_cases is not None or self.output is not None


@dataclass(frozen=True, kw_only=True)
class JudgeRequest(CallRequest):
    """The command line of ``judge``."""

    eval_id: Annotated[str, typer.Argument(metavar="EVAL", help="Id of an eval of kind responses.")]
    prompt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Default: the setting 'judge_prompt', otherwise sitegen's own.")
    ] = None
    again: Annotated[bool, typer.Option("--again", help="Grade every response, including those already graded.")] = (
        False
    )


@dataclass(frozen=True, kw_only=True)
class CompareRequest:
    """The command line of ``compare``."""

    options: Options
    sides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="A B ...",
            help="EVAL and values on an axis (variant=short, model=mini, or a tag of its cases: language=de), "
            "EVAL:VALUE, EVAL@ITERATION (14, iteration-014, the name of a report or of a baseline), revisions or "
            "baselines, or, with --test_cases, prompt files. Each is compared with the first.",
        ),
    ] = None
    eval_id: Annotated[
        str | None,
        typer.Option(
            "--eval",
            metavar="EVAL",
            help="The sides are of this eval; without them, all its variants, or else its models.",
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "--output-dir", "-o", metavar="DIR", help="Write JSON, Markdown and a picture to this folder."
        ),
    ] = None
    plot_format: Annotated[
        Literal["png", "svg"] | None,
        typer.Option("--format", help="Format of the picture; needs the extra 'plots'. Default: png."),
    ] = None
    test_cases: Annotated[
        Path | None,
        typer.Option("--test_cases", "--test-cases", metavar="FILE", help="The test cases; A and B are prompt files."),
    ] = None
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="How prompts are evaluated (YAML).")] = None
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class CheckRequest:
    """The command line of ``check``."""

    options: Options
    base: Annotated[
        str | None,
        typer.Option(
            metavar="REV",
            help="Compare with the commit where the branch left REV, or with a baseline of sitegen.toml. Default in a "
            "workflow: its target.",
        ),
    ] = None
    exact: Annotated[bool, typer.Option("--exact", help="Compare with REV itself.")] = False
    as_json: Json = False
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the report to this file.")] = None
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML to this file.")] = None
    report: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Check nothing: validate the report that --json wrote elsewhere, and write it as Markdown.",
        ),
    ] = None
