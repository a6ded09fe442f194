"""Printing lines that hold text of a project: one visible line each, which no terminal or workflow obeys."""

from __future__ import annotations

import re
import sys
from typing import Final

from sitegen.errors import SitegenError
from sitegen.text.plain import visible

_COMMAND: Final = re.compile(r"^\s*:(?=:)|##(?=\[)")
"""How a line of output that GitHub's runner takes for a workflow command begins; the older form, anywhere in it."""

_WORD_JOINER: Final = "\u2060"


def say(text: str, *, error: bool = False) -> None:
    """Print one line; on standard error if it is no result. Line breaks and control characters are shown, not made."""
    print(harmless(text), file=sys.stderr if error else sys.stdout, flush=error)


def say_text(text: str) -> None:
    """Print a text of several lines that are ours, each as ``say`` does."""
    for row in text.removesuffix("\n").split("\n"):
        say(row)


def say_error(error: SitegenError) -> None:
    """Print what went wrong, where, and what to do."""
    for row in f"sitegen: {error}".split("\n"):  # an error shows line breaks of a project itself
        say(row, error=True)


def harmless(text: str) -> str:
    """One visible line. A character of no width breaks what would be a workflow command."""
    return _COMMAND.sub(rf"\g<0>{_WORD_JOINER}", visible(text.replace("\n", "␊")))
