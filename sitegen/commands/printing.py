"""How commands print: texts of a project as visible lines, which no terminal or workflow obeys."""

from __future__ import annotations

import re
import sys
from typing import Final

from sitegen.errors import SitegenError
from sitegen.text.plain import visible

_COMMAND: Final = re.compile(r"^\s*:(?=:)|##(?=\[)")
"""How a line of output that GitHub's runner takes for a workflow command begins; the older form, anywhere in it."""

_WORD_JOINER: Final = "\u2060"


def print_line(text: str, *, error: bool = False) -> None:
    """Print one line; on standard error if it is no result. Line breaks and control characters are shown, not made."""
    print(visible_line(text), file=sys.stderr if error else sys.stdout, flush=error)


def print_text(text: str) -> None:
    """Print a text of several lines that are ours, each as ``print_line`` does."""
    for row in text.removesuffix("\n").split("\n"):
        print_line(row)


def print_document(content: bytes) -> None:
    """Write a JSON document, or another file's content, to standard output as it is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def print_workflow_command(command: object, *, error: bool) -> None:
    """Print one line that GitHub's runner obeys; whatever it holds of a project is escaped already."""
    print(command, file=sys.stderr if error else sys.stdout)


def print_error(error: SitegenError) -> None:
    """Print what went wrong, where, and what to do."""
    for row in f"sitegen: {error}".split("\n"):  # an error shows line breaks of a project itself
        print_line(row, error=True)


def visible_line(text: str) -> str:
    """One visible line. A character of no width breaks what would be a workflow command."""
    return _COMMAND.sub(rf"\g<0>{_WORD_JOINER}", visible(text.replace("\n", "␊")))
