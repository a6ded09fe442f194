"""The formats of judged results. A new format is a file beside this one and a line in ``FORMATS``."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from posixpath import splitext
from typing import Final

from sitegen.scoring.judged.case import JudgedResults
from sitegen.scoring.judged.formats.inspect_logs import INSPECT
from sitegen.scoring.judged.formats.junit import JUNIT
from sitegen.scoring.judged.formats.lines import LINES
from sitegen.scoring.judged.formats.promptfoo import PROMPTFOO
from sitegen.scoring.judged.formats.result_format import HEAD, PACKAGES, ResultFormat

FORMATS: Final[tuple[ResultFormat, ...]] = (PROMPTFOO, INSPECT, JUNIT, LINES)
"""The first that recognises a file reads it; the last one takes all that no other does."""


def read_results(path: str, content: bytes) -> JudgedResults:
    """Read a file of results in whichever format it is. Raises UnreadableError."""
    ending, head = _ending(path), content[:HEAD]
    return next(each for each in FORMATS if each.recognises(ending, head)).read(content)


def installed_for(paths: Iterable[str]) -> str:
    """The installed packages that decide what comes of some files, besides their content; nothing for most files."""
    endings = {_ending(path) for path in paths}
    return " ".join(package for ending, package in PACKAGES.items() if ending in endings and find_spec(package))


def _ending(path: str) -> str:
    return splitext(path)[1][1:].lower()
