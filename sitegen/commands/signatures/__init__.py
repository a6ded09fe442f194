"""The commands in the order of ``--help``. Their parameters are in the modules of this package."""

from __future__ import annotations

from typing import Annotated

import typer

from sitegen import __version__
from sitegen.commands.printing import print_line
from sitegen.commands.signatures import commands

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


for _command in (
    commands.build,
    commands.watch,
    commands.verify_one,
    commands.verify_all,
    commands.history,
    commands.blame,
    commands.compare,
    commands.check,
    commands.respond,
    commands.judge,
    commands.code_judge,
    commands.init,
    commands.extract,
    commands.export,
    commands.schema,
    commands.demo,
):
    app.command()(_command)
