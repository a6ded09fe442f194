"""Interprets the manifest's entry of an eval: how it is scored, its kind, and which files are its outputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from posixpath import normpath
from typing import Any, Final

from sitegen.config.models import GROUND_TRUTHS, KIND_FILES, EvalConfig, Kind, files_of
from sitegen.history.globs import RunGlob, run_glob
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import traits_of
from sitegen.model.recorded import WHERE

DEFAULT_SETTINGS: Final = '{"ground_truth_format":"auto"}'


class EntryRules(Frozen):
    """The rules by which a manifest scores an eval, which can differ from commit to commit."""

    ground_truth: str | None = None
    """Path relative to the eval's folder."""
    mapping: str | None = None
    schema: str | None = None
    settings: str = DEFAULT_SETTINGS
    borrowed: bool = False
    """Whether the rules are those of the built revision, because the commit's manifest does not name the eval."""

    @classmethod
    def of(cls, entry: EvalConfig) -> EntryRules:
        """Return the rules of a manifest's entry."""
        settings = json.loads(entry.settings)
        settings["ground_truth_format"] = "cases" if entry.in_cases else entry.ground_truth_format
        return cls(
            normal(entry.ground_truth) if entry.ground_truth else None,
            normal(entry.mapping) if entry.mapping else None,
            normal(entry.schema) if entry.schema else None,
            canonical_settings(settings),
        )


def canonical_settings(settings: Mapping[str, Any]) -> str:
    """Return settings as JSON that is the same for equal settings."""
    return json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def required_statements(entry: EvalConfig) -> dict[str, str]:
    """Return the values that a run must state to belong to a recorded eval; empty if all files of ``outputs`` do."""
    where = json.loads(entry.settings).get(WHERE) if traits_of(entry.kind).is_recorded else None
    return {key: str(value) for key, value in where.items()} if isinstance(where, dict) else {}


def kind_of(entry: EvalConfig, ground_truth: str | None) -> Kind:
    """Return the kind that the manifest states, otherwise the kind implied by the name of the ground truth."""
    if entry.kind:
        return entry.kind
    name = ground_truth.rpartition("/")[2] if ground_truth else ""
    return next((files.kind for files in KIND_FILES if name in files.ground_truths), "fields")


def truth_names(kind: Kind | None, stated: str | None) -> tuple[str, ...]:
    """Return the names that a ground truth can have: the stated one, otherwise those of the kind by convention.

    A kind that needs no ground truth has only stated test cases, whose expected texts are shown.
    """
    conventional = files_of(kind).ground_truths if kind else GROUND_TRUTHS
    if stated is None:
        return conventional
    return (stated,) if conventional or stated.endswith(files_of("responses").ground_truths) else ()


def is_path(outputs: str) -> bool:
    """Whether a manifest's ``outputs`` names one file, which is overwritten from commit to commit."""
    return outputs not in ("auto", "iterations") and not is_glob(outputs)


def is_glob(outputs: str) -> bool:
    """Whether a manifest's ``outputs`` names runs by a glob."""
    return any(special in outputs for special in "*?[")


def runs_of(entry: EvalConfig) -> RunGlob | None:
    """Return the glob of an eval's runs; None if ``outputs`` is not a glob."""
    return run_glob(normal(entry.outputs)) if is_glob(entry.outputs) else None


def normal(path: str) -> str:
    """Return a path as git writes it: without ``./``, ``..`` or slashes at its ends."""
    return normpath(path.strip("/"))
