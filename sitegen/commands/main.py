"""The entry point: the version at once, everything else through typer."""

from __future__ import annotations

import sys

from sitegen import __version__


def run() -> None:
    """Run the command line and exit: 0 fine, 1 a gate failed, 2 usage or configuration, 3 problems under --strict."""
    if sys.argv[1:] in (["--version"], ["-V"]):  # before typer is imported: scripts ask for it often
        print(f"sitegen {__version__}")
        return
    from sitegen.commands.app import app
    from sitegen.errors import SitegenError

    try:
        app(prog_name="sitegen")
    except SitegenError as error:
        print(f"sitegen: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
