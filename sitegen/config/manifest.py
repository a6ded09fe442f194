"""Reads the manifest of the evals, and the YAML file that configures evaluations of prompts."""

import dataclasses
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from sitegen.config.findings import (
    FIX,
    OUTSIDE,
    UNKNOWN,
    adapter_of,
    describe,
    error_of,
    finding_of,
    leads_out,
    remove,
    unknown_key,
    unreadable,
    valid_part,
)
from sitegen.config.models import KIND_FILES, EvalConfig, EvaluationConfig, Llm, Manifest
from sitegen.data_files.reading import Location, UnreadableError
from sitegen.data_files.yaml_reader import read_configuring_yaml
from sitegen.model.problems import Finding, Parsed, Severity
from sitegen.text.globs import fault_in_answerers
from sitegen.text.keys import key_path, keys_at, misspelt, names_of, nearest

_ENTRY_KEYS: Final = tuple(key for key in names_of(EvalConfig) if key not in ("id", "metadata"))

_SHOWN_ALONE: Final = ("name", "description")  # keys that are only shown: nothing else depends on a wrong value
ANY_FIELD: Final = "*"
"""The glob of ``redact`` that hides every value."""


def read_manifest(content: bytes, evals_dir: str) -> Parsed[Manifest | None]:
    """Read the manifest without its unknown keys and wrong values, with a finding for each; None if it is unreadable.

    A wrong value is an error; one that is only shown, or an unknown key, is a warning.
    """
    try:
        root, lines, repeated = read_configuring_yaml(content)
    except UnreadableError as error:
        return Parsed(None, (unreadable("The manifest", error),))
    if root is None:
        return Parsed(Manifest())
    if not isinstance(root, dict):
        refusal = Finding("error", f"The manifest is {describe(root)}.", "Write a mapping with the key evals.", line=1)
        return Parsed(None, (refusal,))
    entries = root.get("evals")
    if not isinstance(entries, dict | None):
        message = f"evals is {describe(entries)}, a mapping from ids to entries is wanted."
        fix = "Write the id of each eval as a key below evals."
        return Parsed(None, (Finding("error", message, fix, line=lines.get(("evals",))),))
    findings = [
        Finding(
            "warning", f"The key {key_path(key)!r} stands twice, and its last value counts.", "Remove one.", line=line
        )
        for key, line in repeated.items()
    ]
    for key in map(str, root):
        if key not in ("version", "evals"):
            is_evals = "evals" not in root and nearest(key, ("evals",)) is not None
            finding = unknown_key((key,), ("version", "evals"), lines.get((key,)))
            findings.append(finding.without_effect("error" if is_evals else "warning"))
    evals = []
    for eval_id, stated in (entries or {}).items():
        entry, of_entry = _entry(str(eval_id), {} if stated is None else stated, lines, evals_dir)
        findings += of_entry
        if entry is not None:
            evals.append(entry)
    return Parsed(Manifest(evals=tuple(evals)), tuple(findings))


def manifest_in_force(
    content: bytes, path: str, evals_dir: str, read: Callable[[bytes, str], Parsed[Manifest | None]] = read_manifest
) -> Parsed[Manifest]:
    """Read the manifest of the built revision. Raises ConfigurationError if it cannot be read."""
    manifest, findings = read(content, evals_dir)
    if manifest is None:
        raise error_of(findings[0].in_file(path))
    return Parsed(manifest, findings)


def overlaid(entry: EvalConfig, changes: EvalConfig) -> EvalConfig:
    """Return an entry with every key that ``changes`` states; settings and thresholds are merged key by key."""
    defaults = EvalConfig(id="")
    changed = {
        name: value for name in names_of(EvalConfig) if (value := getattr(changes, name)) != getattr(defaults, name)
    }
    changed["settings"] = canonical({**json.loads(entry.settings), **json.loads(changes.settings)})
    changed["thresholds"] = entry.thresholds | changes.thresholds
    return dataclasses.replace(entry, **changed)


def _warnings(eval_id: str, entry: Mapping[Any, Any], lines: Mapping[Location, int]) -> Iterator[Finding]:
    """Yield warnings about probably misspelt keys, which count as metadata, and about a second id, which is ignored."""
    for key in map(str, entry):
        line = lines.get(("evals", eval_id, key))
        near = None if key in (*_ENTRY_KEYS, "id") else misspelt(key, _ENTRY_KEYS)
        if near and near not in entry:
            yield Finding(
                severity="warning",
                message=f"The key 'evals.{eval_id}.{key}' is not known and counts as metadata."
                + (" Every value of the eval is hidden." if near == "redact" else ""),
                fix=f"Write {near!r} if that is meant; otherwise give it a name that is less like it.",
                line=line,
            )
        if key == "id" and str(entry["id"]) != eval_id:
            yield Finding(
                severity="warning",
                message=f"The eval {eval_id!r} has the key id, {describe(entry['id'])}, which does not count.",
                fix="The id of an eval is the key above its entry; remove the key id.",
                line=line,
            )


def _entry(eval_id: str, entry: Any, lines: Mapping[Location, int], evals_dir: str) -> Parsed[EvalConfig | None]:
    """Read an entry without its wrong values, whose defaults hold. Wrong globs of ``redact`` hide everything.

    An entry whose own folder is outside the project is None.
    """
    findings: list[Finding] = []

    def line(location: Location) -> int | None:
        """Return the line of the innermost key of a location whose line is known."""
        keys: Location = ("evals", eval_id, *location)
        return next((lines[keys[:end]] for end in range(len(keys), 0, -1) if keys[:end] in lines), None)

    def lose(location: Location, expected: str, value: Any) -> None:
        message = f"{key_path(('evals', eval_id, *location))} is {describe(value)}{expected}."
        fix = FIX if expected.endswith(OUTSIDE) else "Correct the value."
        findings.append(Finding("error", message, fix, line=line(location)).without_effect())

    if not isinstance(entry, dict):
        lose((), ", a mapping is wanted", entry)
        entry = {}
    stated = {key: value for key, value in entry.items() if _is_known(key, value) and value is not None}
    metadata = {str(key): _as_text(value) for key, value in entry.items() if not _is_known(key, value) and key != "id"}
    lists = ("instructions", "aliases", "redact")
    stated |= {key: [stated[key]] for key in lists if isinstance(stated.get(key), str)}
    stated = {key: _with_text_keys(value) for key, value in stated.items()}
    settings = stated.pop("settings", {})
    validated = adapter_of(EvalConfig).validate_python
    valid, misfits = valid_part(EvalConfig, {**stated, "id": eval_id, "metadata": metadata})
    for location, misfit in misfits:
        finding = finding_of(misfit, line(location), EvalConfig, prefix=f"evals.{eval_id}.")
        if location[0] == "redact":
            findings.append(replace(finding, message=f"{finding.message} Every value of the eval is hidden."))
        else:
            findings.append(finding.without_effect("warning" if location[0] in _SHOWN_ALONE else "error"))
    if not isinstance(settings, dict):
        lose(("settings",), ", a mapping is wanted", settings)
        settings = {}
    for name in [name for name, value in settings.items() if not _is_finite(value)]:
        lose(("settings", name), ", finite numbers are wanted", settings.pop(name))
    valid["settings"] = canonical(settings)
    globs = stated.get("redact", [])
    number_of_globs = len(globs) if isinstance(globs, list) else 1
    is_misspelt = "redact" not in entry and any(misspelt(str(key), ("redact",)) for key in entry)
    if is_misspelt or len(valid.get("redact", ())) < number_of_globs:
        valid["redact"] = (ANY_FIELD,)
    while outside := next(_paths_outside(validated(valid), evals_dir), None):
        location, path = outside
        lose(location, f": {OUTSIDE}", path)
        if not location:
            return Parsed(None, tuple(findings))
        remove(valid, location)
    for key, fault in list(_faults(valid)):
        lose((key,), f", {fault}", valid.pop(key))
    findings.sort(key=lambda finding: finding.line or 0)
    return Parsed(validated(valid), (*findings, *_warnings(eval_id, entry, lines)))


def _is_known(key: Any, value: Any) -> bool:
    """Whether a key of an entry is no metadata; ``source`` is some unless it may name files: no address or remark."""
    names_files = isinstance(value, str) and re.fullmatch(r"(?!.*://).*[^/\s]\.[A-Za-z0-9]{1,8}", value.strip())
    return key in _ENTRY_KEYS and (key != "source" or bool(names_files))


def _faults(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the keys of an entry whose text has no meaning, and why."""
    *first_kinds, last = kinds = [files.kind for files in KIND_FILES]
    if entry.get("kind") not in (None, *kinds):
        yield "kind", f"{', '.join(map(repr, first_kinds))} or {last!r} is wanted"
    if fault := fault_in_answerers(entry.get("outputs", "")):
        yield "outputs", fault


def _paths_outside(entry: EvalConfig, evals_dir: str) -> Iterator[tuple[Location, str]]:
    """Yield the key and the path of each path of an entry that is outside the project, its folder first."""
    folder = entry.dir or f"{evals_dir}/{entry.id}"
    if entry.dir is None and leads_out(folder):
        yield (), folder
    stated: list[tuple[Location, str | None, str]] = [(("dir",), folder if entry.dir else None, "")]
    stated += [((key,), getattr(entry, key), "") for key in ("mapping", "schema")]
    stated += [((key,), getattr(entry, key), folder) for key in ("ground_truth", "outputs", "source")]
    for at, alias in enumerate(entry.aliases):
        stated.append((("aliases", at), alias, "" if "/" in alias else evals_dir))
    for at, glob in enumerate(entry.instructions):
        stated.append((("instructions", at), glob.lstrip("/"), ""))  # a slash at the start is the project's root
    for location, path, below in stated:
        if path and leads_out(path, below):
            yield location, path


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return canonical(value)
    return "" if value is None else json.dumps(value, default=str).strip('"')


def canonical(value: Any) -> str:
    """Return canonical JSON: sorted keys, no spaces, every key as text."""
    return json.dumps(_with_text_keys(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict | list):
        return all(map(_is_finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or math.isfinite(value)


def _with_text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _with_text_keys(member) for key, member in value.items()}
    return [_with_text_keys(item) for item in value] if isinstance(value, list) else value


_EVALUATION_KEYS: Final = names_of(EvaluationConfig)

_METRICS: Final = (
    ("accuracy", "accuracy_threshold"),
    ("consistency_score", "consistency_threshold"),
    ("average_quality", "quality_threshold"),
    ("rougeL", "rouge_l_threshold"),
)
_OF_THE_MODEL: Final = ("model", "judge_model", "max_tokens", "temperature")
_SETTINGS: Final = ("evaluation_methods", "significance_level")
_IN_TABLES: Final = {
    ("comparison", "significance_level"): "significance_level",
    ("visualization", "plot_format"): "plot_format",
    ("quality_evaluation", "grading_model"): "judge_model",
}
"""Keys that are stated in a table as well."""
_OF_OTHERS: Final = {
    *("performance", "output", "claude_code", "test_cases", "consistency_evaluation", "error_analysis", "reporting"),
    "logging",
}
"""Tables on how another program asks models, measures and reports, which change no number of sitegen."""


def read_evaluation(content: bytes) -> Parsed[EvaluationConfig | None]:
    """Read an evaluation without its unknown keys and wrong values; None if the file cannot be read.

    An unknown key is a note, since the file is another program's as well; a wrong value, or a key that misspells a
    known one, is an error.
    """
    try:
        root, lines, _ = read_configuring_yaml(content)
    except UnreadableError as error:
        return Parsed(None, (unreadable("The configuration", error),))
    if not isinstance(root, dict | None):
        what = Finding("error", f"The configuration is {describe(root)}.", "Write keys with their values.", line=1)
        return Parsed(None, (what,))
    root = root or {}
    stated = {str(key): value for key, value in root.items() if value is not None and key not in _OF_OTHERS}
    for (table, key), name in _IN_TABLES.items():
        if isinstance(root.get(table), dict):
            stated.pop(table, None)
            if (value := root[table].get(key)) is not None and name not in stated:
                stated[name], lines = value, {**lines, (name,): lines.get((table, key), 0)}
    findings: list[Finding] = []

    def line(location: Location) -> int | None:
        return lines.get(location[:2]) or lines.get(location[:1])

    valid, misfits = valid_part(EvaluationConfig, stated)
    for location, misfit in misfits:
        possible = keys_at(EvaluationConfig, location) or ()
        is_unknown = misfit["type"] in UNKNOWN and not misspelt(str(location[-1]), possible)
        finding = finding_of(misfit, line(location), EvaluationConfig)
        findings.append(finding.without_effect("note" if is_unknown else "error"))
    read: EvaluationConfig = adapter_of(EvaluationConfig).validate_python(valid)
    level = read.significance_level
    if level is not None and not 0 < level < 1:
        message = f"significance_level is {describe(level)}, a number between 0 and 1 is wanted."
        wrong = Finding("error", message, "Write 0.05, for example.", line=line(("significance_level",)))
        findings.append(wrong.without_effect())
        read = dataclasses.replace(read, significance_level=None)
    return Parsed(read, tuple(findings))


def read_named(eval_id: str, content: bytes, path: str) -> Parsed[EvalConfig | EvaluationConfig]:
    """Read the content of a file of ``--config``: an evaluation, or keys of the eval's entry.

    Raises ConfigurationError if the file cannot be read, or if no key is known.
    """
    try:
        root, lines, _ = read_configuring_yaml(content)
    except UnreadableError as error:
        raise error_of(unreadable("The file", error).in_file(path)) from None
    keys = [str(key) for key in root] if isinstance(root, dict) else []
    evaluation, of_evaluation = read_evaluation(content)
    if evaluation and any(key in _EVALUATION_KEYS for key in keys):
        return Parsed(evaluation, of_evaluation)
    at_entry = {("evals", eval_id, *location): line for location, line in lines.items()}
    entry, findings = _entry(eval_id, {} if root is None else root, at_entry, "evals")
    if entry is None:
        raise error_of(findings[0].in_file(path))
    known = (*_EVALUATION_KEYS, *_ENTRY_KEYS)
    unknown = [unknown_key((key,), known, None) for key in entry.metadata]
    if unknown and len(unknown) == len(keys):
        raise error_of(unknown[0].in_file(path))
    severities: list[Severity] = ["error" if misspelt(key, known) else "warning" for key in entry.metadata]
    return Parsed(entry, (*findings, *map(Finding.without_effect, unknown, severities)))


def evaluated_entry(entry: EvalConfig, evaluation: EvaluationConfig) -> EvalConfig:
    """Return an entry with its thresholds and settings replaced by those of an evaluation."""
    stated = [(metric, getattr(evaluation.metrics, key)) for metric, key in _METRICS]
    settings = {name: value for name in _SETTINGS if (value := getattr(evaluation, name)) not in (None, ())}
    evaluated = EvalConfig(
        id=entry.id,
        thresholds={metric: least for metric, least in stated if least is not None},
        settings=canonical(settings),
    )
    return overlaid(entry, evaluated)


def evaluated_llm(llm: Llm, evaluation: EvaluationConfig) -> Llm:
    """Return a table ``[llm]`` with its settings of the model replaced by those of an evaluation."""
    stated = {name: value for name in _OF_THE_MODEL if (value := getattr(evaluation, name)) is not None}
    return dataclasses.replace(llm, **stated)


def stated_llm(llm: Llm, evaluation: EvaluationConfig) -> Llm:
    """Return a table ``[llm]`` with an evaluation's settings of the model wherever the table has the default."""
    own = Llm()
    stated = {name: value for name in _OF_THE_MODEL if (value := getattr(llm, name)) != getattr(own, name)}
    return dataclasses.replace(evaluated_llm(llm, evaluation), **stated)


def evaluation_methods(settings: str) -> tuple[str, ...]:
    """Return the methods that an eval's settings name; empty for all methods."""
    stated = json.loads(settings).get("evaluation_methods")
    return tuple(map(str, stated)) if isinstance(stated, list) else ()


def significance_level(settings: str) -> float | None:
    """Return the significance level in an eval's settings; None if they have no level between 0 and 1."""
    stated = json.loads(settings).get("significance_level")
    return float(stated) if isinstance(stated, int | float) and 0 < stated < 1 else None
