"""Printing for commands. Text of a project is made visible, so that no terminal or workflow interprets it."""

from __future__ import annotations

import re
import sys
from typing import Final

from sitegen.errors import SitegenError
from sitegen.text.plain import visible

_COMMAND: Final = re.compile(r"^\s*:(?=:)|##(?=\[)")
"""The start of a line that GitHub's runner interprets as a workflow command, or the older form anywhere in a line."""

_WORD_JOINER: Final = "\u2060"


def print_line(text: str, *, error: bool = False) -> None:
    """Print one line, on standard error if it is not a result. Line breaks and control characters become visible."""
    print(visible_line(text), file=sys.stderr if error else sys.stdout, flush=error)


def print_text(text: str) -> None:
    """Print a text of several lines, each with ``print_line``."""
    for row in text.removesuffix("\n").split("\n"):
        print_line(row)


def print_document(content: bytes) -> None:
    """Write the content of a file to standard output unchanged."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def print_workflow_command(command: object, *, error: bool) -> None:
    """Print a line that GitHub's runner interprets. Text of a project in it is escaped already."""
    print(command, file=sys.stderr if error else sys.stdout)


def print_error(error: SitegenError) -> None:
    """Print what is wrong, where, and what to do."""
    for row in f"sitegen: {error}".split("\n"):  # errors escape line breaks of a project themselves
        print_line(row, error=True)


def visible_line(text: str) -> str:
    """The text as one visible line, with a zero-width character in what would be a workflow command."""
    return _COMMAND.sub(rf"\g<0>{_WORD_JOINER}", visible(text.replace("\n", "␊")))
