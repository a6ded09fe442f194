"""Reads the manifest of the evals: strictly for the built revision, leniently for old commits."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from sitegen.config import EvalConfig, Manifest
from sitegen.configuring.findings import describe, error_in, finding_of, invalid, unknown_key, unreadable
from sitegen.configuring.paths import FIX, OUTSIDE, is_source, leads_out
from sitegen.data_files.reading import Location, UnreadableError
from sitegen.data_files.yaml_reader import read_configuring_yaml
from sitegen.extensions import KINDS, names
from sitegen.kind_files import KIND_FILES
from sitegen.model.metrics import Threshold
from sitegen.model.problems import Finding, Parsed
from sitegen.text.keys import misspelt, nearest

if TYPE_CHECKING:
    from pydantic import TypeAdapter

ENTRY_KEYS: Final = tuple(key for key in EvalConfig.__struct_fields__ if key not in ("id", "metadata"))


_SHOWN_ALONE: Final = ("name", "description")
"""Keys of an entry that are only shown, so that nothing else depends on a wrong value."""


def read_manifest(content: bytes, path: str, evals_dir: str) -> Manifest:
    """Read the manifest of the built revision. Raises ConfigurationError for the first error."""
    return read_manifest_with_remarks(content, path, evals_dir).value


def read_manifest_with_remarks(content: bytes, path: str, evals_dir: str) -> Parsed[Manifest]:
    """Read the manifest of the built revision, with warnings about valid keys that are probably mistakes.

    Raises ConfigurationError for the first error.
    """
    manifest, findings = _manifest(content, path, evals_dir)
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors or manifest is None:
        raise error_in(path, errors[0])
    return Parsed(manifest, findings)


def read_manifest_leniently(content: bytes, path: str, evals_dir: str) -> Parsed[Manifest | None]:
    """Read the manifest of an old commit without its invalid entries, with a finding for each of them.

    The manifest is None if the file cannot be read. There are no warnings, because nobody can correct an old commit.
    """
    manifest, findings = _manifest(content, path, evals_dir)
    return Parsed(manifest, tuple(finding for finding in findings if finding.severity == "error"))


def read_entry(eval_id: str, content: bytes, path: str) -> EvalConfig:
    """Read a YAML or JSON file with the keys of one eval's entry. Raises ConfigurationError."""
    try:
        root, lines = read_configuring_yaml(content)
    except UnreadableError as error:
        read: EvalConfig | Finding = unreadable("The file", error)
    else:
        read = _checked_entry(
            eval_id, {} if root is None else root, {("evals", eval_id, *at): n for at, n in lines.items()}, "evals"
        )
    if isinstance(read, EvalConfig):
        return read
    raise error_in(path, read)


def overlaid(entry: EvalConfig, changes: EvalConfig) -> EvalConfig:
    """Return an entry with every key that *changes* states; settings and thresholds are merged key by key."""
    defaults = EvalConfig(id="")
    changed = {
        name: value
        for name in EvalConfig.__struct_fields__
        if (value := getattr(changes, name)) != getattr(defaults, name)
    }
    changed["settings"] = canonical({**json.loads(entry.settings), **json.loads(changes.settings)})
    changed["thresholds"] = tuple(starmap(Threshold, {**dict(entry.thresholds), **dict(changes.thresholds)}.items()))
    return replace(entry, **changed)


def _manifest(content: bytes, path: str, evals_dir: str) -> Parsed[Manifest | None]:
    try:
        root, lines = read_configuring_yaml(content)
    except UnreadableError as error:
        return Parsed(None, (unreadable("The manifest", error),))
    if root is None:
        return Parsed(Manifest())
    if not isinstance(root, dict):
        refusal = invalid(f"The manifest is {describe(root)}.", "Write a mapping with the key evals.", 1)
        return Parsed(None, (refusal,))
    findings = list(_unknown_at_top(root, lines))
    entries = root.get("evals")
    if not isinstance(entries, dict | None):
        message = f"evals is {describe(entries)}, a mapping from ids to entries is wanted."
        fix = "Write the id of each eval as a key below evals."
        return Parsed(None, (invalid(message, fix, lines.get(("evals",))),))
    evals = []
    for eval_id, entry in (entries or {}).items():
        read = _checked_entry(str(eval_id), {} if entry is None else entry, lines, evals_dir)
        if isinstance(read, EvalConfig):
            evals.append(read)
            findings += _warnings(read.id, entry or {}, lines)
        else:
            findings.append(read)
    version = root.get("version", "2.0")
    return Parsed(Manifest(version=str(version), evals=tuple(evals)), tuple(findings))


def _unknown_at_top(root: Mapping[Any, Any], lines: Mapping[Location, int]) -> Iterator[Finding]:
    """Yield a warning about each unknown key beside the evals; an error if it probably misspells ``evals`` itself."""
    for key in map(str, root):
        if key in ("version", "evals"):
            continue
        finding = unknown_key((key,), ("version", "evals"), lines.get((key,)))
        if "evals" not in root and nearest(key, ("evals",)):
            yield finding
        else:
            yield replace(finding, severity="warning", message=f"{finding.message} It does not count.")


def _warnings(eval_id: str, entry: Mapping[Any, Any], lines: Mapping[Location, int]) -> Iterator[Finding]:
    """Yield warnings about probably misspelt keys, which count as metadata, and about a second id, which is ignored."""
    counted = _without_lost(entry)
    for key in map(str, entry):
        line = lines.get(("evals", eval_id, key))
        near = None if key in (*ENTRY_KEYS, "id") else misspelt(key, ENTRY_KEYS)
        if near and near not in entry:
            yield Finding(
                severity="warning",
                message=f"The key 'evals.{eval_id}.{key}' is not known and counts as metadata.",
                fix=f"Write {near!r} if that is meant; otherwise give it a name that is less like it.",
                line=line,
            )
        if key in _SHOWN_ALONE and key not in counted:
            yield Finding(
                severity="warning",
                message=f"evals.{eval_id}.{key} is {describe(entry[key])}, text is wanted. It does not count.",
                fix="Correct the value.",
                line=line,
            )
        if key == "id" and str(entry["id"]) != eval_id:
            yield Finding(
                severity="warning",
                message=f"The eval {eval_id!r} has the key id, {describe(entry['id'])}, which does not count.",
                fix="The id of an eval is the key above its entry; remove the key id.",
                line=line,
            )


def _checked_entry(eval_id: str, entry: Any, lines: Mapping[Location, int], evals_dir: str) -> EvalConfig | Finding:
    read = _typed_entry(eval_id, entry, lines)
    if isinstance(read, EvalConfig):
        for key, value in _paths_outside(read, evals_dir):
            message = f"evals.{eval_id}.{key} is {describe(value)}: {OUTSIDE}."
            line = lines.get(("evals", eval_id, key), lines.get(("evals", eval_id)))
            return invalid(message, FIX, line)
    return read


def _without_lost(entry: Mapping[Any, Any]) -> dict[Any, Any]:
    """The keys of an entry without those that ``_warnings`` reports as lost."""
    return {key: value for key, value in entry.items() if key not in _SHOWN_ALONE or isinstance(value, str | None)}


@cache
def _adapter() -> TypeAdapter[EvalConfig]:
    from pydantic import TypeAdapter

    return TypeAdapter(EvalConfig)


def _typed_entry(eval_id: str, entry: Any, lines: Mapping[Location, int]) -> EvalConfig | Finding:
    from pydantic import ValidationError

    line = lines.get(("evals", eval_id))
    if not isinstance(entry, dict):
        return invalid(f"evals.{eval_id} is {describe(entry)}, a mapping is wanted.", "Write its keys below it.", line)
    stated: dict[str, Any] = {"id": eval_id}
    metadata = []
    for key, value in _without_lost(entry).items():
        if key in ENTRY_KEYS and (key != "source" or is_source(value)):
            stated[key] = value
        elif key != "id":
            metadata.append((str(key), _as_text(value)))
    for key, expected in (
        ("settings", "a mapping with finite numbers"),
        ("thresholds", "a mapping from metrics to numbers"),
    ):
        value = stated.get(key)
        if value is None:
            stated.pop(key, None)
        elif isinstance(value, dict) and (key == "thresholds" or _is_finite(value)):
            pairs = [(str(name), member) for name, member in value.items()]
            stated[key] = canonical(value) if key == "settings" else pairs
        else:
            return invalid(
                f"evals.{eval_id}.{key} is {describe(value)}, {expected} is wanted.",
                "Correct the value.",
                lines.get(("evals", eval_id, key), line),
            )
    for key in ("instructions", "aliases", "redact"):
        if isinstance(stated.get(key), str):
            stated[key] = [stated[key]]
        elif stated.get(key) is None:
            stated.pop(key, None)
    thresholds = tuple(name for name, _ in stated.get("thresholds", ()))
    try:
        validated: EvalConfig = _adapter().validate_python({**stated, "metadata": metadata})
    except ValidationError as error:
        first = error.errors()[0]
        first["loc"] = _as_written(first["loc"], thresholds)
        return finding_of(
            first,
            lambda location: _first_line(lines, ("evals", eval_id, *location)) or line,
            EvalConfig,
            prefix=f"evals.{eval_id}.",
        )
    return _unknown_kind(validated, lines) or validated


def _unknown_kind(entry: EvalConfig, lines: Mapping[Location, int]) -> Finding | None:
    """Return the finding for a kind that is neither built in nor installed. Packages are searched only if necessary."""
    built_in = [files.kind for files in KIND_FILES]
    if entry.kind is None or entry.kind in built_in or entry.kind in (installed := names(KINDS)):
        return None
    *first_kinds, last = map(repr, (*built_in, *installed))
    return invalid(
        f"evals.{entry.id}.kind is {describe(entry.kind)}, {', '.join(first_kinds)} or {last} is wanted.",
        "Correct the value, or install the package that adds the kind.",
        lines.get(("evals", entry.id, "kind"), lines.get(("evals", entry.id))),
    )


def _as_written(location: tuple[Any, ...], thresholds: Sequence[str]) -> tuple[Any, ...]:
    """Return a value's location in the manifest, where the first member of a validated threshold pair is a key."""
    if location[:1] != ("thresholds",) or len(location) == 1:
        return location
    return ("thresholds", thresholds[location[1]])


def _paths_outside(entry: EvalConfig, evals_dir: str) -> Iterator[tuple[str, str]]:
    """Yield (key, path) of each path of an entry that is outside the project."""
    folder = entry.dir or f"{evals_dir}/{entry.id}"
    stated = [("dir", folder, ""), *((key, getattr(entry, key), "") for key in ("mapping", "schema"))]
    stated += [(key, getattr(entry, key), folder) for key in ("ground_truth", "outputs", "source")]
    stated += [("aliases", alias, "" if "/" in alias else evals_dir) for alias in entry.aliases]
    for key, path, below in stated:
        if path and leads_out(path, below):
            yield key, path
    for glob in entry.instructions:
        if leads_out(glob.lstrip("/")):  # a slash at the start of a glob is the project's root
            yield "instructions", glob


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return canonical(value)
    return "" if value is None else json.dumps(value, default=str).strip('"')


def canonical(value: Any) -> str:
    """Return canonical JSON: sorted keys, no spaces, every key as text."""
    return json.dumps(_text_keys(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict | list):
        return all(map(_is_finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or math.isfinite(value)


def _text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _text_keys(member) for key, member in value.items()}
    return [_text_keys(item) for item in value] if isinstance(value, list) else value


def _first_line(lines: Mapping[Location, int], location: Location) -> int | None:
    """Return the line of the innermost key of a location whose line is known."""
    return next((lines[location[:end]] for end in range(len(location), 0, -1) if location[:end] in lines), None)
