"""Printing for commands. Text of a project is made visible, so that no terminal or workflow interprets it."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from sitegen.errors import SitegenError
from sitegen.text.plain import visible

_COMMAND: Final = re.compile(r"^\s*:(?=:)|##(?=\[)")
"""The start of a line that GitHub's runner interprets as a workflow command, or the older form anywhere in a line."""

_ESCAPED: Final = re.compile(r"(`+[^`]*`+)|\\([^\w\s])|</?(?:details|summary)>")
"""Inline code, an escaped character, or a tag of a fold."""

_WORD_JOINER: Final = "\u2060"


@contextmanager
def _until_closed(stream: TextIO) -> Iterator[None]:
    """Drop what is printed after the reader closed the pipe, as ``head`` does. The command continues to its end."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def print_line(*rows: str, error: bool = False) -> None:
    """Print lines, on standard error if they are no result. Line breaks and control characters become visible."""
    stream = sys.stderr if error else sys.stdout
    for row in rows:
        with _until_closed(stream):
            print(visible_line(row), file=stream, flush=True)


def print_text(text: str, *, error: bool = False) -> None:
    """Print the lines of a text."""
    print_line(*text.removesuffix("\n").split("\n"), error=error)


def print_markdown(text: str) -> None:
    """Print a report in Markdown. A terminal gets it without escapes, which only a file or a comment needs."""
    print_text(without_escapes(text) if sys.stdout.isatty() else text)


def without_escapes(markdown: str) -> str:
    """Markdown with its escaped characters alone. Code has none, and a cell of a table keeps its width."""
    parts = re.split(r"( \||\n)", markdown)
    plain = [_ESCAPED.sub(lambda match: match[1] or match[2] or "", part) for part in parts]
    padded = "".join(text.ljust(len(part)) for part, text in zip(parts, plain, strict=True))
    return re.sub(r" +(?=\n|$)", "", padded)


def print_document(content: bytes) -> None:
    """Write the content of a file to standard output unchanged."""
    with _until_closed(sys.stdout):
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def print_error(error: SitegenError) -> None:
    """Print what is wrong, where, and what to do."""
    print_text(f"sitegen: {error}", error=True)  # errors escape line breaks of a project themselves


def visible_line(text: str) -> str:
    """Return the text as one visible line, with a zero-width character in what would be a workflow command."""
    return _COMMAND.sub(rf"\g<0>{_WORD_JOINER}", visible(text.replace("\n", "␊")))
