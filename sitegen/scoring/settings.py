"""Reads an eval's ``settings``, an object in which some keys have the same meaning for every kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sitegen.data_files.json_reader import parse_json
from sitegen.data_files.reading import UnreadableError
from sitegen.model.problems import Finding, Parsed
from sitegen.model.values import Value
from sitegen.text.keys import nearest

OWN_METRICS: Final = "own_metrics"
"""The key that names metrics of installed packages."""

_OF_EVERY_KIND: Final = ("ground_truth_format", OWN_METRICS)


def read_keys(settings: str, of_kind: Sequence[str], noun: str = "key") -> Parsed[dict[str, Value]]:
    """The settings, and a finding if they cannot be read, and for each unknown key. Never raises.

    ``of_kind`` are the keys of the kind, besides the keys of every kind. ``noun`` is the word for a key in findings.
    """
    try:
        stated = parse_json(settings or "{}").value
    except UnreadableError as error:
        return Parsed({}, (settings_finding(f"The settings cannot be read: {error.message}", error.fix),))
    if not isinstance(stated, dict):
        return Parsed({}, (settings_finding("The settings are not an object of keys", "Write keys and values."),))
    unknown = (key for key in stated if key not in (*of_kind, *_OF_EVERY_KIND))
    return Parsed(stated, tuple(unknown_key(noun, key, of_kind) for key in unknown))


def unknown_key(noun: str, key: str, possible: Sequence[str]) -> Finding:
    """Return a finding about an unknown key, with the possible key that is probably meant."""
    near = nearest(key, possible)
    fix = f"Write {near!r} instead." if near else f"Use one of: {', '.join(possible)}."
    return settings_finding(f"Unknown {noun} {key[:80]!r}", fix)


def settings_finding(message: str, fix: str) -> Finding:
    """An error in the settings of an eval."""
    return Finding(severity="error", message=message, fix=fix, about="settings")
