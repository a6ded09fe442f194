"""Reads what an output states about the run that made it: its commit, prompt hashes, prompt version, time and run id.

An extracted document may contain a time itself. The time of an output of kind ``fields`` therefore counts only in an
object beside the document's values, such as ``metadata``, that also identifies the instructions.
"""

import json
from collections import ChainMap
from collections.abc import Iterable
from contextlib import suppress
from io import BytesIO
from itertools import accumulate
from operator import itemgetter
from typing import Any, Final

from msgspec.structs import replace

from sitegen.data_files.reading import LINES, UnreadableError, csv_dicts, ending, split_json
from sitegen.importers.recorded_layouts import read_record, runs_in
from sitegen.model.metrics import traits_of
from sitegen.model.recorded import ORIGIN_KEYS, Recorded, origin_in
from sitegen.model.usage import BESIDE
from sitegen.text.keys import plain_key
from sitegen.text.values import id_text

_TIMES: Final = ("timestamp", "started_at", "created_at", "run_at")
_NAMES_OF_RUNS: Final = ("run_id", "run", *_TIMES, "date", "time", "sha", "commit", "git_commit")
"""Keys of a line by which one run differs from another."""
_STEPS: Final = frozenset(("step", "epoch", "global_step"))  # keys of a line that is a part of a run
_WHEN: Final = b'"timestamp"'
_FIRST: Final = 100  # number of lines that are read from the beginning of a file of a judge
_LINES: Final = 20  # number of lines that are read from the end of a file to which runs append
_ORIGIN_BYTES: Final = tuple(f'"{key}"'.encode() for key in ORIGIN_KEYS)
_TIME_BYTES: Final = tuple(f'"{key}"'.encode() for key in _TIMES)


def recorded_in(kind: str, path: str, content: bytes, settings: str) -> Recorded | None:
    """Return what the output states; None if it states nothing. Never raises."""
    grades: tuple[str, ...] = ()
    if kind == "judged":
        # These are many modules, which projects without such results do not need.
        from sitegen.importers import read_results

        with suppress(UnreadableError):
            run = read_results(path, _head(path, content, settings), settings, without_cases=True).run
            if run != Recorded(grades=run.grades):
                return run
            grades = run.grades
    in_cases = kind == "fields" and '"ground_truth_format":"cases"' in settings
    with_time = in_cases or kind not in ("fields", "judged")
    keys = _ORIGIN_BYTES + (_TIME_BYTES if with_time else ())
    if not any(key in content for key in keys):
        return Recorded(grades=grades) if grades else None
    objects: Iterable[dict[str, Any]]
    if ending(path) in LINES:
        # The last line comes first because newer ones are appended, and the first line last as a header.
        lines = content.rstrip().split(b"\n")
        parsed = (_parsed_json(line) for line in (*lines[:-_LINES:-1], *lines[:1]) if any(key in line for key in keys))
        objects = (entry for entry in parsed if isinstance(entry, dict))
    else:
        # The object at the root, and the last object of each list at the root or below one of its keys.
        root = _parsed_json(content)
        lists = [below for below in (root.values() if isinstance(root, dict) else (root,)) if isinstance(below, list)]
        objects = [entry for entry in (root, *(below[-1] for below in lists if below)) if isinstance(entry, dict)]
    stated = next((recorded for entry in objects if (recorded := _stated_by(entry, with_time=with_time))), None)
    return replace(stated or Recorded(), grades=grades) if stated or grades else None


def _head(path: str, content: bytes, settings: str) -> bytes:
    """Return the part of a file that states all that the file states of its run, else the whole file.

    This is the first lines of a judge, or a file of promptfoo without its rows. There may be hundreds of thousands of
    these, and none of their scores is a grade.
    """
    from sitegen.importers import ANY_LINES, importer_of
    from sitegen.importers.columns import read_settings
    from sitegen.importers.judge_lines import is_of_a_judge
    from sitegen.importers.promptfoo import ROWS

    importer = importer_of(path, content)
    if importer.name == "promptfoo":
        return split_json(content, *ROWS)[0]
    end = -1
    for _ in range(_FIRST):
        end = content.find(b"\n", end + 1)
        if end < 0:
            return content
    is_table = not path.endswith(".jsonl") or importer is not ANY_LINES or read_settings(settings).value
    if is_table or not is_of_a_judge(content):
        return content
    says_when = content.find(_WHEN, 0, end) >= 0 or content.find(_WHEN, end) < 0
    return content[:end] if says_when else content


def _stated_by(root: dict[str, Any], *, with_time: bool) -> Recorded | None:
    places = [below for key in BESIDE if isinstance(below := root.get(key), dict)]
    beside = {**ChainMap(*places)}
    origin = origin_in({**root, **beside})
    names_instructions = origin != Recorded()
    timed = {**root, **beside} if with_time else beside if names_instructions else {}
    time = next((value for key in _TIMES if isinstance(value := timed.get(key), str)), None)
    return replace(origin, timestamp=time) if names_instructions or time else None


def _parsed_json(text: bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def runs_in_file(kind: str, path: str, settings: str, content: bytes) -> dict[str, int]:
    """Return how long a file of rows is at the end of each run that it holds, in this order; no length of other files.

    Keys name the runs. Empty if the file does not tell runs. A line of recorded numbers that states a step, or neither
    a time, a commit nor a run, is no run. Never raises.
    """
    is_recorded, is_judged, rows = traits_of(kind).is_recorded, kind == "judged", list[dict[str, Any]]()
    holds_cases = is_judged or traits_of(kind).answers_cases or '"ground_truth_format":"cases"' in settings
    with suppress(UnreadableError):
        if is_recorded and ending(path) not in LINES:
            return {str(run): 0 for run in runs_in(read_record(path, content).value)}
        rows += csv_dicts(content) if holds_cases and ending(path) == "csv" else ()
    if not rows and not (ending(path) in LINES and (is_recorded or holds_cases)):
        return {}
    from sitegen.importers import ANY_LINES, importer_of
    from sitegen.importers.case_rows import run_column
    from sitegen.importers.columns import read_settings
    from sitegen.importers.judge_lines import is_of_a_judge
    from sitegen.importers.usual_names import RUN_COLUMNS

    objects = (row for row in rows or map(_parsed_json, BytesIO(content)) if isinstance(row, dict))
    if not is_recorded and RUN_COLUMNS.keys().isdisjoint(map(plain_key, next(objects, ()))):
        return {}  # without holding all rows, which take much memory
    lines = content.splitlines(keepends=True)
    ends = [end for line, end in zip(lines, accumulate(map(len, lines)), strict=True) if line.strip()][bool(rows) :]
    rows = rows or [row for row in map(_parsed_json, lines) if isinstance(row, dict)]
    if len(rows) != len(ends):  # a row is several lines, or a line is none
        return {}
    if is_recorded:
        named = [[row[key] for key in _NAMES_OF_RUNS if key in row] for row in rows]
        names = [*map(str, named)] if all(named) and not any(map(_STEPS.intersection, rows)) else []
    else:
        told = read_settings(settings).value if is_judged else None
        is_table = importer_of(path, content) is ANY_LINES and (ending(path) == "csv" or not is_of_a_judge(content))
        key = run_column(rows)
        is_no_run = any(key in of for of in told.parts.values()) if told and told.parts else is_judged and not is_table
        names = [] if is_no_run else [id_text(row.get(key)) for row in rows if key]
    return dict(sorted(dict(zip(names, ends, strict=False)).items(), key=itemgetter(1)))
