"""Sections of an instruction file against the fields that flipped with them: counts over history, an association."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from sitegen.model.series import Effect

FIELDS: Final = 6
"""Fields that are kept of a section: those that flipped more often with it than without it come first."""
SECTIONS: Final = 40
"""Sections that are kept: those with the most edits come first."""


class FieldFlips(NamedTuple):
    """A field beside the edits of one section."""

    attribute: str
    edits: int
    """Edits of the section around which any cell of the field flipped."""
    elsewhere: int
    """Edits of the file that left the section alone, around which it flipped as well."""
    fixed: int
    broken: int
    """Cells, over the edits of the section and all evals."""


class SectionFlips(NamedTuple):
    """A section, by its headings."""

    path: str
    """Empty: before the first heading."""
    edits: int
    """Edits that touched it, with output before and after."""
    elsewhere: int
    """Edits of the file, measured as well, that left it alone."""
    fixed: int
    broken: int
    fields: tuple[FieldFlips, ...]
    more: int
    """Fields that flipped with it and are not listed."""


class _Edit(NamedTuple):
    """The cells that flipped around one edit, over all evals, by attribute."""

    sections: frozenset[str]
    fixed: Counter[str]
    broken: Counter[str]

    attributes: frozenset[str]


def section_flips(
    sections: Sequence[Sequence[str]], effects: Sequence[Sequence[Effect]]
) -> tuple[tuple[SectionFlips, ...], int]:
    """The sections with the fields that flipped with them, and how many sections are left out.

    Args:
        sections: those that each edit touched; of the edit that wrote the file there is nothing to say.
        effects: of each edit, with flips where the eval had output before and after. Those of evals whose model changed
            as well are left out.

    """
    effects = [[effect for effect in around if effect.model is None] for around in effects]
    edits = [
        _edit_flips(touched, around)
        for touched, around in zip(sections, effects, strict=True)
        if touched and any(effect.flips is not None for effect in around)
    ]
    paths = dict.fromkeys(path for edit in edits for path in sorted(edit.sections))
    everywhere = Counter(attribute for edit in edits for attribute in edit.attributes)
    every = (_flips_of_section(path, edits, everywhere) for path in paths)
    found = sorted(every, key=lambda one: (-one.edits, -len(one.fields), one.path))
    return tuple(found[:SECTIONS]), max(0, len(found) - SECTIONS)


def _edit_flips(touched: Sequence[str], around: Sequence[Effect]) -> _Edit:
    fixed: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    for effect in around:
        if effect.flips is not None:
            fixed.update(dict(effect.flips.fixed))
            broken.update(dict(effect.flips.broken))
    return _Edit(sections=frozenset(touched), fixed=fixed, broken=broken, attributes=frozenset((*fixed, *broken)))


def _flips_of_section(path: str, edits: Sequence[_Edit], everywhere: Counter[str]) -> SectionFlips:
    """One section. ``everywhere``: around how many edits of the file each field flipped."""
    inside = [edit for edit in edits if path in edit.sections]
    outside = len(edits) - len(inside)
    fixed: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    here: Counter[str] = Counter()
    for edit in inside:
        fixed.update(edit.fixed)
        broken.update(edit.broken)
        here.update(edit.attributes)
    fields = [
        FieldFlips(
            attribute=name, edits=number, elsewhere=everywhere[name] - number, fixed=fixed[name], broken=broken[name]
        )
        for name, number in here.items()
    ]

    def order(field: FieldFlips) -> tuple[float, int, str]:
        usual = field.elsewhere / outside if outside else 0.0
        return usual - field.edits / len(inside), -field.fixed - field.broken, field.attribute

    fields.sort(key=order)
    return SectionFlips(
        path=path,
        edits=len(inside),
        elsewhere=outside,
        fixed=fixed.total(),
        broken=broken.total(),
        fields=tuple(fields[:FIELDS]),
        more=max(0, len(fields) - FIELDS),
    )
