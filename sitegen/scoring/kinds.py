"""The interface of scoring, the scorers of all eval kinds, and the metrics that a series of scorecards has.

A new kind is a module in this package and a line in ``BUILTIN_KINDS``, whose order is the order on the Methods page.
Its scorer is imported when an eval is of this kind. Packages that add metrics import ``sitegen.extending``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import chain
from math import fsum
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.config.extensions import METRICS, metric_object
from sitegen.config.findings import OWN_METRICS
from sitegen.data_files.reading import UnreadableError
from sitegen.errors import ConfigurationError
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import (
    ROUNDING,
    Counts,
    Metric,
    MetricSpec,
    Nouns,
    Verdict,
    VerdictRow,
    VerdictStatus,
    traits_of,
)
from sitegen.model.problems import Finding
from sitegen.model.scorecards import DocumentScore, FieldScore, Result, Scorecard
from sitegen.model.timeline import Blob, Snapshot
from sitegen.scoring.usage import USAGE, specs_with_usage
from sitegen.stats.counts import APART, PASSED, RATIOS, judged, total

Embedder: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Turns each text into a vector. All vectors have the same length, and the same text always has the same vector."""
_MAX_FINDINGS: Final = 100  # the most findings of a result
NO_METRIC: Final = MetricSpec("nothing", "Nothing recorded", "No file of this eval holds a number.", recorded=True)
"""The metric of a file without numbers, because a scorecard needs at least one metric."""


class File(Frozen):
    """An input file of a result. Its path determines the format; its content may be missing.

    A ``BlobRead`` is no substitute: scoring does not know git, whose blobs have object ids and no paths.
    """

    path: str
    content: bytes | None
    """None if there is no such file, or if git could not provide it."""
    reason: str = ""
    """Why the content is missing: ``the output is missing``, ``a Git LFS pointer``, ``larger than 20 MB`` ..."""
    fix: str = ""
    """What to do about the missing content; empty if nobody but the scorer knows."""


class ScoringInputs(Frozen):
    """All inputs of a result."""

    outputs: tuple[File, ...]
    """Empty if the output is missing."""
    ground_truth: File | None = None
    mapping: File | None = None
    schema: File | None = None
    settings: str = "{}"
    """The eval's settings as canonical JSON (an object): ``ground_truth_format`` and the keys of ``settings:``."""
    embedder: Embedder | None = None
    """Makes vectors of texts if a kind needs them and the files have none; None if there is no model."""

    @classmethod
    def of(cls, snapshot: Snapshot, files: Mapping[Blob, File]) -> ScoringInputs:
        """Return the inputs of a snapshot without an embedder. ``files``: its contents by their blobs."""
        roles = (snapshot.ground_truth, snapshot.mapping, snapshot.schema)
        truth, mapping, schema = (blob and files.get(blob) for blob in roles)
        outputs, settings = tuple(files[blob] for blob in snapshot.outputs), snapshot.settings
        return cls(outputs=outputs, ground_truth=truth, mapping=mapping, schema=schema, settings=settings)


class Scorer(Frozen):
    """Scores one eval kind. Pure: no clock, no disk, no network, no global state."""

    kind: str
    """The name of the kind in the manifest: ``fields``."""
    metrics: tuple[MetricSpec, ...]
    """The metrics of its scorecards, the headline first; empty if each scorecard describes its own (``specs``)."""
    nouns: Nouns
    """The words of this kind for documents, attributes and errors."""
    score: Callable[[ScoringInputs], Result]
    """Scores one output. Never raises on bad input, which becomes a status and findings."""
    metrics_for: Callable[[Sequence[DocumentScore]], tuple[Metric, ...]]
    """Computes the metrics of these documents alone; metrics that do not follow from their scores are undefined."""

    def unscored(self, findings: Sequence[Finding]) -> Result:
        """Return the result of an output without anything to compare it with: all metrics are undefined."""
        scorecard = Scorecard(
            status="no_ground_truth",
            counts=Counts(),
            metrics=tuple(Metric(spec.name, None) for spec in self.metrics if not spec.is_optional),
            documents=(),
            fields=(),
            findings=bounded_findings(findings),
            kind=self.kind,
        )
        return Result(scorecard, ())


def content_of(file: File | None, missing: str, fix: str) -> bytes:
    """Return the content of a file that scoring needs. Raises UnreadableError, with ``missing`` without a reason."""
    if file is None or file.content is None:
        raise UnreadableError((file.reason if file else "") or missing, (file.fix if file else "") or fix)
    return file.content


def bounded_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the first ``_MAX_FINDINGS`` findings, and a last one with the number of the others."""
    if len(findings) <= _MAX_FINDINGS:
        return tuple(findings)
    left = len(findings) - _MAX_FINDINGS
    more = "1 more finding is not listed" if left == 1 else f"{left} more findings are not listed"
    return (*findings[:_MAX_FINDINGS], Finding("warning", more, "Correct those above first."))


def verdict(specs: Sequence[MetricSpec], thresholds: Mapping[str, float], values: Iterable[Metric]) -> Verdict:
    """Judge these metrics of one result.

    A target of the eval overrides that of the kind. It is inclusive, and an upper limit where lower is better. A
    metric without a target has no row.
    """
    names = [name for spec in specs for name in spec.names]
    value_of: Mapping[str, float | None] = dict(values)
    rows = []
    advice = []
    for spec in specs:
        target, value = spec.target(thresholds), value_of.get(spec.name)
        if target is not None:
            status: VerdictStatus = "SKIP"
            if value is not None:
                status = "PASS" if spec.reaches(value, target) else "FAIL"
            rows.append(VerdictRow(metric=spec.name, label=spec.label, value=value, threshold=target, status=status))
            if status == "FAIL":
                side = "below" if spec.higher_is_better else "above"
                remedy = spec.when_failed or f"see the {'largest amounts' if spec.unit else 'errors'} in the report."
                advice.append(f"{spec.label} is {side} {target:,g}: {remedy}")
        if value is None and (target is not None or spec.when_undefined):
            advice.append(f"{spec.label} is undefined: {spec.when_undefined or 'nothing was expected or given.'}")
    for name, target in thresholds.items():
        if name not in names:
            rows.append(VerdictRow(metric=name, label=name, value=None, threshold=target, status="SKIP"))
            advice.append(f"There is no metric {name!r} here: name one of {', '.join(names)} in the thresholds.")
    statuses = {row.status for row in rows}
    return Verdict(
        rows=tuple(rows),
        overall_status="FAIL" if "FAIL" in statuses else "PASS" if "PASS" in statuses else "SKIP",
        failed_criteria=tuple(row.metric for row in rows if row.status == "FAIL"),
        recommendations=tuple(dict.fromkeys(advice)),
    )


_MOST_FIELDS: Final = 5_000  # of an output with a page of their own; a file may have any number of keys


class OwnMetric(Frozen):
    """The object of an entry point of the group ``sitegen.metrics``: a metric in addition to the metrics of a kind."""

    spec: MetricSpec
    version: int
    """Increased whenever a value could change, so that cached values are computed again."""
    kinds: tuple[str, ...]
    """The kinds that it can be computed for."""
    value: Callable[[Result], float | None]
    """Computes the value of one result; None if it is undefined. It must be a pure function without clock, disk or
    network."""
    of_documents: Callable[[Result], Mapping[str, float]] | None = None
    """Computes its value of each document by name, 0..1, if the metric is their mean, whose noise follows from these.
    Also pure."""


@cache
def own_metric(name: str) -> OwnMetric:
    """Return an installed metric. Raises ConfigurationError if the package has no ``OwnMetric`` of that name."""
    installed = metric_object(name)
    if isinstance(installed, OwnMetric) and installed.spec.name == name:
        return installed
    raise ConfigurationError(
        f"the entry point {name!r} of the group {METRICS!r} is no OwnMetric of that name",
        fix="Let it name a sitegen.extending.OwnMetric whose spec has that name.",
    )


def own_metrics(settings: str) -> tuple[OwnMetric, ...]:
    """Return the installed metrics that the JSON settings of an eval name. Raises ConfigurationError if one lacks."""
    return tuple(own_metric(name) for name in _metric_names(settings))


def installed_versions(*settings: str) -> tuple[tuple[str, int], ...]:
    """Return the names and versions of the installed metrics that the settings of evals name."""
    named = dict.fromkeys(chain.from_iterable(map(_metric_names, settings)))
    return tuple((name, _version(name)) for name in named)


def still_installed(metrics: Iterable[tuple[str, int]]) -> bool:
    """Whether all metrics that a site was built with are installed in the same versions."""
    return all(_version(name) == version for name, version in metrics)


def _version(name: str) -> int:
    """Return the version of a metric; 0 if it is not installed."""
    with suppress(ConfigurationError):
        return own_metric(name).version
    return 0


def _metric_names(settings: str) -> tuple[str, ...]:
    """Return the names under ``own_metrics``, which is a list or a single name."""
    if f'"{OWN_METRICS}"' not in settings:  # true of most evals, whose JSON need not be parsed
        return ()
    names = json.loads(settings).get(OWN_METRICS) or ()
    return tuple(dict.fromkeys(map(str, names if isinstance(names, list) else [names])))


def _with_bounded_fields(result: Result) -> Result:
    """Judge the fields of an output beyond ``_MOST_FIELDS`` under one name. Its numbers stay as they are."""
    card, rest = result.scorecard, "other fields"
    if len(card.fields) <= _MOST_FIELDS:
        return result
    message = f"{len(card.fields):,} fields are judged: those after the first {_MOST_FIELDS:,} are listed as {rest!r}"
    fix = "If the keys are ids of documents or cases, write a list of objects, each with its id."
    names = {field.attribute for field in card.fields[:_MOST_FIELDS]}
    other = FieldScore(rest, total(field.counts for field in card.fields[_MOST_FIELDS:]))
    judgements = (each if each.attribute in names else replace(each, attribute=rest) for each in result.judgements)
    fields, findings = (*card.fields[:_MOST_FIELDS], other), (Finding("warning", message, fix), *card.findings)
    return replace(result, scorecard=replace(card, fields=fields, findings=findings), judgements=tuple(judgements))


def scored_with_own_metrics(scorer: Scorer, inputs: ScoringInputs) -> Result:
    """Return the result of one output, with the installed metrics that the settings of its eval name.

    A metric that fails is undefined, and a finding gives the reason; other numbers are not affected. The same applies
    to a metric that is not installed, which the manifest of an earlier commit may name.

    All metrics are undefined if the content of an output could not be read: it says nothing about the model. Of fields,
    a document that has a file of its own is left out alone.
    """
    lacks_output, settings = any(file.content is None for file in inputs.outputs), inputs.settings
    moved = [inputs]
    del inputs  # only the scorer holds the contents, and can drop them before the end
    result = _with_bounded_fields(scorer.score(moved.pop()))
    lacks_output = lacks_output and not (traits_of(scorer.kind).is_structured and result.scorecard.status == "scored")
    if lacks_output:
        card = result.scorecard  # of which the findings and the names of the metrics are left
        bare = scorer.unscored(card.findings).scorecard
        undefined = tuple(Metric(metric.name, None) for metric in card.metrics)
        bare = replace(bare, metrics=undefined, convention=card.convention, specs=card.specs)
        bare = bare if card.status == bare.status else replace(bare, status="unreadable")
        result = Result(bare, (), data=result.data)
    card = result.scorecard
    values, findings, documents = [], list(card.findings), card.documents
    try:
        metrics = own_metrics(settings)
    except ConfigurationError as error:
        findings.append(Finding("error", f"In the settings, {error.message}", error.fix or ""))
        return replace(result, scorecard=replace(card, findings=tuple(findings)))
    if not metrics:
        return result
    for metric in metrics:
        try:
            if scorer.kind not in metric.kinds:
                raise TypeError(f"it is for evals of kind {' or '.join(metric.kinds)}")
            value = None if lacks_output else metric.value(result)
            value = None if value is None else float(value)
            if value is not None and metric.of_documents is not None:
                documents = _with_values(documents, metric, value, metric.of_documents(result))
        except Exception as error:
            message = f"The metric {metric.spec.name!r} failed: {type(error).__name__}: {error}"
            findings.append(Finding("error", message[:500], "Mend or remove the installed package."))
            value = None
        values.append(Metric(metric.spec.name, value if value is None or abs(value) < float("inf") else None))
    of_kind = [value for value in card.metrics if value.name not in USAGE]
    usage = [value for value in card.metrics if value.name in USAGE]
    specs = (*card.specs, *(metric.spec for metric in metrics))
    card = replace(
        card, metrics=(*of_kind, *values, *usage), documents=documents, findings=tuple(findings), specs=specs
    )
    return replace(result, scorecard=card)


def _with_values(
    documents: tuple[DocumentScore, ...], metric: OwnMetric, whole: float, values: Mapping[str, float]
) -> tuple[DocumentScore, ...]:
    """Return the documents with their values of an own metric. Raises ValueError if ``whole`` is not their mean."""
    names = {document.name for document in documents}
    if not values or not values.keys() <= names or not all(0 <= value <= 1 for value in values.values()):
        raise ValueError("of_documents gives no value, or one beyond 0 to 1, or of an unknown document")
    if abs(fsum(values.values()) / len(values) - whole) > ROUNDING:
        raise ValueError("the mean of of_documents is another number than value")
    added = {name: Metric(metric.spec.name, float(value)) for name, value in values.items()}
    return tuple(replace(of, metrics=(*of.metrics, added[of.name])) if of.name in added else of for of in documents)


def own_specs(settings: str) -> tuple[MetricSpec, ...]:
    """Specifications of the installed metrics that settings name; empty if any of them is not installed."""
    try:
        return tuple(metric.spec for metric in own_metrics(settings))
    except ConfigurationError:  # each scored output reports it
        return ()


BUILTIN_KINDS: Final = {
    "fields": "sitegen.scoring.fields",
    "highlights": "sitegen.scoring.highlights",
    "responses": "sitegen.scoring.responses.scorer",
    "judged": "sitegen.scoring.judged",
    "recorded": "sitegen.scoring.recorded",
}
"""Eval kind -> the module of its ``SCORER``."""


@cache
def scorer(kind: str) -> Scorer:
    """Return the scorer of a kind. Raises ConfigurationError if there is none."""
    if kind not in BUILTIN_KINDS:
        raise ConfigurationError(f"there is no eval kind {kind!r}", fix=f"Use one of: {', '.join(BUILTIN_KINDS)}.")
    builtin: Scorer = import_module(BUILTIN_KINDS[kind]).SCORER
    return builtin


_RATIOS: Final = tuple(ratio.name for ratio in RATIOS)
_OF_VERDICTS: Final = (*_RATIOS, PASSED.label.lower())  # also the word that pages have for the share that passed


def _metrics(of: Scorer, cards: Iterable[Scorecard]) -> tuple[MetricSpec, ...]:
    """Return the metrics of a kind for these outputs: one for each number, where all is only right or wrong."""
    known = [card for card in cards if card.documents] if traits_of(of.kind).names_scores else []
    apart = [card for card in known if not card.counts.fp == card.counts.fn == card.counts.wrong_value]
    if apart or not any(judged(card.counts) for card in known):
        return of.metrics
    one = MetricSpec("f1", "Checks passed", "Checks that passed / checks, of all answers together.", equals=_RATIOS[1:])
    if all(card.states.startswith("verdicts") for card in known):
        one = replace(PASSED.spec, equals=(*_OF_VERDICTS, "score"))
    elif known[0].states.startswith("verdicts") and all(card.metric(PASSED.name) is not None for card in known):
        of_verdicts = replace(PASSED.spec, equals=_OF_VERDICTS)  # which remain the headline if scores come later
        return (of_verdicts, *(spec for spec in of.metrics if spec.name not in (PASSED.name, *_RATIOS)))
    return tuple(one if spec.name == one.name else spec for spec in of.metrics if spec.name not in one.equals)


def nouns_of(kind: str, specs: Sequence[MetricSpec]) -> Nouns:
    """Return the words of a kind for outputs with these metrics: what is only right or wrong has passed or failed."""
    nouns, names = scorer(kind).nouns, {spec.name for spec in specs}
    if traits_of(kind).names_scores and PASSED.name in names and "recall" not in names:
        same = (*APART, *(name for name in ("score", *_RATIOS) if name not in names))
        words = replace(nouns, errors=("", "", "failed", ""), letters=("", "", "F", ""))
        nouns = replace(words, are_verdicts=True, same=same)
        if "f1" in names:
            nouns = replace(nouns, attribute="check", attributes="checks")
    return nouns


def specs_of(kind: str, cards: Iterable[Scorecard]) -> tuple[MetricSpec, ...]:
    """Return the metrics of the kind, then metrics that scorecards describe: recorded numbers and metrics of packages.

    The latter are ordered by first appearance, each with the first description beside a value. Later scorecards
    therefore add metrics but change none that a page shows, so that the page of an earlier point remains valid. Never
    empty.
    """
    cards = [*cards]
    specs = {spec.name: spec for spec in _metrics(scorer(kind), cards)}
    defined = {*specs}
    for card in cards:
        values = dict(card.metrics)
        for spec in card.specs:
            if spec.name not in defined:
                specs[spec.name] = spec if values.get(spec.name) is not None else specs.get(spec.name, spec)
        defined |= {name for name, value in values.items() if value is not None}
    return tuple(specs.values()) or (NO_METRIC,)


def specs_of_results(*results: Result) -> tuple[MetricSpec, ...]:
    """Return the metrics of these results, all of one kind, with the metrics of usage that any of them has."""
    cards = [result.scorecard for result in results]
    return specs_with_usage(specs_of(cards[0].kind, cards), cards)


def series_specs(kind_scorer: Scorer, settings: Iterable[str], cards: Iterable[Scorecard]) -> tuple[MetricSpec, ...]:
    """Return the metrics of the kind and of its outputs' settings; for a kind without metrics, as ``specs_of``."""
    if not kind_scorer.metrics:
        return specs_of(kind_scorer.kind, cards)
    installed = chain.from_iterable(map(own_specs, dict.fromkeys(settings)))
    by_name: dict[str, MetricSpec] = {}
    for spec in (*_metrics(kind_scorer, cards), *installed):
        by_name.setdefault(spec.name, spec)
    return tuple(by_name.values())


def in_order_of(specs: Sequence[MetricSpec], card: Scorecard) -> Scorecard:
    """Return a scorecard with all metrics of the series, undefined where it lacks them, and its metrics of usage."""
    if [metric.name for metric in card.metrics[: len(specs)]] == [spec.name for spec in specs]:
        return card
    values = dict(card.metrics)
    metrics = [
        Metric(spec.name, values.pop(spec.name, None)) for spec in specs if spec.name in values or not spec.is_optional
    ]
    usage = [Metric(name, value) for name, value in values.items() if name in USAGE]
    return replace(card, metrics=(*metrics, *usage))
