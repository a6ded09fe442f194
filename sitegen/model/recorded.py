"""What a run wrote down about itself: in ``eval-results.json`` or another record beside an output, or in the output.

Recorded numbers are shown beside the computed ones and never used in their place. The time, the commit, the hashes and
the versions say which instructions made the output.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final, NamedTuple, TypedDict

from sitegen.model.usage import RunUsage, stated

_MAX_BYTES: Final = 50_000_000
_MAX_ENTRIES: Final = 1_000
_OURS: Final = "sitegen/"
"""How the name of the form begins in every file that sitegen writes."""

WHERE: Final = "where"
"""The key of an eval's settings that says what a run has to state to be one of this eval."""


class Recorded(NamedTuple):
    """The recorded metrics and origin of one iteration; whatever the file does not say is None or empty."""

    metrics: tuple[tuple[str, float], ...]
    """(name, value) of every finite number below ``metrics``, in the order of the file; then those of
    ``errors_by_type``, there or beside ``metrics``, as ``errors_by_type.omission``."""
    iteration: int | None
    timestamp: str | None
    """As written, ISO 8601 by convention; not checked."""
    git_commit: str | None
    """Full or abbreviated object id, as written, in lower case."""
    instruction_hashes: tuple[tuple[str, str], ...]
    """(path, hash in hex of the file's bytes), by path; the path is empty where the record states only a hash."""
    prompt_versions: tuple[tuple[str, str], ...] = ()
    """(path, version as the file states it), likewise."""
    usage: RunUsage | None = None
    """What the run took, and which model it asked; None if the file says nothing of that."""


def read_recorded(content: bytes) -> Recorded | None:
    """Read a results file; None if it is no JSON object. Never raises.

    ``iteration``, ``timestamp``, ``git_commit``, ``instruction_hashes``, ``prompt_hash``, ``prompt_version`` and what
    the run took are looked for below ``metadata`` and, where it does not have them, at the top level.
    """
    root = _object(content)
    if root is None:
        return None
    metadata = root.get("metadata")
    both: dict[str, Any] = {**root, **(metadata if isinstance(metadata, dict) else {})}
    return Recorded(
        metrics=_metrics(root.get("metrics")) + _errors(root),
        iteration=_iteration(both.get("iteration")),
        timestamp=_text(both.get("timestamp")),
        **origin_in(both),
        usage=stated(metadata, root, _of_results(root)).of_run,
    )


def _of_results(root: dict[str, Any]) -> dict[str, Any]:
    """What results that sitegen saved say of the output: saving them must lose nothing that stood in their place."""
    schema, usage = root.get("schema"), root.get("usage")
    if not isinstance(schema, str) or not schema.startswith(_OURS) or not isinstance(usage, dict):
        return {}
    models = usage.get("models")
    return {**usage, "model": models[0]} if isinstance(models, list) and len(models) == 1 else usage


class RecordedOrigin(TypedDict):
    """The parts of a ``Recorded`` that name instructions."""

    git_commit: str | None
    instruction_hashes: tuple[tuple[str, str], ...]
    prompt_versions: tuple[tuple[str, str], ...]


ORIGIN_KEYS: Final = ("git_commit", "instruction_hashes", "prompt_hash", "prompt_version")
"""Keys that mean nothing but this, so that they count wherever an output has them."""


def origin_in(stated: dict[str, Any]) -> RecordedOrigin:
    """What an object states of the instructions that a run was made with. ``prompt_path`` names the file."""
    commit, path = _text(stated.get("git_commit")), _text(stated.get("prompt_path")) or ""
    named = path.removeprefix("./")
    version = stated.get("prompt_version")
    as_text = str(version) if isinstance(version, int | float) and not isinstance(version, bool) else _text(version)
    return RecordedOrigin(
        git_commit=commit.lower() if commit else None,
        instruction_hashes=_hashes(stated.get("instruction_hashes")) or _hashes({named: stated.get("prompt_hash")}),
        prompt_versions=((named, as_text),) if as_text else (),
    )


def states(content: bytes, where: dict[str, str]) -> bool:
    """Whether a file of JSON states all that is wanted, at its top level, in so many words. Never raises.

    ``prompt_path`` is also stated by a list ``prompt_paths`` that holds it.
    """
    root = _object(content)
    if root is None:
        return False
    lists = ((value, root.get(f"{key}s")) for key, value in where.items() if key not in root)
    return all(str(root[key]) == value for key, value in where.items() if key in root) and all(
        isinstance(listed, list) and value in listed for value, listed in lists
    )


def _object(content: bytes) -> dict[str, Any] | None:
    if len(content) > _MAX_BYTES:
        return None
    try:
        root = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return root if isinstance(root, dict) else None


def _metrics(value: Any) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, dict):
        return ()
    numbers = []
    for name, number in list(value.items())[:_MAX_ENTRIES]:
        if isinstance(number, bool) or not isinstance(number, int | float):
            continue
        try:
            as_float = float(number)
        except OverflowError:
            continue
        if math.isfinite(as_float):
            numbers.append((name, as_float))
    return tuple(numbers)


def _errors(root: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    metrics = root.get("metrics")
    inside = metrics.get("errors_by_type") if isinstance(metrics, dict) else None
    return tuple((f"errors_by_type.{name}", count) for name, count in _metrics(inside or root.get("errors_by_type")))


def _iteration(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else None


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) and len(value) <= 200 else None


def _hashes(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        return ()
    pairs = sorted((path, digest) for path, digest in value.items() if isinstance(digest, str))
    return tuple((path, digest.strip().lower()) for path, digest in pairs[:_MAX_ENTRIES])
