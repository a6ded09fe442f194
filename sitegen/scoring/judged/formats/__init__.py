"""Reads judged results in any format. A new format is a file beside this one and a line in ``FORMATS``."""

from __future__ import annotations

import re
from typing import Final

from sitegen.data_files.reading import UnreadableError
from sitegen.scoring.judged.case import HEAD, JudgedResults, ResultFormat
from sitegen.scoring.judged.formats.inspect_logs import INSPECT
from sitegen.scoring.judged.formats.junit import JUNIT
from sitegen.scoring.judged.formats.lines import LINES
from sitegen.scoring.judged.formats.openai_evals import OPENAI_EVALS
from sitegen.scoring.judged.formats.promptfoo import PROMPTFOO
from sitegen.scoring.judged.packages import ending
from sitegen.scoring.judged.tables.settings import LM_EVAL, PRESETS, read_settings

_LM_EVAL_BEGINNING = re.compile(rb'\s*\{\s*"doc_id"\s*:\s*\d+\s*,\s*"doc"\s*:')


def _read_lm_eval(content: bytes) -> JudgedResults:
    """Read the samples that ``lm_eval --log_samples`` writes, one row for each document and filter."""
    from sitegen.scoring.judged.tables.reader import read_table

    return read_table("jsonl", content, LM_EVAL)


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


def read_results(path: str, content: bytes, settings: str = "{}") -> JudgedResults:
    """Read a file of results: as a table if the settings describe its columns, else in the format that it has.

    *settings* are the settings of the eval as canonical JSON; ``read_settings`` reports their faults. Raises
    UnreadableError.
    """
    suffix, head = ending(path), content[:HEAD]
    columns = read_settings(settings).value
    if columns is not None:
        from sitegen.scoring.judged.tables.reader import read_table

        return read_table(suffix, content, columns)
    if suffix in _TABLES:
        presets = ", ".join(PRESETS)
        raise UnreadableError(
            "it is a table, and no setting says what its columns mean",
            f"Write `settings: {{preset: ...}}` (one of {presets}) or `settings: {{columns: {{...}}}}`.",
        )
    return next(form for form in FORMATS if form.recognises(suffix, head)).read(content)
