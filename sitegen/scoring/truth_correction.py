"""Finds the line of a ground truth file that states a label, by changing lines and scoring again.

This works for every layout, mapping and spelling, because the scorer reads the changed file. A candidate is a line with
one value replaced. It is right if only the judgement in question changes, and becomes correct.
"""

import json
import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Final

from msgspec.structs import replace

from sitegen.data_files.folders import names_of_documents, packed, unpacked
from sitegen.model.scorecards import Result
from sitegen.model.series import Correction, SuspectTruth
from sitegen.scoring.kinds import File, ScoringInputs

_TRIED: Final = 20  # the greatest number of candidates that are tried for a label
_LONGEST_LINE: Final = 2_000  # characters of the longest line that pages suggest
_CSV_CELL: Final = r'(?:^|(?<={0}))("(?:[^"]|"")*"|[^"{0}]*)(?={0}|$)'
"""A cell of a line, as it is written, for one of these separators."""
_SEPARATORS: Final = ",;\t"


def corrected_line(
    score: Callable[[ScoringInputs], Result], inputs: ScoringInputs, result: Result, suspect: SuspectTruth
) -> Correction | None:
    """Return the line that states a label, with its correction to the value of outputs; None if it is not certain.

    ``inputs``: with an output with the value that the outputs agree on; ``result``: what the scorer gives for them.
    """
    truth = inputs.ground_truth
    if truth is None or truth.content is None or _cell_text(suspect.actual) is None:
        return None
    before, cases = result.judgements, {document.name: document.case for document in result.scorecard.documents}
    case = cases.get(suspect.document, suspect.document)
    in_folder = dict(unpacked(truth.content)) if truth.path.endswith("/") else {}
    file = next((path for path, name in names_of_documents(in_folder).items() if name == case), "")
    if in_folder and not file:
        return None
    lines = (in_folder[file] if file else truth.content).decode().split("\n")  # with a byte order mark
    replacements = _with_other_cell if (file or truth.path).lower().endswith(".csv") else _with_other_text
    written = ((number, text) for number, text in enumerate(lines, 1) if text.strip())
    candidates = ((number, line) for number, text in written for line in dict.fromkeys(replacements(text, suspect)))
    for number, line in islice(candidates, _TRIED):
        changed = "\n".join([*lines[: number - 1], line, *lines[number:]]).encode()
        content = packed({**in_folder, file: changed}.items()) if file else changed
        after = score(replace(inputs, ground_truth=File(truth.path, content))).judgements
        turned = [new for old, new in zip(before, after, strict=False) if old.outcome != new.outcome]
        corrected = any(new.document == suspect.document and new.outcome == "correct" for new in turned)
        # The answers of others to the same case may become right or wrong.
        same_value = all((cases.get(new.document), new.path) == (case, suspect.path) for new in turned)
        only_corrects = corrected and same_value and len(before) == len(after)
        if only_corrects and len(line) <= _LONGEST_LINE:
            old = lines[number - 1]
            end = ("\r" if old.endswith("\r") else "") + ("\n" if number < len(lines) else "")
            before_line, after_line = old.rstrip("\r"), line.rstrip("\r")
            return Correction(path=truth.path + file, line=number, before=before_line, after=after_line, end=end)
    return None


def _with_other_cell(line: str, suspect: SuspectTruth) -> Iterator[str]:
    """Yield the line with one cell replaced, for each that may be a spelling of the label; others stay as written."""
    label, new = _cell_text(suspect.expected), _cell_text(suspect.actual) or ""
    for match in chain.from_iterable(re.finditer(_CSV_CELL.format(mark), line.rstrip("\r")) for mark in _SEPARATORS):
        written = match[1]
        is_quoted = written.startswith('"')
        cell = written[1:-1].replace('""', '"') if is_quoted else written
        if _may_be_label(cell, label):
            quoted = '"{}"'.format(new.replace('"', '""'))
            is_quoted = is_quoted or any(mark in new for mark in f'{_SEPARATORS}"\n\r')
            yield line[: match.start(1)] + (quoted if is_quoted else new) + line[match.end(1) :]


def _with_other_text(line: str, suspect: SuspectTruth) -> Iterator[str]:
    """Yield the line with one occurrence of the label replaced, in the spelling of JSON or without quotation marks."""
    expected, actual = suspect.expected, suspect.actual
    for old, new in ((expected, actual), (_cell_text(expected), _cell_text(actual))):
        start = line.find(old) if old else -1
        while old and new and start >= 0:
            yield f"{line[:start]}{new}{line[start + len(old) :]}"
            start = line.find(old, start + 1)


def _may_be_label(cell: str, label: str | None) -> bool:
    """Whether a cell has the same text as the label, or the same number in any spelling."""
    if not label:
        return not cell.strip()
    if cell.strip().casefold() == label.strip().casefold():
        return True
    try:
        return float(cell.replace(",", "").strip("$% ")) == float(label)
    except ValueError:
        return False


def _cell_text(text: str) -> str | None:
    """Return the cell for a scalar in JSON; empty for no value, None if it is not a complete scalar."""
    if not text:
        return ""
    try:
        value = json.loads(text, parse_int=str, parse_float=str)
    except ValueError:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else None
