"""Computes the metrics of responses: of one variant, or of all variants together (rules 29 to 31).

The vectors for consistency are embeddings recorded with the responses, or made by a model (rule 30).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import isfinite
from typing import Final

from sitegen.importers.case import ASSERTED, Grader, JudgedCase, Opinion, texts_of
from sitegen.model.frozen import grouped, replace
from sitegen.model.metrics import Counts, Metric, MetricSpec
from sitegen.model.outcomes import Judgement, Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.scorecards import DocumentScore, FieldScore, Kappa
from sitegen.scoring.answers import OF_DRAWS, confidences, draws
from sitegen.scoring.kinds import Embedder
from sitegen.scoring.responses.files import ROUGE, Response, TestCase, Vector, grade_of
from sitegen.stats import counts as stats
from sitegen.stats.agreement import cohens_kappa, mean_pairwise_cosine
from sitegen.stats.confidence import AUROC
from sitegen.text.similarity import rouge


def response_vectors(responses: Sequence[Response], embedder: Embedder | None) -> Parsed[tuple[Vector | None, ...]]:
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
        fix = "Record an `embedding` with each response, or in a clone of sitegen: pip install '.[consistency]'."
        return Parsed((None,) * len(responses), (Finding("note", message, fix, about="installation"),))
    texts = [text for text in dict.fromkeys(response.answer.output for response in responses) if text.strip()]
    by_text = dict(zip(texts, embedder(texts), strict=True)) if texts else {}
    zero = [0.0] * (len(by_text[texts[0]]) if texts else 1)
    return Parsed(tuple(by_text.get(response.answer.output, zero) for response in responses))


def _recorded_vectors(responses: Sequence[Response]) -> Parsed[tuple[Vector | None, ...]]:
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
    """Return the numbers of an embedding. None if it is not a list of finite numbers."""
    if not isinstance(value, list) or not value:
        return None
    if not all(type(item) is int or type(item) is Decimal for item in value):
        return None
    try:
        numbers = [float(item) for item in value]  # type: ignore[arg-type]
    except OverflowError:
        return None
    return numbers if all(map(isfinite, numbers)) else None


_PATH: Final = "answer"  # the field path of an answer to a case without a category
_GRADE: Final = "quality"  # the judge of the quality of an answer; 0 to 1 for the grades 1 to 5
_TEXTS: Final = "give test cases an expected text."

METRICS: Final = (
    MetricSpec(
        "accuracy",
        "Accuracy",
        "The share of the responses to a case that equal an accepted text, trimmed and regardless of case, without "
        "failed calls; the mean over cases.",
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
        when_undefined="record an embedding with each of two or more responses, or install sitegen[consistency].",
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
    *OF_DRAWS,
    AUROC,
)


def judged_answer(answer: JudgedCase, case: TestCase, quality: int | None) -> JudgedCase:
    """Compare an answer with what its case accepts, each ROUGE measure with the accepted text that is most like it.

    Nothing is said of a failed call. ``quality``: the grade of the answer.
    """
    answer = replace(
        answer, texts=texts_of({"category": case.category}), input=case.question, expected=" | ".join(case.expected)
    )
    if answer.error:
        return answer
    judges = []
    if quality is not None:
        grader = Grader(answer.call.judge) if answer.call.judge else None
        judges.append(Opinion(_GRADE, (quality - 1) / 4, reasoning=f"grade {quality} of 5", grader=grader))
    if not case.expected:
        return replace(answer, judges=tuple(judges))
    text = answer.output.strip().casefold()
    accepted = (*case.expected, *filter(None, [case.listed]))
    correct = any(text == other.strip().casefold() for other in accepted)
    by_text = zip(*(rouge(expected, answer.output) for expected in case.expected), strict=True)
    judges += [Opinion(name, max(values)) for name, values in zip(ROUGE, by_text, strict=True)]
    counts = ASSERTED[correct] if correct or text else Counts(fn=1, omission=1)
    opinion = Opinion("accuracy", float(correct), counts=(FieldScore(case.field, counts),))
    return replace(answer, opinion=opinion, judges=tuple(judges), passed=float(correct))


def agreement_with_people(responses: Iterable[Response]) -> Kappa | None:
    """Kappa of the judge and people, over the responses that both graded. None if there are fewer than two."""
    graded = ((each.grade, grade_of(each.human_quality)) for each in responses)
    return cohens_kappa([(judge, person) for judge, person in graded if judge is not None and person is not None])


def judgement_of(document: str, case: TestCase, responses: Sequence[Response]) -> Judgement:
    """Judge whether the responses to a case are accepted ones. Of several, the first wrong one is shown."""
    wrong = [response for response in responses if not response.answer.passed]
    shown = (*wrong, *responses)[0]
    several = f"{len(wrong)} of {len(responses)} answers" if wrong and len(responses) > 1 else ""
    if len(wrong) == len(responses) and len({response.answer.output for response in wrong}) > 1:
        several += ", which differ"
    text = shown.answer.output
    return Judgement(
        document=document,
        path=case.category or _PATH,
        attribute=case.field,
        outcome="correct" if shown.answer.passed else "wrong_value" if text.strip() else "omission",
        expected=case.expected_value,
        actual=text or None,
        note=several or shown.missing,
        stated=tuple(confidences(case.field, [response.answer for response in responses])),
    )


def metrics_of_case(responses: Sequence[Response], k: int) -> tuple[Metric, ...]:
    """Compute the defined metrics of one case: the means of its answers, each of which one variant gave.

    ``k``: how many of them are drawn for the metrics of repeats.
    """
    opinions = (opinion for response in responses for opinion in response.answer.judges)
    scores = grouped((opinion.name, opinion.score or 0.0) for opinion in opinions)
    values = {metric: stats.mean(scores.get(name, ())) for name, metric in ROUGE.items()}
    values["average_quality"] = stats.mean(1 + 4 * score for score in scores.get(_GRADE, ()))
    values |= {"accuracy": stats.mean(each.answer.passed for each in responses)}
    values["case_consistency"] = mean_cosine(responses)
    means = (Metric(spec.name, value) for spec in METRICS if (value := values.get(spec.name)) is not None)
    return (*means, *draws([response.answer for response in responses], k))


def response_metrics(documents: Sequence[DocumentScore], responses: Iterable[Response] = ()) -> tuple[Metric, ...]:
    """Compute the metrics of some cases together, in the order of their specs.

    The consistency is that of the ``responses``, because it does not follow from the scores of the cases.
    """
    by_case = stats.values_by_case(documents, [spec.name for spec in METRICS])
    means = {name: stats.mean_over_cases(cases) for name, cases in by_case.items()}
    means["consistency_score"] = mean_cosine(responses)
    stated = ((spec, means[spec.name]) for spec in METRICS)
    return tuple(Metric(spec.name, value) for spec, value in stated if value is not None or not spec.is_optional)


def mean_cosine(responses: Iterable[Response]) -> float | None:
    """Return the mean cosine of all pairs of responses that have a vector; None with fewer than two."""
    return mean_pairwise_cosine([response.vector for response in responses if response.vector is not None])
