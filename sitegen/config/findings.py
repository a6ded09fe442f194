"""Formulates errors of a configuration: the key, its value, the expected value, and the nearest existing key.

The same for its paths, none of which may lead out of the project, and for an eval's ``settings``, an object in which
some keys have the same meaning for every kind.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from posixpath import normpath
from typing import Any, Final

from sitegen.config.models import ConfigTable, EvalConfig
from sitegen.data_files.reading import Location, UnreadableError, parse_json
from sitegen.errors import ConfigurationError
from sitegen.model.frozen import replace
from sitegen.model.outcomes import Unusable, Value
from sitegen.model.problems import Finding, Parsed, Problem
from sitegen.text.keys import key_path, keys_at, nearest

UNKNOWN: Final = ("unexpected_keyword_argument", "extra_forbidden")
"""pydantic's types of errors for an unknown key."""

_WANTED: Final = {
    "dict": "a mapping",
    "dataclass": "a mapping",
    "float": "a number",
    "decimal": "a number",
    "int": "a whole number",
    "bool": "true or false",
    "string": "text",
    "tuple": "a list",
}
"""What is wanted, by the first word of pydantic's type of error."""

_OF_EITHER_SIGN: Final = frozenset({"floor", "thresholds", "null_values"})
"""Keys of numbers that may be negative, or that have such numbers below them. All others count or measure something."""


def error_of(problem: Problem) -> ConfigurationError:
    """Return a problem of a configuration as an error of a command."""
    where = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
    return ConfigurationError(problem.message, where=where, fix=problem.fix)


def finding_of(error: Any, line: int | None, table: type[ConfigTable], prefix: str = "") -> Finding:
    """Return an error of pydantic, which read a file into ``table``, as a finding."""
    location: Location = tuple(error["loc"])
    name = prefix + key_path(location)
    if error["type"] in UNKNOWN:
        return unknown_key((*location[:-1], str(location[-1])), keys_at(table, location) or (), line, prefix)
    if error["type"] == "missing":
        return Finding("error", f"The key {name!r} is missing.", "Write it.", line=line)
    expected = _WANTED.get(error["type"].partition("_")[0]) or error["msg"].removeprefix("Input should be ")
    message = f"{name} is {describe(error['input'])}, {expected} is wanted."
    return Finding("error", message, "Correct the value.", line=line)


@cache
def adapter_of(table: Any) -> Any:
    """Return pydantic's ``TypeAdapter`` of a table. Nothing else imports pydantic, which takes time."""
    from pydantic import TypeAdapter

    return TypeAdapter(table)


def valid_part(table: Any, data: Any) -> tuple[dict[str, Any], list[tuple[Location, Any]]]:
    """Return the part of ``data`` that fits a table, and each misfit: where it was removed, and the error of pydantic.

    The ``loc`` of the error is the place, or the key that is missing there. Nothing fits if the root does not.
    """
    from pydantic import ValidationError

    valid: dict[str, Any] = _unshared_copy(data)
    found: list[tuple[Location, Any]] = []
    while True:  # removing values may reveal errors that pydantic did not reach before
        try:
            complaints = list(_wrong_numbers(valid, adapter_of(table).validate_python(valid), ()))
        except ValidationError as error:
            complaints = error.errors(include_url=False, include_context=False)
        misfits: dict[Location, Any] = {}
        for complaint in complaints:
            location = _deepest_location(valid, complaint["loc"])
            place = complaint["loc"] if complaint["type"] == "missing" else location
            misfits.setdefault(location, {**complaint, "loc": place})
        if () in misfits:
            return {}, found
        if not misfits:
            return valid, found
        found += misfits.items()
        # The last item of a list first.
        for location in sorted(misfits, key=lambda steps: [isinstance(at, int) and at for at in steps], reverse=True):
            remove(valid, location)


def _wrong_numbers(written: Any, read: Any, place: Location) -> Iterator[Any]:
    """Yield an error, as pydantic's, for each truth value that it read as 0 or 1, and each wrong negative number."""
    if isinstance(written, dict | list):
        members: Any = vars(read) if isinstance(read, ConfigTable) else read
        for key, member in written.items() if isinstance(written, dict) else enumerate(written):
            yield from _wrong_numbers(member, members[key], (*place, key))
    elif isinstance(written, bool) and not isinstance(read, bool):
        yield {"type": "float", "loc": place, "input": written}
    elif isinstance(read, int | float | Decimal) and read < 0 and _OF_EITHER_SIGN.isdisjoint(place):
        yield {"type": "negative", "msg": "a number that is not negative", "loc": place, "input": written}


def _unshared_copy(data: Any) -> Any:
    """Return a copy in which YAML aliases share no object, so that a value can be removed in one place only."""
    if isinstance(data, dict):
        return {key: _unshared_copy(value) for key, value in data.items()}
    return [_unshared_copy(value) for value in data] if isinstance(data, list) else data


def _deepest_location(data: Any, location: tuple[Any, ...]) -> Location:
    """Return the location without steps that are not in the data: pydantic adds steps for the types of a union."""
    for depth, step in enumerate(location):
        if not (isinstance(data, dict) and step in data) and not (
            isinstance(data, list) and isinstance(step, int) and step < len(data)
        ):
            return location[:depth]
        data = data[step]
    return location


def remove(data: Any, location: Location) -> None:
    """Remove the value at a location."""
    for step in location[:-1]:
        data = data[step]
    if isinstance(data, list):
        del data[location[-1]]  # type: ignore[arg-type]
    else:
        data.pop(location[-1], None)


def unreadable(file: str, error: UnreadableError) -> Finding:
    """Return the finding for a file, such as ``The manifest``, that cannot be read at all."""
    return Finding("error", f"{file} cannot be read: {error.message}.", error.fix, line=error.line)


def unknown_key(location: Location, keys: Sequence[str], line: int | None, prefix: str = "") -> Finding:
    """Return the finding for a key that is not among ``keys``, with the nearest of these."""
    near = nearest(str(location[-1]), keys)
    fix = f"Did you mean {near!r}?" if near else f"Known keys: {', '.join(sorted(keys))}."
    return Finding("error", f"The key {prefix}{key_path(location)!r} is not known.", fix, line=line)


def describe(value: Any) -> str:
    """Describe a value in a message, by its type and its beginning."""
    names = {dict: "a mapping", list: "a list", str: "text", bool: "a truth value", int: "a number", float: "a number"}
    value = float(value) if isinstance(value, Decimal) else value
    if isinstance(value, Unusable):
        return f"{value.reason} ({value.literal[:60]})"
    kind = "empty" if value is None else names.get(type(value), type(value).__name__)
    if value is None or isinstance(value, dict | list):
        return kind
    text = repr(value)
    return f"{kind} ({text if len(text) <= 60 else text[:59] + '…'})"


OUTSIDE: Final = "it leads out of the project"
FIX: Final = "Write a path inside the project, relative to what the key is relative to."


def leads_out(path: str, below: str = "") -> bool:
    """Whether a path is absolute, or leads out of the project from the folder ``below``, which is relative to it.

    ``{dir}`` may stand for the project itself. A path with a null character, which no system can open, leads nowhere
    inside either.
    """
    inside = normpath("/".join(part for part in (below, path.replace("{dir}", ".")) if part))
    return "\0" in inside or path.startswith("/") or inside == ".." or inside.startswith("../")


def home_of(entry: EvalConfig, evals_dir: str) -> str:
    """Return the folder of an eval, relative to the root: the folder in its entry, otherwise the folder of its id."""
    return folder_path(entry.dir or f"{evals_dir}/{entry.id}")


def folder_path(path: str) -> str:
    """Return a folder of a configuration relative to the root; empty for the root."""
    folder = normpath(path.strip("/"))
    return "" if folder == "." else folder


OWN_METRICS: Final = "own_metrics"
"""The key that names metrics of installed packages."""

ANSWERED_IN: Final = "answered_in"
"""The key with the end of the paths of outputs, as a glob, if it says where they name who answered. No user writes it:
it follows from ``outputs``, and from the folder of the eval."""
_OF_EVERY_KIND: Final = ("ground_truth_format", OWN_METRICS, ANSWERED_IN)


def read_keys(settings: str, of_kind: Sequence[str]) -> Parsed[dict[str, Value]]:
    """Return the settings, and a finding if they cannot be read, and for each unknown key. Never raises.

    ``of_kind``: the keys of the kind, besides the keys of every kind.
    """
    try:
        stated = parse_json(settings or "{}").value
    except UnreadableError as error:
        return Parsed({}, (settings_finding(f"The settings cannot be read: {error.message}", error.fix),))
    if not isinstance(stated, dict):
        return Parsed({}, (settings_finding("The settings are not an object of keys", "Write keys and values."),))
    unknown = (key for key in stated if key not in (*of_kind, *_OF_EVERY_KIND))
    return Parsed(stated, tuple(unknown_setting("key", key, of_kind) for key in unknown))


def unknown_setting(noun: str, key: str, possible: Sequence[str]) -> Finding:
    """Return a finding about an unknown key, with the possible key that is probably meant."""
    near = nearest(key, possible)
    fix = f"Write {near!r} instead." if near else f"Remove it, or use one of: {', '.join(possible)}."
    return replace(settings_finding(f"Unknown {noun} {key[:80]!r}", fix, key), type="unknown_key")


def settings_finding(message: str, fix: str, key: str = "") -> Finding:
    """Return an error in the settings of an eval. ``key``: the path of the wrong key, by which its line is found."""
    return Finding(severity="error", message=message, fix=fix, about="settings", path=key)
