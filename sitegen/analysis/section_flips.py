"""Relates passages and sections of an instruction file to fields, by name and by flips: association, not cause.

A passage names a field by the words of the last step of its path: ``windows[].exterior_shade`` by *exterior shade*,
however the words are joined. A single word, such as ``area``, is not specific enough: the step above it must occur in
the same line, in a heading of the passage, or in the path of the file. A plural *s* is ignored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from sitegen.model.frozen import Frozen
from sitegen.model.series import Effect
from sitegen.text.patch import Hunk

_STEPS = re.compile(r"[.\[\]]+")
# These begin with a character to search for, which is much faster than to try a condition at every place.
_CAMEL = re.compile(r"[A-Z](?<=[a-z0-9].)")
_PLURAL = re.compile(r"s(?<=[^\W_]{4})(?![^\W_])")
_WORD = re.compile(r"[^\W_]+|\n")


def mentioned_fields(passages: Sequence[Hunk], attributes: Sequence[str], path: str) -> tuple[tuple[str, ...], ...]:
    """Return for each passage of a diff the attributes, in their order, that its added and removed lines name.

    ``path``: the path of the file, in which a step above a field may occur.
    """
    if not attributes:
        return ((),) * len(passages)
    names = {attribute: _names_of(attribute) for attribute in attributes}
    in_path = _words(path)

    def named_in(passage: Hunk) -> Iterator[str]:
        texts = passage.lines
        changed = _words("\n".join([text for kind, text, _, _ in texts if kind in ("removed", "added")]))
        headings = _words("\n".join([passage.section, *[text for _, text, _, _ in texts if text.startswith("#")]]))
        lines = changed.split("\n")
        for attribute, (above, last) in names.items():
            if last not in changed:
                continue
            alone = not above or " " in last.strip() or above in in_path or above in headings
            if any(last in words and (alone or above in words) for words in lines):
                yield attribute

    return tuple(tuple(named_in(passage)) for passage in passages)


def _names_of(attribute: str) -> tuple[str, str]:
    """Return the words of the second last step, empty if there is none, and the words of the last step."""
    lines = _words(_STEPS.sub("\n", attribute.replace("\n", " ")))
    steps = [words for words in lines.split("\n") if words.strip()]
    return (steps[-2] if len(steps) > 1 else "", steps[-1]) if steps else ("", f"{lines}\0")


def _words(text: str) -> str:
    """Return the words in lower case and singular, separated and surrounded by single spaces, and the line feeds."""
    apart = _CAMEL.sub(r" \g<0>", text).casefold()
    return f" {' '.join(_WORD.findall(_PLURAL.sub('', apart)))} "


FIELDS: Final = 6  # that are listed for a section: first those that flipped more often with it than without it
SECTIONS: Final = 40  # that are listed: those with whose edits most broke come first


class SectionFlips(Frozen):
    """What flipped with the edits of a section of an instruction file: all fields together, or one of them."""

    name: str
    """The headings of the section, empty for the part before the first heading; or the attribute."""
    edits: int
    """Number of edits of the section that have output before and after; across which the field flipped."""
    elsewhere: int
    """The same of the other edits of the file."""
    fixed: int
    broken: int
    """Number of cells, over the edits of the section and all evals."""
    fields: tuple[SectionFlips, ...] = ()
    more: int = 0
    """Number of further fields that flipped with the section."""


_EditFlips: TypeAlias = tuple[frozenset[str], Counter[str], Counter[str]]
"""The sections that an edit touched, and the cells that it fixed and broke over all evals, by attribute."""


def section_flips(
    sections: Sequence[Sequence[str]], effects: Sequence[Sequence[Effect]]
) -> tuple[tuple[SectionFlips, ...], int]:
    """Return the sections with the fields that flipped with them, and how many more there are.

    ``sections``: the sections that each edit touched; none for the edit that added the file. ``effects``: the effects
    of each edit, with flips if the eval had output before and after. Those on evals whose model changed too are
    excluded.
    """
    edits: list[_EditFlips] = []
    for touched, of_edit in zip(sections, effects, strict=True):
        same_model = (effect.window for effect in of_edit if effect.window.model is None)
        flips = [window.flips for window in same_model if window.flips is not None]
        if touched and flips:
            fixed, broken = _summed(dict(each.fixed) for each in flips), _summed(dict(each.broken) for each in flips)
            edits.append((frozenset(touched), fixed, broken))
    paths = dict.fromkeys(path for touched, _, _ in edits for path in sorted(touched))
    everywhere = Counter(attribute for _, fixed, broken in edits for attribute in {*fixed, *broken})
    rows = [_flips_of_section(path, edits, everywhere) for path in paths]
    rows.sort(key=lambda row: (-row.broken, -row.edits, -len(row.fields), row.name))
    return tuple(rows[:SECTIONS]), max(0, len(rows) - SECTIONS)


def _summed(tallies: Iterable[Mapping[str, int]]) -> Counter[str]:
    return sum(map(Counter, tallies), Counter[str]())


def _flips_of_section(path: str, edits: Sequence[_EditFlips], everywhere: Counter[str]) -> SectionFlips:
    """Count the flips of one section. ``everywhere``: for each field the number of edits across which it flipped."""
    inside = [(fixed, broken) for touched, fixed, broken in edits if path in touched]
    outside = len(edits) - len(inside)
    fixed, broken = _summed(fixed for fixed, _ in inside), _summed(broken for _, broken in inside)
    here = Counter(name for fixed_here, broken_here in inside for name in {*fixed_here, *broken_here})
    fields = [
        SectionFlips(
            name=name, edits=number, elsewhere=everywhere[name] - number, fixed=fixed[name], broken=broken[name]
        )
        for name, number in here.items()
    ]
    usual = {field.name: field.elsewhere / outside if outside else 0.0 for field in fields}
    fields.sort(key=lambda of: (usual[of.name] - of.edits / len(inside), -of.fixed - of.broken, of.name))
    return SectionFlips(
        name=path,
        edits=len(inside),
        elsewhere=outside,
        fixed=fixed.total(),
        broken=broken.total(),
        fields=tuple(fields[:FIELDS]),
        more=max(0, len(fields) - FIELDS),
    )
