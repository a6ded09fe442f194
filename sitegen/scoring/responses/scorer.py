"""Scores responses to test cases by exact match, consistency, quality and ROUGE, as far as their data exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from sitegen.data_files.reading import UnreadableError
from sitegen.model.metrics import Metric, Nouns
from sitegen.model.outcomes import Judgement, Outcome, Value
from sitegen.model.panels import Panel, PanelColumn, TablePanel
from sitegen.model.problems import Finding, Parsed, Severity
from sitegen.model.scorecards import Answer, DocumentScore, FieldScore, Kappa, Result, Scorecard
from sitegen.model.usage import Call, RunUsage
from sitegen.scoring.case_files import case_keys
from sitegen.scoring.case_lists import first_names
from sitegen.scoring.judged.panels import agreement_note
from sitegen.scoring.responses.files import (
    CasesById,
    Response,
    VariantResponses,
    expected_cases,
    read_answers,
    read_cases,
)
from sitegen.scoring.responses.measures import (
    METRICS,
    MeasuredResponse,
    MeasuredVariant,
    Vector,
    agreement_with_people,
    measured_response,
    response_metrics,
    response_vectors,
    within_cases,
)
from sitegen.scoring.scorer import Embedder, ScoringInputs, bounded_findings, content_of, unscored_result
from sitegen.scoring.usage import missing_usage, run_usage, usage_metrics, with_usage
from sitegen.stats import counts as stats

_UNCATEGORISED: Final = "(no category)"
MISSING: Final = "no response"
_ROWS: Final = 200
_GRADED: Final = ("average_quality",)
"""Metrics that depend on the grades of a judge."""


class ResponsesScorer:
    """Scores responses. A document is a variant, a field is a category of test cases."""

    kind = "responses"
    version = 9
    metrics = METRICS
    nouns = Nouns(
        attribute="category",
        attributes="categories",
        document="variant",
        documents="variants",
        errors=("no answer", "", "wrong answer", ""),
        letters=("N", "", "W", ""),
        ratios=("accuracy",),
    )

    def score(self, inputs: ScoringInputs) -> Result:
        """Score one output. Never raises on bad input: errors become a status and findings."""
        keys, file = case_keys(inputs.settings), inputs.ground_truth
        try:
            content = content_of(file, "the file is missing", "Add the test cases.")
            cases = read_cases(content) if keys is None or file is None else expected_cases(file.path, content, keys)
        except UnreadableError as error:
            return unscored_result(METRICS, [error.finding("The test cases", about="ground_truth")])
        return _ResponsesScoring(cases, read_answers(inputs.outputs, keys), inputs.embedder).result()

    def metrics_for(self, documents: Sequence[DocumentScore]) -> tuple[Metric, ...]:
        """The accuracy of these variants. The other metrics cannot be computed from counts."""
        counts = stats.total(document.counts for document in documents)
        return response_metrics(stats.ACCURACY.of(counts), [])


class _ResponsesScoring:
    def __init__(
        self,
        cases: Parsed[CasesById],
        answers: Parsed[tuple[VariantResponses, ...]],
        embedder: Embedder | None,
    ) -> None:
        self._cases = cases.value
        self._findings = [*cases.findings, *answers.findings]
        variants = [self._without_unknown_cases(variant) for variant in answers.value]
        # One model makes the vectors of all variants, so that they are comparable.
        answered = [response for variant in variants for response in variant.responses if not response.error]
        made, findings = response_vectors(answered, embedder)
        self._findings += findings
        vectors = {id(response): vector for response, vector in zip(answered, made, strict=True)}
        self._groups = [self._group(variant, vectors) for variant in variants]

    def result(self) -> Result:
        documents = tuple(_variant_score(group) for group in self._groups)
        judgements = tuple(judgement for group in self._groups for judgement in group.judgements)
        counts = stats.total(document.counts for document in documents)
        every = [group.measured for group in self._groups]
        readable = any(document.status == "scored" for document in documents)
        questions = {_response_path(answer): answer.case.question for measured in every for answer in measured}
        self._report_grades()
        usage = self._usage()
        agreement = agreement_with_people(answer for measured in every for answer in measured)
        scorecard = Scorecard(
            status="scored" if readable else "unreadable",
            counts=counts,
            metrics=response_metrics(stats.ACCURACY.of(counts), every),
            documents=documents,
            fields=self._fields(judgements),
            cases=_case_scores(self._groups),
            findings=bounded_findings(self._findings),
            expected_values=counts.tp + counts.omission + counts.wrong_value,
            actual_values=counts.tp + counts.wrong_value,
        )
        return Result(
            scorecard=with_usage(scorecard, usage),
            judgements=judgements,
            panels=tuple(_panels(self._groups, agreement)),
            answers=tuple(
                _compact_answer(group.variant, answer) for group in self._groups for answer in group.measured
            ),
            data=self._data(),
            questions={path: text for path, text in questions.items() if text},
            agreement=agreement,
        )

    def _usage(self) -> RunUsage | None:
        """The usage of all variants. What a file states about all of its responses counts only for a single variant."""
        calls = [call for group in self._groups for call in group.calls]
        self._findings += missing_usage(calls)
        beside = self._groups[0].variant.beside if len(self._groups) == 1 else None
        return run_usage(calls, beside, _GRADED)

    def _data(self) -> Value:
        """The content of the data file beyond the scorecard: every response, and the inputs of the metrics."""
        measured = [(group.variant.name, answer) for group in self._groups for answer in group.measured]
        vectors = [answer for _, answer in measured if answer.vector is not None]
        recorded = any(answer.response and answer.response.embedding is not None for answer in vectors)
        return {
            "cases": len(self._cases),
            "responses": [_response_row(name, answer) for name, answer in measured],
            "within_cases": [
                {
                    "variant": group.variant.name,
                    "case_id": case.case_id,
                    "responses": case.responses,
                    "mean": Decimal(repr(case.cosine)),
                }
                for group in self._groups
                for case in within_cases(group.measured)
            ],
            "vectors": len(vectors),
            "embeddings": ("recorded" if recorded else "model") if vectors else None,
            "grades_dropped": sum(answer.has_unusable_grade for _, answer in measured),
        }

    def _without_unknown_cases(self, variant: VariantResponses) -> VariantResponses:
        unknown = [response for response in variant.responses if response.case_id not in self._cases]
        if unknown:
            names = list(dict.fromkeys(response.case_id for response in unknown))
            message = f"Responses to no test case are not scored ({len(unknown)}): {first_names(names)}"
            self._report("warning", variant, message, "Add the test cases.", unknown[0].line)
        responses = tuple(response for response in variant.responses if response.case_id in self._cases)
        return replace(variant, responses=responses)

    def _report(
        self,
        severity: Severity,
        variant: VariantResponses,
        message: str,
        fix: str,
        line: int | None = None,
        value: str = "",
    ) -> None:
        message = f"{message}, of the variant {variant.name[:80]!r}" if variant.name else message
        self._findings.append(Finding(severity=severity, message=message, fix=fix, line=line, value=value))

    def _group(self, variant: VariantResponses, vectors: dict[int, Vector | None]) -> MeasuredVariant:
        by_case: dict[str, list[Response]] = {}
        for response in variant.responses:
            by_case.setdefault(response.case_id, []).append(response)
        if not variant.unreadable:
            self._report_cases(variant, by_case)
        measured: list[MeasuredResponse] = []
        for case in self._cases.values():
            for number, response in enumerate(by_case.get(case.id, ()), 1):
                measured.append(measured_response(case, response, number, vectors.get(id(response))))
            if case.id not in by_case and case.is_scored:
                measured.append(measured_response(case, None, 1, None))
        judgements = (_response_judgement(variant, answer) for answer in measured if answer.correct is not None)
        return MeasuredVariant(variant, tuple(measured), tuple(judgements))

    def _report_cases(self, variant: VariantResponses, by_case: dict[str, list[Response]]) -> None:
        missing = [name for name in self._cases if name not in by_case]
        if missing:
            message = f"Test cases without a response ({len(missing)}): {first_names(missing)}"
            fix = "Run the prompt over them; until then an expected text counts as not given."
            self._report("error", variant, message, fix)
        repeated = [responses for responses in by_case.values() if len(responses) > 1]
        if repeated:
            names = [responses[0].case_id for responses in repeated]
            message = f"Test cases with several responses, each of which counts ({len(repeated)}): {first_names(names)}"
            self._report("note", variant, message, "Remove those that are not meant.", repeated[0][1].line)
        failed = [response for responses in by_case.values() for response in responses if response.error]
        if failed:
            message = f"Calls that failed and are left out ({len(failed)})"
            fix = "Run the prompt over these cases again."
            self._report("warning", variant, message, fix, failed[0].line, failed[0].error[:200])

    def _report_grades(self) -> None:
        measured = [answer for group in self._groups for answer in group.measured]
        dropped = [answer.response for answer in measured if answer.response and answer.has_unusable_grade]
        if dropped:
            message = f"Grades that are not whole numbers from 1 to 5 and do not count: {len(dropped)}"
            fix = "Grade these responses again."
            self._findings.append(Finding(severity="warning", message=message, fix=fix, line=dropped[0].line))

    def _fields(self, judgements: Sequence[Judgement]) -> tuple[FieldScore, ...]:
        categories = (case.category or _UNCATEGORISED for case in self._cases.values())
        by_category = stats.by_attribute(judgements, categories).items()
        return tuple(FieldScore(category, stats.tally(judged)) for category, judged in by_category if judged)


def _case_scores(groups: Iterable[MeasuredVariant]) -> tuple[FieldScore, ...]:
    """The counts of each test case, over the answers of all variants."""
    by_case: dict[str, list[Judgement]] = {}
    for group in groups:
        scored = (answer for answer in group.measured if answer.correct is not None)
        for answer, judgement in zip(scored, group.judgements, strict=True):
            by_case.setdefault(answer.case.id, []).append(judgement)
    return tuple([FieldScore(case, stats.tally(judged)) for case, judged in by_case.items()])


def _variant_score(group: MeasuredVariant) -> DocumentScore:
    counts = stats.tally(group.judgements)
    usage = run_usage(group.calls, group.variant.beside)
    metrics = (*response_metrics(stats.ACCURACY.of(counts), [group.measured]), *usage_metrics(usage))
    return DocumentScore(
        id=group.variant.name,
        status="unreadable" if group.variant.unreadable else "scored",
        counts=counts,
        metrics=metrics,
    )


def _response_judgement(variant: VariantResponses, answer: MeasuredResponse) -> Judgement:
    outcome: Outcome = "correct" if answer.correct else "wrong_value" if answer.text.strip() else "omission"
    note = "" if answer.response else variant.unreadable or MISSING
    category = answer.case.category or _UNCATEGORISED
    return Judgement(
        document=variant.name,
        path=_response_path(answer),
        attribute=category,
        outcome=outcome,
        expected=answer.case.expected_value,
        actual=answer.text or None,
        note=note,
    )


def _response_path(answer: MeasuredResponse) -> str:
    return answer.case.id if answer.number == 1 else f"{answer.case.id} #{answer.number}"


def _compact_answer(variant: VariantResponses, answer: MeasuredResponse) -> Answer:
    call, beside = answer.response.call if answer.response else Call(), variant.beside or RunUsage()
    return Answer(
        variant=variant.name,
        case_id=answer.case.id,
        category=answer.case.category,
        correct=answer.correct,
        quality=answer.quality,
        failed=answer.failed,
        rouge=answer.rouge,
        model=call.model or " and ".join(beside.models),
        judge=call.judge,
    )


def _response_row(variant: str, answer: MeasuredResponse) -> Value:
    """A complete response, for the data file."""
    row: dict[str, Value] = {
        "variant": variant,
        "case_id": answer.case.id,
        "category": answer.case.category,
        "expected": answer.case.expected_value,
        "output": answer.response.output if answer.response else None,
        "error": answer.response.error if answer.response else None,
        "correct": answer.correct,
        "quality": answer.quality,
    }
    if answer.rouge:
        row |= {
            name: Decimal(repr(value)) for name, value in zip(("rouge1", "rouge2", "rougeL"), answer.rouge, strict=True)
        }
    return row


def _panels(groups: Sequence[MeasuredVariant], agreement: Kappa | None) -> Iterator[Panel]:
    """Yield the agreement of judge and people, and the tables that have rows."""
    if agreement:
        yield agreement_note(agreement, "responses")
    within = [
        (group.variant.name, case.case_id, str(case.responses), f"{case.cosine:.3f}")
        for group in groups
        for case in within_cases(group.measured)
    ]
    unscored = [
        (
            group.variant.name,
            answer.case.id,
            str(answer.quality or ""),
            f"error: {answer.response.error}" if answer.response and answer.response.error else answer.text,
        )
        for group in groups
        for answer in group.measured
        if answer.correct is None
    ]
    consistency: tuple[PanelColumn, ...] = (("Responses", "number"), ("Consistency", "number"))
    grades: tuple[PanelColumn, ...] = (("Grade", "number"), ("Response", "text"))
    for title, note, columns, rows in (
        (
            "Consistency within cases",
            "mean cosine of the answers that one variant gave to one case",
            consistency,
            within,
        ),
        (
            "Responses without an exact match",
            "nothing is expected of them, or the call failed",
            grades,
            unscored,
        ),
    ):
        if rows:
            yield TablePanel(
                title=title,
                note=note if len(rows) <= _ROWS else f"{note}; the first {_ROWS} of {len(rows)}",
                columns=(("Variant", "text"), ("Case", "code"), *columns),
                rows=tuple(rows[:_ROWS]),
            )
