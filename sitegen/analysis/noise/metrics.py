"""Whether a change of any metric is more than chance: the same three witnesses as for the headline."""

from __future__ import annotations

from sitegen.analysis.noise.changes import change_verdict
from sitegen.analysis.noise.samples import is_counted
from sitegen.model.cells import Flips
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict, Noise
from sitegen.model.scorecards import Scorecard


def metric_verdict(
    spec: MetricSpec, before: Scorecard, after: Scorecard, kind: str, flips: Flips, noise: Noise | None = None
) -> ChangeVerdict | None:
    """Hold a metric of a point against an earlier one, as ``change_verdict`` does; None if nothing tells its noise.

    Nothing does where a metric is neither a ratio of counts nor a mean over documents, and for what kind ``responses``
    measures besides its headline: that is made from answers (``answers``). ``noise``, what repeated outputs tell, is of
    the headline alone.
    """
    traits = traits_of(kind)
    if traits.is_recorded:
        return None
    leads = after.metrics[0].name == spec.name
    if not leads and (traits.answers_cases or not _has_units(spec.name, after)):
        return None
    return change_verdict(
        _led_by(spec.name, before),
        _led_by(spec.name, after),
        kind,
        flips,
        noise=noise if leads else None,
        higher_is_better=spec.higher_is_better,
    )


def _has_units(name: str, card: Scorecard) -> bool:
    return is_counted(name) or any(metric.name == name for each in card.documents for metric in each.metrics)


def _led_by(name: str, card: Scorecard) -> Scorecard:
    """The same with another metric in the place of the headline."""
    return card._replace(metrics=tuple(sorted(card.metrics, key=lambda metric: metric.name != name)))
