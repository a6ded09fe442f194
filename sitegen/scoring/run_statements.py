"""Reads what an output states about the run that made it: its commit, prompt hashes, prompt version, time and run id.

An extracted document may contain a time itself. The time of an output of kind ``fields`` therefore counts only in an
object beside the document's values, such as ``metadata``, that also identifies the instructions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec.structs import replace

from sitegen.data_files.reading import LINES, UnreadableError, ending, split_json
from sitegen.importers.recorded_layouts import read_record, runs_in
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.recorded import ORIGIN_KEYS, Recorded, origin_in
from sitegen.model.usage import BESIDE
from sitegen.text.values import id_text

_TIMES: Final = ("timestamp", "started_at", "created_at", "run_at")
_RUN_KEYS: Final = ("run_id", "run")
_NAMES_OF_RUNS: Final = (*_RUN_KEYS, *_TIMES, "date", "time", "sha", "commit", "git_commit")
"""Keys of a line by which one run differs from another."""
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
    objects: Iterator[dict[str, Any]]
    if ending(path) in LINES:
        # The last line comes first because newer ones are appended, and the first line last as a header.
        lines = content.rstrip().split(b"\n")
        parsed = (_parsed_json(line) for line in (*lines[:-_LINES:-1], *lines[:1]) if any(key in line for key in keys))
        objects = (entry for entry in parsed if isinstance(entry, dict))
    else:
        objects = _last_objects(_parsed_json(content))
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


def _last_objects(root: Any) -> Iterator[dict[str, Any]]:
    """Yield the object at the root, and the last object of each list at the root or below one of its keys."""
    if isinstance(root, dict):
        yield root
    for below in root.values() if isinstance(root, dict) else (root,):
        if isinstance(below, list) and below and isinstance(below[-1], dict):
            yield below[-1]


def _stated_by(root: dict[str, Any], *, with_time: bool) -> Recorded | None:
    beside: dict[str, Any] = {}
    for key in BESIDE:
        if isinstance(below := root.get(key), dict):
            beside = {**below, **beside}
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


def appended_runs(path: str, before: bytes, content: bytes) -> int:
    """Count the runs that a version of a file of recorded numbers adds to the version before. Never raises.

    A line that states neither a time, a commit nor a run is not counted: it may be a step.
    """
    if ending(path) not in LINES:
        with suppress(UnreadableError):
            roots = (read_record(path, each).value if each else [] for each in (before, content))
            earlier, now = ({*map(str, runs_in(root))} for root in roots)
            return len(now - earlier)
        return 0
    if before and content.startswith(before):
        before, content = b"", content[len(before) :]
    return len({*_runs_of_lines(content)} - {*_runs_of_lines(before)})


def _runs_of_lines(content: bytes) -> list[str]:
    runs = []
    for line in filter(bytes.strip, content.split(b"\n")):
        run = _parsed_json(line)
        named = [run[key] for key in _NAMES_OF_RUNS if key in run] if isinstance(run, dict) else []
        if not named:
            return []
        runs.append(str(named))
    return runs


def newest_run(lines: Sequence[Value], source: str = "") -> Parsed[tuple[int, ...]]:
    """Return the indices of the lines of the run that the last line names, if every line names its run; else all lines.

    If each of several lines names a different run, these are ids of calls, and all lines count. Lines that are no
    objects belong to every run. ``source``: the origin of the lines in the message.
    """
    all_lines = tuple(range(len(lines)))
    objects = [(index, line) for index, line in enumerate(lines) if isinstance(line, dict)]
    for key in _RUN_KEYS:
        runs = {index: id_text(line.get(key)) for index, line in objects}
        names = set(runs.values())
        if len(names) < 2 or not all(names) or len(names) == len(runs):
            continue
        newest = runs[objects[-1][0]]
        left_out = sum(name != newest for name in runs.values())
        message = f"{left_out} lines{source} are of earlier runs and do not count; the newest run is {newest[:80]!r}"
        fix = "Nothing has to be done: each commit of the file is an iteration of its own."
        of_newest = tuple(index for index in all_lines if runs.get(index, newest) == newest)
        return Parsed(of_newest, (Finding("note", message, fix),))
    return Parsed(all_lines)
