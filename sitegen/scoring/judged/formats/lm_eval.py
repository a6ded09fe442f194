"""lm-eval: the samples that ``lm_eval --log_samples`` writes, one row for each document and filter."""

from __future__ import annotations

import re
from typing import Final

from sitegen.scoring.judged.case import JudgedResults
from sitegen.scoring.judged.formats.result_format import ResultFormat

_BEGINNING = re.compile(rb'\s*\{\s*"doc_id"\s*:\s*\d+\s*,\s*"doc"\s*:')


def _is_lm_eval(ending: str, head: bytes) -> bool:
    return ending == "jsonl" and _BEGINNING.match(head) is not None


def _read_lm_eval(content: bytes) -> JudgedResults:
    from sitegen.scoring.judged.tables.presets import LM_EVAL as COLUMNS
    from sitegen.scoring.judged.tables.reader import read_table

    return read_table("jsonl", content, COLUMNS)


LM_EVAL: Final = ResultFormat(name="lm-eval", recognises=_is_lm_eval, read=_read_lm_eval)
