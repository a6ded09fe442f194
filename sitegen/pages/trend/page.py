"""The trend page of an eval: every metric, error type and field over all points, on one axis.

``pages/trend.html`` reads the points themselves, and asks the view for the rest.
"""

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice, pairwise
from operator import ne
from typing import Final, TypeAlias

from markupsafe import Markup
from msgspec.structs import replace

from sitegen.analysis import recorded
from sitegen.analysis.causes import ProblemCause
from sitegen.analysis.change import best_points, change
from sitegen.analysis.deltas import comparable_since
from sitegen.analysis.noise.repeats import FEWEST, noise_of, repeats_among
from sitegen.analysis.series import problems_of_point
from sitegen.analysis.slices import Split, axes_of, headlines_by, splits
from sitegen.importers.case import BETWEEN
from sitegen.model.changes import Change, Noise
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.metrics import Counts, MetricSpec
from sitegen.model.outcomes import LARGEST_NUMBER
from sitegen.model.scorecards import ANSWERERS, Scorecard
from sitegen.model.series import EvalInfo, EvalSummary, Point, Series
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.pages.html.formats import NIL, path, percent
from sitegen.pages.html.tables import Column
from sitegen.pages.labels import CAUSES, DisplayedChange, changes
from sitegen.pages.other_pages import score_changes
from sitegen.pages.report.discrepancies import TOP_LEVEL, section
from sitegen.pages.report.page import files
from sitegen.pages.report.report_rows import type_label, type_mark
from sitegen.pages.report.why_rows import agrees_with_now
from sitegen.scoring.usage import USAGE
from sitegen.stats.counts import errors, judged, total, wrong_share

VARIANTS: Final = 6
"""Largest number of values of one axis that are drawn: variants, models, or those of a tag."""

_OTHERS: Final = 12  # largest number of lines of further axes, and of models under variants

_BOTH: Final = "variant and model"
JUDGE: Final = "judge"
"""What stands for an axis before the name of a judge, whose line is the mean of its scores."""

_AXES: Final = {_BOTH: ANSWERERS}  # what an axis of several stands for, by its name

NEWEST: Final = 200
"""Number of the newest iterations whose rows are on the page and whose values are all drawn. Older ones are drawn in
groups, and their rows and values are in a file beside the page (``trend_rows.older_rows``)."""

_DRAWN: Final = 3  # largest number of metrics that are drawn: the first of the kind that have the headline's range

DOCUMENTS: Final = 100
"""Largest number of documents that are listed: the ones that most outputs got wrong."""

HEAT_ROWS: Final = 60
"""Largest number of fields in the heat map: the ones that changed last."""


FieldOverPoints: TypeAlias = tuple[str, Counts | None, int, int]
"""An attribute, its counts at the newest point (None if it was not judged there), and how many of its
values were wrong and how many were judged at all points."""


HeatRow: TypeAlias = tuple[str, tuple[float | None, ...]]
"""An attribute, or a section, and its share of wrong values at each point, None where not judged."""


class TrendView(Frozen, dict=True, gc=True):
    """What ``pages/trend.html`` shows. What has a value for each point has them in the order of the points."""

    series: Series
    summary: EvalSummary
    columns: tuple[tuple[str, str], ...] = ()
    """The columns of the ground truth, by the newest point's mapping."""

    @property
    def info(self) -> EvalInfo:
        """The eval."""
        return self.series.info

    @property
    def specs(self) -> tuple[MetricSpec, ...]:
        """Its metrics."""
        return self.series.specs

    @property
    def points(self) -> tuple[Point, ...]:
        """Oldest first."""
        return self.series.points

    @cached_property
    def drawn(self) -> int:
        """Number of metrics that are drawn."""
        alike = [(spec.low, spec.high) == (self.specs[0].low, self.specs[0].high) for spec in self.specs[:_DRAWN]]
        return [*alike, False].index(False)

    @cached_property
    def values(self) -> list[tuple[float | None, ...]]:
        """The values of all metrics at each point."""
        return [_values(point.scorecard, self.specs) for point in self.points]

    @cached_property
    def now(self) -> list[tuple[float | None, ...]]:
        """The drawn metrics at each point by the newest ground truth and rules; empty if that makes no difference."""
        then, specs = [values[: self.drawn] for values in self.values], self.specs[: self.drawn]
        now = [_values(point.now, specs) if point.now else at for point, at in zip(self.points, then, strict=True)]
        return now if now != then else []

    @cached_property
    def changes(self) -> list[tuple[DisplayedChange, ...]]:
        """Changes of the drawn metrics since the point before; none at the first point."""
        # Recorded numbers show their changes even if they do not share a range, because no other page does.
        changed = self.specs[: _DRAWN if self.info.recorded else self.drawn]
        return [(), *(changes(changed, self.info.nouns, *pair) for pair in pairwise(self.points))]

    @cached_property
    def edited(self) -> list[tuple[str, ...]]:
        """Paths of the instruction files that were edited before each point."""
        return edited_before_outputs(self.points)

    @cached_property
    def lines(self) -> tuple[str, tuple[str, ...]]:
        """The axis whose values have lines of their own, and these values; none if there are fewer than two.

        They are the models of answers, those of the newest point first; if no output has several, the variants; if no
        output has several of these, the models of the outputs.
        """
        models = _values_on(self.series, "model")
        variants = () if models else _values_on(self.series, "variant")
        made_by = tuple(dict.fromkeys(filter(None, (point.made_by for point in reversed(self.points)))))[:VARIANTS]
        return ("variant", variants) if variants else ("model", models or (made_by if len(made_by) > 1 else ()))

    @property
    def answerers(self) -> list[Split]:
        """The newest answers by variant and model, or by one of them; empty if they differ in neither."""
        before, newest = ([None, None, *(point.scorecard for point in self.points)])[-2:]
        at = self.series.cells, len(self.points) - 2, len(self.points) - 1
        found = islice(splits(before, newest, self.specs[0], at), 1) if newest else ()
        return [split for split in found if next(iter(split.values())).by_answerer]

    @cached_property
    def others(self) -> list[tuple[str, str]]:
        """The lines of further axes on which the newest answers differ: each axis and a value on it.

        After these come the models under each variant, if there are several of both, and the judges.
        """
        axes = axes_of(self.points[-1].scorecard) if self.points else ()
        values = ((axis, value) for axis in axes if axis != self.lines[0] for value in _values_on(self.series, axis))
        both = _values_on(self.series, _BOTH, _OTHERS) if set(ANSWERERS) <= set(axes) else ()
        judges = () if JUDGE in axes else _values_on(self.series, JUDGE)
        named = chain(((_BOTH, pair) for pair in both), ((JUDGE, name) for name in judges))
        return [*islice(values, _OTHERS), *named]

    @cached_property
    def fields(self) -> tuple[FieldOverPoints, ...]:
        """Attributes in the order of the newest point; those that it lacks follow in the order of their first point.

        Attributes that were never judged (a category that no document has) are left out: they have no page.
        """
        wrong: dict[str, int] = {}
        total: dict[str, int] = {}
        # Most attributes have the same few counts at every point. Multiplying equal counts takes a quarter of the time.
        equal = Counter(chain.from_iterable([point.scorecard.fields for point in self.points]))
        for (attribute, counts), times in equal.items():
            wrong[attribute] = wrong.get(attribute, 0) + errors(counts) * times
            total[attribute] = total.get(attribute, 0) + judged(counts) * times
        now = dict(self.points[-1].scorecard.fields) if self.points else {}
        names = [*now, *(attribute for attribute in total if attribute not in now)]
        return tuple((name, now.get(name), wrong[name], total[name]) for name in names if total[name])

    @cached_property
    def documents(self) -> list[tuple[str, int, int, int]]:
        """The documents or cases that outputs got wrong, the most often wrong first; none if there is only one.

        Of each its errors in the newest output, how many outputs or answers have an error in it, of how many.
        """
        new = [at for at in self.outputs if self.points[at].first_with_output is None]
        documents = [document for at in new for document in self.points[at].scorecard.documents]
        held = Counter(document.case for document in documents)
        wrong = Counter(document.case for document in documents if errors(document.counts))
        now: Counter[str] = Counter()
        for document in self.points[-1].scorecard.documents if self.points else ():
            now[document.case] += errors(document.counts)
        rows = [(name, now[name], times, held[name]) for name, times in wrong.items() if len(held) > 1]
        return sorted(rows, key=lambda row: (-row[2] / row[3], -row[1], row[0]))

    @cached_property
    def _counts(self) -> list[dict[str, Counts]]:
        return [dict(point.scorecard.fields) for point in self.points]

    @cached_property
    def moved(self) -> dict[str, tuple[float | None, ...]]:
        """The share of wrong values at each point, None where not judged, of the attributes of which it changed.

        The last to change come first, of these those that changed more often.
        """
        rows = {name: tuple([wrong_share(counts.get(name)) for counts in self._counts]) for name, *_ in self.fields}
        moved = {}
        for name, shares in rows.items():
            defined = [(index, share) for index, share in enumerate(shares) if share is not None]
            changed = [index for (_, before), (index, share) in pairwise(defined) if share != before]
            if changed:
                moved[name] = changed[-1], len(changed)
        return {name: rows[name] for name in sorted(moved, key=moved.__getitem__, reverse=True)}

    @cached_property
    def heat(self) -> list[HeatRow]:
        """The rows of the heat map: the first of these fields; none if that is a single row.

        Sections stand in the order of their last change, each with its fields below it. A section of which one field
        changed has no row of its own.
        """
        drawn = islice(self.moved, HEAT_ROWS)
        sections = grouped((name if section(name) == TOP_LEVEL else section(name), name) for name in drawn)
        every = grouped((section(name), name) for name in dict.fromkeys(chain.from_iterable(self._counts)))
        heat: list[HeatRow] = []
        for group, names in sections.items():
            if len(names) > 1:
                inside = ([counts[name] for name in every[group] if name in counts] for counts in self._counts)
                heat.append((group, tuple([wrong_share(total(counts)) for counts in inside])))
            heat += [(name, self.moved[name]) for name in names]
        return heat if len(heat) > 1 else []

    @property
    def older(self) -> int:
        """Number of iterations whose rows are not on the page."""
        return max(0, len(self.points) - NEWEST)

    @cached_property
    def values_of_lines(self) -> list[list[float | None]]:
        """The headline of the answers with each value that has a line of its own, or a judge's mean, at every point."""
        named = [*((self.lines[0], value) for value in self.lines[1]), *self.others]
        by_axis = {}
        for axis in dict.fromkeys(axis for axis, _ in named):
            axes, metric, cards = _AXES.get(axis, (axis,)), self.specs[0].name, (at.scorecard for at in self.points)
            by_axis[axis] = [headlines_by(card, axes, metric) or _judges(card, axis) for card in cards]
        if "model" in by_axis and max(map(len, by_axis["model"])) < 2:  # a model for each output
            heads = zip(self.points, self.values, strict=True)
            by_axis["model"] = [{point.made_by: values[0]} for point, values in heads]
        return [[heads.get(value) for heads in by_axis[axis]] for axis, value in named]

    @property
    def apart(self) -> int:
        """Number of points at which any drawn metric differs between the clocks."""
        return sum(map(ne, [values[: self.drawn] for values in self.values], self.now))

    @property
    def recorded_by_now(self) -> int:
        """Number of points whose recorded metrics agree only with the second clock."""
        return sum(agrees_with_now(point, self.specs[: self.drawn]) for point in self.points)

    @property
    def rules_changes(self) -> list[tuple[Point, str]]:
        """Points at which ground truth or rules changed, oldest first, and what changed."""
        changed = [(point, [CAUSES[it] for it in point.snapshot.cause if it != "outputs"]) for point in self.points[1:]]
        return [(point, ", ".join(causes)) for point, causes in changed if causes]

    @property
    def recorded_headlines(self) -> list[float | None]:
        """The headlines that the records of the runs state; None for values beyond its range.

        All are None if they agree with the computed ones.
        """
        spec = self.specs[0]
        stated: list[float | None] = [None] * len(self.points)
        if not self.info.recorded:
            stated = [point.snapshot.recorded_metrics.get(spec.name) for point in self.points]
        shown = [value if value is not None and spec.low <= value <= spec.high else None for value in stated]
        computed = [values[0] for values in self.values]
        both = [pair for pair in zip(shown, computed, strict=True) if None not in pair]
        differs = any(abs((there or 0.0) - (here or 0.0)) > recorded.CLOSE for there, here in both)
        return shown if differs else [None] * len(shown)

    @property
    def since_baselines(self) -> list[tuple[str, int, Change | None]]:
        """The name of each baseline, the index of its point, and the change since then; None at the newest point."""
        last = len(self.points) - 1
        return [
            (name, index, change(self.series, index, last) if index < last else None)
            for name, index in self.series.baselines
        ]

    @property
    def breaks(self) -> tuple[int, ...]:
        """Indices of points that cannot be compared with the one before: no document in common, or another judge."""
        name = self.specs[0].name
        since = comparable_since([point.scorecard for point in self.points], [name])[name]
        return tuple(sorted({*since} - {0}))

    @cached_property
    def bests(self) -> list[tuple[Point | None, float | None, str]]:
        """For each metric the earliest point with the best value, and this value, by the newest ground truth and rules.

        The words say which points were compared, if not all, and why the value differs from the report.
        """
        found: list[tuple[Point | None, float | None, str]] = []
        cards = [point.scorecard for point in self.points]
        since = comparable_since(cards, [spec.name for spec in self.specs])
        best_of = best_points(self.points, self.specs)
        for k, spec in enumerate(self.specs):
            best = best_of[spec.name][-1]
            words = "among comparable outputs" if since[spec.name][-1] else ""
            if best is None:
                found.append((None, None, words))
                continue
            value = (self.points[best].now or cards[best]).metric(spec.name)
            if value != self.values[best][k]:
                words = f"{words} as judged today".strip()
            found.append((self.points[best], value, words))
        return found

    @property
    def targets(self) -> list[tuple[MetricSpec, float, bool | None]]:
        """The targets of metrics, and whether the newest value reaches them; None if it is undefined."""
        found = []
        for k, spec in enumerate(self.specs):
            target = spec.target(self.info.thresholds)
            if target is not None and abs(target) <= LARGEST_NUMBER:
                value = self.values[-1][k] if self.values else None
                found.append((spec, target, None if value is None else spec.reaches(value, target)))
        return found

    @property
    def score_changes_of(self) -> tuple[ProblemCause, ...]:
        """The causes of problems that change the newest scores, the most severe first."""
        return score_changes(problems_of_point(self.info, self.points[-1]))

    @property
    def files_of(self) -> list[tuple[str, str]]:
        """The role and the path of the files that the newest point was scored from."""
        found = files(self.points[-1].snapshot) if self.points else ()
        return [(role, blob.path) for role, blob in found if blob]

    @property
    def usage_places(self) -> list[int]:
        """Indices of the usage metrics that any output states."""
        return [index for index, spec in enumerate(self.specs) if spec.name in USAGE]

    @property
    def outputs(self) -> list[int]:
        """Indices of the points with an output of their own, oldest first."""
        return [index for index, point in enumerate(self.points) if "outputs" in point.snapshot.cause]

    @property
    def states_usage(self) -> bool:
        """Whether any output states its usage or its model."""
        return bool(self.usage_places) or any(self.points[index].made_by for index in self.outputs)

    @property
    def last_change(self) -> int | None:
        """Index of the newest point that differs from the one before; if there is none, of the newest comparison.

        None if there are fewer than two points to compare, and for recorded numbers, which no test can distinguish from
        chance.
        """
        compared = {at: point.change for at, point in enumerate(self.points) if point.change}
        if self.info.recorded or not compared:
            return None
        moved = (
            at
            for at, change in compared.items()
            if change.headline.change != 0
            or any((change.flips.fixed, change.flips.broken, change.flips.appeared, change.flips.vanished))
        )
        return max(moved, default=max(compared))


def trend_page(series: Series, summary: EvalSummary, columns: tuple[tuple[str, str], ...] = ()) -> Page:
    """The page of one eval, which may have no point yet."""
    if not series.is_counted and not series.info.recorded:
        series = replace(series, specs=series.defined_specs)
    return Page(links.eval_trend(series.info.id), "pages/trend.html", TrendView(series, summary, columns))


def _values_on(series: Series, axis: str, most: int = VARIANTS) -> tuple[str, ...]:
    """The values of answers on an axis, or the judges; those of the newest point first, empty if no output has two."""
    axes = _AXES.get(axis, (axis,))
    stated = [
        dict.fromkeys(
            BETWEEN.join([document.axes[name] for name in axes])
            for document in point.scorecard.documents
            if document.axes.keys() >= {*axes}
        )
        or dict.fromkeys(_judges(point.scorecard, axis))
        for point in reversed(series.points)
    ]
    if max(map(len, stated), default=0) < 2:
        return ()
    return tuple(dict.fromkeys(chain.from_iterable(stated)))[:most]


def _judges(card: Scorecard, axis: str) -> Mapping[str, float | None]:
    """The means of the judges, which are no axis of answers; empty for any other one."""
    return card.judges if axis == JUDGE else {}


def _values(card: Scorecard, specs: Sequence[MetricSpec]) -> tuple[float | None, ...]:
    metrics = dict(card.metrics)
    return tuple([metrics.get(spec.name) for spec in specs])


def edited_before_outputs(points: Sequence[Point]) -> list[tuple[str, ...]]:
    """For each point the paths of the instructions that were edited before it.

    The output of a copy existed before the edit, so the edit is attached to the next point of the same commit that is
    not a copy, or to the last copy of the commit if there is none.
    """
    edited: list[tuple[str, ...]] = []
    waiting: dict[str, None] = {}
    for place, point in enumerate(points):
        waiting |= dict.fromkeys(edit.path for edit in point.edits)
        later = points[place + 1] if place + 1 < len(points) else None
        if point.is_copy and later and later.snapshot.commit == point.snapshot.commit:
            edited.append(())
        else:
            edited.append(tuple(waiting))
            waiting = {}
    return edited


def noise_of_repeats(series: Series) -> Noise | None:
    """The differences between outputs made again under unchanged instructions, over the whole series.

    None for fewer than three repeats or two pairs: a single pair may differ by chance.
    """
    noise = None if series.info.recorded else noise_of(repeats_among(series.points, series.cells))
    return None if noise is None or noise.pooled.rate is None or noise.outputs - noise.groups < FEWEST else noise


def heat_label(name: str, drawn: Container[str]) -> str:
    """The name of a field below the row of its section, which it leaves out."""
    group = section(name)
    return name.removeprefix(group).lstrip("[].") if group in drawn and group != name else name


def field_columns(info: EvalInfo) -> list[Column]:
    """A column for the name of an attribute, and for its errors now and over all points."""
    nouns = info.nouns

    def link(row: FieldOverPoints) -> Markup:
        return Markup('<a href="{}">{}</a>').format(links.field_in_eval(row[0]), path(row[0]))

    def of_now(count: Callable[[Counts], int]) -> Callable[[FieldOverPoints], int | str]:
        return lambda row: NIL if row[1] is None else count(row[1])

    return [
        Column("field", nouns.attribute.capitalize(), link, classes="label"),
        Column("errors", "Errors now", of_now(errors)),
        Column("judged", "of judged", of_now(judged)),
        *(
            Column(
                kind,
                type_mark(kind, nouns),
                lambda row, kind=kind: NIL if row[1] is None else getattr(row[1], kind) or "",
                title=type_label(kind, nouns),
            )
            for kind in nouns.error_types
        ),
        Column("all-errors", "Errors, all iterations", lambda row: row[2]),
        Column("all-judged", "of judged", lambda row: row[3]),
        Column("share", "Share", lambda row: percent(row[2], row[3])),
    ]
