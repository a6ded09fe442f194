"""Commands that answer questions about the history of a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sitegen.commands.signatures.options import Cache, EvalId, Json, RepoOption, Rev, taking
from sitegen.commands.signatures.requests import CheckRequest, CompareRequest


def history(
    eval_id: EvalId,
    json_: Json = False,
    rev: Rev = None,
    repo: RepoOption = Path(),
    cache: Cache = None,
) -> None:
    """List all iterations of an eval."""
    from sitegen.commands.history import history as command

    command(repo, eval_id, rev=rev, as_json=json_, cache=cache)


def blame(
    eval_id: EvalId,
    field: Annotated[str, typer.Argument(metavar="FIELD", help="walls[].area, walls[3].area, or with * and ?.")],
    document: Annotated[str | None, typer.Option(metavar="ID", help="Only this document.")] = None,
    json_: Json = False,
    rev: Rev = None,
    repo: RepoOption = Path(),
    cache: Cache = None,
) -> None:
    """Show when a field was right and wrong, and what changed it."""
    from sitegen.commands.blame import blame as command
    from sitegen.project import Options

    command(Options(repo=repo, rev=rev, cache=cache), eval_id, field, document=document, as_json=json_)


@taking(CompareRequest)
def compare(request: CompareRequest) -> None:
    """Compare variants of a prompt, iterations, or revisions."""
    from sitegen.commands.compare import compare as command

    command(request)


@taking(CheckRequest)
def check(request: CheckRequest) -> None:
    """Compare every eval with its limits and its base: the gate.

    Exits with 1 if an eval fails. Limits are set under [gate] in sitegen.toml, and as thresholds in the manifest.
    """
    from sitegen.commands.check import check as command

    command(request)
