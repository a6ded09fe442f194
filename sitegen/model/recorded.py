"""Reads what a run recorded about itself: in ``eval-results.json`` or another file beside an output, or in the output.

Recorded numbers are shown beside the computed ones and never used in their place. The time, the commit, the hashes and
the versions show which instructions the output was made with.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from sitegen.model.frozen import Frozen, asdict, field
from sitegen.model.outcomes import LARGEST_NUMBER
from sitegen.model.usage import BESIDE, RunUsage, stated_run

_MAX_BYTES: Final = 50_000_000  # of a record
_MAX_ENTRIES: Final = 1_000  # of one object of a record
_OURS: Final = "sitegen/"  # the prefix of ``schema`` in every file that sitegen writes

WHERE: Final = "where"
"""The key of an eval's settings with the values that a run has to state to belong to the eval."""


class Recorded(Frozen):
    """The recorded metrics and origin of one iteration; None or empty if the file states nothing."""

    metrics: dict[str, float] = field(default_factory=dict)
    """Every finite number below ``metrics``, in the order of the file; then the numbers of ``errors_by_type``, in or
    beside ``metrics``, as ``errors_by_type.omission``."""
    timestamp: str | None = None
    """As written, ISO 8601 by convention; not checked."""
    git_commit: str | None = None
    """Full or abbreviated object id, as written, in lower case."""
    instruction_hashes: tuple[tuple[str, str], ...] = ()
    """(path, hash of the file's bytes in hex), by path; the path is empty where the record states only a hash."""
    prompt_version: tuple[str, str] | None = None
    """(path, version as the file of the prompt states it); the path is empty where the record states only a version."""
    usage: RunUsage | None = None
    """The usage of the run, and its model; None if the file states neither."""
    grades: tuple[str, ...] = ()
    """Named scores that are neither right nor wrong in some case of the output, so that all of them are grades."""

    @classmethod
    def together(cls, records: Sequence["Recorded"]) -> "Recorded":
        """Return what several records of a run state together; of each metric, and of each other value, the first."""
        stated: dict[str, Any] = {}
        usage: dict[str, Any] = {}
        metrics: dict[str, float] = {}
        for each in records:
            stated = {name: value for name, value in asdict(each).items() if value} | stated
            usage = {name: value for name, value in asdict(each.usage or RunUsage()).items() if value} | usage
            metrics |= {name: number for name, number in each.metrics.items() if name not in metrics}
        return cls(**{**stated, "metrics": metrics, "usage": RunUsage(**usage) if usage else None})


def read_recorded(content: bytes) -> Recorded | None:
    """Read a results file; None if it is neither a JSON object nor a list, which states nothing. Never raises.

    ``timestamp``, ``git_commit``, ``instruction_hashes``, ``prompt_hash``, ``prompt_version`` and usage are looked up
    below ``metadata`` and, if they are not there, at the top level.
    """
    root = _json_object(content)
    if root is None:
        return None
    metadata = root.get("metadata")
    both: dict[str, Any] = {**root, **(metadata if isinstance(metadata, dict) else {})}
    origin, metrics = origin_in(both), root.get("metrics")
    inside = metrics.get("errors_by_type") if isinstance(metrics, dict) else None
    errors = _finite_numbers(inside or root.get("errors_by_type"))
    return Recorded(
        metrics=_finite_numbers(metrics) | {f"errors_by_type.{name}": count for name, count in errors.items()},
        timestamp=_short_text(both.get("timestamp")),
        git_commit=origin.git_commit,
        instruction_hashes=origin.instruction_hashes,
        prompt_version=origin.prompt_version,
        usage=stated_run(metadata, root, _usage_of_own_results(root), *map(root.get, BESIDE)),
    )


def _usage_of_own_results(root: dict[str, Any]) -> dict[str, Any]:
    """Return the usage in results that sitegen wrote, perhaps in place of the record that stated it."""
    schema, usage = root.get("schema"), root.get("usage")
    if not isinstance(schema, str) or not schema.startswith(_OURS) or not isinstance(usage, dict):
        return {}
    models = usage.get("models")
    return {**usage, "model": models[0]} if isinstance(models, list) and len(models) == 1 else usage


ORIGIN_KEYS: Final = ("git_commit", "instruction_hashes", "prompt_hash", "prompt_version")
"""Keys that have no other meaning, so that they count anywhere in an output."""


def origin_in(stated: dict[str, Any]) -> Recorded:
    """Return only what an object states about the instructions of a run. ``prompt_path`` names the file."""
    commit, path = _short_text(stated.get("git_commit")), _short_text(stated.get("prompt_path")) or ""
    named = path.removeprefix("./")
    version = stated.get("prompt_version")
    is_number = isinstance(version, int | float) and not isinstance(version, bool)
    as_text = str(version) if is_number else _short_text(version)
    return Recorded(
        git_commit=commit.lower() if commit else None,
        instruction_hashes=_hashes_by_path(stated.get("instruction_hashes"))
        or _hashes_by_path({named: stated.get("prompt_hash")}),
        prompt_version=(named, as_text) if as_text else None,
    )


def states(content: bytes, where: dict[str, str]) -> bool:
    """Whether a JSON file has all of these values at its top level, as text. Never raises.

    ``prompt_path`` is also stated by a list ``prompt_paths`` that holds it.
    """
    root = _json_object(content)
    if root is None:
        return False
    lists = ((value, root.get(f"{key}s")) for key, value in where.items() if key not in root)
    return all(str(root[key]) == value for key, value in where.items() if key in root) and all(
        isinstance(listed, list) and value in listed for value, listed in lists
    )


def _json_object(content: bytes) -> dict[str, Any] | None:
    if len(content) > _MAX_BYTES:
        return None
    try:
        root = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return root if isinstance(root, dict) else {} if isinstance(root, list) else None


def _finite_numbers(value: Any) -> dict[str, float]:
    members = [*value.items()][:_MAX_ENTRIES] if isinstance(value, dict) else []
    numbers = ((name, number) for name, number in members if type(number) in (int, float))
    return {name: float(number) for name, number in numbers if abs(number) <= LARGEST_NUMBER}


def _short_text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) and len(value) <= 200 else None


def _hashes_by_path(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        return ()
    pairs = sorted((path, digest) for path, digest in value.items() if isinstance(digest, str))
    return tuple((path, digest.strip().lower()) for path, digest in pairs[:_MAX_ENTRIES])


GRADES: Final = "grades"
"""The key of an eval's settings with the named scores that are grades, and neither right nor wrong."""
