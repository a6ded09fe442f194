"""The manifest of the evals, that of the built revision strictly, those of old commits leniently."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from sitegen.config import KIND_FILES, EvalConfig, Manifest
from sitegen.configuring.findings import Location, finding_of, found, unknown_key, unreadable
from sitegen.configuring.paths import FIX, OUTSIDE, leads_out
from sitegen.data_files.reading import UnreadableError
from sitegen.data_files.yaml_reader import read_configuring_yaml
from sitegen.errors import ConfigurationError
from sitegen.extensions import KINDS, names
from sitegen.model.problems import Finding
from sitegen.text.keys import misspelt

ENTRY_KEYS: Final = tuple(field.name for field in fields(EvalConfig) if field.name not in ("id", "metadata"))


def read_manifest(content: bytes, path: str, evals_dir: str) -> Manifest:
    """The manifest of the built revision. Raises ConfigurationError for the first thing that cannot be understood."""
    return read_manifest_with_remarks(content, path, evals_dir)[0]


def read_manifest_with_remarks(content: bytes, path: str, evals_dir: str) -> tuple[Manifest, tuple[Finding, ...]]:
    """The manifest of the built revision, and warnings of what is understood but hardly meant so.

    Raises ConfigurationError for the first thing that cannot be understood.
    """
    manifest, findings = _manifest(content, path, evals_dir)
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors or manifest is None:
        first = errors[0]
        where = path if first.line is None else f"{path}:{first.line}"
        raise ConfigurationError(first.what, where=where, fix=first.fix)
    return manifest, findings


def read_manifest_leniently(content: bytes, path: str, evals_dir: str) -> tuple[Manifest | None, tuple[Finding, ...]]:
    """The manifest of an old commit: entries that cannot be understood are left out, and said.

    None if the whole cannot be read. What is understood is not remarked on: nobody can correct an old commit.
    """
    manifest, findings = _manifest(content, path, evals_dir)
    return manifest, tuple(finding for finding in findings if finding.severity == "error")


def read_entry(eval_id: str, content: bytes, path: str) -> EvalConfig:
    """A file of its own with the keys of one eval's entry, YAML or JSON. Raises ConfigurationError."""
    try:
        root, lines = read_configuring_yaml(content)
    except UnreadableError as error:
        read: EvalConfig | Finding = unreadable("The file", error)
    else:
        read = _entry(
            eval_id, {} if root is None else root, {("evals", eval_id, *at): n for at, n in lines.items()}, "evals"
        )
    if isinstance(read, EvalConfig):
        return read
    where = path if read.line is None else f"{path}:{read.line}"
    raise ConfigurationError(read.what, where=where, fix=read.fix)


def overlaid(entry: EvalConfig, other: EvalConfig) -> EvalConfig:
    """An entry with every key that the other one states; of settings and thresholds, key by key."""
    changed = {
        field.name: value
        for field in fields(EvalConfig)
        if (value := getattr(other, field.name)) != _default(field.name)
    }
    changed["settings"] = canonical({**json.loads(entry.settings), **json.loads(other.settings)})
    changed["thresholds"] = tuple({**dict(entry.thresholds), **dict(other.thresholds)}.items())
    return replace(entry, **changed)


def _default(name: str) -> object:
    return getattr(EvalConfig(id=""), name)


def _manifest(content: bytes, path: str, evals_dir: str) -> tuple[Manifest | None, tuple[Finding, ...]]:
    try:
        root, lines = read_configuring_yaml(content)
    except UnreadableError as error:
        return None, (unreadable("The manifest", error),)
    if root is None:
        return Manifest(), ()
    if not isinstance(root, dict):
        return None, (
            Finding(
                severity="error",
                what=f"The manifest is {found(root)}.",
                fix="Write a mapping with the key evals.",
                line=1,
            ),
        )
    findings = [
        unknown_key((str(key),), ("version", "evals"), lines.get((str(key),)))
        for key in root
        if key not in ("version", "evals")
    ]
    entries = root.get("evals")
    if not isinstance(entries, dict | None):
        what = f"evals is {found(entries)}, a mapping from ids to entries is wanted."
        return None, (
            Finding(
                severity="error",
                what=what,
                fix="Write the id of each eval as a key below evals.",
                line=lines.get(("evals",)),
            ),
        )
    evals = []
    for eval_id, entry in (entries or {}).items():
        read = _entry(str(eval_id), {} if entry is None else entry, lines, evals_dir)
        if isinstance(read, EvalConfig):
            evals.append(read)
            findings += _remarks(read.id, entry or {}, lines)
        else:
            findings.append(read)
    version = root.get("version", "2.0")
    return Manifest(version=str(version), evals=tuple(evals)), tuple(findings)


def _remarks(eval_id: str, entry: Mapping[Any, Any], lines: Mapping[Location, int]) -> Iterator[Finding]:
    """Keys that count as metadata and are probably misspelt, and an id beside the one that counts."""
    for key in map(str, entry):
        line = lines.get(("evals", eval_id, key))
        near = None if key in (*ENTRY_KEYS, "id") else misspelt(key, ENTRY_KEYS)
        if near and near not in entry:
            yield Finding(
                severity="warning",
                what=f"The key 'evals.{eval_id}.{key}' is not known and counts as metadata.",
                fix=f"Write {near!r} if that is meant; otherwise give it a name that is less like it.",
                line=line,
            )
        if key == "id" and str(entry["id"]) != eval_id:
            what = f"The eval {eval_id!r} has the key id, {found(entry['id'])}, which does not count."
            yield Finding(
                severity="warning",
                what=what,
                fix="An eval's id is the key that its entry stands under; remove the other.",
                line=line,
            )


def _entry(eval_id: str, entry: Any, lines: Mapping[Location, int], evals_dir: str) -> EvalConfig | Finding:
    read = _typed_entry(eval_id, entry, lines)
    if isinstance(read, EvalConfig):
        for key, value in _outside(read, evals_dir):
            what = f"evals.{eval_id}.{key} is {found(value)}: {OUTSIDE}."
            line = lines.get(("evals", eval_id, key), lines.get(("evals", eval_id)))
            return Finding(severity="error", what=what, fix=FIX, line=line)
    return read


def _typed_entry(eval_id: str, entry: Any, lines: Mapping[Location, int]) -> EvalConfig | Finding:
    from pydantic import ValidationError

    line = lines.get(("evals", eval_id))
    if not isinstance(entry, dict):
        return Finding(
            severity="error",
            what=f"evals.{eval_id} is {found(entry)}, a mapping is wanted.",
            fix="Write its keys below it.",
            line=line,
        )
    known: dict[str, Any] = {"id": eval_id}
    metadata = []
    for key, value in entry.items():
        if key in ENTRY_KEYS:
            known[key] = value
        elif key != "id":
            metadata.append((str(key), _as_text(value)))
    for key, wanted in (("settings", "a mapping"), ("thresholds", "a mapping from metrics to numbers")):
        value = known.get(key)
        if value is None:
            known.pop(key, None)
        elif isinstance(value, dict):
            known[key] = (
                canonical(value) if key == "settings" else [(str(name), member) for name, member in value.items()]
            )
        else:
            what = f"evals.{eval_id}.{key} is {found(value)}, {wanted} is wanted."
            return Finding(
                severity="error", what=what, fix="Correct the value.", line=lines.get(("evals", eval_id, key), line)
            )
    for key in ("instructions", "aliases", "redact"):
        if isinstance(known.get(key), str):
            known[key] = [known[key]]
        elif known.get(key) is None:
            known.pop(key, None)
    thresholds = tuple(name for name, _ in known.get("thresholds", ()))
    try:
        validated: EvalConfig = _entry_adapter().validate_python({**known, "metadata": metadata})
    except ValidationError as error:
        first = error.errors()[0]
        first["loc"] = _as_written(first["loc"], thresholds)
        return finding_of(
            first,
            lambda location: _first_line(lines, ("evals", eval_id, *location)) or line,
            lambda location: ENTRY_KEYS,
            prefix=f"evals.{eval_id}.",
        )
    return _unknown_kind(validated, lines) or validated


def _unknown_kind(entry: EvalConfig, lines: Mapping[Location, int]) -> Finding | None:
    """What is wrong with a kind that is neither ours nor installed; packages are looked at for the latter only."""
    ours = [files.kind for files in KIND_FILES]
    if entry.kind is None or entry.kind in ours or entry.kind in (installed := names(KINDS)):
        return None
    *known, last = map(repr, (*ours, *installed))
    what = f"evals.{entry.id}.kind is {found(entry.kind)}, {', '.join(known)} or {last} is wanted."
    line = lines.get(("evals", entry.id, "kind"), lines.get(("evals", entry.id)))
    return Finding(
        severity="error", what=what, fix="Correct the value, or install the package that adds the kind.", line=line
    )


def _as_written(location: tuple[Any, ...], thresholds: Sequence[str]) -> tuple[Any, ...]:
    """Where a value stands in the manifest: thresholds are validated as pairs, of which the first was a key there."""
    if location[:1] != ("thresholds",) or len(location) == 1:
        return location
    return ("thresholds", thresholds[location[1]])


def _outside(entry: EvalConfig, evals_dir: str) -> Iterator[tuple[str, str]]:
    """(key, path) of what an entry names outside the project."""
    folder = entry.dir or f"{evals_dir}/{entry.id}"
    stated = [(key, getattr(entry, key), "") for key in ("dir", "mapping", "schema")]
    stated += [(key, getattr(entry, key), folder) for key in ("ground_truth", "outputs")]
    stated += [("aliases", alias, "" if "/" in alias else evals_dir) for alias in entry.aliases]
    for key, path, below in stated:
        if path and leads_out(path, below):
            yield key, path
    for glob in entry.instructions:
        if leads_out(glob.lstrip("/")):  # a slash in front of a glob is the project's root
            yield "instructions", glob


def _entry_adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(EvalConfig)


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return canonical(value) if isinstance(value, dict | list) else "" if value is None else _scalar(value)


def _scalar(value: Any) -> str:
    return json.dumps(value, default=str).strip('"')


def canonical(value: Any) -> str:
    """Canonical JSON: sorted keys, no spaces, every key a text."""
    return json.dumps(_text_keys(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def _text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _text_keys(member) for key, member in value.items()}
    return [_text_keys(item) for item in value] if isinstance(value, list) else value


def _first_line(lines: Mapping[Location, int], location: Location) -> int | None:
    for end in range(len(location), 0, -1):
        if location[:end] in lines:
            return lines[location[:end]]
    return None
