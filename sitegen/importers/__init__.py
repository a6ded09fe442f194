"""Reads the results that other tools wrote. A tool is a file beside this one and a line in ``IMPORTERS``."""

from __future__ import annotations

import re
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

from sitegen.data_files.reading import UnreadableError, ending

if TYPE_CHECKING:
    from sitegen.importers.case import JudgedResults


class Importer(NamedTuple):
    """A format of results. Its files are recognised and read by their bytes, without clock, disk or network.

    The path counts by its ending alone: scorecards are stored by content and ending, so that a moved file is not scored
    again.
    """

    name: str
    """The name in messages. A format of the name of a preset is a table with the preset's columns."""
    module: str = ""
    """The module in this package whose ``read`` takes the content, and the named scores that are grades in the whole
    series. It raises UnreadableError if nothing of the file can be read. Any other fault is a finding."""
    ending: str = ""
    """The ending of its files' names, in lower case. Empty for any."""
    beginning: bytes = b""
    """A regular expression that its files begin with."""

    def recognises(self, path: str, content: bytes) -> bool:
        """Whether a file is in this format."""
        return self.ending in ("", ending(path)) and re.match(self.beginning, content[:_HEAD]) is not None


_HEAD: Final = 4096
"""Number of bytes at the beginning of a file by which it is recognised."""

LINES: Final = Importer("JSON Lines", "judge_lines")
IMPORTERS: Final = (
    Importer(
        name="promptfoo",
        module="promptfoo",
        ending="json",
        beginning=rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:evalId"\s*:|results"\s*:\s*\{|version"\s*:\s*4\s*,\s*"createdAt"\s*:)',
    ),
    Importer(
        "Inspect", "inspect_logs", "json", rb'(?:\xef\xbb\xbf)?\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"'
    ),
    Importer("Inspect", "inspect_logs", "eval"),
    Importer("JUnit XML", "junit", "xml"),
    Importer("OpenAI evals", "openai_evals", "jsonl", rb'\s*\{\s*"spec"\s*:\s*\{'),
    Importer("lm-eval", ending="jsonl", beginning=rb'\s*\{\s*"doc_id"\s*:\s*\d+\s*,\s*"doc"\s*:'),
    LINES,
)
"""The first one that recognises a file reads it. The last one recognises any file, and names the lines that it cannot
read."""

_TABLES: Final = ("csv", "parquet")
"""Endings of files that can only be tables."""
_TWO_LINES: Final = rb"\s*\{[^\n]*\}\s*\n\s*\{"
"""Matches JSON Lines, whatever the ending of the file."""


def importer_of(path: str, content: bytes) -> Importer:
    """Return the format of a file that no settings describe."""
    return next(importer for importer in IMPORTERS if importer.recognises(path, content))


def read_results(path: str, content: bytes, settings: str = "{}") -> JudgedResults:
    """Read a file of results: as a table if the settings describe its columns, else in the format that it has.

    A list of cases in no known format is a table with the usual names of columns, if it has scores or verdicts.

    ``settings`` are the settings of the eval as canonical JSON; ``read_settings`` reports their faults. Raises
    UnreadableError.
    """
    from sitegen.importers.columns import PRESETS, read_settings, stated_grades

    importer, suffix, grades = importer_of(path, content), ending(path), stated_grades(settings)
    columns = read_settings(settings).value or PRESETS.get(importer.name)
    if columns is not None:
        from sitegen.importers.tables import read_rows, read_table

        return read_table(read_rows(suffix, content, columns.list_at), columns, grades)
    module = import_module(f"sitegen.importers.{importer.module}")
    if importer is LINES and suffix in (*_TABLES, "json") and not re.match(_TWO_LINES, content[:_HEAD]):
        return _read_by_usual_names(suffix, content, grades)
    if importer is LINES and not module.is_of_a_judge(content):
        with suppress(UnreadableError):  # the format reports each line that cannot be read
            return _read_by_usual_names("jsonl", content, grades)
    results: JudgedResults = module.read(content, grades)
    return results


def _read_by_usual_names(suffix: str, content: bytes, grades: tuple[str, ...]) -> JudgedResults:
    from sitegen.importers.columns import PRESETS
    from sitegen.importers.tables import read_rows, read_table
    from sitegen.importers.usual_names import usual_columns

    table = read_rows(suffix, content)
    columns = usual_columns(table.columns, table.rows)
    if columns is None:
        raise UnreadableError(
            "it is in no format that is known, and none of its columns has the usual name of a score or a verdict",
            f"Write `settings: {{preset: ...}}` (one of {', '.join(PRESETS)}) or `settings: {{columns: {{...}}}}`.",
        )
    return read_table(table, columns, grades)
