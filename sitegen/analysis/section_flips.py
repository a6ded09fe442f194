"""Counts the fields that flipped with edits of each section of an instruction file: association, not cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from sitegen.frozen import Frozen
from sitegen.model.series import Effect

FIELDS: Final = 6
"""Number of fields listed for a section: first the fields that flipped more often with it than without it."""
SECTIONS: Final = 40
"""Number of sections listed: the sections with the most edits come first."""


class FieldFlips(Frozen):
    """How often a field flipped with the edits of one section."""

    attribute: str
    edits: int
    """Number of edits of the section across which any cell of the field flipped."""
    elsewhere: int
    """Number of other edits of the file across which the field flipped."""
    fixed: int
    broken: int
    """Number of cells, over the edits of the section and all evals."""


class SectionFlips(Frozen):
    """A section of an instruction file, and the fields that flipped with its edits."""

    path: str
    """The headings of the section; empty for the part before the first heading."""
    edits: int
    """Number of edits that touched the section and have output before and after."""
    elsewhere: int
    """Number of edits of the file that did not touch the section and have output before and after."""
    fixed: int
    broken: int
    fields: tuple[FieldFlips, ...]
    more: int
    """Number of further fields that flipped with the section."""


class _EditFlips(Frozen):
    """The cells that flipped across one edit, over all evals, by attribute."""

    sections: frozenset[str]
    fixed: Counter[str]
    broken: Counter[str]
    attributes: frozenset[str]


class ListedSections(NamedTuple):
    """Sections of an instruction file, and how many more there are."""

    rows: tuple[SectionFlips, ...]
    left_out: int


def section_flips(sections: Sequence[Sequence[str]], effects: Sequence[Sequence[Effect]]) -> ListedSections:
    """Return the sections with the fields that flipped with them.

    Args:
        sections: the sections that each edit touched; none for the edit that added the file.
        effects: the effects of each edit, with flips if the eval had output before and after. Effects on evals whose
            model changed too are excluded.

    """
    same_model = [[effect for effect in of_edit if effect.model is None] for of_edit in effects]
    edits = [
        _edit_flips(touched, of_edit)
        for touched, of_edit in zip(sections, same_model, strict=True)
        if touched and any(effect.flips is not None for effect in of_edit)
    ]
    paths = dict.fromkeys(path for edit in edits for path in sorted(edit.sections))
    everywhere = Counter(attribute for edit in edits for attribute in edit.attributes)
    rows = [_flips_of_section(path, edits, everywhere) for path in paths]
    rows.sort(key=lambda row: (-row.edits, -len(row.fields), row.path))
    return ListedSections(tuple(rows[:SECTIONS]), max(0, len(rows) - SECTIONS))


def _edit_flips(touched: Sequence[str], effects: Sequence[Effect]) -> _EditFlips:
    fixed: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    for effect in effects:
        if effect.flips is not None:
            fixed.update(dict(effect.flips.fixed))
            broken.update(dict(effect.flips.broken))
    return _EditFlips(sections=frozenset(touched), fixed=fixed, broken=broken, attributes=frozenset((*fixed, *broken)))


def _flips_of_section(path: str, edits: Sequence[_EditFlips], everywhere: Counter[str]) -> SectionFlips:
    """Count the flips of one section. *everywhere* has for each field the number of edits across which it flipped."""
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

    def most_associated_first(field: FieldFlips) -> tuple[float, int, str]:
        usual = field.elsewhere / outside if outside else 0.0
        return usual - field.edits / len(inside), -field.fixed - field.broken, field.attribute

    fields.sort(key=most_associated_first)
    return SectionFlips(
        path=path,
        edits=len(inside),
        elsewhere=outside,
        fixed=fixed.total(),
        broken=broken.total(),
        fields=tuple(fields[:FIELDS]),
        more=max(0, len(fields) - FIELDS),
    )
