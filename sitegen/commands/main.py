"""The entry point. The version and plain builds start without typer, whose import takes longer than they do."""

from __future__ import annotations

import gc
import re
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO

from sitegen import __version__

if TYPE_CHECKING:
    from sitegen.project import Options


_OPTIONS: Final = {
    "-o": "out",
    "--out": "out",
    "--rev": "rev",
    "--cache": "cache",
    "--base-url": "base_url",
    "--jobs": "jobs",
}
"""Options of ``build`` that are read without typer and take a value, and the fields of ``Options`` that it fills."""
_FLAGS: Final = {"--strict": "strict", "--public": "public", "--worktree": "worktree", "--force": "force"}


_MEANT: Final = {
    word: command
    for command, words in zip(
        ("check", "watch", "build", "verify-all", "respond", "compare", "history"),
        ("gate test", "serve view preview", "report generate", "eval score", "run", "diff", "log"),
        strict=True,
    )
    for word in words.split()
}
"""What other programs call a command, and its name here. typer itself offers names that are spelled alike."""


def run() -> None:
    """Run the command line and exit.

    Exit codes: 0 success, 1 a gate failed, 2 wrong usage or configuration, 3 problems under --strict or an incomplete
    site.
    """
    if sys.argv[1:] in (["--version"], ["-V"]):  # without typer, because scripts ask for it often
        print(f"sitegen {__version__}")
        return
    gc.set_threshold(50_000)  # imports make many objects, and hardly any of them is garbage
    from sitegen.errors import Notice, SitegenError, file_system_error

    warnings.simplefilter("default", Notice)  # prints the same text once
    warnings.showwarning = _print_warning
    for stream in (sys.stdout, sys.stderr):  # names in git may contain what the terminal cannot encode
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        if plain := plain_build(sys.argv[1:]):
            from sitegen.commands.build import command

            options, strict, public = plain
            command(options, strict=strict, public=public)
        elif (word := "".join(sys.argv[1:2])) in _MEANT:
            raise SitegenError(f"There is no command {word!r}.", fix=f"Did you mean: sitegen {_MEANT[word]}?")
        else:
            from sitegen.commands.signatures import app

            app(prog_name="sitegen")
        return
    except SitegenError as error:
        failure = error
    except OSError as error:  # from the disk; unreadable files of the project are problems, not errors
        failure = file_system_error(error)
    except MemoryError:
        failure = SitegenError("There is not enough memory.", fix="Build with --jobs 1, or on a larger machine.")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        # Skips the last garbage collection, which takes an eighth of the time of a build with little to do.
        gc.freeze()
    from sitegen.commands.printing import print_error

    print_error(failure)
    sys.exit(failure.exit_code)


def _print_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a Notice as a message of the command, and other warnings with their place."""
    from sitegen.commands.printing import print_text
    from sitegen.errors import Notice

    text = f"sitegen: {message}" if issubclass(category, Notice) else f"{filename}:{lineno}: {message}"
    print_text(text, error=True)


def plain_build(arguments: Sequence[str]) -> tuple[Options, bool, bool] | None:
    """Return the options of ``build [REPO] [OPTION...]``, and whether it is strict and public; None for any other call.

    The options are those that workflows and the benchmark use, each once and with its value as a word of its own. Typer
    parses all other calls; importing it takes longer than a build with nothing to do.
    """
    if not arguments or arguments[0] != "build":
        return None
    values: dict[str, Any] = {}
    words = iter(arguments[1:])
    for word in words:
        name = _FLAGS.get(word) or _OPTIONS.get(word, "repo")
        value = next(words, "-") if word in _OPTIONS else word
        if name in values or (value.startswith("-") and word not in _FLAGS):
            return None
        values[name] = value
    if "jobs" in values and not re.fullmatch("[1-9][0-9]{0,3}", values["jobs"]):
        return None
    from pathlib import Path

    from sitegen.project import Options  # not before this: the help of a command does not need it

    make = {"repo": Path, "out": Path, "rev": str, "cache": Path, "base_url": str, "jobs": int}
    options = {name: make.get(name, bool)(value) for name, value in values.items() if name in Options._fields}
    return Options(**options), "strict" in values, "public" in values
