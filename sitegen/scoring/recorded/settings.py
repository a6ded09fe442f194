"""Reads the ``settings`` of an eval of kind ``recorded``: which numbers to follow, and which direction is better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from sitegen.frozen import Frozen
from sitegen.model.problems import Parsed
from sitegen.model.recorded import WHERE
from sitegen.model.values import Value
from sitegen.scoring.settings import read_keys, settings_finding

_LISTS: Final = ("metrics", "lower_is_better", "higher_is_better")
KEYS: Final = (*_LISTS, "headline", WHERE)


class RecordedSettings(Frozen):
    """Which numbers of a file are followed, and how. In globs, ``*`` also matches dots."""

    metrics: tuple[str, ...] = ()
    """Globs, in the order in which their numbers are listed. Empty for every number that measures something."""
    headline: str | None = None
    """A name, or a glob whose first match is the headline."""
    lower_is_better: tuple[str, ...] = ()
    higher_is_better: tuple[str, ...] = ()
    where: Mapping[str, str] = MappingProxyType({})
    """Keys and values that a file has to state to be a run of this eval."""

    def stated_direction(self, name: str) -> bool | None:
        """Whether higher is better. None if the settings do not state it."""
        if matches_a_glob(name, self.lower_is_better):
            return False
        return True if matches_a_glob(name, self.higher_is_better) else None


def matches_a_glob(name: str, globs: Iterable[str]) -> bool:
    """Whether any glob matches the whole name of a number, or the part after its last dot."""
    last = name.rpartition(".")[2]
    return any(fnmatchcase(name, glob) or fnmatchcase(last, glob) for glob in globs)


@lru_cache(maxsize=64)
def read_recorded_settings(settings: str) -> Parsed[RecordedSettings]:
    """Read the canonical JSON of the settings. Whatever is invalid is left out and reported. Never raises."""
    stated, unknown = read_keys(settings, KEYS)
    findings = [*unknown]
    lists = {}
    for key in _LISTS:
        names = _listed_names(stated.get(key))
        if names is None:
            findings.append(
                settings_finding(f"{key!r} is no list of names", 'Write a list such as ["*.f1", "accuracy"].')
            )
        lists[key] = names or ()
    headline = stated.get("headline")
    if not isinstance(headline, str | None):
        findings.append(settings_finding("'headline' is no name", 'Write the name of one number, such as "retail.f1".'))
        headline = None
    where = stated.get(WHERE)
    if not isinstance(where, dict | None):
        findings.append(settings_finding(f"{WHERE!r} is no object of keys", "Write keys of the file and their values."))
        where = None
    run = {key: str(value) for key, value in (where or {}).items()}
    return Parsed(RecordedSettings(headline=headline, where=run, **lists), tuple(findings))


def _listed_names(value: Value) -> tuple[str, ...] | None:
    values = [] if value is None else value if isinstance(value, list) else [value]
    names = tuple(name for name in values if isinstance(name, str))
    return names if len(names) == len(values) else None
