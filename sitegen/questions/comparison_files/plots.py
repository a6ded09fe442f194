"""``comparison_plots.png`` or ``.svg``: variants as bars with their targets, and as a radar; changes as bars.

matplotlib comes with the extra ``plots``. No clock, no random ids: the same comparison gives the same bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from io import BytesIO
from math import pi
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from sitegen.analysis.variant_tests import VariantComparison, VariantNumbers
from sitegen.config.models import PlotFormat
from sitegen.questions.comparison_files.changes import ResultChange
from sitegen.questions.comparison_files.prompts import ComparisonDocument
from sitegen.scoring.usage import USAGE, USAGE_METRICS
from sitegen.text.plain import encodable, line
from sitegen.text.values import amount

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure


_Metric: TypeAlias = tuple[str, str, str, float]
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
"""Largest number of evals in a picture."""

_COLOURS: Final = ("#12161c", "#b25508", "#1257d0", "#128577", "#571a4e", "#8a5a00")
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


def plots(
    document: ComparisonDocument, format_: PlotFormat, thresholds: Mapping[str, Mapping[str, float]]
) -> bytes | None:
    """Return the picture; None if matplotlib is not installed.

    ``thresholds`` holds the least acceptable value by eval and by name of the metric.
    """
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return None
    changes = document.changes[: max(0, SHOWN - len(document.variants))]
    rows, out = len(document.variants) + len(changes), BytesIO()
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
    shares_by_metric = {
        metric: [_share_of_best(variant, metric) for variant in comparison.variants] for metric in METRICS
    }
    measured_by_all = [metric for metric, shares in shares_by_metric.items() if None not in shares]
    usage = [{spec.name: getattr(variant, spec.name) for spec in USAGE_METRICS} for variant in comparison.variants]
    part = _beside_usage(part, usage)
    columns = 2 if len(measured_by_all) > 2 else 1
    _draw_bars(part.add_subplot(1, columns, 1), comparison, thresholds)
    if columns == 2:
        axes = part.add_subplot(1, 2, 2, projection="polar")
        angles = [2 * pi * k / len(measured_by_all) for k in range(len(measured_by_all))]
        for k, variant in enumerate(comparison.variants):
            values = [max(0.0, _share_of_best(variant, metric) or 0) for metric in measured_by_all]
            axes.plot([*angles, angles[0]], [*values, values[0]], color=_colour(k), linewidth=1.8)
            axes.fill(angles, values, color=_colour(k), alpha=0.08)
        axes.set_xticks(angles, [label for _, _, label, _ in measured_by_all])
        axes.set_ylim(0, 1)
    part.legend(*part.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)


def _draw_bars(axes: Axes, comparison: VariantComparison, thresholds: Mapping[str, float]) -> None:
    variants = comparison.variants
    metrics = [metric for metric in METRICS if any(_share_of_best(variant, metric) is not None for variant in variants)]
    lowest = 0.0
    for k, variant in enumerate(variants):
        shares = [_share_of_best(variant, metric) for metric in metrics]
        _draw_labelled_bars(axes, shares, label=variant.name, side=k, sides=len(variants))
        lowest = min([lowest, *(share or 0 for share in shares)])
    for index, (_, name, _, best) in enumerate(metrics):
        if name in thresholds:
            axes.hlines(thresholds[name] / best, index - 0.45, index + 0.45, colors="#b4233f", linestyles="dashed")
    axes.set_xticks(range(len(metrics)), [label for _, _, label, _ in metrics])
    axes.set_ylim(lowest, 1.12)
    axes.set_title("dashed: target", loc="right", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_labelled_bars(axes: Axes, values: Sequence[float | None], *, label: str, side: int, sides: int) -> None:
    """Draw the bars of one of several sides: one for each metric, with its value above it."""
    width = 0.8 / sides
    positions = [index + width * (side + 0.5) - 0.4 for index in range(len(values))]
    heights = [value or 0 for value in values]
    bars = axes.bar(positions, heights, width, label=_plain_text(label), color=_colour(side))
    axes.bar_label(bars, ["—" if value is None else f"{value:.2f}" for value in values], padding=2, fontsize=8)


def _draw_change(part: SubFigure, change: ResultChange) -> None:
    part.suptitle(
        _plain_text(f"{change.eval_id}: {change.fixed} fixed, {change.broken} broken, {change.still_wrong} still wrong")
    )
    usage = [{metric.name: getattr(metric, side) for metric in change.metrics} for side in ("before", "after")]
    part = _beside_usage(part, usage)
    axes = part.add_subplot()
    metrics = [
        metric
        for metric in change.metrics
        if (metric.before is not None or metric.after is not None) and metric.name not in USAGE
    ]
    for k, (label, side) in enumerate(((change.before, "before"), (change.after, "after"))):
        values = [getattr(metric, side) for metric in metrics]
        _draw_labelled_bars(axes, values, label=label, side=k, sides=2)
    axes.set_xticks(range(len(metrics)), [_plain_text(metric.label) for metric in metrics])
    axes.spines[["top", "right"]].set_visible(False)
    part.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)


def _beside_usage(part: SubFigure, sides: Sequence[Mapping[str, float | None]]) -> SubFigure:
    """Draw cost, tokens and time of the sides as bars with scales of their own, unless no side states any.

    Returns the part of the figure that remains.
    """
    stated = ((spec, [side.get(spec.name) for side in sides]) for spec in USAGE_METRICS)
    usage = [(spec, values) for spec, values in stated if any(value is not None for value in values)]
    if not usage:
        return part
    left: SubFigure
    left, right = part.subfigures(1, 2, squeeze=False, width_ratios=(3, 1))[0]
    for axes, (spec, values) in zip(right.subplots(len(usage), 1, squeeze=False)[:, 0], usage, strict=True):
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


def _share_of_best(variant: VariantNumbers, metric: _Metric) -> float | None:
    value: float | None = getattr(variant, metric[0])
    return None if value is None else value / metric[3]


def _colour(index: int) -> str:
    return _COLOURS[index % len(_COLOURS)]


def _plain_text(text: str) -> str:
    """Return a name as a label. Matplotlib omits one that begins with an underscore: nothing seen stands before it."""
    label = encodable(line(text, 60))
    return f"\u200b{label}" if label.startswith("_") else label
