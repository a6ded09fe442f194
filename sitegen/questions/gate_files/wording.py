"""Sentences that explain why an eval does not pass. They contain names of a project, which each format must escape."""

from __future__ import annotations

from collections.abc import Iterator

from sitegen.errors import SitegenError
from sitegen.model.gate import GateEval, GateMetric, GateReport, Reason
from sitegen.model.metrics import Nouns, traits_of
from sitegen.pages.change_text import MINUS, smallest_change, verdict_words
from sitegen.pages.labels import spread_words
from sitegen.scoring.kinds import BUILTIN_KINDS, scorer
from sitegen.text.markdown_cells import number, signed


def reason_sentences(check: GateEval) -> Iterator[str]:
    """The sentences about the whole eval, then those about each metric."""
    yield from (eval_sentence(check, reason) for reason in check.reasons)
    for metric in check.metrics:
        yield from metric_sentences(metric, check)


def change_text(metric: GateMetric) -> str:
    """The signed change in the metric's own unit, for an amount also in percent: ``+0.50 s (+25 %)``."""
    text = signed(metric.change, metric.unit)
    share = metric.points if metric.is_amount else None
    return text if share is None else f"{text} ({share:+.3g} %)"


def allowed_drop(metric: GateMetric) -> str:
    """By how much a metric may get worse: in its own unit, or for an amount in percent."""
    drop, spec = metric.drop or 0.0, metric.spec
    return f"{drop:g} %" if metric.is_amount else f"{drop * (spec.high - spec.low) / 100:g}"


def metric_sentences(metric: GateMetric, check: GateEval) -> Iterator[str]:
    """One sentence for each reason; none for *nothing in common* if that is a reason of the whole eval."""
    for reason in metric.reasons:
        if reason != "nothing in common" or reason not in check.reasons:
            yield f"{metric.label} {_metric_predicate(metric, reason, check)}."


def missed_floor(metric: GateMetric) -> str:
    """The value at the head and the floor that it misses: ``0.604, below the floor of 0.8``."""
    side = "below the floor" if metric.higher_is_better else "above the ceiling"
    return f"{number(metric.head, unit=metric.unit)}, {side} of {metric.floor:g}"


def spread_sentences(metric: GateMetric) -> Iterator[str]:
    """The variants that the values of a metric average at base and head, if an output has several variants."""
    for side, spread in (("base", metric.base_variants), ("head", metric.head_variants)):
        if spread:
            yield f"{metric.label} at the {side}: {spread_words(spread)}."


def eval_sentence(check: GateEval, reason: Reason) -> str:
    """A reason that concerns the eval as a whole."""
    match reason:
        case "removed":
            return (
                "Its ground truth or its outputs are gone. If this is intended, name the eval under removed in [gate]."
            )
        case "nothing in common":
            return f"Base and head have no {_counted_units(check)[0]} in common."
        case "too many broken":
            are_cases = traits_of(check.kind).answers_cases or not check.cells or check.cells[0].is_score
            values = f"{'case' if are_cases else 'value'}{'s' * (check.broken != 1)}"
            return f"{check.broken:,} {values} broke, and at most {check.max_broken:,} may."
        case "too few cases":
            one, several = _counted_units(check)
            judged = f"{check.cases or 0:,} {f'{one} is' if check.cases == 1 else f'{several} are'} judged at the head"
            return f"{judged}, and at least {check.min_cases:,} have to be."
        case "not fetched":
            return "A file of it is in Git LFS and was not fetched. Run git lfs fetch --all, then check again."
        case "another kind":
            return "Its kind is not the same as at the base."
        case _:
            headline = check.metrics[0]
            if headline.base is None and headline.head is None:
                return f"{headline.label} is undefined on both sides: the problems pages of their sites say why."
            side = "head" if headline.head is None else "base"
            return (
                f"{headline.label} is undefined at the {side}: the problems page of its site says why and what to do."
            )


def nouns_of(check: GateEval) -> Nouns:
    """The words of the kind of an eval. Kinds of installed packages have the usual ones: a reader may lack them."""
    return scorer(check.kind).nouns if check.kind in BUILTIN_KINDS else Nouns()


def _counted_units(check: GateEval) -> tuple[str, str]:
    """What an overlap and ``cases`` count, in the singular and in the plural."""
    nouns = nouns_of(check)
    if traits_of(check.kind).answers_cases:
        return "case", "cases"
    return (check.overlap.unit, check.overlap.units) if check.overlap else (nouns.document, nouns.documents)


def nothing_compared(report: GateReport) -> str:
    """The sentence for a gate that compared nothing; empty otherwise."""
    if report.matched or report.passed:
        return ""
    return "Nothing was compared: no eval has outputs on both sides with anything in common."


def error_sentence(error: SitegenError) -> str:
    """The reason why there is no report."""
    where = f" At: {error.where}." if error.where else ""
    return f"The gate cannot compare. {error.message}{where} {error.fix or ''}".rstrip()


def _metric_predicate(metric: GateMetric, reason: Reason, check: GateEval) -> str:
    chance = metric.noise
    words = verdict_words(chance, metric.spec, nouns_of(check)).replace(MINUS, "-") if chance else ""
    loss = "got worse, from nothing" if metric.points is None else f"got worse by {change_text(metric).lstrip('+-')}"
    match reason:
        case "below the floor":
            floor, before = metric.floor or 0.0, metric.base
            already = before is not None and not metric.spec.reaches(before, floor)
            return f"is {missed_floor(metric)}{', as it was at the base' if already else ''}"
        case "still below the floor":
            return f"is still {missed_floor(metric)}, as it was at the base, which does not fail"
        case "dropped":
            return f"{loss}, and at most {allowed_drop(metric)} is allowed{words and f': {words}'}"
        case "may be chance":
            if chance is None:
                return f"{loss}, which may be chance"
            least = smallest_change(chance, metric.spec)
            return f"{loss}: {chance.decision}: {words}{f'; {least}' if least else ''}"
        case "same output":
            return (
                f"{loss}, which is more than {allowed_drop(metric)}, by other ground truth or rules alone: "
                "the output is the same"
            )
        case "worse by the repeats of the base":
            return (
                f"{'is worse' if metric.noise is None else f'is {metric.noise.decision}'} with the repeats that the "
                f"branch added, and worse by those of the base alone, which decide{words and f': {words}'}"
            )
        case "worse on these cases":
            return f"is worse on these cases, however its value changed: {words}"
        case "nothing in common":
            return f"cannot be compared: base and head judge no {_counted_units(check)[0]} in common"
        case "another judge":
            return "comes from grades by another judge than at the base"
        case "no such metric":
            return "has a limit, but this kind has no such metric"
        case _:
            return "is undefined at the head"
