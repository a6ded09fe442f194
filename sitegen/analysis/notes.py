"""Holds what people noted about cases and values against what the build judged."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sitegen.config.models import Note
from sitegen.model.frozen import grouped
from sitegen.model.outcomes import ABSENT, Cell, Verdict
from sitegen.model.scorecards import Kappa
from sitegen.model.series import Point, Series
from sitegen.model.timeline import Snapshot
from sitegen.stats.agreement import cohens_kappa


class PlacedNote(NamedTuple):
    """A note at the point that it is about."""

    line: int
    """The line of the file on which it begins."""
    note: Note
    snapshot: Snapshot | None
    """The newest one of its iteration; None if there is none."""
    judged: Verdict
    """What the build judged at that point: wrong if any of the values is; empty if it judged nothing there."""
    attributes: tuple[str, ...]


def placed_notes(notes: Sequence[tuple[int, Note]], series: Series) -> tuple[PlacedNote, ...]:
    """Find the point and the values of each note, in the order of the file."""
    if not notes:
        return ()
    newest_of = {point.snapshot.label: index for index, point in enumerate(series.points)}
    cells = grouped((cell.document, cell) for cell in series.cells.cells)
    documents = grouped((each.case, each) for point in series.points for each in point.scorecard.documents)
    placed = []
    for line, note in notes:
        at = newest_of.get(note.iteration) if note.iteration else len(series.points) - 1 if series.points else None
        of_case = (each.name for each in documents.get(note.case, ()) if note.who.items() <= each.axes.items())
        places = [note.case] if note.case in cells and not note.who else dict.fromkeys(of_case)
        about = [
            cell
            for document in places
            for cell in cells.get(document, ())
            if note.field in ("", cell.path, cell.named_path, cell.attribute)
        ]
        periods = [] if at is None else [period for cell in about if (period := cell.at(at))]
        states = {period.is_wrong for period in periods if period.state != "absent"}
        judged: Verdict = "wrong" if True in states else "right" if states else ""
        snapshot = None if at is None else series.points[at].snapshot
        attributes = tuple(sorted({cell.attribute for cell in about}))
        placed.append(PlacedNote(line=line, note=note, snapshot=snapshot, judged=judged, attributes=attributes))
    return tuple(placed)


def people_on_label(notes: Iterable[Note], cell: Cell, points: Sequence[Point], other: str) -> Verdict:
    """Return what people said of the newest label of a value, which outputs contradict with ``other``.

    A person judges the answer of an iteration. If it was the label, the label is what the answer is; if it was the
    other value, the label is the opposite. Of several notes that tell, the last in the file counts.
    """
    said: Verdict = ""
    label = cell.periods[-1].expected
    at = {"": len(points) - 1, **{point.snapshot.label: index for index, point in enumerate(points)}}
    for note in notes:
        if note.verdict and note.case == cell.document and note.field in (cell.path, cell.label):
            given = cell.at(at.get(note.iteration, -1)) or ABSENT
            value = given.actual if given.is_wrong else given.expected
            if given.state != "absent" and value in (label, other):
                said = note.verdict if value == label else "wrong" if note.verdict == "right" else "right"
    return said


def notes_about(notes: Iterable[Note], iteration: str, *, newest: bool) -> tuple[Note, ...]:
    """Return the notes about an iteration; the newest one also has those that name none."""
    return tuple(note for note in notes if note.iteration == iteration or (newest and not note.iteration))


def agreement_with_people(notes: Iterable[PlacedNote]) -> tuple[int, int, Kappa | None]:
    """Return how many verdicts of people are those of the build, how many can be compared with it, and Cohen's kappa.

    None if either of them found all things right or all wrong: then kappa, which is about 0, says nothing.
    """
    pairs = [(one.note.verdict, one.judged) for one in notes if one.note.verdict and one.judged]
    tells = len({said for said, _ in pairs}) == len({judged for _, judged in pairs}) == 2
    return sum(said == judged for said, judged in pairs), len(pairs), cohens_kappa(pairs) if tells else None
