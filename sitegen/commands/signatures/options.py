"""Arguments and options that several commands share, and commands that take theirs as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

R = TypeVar("R")

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


def taking(request: type[R]) -> Callable[[Callable[[R], None]], Callable[..., None]]:
    """Decorate a command that takes a dataclass: each field is an argument or an option, as its annotation says."""
    hints = get_type_hints(request, include_extras=True)
    parameters = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(request)  # type: ignore[arg-type]  # a type variable cannot be bound to dataclasses
    ]

    def decorated(command: Callable[[R], None]) -> Callable[..., None]:
        @wraps(command)
        def with_words(**words: Any) -> None:
            command(request(**words))

        with_words.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return with_words

    return decorated
