"""What an eval's ``settings`` say of recorded numbers: which of them, which first, and which way they are better."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, NamedTuple

from sitegen.model.problems import Finding
from sitegen.model.recorded import WHERE
from sitegen.model.values import Value
from sitegen.scoring.settings import read_keys, settings_finding

_LISTS: Final = ("metrics", "lower_is_better", "higher_is_better")
KEYS: Final = (*_LISTS, "headline", WHERE)


class RecordedSettings(NamedTuple):
    """What is wanted of the numbers of a file. Globs are over whole names; ``*`` stands for dots as well."""

    metrics: tuple[str, ...] = ()
    """Globs, in the order in which the numbers are wanted; empty: all that measure anything."""
    headline: str | None = None
    """Name, or glob of which the first number counts."""
    lower_is_better: tuple[str, ...] = ()
    higher_is_better: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()
    """What a file has to state to be a run of this eval."""

    def stated_direction(self, name: str) -> bool | None:
        """Whether higher is better, if the settings say so."""
        if matches_a_glob(name, self.lower_is_better):
            return False
        return True if matches_a_glob(name, self.higher_is_better) else None


def matches_a_glob(name: str, globs: Iterable[str]) -> bool:
    """Whether any glob names a number: by its whole name, or by the part after the last dot."""
    last = name.rpartition(".")[2]
    return any(fnmatchcase(name, glob) or fnmatchcase(last, glob) for glob in globs)


@lru_cache(maxsize=64)
def read_recorded_settings(settings: str) -> tuple[RecordedSettings, tuple[Finding, ...]]:
    """Read the canonical JSON of the settings. What does not fit is a finding and left out. Never raises."""
    stated, findings = read_keys(settings, KEYS)
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
    pairs = tuple((key, str(value)) for key, value in (where or {}).items())
    return RecordedSettings(headline=headline, where=pairs, **lists), tuple(findings)


def _listed_names(value: Value) -> tuple[str, ...] | None:
    values = [] if value is None else value if isinstance(value, list) else [value]
    names = tuple(name for name in values if isinstance(name, str))
    return names if len(names) == len(values) else None
