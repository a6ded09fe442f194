"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Repo = Annotated[Path, typer.Argument(metavar="REPO", help="The project: any folder of a git repository.")]
RepoOption = Annotated[Path, typer.Option("--repo", metavar="REPO", help="The project, if it is not this folder.")]
Cache = Annotated[
    Path | None,
    typer.Option(help="Folder of the memo, safe to delete. Default: .sitegen in the project."),
]
ExportFormat = Literal["csv", "json", "parquet", "sqlite"]
PlotFormat = Literal["png", "svg"]
OwnTemplates = Annotated[
    bool, typer.Option("--templates/--no-templates", help="Let site_templates/ of the project override templates.")
]
Methods = Annotated[
    list[str] | None,
    typer.Option(help="Kind responses: exact_match, consistency, quality, rouge, one or more. Default: all."),
]
OutputFile = Annotated[
    Path | None,
    typer.Option("--output", metavar="FILE", help="Write the results there as JSON."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output, nothing else.")]
Variant = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The file responses-NAME.jsonl instead of responses.json."),
]
LlmConfig = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="How prompts are evaluated (YAML); or [llm] like that of sitegen.toml (TOML)."
    ),
]
Model = Annotated[str | None, typer.Option(help="Name of the model, before the configuration's.")]
Concurrency = Annotated[int | None, typer.Option(min=1, help="Calls under way at once.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Calls at most, of each file.")]
ApiAddress = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="Address of the API, where your key goes. No file can set it."),
]
Debug = Annotated[bool, typer.Option("--debug", help="Tell of each call: status, tries, seconds.")]
TestCases = Annotated[
    Path | None,
    typer.Option("--test_cases", "--test-cases", metavar="FILE", help="The test cases, instead of EVAL."),
]
