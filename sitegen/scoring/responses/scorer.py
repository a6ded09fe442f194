"""Scores responses to test cases by exact match, consistency, quality and ROUGE, as far as their data exist."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from sitegen.data_files.reading import UnreadableError
from sitegen.importers.case import JudgedCase, with_documents
from sitegen.model.frozen import grouped
from sitegen.model.metrics import Nouns
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.scorecards import (
    DocumentScore,
    FieldScore,
    Kappa,
    Panel,
    Result,
    Scorecard,
    TablePanel,
    VariantScore,
)
from sitegen.model.usage import RunUsage
from sitegen.scoring.answers import answered_cases, fewest_verdicts
from sitegen.scoring.case_files import case_keys
from sitegen.scoring.judged_panels import agreement_note
from sitegen.scoring.kinds import Embedder, Scorer, ScoringInputs, bounded_findings, content_of
from sitegen.scoring.responses import measures
from sitegen.scoring.responses.files import (
    UNJUDGED,
    CasesById,
    Response,
    VariantResponses,
    Vector,
    expected_cases,
    read_answers,
    read_cases,
)
from sitegen.scoring.usage import missing_usage, run_usage, usage_metrics, with_usage
from sitegen.stats import counts as stats
from sitegen.stats.confidence import auroc_metric
from sitegen.text.values import first_names

_ROWS: Final = 200  # rows of a table
_MISSING: Final = "no response"
_GRADED: Final = ("average_quality",)  # metrics that depend on the grades of a judge


def _score(inputs: ScoringInputs) -> Result:
    """Score one output. Never raises on bad input: errors become a status and findings."""
    keys, file = case_keys(inputs.settings), inputs.ground_truth
    try:
        content = content_of(file, "the file is missing", "Add the test cases.")
        cases = read_cases(content) if keys is None or file is None else expected_cases(file.path, content, keys)
    except UnreadableError as error:
        return SCORER.unscored([error.finding("The test cases", about="ground_truth")])
    return _ResponsesScoring(
        cases, read_answers(inputs.outputs, inputs.settings, cases.value), inputs.embedder
    ).result()


SCORER: Final = Scorer(
    kind="responses",
    metrics=measures.METRICS,
    nouns=Nouns(
        attribute="category",
        attributes="categories",
        document="case",
        errors=("no answer", "", "wrong answer", ""),
        letters=("N", "", "W", ""),
        same=(*stats.APART, *(row.name for row in stats.RATIOS)),
    ),
    score=_score,
    metrics_for=measures.response_metrics,
)
"""Scores responses. A document is a case that a variant answered, a field is a category of test cases."""


class _ResponsesScoring:
    def __init__(
        self, cases: Parsed[CasesById], answers: Parsed[tuple[VariantResponses, ...]], embedder: Embedder | None
    ) -> None:
        self._cases = cases.value
        self._findings = [*cases.findings, *answers.findings]
        self._variants = [self._without_unknown_cases(variant) for variant in answers.value]
        # One model makes the vectors of all variants, so that they are comparable.
        answered = [each for variant in self._variants for each in variant.responses if not each.answer.error]
        made, findings = measures.response_vectors(answered, embedder)
        self._findings += findings
        vectors = {id(response): vector for response, vector in zip(answered, made, strict=True)}
        responses = [each for variant in self._variants for each in self._judged(variant, vectors)]
        self._responses = [
            replace(response, answer=answer)
            for response, answer in zip(
                responses, with_documents([response.answer for response in responses], always=("variant",)), strict=True
            )
        ]
        """By variant, then in the order of the test cases, with an empty one for each case that has none."""
        done = (response for response in self._responses if not response.answer.error)
        self._documents = grouped((response.answer.document, response) for response in done)
        """The responses of each document, without failed calls."""
        self._k = fewest_verdicts([response.answer for response in of] for of in self._documents.values())

    def result(self) -> Result:
        responses = self._responses
        documents = tuple(self._document(*each) for each in self._documents.items())
        judgements = tuple(
            measures.judgement_of(name, self._cases[judged[0].answer.id], judged)
            for name, of_document in self._documents.items()
            if (judged := [response for response in of_document if response.answer.passed is not None])
        )
        counts = stats.total(document.counts for document in documents)
        if dropped := [response for response in responses if response.has_unusable_grade]:
            message = f"Grades that are not whole numbers from 1 to 5 and do not count: {len(dropped)}"
            fix = "Grade these responses again."
            file = {each.name: each.file for each in self._variants}.get(dropped[0].answer.variant, "")
            self._findings.append(Finding("warning", message, fix, line=dropped[0].line, file=file))
        calls = [response.answer.call for response in responses if not response.missing]
        self._findings += missing_usage(calls)
        # What a file states about all of its responses counts only for a single variant.
        usage = run_usage(calls, self._variants[0].beside if len(self._variants) == 1 else None, _GRADED)
        agreement = measures.agreement_with_people(responses)
        cells = grouped(each for response in responses for each in response.answer.opinion.counts)
        categories = dict.fromkeys(case.field for case in self._cases.values() if case.field in cells)
        scorecard = Scorecard(
            status="unreadable" if all(variant.unreadable for variant in self._variants) else "scored",
            counts=counts,
            metrics=(*measures.response_metrics(documents, responses), *auroc_metric(judgements)),
            documents=documents,
            fields=tuple(FieldScore(category, stats.total(cells[category])) for category in categories),
            variants={variant.name: self._variant(variant, documents) for variant in self._variants},
            findings=bounded_findings(self._findings),
            expected_values=counts.tp + counts.omission + counts.wrong_value,
            kind="responses",
        )
        return Result(
            scorecard=with_usage(scorecard, usage),
            judgements=judgements,
            panels=tuple(self._panels(agreement)),
            data=self._data(),
            agreement=agreement,
            cases=answered_cases([response.answer for response in self._responses]),
        )

    def _document(self, name: str, responses: Sequence[Response]) -> DocumentScore:
        first = responses[0].answer
        counts = stats.total(cells for response in responses for _, cells in response.answer.opinion.counts)
        usage = run_usage([response.answer.call for response in responses]) or RunUsage()
        unreadable = any(variant.unreadable for variant in self._variants if variant.name == first.variant)
        return DocumentScore(
            name=name,
            status="unreadable" if unreadable else "scored",
            counts=counts,
            metrics=measures.metrics_of_case(responses, self._k),
            of_case="" if first.id == name else first.id,
            axes=first.axes,
            answers=usage.answers,
            cost=usage.cost,
            latency=usage.latency_median,
        )

    def _variant(self, variant: VariantResponses, documents: Sequence[DocumentScore]) -> VariantScore:
        own = [response for response in self._responses if response.answer.variant == variant.name]
        answered = [response for response in own if not response.answer.error]
        of_variant = [document for document in documents if document.axes.get("variant", "") == variant.name]
        usage = run_usage([response.answer.call for response in own if not response.missing], variant.beside)
        graded = [response.answer for response in answered if response.grade is not None]
        return VariantScore(
            status="unreadable" if variant.unreadable else "scored",
            metrics=(*measures.response_metrics(of_variant, answered), *usage_metrics(usage)),
            responses=len(own),
            failed=len(own) - len(answered),
            graded=len(graded),
            judges=tuple(sorted({answer.call.judge for answer in graded} - {""})),
        )

    def _consistent_cases(self) -> Iterator[tuple[Response, int, float]]:
        """Yield the first response, the number of responses and their consistency, of each case with several."""
        for responses in self._documents.values():
            if (consistency := measures.mean_cosine(responses)) is not None:
                yield responses[0], sum(response.vector is not None for response in responses), consistency

    def _data(self) -> Value:
        """Return the content of the data file beyond the scorecard: every response, and the inputs of the metrics."""
        vectors = [response for response in self._responses if response.vector is not None]
        recorded = any(response.embedding is not None for response in vectors)
        return {
            "cases": len(self._cases),
            "responses": [response.row(self._cases[response.answer.id]) for response in self._responses],
            "within_cases": [
                {
                    "variant": first.answer.variant,
                    "case_id": first.answer.id,
                    "responses": number,
                    "mean": Decimal(repr(consistency)),
                }
                for first, number, consistency in self._consistent_cases()
            ],
            "vectors": len(vectors),
            "embeddings": ("recorded" if recorded else "model") if vectors else None,
            "grades_dropped": sum(response.has_unusable_grade for response in self._responses),
        }

    def _without_unknown_cases(self, variant: VariantResponses) -> VariantResponses:
        unknown = [response for response in variant.responses if response.answer.id not in self._cases]
        if unknown:
            names = list(dict.fromkeys(response.answer.id for response in unknown))
            message = f"Responses to no test case are not scored ({len(unknown)}): {first_names(names)}"
            message, at = f"{message}{variant.mention}", unknown[0].line
            self._findings.append(Finding("warning", message, "Add the test cases.", line=at, file=variant.file))
        responses = tuple(response for response in variant.responses if response.answer.id in self._cases)
        return replace(variant, responses=responses)

    def _judged(self, variant: VariantResponses, vectors: Mapping[int, Vector | None]) -> Iterator[Response]:
        """Yield the responses of a variant in the order of the test cases, each compared with what is expected."""
        by_case = grouped((response.answer.id, response) for response in variant.responses)
        if not variant.unreadable:
            self._report_cases(variant, by_case)
        model = " and ".join(variant.beside.models) if variant.beside else ""
        for case in self._cases.values():
            for response in by_case.get(case.id, ()):
                answer = measures.judged_answer(response.answer, case, response.grade)
                if not answer.call.model:
                    answer = replace(answer, provider=model)
                yield replace(response, answer=answer, vector=vectors.get(id(response)))
            if case.id not in by_case and case.expected:
                missing = JudgedCase(id=case.id, variant=variant.name, opinion=UNJUDGED, judges=(), provider=model)
                yield Response(measures.judged_answer(missing, case, None), missing=variant.unreadable or _MISSING)

    def _report_cases(self, variant: VariantResponses, by_case: Mapping[str, Sequence[Response]]) -> None:
        if missing := [name for name in self._cases if name not in by_case]:
            message = f"Test cases without a response ({len(missing)}): {first_names(missing)}{variant.mention}"
            fix = "Run the prompt over them; until then an expected text counts as not given."
            self._findings.append(Finding("error", message, fix, file=variant.file))
        if repeated := [responses for responses in by_case.values() if len(responses) > 1]:
            names = first_names([responses[0].answer.id for responses in repeated])
            message = (
                f"Test cases with several responses, whose mean counts ({len(repeated)}): {names}{variant.mention}"
            )
            fix, at = "Remove those that are not meant.", repeated[0][1].line
            self._findings.append(Finding("note", message, fix, line=at, file=variant.file))
        if failed := [response for responses in by_case.values() for response in responses if response.answer.error]:
            message = f"Calls that failed and are left out ({len(failed)}){variant.mention}"
            fix, at, error = "Run the prompt over these cases again.", failed[0].line, failed[0].answer.error[:200]
            self._findings.append(Finding("warning", message, fix, line=at, value=error, file=variant.file))

    def _panels(self, agreement: Kappa | None) -> Iterator[Panel]:
        """Yield the agreement of judge and people, and the cases that were answered repeatedly, if there are any."""
        if agreement:
            yield agreement_note(agreement, "responses")
        rows = [
            (first.answer.variant, first.answer.id, str(number), f"{consistency:.3f}")
            for first, number, consistency in self._consistent_cases()
        ]
        if rows:
            note = "mean cosine of the answers that one variant gave to one case"
            yield TablePanel(
                title="Consistency within cases",
                note=note if len(rows) <= _ROWS else f"{note}; the first {_ROWS} of {len(rows)}",
                columns=(("Variant", "text"), ("Case", "code"), ("Responses", "number"), ("Consistency", "number")),
                rows=tuple(rows[:_ROWS]),
            )
