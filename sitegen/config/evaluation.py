"""Reads the YAML file that configures evaluations of prompts; it adds to an eval's entry and to table ``[llm]``."""

from __future__ import annotations

import json
from posixpath import join
from typing import Any, Final

from msgspec.structs import replace

from sitegen.config.finders.searched_files import LARGEST_READ, SearchedFiles
from sitegen.config.findings import (
    UNKNOWN,
    describe,
    error_in,
    finding_of,
    invalid,
    unknown_key,
    unreadable,
    valid_part,
    without,
)
from sitegen.config.manifest import ENTRY_KEYS, canonical, overlaid, read_entry
from sitegen.config.models import EVALUATION_FILE, EvalConfig, EvaluationConfig, Llm
from sitegen.data_files.reading import Location, UnreadableError
from sitegen.data_files.yaml_reader import read_configuring_yaml
from sitegen.model.metrics import Threshold
from sitegen.model.problems import Finding, Parsed, Severity
from sitegen.text.keys import keys_at, misspelt

_EVALUATION_KEYS: Final = EvaluationConfig.__struct_fields__

_METRICS: Final = (
    ("accuracy", "accuracy_threshold"),
    ("consistency_score", "consistency_threshold"),
    ("average_quality", "quality_threshold"),
)
_OF_THE_MODEL: Final = ("model", "judge_model", "max_tokens", "temperature")
_SETTINGS: Final = ("evaluation_methods", "significance_level")


def project_evaluation(files: SearchedFiles) -> Parsed[EvaluationConfig | None]:
    """Read the evaluation that the project configures, as ``read_evaluation`` does; None if there is none."""
    folder = ""
    for name in EVALUATION_FILE.split("/"):
        if name not in files.names(folder):  # in most projects, the names in the root already show that there is none
            return Parsed(None)
        folder = join(folder, name)
    content = files.read(EVALUATION_FILE, LARGEST_READ)
    return Parsed(None) if content is None else read_evaluation(content)


def read_evaluation(content: bytes) -> Parsed[EvaluationConfig | None]:
    """Read the evaluation in a file without its unknown keys and wrong values; None if the file cannot be read.

    An unknown key is a warning; a wrong value, or a key that misspells a known one, is an error.
    """
    from pydantic import TypeAdapter

    try:
        root, lines = read_configuring_yaml(content)
    except UnreadableError as error:
        return Parsed(None, (unreadable("The configuration", error),))
    if not isinstance(root, dict | None):
        return Parsed(None, (invalid(f"The configuration is {describe(root)}.", "Write keys with their values.", 1),))
    stated: dict[Any, Any] = {str(key): value for key, value in (root or {}).items() if value is not None}
    findings: list[Finding] = []

    def line(location: Location) -> int | None:
        return lines.get(location[:2]) or lines.get(location[:1])

    def report(location: Location, error: Any) -> None:
        finding = finding_of({**error, "loc": location}, line, EvaluationConfig)
        possible = keys_at(EvaluationConfig, location) or ()
        is_unknown = error["type"] in UNKNOWN and not misspelt(str(location[-1]), possible)
        findings.append(without(finding, "warning" if is_unknown else "error"))

    adapter: Any = TypeAdapter(EvaluationConfig)
    read: EvaluationConfig = adapter.validate_python(valid_part(adapter, stated, report))
    level = read.significance_level
    if level is not None and not 0 < level < 1:
        message = f"significance_level is {describe(level)}, a number between 0 and 1 is wanted."
        findings.append(without(invalid(message, "Write 0.05, for example.", line(("significance_level",)))))
        read = replace(read, significance_level=None)
    return Parsed(read, tuple(findings))


def read_named(eval_id: str, content: bytes, path: str) -> Parsed[EvalConfig | EvaluationConfig]:
    """Read the content of a file of ``--config``: an evaluation, or keys of the eval's entry.

    Raises ConfigurationError if the file cannot be read, or if no key is known.
    """
    try:
        root, _ = read_configuring_yaml(content)
    except UnreadableError:
        root = None  # ``read_entry`` raises the error with its line
    keys = [str(key) for key in root] if isinstance(root, dict) else []
    if any(key in _EVALUATION_KEYS for key in keys):
        read, findings = read_evaluation(content)
        if read is None:
            raise error_in(path, findings[0])
        return Parsed(read, findings)
    entry, findings = read_entry(eval_id, content, path)
    known = (*_EVALUATION_KEYS, *ENTRY_KEYS)
    unknown = [unknown_key((key,), known, None) for key, _ in entry.metadata]
    if unknown and len(unknown) == len(keys):
        raise error_in(path, unknown[0])
    severities: list[Severity] = ["error" if misspelt(key, known) else "warning" for key, _ in entry.metadata]
    return Parsed(entry, (*findings, *map(without, unknown, severities)))


def evaluated_entry(entry: EvalConfig, evaluation: EvaluationConfig) -> EvalConfig:
    """Return an entry with its thresholds and settings replaced by those of an evaluation."""
    stated = [(metric, getattr(evaluation.metrics, key)) for metric, key in _METRICS]
    settings = {name: value for name in _SETTINGS if (value := getattr(evaluation, name)) not in (None, ())}
    evaluated = EvalConfig(
        id=entry.id,
        thresholds=tuple(Threshold(metric, least) for metric, least in stated if least is not None),
        settings=canonical(settings),
    )
    return overlaid(entry, evaluated)


def evaluated_llm(llm: Llm, evaluation: EvaluationConfig) -> Llm:
    """Return a table ``[llm]`` with its settings of the model replaced by those of an evaluation."""
    stated = {name: value for name in _OF_THE_MODEL if (value := getattr(evaluation, name)) is not None}
    return replace(llm, **stated)


def stated_llm(llm: Llm, evaluation: EvaluationConfig) -> Llm:
    """Return a table ``[llm]`` with an evaluation's settings of the model wherever the table has the default."""
    own = Llm()
    stated = {name: value for name in _OF_THE_MODEL if (value := getattr(llm, name)) != getattr(own, name)}
    return replace(evaluated_llm(llm, evaluation), **stated)


def evaluation_methods(settings: str) -> tuple[str, ...]:
    """Return the methods that an eval's settings name; empty for all methods."""
    stated = json.loads(settings).get("evaluation_methods")
    return tuple(map(str, stated)) if isinstance(stated, list) else ()


def significance_level(settings: str) -> float | None:
    """Return the significance level in an eval's settings; None if they have no level between 0 and 1."""
    stated = json.loads(settings).get("significance_level")
    return float(stated) if isinstance(stated, int | float) and 0 < stated < 1 else None
