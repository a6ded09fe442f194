"""PASS, FAIL or SKIP: metrics against their thresholds, for every kind alike (rule 32)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from sitegen.model.metrics import Metric, MetricSpec, Verdict, VerdictRow, VerdictStatus


def verdict(
    specs: Sequence[MetricSpec],
    thresholds: Iterable[tuple[str, float]],
    values: Iterable[Metric],
    only: Collection[str] | None = None,
) -> Verdict:
    """Judge the metrics of one result.

    A threshold of the eval goes before the kind's own. It is inclusive, and where lower is better it is the value
    wanted at most. A metric without a threshold has no row. *only* these metrics are judged, if it is given.
    """
    names = [spec.name for spec in specs]
    wanted = dict(thresholds)
    known: Mapping[str, float | None] = dict(values)
    rows = []
    advice = []
    for spec in specs:
        if only is not None and spec.name not in only:
            continue
        threshold = wanted.get(spec.name, spec.least)
        value = known.get(spec.name)
        if threshold is not None:
            row = VerdictRow(
                metric=spec.name,
                label=spec.label,
                value=value,
                threshold=threshold,
                status=_status(value, threshold, spec),
            )
            rows.append(row)
            if row.status == "FAIL":
                advice.append(_failed(spec, threshold))
        if value is None and (threshold is not None or spec.when_undefined):
            advice.append(_undefined(spec))
    for name, threshold in wanted.items():
        if name not in names:
            rows.append(VerdictRow(metric=name, label=name, value=None, threshold=threshold, status="SKIP"))
            advice.append(f"There is no metric {name!r} here: name one of {', '.join(names)} in the thresholds.")
    failed = tuple(row.metric for row in rows if row.status == "FAIL")
    return Verdict(
        rows=tuple(rows),
        overall_status=_overall(rows),
        failed_criteria=failed,
        recommendations=tuple(dict.fromkeys(advice)),
    )


def _status(value: float | None, threshold: float, spec: MetricSpec) -> VerdictStatus:
    if value is None:
        return "SKIP"
    reached = spec.reaches(value, threshold)
    return "PASS" if reached else "FAIL"


def _overall(rows: Sequence[VerdictRow]) -> VerdictStatus:
    statuses = {row.status for row in rows}
    if "FAIL" in statuses:
        return "FAIL"
    return "PASS" if "PASS" in statuses else "SKIP"


def _failed(spec: MetricSpec, threshold: float) -> str:
    side = "below" if spec.higher_is_better else "above"
    return f"{spec.label} is {side} {threshold:g}: {spec.when_failed or 'see the discrepancies in the report.'}"


def _undefined(spec: MetricSpec) -> str:
    return f"{spec.label} is undefined: {spec.when_undefined or 'nothing was expected or given.'}"
