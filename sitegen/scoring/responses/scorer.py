"""Scores responses to test cases by exact match, consistency, quality and ROUGE, as far as their data exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from sitegen.data_files.reading import UnreadableError
from sitegen.model.metrics import Metric, Nouns
from sitegen.model.outcomes import Judgement, Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.scorecards import (
    DocumentScore,
    FieldScore,
    Kappa,
    Panel,
    PanelColumn,
    Result,
    Scorecard,
    Status,
    TablePanel,
)
from sitegen.scoring.case_files import case_keys
from sitegen.scoring.judged_panels import agreement_note
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
    UNCATEGORISED,
    MeasuredResponse,
    Vector,
    agreement_with_people,
    response_metrics,
    response_vectors,
    within_cases,
)
from sitegen.scoring.scorer import Embedder, ScoringInputs, bounded_findings, content_of, unscored_result
from sitegen.scoring.usage import missing_usage, run_usage, usage_metrics, with_usage
from sitegen.stats import counts as stats
from sitegen.text.values import first_names

_ROWS: Final = 200  # rows of a table
_GRADED: Final = ("average_quality",)
"""Metrics that depend on the grades of a judge."""


class ResponsesScorer:
    """Scores responses. A document is a variant, a field is a category of test cases."""

    kind = "responses"
    version = 11
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
            return unscored_result(self, [error.finding("The test cases", about="ground_truth")])
        return _ResponsesScoring(cases, read_answers(inputs.outputs, keys), inputs.embedder).result()

    def metrics_for(self, documents: Sequence[DocumentScore]) -> tuple[Metric, ...]:
        """The accuracy of these variants. The other metrics cannot be computed from counts."""
        counts = stats.total(document.counts for document in documents)
        return response_metrics(stats.ACCURACY.of(counts), [])


class _ResponsesScoring:
    def __init__(
        self, cases: Parsed[CasesById], answers: Parsed[tuple[VariantResponses, ...]], embedder: Embedder | None
    ) -> None:
        self._cases = cases.value
        self._findings = [*cases.findings, *answers.findings]
        variants = [self._without_unknown_cases(variant) for variant in answers.value]
        # One model makes the vectors of all variants, so that they are comparable.
        answered = [response for variant in variants for response in variant.responses if not response.error]
        made, findings = response_vectors(answered, embedder)
        self._findings += findings
        vectors = {id(response): vector for response, vector in zip(answered, made, strict=True)}
        self._groups = [(variant, self._measured(variant, vectors)) for variant in variants]
        """Each variant with all of its responses in the order of the test cases, and with the cases that have none."""

    def result(self) -> Result:
        documents = tuple(_variant_score(variant, measured) for variant, measured in self._groups)
        every = [measured for _, measured in self._groups]
        answers = [answer for measured in every for answer in measured]
        judged = [answer.judgement for answer in answers if answer.correct is not None]
        counts = stats.total(document.counts for document in documents)
        readable = any(document.status == "scored" for document in documents)
        questions = {answer.path: answer.case.question for answer in answers}
        if dropped := [answer.response for answer in answers if answer.response and answer.has_unusable_grade]:
            message = f"Grades that are not whole numbers from 1 to 5 and do not count: {len(dropped)}"
            fix = "Grade these responses again."
            self._findings.append(Finding(severity="warning", message=message, fix=fix, line=dropped[0].line))
        calls = [answer.response.call for answer in answers if answer.response]
        self._findings += missing_usage(calls)
        # What a file states about all of its responses counts only for a single variant.
        usage = run_usage(calls, self._groups[0][0].beside if len(self._groups) == 1 else None, _GRADED)
        agreement = agreement_with_people(answers)
        categories = (case.category or UNCATEGORISED for case in self._cases.values())
        by_category = stats.by_attribute(judged, categories).items()
        by_case: dict[str, list[Judgement]] = {}
        for answer, judgement in zip((one for one in answers if one.correct is not None), judged, strict=True):
            by_case.setdefault(answer.case.id, []).append(judgement)
        scorecard = Scorecard(
            status="scored" if readable else "unreadable",
            counts=counts,
            metrics=response_metrics(stats.ACCURACY.of(counts), every),
            documents=documents,
            fields=tuple(FieldScore(category, stats.tally(group)) for category, group in by_category if group),
            cases=tuple(FieldScore(case, stats.tally(group)) for case, group in by_case.items()),
            findings=bounded_findings(self._findings),
            expected_values=counts.tp + counts.omission + counts.wrong_value,
            actual_values=counts.tp + counts.wrong_value,
            kind="responses",
        )
        return Result(
            scorecard=with_usage(scorecard, usage),
            judgements=tuple(judged),
            panels=tuple(_panels(self._groups, agreement)),
            answers=tuple(answer.answer for answer in answers),
            data=self._data(),
            questions={path: text for path, text in questions.items() if text},
            agreement=agreement,
        )

    def _data(self) -> Value:
        """The content of the data file beyond the scorecard: every response, and the inputs of the metrics."""
        answers = [answer for _, measured in self._groups for answer in measured]
        vectors = [answer for answer in answers if answer.vector is not None]
        recorded = any(answer.response and answer.response.embedding is not None for answer in vectors)
        return {
            "cases": len(self._cases),
            "responses": [answer.row for answer in answers],
            "within_cases": [
                {"variant": variant.name, "case_id": case_id, "responses": number, "mean": Decimal(repr(cosine))}
                for variant, measured in self._groups
                for case_id, number, cosine in within_cases(measured)
            ],
            "vectors": len(vectors),
            "embeddings": ("recorded" if recorded else "model") if vectors else None,
            "grades_dropped": sum(answer.has_unusable_grade for answer in answers),
        }

    def _without_unknown_cases(self, variant: VariantResponses) -> VariantResponses:
        unknown = [response for response in variant.responses if response.case_id not in self._cases]
        if unknown:
            names = list(dict.fromkeys(response.case_id for response in unknown))
            message = f"Responses to no test case are not scored ({len(unknown)}): {first_names(names)}"
            self._findings.append(
                Finding("warning", f"{message}{variant.mention}", "Add the test cases.", line=unknown[0].line)
            )
        responses = tuple(response for response in variant.responses if response.case_id in self._cases)
        return replace(variant, responses=responses)

    def _measured(self, variant: VariantResponses, vectors: dict[int, Vector | None]) -> tuple[MeasuredResponse, ...]:
        by_case: dict[str, list[Response]] = {}
        for response in variant.responses:
            by_case.setdefault(response.case_id, []).append(response)
        if not variant.unreadable:
            self._report_cases(variant, by_case)
        measured: list[MeasuredResponse] = []
        for case in self._cases.values():
            for number, response in enumerate(by_case.get(case.id, ()), 1):
                vector = vectors.get(id(response))
                measured.append(
                    MeasuredResponse(variant=variant, case=case, response=response, number=number, vector=vector)
                )
            if case.id not in by_case and case.is_scored:
                measured.append(MeasuredResponse(variant=variant, case=case))
        return tuple(answer.measured() for answer in measured)

    def _report_cases(self, variant: VariantResponses, by_case: dict[str, list[Response]]) -> None:
        if missing := [name for name in self._cases if name not in by_case]:
            message = f"Test cases without a response ({len(missing)}): {first_names(missing)}{variant.mention}"
            fix = "Run the prompt over them; until then an expected text counts as not given."
            self._findings.append(Finding("error", message, fix))
        if repeated := [responses for responses in by_case.values() if len(responses) > 1]:
            names = first_names([responses[0].case_id for responses in repeated])
            message = f"Test cases with several responses, each of which counts ({len(repeated)}): {names}"
            fix = "Remove those that are not meant."
            self._findings.append(Finding("note", f"{message}{variant.mention}", fix, line=repeated[0][1].line))
        if failed := [response for responses in by_case.values() for response in responses if response.error]:
            message = f"Calls that failed and are left out ({len(failed)}){variant.mention}"
            fix, first = "Run the prompt over these cases again.", failed[0]
            self._findings.append(Finding("warning", message, fix, line=first.line, value=first.error[:200]))


def _variant_score(variant: VariantResponses, measured: Sequence[MeasuredResponse]) -> DocumentScore:
    counts = stats.tally([answer.judgement for answer in measured if answer.correct is not None])
    usage = run_usage([answer.response.call for answer in measured if answer.response], variant.beside)
    metrics = (*response_metrics(stats.ACCURACY.of(counts), [measured]), *usage_metrics(usage))
    status: Status = "unreadable" if variant.unreadable else "scored"
    axes = {"variant": variant.name} if variant.name else {}
    return DocumentScore(id=variant.name, status=status, counts=counts, metrics=metrics, axes=axes)


def _panels(
    groups: Sequence[tuple[VariantResponses, Sequence[MeasuredResponse]]], agreement: Kappa | None
) -> Iterator[Panel]:
    """Yield the agreement of judge and people, and the tables that have rows."""
    if agreement:
        yield agreement_note(agreement, "responses")
    within = [
        (variant.name, case_id, str(number), f"{cosine:.3f}")
        for variant, measured in groups
        for case_id, number, cosine in within_cases(measured)
    ]
    unscored = [
        (
            variant.name,
            answer.case.id,
            str(answer.quality or ""),
            f"error: {answer.response.error}" if answer.response and answer.response.error else answer.text,
        )
        for variant, measured in groups
        for answer in measured
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
        ("Responses without an exact match", "nothing is expected of them, or the call failed", grades, unscored),
    ):
        if rows:
            yield TablePanel(
                title=title,
                note=note if len(rows) <= _ROWS else f"{note}; the first {_ROWS} of {len(rows)}",
                columns=(("Variant", "text"), ("Case", "code"), *columns),
                rows=tuple(rows[:_ROWS]),
            )
