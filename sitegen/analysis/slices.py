"""Splits an output by who answered it and by what was asked: by variant, by model, and by each tag of its cases."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import fsum, inf
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.analysis.cells import cells_of
from sitegen.analysis.deltas import Compared, judged_documents
from sitegen.analysis.flips import flips
from sitegen.analysis.noise.samples import interval_of
from sitegen.analysis.regressions import REGAINED
from sitegen.analysis.series import output_of
from sitegen.importers.case import BETWEEN, MOST_NUMBERS
from sitegen.model.changes import ChangeVerdict, Interval
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.metrics import ROUNDING, MetricSpec
from sitegen.model.outcomes import ABSENT, Cell, CellMap
from sitegen.model.scorecards import ANSWERERS, DocumentScore, Result, Scorecard
from sitegen.model.series import Series
from sitegen.model.usage import RunUsage, spelled_number
from sitegen.scoring.answerers import axes_in_name
from sitegen.scoring.kinds import scorer
from sitegen.scoring.results_file import SliceRow
from sitegen.scoring.usage import with_usage
from sitegen.stats.counts import total
from sitegen.stats.intervals import median
from sitegen.text.plain import encodable, line
from sitegen.text.values import metric_text

_COMPARED: Final = 10_000  # documents of an output whose variants and models a page compares value by value
NAMED_SLICES: Final = 3  # slices of an eval that a sentence names at most
_MOST_VALUES: Final = 50  # values of an axis that has a table

At: TypeAlias = tuple[CellMap, int, int]
"""The cells of an eval, the index of the point whose answers are compared with these, and that of the point itself."""
NO_CELLS: Final[At] = CellMap((), (), {}), 0, 0


class Slice(Frozen):
    """The answers of one output that have the same value on each of some axes, as if the output had no others."""

    where: dict[str, str]
    """The value on each of the axes."""
    card: Scorecard
    value: float | None
    """The headline."""
    interval: Interval | None
    change: float | None = None
    """Of the headline since the point before, over the cases that both have; None without them."""
    verdict: ChangeVerdict | None = None
    best_of: tuple[str, ...] = ()
    """Among what it is better than each other one by more than chance, over the cases of both: ``all``, or the axes on
    which the others have its value, if there are two."""
    cells: Callable[[], Iterable[Cell]] = tuple
    """Returns those of its documents, under the names that its scorecard has, each with its state here alone."""

    def verdict_on(self, other: Slice, spec: MetricSpec) -> ChangeVerdict | None:
        """Judge another one against this one as the change from one output to another; None for recorded numbers."""
        from sitegen.analysis.noise.changes import metric_verdict  # takes time to import; few outputs have slices

        states = {cell.key: cell._replace(periods=(*cell.periods, ABSENT._replace(start=1))) for cell in self.cells()}
        for cell in other.cells():
            earlier = states[cell.key].periods[:1] if cell.key in states else ()
            states[cell.key] = cell._replace(periods=(*earlier, cell.periods[0]._replace(start=1)))
        sides = [{each.name: each.of_case for each in judged_documents(side.card)} for side in (self, other)]
        documents: dict[str, tuple[int, ...]] = dict.fromkeys(sides[1], (1,))
        documents |= {name: (0,) if name in sides[1] else (0, 1) for name in sides[0]}
        cases = {name: case for side in sides for name, case in side.items() if case}
        both = CellMap(outputs=(0, 1), cells=tuple(states.values()), documents=documents, cases=cases)
        return metric_verdict(spec, Compared(self.card, other.card), flips(both, 0, 1))

    @property
    def values(self) -> tuple[str, ...]:
        """The value on each of the axes."""
        return tuple(self.where.values())

    @property
    def by_answerer(self) -> bool:
        """Whether it is of a variant or model, and not of a tag of the cases."""
        return not self.where.keys().isdisjoint(ANSWERERS)

    @property
    def cost(self) -> float | None:
        """US dollars of all its answers; None unless all of them state it."""
        return self.card.usage.cost if self.card.usage else None

    @property
    def cost_of_answer(self) -> float | None:
        """US dollars of one answer, however often each case was asked."""
        answers = self.card.usage.answers if self.card.usage else 0
        return self.cost / answers if self.cost is not None and answers else None

    @property
    def latency(self) -> float | None:
        """Median seconds of an answer; None unless all of them state it."""
        return self.card.usage.latency_median if self.card.usage else None

    @property
    def is_worse(self) -> bool:
        """Whether it got worse by more than chance."""
        return self.verdict is not None and self.verdict.decision == "worse"

    def fall(self, spec: MetricSpec) -> str:
        """Say by how much the headline fell, or how much broke if that is all that there is of a fall."""
        by = self.change or 0.0
        if self.verdict and abs(by) < ROUNDING:
            return f"{self.verdict.broken:,} broke, {spec.label} unchanged"
        return f"{spec.label} {'rose' if by > 0 else 'fell'} by {metric_text(abs(by), spec.unit)}"

    @property
    def cases(self) -> int:
        """Number of cases with an answer."""
        return len({document.case for document in self.card.documents})


Part: TypeAlias = tuple[Scorecard, dict[str, str]]
"""The scorecard of some documents, and by the name of each in the whole its name there."""

Split: TypeAlias = Mapping[tuple[str, ...], Slice]
"""An output along one axis, or along two: the slices by their values, in the order in which these occur."""


def splits(before: Scorecard | None, after: Scorecard, spec: MetricSpec, at: At = NO_CELLS) -> Iterator[Split]:
    """Split an output along every axis on which its answers differ: by who answered, both axes first, then by tags.

    ``before``: the point before it, from which changes are computed. ``spec``: the headline. ``at``: the cells of both.
    """
    for of in _wanted(after):
        found = {part.values: part for part in _slices(before, after, of, spec, at)}
        rivals = [("all", [*found.values()])] if of[0] in ANSWERERS else []
        for axis in of if len(of) > 1 else ():  # those with one value on either
            rivals += ((axis, parts) for parts in grouped((each.where[axis], each) for each in found.values()).values())
        for among, parts in rivals:
            best = _highest(parts, spec)
            known = found[best.values].best_of if best else ("all",)
            gains = (other.verdict_on(best, spec) for other in parts if best and other is not best)
            if best and "all" not in known and all(gain and gain.decision == "better" for gain in gains):
                found[best.values] = replace(best, best_of=(*known, among))
        if found:
            yield found


def slices_of(
    before: Scorecard | None, after: Scorecard, spec: MetricSpec, at: At = NO_CELLS, *, pairs: bool = False
) -> Iterator[tuple[str, Slice]]:
    """Return every slice along one axis, with its axis; with ``pairs``, those along ``variant,model`` as well."""
    wanted = (axes for axes in _wanted(after) if pairs or len(axes) == 1)
    return ((",".join(axes), part) for axes in wanted for part in _slices(before, after, axes, spec, at))


def _wanted(card: Scorecard) -> list[tuple[str, ...]]:
    axes = axes_of(card)
    answerers = tuple(axis for axis in axes if axis in ANSWERERS)
    return [*([answerers] if len(answerers) > 1 else []), *((axis,) for axis in axes)]


def slices_by_name(card: Scorecard) -> dict[str, dict[str, str]]:
    """Return the values on every axis, and on variant and model together, of each slice by its name in ``[gate]``."""
    every = [(document, document.axes) for document in card.documents]
    both = ({axis: axes[axis] for axis in ANSWERERS} for _, axes in every if axes.keys() >= {*ANSWERERS})
    alone = ({axis: value} for of, axes in every for axis in (*axes, "case") for value in of.on(axis))
    return {",".join(map("=".join, values.items())): values for values in (*alone, *both)}


def slice_rows(card: Scorecard, spec: MetricSpec) -> list[SliceRow]:
    """Return the rows of a document of results."""
    return [
        SliceRow(
            axis=encodable(axis),
            value=encodable(BETWEEN.join(part.values)),
            axes={name: encodable(value) for name, value in part.where.items()},
            headline=part.value,
            interval=(part.interval.low, part.interval.high) if part.interval else None,
            cases=part.cases,
            cost=part.cost,
            latency=part.latency,
        )
        for axis, part in slices_of(None, card, spec, pairs=True)
    ]


def fallen_slices(series: Series) -> tuple[tuple[str, str, str], ...]:
    """Return what ``EvalSummary.fallen`` has, of the newest 20 points, or of those with ``_COMPARED`` documents."""
    spec, points, documents = series.specs[0], series.points, 0
    best: dict[tuple[str, str], float] = {}  # of each slice of the newest output the best value since
    found: dict[tuple[str, str], tuple[float, str]] = {}
    for at in range(len(points) - 1, max(0, len(points) - 20), -1):
        is_newest, (before, after) = not documents, points[at - 1 : at + 1]
        if documents > _COMPARED or (not is_newest and output_of(points, at - 1) == output_of(points, at)):
            continue
        documents += len(after.scorecard.documents)
        for axis, part in slices_of(before.scorecard, after.scorecard, spec, (series.cells, at - 1, at)):
            if (key := (axis, part.values[0])) not in best and not is_newest:
                continue
            value, by = [(each or 0.0) * (1 if spec.higher_is_better else -1) for each in (part.value, part.change)]
            later = best.setdefault(key, value)
            if part.is_worse and key not in found and (is_newest or later - value < -REGAINED * by):
                fell = f"{part.fall(spec)} at {line(after.snapshot.label, 60)}"
                found[key] = by, f"{fell}{', not regained since' * (not is_newest)}"
            best[key] = max(later, value)
    return tuple((*key, fall) for key, (_, fall) in sorted(found.items(), key=lambda fell: -abs(fell[1][0])))


def moved_answerers(series: Series, pair: tuple[int, int], on: Collection[str] = ANSWERERS) -> str:
    """Say which of several variants, and of several models, changed between two points by more than chance."""
    spec, (before, after) = series.specs[0], (series.points[index].scorecard for index in pair)
    sentences = []
    for axis in (axis for axis in axes_of(after) if axis in on):
        parts = _slices(before, after, (axis,), spec, (series.cells, *pair))
        found = [(part.change or 0.0, part, part.verdict.decision) for part in parts if part.verdict]
        beyond = (each for each in found if each[2] not in ("same", "cannot tell"))
        moved = sorted(beyond, key=lambda each: -abs(each[0]))
        named = [
            f"{line(part.values[0], 60)} {'rose' if by > 0 else 'fell'} by {metric_text(abs(by), spec.unit)} to "
            f"{metric_text(part.value or 0.0, spec.unit)} ({word})"
            for by, part, word in moved[:NAMED_SLICES]
        ]
        named += [f"{len(moved) - NAMED_SLICES} more changed by less"] * (len(moved) > NAMED_SLICES)
        still = len(found) - len(moved)
        rest = f"; the other{f' {still}' * (still > 1)} did not change" if moved else "none changed"
        if len(found) > 1:
            sentences.append(f"By {axis}: {', '.join(named)}{f'{rest} by more than chance' if still else ''}.")
    return " ".join(sentences)


def headlines_by(card: Scorecard, axes: tuple[str, ...], metric: str) -> dict[str, float | None]:
    """Return a metric of each group of answers with the same values on some axes; empty if no answer states these."""
    return {BETWEEN.join(values): part.metric(metric) for values, (part, _) in _parts(card, axes)}


def averaged(spec: MetricSpec, card: Scorecard) -> str:
    """Name the worst and the best variant or model that a metric averages, whichever differ more; empty without two."""
    axes = [axis for axis in axes_of(card) if axis in ANSWERERS]
    found = ((axis, headlines_by(card, (axis,), spec.name).items()) for axis in axes)
    known = [(axis, sorted((value, name) for name, value in of if value is not None)) for axis, of in found]
    several = [(axis, values) for axis, values in known if len(values) > 1]
    if not several:
        return ""
    axis, values = max(several, key=lambda of: of[1][-1][0] - of[1][0][0])
    ends = values[:: len(values) - 1] if spec.higher_is_better else values[:: 1 - len(values)]
    worst, best = (f"{metric_text(value)} ({line(name, 60)})" for value, name in ends)
    said = f"all {metric_text(ends[0][0])}" if ends[0][0] == ends[1][0] else f"{worst} to {best}"
    return f"average of {len(values)} {axis}s: {said}"


def by_answerer(card: Scorecard) -> dict[str, Scorecard]:
    """Return the scorecard of each variant and model that answered, by their names; empty if answers do not differ."""
    axes = tuple(axis for axis in axes_of(card) if axis in ANSWERERS)
    return {BETWEEN.join(values): part for values, (part, _) in _parts(card, axes)} if axes else {}


def crowded(card: Scorecard, spec: MetricSpec) -> list[tuple[str, list[tuple[str, float, int]]]]:
    """Return the axes with too many values for a table: values, their headline and number of cases, the best first."""
    found, shown = [], axes_of(card)
    for axis in (axis for axis in axes_of(card, inf) if axis not in shown):
        parts = _slices(None, card, (axis,), spec)
        rows = [(part.values[0], part.value, part.cases) for part in parts if part.value is not None]
        rows.sort(key=lambda row: (row[1] * (-1 if spec.higher_is_better else 1), -row[2]))
        found.append((axis, rows))
    return found


def axes_of(card: Scorecard, most: float = _MOST_VALUES) -> tuple[str, ...]:
    """Return the axes on which answers differ, in at most so many values: who answered, then tags.

    The values of a tag have two cases each on average: others tell cases apart. Many numbers measure the answers.
    """
    values: dict[str, set[str]] = {}
    for document in card.documents:
        for axis in document.axes:
            values.setdefault(axis, set()).update(document.on(axis))
    few = {
        axis: len(names)
        for axis, names in values.items()
        if 1 < len(names) <= most
        and (axis in ANSWERERS or len(names) <= MOST_NUMBERS or None in map(spelled_number, names))
    }
    cases = {(axis, value, document.case) for document in card.documents for axis in few for value in document.on(axis)}
    times = Counter(axis for axis, *_ in cases)
    several = {axis for axis, number in few.items() if axis in ANSWERERS or times[axis] >= 2 * number}
    return (*(axis for axis in ANSWERERS if axis in several), *sorted(several - {*ANSWERERS}))


def _slices(
    before: Scorecard | None, after: Scorecard, axes: tuple[str, ...], spec: MetricSpec, at: At = NO_CELLS
) -> Iterator[Slice]:
    by_document, (cells, *both) = defaultdict[str, list[Cell]](list), at
    for cell in cells.cells:
        by_document[cell.document].append(cell)
    earlier, later = (
        {
            values: Slice(
                where=dict(zip(axes, values, strict=True)),
                card=part,
                value=part.metric(spec.name),
                interval=interval_of(part, spec.name),
                cells=partial(_cells_at, by_document, names, place),
            )
            for values, (part, names) in (_parts(card, axes) if card else ())
        }
        for card, place in zip((before, after), both, strict=True)
    )
    for values, part in later.items():
        first = earlier.get(values)
        change = Compared(first.card, part.card).difference(spec.name) if first else None
        verdict = first.verdict_on(part, spec) if first and change is not None else None
        yield replace(part, change=change, verdict=verdict)


def whole(result: Result) -> Slice:
    """Return all answers of a result."""
    return Slice(where={}, card=result.scorecard, value=None, interval=None, cells=lambda: cells_of(result).cells)


def _cells_at(by_document: Mapping[str, Sequence[Cell]], names: Mapping[str, str], index: int) -> Iterator[Cell]:
    """Yield the cells that a point judged of documents, named anew."""
    for document, name in names.items():
        for cell in by_document.get(document, ()):
            period = cell.at(index)
            if period and period.state != "absent":
                yield cell._replace(document=name, periods=(period._replace(start=0),))


def answerers(card: Scorecard) -> list[tuple[tuple[str, str], ...]]:
    """Return each variant with each model, each variant and each model that a page compares, by axes and values.

    Empty if answers differ in neither, or are too many.
    """
    groups = [axes for axes in _wanted(card) if axes[0] in ANSWERERS]
    documents = () if card.traits.is_recorded or len(card.documents) > _COMPARED else card.documents
    wanted = (
        tuple([(axis, value) for axis in axes if (value := document.axes.get(axis))])
        for axes in groups
        for document in documents
    )
    return [*dict.fromkeys(side for side in wanted if side)]


def part_of(result: Result, wanted: Mapping[str, str]) -> Result:
    """Return the answers of a result that have a value on each of some axes, as if it had no others."""
    card = result.scorecard
    documents = [each for each in card.documents if all(wanted[axis] in (each.on(axis) or [""]) for axis in wanted)]
    part, names = _part(card, documents, _differing(card, tuple(wanted)))
    judged = (judgement for judgement in result.judgements if judgement.document in names)
    return Result(part, tuple(replace(judgement, document=names[judgement.document]) for judgement in judged))


def _parts(card: Scorecard, axes: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Part]]:
    """Yield a part for each group of documents with the same values on the axes."""
    groups = grouped((values, document) for document in card.documents for values in product(*map(document.on, axes)))
    differ = _differing(card, axes)
    for values, documents in groups.items():
        yield values, _part(card, documents, differ)


def _differing(card: Scorecard, axes: Sequence[str]) -> list[str]:
    """Return in which of variant and model the answers differ, here or in another output, besides these axes."""
    named = {axis for document in card.documents[:1] for axis in axes_in_name(document)}
    return [
        axis
        for axis in ANSWERERS
        if axis not in axes and (axis in named or len({document.axes.get(axis) for document in card.documents}) > 1)
    ]


def _part(card: Scorecard, documents: Sequence[DocumentScore], differ: Sequence[str]) -> Part:
    """Return the scorecard of the documents that have one value on each of some axes, and how each is named there.

    Each is named by its case, and by who answered it as far as answers differ in that on other axes (``differ``). It
    therefore has a partner in another slice, and a case that one model answers keeps its name when the model is
    replaced.
    """
    names = [document.name for document in documents]
    documents = [
        replace(
            document,
            name=BETWEEN.join(
                filter(None, (document.case, *(document.axes.get(axis, "") for axis in differ), document.repeat))
            ),
            of_case=document.case,
        )
        for document in documents
    ]
    values = dict(scorer(card.kind).metrics_for(documents) if len(documents) != 1 else documents[0].metrics)
    models = sorted({model for document in documents if (model := document.axes.get("model"))})
    costs = [document.cost for document in documents if document.cost is not None]
    times = [document.latency for document in documents if document.latency is not None]
    part = replace(
        card,
        counts=total(document.counts for document in documents),
        metrics=tuple(metric._replace(value=values.get(metric.name)) for metric in card.metrics),
        documents=tuple(documents),
        fields=(),
        variants=(),
    )
    usage = replace(
        card.usage or RunUsage(),
        answers=sum(document.answers for document in documents),
        models=tuple(models),
        cost=fsum(costs) if costs and len(costs) == len(documents) else None,
        latency_median=median(times) if times and len(times) == len(documents) else None,
        tokens_in=None,
        tokens_out=None,
        latency_p95=None,
    )
    return with_usage(part, usage), {name: document.name for name, document in zip(names, documents, strict=True)}


def _highest(slices: Sequence[Slice], spec: MetricSpec) -> Slice | None:
    """Return the slice with the best headline; None if fewer than two have one that was computed."""
    defined = [each for each in slices if each.value is not None and not each.card.traits.is_recorded]
    sign = 1 if spec.higher_is_better else -1
    return max(defined, key=lambda each: sign * (each.value or 0.0)) if len(defined) > 1 else None


def cheapest(split: Split, spec: MetricSpec) -> tuple[Slice, Slice, ChangeVerdict | None] | None:
    """Return the slice whose answers cost least of those that are not worse than the one with the best headline.

    The latter is returned as well, and the verdict on the difference, which is neither *worse* nor *likely worse*; None
    if both are one. None without a headline and a cost of the best and of another one.
    """
    best = _highest([*split.values()], spec)
    priced = [each for each in split.values() if each.cost_of_answer is not None and each.value is not None]
    if best is None or best.cost_of_answer is None or len(priced) < 2:
        return None
    for each in sorted(priced, key=lambda each: (round(each.cost_of_answer or 0.0, 9), each is not best)):
        if each is best:
            break
        verdict = best.verdict_on(each, spec)
        if verdict and verdict.decision not in ("worse", "likely worse"):
            return each, best, verdict
    return best, best, None
