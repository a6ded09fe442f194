"""The report of the gate as JSON (``sitegen/gate/1``), and the reading of one from an untrusted machine.

The run that wrote such a report executed the code of a pull request, so the file may contain anything. Labels and nouns
come from sitegen's own kinds, and every verdict is derived again from values and limits.

Its sentences say why an eval does not pass. They contain names of a project, which each format must escape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from sitegen.analysis.gate import GIVEN, check_eval, check_report, gate_metric, mixes_units, stranger
from sitegen.config.models import Limit
from sitegen.errors import SitegenError
from sitegen.model.commits import WORKTREE
from sitegen.model.gate import SCHEMA, GateEval, GateMetric, GateReport, Reason
from sitegen.model.metrics import ROUNDING, Nouns, traits_of
from sitegen.pages.labels import documents_in_short, smallest_change, verdict_word, verdict_words
from sitegen.scoring import kinds
from sitegen.scoring.usage import all_specs
from sitegen.text.markdown_cells import number, signed
from sitegen.text.plain import counted, line
from sitegen.text.values import MINUS, first_names, metric_text

REPORT_BYTES: Final = 20_000_000  # bytes of a document that is read
MOST: Final = 10_000  # entries of a list, or characters of a text
_HIGHEST: Final = 1e9  # the largest absolute value of a number
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_UNIT: Final = re.compile(r"[A-Za-z%/ ]{0,20}", re.ASCII)
_DERIVED: Final = ("nothing in common", "undefined", "too many broken", "too few cases")  # by ``check_eval``


def read_report(content: bytes) -> GateReport:
    """Read a report, and derive its verdicts again. Raises SitegenError if the document is not a valid report."""
    try:
        said = _checked_document(content)
        evals = tuple(_derived(gate_eval, strict_floors=said.strict_floors) for gate_eval in said.evals)
        report = check_report(replace(said, evals=evals), allow_incomparable=said.passed)
        if (report.verdict, report.passed, report.matched) != (said.verdict, said.passed, said.matched):
            raise ValueError("its verdict does not follow from its evals")
    except (ValueError, RecursionError, IndexError) as error:
        message = f"The file is not a report of the gate: {error}."
        raise SitegenError(message, fix="Write one by sitegen check --json.") from None
    return report


def _checked_document(content: bytes) -> GateReport:
    """Return the document, if it has the right form and keeps the bounds. Raises ValueError or RecursionError."""
    if len(content) > REPORT_BYTES:
        raise ValueError(f"it has more than {REPORT_BYTES:,} bytes")
    body: Any = json.loads(content)
    _check_bounds(body)
    if not isinstance(body, dict) or body.get("schema") != SCHEMA:
        raise ValueError(f"it does not say that it is a {SCHEMA}")
    document = msgspec.convert(body, GateReport)
    edits = [edit for gate_eval in document.evals for edit in gate_eval.instructions]
    commits = [document.base, document.head, *(commit for edit in edits for commit in edit.commits)]
    commits += [gate_eval.or_edit for gate_eval in document.evals if gate_eval.or_edit is not None]
    if not all(_COMMIT.fullmatch(commit) or commit == WORKTREE for commit in commits):
        raise ValueError("the id of a commit is not valid")
    return document


def _check_bounds(value: Any) -> None:
    if isinstance(value, str | list | dict) and len(value) > MOST:
        raise ValueError(f"one of its texts or lists is longer than {MOST:,}")
    if isinstance(value, int | float) and not abs(value) <= _HIGHEST:  # NaN compares false
        raise ValueError(f"one of its numbers is larger than {_HIGHEST:,.0f}")
    for member in (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_bounds(member)


def _derived(gate_eval: GateEval, *, strict_floors: bool) -> GateEval:
    """Return the eval with verdicts that follow from its values and limits, and words of sitegen's own kinds."""
    if gate_eval.kind not in kinds.BUILTIN_KINDS:
        raise ValueError("there is no such kind of eval")
    by_name = {spec.name: spec for spec in all_specs(kinds.scorer(gate_eval.kind).metrics)}

    def derived(metric: GateMetric) -> GateMetric:
        limits = Limit(floor=metric.floor, drop=metric.drop)
        if "no such metric" in metric.reasons:
            return stranger(metric.name, limits)
        spec = by_name.get(metric.name)
        if spec is None:  # a metric of an installed package, or a number that a run recorded
            low, high = metric.range
            if high is None or not low < high:
                raise ValueError("the range of a metric is not valid")
            unit = metric.unit if _UNIT.fullmatch(metric.unit) else ""
            label = line(metric.label or metric.name, 60)
            spec = replace(metric.spec, label=label, unit=unit, recorded=traits_of(gate_eval.kind).is_recorded)
        return replace(
            gate_metric(spec, limits),
            base=metric.base,
            head=metric.head,
            change=metric.change if gate_eval.overlap else None,
            parts=metric.parts if gate_eval.overlap and not spec.recorded else None,
            by_base=metric.by_base,
            by_head=metric.by_head,
            reasons=tuple(reason for reason in metric.reasons if reason in GIVEN),
            noise=metric.noise
            and replace(metric.noise, change=metric.change if metric.by_head is None else metric.by_head),
            averaged=metric.averaged,
        )

    return check_eval(
        replace(
            gate_eval,
            reasons=tuple(reason for reason in gate_eval.reasons if reason not in _DERIVED),
            metrics=tuple(map(derived, gate_eval.metrics)),
        ),
        strict_floors=strict_floors,
    )


def change_text(metric: GateMetric) -> str:
    """Return the signed change in the metric's own unit, for an amount also in percent: ``+0.50 s (+25 %)``."""
    text = signed(metric.change, metric.unit)
    share = metric.points if metric.is_amount else None
    return text if share is None else f"{text} ({f'{share:+.3g}'.replace('-', MINUS)} %)"


def allowed_drop(metric: GateMetric) -> str:
    """Return by how much a metric may get worse: in its own unit, or for an amount in percent."""
    drop, spec = metric.drop or 0.0, metric.spec
    return f"{drop:g} %" if metric.is_amount else f"{drop * (spec.high - spec.low) / 100:g}"


def metric_sentences(metric: GateMetric, check: GateEval) -> Iterator[str]:
    """Yield a sentence for each reason, unless it is a caveat, or one of the whole eval."""
    for reason in metric.reasons:
        is_said = reason in check.reasons and (reason == "nothing in common" or metric is check.metrics[0])
        if reason != "still below the floor" and not is_said:
            yield f"{metric.label} {_metric_predicate(metric, reason, check)}."


def _missed_floor(metric: GateMetric) -> str:
    """Return the value at the head and the floor that it misses: ``0.604, below the floor of 0.8``."""
    side = "below the floor" if metric.higher_is_better else "above the ceiling"
    return f"{number(metric.head, metric.unit)}, {side} of {metric.floor:,g}"


def spread_sentences(metric: GateMetric) -> Iterator[str]:
    """Yield the variants that the values of a metric average at base and head, if an output has several variants."""
    for side, words in zip(("base", "head"), metric.averaged, strict=True):
        if words:
            yield f"{metric.label} at the {side}: {line(words, 200)}."


def eval_sentence(check: GateEval, reason: Reason) -> str:
    """Return a reason that concerns the eval as a whole."""
    match reason:
        case "removed":
            if check.slice:
                return "No case of it is left at the head. If this is intended, remove its limits from [gate]."
            return (
                "Its ground truth or its outputs are gone. If this is intended, name the eval under removed in [gate]."
            )
        case "nothing in common":
            what = "answer of the same model" if check.model else nouns_of(check).document
            return f"Base and head have no {what} in common."
        case "too many broken":
            return f"{count_of_broken(check)} broke, and at most {check.max_broken:,} may."
        case "too few cases" if check.min_cases is None:
            failed, missing = (check.lost.get("failed at the head"), check.overlap and check.overlap.only_base)
            lost = (
                (failed, "failed at the head, or are lost with a part of its output that cannot be read"),
                (missing, "are missing at the head"),
            )
            said = (f"{counted(len(ids), nouns_of(check).document)} of the base {how}" for ids, how in lost if ids)
            return f"{', and '.join(said)}. Run these again, or set min_cases."
        case "too few cases":
            one, several = nouns_of(check).document, nouns_of(check).documents
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


def caveats(check: GateEval) -> Iterator[str]:
    """Yield what to know of an eval before its verdict is believed: what this does not cover, and what it forgives."""
    nouns, overlap = nouns_of(check), check.overlap
    if overlap and overlap.verdict == "bridged":
        sides = (("base", overlap.only_base), ("head", overlap.only_head))
        short = ((len(names), side, first_names(documents_in_short(names), 5)) for side, names in sides if names)
        alone = (f"{number:,} only at the {side} ({listed})" for number, side, listed in short)
        units = nouns.document if overlap.common == 1 else nouns.documents
        if listed := ", ".join(alone):
            yield f"{overlap.common:,} {units} in common; not matched: {listed}"
    yield from (
        f"{how}: {first_names(names, words=lambda name: line(name, 150))}" for how, names in check.lost.items() if names
    )
    for metric in check.metrics:
        if "still below the floor" in metric.reasons:
            yield f"{metric.label} is {_missed_floor(metric)}, as it was at the base, which does not fail"
        elif metric.head is None and not metric.reasons and check.presence != "gone":
            if metric.base is not None:
                yield f"{metric.label} has no value at the head; it was {number(metric.base, metric.unit)} at the base"
            elif check.presence == "new" and metric is check.metrics[0]:
                yield f"{metric.label} has no value at the head: the problems page of its site says why"
        if mixes_units(metric, check.kind) and not metric.has_limit:
            yield f"{metric.label} {_metric_predicate(metric, 'another unit', check)}"
    if check.hidden:
        worse = first_names([f"{name} ({fall})" for name, _, fall in check.hidden])
        yield f"hidden by the average, worse by more than chance: {worse}"
    if check.stale:
        yield "not measured: instructions were edited, and no new output was made with them"


def count_of_broken(check: GateEval) -> str:
    """Return how much broke, with its unit: ``3 values``, ``1 case``, ``2 answers``, ``4 checks``."""
    are_cases = traits_of(check.kind).answers_cases or not check.cells or check.cells[0].is_score
    return counted(check.broken or 0, "case" if are_cases else nouns_of(check).value)


def nouns_of(check: GateEval) -> Nouns:
    """Return the words of an eval's kind for its metrics."""
    return kinds.nouns_of(check.kind, [metric.spec for metric in check.metrics])


def nothing_compared(report: GateReport) -> str:
    """Return the sentence for a gate that compared nothing; empty otherwise."""
    if report.matched or report.passed:
        return ""
    return "Nothing was compared: no eval has outputs on both sides with anything in common."


def error_sentence(error: SitegenError) -> str:
    """Return the reason why there is no report."""
    where = f" At: {error.where}." if error.where else ""
    return f"The gate cannot compare. {error.message}{where} {error.fix or ''}".rstrip()


_PREDICATES: Final = {
    "another judge": "comes from grades by another judge than at the base",
    "no such metric": "has a limit, but this kind has no such metric",
    "undefined": "is undefined at the head",
}


def _metric_predicate(metric: GateMetric, reason: Reason, check: GateEval) -> str:
    chance = metric.noise
    words = verdict_words(chance, metric.spec, nouns_of(check)) if chance else ""
    size = change_text(metric).lstrip(f"+{MINUS}")
    loss = "got worse, from nothing" if metric.points is None else f"got worse by {size}"
    ends = [(end or 0.0) * (-1 if metric.higher_is_better else 1) for end in (metric.by_head, metric.change)]
    by_head = f"{metric_text(abs(ends[0]), metric.unit)} by the ground truth and rules of the head"
    if ends[0] > ends[1] + ROUNDING:
        loss = f"got worse by {by_head}"
    loss += f", but better by {by_head} on both sides" * (ends[0] < -ROUNDING < ROUNDING < ends[1])
    match reason:
        case "below the floor":
            floor, before = metric.floor or 0.0, metric.base
            already = before is not None and not metric.spec.reaches(before, floor)
            return f"is {_missed_floor(metric)}{', as it was at the base' if already else ''}"
        case "dropped":
            return f"{loss}, and at most {allowed_drop(metric)} is allowed{words and f': {words}'}"
        case "may be chance":
            if chance is None:
                return f"{loss}, which may be chance"
            least = smallest_change(chance, metric.spec)
            return (
                f"{loss}: {verdict_word(chance, metric.spec.higher_is_better)}: {words}{f'; {least}' if least else ''}"
            )
        case "same output" | "other ground truth":
            worse = f"{loss}, which is more than {allowed_drop(metric)},"
            how = "is on another scale" if metric.change is None else worse
            output = "the same" if reason == "same output" else "no worse"
            return f"{how} by other ground truth or rules alone: the output is {output}"
        case "worse by what the base expects":
            size = signed(metric.by_base, metric.unit).lstrip(f"+{MINUS}")
            rules = "by the ground truth and rules of the base, and not by those of the head"
            return f"got worse by {size} {rules}: see which of them are right"
        case "worse by the repeats of the base":
            return (
                f"{'is worse' if metric.noise is None else f'is {metric.noise.decision}'} with the repeats that the "
                f"branch added, and worse by those of the base alone, which decide{words and f': {words}'}"
            )
        case "worse on these cases":
            return f"is worse on these cases, however its value changed: {words}"
        case "nothing in common":
            return f"cannot be compared: base and head judge no {nouns_of(check).document} in common"
        case "another unit":
            return f"went from {metric.base or 0:g} to {metric.head or 0:g}: one may be a share, the other a percentage"
        case _:
            return _PREDICATES[reason]
