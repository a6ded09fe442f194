"""The formats of judged results. A new format is a file beside this one and a line in ``FORMATS``."""

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
"""The first that recognises a file reads it; the last one takes all that no other does."""

_TABLES: Final = ("csv", "parquet")
"""The endings of files that are tables and nothing else."""


def read_results(path: str, content: bytes, settings: str = "{}") -> JudgedResults:
    """Read a file of results: as a table if the settings explain its columns, else in whichever format it is.

    *settings* are those of the eval, as canonical JSON; what is wrong with them ``read_settings`` says. Raises
    UnreadableError.
    """
    ending, head = _ending(path), content[:HEAD]
    stated = read_settings(settings)
    if stated.columns is not None:
        from sitegen.scoring.judged.tables.reader import read_table

        return read_table(ending, content, stated.columns)
    if ending in _TABLES:
        presets = ", ".join(PRESETS)
        raise UnreadableError(
            "it is a table, and no setting says what its columns mean",
            f"Write `settings: {{preset: ...}}` (one of {presets}) or `settings: {{columns: {{...}}}}`.",
        )
    return next(each for each in FORMATS if each.recognises(ending, head)).read(content)


def installed_for(paths: Iterable[str]) -> str:
    """The installed packages that decide what comes of some files, besides their content; nothing for most files.

    A path may be a glob.
    """
    endings = {_ending(path) for path in paths}
    wanted = (package for ending, package in PACKAGES.items() if any(fnmatchcase(ending, each) for each in endings))
    return " ".join(package for package in wanted if find_spec(package))


def _ending(path: str) -> str:
    return splitext(path)[1][1:].lower()
