"""Words errors of a configuration: the key, its value, what is expected there, and the nearest key that exists."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from sitegen.data_files.reading import UnreadableError
from sitegen.model.problems import Finding
from sitegen.text.keys import key_path, nearest

UNKNOWN: Final = ("unexpected_keyword_argument", "extra_forbidden")
"""pydantic's types of errors for an unknown key."""

Location = tuple[str | int, ...]
"""The keys that lead to a value, outermost first."""


def finding_of(
    error: Any,
    line: Callable[[Location], int | None],
    keys: Callable[[Location], Iterable[str]],
    prefix: str = "",
) -> Finding:
    """An error of pydantic as a finding."""
    location: Location = tuple(error["loc"])
    name = prefix + key_path(location)
    if error["type"] in UNKNOWN:
        return unknown_key((*location[:-1], str(location[-1])), tuple(keys(location)), line(location), prefix)
    if error["type"] == "missing":
        return Finding(
            severity="error", message=f"The key {name!r} is missing.", fix="Write it.", line=line(location[:-1])
        )
    expected = error["msg"].removeprefix("Input should be ").partition(", unable to parse")[0]
    message = f"{name} is {describe(error['input'])}, {expected} is wanted."
    return Finding(severity="error", message=message, fix="Correct the value.", line=line(location))


def unreadable(file: str, error: UnreadableError) -> Finding:
    """The finding for a file, such as ``The manifest``, that cannot be read at all."""
    return Finding(severity="error", message=f"{file} cannot be read: {error.what}.", fix=error.fix, line=error.line)


def unknown_key(location: Location, keys: Iterable[str], line: int | None, prefix: str = "") -> Finding:
    """The finding for a key that is not among *keys*, with the nearest of these."""
    keys = tuple(keys)
    near = nearest(str(location[-1]), keys)
    fix = f"Did you mean {near!r}?" if near else f"Known keys: {', '.join(sorted(keys))}."
    return Finding(
        severity="error", message=f"The key {prefix}{key_path(location)!r} is not known.", fix=fix, line=line
    )


def describe(value: Any) -> str:
    """A value as it stands in a message: its type and its beginning."""
    names = {dict: "a mapping", list: "a list", str: "text", bool: "a truth value", int: "a number", float: "a number"}
    kind = "empty" if value is None else names.get(type(value), type(value).__name__)
    if value is None or isinstance(value, dict | list):
        return kind
    text = repr(value)
    return f"{kind} ({text if len(text) <= 60 else text[:59] + '…'})"
