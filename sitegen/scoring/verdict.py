"""Judges the metrics of a result against their thresholds: PASS, FAIL or SKIP (rule 32)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sitegen.model.metrics import Metric, MetricSpec, Threshold, Verdict, VerdictRow, VerdictStatus


def verdict(specs: Sequence[MetricSpec], thresholds: Iterable[Threshold], values: Iterable[Metric]) -> Verdict:
    """Judge these metrics of one result.

    A threshold of the eval overrides that of the kind. It is inclusive, and an upper limit where lower is better. A
    metric without a threshold has no row.
    """
    names = [spec.name for spec in specs]
    stated = tuple(thresholds)
    value_of: Mapping[str, float | None] = dict(values)
    rows = []
    advice = []
    for spec in specs:
        threshold = spec.target(stated)
        value = value_of.get(spec.name)
        if threshold is not None:
            status = _status(value, threshold, spec)
            rows.append(VerdictRow(metric=spec.name, label=spec.label, value=value, threshold=threshold, status=status))
            if status == "FAIL":
                side = "below" if spec.higher_is_better else "above"
                remedy = spec.when_failed or "see the errors in the report."
                advice.append(f"{spec.label} is {side} {threshold:g}: {remedy}")
        if value is None and (threshold is not None or spec.when_undefined):
            advice.append(f"{spec.label} is undefined: {spec.when_undefined or 'nothing was expected or given.'}")
    for name, threshold in stated:
        if name not in names:
            rows.append(VerdictRow(metric=name, label=name, value=None, threshold=threshold, status="SKIP"))
            advice.append(f"There is no metric {name!r} here: name one of {', '.join(names)} in the thresholds.")
    statuses = {row.status for row in rows}
    return Verdict(
        rows=tuple(rows),
        overall_status="FAIL" if "FAIL" in statuses else "PASS" if "PASS" in statuses else "SKIP",
        failed_criteria=tuple(row.metric for row in rows if row.status == "FAIL"),
        recommendations=tuple(dict.fromkeys(advice)),
    )


def _status(value: float | None, threshold: float, spec: MetricSpec) -> VerdictStatus:
    if value is None:
        return "SKIP"
    return "PASS" if spec.reaches(value, threshold) else "FAIL"
