"""``comparison_plots.png`` or ``.svg``: variants as bars with their thresholds, and as a radar; changes as bars.

matplotlib comes with the extra ``plots``. No clock, no random ids: the same comparison gives the same bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from io import BytesIO
from math import pi
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from sitegen.analysis.comparison.change import ResultChange
from sitegen.analysis.comparison.values import VariantComparison, VariantNumbers
from sitegen.comparison_files.document import ComparisonDocument
from sitegen.errors import SitegenError
from sitegen.model.metrics import MetricSpec
from sitegen.scoring.usage import USAGE, USAGE_METRICS
from sitegen.text.plain import encodable, line
from sitegen.text.values import amount

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

PlotFormat: TypeAlias = Literal["png", "svg"]

_Metric: TypeAlias = tuple[str, str, str, float]
_Took: TypeAlias = list[tuple[MetricSpec, list[float | None]]]
"""Each amount that any side states, with the value of each side."""
METRICS: Final[tuple[_Metric, ...]] = (
    ("accuracy", "accuracy", "Accuracy", 1.0),
    ("consistency", "consistency_score", "Consistency", 1.0),
    ("quality", "average_quality", "Quality / 5", 5.0),
    ("rouge1", "rouge1", "ROUGE-1", 1.0),
    ("rouge2", "rouge2", "ROUGE-2", 1.0),
    ("rougeL", "rougeL", "ROUGE-L", 1.0),
)
"""(attribute of a variant, name of the metric, label, best value)."""

SHOWN: Final = 12
"""Evals that one picture shows."""

COLOURS: Final = ("#12161c", "#b25508", "#1257d0", "#128577", "#571a4e", "#8a5a00")
SETTINGS: Final[dict[str, Any]] = {
    "svg.hashsalt": "sitegen",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.usetex": False,
    "text.parse_math": False,
}
METADATA: Final[dict[PlotFormat, dict[str, str | None]]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": "sitegen"},
}


class NoPlotsError(SitegenError):
    """matplotlib is not there."""

    def __init__(self) -> None:
        super().__init__(
            "There is no picture of the comparison: matplotlib is not installed.",
            fix="pip install 'sitegen-evals[plots]'",
        )


def plots(document: ComparisonDocument, format_: PlotFormat, thresholds: Mapping[str, Mapping[str, float]]) -> bytes:
    """The picture. ``thresholds``: least value wanted, by eval, then by name of the metric.

    Raises NoPlotsError without matplotlib.
    """
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise NoPlotsError from None
    changes = document.changes[: max(0, SHOWN - len(document.variants))]
    rows = len(document.variants) + len(changes)
    out = BytesIO()
    settings: Any = {**mpl.rcParamsDefault, **SETTINGS}
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name in a script that the font lacks is drawn as boxes
        figure = Figure(figsize=(11, 4.6 * max(1, rows)), layout="constrained")
        FigureCanvasAgg(figure)
        parts = figure.subfigures(max(1, rows), 1, squeeze=False)[:, 0]
        for part, comparison in zip(parts, document.variants, strict=False):
            _draw_variants(part, comparison, thresholds.get(comparison.eval_id, {}))
        for part, change in zip(parts[len(document.variants) :], changes, strict=True):
            _draw_change(part, change)
        figure.savefig(out, format=format_, dpi=120, metadata=METADATA[format_])
    return out.getvalue()


def _draw_variants(part: SubFigure, comparison: VariantComparison, thresholds: Mapping[str, float]) -> None:
    part.suptitle(_plain_text(comparison.eval_id))
    all_measured = [
        metric for metric in METRICS if all(_metric_value(one, metric) is not None for one in comparison.variants)
    ]
    took = _took(
        [{spec.name: getattr(variant, spec.name) for spec in USAGE_METRICS} for variant in comparison.variants]
    )
    part = _beside_usage(part, took)
    columns = 2 if len(all_measured) > 2 else 1
    _draw_bars(part.add_subplot(1, columns, 1), comparison, thresholds)
    if columns == 2:
        _draw_radar(part.add_subplot(1, 2, 2, projection="polar"), comparison, all_measured)
    part.legend(*part.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)


def _draw_bars(axes: Axes, comparison: VariantComparison, thresholds: Mapping[str, float]) -> None:
    shown = [metric for metric in METRICS if any(_metric_value(one, metric) is not None for one in comparison.variants)]
    width = 0.8 / len(comparison.variants)
    for k, variant in enumerate(comparison.variants):
        at = [index - 0.4 + width * (k + 0.5) for index in range(len(shown))]
        values = _metric_shares(variant, shown)
        bars = axes.bar(at, [value or 0 for value in values], width, label=_plain_text(variant.name), color=_colour(k))
        axes.bar_label(bars, ["—" if value is None else f"{value:.2f}" for value in values], padding=2, fontsize=8)
    for index, (_, name, _, best) in enumerate(shown):
        if name in thresholds:
            axes.hlines(thresholds[name] / best, index - 0.45, index + 0.45, colors="#b4233f", linestyles="dashed")
    axes.set_xticks(range(len(shown)), [label for _, _, label, _ in shown])
    axes.set_ylim(
        min([0.0, *(value for one in comparison.variants for value in _metric_shares(one, shown) if value)]), 1.12
    )
    axes.set_title("dashed: threshold", loc="right", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_radar(axes: Axes, comparison: VariantComparison, shown: Sequence[_Metric]) -> None:
    turns = [2 * pi * k / len(shown) for k in range(len(shown))]
    for k, variant in enumerate(comparison.variants):
        values = [max(0.0, value or 0) for value in _metric_shares(variant, shown)]
        axes.plot([*turns, turns[0]], [*values, values[0]], color=_colour(k), linewidth=1.8)
        axes.fill(turns, values, color=_colour(k), alpha=0.08)
    axes.set_xticks(turns, [label for _, _, label, _ in shown])
    axes.set_ylim(0, 1)


def _draw_change(part: SubFigure, change: ResultChange) -> None:
    part.suptitle(
        _plain_text(f"{change.eval_id}: {change.fixed} fixed, {change.broken} broken, {change.still_wrong} still wrong")
    )
    took = _took([{metric.name: getattr(metric, side) for metric in change.metrics} for side in ("before", "after")])
    part = _beside_usage(part, took)
    axes = part.add_subplot()
    shown = [
        metric
        for metric in change.metrics
        if (metric.before is not None or metric.after is not None) and metric.name not in USAGE
    ]
    for k, (label, side) in enumerate(((change.before, "before"), (change.after, "after"))):
        values = [getattr(metric, side) for metric in shown]
        at = [index + 0.4 * k - 0.2 for index in range(len(shown))]
        bars = axes.bar(at, [value or 0 for value in values], 0.4, label=_plain_text(label), color=_colour(k))
        axes.bar_label(bars, ["—" if value is None else f"{value:.2f}" for value in values], padding=2, fontsize=8)
    axes.set_xticks(range(len(shown)), [_plain_text(metric.label) for metric in shown])
    axes.spines[["top", "right"]].set_visible(False)
    part.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)


def _took(sides: Sequence[Mapping[str, float | None]]) -> _Took:
    every = [(spec, [stated.get(spec.name) for stated in sides]) for spec in USAGE_METRICS]
    return [(spec, values) for spec, values in every if any(value is not None for value in values)]


def _beside_usage(part: SubFigure, took: _Took) -> SubFigure:
    """Draw cost, tokens and time of each side, a row of bars each, for their units differ; returns what is left."""
    if not took:
        return part
    left: SubFigure
    left, right = part.subfigures(1, 2, squeeze=False, width_ratios=(3, 1))[0]
    for axes, (spec, values) in zip(right.subplots(len(took), 1, squeeze=False)[:, 0], took, strict=True):
        places = range(len(values))
        bars = axes.barh(places, [value or 0 for value in values], 0.7, color=[_colour(k) for k in places])
        texts = ["—" if value is None else amount(value, spec.unit) for value in values]
        axes.bar_label(bars, texts, padding=3, fontsize=8)
        axes.invert_yaxis()
        axes.set_xlim(0, 1.35 * max(value or 0 for value in values) or 1)
        axes.set_yticks([])
        axes.set_xticks([])
        axes.set_title(spec.label, loc="left", fontsize=8)
        axes.spines[["top", "right", "bottom"]].set_visible(False)
    return left


def _metric_value(variant: VariantNumbers, metric: _Metric) -> float | None:
    """Of its best value."""
    value: float | None = getattr(variant, metric[0])
    return None if value is None else value / metric[3]


def _metric_shares(variant: VariantNumbers, shown: Sequence[_Metric]) -> list[float | None]:
    return [_metric_value(variant, metric) for metric in shown]


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def _plain_text(text: str) -> str:
    """A name of a project as a label; matplotlib leaves labels that begin with an underscore out of legends."""
    shown = encodable(line(text, 60))
    return f"\u200b{shown}" if shown.startswith("_") else shown
