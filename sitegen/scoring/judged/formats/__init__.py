"""The formats of judged results. A new format is a file beside this one and a line in ``FORMATS``."""

from __future__ import annotations

from posixpath import splitext
from typing import Final

from sitegen.scoring.judged.case import JudgedResults
from sitegen.scoring.judged.formats.junit import JUNIT
from sitegen.scoring.judged.formats.lines import LINES
from sitegen.scoring.judged.formats.promptfoo import PROMPTFOO
from sitegen.scoring.judged.formats.result_format import HEAD, ResultFormat

FORMATS: Final[tuple[ResultFormat, ...]] = (PROMPTFOO, JUNIT, LINES)
"""The first that recognises a file reads it; the last one takes all that no other does."""


def read_results(path: str, content: bytes) -> JudgedResults:
    """Read a file of results in whichever format it is. Raises UnreadableError."""
    ending, head = splitext(path)[1][1:].lower(), content[:HEAD]
    return next(each for each in FORMATS if each.recognises(ending, head)).read(content)
