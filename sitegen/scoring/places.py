"""Where a value stands, and what the items of a list are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from sitegen.model.values import Value
from sitegen.scoring.paths import follow, with_key

KEYS: Final = (("description",), ("name",), ("id",))
"""What items are matched and named by where nothing is said."""

_LONGEST: Final = 80
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
    found = []
    for (index, _), name in zip(items, names, strict=True):
        which = f"output {index}" if of_output else f"{index}"
        if not name:
            found.append(which if of_output else "")
        else:
            found.append(f"{name}, {which}" if name in repeated else name)
    return found


def _name_part(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return ""
    return " ".join(str(value).split())[:_LONGEST]
