"""Commands that answer questions about the history of a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sitegen.commands.signatures.options import Cache, EvalId, Json, RepoOption, Rev


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


def compare(
    sides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="A B", help="EVAL:VARIANT, EVAL@ITERATION, two revisions, or, with --test_cases, prompt files."
        ),
    ] = None,
    eval_id: Annotated[
        str | None,
        typer.Option(
            "--eval", metavar="EVAL", help="A and B are variants of this eval; without them, all its variants."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "--output-dir", "-o", metavar="DIR", help="Write JSON, Markdown and a picture to this folder."
        ),
    ] = None,
    plot_format: Annotated[
        Literal["png", "svg"] | None,
        typer.Option("--format", help="Format of the picture; needs the extra 'plots'. Default: png."),
    ] = None,
    test_cases: Annotated[
        Path | None,
        typer.Option("--test_cases", "--test-cases", metavar="FILE", help="The test cases; A and B are prompt files."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="How prompts are evaluated (YAML)."),
    ] = None,
    json_: Json = False,
    repo: RepoOption = Path(),
    cache: Cache = None,
) -> None:
    """Compare variants of a prompt, iterations, or revisions."""
    from sitegen.commands.compare import ComparisonOutput, compare_files
    from sitegen.commands.compare import compare as command

    output = ComparisonOutput(out=out, plot_format=plot_format, as_json=json_)
    if test_cases:
        compare_files(repo, sides or [], test_cases, config=config, output=output)
    else:
        command(repo, sides or [], eval_id=eval_id, cache=cache, config=config, output=output)


def check(
    base: Annotated[
        str | None,
        typer.Option(
            metavar="REV", help="Compare with the commit where the branch left REV. Default in a workflow: its target."
        ),
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Compare with REV itself.")] = False,
    rev: Annotated[str | None, typer.Option(help="Revision to check. Default: HEAD.")] = None,
    worktree: Annotated[bool, typer.Option("--worktree", help="Check the uncommitted state.")] = False,
    json_: Json = False,
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the report to this file.")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML to this file.")] = None,
    annotations: Annotated[
        bool | None,
        typer.Option(
            "--annotations/--no-annotations", help="Print annotations for GitHub. Default: only in a workflow."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Check nothing: validate the report that --json wrote elsewhere, and write it as Markdown.",
        ),
    ] = None,
    repo: RepoOption = Path(),
    cache: Cache = None,
) -> None:
    """Compare every eval with its limits and its base: the gate.

    Exits with 1 if an eval fails. Limits are set under [gate] in sitegen.toml, and as thresholds in the manifest.
    """
    from sitegen.commands.check import ReportForms, print_report_of
    from sitegen.commands.check import check as command
    from sitegen.project import Options

    if report:
        print_report_of(report, markdown)
        return

    options = Options(repo=repo, rev=rev, cache=cache, worktree=worktree)
    command(
        options, base, ReportForms(as_json=json_, markdown=markdown, junit=junit, annotations=annotations), exact=exact
    )
