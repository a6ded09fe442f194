"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EvalId = Annotated[str, typer.Argument(metavar="EVAL", help="Id of the eval.")]
Rev = Annotated[str | None, typer.Option(help="Revision. Default: HEAD.")]
Repo = Annotated[Path, typer.Argument(metavar="REPO", help="The project: any folder of a git repository.")]
RepoOption = Annotated[Path, typer.Option("--repo", metavar="REPO", help="The project, if it is not this folder.")]
Cache = Annotated[
    Path | None,
    typer.Option(help="Folder of the memo, safe to delete. Default: .sitegen in the project."),
]
OwnTemplates = Annotated[
    bool, typer.Option("--templates/--no-templates", help="Let site_templates/ of the project override templates.")
]
Methods = Annotated[
    list[str] | None,
    typer.Option(help="Kind responses: exact_match, consistency, quality or rouge; can be repeated. Default: all."),
]
OutputFile = Annotated[
    Path | None,
    typer.Option("--output", metavar="FILE", help="Write the results to this file as JSON."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Variant = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Use the file responses-NAME.jsonl instead of responses.json."),
]
LlmConfig = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="How prompts are evaluated (YAML), or a table [llm] as in sitegen.toml (TOML)."
    ),
]
Model = Annotated[str | None, typer.Option(help="Name of the model. Overrides the configuration.")]
Concurrency = Annotated[int | None, typer.Option(min=1, help="Number of simultaneous calls.")]
MostCalls = Annotated[int | None, typer.Option(min=1, help="Greatest number of calls for each file.")]
ApiAddress = Annotated[
    str | None,
    typer.Option(
        "--base-url", metavar="URL", help="Address of the API, to which your key is sent. No file can set it."
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Report each call: status, attempts, seconds.")]
TestCases = Annotated[
    Path | None,
    typer.Option("--test_cases", "--test-cases", metavar="FILE", help="The test cases, instead of EVAL."),
]
