"""Commands that score outputs of the work tree or call models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from sitegen.commands.signatures.options import (
    ApiAddress,
    Concurrency,
    Debug,
    EvalId,
    Json,
    LlmConfig,
    Methods,
    Model,
    MostCalls,
    OutputFile,
    RepoOption,
    TestCases,
    Variant,
)


def verify_one(
    eval_id: EvalId,
    rest: Annotated[
        list[str] | None,
        typer.Argument(metavar="[OUTPUT]", help="Default: the eval's newest output."),
    ] = None,
    methods: Methods = None,
    range_: Annotated[
        str | None,
        typer.Option("--range", metavar="X-Y", help="Kind highlights: only paragraphs X to Y."),
    ] = None,
    run_id: Annotated[
        str | None,
        typer.Option("--run-id", metavar="ID", help="Kind highlights: this run of the log. Default: the newest."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keys of the eval's entry, or how prompts are evaluated (YAML). Overrides the manifest.",
        ),
    ] = None,
    output: OutputFile = None,
    save: Annotated[
        bool, typer.Option("--save", help="Write the next iteration-NNN/ with a report, and aggregate.json.")
    ] = False,
    output_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write output, results and report to this folder."),
    ] = None,
    open_report: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    json_: Json = False,
    debug: Annotated[bool, typer.Option("--debug", help="Report which files were read.")] = False,
    repo: RepoOption = Path(),
) -> None:
    """Score one output of the work tree now."""
    from sitegen.commands.verify import VerifyRequest
    from sitegen.commands.verify import verify_one as command

    file, all_methods = _word_and_methods(rest or (), methods or (), "output")
    settings = {"range": range_, "run_id": run_id}
    command(
        VerifyRequest(
            repo=repo,
            eval_id=eval_id,
            output=Path(file) if file else None,
            settings={name: value for name, value in settings.items() if value is not None},
            methods=all_methods,
            config=config,
            results_file=output,
            save=save,
            output_dir=output_dir,
            open_report=open_report,
            as_json=json_,
            debug=debug,
        )
    )


def _word_and_methods(words: Sequence[str], methods: Sequence[str], noun: str) -> tuple[str | None, tuple[str, ...]]:
    """The one word of the command line besides methods, and all methods: names of more may follow ``--methods``.

    Raises ConfigurationError if more than one other word remains.
    """
    from sitegen.errors import ConfigurationError
    from sitegen.scoring.responses.document import METHODS

    further = [word for word in words if methods and word in METHODS]
    others = [word for word in words if word not in further]
    if len(others) > 1:
        raise ConfigurationError(f"One {noun} at a time: {', '.join(others)}.", fix="Name one.")
    return (others[0] if others else None), (*methods, *further)


def verify_all(
    evals_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder of evals. Overrides the configuration."),
    ] = None,
    json_: Json = False,
    repo: RepoOption = Path(),
) -> None:
    """Score the newest output of every eval now."""
    from sitegen.commands.verify import verify_all as command

    command(repo, evals_dir, as_json=json_)


def respond(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[EVAL]", help="Id of an eval of kind responses."),
    ] = None,
    prompt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Default: the setting 'prompt', otherwise prompts/EVAL.md.")
    ] = None,
    variant: Variant = None,
    model: Model = None,
    concurrency: Concurrency = None,
    limit: MostCalls = None,
    again: Annotated[
        bool, typer.Option("--again", help="Ask for every case, including those already answered.")
    ] = False,
    config: LlmConfig = None,
    base_url: ApiAddress = None,
    debug: Debug = False,
    test_cases: TestCases = None,
    judge_model: Annotated[
        str | None,
        typer.Option("--judge-model", help="Name of the model that grades. Overrides the configuration."),
    ] = None,
    methods: Methods = None,
    output: OutputFile = None,
    repo: RepoOption = Path(),
) -> None:
    """Let a model answer the test cases of an eval.

    Continues where it was interrupted. With --test_cases or --output, the responses are also graded and scored.
    """
    from sitegen.commands.respond import RespondRequest
    from sitegen.commands.respond import respond as command

    eval_id, all_methods = _word_and_methods(words or (), methods or (), "eval")
    command(
        RespondRequest(
            repo=repo,
            eval_id=eval_id,
            variant=variant,
            prompt=prompt,
            config=config,
            model=model,
            concurrency=concurrency,
            limit=limit,
            again=again,
            debug=debug,
            base_url=base_url,
            test_cases=test_cases,
            judge_model=judge_model,
            methods=all_methods,
            output=output,
        )
    )


def judge(
    eval_id: Annotated[str, typer.Argument(metavar="EVAL", help="Id of an eval of kind responses.")],
    prompt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Default: the setting 'judge_prompt', otherwise sitegen's own.")
    ] = None,
    variant: Variant = None,
    model: Model = None,
    concurrency: Concurrency = None,
    limit: MostCalls = None,
    again: Annotated[
        bool, typer.Option("--again", help="Grade every response, including those already graded.")
    ] = False,
    config: LlmConfig = None,
    base_url: ApiAddress = None,
    debug: Debug = False,
    repo: RepoOption = Path(),
) -> None:
    """Let a model grade responses from 1 to 5.

    The grades are recorded with the responses: those in the eval's folder, otherwise those of its newest iteration.
    """
    from sitegen.commands.respond import RespondRequest
    from sitegen.commands.respond import judge as command

    command(
        RespondRequest(
            repo=repo,
            eval_id=eval_id,
            variant=variant,
            prompt=prompt,
            config=config,
            model=model,
            concurrency=concurrency,
            limit=limit,
            again=again,
            debug=debug,
            base_url=base_url,
        )
    )


def code_judge(
    subject: Annotated[Literal["fields", "line-items"], typer.Argument(help="The part of the candidate to judge.")],
) -> None:
    """Judge one candidate for another runner.

    Reads {expected, candidate, config} from standard input and prints {score, hits, misses, ...}.
    """
    import sys

    from sitegen.commands.printing import print_document
    from sitegen.scoring.code_judge import LARGEST, opinion
    from sitegen.text.json_bytes import to_json_bytes

    judgement = opinion(subject, sys.stdin.buffer.read(LARGEST + 1))
    print_document(to_json_bytes(judgement, indent=None))


def extract(
    log: Annotated[
        Path, typer.Argument(metavar="[LOG]", help="A log of highlights with one JSON object per line.")
    ] = Path("logs/processing-log.ndjson"),
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="File to write; - is standard output. Default: raw-llm-run.json, in evals/ if that folder exists.",
        ),
    ] = None,
    run_id: Annotated[str | None, typer.Option(metavar="ID", help="Default: the run of the last line.")] = None,
) -> None:
    """Write one run of a log of highlights as raw-llm-run.json."""
    from sitegen.commands.extract import extract as command

    command(log, out, run_id)
