"""What is kept of the points of an eval but the newest one, so that one point more costs little more than itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sitegen.analysis.points import Derived
from sitegen.history.fold_state import decode, encode
from sitegen.model.series import Series
from sitegen.model.timeline import EvalHistory
from sitegen.pages import links
from sitegen.pages.exports import SeriesData, series_data, series_files, table_head
from sitegen.render.writer import Writer, digest


class _Start(NamedTuple):
    """How much of a data file is settled."""

    key: str = ""
    """The digest of the whole file."""
    size: int = 0
    """So many bytes of it, from its beginning."""


class Settled(NamedTuple):
    """All points but the newest, which alone can still turn out to be stale."""

    key: str = ""
    """The digest of everything that decides them, by both clocks."""
    derived: tuple[Derived, ...] = ()
    json: _Start = _Start()
    csv: _Start = _Start()
    """In the data files of the series they stand in full."""


def known_settled(body: bytes | None, history: EvalHistory, page_keys: Sequence[str]) -> Settled:
    """What was kept, if it is of these points; else nothing. ``page_keys``: of all that each report shows."""
    try:
        kept = decode(body, Settled) if body else Settled()
    except ValueError:
        return Settled()
    points = len(kept.derived)
    fits = 0 < points < len(page_keys) and kept.key == _key(points, history, page_keys)
    return kept if fits else Settled()


def write_series(writer: Writer, owner: str, series: Series, known: Settled, page_keys: Sequence[str]) -> bytes:
    """Write the data files of a series, settled points as they stand there; returns what to keep for the next build."""
    settled = series_data(series, max(0, len(series.points) - 1), _standing(writer, series, known))
    files = series_files(series, settled)
    for file in files:
        writer.write(owner, file.path, file.content)
    derived = tuple(Derived(point.delta, point.flips, point.interval) for point in series.points[:-1])
    starts = map(_Start, (digest(file.content) for file in files), (len(settled.json), len(settled.csv)))
    return encode(Settled(_key(len(derived), series.history, page_keys), derived, *starts))


def _standing(writer: Writer, series: Series, known: Settled) -> SeriesData | None:
    """What the files in the output folder hold of the settled points; None if they are not those that were kept."""
    json = writer.standing(links.series_data(series.info.id), known.json.key)
    table = writer.standing(links.series_csv(series.info.id), known.csv.key)
    if json is None or table is None or not table.startswith(table_head(series)):  # a metric that was not there before
        return None
    return SeriesData(len(known.derived), json[: known.json.size], table[: known.csv.size])


def _key(points: int, history: EvalHistory, page_keys: Sequence[str]) -> str:
    """Of so many of the first points: what their reports show, and the rules of the second clock."""
    if not points:
        return ""
    newest = history.snapshots[-1]
    rules = newest.ground_truth, newest.mapping, newest.schema, newest.settings
    return digest(page_keys[points - 1], repr((history.renamed_from, rules)))
