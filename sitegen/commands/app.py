"""The list of commands. Each imports its work when it is called, so that ``--help`` stays fast."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from sitegen import __version__

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Reports of every iteration of your LLM instructions, computed from git history. Start with: sitegen build",
)

Repo = Annotated[Path, typer.Argument(metavar="REPO", help="The project: any folder of a git repository.")]
RepoOption = Annotated[Path, typer.Option("--repo", metavar="REPO", help="The project, if it is not this folder.")]
Cache = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads the annotation at run time
    typer.Option(help="Folder of the memo, safe to delete. Default: .sitegen in the project."),
]
ExportFormat = Literal["csv", "json", "parquet", "sqlite"]
PlotFormat = Literal["png", "svg"]
OwnTemplates = Annotated[
    bool, typer.Option("--templates/--no-templates", help="Let site_templates/ of the project override templates.")
]
Methods = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(help="Kind responses: exact_match, consistency, quality, rouge, one or more. Default: all."),
]
OutputFile = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--output", metavar="FILE", help="Write the results there as JSON."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output, nothing else.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"sitegen {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of no command."""


@app.command()
def build(
    repo: Repo = Path(),
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output folder. Default: public in the project.")
    ] = None,
    rev: Annotated[str | None, typer.Option(help="Revision to build. Default: HEAD.")] = None,
    pin: Annotated[
        str | None, typer.Option(metavar="REV", help="Score all history by the ground truth and rules of REV.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes, at most four a core. Default: as many as there are cores.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 3 if there is any problem (notes do not count).")
    ] = False,
    public: Annotated[
        bool,
        typer.Option("--public", help="Exit with 1, and delete the site again, if anything in it looks like a secret."),
    ] = False,
    worktree: Annotated[bool, typer.Option("--worktree", help="Add the uncommitted state as one last point.")] = False,
    allow_shallow: Annotated[
        bool, typer.Option("--allow-shallow", help="Build from a shallow clone, with a banner.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Use a folder that sitegen did not make; pages replace its files.")
    ] = False,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="Address of the published site, unless sitegen.toml has one."),
    ] = None,
    templates: OwnTemplates = True,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare every file of the site, also those that seem untouched.")
    ] = False,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Address of a dask scheduler (extra 'dask'); or SITEGEN_DASK in the environment."
        ),
    ] = None,
    cache: Cache = None,
) -> None:
    """Walk the history, score every commit, write the site."""
    from sitegen.commands.build import command
    from sitegen.project import Options

    command(
        Options(repo, out, rev, jobs, cache, force, allow_shallow, worktree, pin, base_url, templates, verify, dask),
        strict=strict,
        public=public,
    )


@app.command()
def watch(
    repo: Repo = Path(),
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Default: 8000. If it is taken, a free one.")
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the site in the browser.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes of the first build.")] = None,
    allow_shallow: Annotated[
        bool, typer.Option("--allow-shallow", help="Follow a shallow clone, with a banner.")
    ] = False,
    templates: OwnTemplates = True,
    cache: Cache = None,
) -> None:
    """Serve the site on this machine, and follow every change."""
    from sitegen.commands.watch import command
    from sitegen.project import Options

    options = Options(repo=repo, jobs=jobs, cache=cache, allow_shallow=allow_shallow, own_templates=templates)
    command(options, port=port, open_browser=open_browser)


@app.command()
def verify_one(
    eval_id: Annotated[str, typer.Argument(metavar="EVAL", help="Id of the eval.")],
    rest: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(metavar="[OUTPUT]", help="Default: the eval's newest output."),
    ] = None,
    methods: Methods = None,
    range_: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--range", metavar="X-Y", help="Kind highlights: paragraphs X to Y alone."),
    ] = None,
    run_id: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--run-id", metavar="ID", help="Kind highlights: this run of the log. Default: the newest."),
    ] = None,
    config: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            metavar="FILE",
            help="Keys of the eval's entry, or how prompts are evaluated; they go before the manifest's (YAML).",
        ),
    ] = None,
    output: OutputFile = None,
    save: Annotated[
        bool, typer.Option("--save", help="Write the next iteration-NNN/ with a report, and aggregate.json.")
    ] = False,
    output_dir: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="DIR", help="Write output, results and report there."),
    ] = None,
    open_report: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    json_: Json = False,
    debug: Annotated[bool, typer.Option("--debug", help="Tell what was read.")] = False,
    repo: RepoOption = Path(),
) -> None:
    """Score one output of the work tree now."""
    from sitegen.commands.verify import asked
    from sitegen.commands.verify import verify_one as command

    wanted = asked(repo, eval_id, rest or [], methods or [], (("range", range_), ("run_id", run_id)))
    command(
        wanted._replace(
            config=config,
            written_to=output,
            save=save,
            output_dir=output_dir,
            open_report=open_report,
            as_json=json_,
            debug=debug,
        )
    )


@app.command()
def verify_all(
    evals_dir: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="DIR", help="The folder of evals, before the configuration's."),
    ] = None,
    json_: Json = False,
    repo: RepoOption = Path(),
) -> None:
    """Score the newest output of every eval now."""
    from sitegen.commands.verify import verify_all as command

    command(repo, evals_dir, as_json=json_)


@app.command()
def history(
    eval_id: Annotated[str, typer.Argument(metavar="EVAL", help="Id of the eval.")],
    json_: Json = False,
    rev: Annotated[str | None, typer.Option(help="Revision. Default: HEAD.")] = None,
    repo: RepoOption = Path(),
    cache: Cache = None,
) -> None:
    """The series of an eval in the terminal."""
    from sitegen.commands.history import history as command

    command(repo, eval_id, rev=rev, as_json=json_, cache=cache)


@app.command()
def blame(
    eval_id: Annotated[str, typer.Argument(metavar="EVAL", help="Id of the eval.")],
    field: Annotated[str, typer.Argument(metavar="FIELD", help="walls[].area, walls[3].area, or with * and ?.")],
    document: Annotated[str | None, typer.Option(metavar="ID", help="This document alone.")] = None,
    json_: Json = False,
    rev: Annotated[str | None, typer.Option(help="Revision. Default: HEAD.")] = None,
    repo: RepoOption = Path(),
    cache: Cache = None,
) -> None:
    """When a field was right and wrong, and which commit flipped it."""
    from sitegen.commands.blame import blame as command
    from sitegen.project import Options

    command(Options(repo=repo, rev=rev, cache=cache), eval_id, field, document=document, as_json=json_)


@app.command()
def compare(
    sides: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads the annotation at run time
        typer.Argument(
            metavar="A B", help="EVAL:VARIANT, EVAL@ITERATION, two revisions, or with --test_cases files of prompts."
        ),
    ] = None,
    eval_id: Annotated[
        str | None, typer.Option("--eval", metavar="EVAL", help="A and B are variants of it; without them, all are.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "--output-dir", "-o", metavar="DIR", help="Write JSON, Markdown and a picture there."),
    ] = None,
    plot_format: Annotated[
        Optional[PlotFormat],  # noqa: UP045
        typer.Option("--format", help="Of the picture; needs the extra 'plots'. Default: png."),
    ] = None,
    test_cases: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--test_cases", "--test-cases", metavar="FILE", help="A and B are files of prompts."),
    ] = None,
    config: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="How prompts are evaluated (YAML)."),
    ] = None,
    json_: Json = False,
    repo: RepoOption = Path(),
    cache: Cache = None,
) -> None:
    """Compare variants of a prompt, iterations, or revisions."""
    from sitegen.commands.compare import Written, compare_files
    from sitegen.commands.compare import compare as command

    written = Written(out, plot_format, json_)
    if test_cases:
        compare_files(repo, sides or [], test_cases, config=config, written=written)
    else:
        command(repo, sides or [], eval_id=eval_id, cache=cache, config=config, written=written)


@app.command()
def check(
    base: Annotated[
        str | None,
        typer.Option(metavar="REV", help="Compare with the commit where the work left REV. In a workflow: its target."),
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Compare with REV itself.")] = False,
    rev: Annotated[str | None, typer.Option(help="Revision to check. Default: HEAD.")] = None,
    worktree: Annotated[bool, typer.Option("--worktree", help="Check the uncommitted state.")] = False,
    json_: Json = False,
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report there too.")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML there.")] = None,
    annotations: Annotated[
        Optional[bool],  # noqa: UP045 - typer reads the annotation at run time
        typer.Option("--annotations/--no-annotations", help="Workflow commands for GitHub. Default: in a workflow."),
    ] = None,
    shown: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation at run time
        typer.Option(
            "--from",
            metavar="FILE",
            help="Check nothing: write as Markdown what --json wrote elsewhere, after making sure that it is a report.",
        ),
    ] = None,
    repo: RepoOption = Path(),
    cache: Cache = None,
) -> None:
    """Hold every eval against its limits and its base: the gate.

    Exits with 1 if one of them fails. Limits stand under [gate] in sitegen.toml, and as thresholds in the manifest.
    """
    from sitegen.commands.check import Forms, show
    from sitegen.commands.check import check as command
    from sitegen.project import Options

    if shown:
        show(shown, markdown)
        return

    options = Options(repo=repo, rev=rev, cache=cache, worktree=worktree)
    command(options, base, Forms(json_, markdown, junit, annotations), exact=exact)


Variant = Annotated[
    Optional[str],  # noqa: UP045 - typer reads the annotation at run time
    typer.Option(metavar="NAME", help="The file responses-NAME.jsonl instead of responses.json."),
]
LlmConfig = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        "--config", metavar="FILE", help="How prompts are evaluated (YAML); or [llm] like that of sitegen.toml (TOML)."
    ),
]
Model = Annotated[Optional[str], typer.Option(help="Name of the model, before the configuration's.")]  # noqa: UP045
Concurrency = Annotated[Optional[int], typer.Option(min=1, help="Calls under way at once.")]  # noqa: UP045
Limit = Annotated[Optional[int], typer.Option(min=1, help="Calls at most, of each file.")]  # noqa: UP045
ApiAddress = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--base-url", metavar="URL", help="Address of the API, where your key goes. No file can set it."),
]
Debug = Annotated[bool, typer.Option("--debug", help="Tell of each call: status, tries, seconds.")]
TestCases = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--test_cases", "--test-cases", metavar="FILE", help="The test cases, instead of EVAL."),
]


@app.command()
def respond(
    words: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(metavar="[EVAL]", help="Id of an eval of kind responses."),
    ] = None,
    prompt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Default: the setting 'prompt', else prompts/EVAL.md.")
    ] = None,
    variant: Variant = None,
    model: Model = None,
    concurrency: Concurrency = None,
    limit: Limit = None,
    again: Annotated[bool, typer.Option("--again", help="Ask for every case, also for those answered.")] = False,
    config: LlmConfig = None,
    base_url: ApiAddress = None,
    debug: Debug = False,
    test_cases: TestCases = None,
    judge_model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--judge-model", help="Name of the model that grades, before the configuration's."),
    ] = None,
    methods: Methods = None,
    output: OutputFile = None,
    repo: RepoOption = Path(),
) -> None:
    """Run a prompt over the test cases of an eval, by a model.

    Goes on where it was interrupted. With --test_cases or --output the responses are graded and scored too.
    """
    from sitegen.commands.respond import RespondRequest, of_words
    from sitegen.commands.respond import respond as command

    eval_id, named = of_words(words or [], methods or [])
    wanted = RespondRequest(repo, eval_id, variant, prompt, config, model, concurrency, limit, again, debug, base_url)
    command(wanted._replace(test_cases=test_cases, judge_model=judge_model, methods=named, output=output))


@app.command()
def judge(
    eval_id: Annotated[str, typer.Argument(metavar="EVAL", help="Id of an eval of kind responses.")],
    prompt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Default: the setting 'judge_prompt', else sitegen's own.")
    ] = None,
    variant: Variant = None,
    model: Model = None,
    concurrency: Concurrency = None,
    limit: Limit = None,
    again: Annotated[bool, typer.Option("--again", help="Grade every response, also those graded.")] = False,
    config: LlmConfig = None,
    base_url: ApiAddress = None,
    debug: Debug = False,
    repo: RepoOption = Path(),
) -> None:
    """Grade responses from 1 to 5, by a model.

    The grades are recorded with the responses: those in the eval's folder, else those of its newest iteration.
    """
    from sitegen.commands.respond import RespondRequest
    from sitegen.commands.respond import judge as command

    command(RespondRequest(repo, eval_id, variant, prompt, config, model, concurrency, limit, again, debug, base_url))


@app.command()
def code_judge(
    subject: Annotated[Literal["fields", "line-items"], typer.Argument(help="What of the candidate is judged.")],
) -> None:
    """Judge one candidate for another runner.

    {expected, candidate, config} on standard input, {score, hits, misses, ...} on standard output.
    """
    from sitegen.commands.code_judge import code_judge as command

    command(subject)


@app.command()
def init(
    repo: Repo = Path(),
    templates: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--templates",
            metavar="NAME",
            help="Copy this into site_templates/ instead, to change it: theme.css, a file such as frame/footer.html, "
            "a folder, or all. One or more.",
        ),
    ] = None,
    schema: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="MODULE:MODEL",
            help="Write the JSON Schema of this pydantic model instead. Imports the module, from what is installed.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what was found, and print what would be written for it.")
    ] = False,
) -> None:
    """Look for evals and instructions, and write a manifest of them.

    And a mapping, workflows for GitHub and a verifier with its instructions; only where there are none yet.
    """
    from sitegen.commands.init import init as command

    command(repo, templates or (), schema=schema, dry_run=dry_run)


@app.command()
def extract(
    log: Annotated[Path, typer.Argument(metavar="[LOG]", help="A log of highlights: one JSON object a line.")] = Path(
        "logs/processing-log.ndjson"
    ),
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="File to write; - is standard output. Default: raw-llm-run.json, in evals/ if there is that folder.",
        ),
    ] = None,
    run_id: Annotated[str | None, typer.Option(metavar="ID", help="Default: the run of the last line.")] = None,
) -> None:
    """Write one run of a log of highlights as raw-llm-run.json."""
    from sitegen.commands.extract import extract as command

    command(log, out, run_id)


@app.command()
def export(
    format_: Annotated[ExportFormat, typer.Option("--format", help="parquet needs the extra 'parquet'.")],
    out: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation at run time
        typer.Option("--out", "-o", metavar="PATH", help="Default: export/, export.json or export.sqlite."),
    ] = None,
    evals: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--eval", metavar="EVAL", help="This eval, one or more. Default: all."),
    ] = None,
    rev: Annotated[str | None, typer.Option(help="Revision. Default: HEAD.")] = None,
    repo: RepoOption = Path(),
    cache: Cache = None,
) -> None:
    """Write all scores and outcomes of history as tables."""
    from sitegen.commands.export import export as command
    from sitegen.project import Options

    command(Options(repo=repo, rev=rev, cache=cache), format_, out, tuple(dict.fromkeys(evals or [])))


@app.command()
def schema(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Default: all of them, by name.")] = None,
) -> None:
    """JSON Schemas of all files that sitegen reads and writes."""
    from sitegen.commands.schema import schema as command

    command(name)


@app.command()
def demo(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")]) -> None:
    """Write a repository with history, to try it all on."""
    from sitegen.commands.demo import demo as command

    command(folder)
