"""Compares the cells of two points without scoring anything again: which were fixed, and which broke.

If only one point judged a cell, and the cell is a hallucination in a document that both points have, then the other
point counts as right: the cell flipped. Any other error without a counterpart is due to different documents or ground
truth: it appeared or vanished. So did one in a document that the output of one of the points was not asked for.

If ground truth or rules changed between two outputs, those of the later point judge both: what a correction of them
alone makes right was not fixed.

Points, reports, the gate, ``sitegen compare`` and the page of comparisons all take their counts of fixed and broken
cells from this module. ``deltas`` computes how the metrics changed, and ``noise`` whether the change may be chance.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from operator import ne
from typing import Final

from msgspec.structs import replace

from sitegen.model.answers import DIFFERING
from sitegen.model.outcomes import (
    BLANK,
    FEWEST_LOST,
    REDACTED,
    WRONG,
    Cell,
    CellFlip,
    CellKey,
    CellMap,
    Doubts,
    Fate,
    Flips,
    Judgement,
    Period,
    Tally,
)
from sitegen.model.scorecards import Result
from sitegen.model.series import Point

_OFTEN: Final = 4  # fewest flips under one label, the last one included, by which a cell flips often
_LEAST: Final = 3  # fewest outputs that have to agree with each other, and not with a label, before it is in doubt
_SHARE: Final = 0.6  # smallest share of the outputs compared with a label that has to agree
_RECENT: Final = 40  # number of periods of a cell that decide whether a flip says little: the newest ones up to it


def flips(cells: CellMap, before: int, after: int, outputs: Sequence[int] = ()) -> Flips:
    """Count cells by fate and attribute from one point to another, given by their indices in the series.

    ``outputs``: the indices of all points whose output no earlier point has; without them no label is in doubt.
    """
    flipped = tuple(flipped_cells(cells, before, after))
    counted = replace(count_flips(flipped, cells.cases), doubts=_doubts(cells, flipped, after, outputs))
    return _with_losses(counted, cells, (before, after))


def count_flips(flipped: Iterable[CellFlip], cases: Mapping[str, str]) -> Flips:
    """Count cells by fate and attribute. ``cases``: as in ``CellMap``."""
    several = tuple(flipped)
    counts = Counter([(flip.fate, flip.cell.attribute) for flip in several])

    def tally(fate: Fate) -> Tally:
        numbers = [(attribute, number) for (key, attribute), number in counts.items() if key == fate]
        return tuple(sorted(numbers, key=lambda item: (-item[1], item[0])))

    net_of_items, fixed, broken = net_by_item(several, cases), tally("fixed"), tally("broken")
    net_of_documents: Counter[str] = Counter()
    for (document, *_), cells in net_of_items.items():
        net_of_documents[document] += (cells > 0) - (cells < 0)
    return Flips(
        fixed=fixed,
        broken=broken,
        still=tally("still_wrong"),
        appeared=tally("appeared"),
        vanished=tally("vanished"),
        together=(
            number_of_cells(fixed) - sum([cells > 0 for cells in net_of_items.values()]),
            number_of_cells(broken) - sum([cells < 0 for cells in net_of_items.values()]),
        ),
        nets=tuple(Counter(net_of_documents.values()).items()),
    )


def flipped_cells(cells: CellMap, before: int, after: int) -> Iterator[CellFlip]:
    """Yield the cells that are wrong at one or both of two points, in the order of the map."""
    for cell in cells.cells:
        last = cell.at(after)
        if last is not None and last.start <= before < after:  # as a rule
            if last.state in WRONG:
                yield CellFlip(fate="still_wrong", cell=cell, before=last, after=last)
            continue
        first = cells.judged_alike(cell, before, after)
        if fate := fate_of(first, last, cells.holds(cell.document, before, after)):
            yield CellFlip(fate=fate, cell=cell, before=first, after=last)


def flipped_then(cells: CellMap, index: int, here: Result, before: Callable[[], Result]) -> list[CellFlip]:
    """Return ``flipped_cells`` from the point before to a point, under the names and attributes that they had then.

    ``here``: the result of the point; ``before``: returns that of the point before it.
    """
    flipped = list(flipped_cells(cells, index - 1, index))
    paths = {flip.cell.path for flip in flipped}
    judged = _by_cell(here, paths)
    gone = _by_cell(before(), paths) if any(flip.cell.key not in judged for flip in flipped) else {}
    for at, flip in enumerate(flipped):
        cell, then = flip.cell, judged.get(flip.cell.key) or gone[flip.cell.key]
        if (cell.attribute, cell.named_path) != (then.attribute, then.named_path):  # seldom
            cell = cell._replace(attribute=then.attribute, named_path=then.named_path)
            flipped[at] = flip._replace(cell=cell)
    return flipped


def _by_cell(result: Result, paths: Set[str]) -> dict[CellKey, Judgement]:
    """Map cells with these paths to their judgements; if one is judged twice, the error counts (``CellTracker``)."""
    judgements: dict[CellKey, Judgement] = {}
    for judgement in result.judgements:
        if judgement.path in paths and (judgement.outcome in WRONG or judgement.key not in judgements):
            judgements[judgement.key] = judgement
    return judgements


def different_outputs(points: Sequence[Point]) -> list[int]:
    """Return the indices of all points whose output no earlier one has, and is compared with labels."""
    new = (at for at, point in enumerate(points) if "outputs" in point.snapshot.cause)
    return [at for at in new if points[at].first_with_output is None and points[at].snapshot.ground_truth]


def contradicting(cells: Sequence[Cell], outputs: Sequence[int], at: int) -> tuple[str, list[int], int, int, bool]:
    """Return the wrong value that most of ``outputs`` give since the label of a point was set, and those that give it.

    Then how many were compared with it, how many have it, and whether these are enough to doubt the label. An output
    gives the value of most of its answers. If answers that are one cell differ, they give no other value, and one of
    them may be the label. ``cells``: those of all answers to the case, which have one label.
    """
    given, every, right = defaultdict[str, Counter[int]](Counter), Counter[int](), set[int]()
    newest = [period for cell in cells if (period := cell.at(at)) and period.state != "absent"]
    label = newest[0].expected if newest else None
    for cell in cells:
        for period, end in reversed([*cell.spans(at + 1)]):
            if period.state == "absent":
                continue
            if period.expected != label:
                break
            here = outputs[bisect_left(outputs, period.start) : bisect_left(outputs, end)]
            every.update(here)
            differing = DIFFERING.match(period.actual) if period.is_wrong else None
            if period.state == "correct" or (differing is not None and not differing[2]):
                right.update(here)
            if period.is_wrong and not differing and period.actual not in {"", REDACTED.literal}:
                given[period.actual].update(here)
    most = [(value, sorted(at for at in of if of[at] >= _SHARE * every[at])) for value, of in given.items()]
    value, agreed = max(most, key=lambda item: len(item[1]), default=("", []))
    return value, agreed, len(every), len(right), len(agreed) >= max(_LEAST, _SHARE * len(every))


def _doubts(cells: CellMap, flipped: Iterable[CellFlip], at: int, outputs: Sequence[int]) -> Doubts:
    """Count the cells that broke up to a point and say little of why: they flip often, or their label is in doubt."""
    found: dict[str, list[int]] = {}
    broken = [flip for flip in flipped if flip.after and flip.fate == "broken"]
    cells_of = cells.by_label if broken and cells.cases else {}
    for _, cell, _, newest in broken:
        label = newest.expected if newest else ""
        recent = [
            each._replace(periods=each.periods[max(0, end - _RECENT) : end])
            for each in cells_of.get((cells.cases.get(cell.document, cell.document), *cell.key[1:]), [cell])
            if (end := bisect_left(each.periods, (at + 1,)))
        ]
        own = next(each.periods for each in recent if each.document == cell.document)
        same = [one.is_wrong for one in own if one.state != "absent" and one.expected == label]
        often = sum(map(ne, same, same[1:])) >= _OFTEN
        doubtful = not cell.extra and contradicting(recent, outputs, at)[-1]
        if often or doubtful:
            counts = found.setdefault(cell.attribute, [0, 0])
            counts[:] = counts[0] + often, counts[1] + doubtful
    return tuple((name, often, doubtful) for name, (often, doubtful) in sorted(found.items()))


def _with_losses(found: Flips, cells: CellMap, pair: tuple[int, int]) -> Flips:
    """Add the attributes that were lost between two points, and how many others are unsteady."""
    wrong_before = {attribute for attribute, _ in (*found.fixed, *found.still)}
    broken = {name: number for name, number in found.broken if number >= FEWEST_LOST and name not in wrong_before}
    if not broken:  # as a rule
        return found
    flipped = Counter(dict(found.fixed)) + Counter(dict(found.broken))
    lost, expected, right = Counter[str](), Counter[str](), set[str]()
    for cell in cells.cells:
        first, last = cells.judged_alike(cell, *pair), cell.at(pair[1])
        if not first or not last or "absent" in (first.state, last.state) or not cells.holds(cell.document, *pair):
            continue
        expected[cell.attribute] += first.state not in BLANK
        if cell.attribute in broken:
            lost[cell.attribute] += first.state == "correct" and last.is_wrong
            right |= {cell.attribute} if last.state == "correct" else set()
    gone = {name: lost[name] for name in broken if name not in right and lost[name] >= FEWEST_LOST}
    unsteady = sum(2 * flipped[name] >= expected[name] for name, _ in found.broken if name not in gone)
    return replace(found, lost=tuple(gone.items()), unsteady=unsteady if gone else 0)


def fate_of(before: Period | None, after: Period | None, held: bool) -> Fate | None:
    """Return the fate of a cell; None if it is wrong at neither point. ``held``: both outputs were asked about it."""
    was_wrong = before is not None and before.state in WRONG
    is_wrong = after is not None and after.state in WRONG
    if was_wrong and is_wrong:
        return "still_wrong"
    if not was_wrong and not is_wrong:
        return None
    states = [period.state for period in (before, after) if period is not None and period.state != "absent"]
    if held and (len(states) == 2 or states == ["hallucination"]):
        return "broken" if is_wrong else "fixed"
    return "appeared" if is_wrong else "vanished"


def net_by_item(flipped: Iterable[CellFlip], cases: Mapping[str, str]) -> Mapping[CellKey, int]:
    """Return for each ``Cell.item`` how many more of its cells were fixed than broken."""
    net: Counter[CellKey] = Counter()
    for flip in flipped:
        if flip.fate in ("fixed", "broken"):
            net[flip.cell.item(cases)] += 1 if flip.fate == "fixed" else -1
    return net


def number_of_cells(tally: Tally) -> int:
    """Return the number of cells of all attributes."""
    return sum([number for _, number in tally])
