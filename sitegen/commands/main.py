"""The entry point: the version and a plain build at once, everything else through typer."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from sitegen import __version__

if TYPE_CHECKING:
    from sitegen.errors import SitegenError


def run() -> None:
    """Run the command line and exit.

    0 fine, 1 a gate failed, 2 usage or configuration, 3 problems under --strict or a part of the site not made.
    """
    if sys.argv[1:] in (["--version"], ["-V"]):  # before typer is imported: scripts ask for it often
        print(f"sitegen {__version__}")
        return
    from sitegen.errors import Notice, SitegenError

    warnings.simplefilter("default", Notice)  # the same text once
    warnings.showwarning = _show
    for stream in (sys.stdout, sys.stderr):  # a name in git need not be text that the terminal has
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        _call(sys.argv[1:])
    except SitegenError as error:
        _say(error)
        sys.exit(error.exit_code)
    except OSError as error:  # of the disk: what is wrong with the project's own files is a problem, not an error
        _say(_in_words(error))
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        # Python looks at every object that is left before it ends: an eighth of the time of a build that does little.
        gc.freeze()


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning of ours as a message of the command."""
    from sitegen.commands.saying import say
    from sitegen.errors import Notice

    text = f"sitegen: {message}" if issubclass(category, Notice) else f"{filename}:{lineno}: {message}"
    for row in text.split("\n"):
        say(row, error=True)


def _call(arguments: Sequence[str]) -> None:
    from sitegen.commands.plain import plain_build

    if plain := plain_build(arguments):
        from sitegen.commands.build import command

        command(plain)
    else:
        from sitegen.commands.app import app

        app(prog_name="sitegen")


def _say(error: SitegenError) -> None:
    from sitegen.commands.saying import say_error

    say_error(error)


def _in_words(error: OSError) -> SitegenError:
    from sitegen.errors import SitegenError

    where = None if error.filename is None else str(error.filename)
    fix = "Make room on the disk, or give the permission; -o and --cache name other folders."
    return SitegenError(f"The system says: {error.strerror or error}.", where=where, fix=fix)
