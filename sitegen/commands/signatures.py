"""The signatures of all commands, by which typer parses their arguments and writes their help.

The last lines list them in the order of ``--help``, with examples.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from sitegen import __version__
from sitegen.commands import requests
from sitegen.commands.printing import print_line

if TYPE_CHECKING:
    from sitegen.project import Options


@requests.spelled_out(
    "REPO", "out", "rev", "jobs", "worktree", "allow_shallow", "force", "base_url", "own_templates", "dask", "cache"
)
def build(
    options: Options,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 3 if there is any problem (notes do not count).")
    ] = False,
    public: Annotated[
        bool, typer.Option("--public", help="Exit with 1 and delete the site if anything in it looks like a secret.")
    ] = False,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the site in the browser as soon as its overview is written.")
    ] = False,
) -> None:
    """Walk the history, score every commit, and write the site."""
    from sitegen.commands.build import command

    command(options, strict=strict, public=public, open_browser=open_browser)


@requests.spelled_out("REPO", "jobs", "allow_shallow", "own_templates", "cache")
def watch(
    options: Options,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Default: 8000. If it is taken, a free one.")
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the site in the browser.")] = False,
) -> None:
    """Serve the site locally, and rebuild it after every change."""
    from sitegen.commands.watch import command

    command(options, port=port, open_browser=open_browser)


def init(
    repo: requests.Repo = Path(),
    templates: Annotated[
        list[str] | None,
        typer.Option(
            "--templates",
            metavar="NAME",
            help="Only copy this into site_templates/ for you to change: theme.css, a file such as frame/footer.html, "
            "a folder, or all. Can be repeated.",
        ),
    ] = None,
    skeletons: Annotated[
        bool,
        typer.Option(
            "--skeletons", help="Also write files to begin with: a manifest, a mapping, a verifier with instructions."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what was found and what would be written, and write nothing.")
    ] = False,
    vendor: Annotated[
        bool, typer.Option("--vendor", help="Write a wheel of this sitegen beside the workflows, which install it.")
    ] = False,
) -> None:
    """Look for evals and instructions, and write a manifest of them.

    Also writes what publishes the site: workflows for GitHub or GitLab, else a script. Existing files are never
    changed.
    """
    from sitegen.commands.init import init as command

    command(repo, templates or (), skeletons=skeletons, dry_run=dry_run, vendor=vendor)


@requests.spelled_out("rev", "repo", "allow_shallow", "cache")
def export(
    options: Options,
    format_: Annotated[Literal["csv", "sqlite"], typer.Option("--format", help="A folder, or one file.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="PATH", help="Default: export/ or export.sqlite.")
    ] = None,
    evals: Annotated[
        list[str] | None, typer.Option("--eval", metavar="EVAL", help="This eval; can be repeated. Default: all.")
    ] = None,
) -> None:
    """Write all scores and outcomes of the history as tables."""
    from sitegen.questions.study import write_export

    for path in write_export(options, format_, out, tuple(dict.fromkeys(evals or []))):
        print_line(f"wrote {path}", error=True)


def schema(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name of one schema. Default: all of them.")
    ] = None,
) -> None:
    """Print the JSON Schemas of all files read and written."""
    from sitegen.commands.printing import print_document
    from sitegen.schemas import printed

    print_document(printed(name))


def demo(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")]) -> None:
    """Write a repository with history, to try sitegen on."""
    import shlex

    from sitegen.commands.demo import write_demo

    head = write_demo(folder)
    print_line(f"wrote {folder}, head {head[:7]}")
    print_line(f"next: cd {shlex.quote(str(folder))} && sitegen build")


@requests.spelled_out("rev", "repo", "allow_shallow", "cache")
def history(
    options: Options,
    eval_id: requests.EvalId = "",
    by: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS",
            help="A column for each variant, model, or value of this tag of the cases; also variant,model.",
        ),
    ] = None,
    json_: requests.Json = False,
) -> None:
    """List all iterations of an eval."""
    from sitegen.commands.history import history as command

    command(options, eval_id, by=by, as_json=json_)


@requests.spelled_out("rev", "repo", "allow_shallow", "cache")
def blame(
    options: Options,
    eval_id: requests.EvalId,
    field: Annotated[str, typer.Argument(metavar="FIELD", help="walls[].area, walls[3].area, or with * and ?.")],
    document: Annotated[str | None, typer.Option(metavar="ID", help="Only this document or case.")] = None,
    json_: requests.Json = False,
) -> None:
    """Show when a field was right and wrong, and what changed it."""
    from sitegen.commands.history import blame as command

    command(options, eval_id, field, document=document, as_json=json_)


@requests.spelled_out("repo", "allow_shallow", "cache")
def compare(request: requests.CompareRequest) -> None:
    """Compare variants, models, tags, iterations, or revisions."""
    from sitegen.commands.compare import compare as command

    command(request)


@requests.spelled_out("rev", "worktree", "repo", "allow_shallow", "cache")
def check(request: requests.CheckRequest) -> None:
    """Compare every eval with its limits and its base: the gate.

    Exits with 1 if an eval fails. Limits are set under [gate] in sitegen.toml; the targets of evals are floors too.
    """
    from sitegen.commands.check import check as command

    command(request)


@requests.spelled_out()
def verify_one(request: requests.VerifyRequest) -> None:
    """Score one output of the work tree now."""
    from sitegen.commands.verify import verify_one as command

    command(request)


def verify_all(
    evals_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder of evals. Overrides the configuration.")
    ] = None,
    json_: requests.Json = False,
    repo: requests.RepoOption = Path(),
) -> None:
    """Score the newest output of every eval now."""
    from sitegen.commands.verify import verify_all as command

    command(repo, evals_dir, as_json=json_)


@requests.spelled_out()
def respond(request: requests.RespondRequest) -> None:
    """Let a model answer the test cases of an eval.

    Continues where it was interrupted. With --test_cases or --output, the responses are also graded and scored.
    """
    from sitegen.commands.respond import respond as command

    command(request)


@requests.spelled_out()
def judge(request: requests.JudgeRequest) -> None:
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
    from sitegen.scoring.code_judge import PAYLOAD_BYTES, opinion
    from sitegen.text.values import to_json_bytes

    judgement = opinion(subject, sys.stdin.buffer.read(PAYLOAD_BYTES + 1))
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


app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Reports of every iteration of your LLM instructions, computed from git history. Start with: sitegen build",
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print_line(f"sitegen {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options without a command."""


_EXAMPLES: Final[dict[Callable[..., None], list[str]]] = {
    build: ["build --open", "build --rev HEAD~5 --out /tmp/earlier"],
    watch: ["watch --open"],
    verify_one: ["verify-one lab-reports", "verify-one rental-contracts --json"],
    verify_all: ["verify-all"],
    history: ["history lab-reports", "history help-desk --by variant"],
    blame: ["blame lab-reports 'results[].value' --document report-a"],
    compare: ["compare lab-reports@14 lab-reports@19", "compare help-desk variant=short variant=polite"],
    check: ["check --base HEAD~5"],
    respond: [],
    judge: [],
    code_judge: [],
    init: ["init --dry-run"],
    extract: ["extract evals/handbook-terms/logs/processing-log.ndjson --out -"],
    export: ["export --format csv", "export --format sqlite --eval lab-reports"],
    schema: ["schema manifest"],
    demo: ["demo /tmp/demo"],
}
for _command, _examples in _EXAMPLES.items():
    _lines = [f"  sitegen {_example}" for _example in _examples]
    app.command(epilog="\n".join(["\b", "Examples, as they run in the demo:", *_lines]) if _lines else None)(_command)
