"""Computes the metrics of responses: of one variant, or of all variants together (rules 29 to 31).

The vectors for consistency are embeddings recorded with the responses, or made by a model (rule 30).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import isfinite
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.model.frozen import Frozen
from sitegen.model.metrics import Metric, MetricSpec
from sitegen.model.outcomes import Judgement, Outcome, Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.scorecards import Answer, Kappa, Rouge
from sitegen.model.usage import Call, RunUsage
from sitegen.scoring.responses.files import Response, TestCase, VariantResponses
from sitegen.scoring.scorer import Embedder
from sitegen.stats import counts as stats
from sitegen.stats.agreement import cohens_kappa, mean_pairwise_cosine
from sitegen.text.similarity import rouge

Vector = Sequence[float]
Vectors: TypeAlias = tuple[Vector | None, ...]
"""A vector for each response. None for a response without a vector."""


def response_vectors(responses: Sequence[Response], embedder: Embedder | None) -> Parsed[Vectors]:
    """Return the vectors of responses that are compared with each other, in order.

    If any response has a recorded embedding, those without are left out, because vectors of two models are not
    comparable. Otherwise the embedder makes all vectors. An empty answer gets the zero vector, whose cosine with any
    other is 0.
    """
    if any(response.embedding is not None for response in responses):
        return _recorded_vectors(responses)
    if len(responses) < 2:
        return Parsed((None,) * len(responses))
    if embedder is None:
        message = "Consistency is undefined: the responses have no embeddings, and nothing is installed to make them"
        fix = "Record an `embedding` with each response, or pip install 'sitegen-evals[consistency]'."
        return Parsed((None,) * len(responses), (Finding("note", message, fix),))
    texts = [text for text in dict.fromkeys(response.output for response in responses) if text.strip()]
    by_text = dict(zip(texts, embedder(texts), strict=True)) if texts else {}
    zero = [0.0] * (len(by_text[texts[0]]) if texts else 1)
    return Parsed(tuple(by_text.get(response.output, zero) for response in responses))


def _recorded_vectors(responses: Sequence[Response]) -> Parsed[Vectors]:
    read = [_recorded_embedding(response.embedding) for response in responses]
    lengths = Counter(len(vector) for vector in read if vector is not None)
    usual = lengths.most_common(1)[0][0] if lengths else 0
    vectors = tuple(vector if vector is not None and len(vector) == usual else None for vector in read)
    lines = [response.line for response, vector in zip(responses, vectors, strict=True) if vector is None]
    if not lines:
        return Parsed(vectors)
    message = f"{len(lines)} of {len(vectors)} responses have no usable embedding and are left out of consistency"
    fix = "Record a list of numbers, as long as the others."
    return Parsed(vectors, (Finding(severity="warning", message=message, fix=fix, line=lines[0]),))


def _recorded_embedding(value: Value) -> list[float] | None:
    """The numbers of an embedding. None if it is not a list of finite numbers."""
    if not isinstance(value, list) or not value:
        return None
    if not all(type(item) is int or type(item) is Decimal for item in value):
        return None
    try:
        numbers = [float(item) for item in value]  # type: ignore[arg-type]
    except OverflowError:
        return None
    return numbers if all(map(isfinite, numbers)) else None


UNCATEGORISED: Final = "(no category)"
_MISSING: Final = "no response"
_ROUGE: Final = ("rouge1", "rouge2", "rougeL")
_TEXTS: Final = "give test cases an expected text."

METRICS: Final = (
    MetricSpec(
        "accuracy",
        "Accuracy",
        "Correct / expected responses: those that equal an accepted text, trimmed and regardless of case, of all "
        "without failed calls.",
        least=0.85,
        when_failed="read the wrong answers, category by category, and say in the prompt what they miss.",
        when_undefined=_TEXTS,
    ),
    MetricSpec(
        "consistency_score",
        "Consistency",
        "The mean cosine of the embeddings of all pairs of responses.",
        low=-1.0,
        least=0.8,
        when_failed="ask for one format and one tone, and lower the temperature.",
        when_undefined="record an embedding with each of two or more responses, or install sitegen-evals[consistency].",
    ),
    MetricSpec(
        "average_quality",
        "Average quality",
        "The mean of the recorded grades, whole numbers from 1 to 5.",
        low=1.0,
        high=5.0,
        least=4.0,
        when_failed="read the responses with the lowest grades.",
        when_undefined="let a judge grade the responses with `sitegen judge`.",
    ),
    MetricSpec("rouge1", "ROUGE-1", "The mean F-measure of common words.", when_undefined=_TEXTS),
    MetricSpec("rouge2", "ROUGE-2", "The mean F-measure of common pairs of words.", when_undefined=_TEXTS),
    MetricSpec("rougeL", "ROUGE-L", "The mean F-measure of the longest common subsequence.", when_undefined=_TEXTS),
    MetricSpec(
        "case_consistency",
        "Consistency within cases",
        "The mean, over cases that one variant answered twice or more, of the mean cosine of its answers.",
        low=-1.0,
    ),
)


class MeasuredResponse(Frozen):
    """One response with its measurements, or a case that has no response, which is measured like an empty one."""

    variant: VariantResponses
    case: TestCase
    response: Response | None = None
    """None if the case has no response."""
    number: int = 1
    """The number of the response among those of its case."""
    vector: Vector | None = None
    correct: bool | None = None
    """None if nothing is expected, or if the call failed."""
    quality: int | None = None
    rouge: Rouge | None = None
    """Each measure is taken against the accepted answer that is most like the response by it."""

    def measured(self) -> MeasuredResponse:
        """Return the response with what follows from it and its case."""
        if self.failed:
            return self
        quality = grade(self.response.quality) if self.response else None
        if not self.case.is_scored:
            return replace(self, quality=quality)
        text = self.text.strip().casefold()
        accepted = (*self.case.expected, *filter(None, [self.case.listed]))
        words, pairs, longest = zip(*(rouge(expected, self.text) for expected in self.case.expected), strict=True)
        return replace(
            self,
            quality=quality,
            correct=any(text == other.strip().casefold() for other in accepted),
            rouge=(max(words), max(pairs), max(longest)),
        )

    @property
    def failed(self) -> bool:
        """Whether the call failed."""
        return self.response is not None and bool(self.response.error)

    @property
    def has_unusable_grade(self) -> bool:
        """Whether the response has a grade that is not from 1 to 5. Failed calls have none."""
        response = self.response
        return not self.failed and self.quality is None and response is not None and response.quality is not None

    @property
    def text(self) -> str:
        """The output, empty without a response."""
        return self.response.output if self.response else ""

    @property
    def path(self) -> str:
        """The id of the case, with the number of a further response."""
        return self.case.id if self.number == 1 else f"{self.case.id} #{self.number}"

    @property
    def judgement(self) -> Judgement:
        """Whether the response is an accepted one, as the judgement of a value."""
        outcome: Outcome = "correct" if self.correct else "wrong_value" if self.text.strip() else "omission"
        return Judgement(
            document=self.variant.name,
            path=self.path,
            attribute=self.case.category or UNCATEGORISED,
            outcome=outcome,
            expected=self.case.expected_value,
            actual=self.text or None,
            note="" if self.response else self.variant.unreadable or _MISSING,
        )

    @property
    def answer(self) -> Answer:
        """What analysis needs of the response."""
        call, beside = self.response.call if self.response else Call(), self.variant.beside or RunUsage()
        return Answer(
            variant=self.variant.name,
            case_id=self.case.id,
            category=self.case.category,
            correct=self.correct,
            quality=self.quality,
            failed=self.failed,
            rouge=self.rouge,
            model=call.model or " and ".join(beside.models),
            judge=call.judge,
        )

    @property
    def row(self) -> Value:
        """The complete response, for the data file."""
        row: dict[str, Value] = {
            "variant": self.variant.name,
            "case_id": self.case.id,
            "category": self.case.category,
            "expected": self.case.expected_value,
            "output": self.response.output if self.response else None,
            "error": self.response.error if self.response else None,
            "correct": self.correct,
            "quality": self.quality,
        }
        if self.rouge:
            row |= {name: Decimal(repr(value)) for name, value in zip(_ROUGE, self.rouge, strict=True)}
        return row


def grade(value: Value) -> int | None:
    """Read a grade: a whole number from 1 to 5, also as a text. None for any other value."""
    if isinstance(value, str) and value.strip() in ("1", "2", "3", "4", "5"):
        return int(value)
    return value if type(value) is int and 1 <= value <= 5 else None


def agreement_with_people(answers: Iterable[MeasuredResponse]) -> Kappa | None:
    """Kappa of the judge and people, over the responses that both graded. None if there are fewer than two."""
    graded = ((answer.quality, grade(answer.response.human_quality)) for answer in answers if answer.response)
    return cohens_kappa([(judge, person) for judge, person in graded if judge is not None and person is not None])


def response_metrics(accuracy: float | None, groups: Sequence[Sequence[MeasuredResponse]]) -> tuple[Metric, ...]:
    """Compute the metrics of some variants together, in the order of their specs. ``accuracy`` is already counted."""
    every = [answer for group in groups for answer in group]
    within = [cosine for group in groups for _, _, cosine in within_cases(group)]
    return (
        Metric("accuracy", accuracy),
        Metric("consistency_score", _mean_cosine(every)),
        Metric("average_quality", stats.mean(answer.quality for answer in every)),
        *(
            Metric(name, stats.mean(answer.rouge[index] if answer.rouge else None for answer in every))
            for index, name in enumerate(_ROUGE)
        ),
        Metric("case_consistency", stats.mean(within)),
    )


def within_cases(group: Iterable[MeasuredResponse]) -> list[tuple[str, int, float]]:
    """Return (id, number of responses, mean cosine of all pairs) of each case that one variant answered repeatedly."""
    by_case: dict[str, list[MeasuredResponse]] = {}
    for answer in group:
        if answer.vector is not None:
            by_case.setdefault(answer.case.id, []).append(answer)
    return [
        (case_id, len(answers), mean)
        for case_id, answers in by_case.items()
        if (mean := _mean_cosine(answers)) is not None
    ]


def _mean_cosine(answers: Iterable[MeasuredResponse]) -> float | None:
    return mean_pairwise_cosine([answer.vector for answer in answers if answer.vector is not None])
