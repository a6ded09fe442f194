"""Counts which fields flipped when which section of an instruction file was edited: association, not cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from sitegen.frozen import Frozen
from sitegen.model.series import Effect

FIELDS: Final = 6
"""Fields that are listed for a section: those that flipped more often with it than without it come first."""
SECTIONS: Final = 40
"""Sections that are listed: those with the most edits come first."""


class FieldFlips(Frozen):
    """How often a field flipped with the edits of one section."""

    attribute: str
    edits: int
    """Edits of the section across which any cell of the field flipped."""
    elsewhere: int
    """Other edits of the file across which it flipped as well."""
    fixed: int
    broken: int
    """Cells, over the edits of the section and all evals."""


class SectionFlips(Frozen):
    """A section of an instruction file, and the fields that flipped with its edits."""

    path: str
    """Its headings; empty for the part before the first heading."""
    edits: int
    """Edits that touched it and have output before and after."""
    elsewhere: int
    """Edits of the file that did not touch it and have output before and after."""
    fixed: int
    broken: int
    fields: tuple[FieldFlips, ...]
    more: int
    """Number of further fields that flipped with it."""


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
    """The sections with the fields that flipped with them.

    Args:
        sections: those that each edit touched; none for the edit that added the file.
        effects: of each edit, with flips where the eval had output before and after. Effects of evals whose model
            changed too are left out.

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
    """The flips of one section. *everywhere* has the number of edits of the file across which each field flipped."""
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
