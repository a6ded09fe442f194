"""The files that hold recorded numbers: those whose layout says which of them are results, and any other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from posixpath import splitext
from typing import Final

from sitegen.data_files.json_reader import parse_json, read_json
from sitegen.data_files.reading import ParsedFile, UnreadableError, text_of
from sitegen.data_files.yaml_reader import read_yaml
from sitegen.model.values import Value
from sitegen.scoring.recorded.numbers import RecordedNumber, as_float, joined_name, numbers_in

_SCRIPT: Final = re.compile(r"\s*(?:window\.)?[A-Za-z_$][\w$.]*\s*=\s*(?=[{\[])")
"""What stands before the data in a ``data.js``."""

_LENGTH: Final = "sample_len"
"""How many documents lm-eval took for a task: it stands among the metrics of the task and is none."""

_BIGGER: Final = frozenset(("benchmarkjs", "pytest", "custombiggerisbetter"))
"""Tools of github-action-benchmark whose results are rates; those of all others are times or sizes."""


def read_numbers(path: str, content: bytes, where: dict[str, str]) -> tuple[list[RecordedNumber], ParsedFile]:
    """The numbers of a file, and what was odd about it. Raises UnreadableError if there is no object or list.

    ``where``: what the run has to state, for files that hold several runs.
    """
    parsed = _parsed_record(splitext(path)[1].lower(), content)
    root = parsed.value
    if not isinstance(root, dict | list):
        raise UnreadableError("it is neither an object nor a list", "Write an object of names and numbers.")
    return list(_numbers_of_layout(root, where)), parsed


def _parsed_record(ending: str, content: bytes) -> ParsedFile:
    if ending in (".yaml", ".yml"):
        read = read_yaml(content)
        return ParsedFile(read.values[0] if read.values else None, read.findings)
    if ending in (".jsonl", ".ndjson"):
        lines = [line for line in text_of(content).splitlines() if line.strip()]
        return parse_json(lines[-1]) if lines else ParsedFile(None)
    if ending == ".js":
        text = text_of(content)
        start = _SCRIPT.match(text)
        return parse_json(text[start.end() if start else 0 :].rstrip().rstrip(";"))
    return read_json(content)


def _numbers_of_layout(root: dict[str, Value] | list[Value], where: dict[str, str]) -> Iterator[RecordedNumber]:
    if isinstance(root, list):
        return numbers_in(root)
    results, entries = root.get("results"), root.get("entries")
    if isinstance(results, dict) and ("n-shot" in root or "lm_eval_version" in root or "higher_is_better" in root):
        return _of_tasks(results, root.get("higher_is_better"))
    if isinstance(entries, dict) and any(isinstance(each, list) for each in entries.values()):
        return _of_benchmarks(entries)
    if isinstance(root.get("individual_results"), dict) and isinstance(root.get("prompt_paths"), list):
        return _of_prompts(root, where)
    if isinstance(results, dict) and ("prompt_path" in root or str(root.get("schema")).startswith("sitegen/")):
        return numbers_in(results)
    if str(root.get("schema")).startswith("sitegen/"):
        return _of_sitegen(root)
    if {"accuracy", "correct", "expected"} <= root.keys() and isinstance(root.get("missed"), list):
        return _with_lengths(root)
    return numbers_in(root)


def _of_tasks(results: dict[str, Value], stated: Value) -> Iterator[RecordedNumber]:
    """lm-evaluation-harness: a number is called ``metric,filter``, and the filter ``none`` says nothing."""
    directions = stated if isinstance(stated, dict) else {}
    for task, values in results.items():
        known = directions.get(task)
        for each in numbers_in(values, task):
            if each.name == joined_name(task, _LENGTH):
                continue
            metric, _, kept = each.name.rpartition(",")
            name = metric if kept == "none" else each.name
            bare = name[len(task) + 1 :].partition(",")[0]
            higher = known.get(bare) if isinstance(known, dict) else None
            yield each._replace(name=name, higher_is_better=higher if isinstance(higher, bool) else None)


def _of_benchmarks(entries: dict[str, Value]) -> Iterator[RecordedNumber]:
    """github-action-benchmark: of each suite the newest run; its own history is older versions of the file."""
    for suite, runs in entries.items():
        newest = runs[-1] if isinstance(runs, list) and runs else None
        benches = newest.get("benches") if isinstance(newest, dict) else None
        if not isinstance(newest, dict) or not isinstance(benches, list):
            continue
        higher = str(newest.get("tool")).casefold() in _BIGGER
        start = suite if len(entries) > 1 else ""
        for bench in benches:
            name = bench.get("name") if isinstance(bench, dict) else None
            if isinstance(bench, dict) and isinstance(name, str):
                yield RecordedNumber(joined_name(start, name), as_float(bench.get("value")), higher)


def _of_prompts(root: dict[str, Value], where: dict[str, str]) -> Iterator[RecordedNumber]:
    """A comparison of prompts: the results of the one that is wanted, else of each under the name of its file."""
    prompts, individual = root["prompt_paths"], root["individual_results"]
    assert isinstance(prompts, list)
    assert isinstance(individual, dict)
    wanted = where.get("prompt_path")
    for prompt, (key, value) in zip(prompts, individual.items(), strict=False):
        path = value.get("prompt_path", prompt) if isinstance(value, dict) else prompt
        results = value.get("results", value) if isinstance(value, dict) else value
        if wanted is None:
            yield from numbers_in(results, PurePosixPath(path).stem if isinstance(path, str) else key)
        elif path == wanted:
            yield from numbers_in(results)


def _of_sitegen(root: dict[str, Value]) -> Iterator[RecordedNumber]:
    """Results that sitegen wrote: its totals, without fields, documents and metadata."""
    metrics = root.get("metrics")
    yield from numbers_in(metrics if isinstance(metrics, dict) else {})
    totals: dict[str, Value] = {key: value for key, value in root.items() if not isinstance(value, dict | list)}
    yield from numbers_in(totals)
    yield from numbers_in(root.get("errors_by_type"), "errors_by_type")
    yield from _lengths(root)


def _with_lengths(root: dict[str, Value]) -> Iterator[RecordedNumber]:
    """Results of highlights: what was missed and what is wrong are lists of texts."""
    yield from numbers_in(root)
    yield from _lengths(root)


def _lengths(root: dict[str, Value]) -> Iterator[RecordedNumber]:
    for key in ("missed", "wrong"):
        listed = root.get(key)
        if isinstance(listed, list):
            yield RecordedNumber(key, float(len(listed)), False)
