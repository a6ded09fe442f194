"""Scores responses to test cases: exact match, consistency, quality, ROUGE, each where its data exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from sitegen.data_files.reading import UnreadableError
from sitegen.model.metrics import Counts, Metric, Nouns
from sitegen.model.outcomes import Judgement, Outcome
from sitegen.model.panels import Panel, PanelColumn, TablePanel
from sitegen.model.problems import Finding
from sitegen.model.scorecards import Answer, DocumentScore, FieldScore, Kappa, Result, Scorecard
from sitegen.model.usage import Call, RunUsage
from sitegen.model.values import Value
from sitegen.scoring.case_files import case_keys
from sitegen.scoring.judged.panels import agreement_note
from sitegen.scoring.responses.answers import Answers, Response, VariantResponses, read_answers
from sitegen.scoring.responses.cases import Cases, expected_cases, read_cases
from sitegen.scoring.responses.measures import (
    METRICS,
    MeasuredResponse,
    agreement_with_people,
    measured_response,
    response_metrics,
    within_cases,
)
from sitegen.scoring.responses.texts import first_names
from sitegen.scoring.responses.vectors import Vector, response_vectors
from sitegen.scoring.scorer import Embedder, File, ScoringInputs, bounded_findings
from sitegen.scoring.usage import lacking, run_usage, usage_metrics, with_usage
from sitegen.stats import counts as stats

UNCATEGORISED: Final = "(no category)"
MISSING: Final = "no response"
GRADED: Final = ("average_quality",)
"""Metrics that a judge's grades are part of; the others know no judge."""
_ROWS: Final = 200
"""Cases that a panel lists."""


class ResponsesScorer:
    """Scores responses. Documents are variants, fields are categories of test cases."""

    kind = "responses"
    version = 5
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
        """Score one output. Never raises on bad input: what is wrong becomes a status and findings."""
        keys = case_keys(inputs.settings)
        try:
            path, content = _test_cases_content(inputs.ground_truth)
            cases = read_cases(content) if keys is None else expected_cases(path, content, keys)
        except UnreadableError as error:
            return _no_cases(
                Finding(
                    severity="error",
                    what=f"The test cases cannot be read: {error.what}",
                    fix=error.fix,
                    line=error.line,
                    about="ground_truth",
                )
            )
        return _ResponsesScoring(cases, read_answers(inputs.outputs, keys), inputs.embedder).result()

    def metrics_for(self, documents: Sequence[DocumentScore]) -> tuple[Metric, ...]:
        """The accuracy of these variants; grades and texts are not in their counts."""
        counts = stats.total([Counts(), *(document.counts for document in documents)])
        return response_metrics(stats.field_accuracy(counts), [])


class _VariantGroup(NamedTuple):
    """One variant, with every response and every case that has none."""

    variant: VariantResponses
    measured: tuple[MeasuredResponse, ...]
    """By case, in the order of the test cases."""
    judgements: tuple[Judgement, ...]

    @property
    def calls(self) -> list[Call]:
        """Of its responses."""
        return [answer.response.call for answer in self.measured if answer.response]


class _ResponsesScoring:
    """The scoring of one output."""

    def __init__(self, cases: Cases, answers: Answers, embedder: Embedder | None) -> None:
        self._cases = cases.by_id
        self._findings = [*cases.findings, *answers.findings]
        known = [self._of_known_cases(variant) for variant in answers.variants]
        vectors = self._vectors(known, embedder)
        self._groups = [self._group(variant, vectors) for variant in known]

    def result(self) -> Result:
        """Sum up."""
        documents = tuple(_variant_score(group) for group in self._groups)
        judgements = tuple(judgement for group in self._groups for judgement in group.judgements)
        counts = stats.total(document.counts for document in documents)
        every = [group.measured for group in self._groups]
        readable = any(document.status == "scored" for document in documents)
        self._report_grades()
        usage = self._usage()
        agreed = agreement_with_people(answer for measured in every for answer in measured)
        scorecard = Scorecard(
            status="scored" if readable else "unreadable",
            counts=counts,
            metrics=response_metrics(stats.field_accuracy(counts), every),
            documents=documents,
            fields=self._fields(judgements),
            findings=bounded_findings(self._findings),
            expected_values=counts.tp + counts.omission + counts.wrong_value,
            actual_values=counts.tp + counts.wrong_value,
        )
        return Result(
            scorecard=with_usage(scorecard, usage),
            judgements=judgements,
            panels=tuple(_response_panels(self._groups, agreed)),
            answers=tuple(
                _compact_answer(group.variant, answer) for group in self._groups for answer in group.measured
            ),
            data=self._data(),
            questions=_questions_by_path(every),
            agreement=agreed,
        )

    def _usage(self) -> RunUsage | None:
        """Of all variants together; what stands beside the responses of several variants is of each of them alone."""
        calls = [call for group in self._groups for call in group.calls]
        self._findings += lacking(calls)
        beside = self._groups[0].variant.beside if len(self._groups) == 1 else None
        return run_usage(calls, beside, GRADED)

    def _data(self) -> Value:
        """What the data file holds beyond the scorecard: every response, and what the numbers were made from."""
        measured = [(group.variant.name, answer) for group in self._groups for answer in group.measured]
        vectors = [answer for _, answer in measured if answer.vector is not None]
        recorded = any(answer.response and answer.response.embedding is not None for answer in vectors)
        return {
            "cases": len(self._cases),
            "responses": [_response_row(name, answer) for name, answer in measured],
            "within_cases": [
                {"variant": group.variant.name, "case_id": case, "responses": count, "mean": Decimal(repr(value))}
                for group in self._groups
                for case, count, value in within_cases(group.measured)
            ],
            "vectors": len(vectors),
            "embeddings": ("recorded" if recorded else "model") if vectors else None,
            "grades_dropped": sum(with_unusable_grade(answer) is not None for _, answer in measured),
        }

    def _of_known_cases(self, variant: VariantResponses) -> VariantResponses:
        strangers = [response for response in variant.responses if response.case_id not in self._cases]
        if strangers:
            names = list(dict.fromkeys(stranger.case_id for stranger in strangers))
            message = f"Responses to no test case are not scored ({len(strangers)}): {first_names(names)}"
            self._findings.append(
                Finding(
                    severity="warning",
                    what=_about_variant(variant, message),
                    fix="Add the test cases.",
                    line=strangers[0].line,
                )
            )
        return variant._replace(responses=tuple(each for each in variant.responses if each.case_id in self._cases))

    def _vectors(self, variants: Sequence[VariantResponses], embedder: Embedder | None) -> dict[int, Vector | None]:
        """By the identity of the response: of all variants at once, so that they are compared by one model."""
        answered = [each for variant in variants for each in variant.responses if not each.error]
        found = response_vectors(answered, embedder)
        self._findings += found.findings
        return {id(each): vector for each, vector in zip(answered, found.of, strict=True)}

    def _group(self, variant: VariantResponses, vectors: dict[int, Vector | None]) -> _VariantGroup:
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
        return _VariantGroup(variant, tuple(measured), tuple(judgements))

    def _report_cases(self, variant: VariantResponses, by_case: dict[str, list[Response]]) -> None:
        missing = [name for name in self._cases if name not in by_case]
        if missing:
            message = f"Test cases without a response ({len(missing)}): {first_names(missing)}"
            fix = "Run the prompt over them; until then an expected text counts as not given."
            self._findings.append(Finding("error", _about_variant(variant, message), fix))
        repeated = [responses for responses in by_case.values() if len(responses) > 1]
        if repeated:
            names = [responses[0].case_id for responses in repeated]
            message = f"Test cases with several responses, each of which counts ({len(repeated)}): {first_names(names)}"
            self._findings.append(
                Finding(
                    severity="note",
                    what=_about_variant(variant, message),
                    fix="Remove those that are not meant.",
                    line=repeated[0][1].line,
                )
            )
        failed = [each for responses in by_case.values() for each in responses if each.error]
        if failed:
            self._findings.append(
                Finding(
                    severity="warning",
                    what=_about_variant(variant, f"Calls that failed and are left out ({len(failed)})"),
                    fix="Run the prompt over these cases again.",
                    line=failed[0].line,
                    value=failed[0].error[:200],
                )
            )

    def _report_grades(self) -> None:
        dropped = [
            each
            for group in self._groups
            for answer in group.measured
            if (each := with_unusable_grade(answer)) is not None
        ]
        if dropped:
            message = f"Grades that are no whole number from 1 to 5 and do not count: {len(dropped)}"
            self._findings.append(
                Finding(severity="warning", what=message, fix="Grade these responses again.", line=dropped[0].line)
            )

    def _fields(self, judgements: Sequence[Judgement]) -> tuple[FieldScore, ...]:
        by_category: dict[str, list[Judgement]] = {}
        for case in self._cases.values():
            by_category.setdefault(case.category or UNCATEGORISED, [])
        for judgement in judgements:
            by_category[judgement.attribute].append(judgement)
        return tuple(
            FieldScore(category, stats.tally(of_category))
            for category, of_category in by_category.items()
            if of_category
        )


def with_unusable_grade(answer: MeasuredResponse) -> Response | None:
    """The response, if its call did not fail and it has a grade that is none."""
    response = answer.response
    if response is None or answer.failed or answer.quality is not None or response.quality is None:
        return None
    return response


def _test_cases_content(file: File | None) -> tuple[str, bytes]:
    if file is None or file.content is None:
        why = (file.reason if file else "") or "the file is missing"
        raise UnreadableError(why, "Add the test cases.")
    return file.path, file.content


def _no_cases(finding: Finding) -> Result:
    undefined = tuple(Metric(spec.name, None) for spec in METRICS)
    return Result(
        Scorecard(
            status="no_ground_truth", counts=Counts(), metrics=undefined, documents=(), fields=(), findings=(finding,)
        ),
        (),
    )


def _about_variant(variant: VariantResponses, message: str) -> str:
    return f"{message}, of the variant {variant.name[:80]!r}" if variant.name else message


def _variant_score(group: _VariantGroup) -> DocumentScore:
    counts = stats.tally(group.judgements)
    took = run_usage(group.calls, group.variant.beside)
    numbers = (*response_metrics(stats.field_accuracy(counts), [group.measured]), *usage_metrics(took))
    return DocumentScore(
        id=group.variant.name,
        status="unreadable" if group.variant.unreadable else "scored",
        counts=counts,
        metrics=numbers,
    )


def _response_judgement(variant: VariantResponses, answer: MeasuredResponse) -> Judgement:
    outcome: Outcome = "correct" if answer.correct else "wrong_value" if answer.text.strip() else "omission"
    note = "" if answer.response else variant.unreadable or MISSING
    category = answer.case.category or UNCATEGORISED
    return Judgement(
        document=variant.name,
        path=_response_path(answer),
        attribute=category,
        outcome=outcome,
        expected=answer.case.expected,
        actual=answer.text or None,
        note=note,
    )


def _response_path(answer: MeasuredResponse) -> str:
    return answer.case.id if answer.number == 1 else f"{answer.case.id} #{answer.number}"


def _questions_by_path(groups: Iterable[Iterable[MeasuredResponse]]) -> tuple[tuple[str, str], ...]:
    """What was asked, by the path of the judgement; variants were asked the same."""
    asked = {_response_path(answer): answer.case.question for measured in groups for answer in measured}
    return tuple((path, question) for path, question in asked.items() if question)


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
    """A response whole, for the data file."""
    row: dict[str, Value] = {
        "variant": variant,
        "case_id": answer.case.id,
        "category": answer.case.category,
        "expected": answer.case.expected,
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


def _response_panels(groups: Sequence[_VariantGroup], agreed: Kappa | None) -> Iterator[Panel]:
    if agreed:
        yield agreement_note(agreed, "responses")
    within = [(group.variant.name, *row) for group in groups for row in within_cases(group.measured)]
    if within:
        yield TablePanel(
            title="Consistency within cases",
            note=_note_on_first_rows(len(within), "mean cosine of the answers that one variant gave to one case"),
            columns=(
                PanelColumn("Variant"),
                PanelColumn("Case", "code"),
                PanelColumn("Responses", "number"),
                PanelColumn("Consistency", "number"),
            ),
            rows=tuple((name, case, str(count), f"{value:.3f}") for name, case, count, value in within[:_ROWS]),
        )
    unscored = [(group.variant.name, answer) for group in groups for answer in group.measured if answer.correct is None]
    if unscored:
        yield TablePanel(
            title="Responses without an exact match",
            note=_note_on_first_rows(len(unscored), "nothing is expected of them, or the call failed"),
            columns=(
                PanelColumn("Variant"),
                PanelColumn("Case", "code"),
                PanelColumn("Grade", "number"),
                PanelColumn("Response"),
            ),
            rows=tuple(
                (name, answer.case.id, str(answer.quality or ""), _response_text(answer.response))
                for name, answer in unscored[:_ROWS]
            ),
        )


def _note_on_first_rows(count: int, note: str) -> str:
    return note if count <= _ROWS else f"{note}; the first {_ROWS} of {count}"


def _response_text(response: Response | None) -> str:
    if response is None:
        return ""
    return f"error: {response.error}" if response.error else response.output
