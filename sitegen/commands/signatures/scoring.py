"""Commands that score outputs of the work tree or call models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sitegen.commands.signatures.options import Json, RepoOption, taking
from sitegen.commands.signatures.requests import JudgeRequest, RespondRequest, VerifyRequest


@taking(VerifyRequest)
def verify_one(request: VerifyRequest) -> None:
    """Score one output of the work tree now."""
    from sitegen.commands.verify import verify_one as command

    command(request)


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


@taking(RespondRequest)
def respond(request: RespondRequest) -> None:
    """Let a model answer the test cases of an eval.

    Continues where it was interrupted. With --test_cases or --output, the responses are also graded and scored.
    """
    from sitegen.commands.respond import respond as command

    command(request)


@taking(JudgeRequest)
def judge(request: JudgeRequest) -> None:
    """Let a model grade responses from 1 to 5.

    The grades are recorded with the responses: those in the eval's folder, otherwise those of its newest iteration.
    """
    from sitegen.commands.respond import judge as command

    command(request)


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
