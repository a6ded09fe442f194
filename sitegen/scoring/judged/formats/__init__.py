"""Reads judged results in any format. A new format is a file beside this one and a line in ``FORMATS``."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from typing import Final

from sitegen.data_files.reading import UnreadableError
from sitegen.scoring.judged import ending
from sitegen.scoring.judged.case import HEAD, JudgedResults, ResultFormat
from sitegen.scoring.judged.columns import LM_EVAL, PRESETS, read_settings, stated_grades
from sitegen.scoring.judged.formats.inspect_logs import INSPECT
from sitegen.scoring.judged.formats.junit import JUNIT
from sitegen.scoring.judged.formats.lines import LINES, is_of_a_judge
from sitegen.scoring.judged.formats.openai_evals import OPENAI_EVALS
from sitegen.scoring.judged.formats.promptfoo import PROMPTFOO

_LM_EVAL_BEGINNING = re.compile(rb'\s*\{\s*"doc_id"\s*:\s*\d+\s*,\s*"doc"\s*:')


def _read_lm_eval(content: bytes, grades: Collection[str]) -> JudgedResults:
    """Read the samples that ``lm_eval --log_samples`` writes, one row for each document and filter."""
    from sitegen.scoring.judged.tables import read_rows, read_table

    return read_table(read_rows("jsonl", content), LM_EVAL, grades)


FORMATS: Final = (
    PROMPTFOO,
    INSPECT,
    JUNIT,
    OPENAI_EVALS,
    ResultFormat(
        name="lm-eval",
        recognises=lambda ending, head: ending == "jsonl" and _LM_EVAL_BEGINNING.match(head) is not None,
        read=_read_lm_eval,
    ),
    LINES,
)
"""The first format that recognises a file reads it. The last one recognises any file."""

_TABLES: Final = ("csv", "parquet")
"""Endings of files that can only be tables."""
_TWO_LINES = re.compile(rb"\s*\{[^\n]*\}\s*\n\s*\{")
"""Matches JSON Lines, whatever the ending of the file."""


def read_results(path: str, content: bytes, settings: str = "{}") -> JudgedResults:
    """Read a file of results: as a table if the settings describe its columns, else in the format that it has.

    A list of cases in no known format is a table with the usual names of columns, if it has scores or verdicts.

    ``settings`` are the settings of the eval as canonical JSON; ``read_settings`` reports their faults. Raises
    UnreadableError.
    """
    suffix, head, grades = ending(path), content[:HEAD], stated_grades(settings)
    columns = read_settings(settings).value
    if columns is not None:
        from sitegen.scoring.judged.tables import read_rows, read_table

        return read_table(read_rows(suffix, content, columns.list_at), columns, grades)
    form = next(form for form in FORMATS if form.recognises(suffix, head))
    if form is LINES and suffix in (*_TABLES, "json") and not _TWO_LINES.match(head):
        return _read_by_usual_names(suffix, content, grades)
    if form is LINES and not is_of_a_judge(content):
        with suppress(UnreadableError):  # the format reports each line that cannot be read
            return _read_by_usual_names("jsonl", content, grades)
    return form.read(content, grades)


def _read_by_usual_names(suffix: str, content: bytes, grades: Collection[str]) -> JudgedResults:
    from sitegen.scoring.judged.tables import read_rows, read_table
    from sitegen.scoring.judged.usual_columns import usual_columns

    table = read_rows(suffix, content)
    columns = usual_columns(table.columns, table.rows)
    if columns is None:
        raise UnreadableError(
            "it is in no format that is known, and none of its columns has the usual name of a score or a verdict",
            f"Write `settings: {{preset: ...}}` (one of {', '.join(PRESETS)}) or `settings: {{columns: {{...}}}}`.",
        )
    return read_table(table, columns, grades)
