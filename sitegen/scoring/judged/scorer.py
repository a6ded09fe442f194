"""The scorer of kind ``judged``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sitegen.data_files.reading import UnreadableError
from sitegen.model.metrics import Counts, Metric, MetricSpec, Nouns
from sitegen.model.outcomes import Judgement, Outcome
from sitegen.model.panels import NotePanel, Panel
from sitegen.model.problems import Finding
from sitegen.model.scorecards import DocumentScore, FieldScore, Result, Scorecard
from sitegen.model.usage import RunUsage
from sitegen.model.values import Value
from sitegen.scoring.judged.case import JudgedCase, Opinion
from sitegen.scoring.judged.formats import read_results
from sitegen.scoring.judged.panels import agreement_note, panels
from sitegen.scoring.judged.tables.settings import read_settings
from sitegen.scoring.scorer import File, ScoringInputs, bounded_findings
from sitegen.scoring.usage import lacking, run_usage, with_usage
from sitegen.stats import counts as stats
from sitegen.stats.agreement import cohens_kappa
from sitegen.text.plain import cut
from sitegen.text.values import as_json, short_digest

_COUNTED: Final = (
    "An assertion counts as one value that is right or wrong, so that F1 is the share of assertions that passed."
)

METRICS: Final = (
    MetricSpec(
        "score",
        "Score",
        "The mean of the cases' scores as the judge gave them; of a case without one, its judges' mean.",
    ),
    stats.RATIOS[0].spec._replace(explanation=f"{stats.RATIOS[0].explanation} {_COUNTED}"),
    *(ratio.spec for ratio in stats.RATIOS[1:]),
    MetricSpec("pass_rate", "Pass rate", "Cases that passed / cases of which the tool says whether they passed."),
)


_NOTE: Final = 200


class JudgedScorer:
    """Sums up what a judge said: the mean of its scores, and its counts over cases.

    A document is a case, a field is an attribute that a judge counted. A false negative is an omission, a false
    positive a hallucination; one of each and nothing else is a wrong value.
    """

    kind = "judged"
    version = 11
    metrics = METRICS
    nouns = Nouns(
        attribute="attribute",
        attributes="attributes",
        document="case",
        documents="cases",
        errors=("false negative", "false positive", "wrong value", ""),
        letters=("N", "P", "W", ""),
    )

    def score(self, inputs: ScoringInputs) -> Result:
        """Score one output. Never raises on bad input: what is wrong becomes a status and findings."""
        cases: dict[str, JudgedCase] = {}
        findings = [*read_settings(inputs.settings).findings]
        if not inputs.outputs:
            findings.append(_unreadable("the output is missing"))
        for file in inputs.outputs:
            try:
                read = read_results(file.path, _content(file), inputs.settings)
            except UnreadableError as error:
                findings.append(_unreadable(error.what, error.line, error.fix))
                continue
            cases |= {case.id: case for case in read.cases}
            findings += read.findings
        return _result(tuple(cases.values()), findings)

    def metrics_for(self, documents: Sequence[DocumentScore]) -> tuple[Metric, ...]:
        """The mean score of these cases, the rest from their counts."""
        own = [dict(document.metrics) for document in documents]
        score, pass_rate = (stats.mean(metrics.get(name) for metrics in own)[0] for name in ("score", "pass_rate"))
        counts = stats.total([Counts(), *(document.counts for document in documents)])
        return _metrics(score, counts, pass_rate)


def _result(cases: tuple[JudgedCase, ...], findings: list[Finding]) -> Result:
    shared = _shared(cases)
    documents: list[DocumentScore] = []
    judgements: list[Judgement] = []
    fields: dict[str, list[Counts]] = {}
    for case in cases:
        counts = [Counts()]
        for opinion in case.opinions:
            for attribute, cells in _named(opinion, shared):
                counts.append(cells)
                if attribute:
                    fields.setdefault(attribute, []).append(cells)
                    judgements += _judgements(case.id, attribute, cells, opinion.misses)
        summed = stats.total(counts)
        own = _metrics(case.score, summed, _share(case.passed))
        documents.append(DocumentScore(id=case.id, status="scored", counts=summed, metrics=own, rubric=_rubric(case)))
    pooled = stats.total([Counts(), *(document.counts for document in documents)])
    score_mean, without = stats.mean(case.score for case in cases)
    pass_rate, _ = stats.mean(_share(case.passed) for case in cases)
    calls = [case.call for case in cases]
    notes: list[Panel] = []
    if without:
        notes.append(NotePanel("note", f"The mean leaves out {without} of {len(cases)} cases that have no score."))
    usage = _graded(run_usage(calls), cases)
    if usage and usage.graded and (mixed := _mixed(cases, usage.graded)):
        notes.append(mixed)
    agreement = cohens_kappa([case.verdicts for case in cases if case.verdicts is not None])
    if agreement:
        notes.append(agreement_note(agreement, "cases"))
    scorecard = Scorecard(
        status="scored" if cases else "unreadable",
        counts=pooled,
        metrics=_metrics(score_mean, pooled, pass_rate),
        documents=tuple(documents),
        fields=tuple(FieldScore(attribute, stats.total(cells)) for attribute, cells in fields.items()),
        findings=bounded_findings([*findings, *lacking(calls)]),
        expected_values=pooled.tp + pooled.fn,
        actual_values=pooled.tp + pooled.fp,
    )
    scorecard = with_usage(scorecard, usage)
    return Result(scorecard, tuple(judgements), panels=(*notes, *panels(cases)), data=_data(cases), agreement=agreement)


def _graded(usage: RunUsage | None, cases: Sequence[JudgedCase]) -> RunUsage | None:
    """With the models that judged, and the metrics that their opinions are part of, whatever else is in them."""
    given = [opinion for case in cases for opinion in case.opinions if opinion.grader]
    if not given:
        return usage
    names = {opinion.grader.name for opinion in given if opinion.grader} - {""}
    if any(opinion.counts for opinion in given):
        graded = tuple(spec.name for spec in METRICS)
    else:  # a verdict is the model's too where the tool made it of the score of the whole case
        graded = ("score", "pass_rate") if any(case.opinion.grader for case in cases) else ("score",)
    return (usage or RunUsage())._replace(judges=tuple(sorted(names)), graded=graded)


def _rubric(case: JudgedCase) -> str:
    asked = [opinion.grader.rubric for opinion in case.opinions if opinion.grader and opinion.grader.rubric]
    return short_digest(as_json(list(asked))) if asked else ""


def _mixed(cases: Iterable[JudgedCase], graded: Sequence[str]) -> NotePanel | None:
    """That a model gave some of what the metrics are made from and rules the rest; None if a model gave all."""
    given = [opinion for case in cases for opinion in case.judges if opinion.counts or opinion.score is not None]
    by_model = sum(opinion.grader is not None for opinion in given)
    if by_model == len(given):
        return None
    labels = [spec.label for spec in METRICS if spec.name in graded]
    return NotePanel(
        "note",
        f"A model gave {by_model:,} of these {len(given):,} opinions, rules or people the others. {', '.join(labels)}: "
        "made from both, so they are compared only with outputs that the same model judged, by the same prompt.",
    )


def _shared(cases: Sequence[JudgedCase]) -> frozenset[str]:
    """Attributes that several judges count: each by its own rules, so that their counts do not belong together."""
    judges: dict[str, set[str]] = {}
    for case in cases:
        for opinion in case.opinions:
            for attribute, _ in opinion.counts:
                judges.setdefault(attribute, set()).add(opinion.name)
    return frozenset(attribute for attribute, names in judges.items() if len(names) > 1)


def _named(opinion: Opinion, shared: frozenset[str]) -> list[tuple[str, Counts]]:
    """The counts of a judge, with its name before attributes that others count as well."""
    return [
        (f"{opinion.name}: {attribute}" if attribute in shared and attribute and opinion.name else attribute, counts)
        for attribute, counts in opinion.counts
    ]


def _judgements(case: str, attribute: str, counts: Counts, misses: tuple[str, ...]) -> Iterator[Judgement]:
    """One attribute of one case. The values only the judge knows: how many there are stands for them."""
    found, name = counts.tp, attribute.rpartition(": ")[2]
    said = next((miss[len(name) + 1 :].strip() for miss in misses if miss.startswith(f"{name}:")), "")

    def one(outcome: Outcome, expected: str | None, actual: str | None) -> Judgement:
        return Judgement(
            document=case,
            path=attribute,
            attribute=attribute,
            outcome=outcome,
            expected=expected,
            actual=actual,
            note=cut(said, _NOTE),
        )

    if counts.wrong_value:
        yield one("wrong_value", _values(1), "something else")
    if counts.omission:
        yield one("omission", _values(counts.omission, found), None)
    if counts.hallucination:
        yield one("hallucination", None, _values(counts.hallucination, found))
    if not counts.fp + counts.fn:
        yield one("correct" if found else "true_negative", _values(found), _values(found))


def _values(number: int, others: int = 0) -> str | None:
    """So many values, of more where others were right."""
    if others:
        return f"{number} of {number + others} values"
    return None if not number else "a value" if number == 1 else f"{number} values"


def _share(passed: bool | None) -> float | None:
    return None if passed is None else float(passed)


def _metrics(score: float | None, counts: Counts, pass_rate: float | None) -> tuple[Metric, ...]:
    values = (score, *(ratio.of(counts) for ratio in stats.RATIOS), pass_rate)
    return tuple(Metric(spec.name, value) for spec, value in zip(METRICS, values, strict=True))


def _data(cases: Sequence[JudgedCase]) -> Value:
    """The details of every judge as they were written, by case."""
    return [
        {"id": case.id, "judges": [_judge_data(opinion) for opinion in case.opinions if opinion.details is not None]}
        for case in cases
    ]


def _judge_data(opinion: Opinion) -> Value:
    return {"name": opinion.name, "details": opinion.details}


def _content(file: File) -> bytes:
    if file.content is None:
        raise UnreadableError(file.reason or "the output is missing", "Make the output again.")
    return file.content


def _unreadable(why: str, line: int | None = None, fix: str = "Let the judge write it again.") -> Finding:
    return Finding(severity="error", message=f"The output cannot be read: {why}", fix=fix, line=line)
