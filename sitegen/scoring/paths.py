"""Field paths and patterns (rule 19), and the places of values with the names of their list items.

``a.0.b`` and ``a[0].b`` are the same path, which pages write as ``a[0].b``; ``["a.b"]`` is a key with a dot.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Judgement, Outcome, Value

PathStep: TypeAlias = str | int
"""A key, or an index of a list."""

ANY: Final = "*"
"""In a pattern, a step of any name. No pattern can match only a key that is called ``*``."""

_MAX_KEY: Final = 200  # characters
_PLAIN: Final = re.compile(r'[^.\[\]"*\\\x00-\x1f\x7f\u0085\u2028\u2029]+')
_WHOLE: Final = re.compile(r"-?\d+")
_TOKEN: Final = re.compile(r'\.?\[(?P<index>-?\d+|\*?)\]|\.?\["(?P<quoted>(?:[^"\\]|\\.)*)"\]|\.?(?P<plain>[^.\[\]]+)')


class PathError(ValueError):
    """The text is not a field path."""


@lru_cache(maxsize=4_096)
def parse_path(text: str) -> tuple[PathStep, ...]:
    """Return the steps of a path or pattern; ``[*]`` and ``[]`` become ``ANY``. Raises PathError."""
    steps: list[PathStep] = []
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None or (position == 0 and text[0] == "."):
            raise PathError(f"{text[:80]!r} is not a field path")
        index, quoted, plain = token.group("index", "quoted", "plain")
        if index is not None:
            steps.append(int(index) if index not in ("", "*") else ANY)
        elif quoted is not None:
            try:
                steps.append(str(json.loads(f'"{quoted}"')))
            except ValueError as error:
                raise PathError(f"the quoted key {quoted[:80]!r} cannot be read") from error
        elif steps and text[position] != ".":
            raise PathError(f"{text[:80]!r} is not a field path: a dot is missing")
        else:
            steps.append(int(plain) if _WHOLE.fullmatch(plain) and len(plain) < 10 else plain.strip())
        position = token.end()
    if not steps:
        raise PathError("an empty field path")
    return tuple(steps)


@lru_cache(maxsize=16_384)
def with_key(path: str, key: str) -> str:
    """Return the path of a key below ``path``."""
    if _PLAIN.fullmatch(key) and not _WHOLE.fullmatch(key) and key == key.strip() and len(key) <= _MAX_KEY:
        return f"{path}.{key}" if path else key
    if len(key) > _MAX_KEY:
        key = key[:_MAX_KEY] + "\u2026"
    return f"{path}[{json.dumps(key, ensure_ascii=not all(map(_may_be_printed, key)))}]"


def _may_be_printed(character: str) -> bool:
    """Whether a character is printable, or unassigned: a later Python may print it, and must write the same path."""
    return character.isprintable() or (
        unicodedata.category(character) == "Cn"
        and ord(character) & 0xFFFE != 0xFFFE  # the last two code points of each plane are never assigned
    )


def path_text(steps: Sequence[PathStep]) -> str:
    """Return a path as pages write it."""
    path = ""
    for step in steps:
        path = f"{path}[{step}]" if isinstance(step, int) or step == ANY else with_key(path, step)
    return path


def follow(value: object, steps: Sequence[PathStep]) -> object:
    """Return the value at a path; None if there is none, for example below null or a scalar, or at a negative index."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step if isinstance(step, str) else str(step))
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def project(item: dict[str, Value], fields: tuple[tuple[str, ...], ...]) -> dict[str, Value]:
    """Return the item with only the named fields (``price`` or ``price.net``); the whole item if none is named."""
    if not fields:
        return item
    projected: dict[str, Value] = {}
    for *above, last in fields:
        holder = follow(item, above) if above else item
        if isinstance(holder, dict) and last in holder:
            below: object = projected
            for key in above:
                assert isinstance(below, dict)
                below = below.setdefault(key, {})
            if isinstance(below, dict):
                below[last] = holder[last]
    return projected


class Pattern(Frozen):
    """A compiled pattern: ``*`` and ``[*]`` match one step, a trailing ``.*`` one or more."""

    steps: tuple[PathStep, ...]
    open_end: bool
    """Whether the last step is ``.*``, which matches one or more steps."""

    @property
    def indexed(self) -> bool:
        """Whether the pattern has an index, so that it treats one item of a list differently."""
        return any(isinstance(step, int) for step in self.steps)

    @property
    def weight(self) -> tuple[int, int]:
        """The specificity of the pattern: the number of named steps, then of their characters."""
        named = [str(step) for step in self.steps if step != ANY]
        return len(named), sum(map(len, named))

    def matches(self, path: Sequence[PathStep]) -> bool:
        """Whether the pattern matches the whole path."""
        if len(path) != len(self.steps) and not (self.open_end and len(path) > len(self.steps)):
            return False
        return all(map(_step_fits, self.steps, path))

    def matches_end(self, path: Sequence[PathStep]) -> bool:
        """Whether the pattern matches the end of the path; its first step may match the end of a name after ``_``.

        ``ceiling_area`` matches ``zones[0].cathedral_ceiling_area``; ``area`` does not match ``subarea``.
        """
        if self.open_end or len(path) < len(self.steps):
            return False
        tail = path[len(path) - len(self.steps) :]
        first, step = self.steps[0], tail[0]
        is_suffix = isinstance(first, str) and isinstance(step, str) and step.endswith("_" + first)
        return (is_suffix or _step_fits(first, step)) and all(map(_step_fits, self.steps[1:], tail[1:]))


def pattern(text: str) -> Pattern:
    """Compile a pattern. Raises PathError."""
    return Pattern(parse_path(text), open_end=text.endswith(".*"))


def _step_fits(stated: PathStep, step: PathStep) -> bool:
    return stated in (ANY, step) or str(stated) == str(step)


KEYS: Final = (("description",), ("name",), ("id",))
"""The fields by which items are matched and named if no match fields are configured."""

_MAX_NAME_PART: Final = 80  # the most characters of each value in a name


class ValuePlace(NamedTuple):
    """The place of a value: its path, its attribute, and its path with names of items."""

    path: str
    """``walls[0].area``."""
    attribute: str
    """``walls[].area``."""
    named_path: str
    """``walls[E Wall].area``; empty if no item has a name."""

    def member(self, key: str) -> ValuePlace:
        """Return the place of the value at a key of this object."""
        named = self.named_path and with_key(self.named_path, key)
        return ValuePlace(with_key(self.path, key), with_key(self.attribute, key), named)

    def item(self, index: int, name: str) -> ValuePlace:
        """Return the place of an item of this list; ``name``: that of ``item_names``."""
        named = f"{self.named_path or self.path}[{name or index}]" if name or self.named_path else ""
        return ValuePlace(f"{self.path}[{index}]", f"{self.attribute}[]", named)

    def judgement(self, document: str, outcome: Outcome, expected: Value, actual: Value, note: str = "") -> Judgement:
        """Return the judgement of the value here."""
        path, attribute, named_path = self
        return Judgement(
            document=document,
            path=path,
            attribute=attribute,
            outcome=outcome,
            expected=expected,
            actual=actual,
            note=note,
            named_path=named_path,
        )


ListItem: TypeAlias = tuple[int, dict[str, Value]]
"""An object of a list, after its index there."""


def objects_of(items: Sequence[Value]) -> list[ListItem]:
    """Return the items of a list that are objects."""
    return [(index, item) for index, item in enumerate(items) if isinstance(item, dict)]


DOCUMENT: Final = ValuePlace("", "", "")


def item_name(item: dict[str, Value], match_fields: tuple[tuple[str, ...], ...]) -> str:
    """Return an item's match fields, or without any its description, name or id; empty if it has none."""
    values = [follow(item, key) for key in match_fields or KEYS]
    parts = [
        part
        for value in values
        if isinstance(value, str | int | Decimal) and not isinstance(value, bool)
        if (part := " ".join(str(value).split())[:_MAX_NAME_PART])
    ]
    return ", ".join(parts if match_fields else parts[:1])


def item_names(
    items: Sequence[ListItem], match_fields: tuple[tuple[str, ...], ...], *, of_output: bool = False
) -> list[str]:
    """Return a name for each item; repeated names are followed by the index.

    Indices of an output (``of_output``) are marked as such. An expected item without a name gets an empty one, because
    its index identifies it.
    """
    names = [item_name(item, match_fields) for _, item in items]
    repeated = {name for name, uses in Counter(names).items() if uses > 1}
    unique_names = []
    for (index, _), name in zip(items, names, strict=True):
        number = f"output {index}" if of_output else f"{index}"
        if not name:
            unique_names.append(number if of_output else "")
        else:
            unique_names.append(f"{name}, {number}" if name in repeated else name)
    return unique_names
