"""Reads judged results in any format. A new format is a file beside this one and a line in ``FORMATS``."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from importlib.util import find_spec
from posixpath import splitext
from typing import Final

from sitegen.data_files.reading import UnreadableError
from sitegen.scoring.judged.case import JudgedResults
from sitegen.scoring.judged.formats.inspect_logs import INSPECT
from sitegen.scoring.judged.formats.junit import JUNIT
from sitegen.scoring.judged.formats.lines import LINES
from sitegen.scoring.judged.formats.lm_eval import LM_EVAL
from sitegen.scoring.judged.formats.openai_evals import OPENAI_EVALS
from sitegen.scoring.judged.formats.promptfoo import PROMPTFOO
from sitegen.scoring.judged.formats.result_format import HEAD, PACKAGES, ResultFormat
from sitegen.scoring.judged.tables.presets import PRESETS
from sitegen.scoring.judged.tables.settings import read_settings

FORMATS: Final[tuple[ResultFormat, ...]] = (PROMPTFOO, INSPECT, JUNIT, OPENAI_EVALS, LM_EVAL, LINES)
"""The first format that recognises a file reads it. The last one recognises any file."""

_TABLES: Final = ("csv", "parquet")
"""Endings of files that can only be tables."""


def read_results(path: str, content: bytes, settings: str = "{}") -> JudgedResults:
    """Read a file of results: as a table if the settings describe its columns, else in the format that it has.

    *settings*: those of the eval, as canonical JSON; ``read_settings`` reports their faults. Raises UnreadableError.
    """
    ending, head = _ending(path), content[:HEAD]
    columns = read_settings(settings).value
    if columns is not None:
        from sitegen.scoring.judged.tables.reader import read_table

        return read_table(ending, content, columns)
    if ending in _TABLES:
        presets = ", ".join(PRESETS)
        raise UnreadableError(
            "it is a table, and no setting says what its columns mean",
            f"Write `settings: {{preset: ...}}` (one of {presets}) or `settings: {{columns: {{...}}}}`.",
        )
    return next(form for form in FORMATS if form.recognises(ending, head)).read(content)


def installed_for(paths: Iterable[str]) -> str:
    """Name the installed packages without which some files could not be read. Empty for most files.

    Scorecards of these files are stored by these names as well. A path may be a glob.
    """
    patterns = {_ending(path) for path in paths}
    return " ".join(
        package
        for ending, package in PACKAGES.items()
        if any(fnmatchcase(ending, pattern) for pattern in patterns) and find_spec(package)
    )


def _ending(path: str) -> str:
    return splitext(path)[1][1:].lower()
