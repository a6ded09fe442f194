"""Reading an eval's ``settings``: an object of keys, of which some mean the same for every kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sitegen.data_files.json_reader import parse_json
from sitegen.data_files.reading import UnreadableError
from sitegen.model.problems import Finding
from sitegen.model.values import Value
from sitegen.text.keys import nearest

OWN_METRICS: Final = "own_metrics"
"""Names metrics of installed packages."""

_OF_EVERY_KIND: Final = ("ground_truth_format", OWN_METRICS)


def read_keys(settings: str, known: Sequence[str], what: str = "key") -> tuple[dict[str, Value], list[Finding]]:
    """The keys of the canonical JSON of settings; a finding if it cannot be read, and for each key of no meaning.

    ``known``: the keys that have a meaning for the kind, besides those of every kind. ``what``: what findings call one.
    Never raises.
    """
    try:
        stated = parse_json(settings or "{}").value
    except UnreadableError as error:
        return {}, [settings_finding(f"The settings cannot be read: {error.what}", error.fix)]
    if not isinstance(stated, dict):
        return {}, [settings_finding("The settings are no object of keys", "Write keys and values.")]
    return stated, [unknown_key(what, key, known) for key in stated if key not in (*known, *_OF_EVERY_KIND)]


def unknown_key(what: str, key: str, known: Sequence[str]) -> Finding:
    """A key that is none of the known ones, with the one that is probably meant."""
    near = nearest(key, known)
    fix = f"Write {near!r} instead." if near else f"Use one of: {', '.join(known)}."
    return settings_finding(f"Unknown {what} {key[:80]!r}", fix)


def settings_finding(what: str, fix: str) -> Finding:
    """Something that is wrong in the settings of an eval."""
    return Finding(severity="error", what=what, fix=fix, line=None, about="settings")
