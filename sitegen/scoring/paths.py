"""Field paths (rule 19): ``a.0.b`` and ``a[0].b`` are one, shown as ``a[0].b``; ``["a.b"]`` is a key with a dot.

Besides, patterns of paths, and the places of values: their path, attribute and path by the names of items.
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

from sitegen.model.values import Value

Step: TypeAlias = str | int
"""A key, or an index of a list."""

ANY: Final = "*"
"""In a pattern, one step of any name. A key that is really called ``*`` cannot be named in a pattern."""

_SHOWN: Final = 200
_PLAIN: Final = re.compile(r'[^.\[\]"*\\\x00-\x1f\x7f\u0085\u2028\u2029]+')
_WHOLE: Final = re.compile(r"-?\d+")
_TOKEN: Final = re.compile(r'\.?\[(?P<index>-?\d+|\*?)\]|\.?\["(?P<quoted>(?:[^"\\]|\\.)*)"\]|\.?(?P<plain>[^.\[\]]+)')


class PathError(ValueError):
    """The text is no field path."""


@lru_cache(maxsize=4_096)
def parse_path(text: str) -> tuple[Step, ...]:
    """Split a path or pattern into its steps; ``[*]`` and ``[]`` become ``ANY``. Raises PathError."""
    steps: list[Step] = []
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None or (position == 0 and text[0] == "."):
            raise PathError(f"{text[:80]!r} is no field path")
        index, quoted, plain = token.group("index", "quoted", "plain")
        if index is not None:
            steps.append(int(index) if index not in ("", "*") else ANY)
        elif quoted is not None:
            steps.append(_unquote(quoted))
        elif steps and text[position] != ".":
            raise PathError(f"{text[:80]!r} is no field path: a dot is missing")
        else:
            steps.append(int(plain) if _WHOLE.fullmatch(plain) and len(plain) < 10 else plain.strip())
        position = token.end()
    if not steps:
        raise PathError("an empty field path")
    return tuple(steps)


def _unquote(quoted: str) -> str:
    try:
        return str(json.loads(f'"{quoted}"'))
    except ValueError as error:
        raise PathError(f"the quoted key {quoted[:80]!r} cannot be read") from error


@lru_cache(maxsize=16_384)
def with_key(path: str, key: str) -> str:
    """The path of a key below *path*."""
    if _PLAIN.fullmatch(key) and not _WHOLE.fullmatch(key) and key == key.strip() and len(key) <= _SHOWN:
        return f"{path}.{key}" if path else key
    if len(key) > _SHOWN:
        key = key[:_SHOWN] + "\u2026"
    return f"{path}[{json.dumps(key, ensure_ascii=not _can_be_shown(key))}]"


def _can_be_shown(key: str) -> bool:
    """Whether it is printable, or will be by the Unicode tables of a later Python: the path is the same by all."""
    return key.isprintable() or all(character.isprintable() or _may_be_assigned(character) for character in key)


def _may_be_assigned(character: str) -> bool:
    return unicodedata.category(character) == "Cn" and ord(character) & 0xFFFE != 0xFFFE


def path_text(steps: Sequence[Step]) -> str:
    """A path as pages write it."""
    path = ""
    for step in steps:
        path = f"{path}[{step}]" if isinstance(step, int) or step == ANY else with_key(path, step)
    return path


def follow(value: object, steps: Sequence[Step]) -> object:
    """What stands at a path; None if it is missing, which a path through null or a scalar and a negative index are."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step if isinstance(step, str) else str(step))
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return None
    return value


class Pattern(NamedTuple):
    """A compiled pattern: ``*`` and ``[*]`` match one step, a trailing ``.*`` one or more."""

    steps: tuple[Step, ...]
    open_end: bool
    """The last step is ``.*``: it matches the rest, however long."""

    @property
    def indexed(self) -> bool:
        """Whether it names an index, so that not all items of a list are alike to it."""
        return any(isinstance(step, int) for step in self.steps)

    @property
    def weight(self) -> tuple[int, int]:
        """How specific it is: steps that are named, then their characters."""
        named = [str(step) for step in self.steps if step != ANY]
        return len(named), sum(map(len, named))

    def matches(self, path: Sequence[Step]) -> bool:
        """Whether the whole path fits."""
        if len(path) != len(self.steps) and not (self.open_end and len(path) > len(self.steps)):
            return False
        return all(map(_step_fits, self.steps, path))

    def matches_end(self, path: Sequence[Step]) -> bool:
        """Whether the path ends like this, the first step at an underscore or at a whole step.

        ``ceiling_area`` fits ``zones[0].cathedral_ceiling_area``, ``area`` does not fit ``subarea``.
        """
        if self.open_end or len(path) < len(self.steps):
            return False
        tail = path[len(path) - len(self.steps) :]
        first, given = self.steps[0], tail[0]
        begins = _step_fits(first, given) or (
            isinstance(first, str) and isinstance(given, str) and given.endswith("_" + first)
        )
        return begins and all(map(_step_fits, self.steps[1:], tail[1:]))


def pattern(text: str) -> Pattern:
    """Compile a pattern. Raises PathError."""
    return Pattern(parse_path(text), open_end=text.endswith(".*"))


def _step_fits(stated: Step, given: Step) -> bool:
    return stated in (ANY, given) or str(stated) == str(given)


KEYS: Final = (("description",), ("name",), ("id",))
"""What items are matched and named by where nothing is said."""

_MAX_NAME_PART: Final = 80
"""Characters of each value of a name."""


class ValuePlace(NamedTuple):
    """Where a value stands, in the ways that are asked for."""

    path: str
    """``walls[0].area``."""
    attribute: str
    """``walls[].area``."""
    named_path: str
    """``walls[E Wall].area``; empty where no item has a name."""

    def member(self, key: str) -> ValuePlace:
        """What stands below a key of an object."""
        named = self.named_path and with_key(self.named_path, key)
        return ValuePlace(with_key(self.path, key), with_key(self.attribute, key), named)

    def item(self, index: int, name: str) -> ValuePlace:
        """An item of a list; *name*: as ``item_names`` gives it."""
        named = f"{self.named_path or self.path}[{name or index}]" if name or self.named_path else ""
        return ValuePlace(f"{self.path}[{index}]", f"{self.attribute}[]", named)


DOCUMENT: Final = ValuePlace("", "", "")


def item_name(item: dict[str, Value], match_fields: tuple[tuple[str, ...], ...]) -> str:
    """The values that an item is matched by: its match fields, else its description, name or id; empty for none."""
    if match_fields:
        return ", ".join(filter(None, (_name_part(follow(item, key)) for key in match_fields)))
    return next(filter(None, (_name_part(follow(item, key)) for key in KEYS)), "")


def item_names(
    items: Sequence[tuple[int, dict[str, Value]]], match_fields: tuple[tuple[str, ...], ...], *, of_output: bool = False
) -> list[str]:
    """A name for each item, which are given with their indices; where names repeat the index stands beside them.

    Indices are those of the ground truth, and say so if they are *of_output*. An item of the ground truth without a
    name has an empty one: its index tells it.
    """
    names = [item_name(item, match_fields) for _, item in items]
    repeated = {name for name, number in Counter(names).items() if number > 1}
    unique_names = []
    for (index, _), name in zip(items, names, strict=True):
        which = f"output {index}" if of_output else f"{index}"
        if not name:
            unique_names.append(which if of_output else "")
        else:
            unique_names.append(f"{name}, {which}" if name in repeated else name)
    return unique_names


def _name_part(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return ""
    return " ".join(str(value).split())[:_MAX_NAME_PART]
