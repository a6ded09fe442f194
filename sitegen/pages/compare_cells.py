"""The cells of an eval at some of its points, for the script of the compare page, in blocks of limited size.

One block is in the page: it has the newest points, and points that pages of the site link to. If there are more points,
the blocks of all points are in *pieces*, files that the browser loads when such a point is chosen. They are classic
scripts like the search index, because ``fetch`` does not work on ``file://``.
"""

import json
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, Final

from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Cell, Period, State
from sitegen.model.series import Series
from sitegen.model.site import RawFile
from sitegen.pages import links
from sitegen.pages.data.search import script_file
from sitegen.stats.significance import ALPHA, least_discordant
from sitegen.text.values import short_digest, written

STATES: Final[tuple[State, ...]] = (
    *("correct", "true_negative", "omission", "hallucination", "wrong_value", "format_error", "absent"),
)
"""The states. The data has their indices in this tuple; 2 to 5 are errors."""

BOUND: Final = 250_000
"""Largest number of characters of the data in the page, and approximate size of a piece."""

MOST: Final = 4_000_000
"""Approximate limit on the characters of all pieces together. Beyond it the oldest points are in no piece."""

FEWEST: Final = 2
"""Smallest number of points that can be compared."""

_ENTRY: Final = 16  # approximate number of characters of a period in the data
_ROW: Final = len('[0, 0, "", 0, [0, 0, 0, 0], 0], ')  # smallest number of characters of a cell in the data
_POINT: Final = 400  # approximate number of characters of a point in the data


class CellSource(Frozen, dict=True, gc=True):
    """What the blocks of an eval are made from."""

    series: Series
    details: Sequence[dict[str, Any]]
    """For each point, its data besides cells, for its piece or the page."""
    paged: Container[str] = ()
    """The cases that have a page."""

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells that were ever wrong: all others are right on both sides of any pair."""
        return [cell for cell in self.series.cells.cells if any(of.is_wrong for of in (*cell.periods, *cell.rejudged))]

    def embedded(self, linked: Iterable[set[int]]) -> tuple[tuple[int, ...], dict[str, Any] | None]:
        """The points whose cells are in the page, and the block of these; none and None if no set fits.

        The page has the first of the linked sets that fits, and as many of the newest points as fit beside it.
        """
        count = len(self.details)
        base, sizes = self._sizes()
        likely = sum(size <= BOUND * 3 // 2 for size in accumulate(reversed(sizes), initial=base)) - 1
        lengths = [len(json.dumps(details, ensure_ascii=False)) + len(", ") for details in self.details]
        for places in linked:
            newest = max(0, likely)
            while True:
                chosen = tuple(sorted({*places, *range(count - newest, count)}))
                room = BOUND - len("[[], ]") + len(", ") - sum(map(lengths.__getitem__, chosen))
                stretches = _stretches(chosen)
                wrong = [
                    cell
                    for cell in self.cells
                    if any(of.is_wrong for of in (*dict(_periods_at(cell, stretches)).values(), *cell.rejudged))
                ]
                if len(wrong) * _ROW <= room:  # a larger block is not made
                    block = self._block(stretches, wrong, {})
                    if len(json.dumps(block, ensure_ascii=False)) <= room:
                        return chosen, block
                if not newest:
                    break
                newest = newest * 3 // 4 if newest > FEWEST else 0
        return (), None

    def pieces(self, first: int = 0) -> dict[range, RawFile]:
        """The files with all points, by their points, oldest first; none if they would be too large.

        ``first``: the number of the first of them.

        All have the same cells in the same order, and the same number for the same text.
        """
        stamp = short_digest(json.dumps([cell.key for cell in self.cells]))
        texts: dict[str, int] = {}
        return {
            places: script_file(
                links.compare_piece(self.series.info.id, number),
                "COMPARE",
                {
                    "piece": number,
                    "stamp": stamp,
                    "points": [self.details[place] for place in places],
                    "block": self._block([places], self.cells, texts),
                },
            )
            for number, places in enumerate(self._piece_ranges(), first)
        }

    def _sizes(self) -> tuple[int, list[int]]:
        """Approximate numbers of characters of the data, computed before the data, which may be too large to make.

        Returns those of the names of the cells and, for each point, those of its details and of the periods that begin
        there.
        """
        texts: set[str] = set()
        sizes, base = [_POINT] * len(self.details), 0
        for cell in self.cells:
            base += len(cell.label) + (2 + len(cell.rejudged)) * _ENTRY
            for period in cell.periods:
                new = {period.expected, period.actual} - texts
                texts |= new
                sizes[period.start] += _ENTRY + sum(len(text) + 4 for text in new)
        return base, sizes

    def _piece_ranges(self) -> tuple[range, ...]:
        """The points of each piece, oldest first. Borders only move when further cells become wrong."""
        base, sizes = self._sizes()
        if base > MOST // 8:
            return ()
        borders, size = [0], base
        for place, own in enumerate(sizes):
            if size + own > BOUND and place > borders[-1] and size > 2 * base:
                borders.append(place)
                size = base
            size += own
        ranges = [range(*ends) for ends in zip(borders, [*borders[1:], len(sizes)], strict=True)]
        totals = accumulate(base + sum(sizes[places.start : places.stop]) for places in reversed(ranges))
        fitting = sum(total <= MOST for total in totals)
        return tuple(ranges[len(ranges) - fitting :])

    def _block(self, stretches: Sequence[range], cells: Sequence[Cell], texts: dict[str, int]) -> dict[str, Any]:
        """The states of some cells at some points, which are counted from 0 within the block.

        ``texts``: numbers of texts, to which new ones are added; equal numbers mean equal values in all blocks that
        share them.
        """
        every_point, cases = self.series.cells.documents_of_points, self.series.cells.cases
        answered = [cases.get(document, document) for document in every_point]
        place_of = {document: index for index, document in enumerate(every_point)}
        fields = {attribute: index for index, attribute in enumerate(dict.fromkeys(cell.attribute for cell in cells))}
        items = {item: index for index, item in enumerate(dict.fromkeys(cell.item(cases) for cell in cells))}
        used: dict[int, str | None] = {}
        rows: list[list[Any]] = []
        for cell in cells:
            runs: list[list[int]] = []
            rejudged = [(at.start, at) for at in cell.rejudged]  # also where no point of the block is
            for of in (_periods_at(cell, stretches), rejudged):
                runs.append([])
                for place, period in of:
                    runs[-1] += (place, STATES.index(period.state))
                    for value in (period.expected, period.actual):
                        number = texts.setdefault(value, len(texts))
                        runs[-1].append(number)
                        if number not in used:
                            used[number] = written(value)
            names = place_of[cell.document], fields[cell.attribute], cell.label, int(cell.extra)
            rows.append([*names, runs[0], items[cell.item(cases)], *runs[1 : 1 + len(rejudged)]])
        return {
            "documents": list(every_point),
            "cases": answered if cases else None,
            "pages": {row[0]: links.slug(answered[row[0]]) for row in rows if answered[row[0]] in self.paged},
            "held": [  # the points at which each document appears or vanishes; none exists before the first point
                [index for index, here in enumerate(own) if here != (own[index - 1] if index else 0)]
                for held in every_point.values()
                for own in [b"".join([held[stretch.start : stretch.stop] for stretch in stretches])]
            ],
            "fields": [[attribute, links.file_name(links.field_in_eval(attribute))] for attribute in fields],
            "least": least_discordant(ALPHA, len(items)),
            "cells": rows,
            "texts": list(used.values()) if list(used) == list(range(len(used))) else used,
        }


def _periods_at(cell: Cell, stretches: Sequence[range]) -> Iterator[tuple[int, Period]]:
    """The periods of a cell that include one of these points, each with its place, the number of points before it."""
    before, last = 0, None
    for stretch in stretches:
        for period in cell.periods[max(0, bisect_left(cell.periods, (stretch.start + 1,)) - 1) :]:
            if period.start >= stretch.stop:
                break
            if period is not last:
                yield before + max(0, period.start - stretch.start), period
            last = period
        before += len(stretch)


def _stretches(places: Iterable[int]) -> list[range]:
    """The points, given in order, as ranges of neighbours."""
    stretches: list[range] = []
    for place in places:
        if stretches and stretches[-1].stop == place:
            stretches[-1] = range(stretches[-1].start, place + 1)
        else:
            stretches.append(range(place, place + 1))
    return stretches
