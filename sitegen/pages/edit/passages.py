"""The fields that flipped around an edit or a commit, linked both ways with the passages of diffs that name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sitegen.analysis.mentioned_fields import mentioned_fields
from sitegen.frozen import Frozen
from sitegen.pages.edit.effects import EffectRow
from sitegen.text.patch import Hunk
from sitegen.text.plain import line

MOST_FIELDS: Final = 200
"""Number of fields that a page lists: the ones with the most flips."""


class FieldEffect(Frozen):
    """A flipped field in one eval."""

    eval_id: str
    name: str
    fixed: int
    broken: int


class PassageLink(Frozen):
    """A link to a passage of a diff."""

    anchor: str
    label: str


class FieldRow(Frozen):
    """A field that flipped in any eval."""

    anchor: str
    attribute: str
    evals: tuple[FieldEffect, ...]
    passages: tuple[PassageLink, ...]
    """Passages whose changed lines name the field."""

    @property
    def fixed(self) -> int:
        """Cells fixed over all evals."""
        return sum(effect.fixed for effect in self.evals)

    @property
    def broken(self) -> int:
        """Cells broken over all evals."""
        return sum(effect.broken for effect in self.evals)


class Passage(Frozen):
    """A passage of a diff, with the fields that it names and that flipped."""

    anchor: str
    number: int
    fields: tuple[FieldRow, ...]


class FlippedFields(Frozen):
    """The fields that flipped over all evals, those with the most flips first, and the passages that name them."""

    rows: tuple[FieldRow, ...]
    more: int
    """Number of fields that are not listed."""
    passages: tuple[tuple[Passage, ...], ...]
    """The passages of each file."""


def fields_and_passages(rows: Iterable[EffectRow], files: Mapping[str, Sequence[Hunk]]) -> FlippedFields:
    """The flipped fields of all evals, linked both ways with the passages that name them.

    Args:
        rows: the evals.
        files: the passages of each edited file, by path.

    """
    evals: dict[str, list[FieldEffect]] = {}
    for row in rows:
        for attribute, fixed, broken in row.fields:
            effect = FieldEffect(eval_id=row.eval_id, name=row.name, fixed=fixed, broken=broken)
            evals.setdefault(attribute, []).append(effect)
    names = sorted(evals, key=lambda name: (-sum(effect.fixed + effect.broken for effect in evals[name]), name))
    listed = names[:MOST_FIELDS]
    mentions = [mentioned_fields(hunks, listed, path) for path, hunks in files.items()]
    links = [
        _passage_links(path, place if len(files) > 1 else None, hunks)
        for place, (path, hunks) in enumerate(files.items())
    ]
    table = {
        name: FieldRow(
            anchor=f"d{number}",
            attribute=name,
            evals=tuple(evals[name]),
            passages=tuple(
                link
                for of_file, links_of_file in zip(mentions, links, strict=True)
                for fields, link in zip(of_file, links_of_file, strict=True)
                if name in fields
            ),
        )
        for number, name in enumerate(listed, start=1)
    }
    passages = tuple(
        tuple(
            Passage(anchor=link.anchor, number=number, fields=tuple(table[name] for name in fields))
            for number, (fields, link) in enumerate(zip(of_file, links_of_file, strict=True), start=1)
        )
        for of_file, links_of_file in zip(mentions, links, strict=True)
    )
    return FlippedFields(rows=tuple(table.values()), more=len(names) - len(listed), passages=passages)


def _passage_links(path: str, place: int | None, hunks: Sequence[Hunk]) -> list[PassageLink]:
    """A link to each passage of a file. ``place``: of the file among several; None if it is the only one."""
    numbers = range(1, len(hunks) + 1)
    if place is None:
        return [PassageLink(f"p{number}", str(number)) for number in numbers]
    name = line("/".join(path.split("/")[-2:]), 60)  # files of several agents may have the same name
    return [PassageLink(f"f{place + 1}p{number}", f"{name} {number}") for number in numbers]
