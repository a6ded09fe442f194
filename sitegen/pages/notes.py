"""The page of the notes of one eval: what people said about its cases, by error code and over time."""

import json
from collections import Counter, defaultdict
from functools import cached_property
from typing import Final

from sitegen.analysis.notes import PlacedNote, agreement_with_people
from sitegen.model.frozen import Frozen
from sitegen.model.scorecards import Kappa
from sitegen.model.series import Series
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages import links

LISTED_NOTES: Final = 500
"""The most notes that the page lists, the newest ones."""

COLUMNS: Final = 8
"""The most iterations for which the page counts error codes, the newest ones."""


class NotesView(Frozen, dict=True, gc=True):
    """What ``pages/notes.html`` shows."""

    series: Series
    notes: tuple[PlacedNote, ...]
    """In the order of the file."""

    @cached_property
    def agreement(self) -> tuple[int, int, Kappa | None]:
        """How many verdicts are those of the build, how many can be compared with it, and kappa if it can be said."""
        return agreement_with_people(self.notes)

    @property
    def listed(self) -> list[PlacedNote]:
        """The notes that are listed: those about the newest iteration first."""
        order = {point.snapshot.slug: index for index, point in enumerate(self.series.points)}
        return sorted(self.notes, key=lambda one: -order[one.snapshot.slug] if one.snapshot else 1)[:LISTED_NOTES]

    @cached_property
    def codes(self) -> dict[str, Counter[str]]:
        """For each error code, the most frequent first, the number of notes by the slug of their snapshot."""
        counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for one in self.notes:
            if one.note.code and one.snapshot is not None:
                counted[one.note.code][one.snapshot.slug] += 1
        return dict(sorted(counted.items(), key=lambda row: (-row[1].total(), row[0])))

    @property
    def columns(self) -> list[Snapshot]:
        """The snapshots for which error codes are counted, oldest first."""
        counted = {slug for of_code in self.codes.values() for slug in of_code}
        return [point.snapshot for point in self.series.points if point.snapshot.slug in counted][-COLUMNS:]


def notes_page(series: Series, notes: tuple[PlacedNote, ...]) -> Page:
    """Make the page of the notes of an eval."""
    return Page(links.notes(series.info.id), "pages/notes.html", NotesView(series, notes))


def lines_to_add(snapshot: Snapshot, case: str, field: str) -> str:
    """The lines of a note that a person fills in and adds to the file: JSON strings, which YAML reads as they are."""
    stated = {"case": case, "field": field, "iteration": snapshot.label}
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in stated.items() if value]
    return "\n  ".join([f"- {lines[0]}", *lines[1:], "verdict: wrong  # or right", "code:", "note:", "by:"])
