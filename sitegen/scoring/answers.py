"""What the answers to cases have in common, of whatever kind: what repeats show, confidences, and texts for pages."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import comb
from typing import Final

from sitegen.importers.case import VERDICT_FIELD, JudgedCase, Opinion
from sitegen.model.answers import INPUT, AnsweredCase, CaseAnswer, JudgeWords, Turn
from sitegen.model.frozen import grouped
from sitegen.model.metrics import Metric, MetricSpec
from sitegen.stats import counts as stats
from sitegen.text.plain import cut
from sitegen.text.values import as_json

OF_DRAWS: Final = (
    MetricSpec(
        "pass_any",
        "pass@k",
        "The chance that at least one of k answers to a case passes, as its answers show it; the mean over cases.",
        is_optional=True,
    ),
    MetricSpec(
        "pass_all",
        "pass^k",
        "The chance that all of k answers to a case pass, as its answers show it; the mean over cases.",
        is_optional=True,
    ),
    MetricSpec(
        "flaky",
        "Flaky cases",
        "Cases of which some answers passed and others did not / cases with two verdicts or more; a case that several "
        "variants or models answered counts by the share of them.",
        higher_is_better=False,
        is_optional=True,
    ),
)
"""The metrics of ``draws``."""
LONGEST_TEXT: Final = 4_000  # characters of a text
_BOUNDS: Final = (LONGEST_TEXT, 1_000, 250, 60)
"""Characters after which every text of an output is cut: the first of these with which all fit into ``_TOGETHER``."""
_TOGETHER: Final = 40_000_000  # characters of all texts of one output
_TURNS: Final = 100  # the most entries of a transcript: the first and the last half of more
_JUDGES: Final = 20  # judges of an answer
_DETAILS: Final = 1_000  # characters


def given(repeats: Iterable[JudgedCase]) -> list[JudgedCase]:
    """Return the answers to a case as far as the file tells them apart, without calls that gave none."""
    return [answer for case in repeats for answer in case.repeats or (case,) if not answer.error]


def _verdicts(repeats: Sequence[JudgedCase]) -> tuple[int, int]:
    """Return the number of answers to a case that have a verdict, and how many of them passed."""
    judged = [(answer.answers, answer.passed) for answer in given(repeats) if answer.passed is not None]
    return sum(number for number, _ in judged), sum(round(number * passed) for number, passed in judged)


def fewest_verdicts(answers: Iterable[Sequence[JudgedCase]]) -> int:
    """Return the k of an output: the least number of answers to a case with several that have a verdict; 0 without."""
    return min((number for number, _ in map(_verdicts, answers) if number > 1), default=0)


def draws(repeats: Sequence[JudgedCase], k: int) -> Iterator[Metric]:
    """Yield what the answers to a case show if k of them are drawn, and how many they are; nothing if it has fewer."""
    number, passed = _verdicts(repeats)
    if chances := drawn(number, passed, k):
        yield from map(Metric, (*stats.OF_DRAWS, *stats.DRAWN_FROM), (*chances, float(number), float(passed)))


def drawn(number: int, passed: int, k: int) -> tuple[float, ...]:
    """Return the values of ``OF_DRAWS`` if k of so many answers are drawn without replacement; empty if it has fewer.

    The unbiased estimate of pass@k is that of Chen et al., *Evaluating Large Language Models Trained on Code*, 2021.
    """
    if number < k or k < 2:
        return ()
    ways = comb(number, k)
    return 1 - comb(number - passed, k) / ways, comb(passed, k) / ways, float(0 < passed < number)


def confidences(attribute: str, cases: Iterable[JudgedCase]) -> Iterator[tuple[float, bool]]:
    """Yield how sure the model was of each single answer, and whether no judge found an attribute of it wrong."""
    for each in chain.from_iterable(case.repeats or (case,) for case in cases):
        if each.confidence is not None and each.answers == 1:
            counted = ((opinion.name, field, cells) for opinion in each.opinions for field, cells in opinion.counts)
            own = (cells for judge, field, cells in counted if attribute in (field, f"{judge}: {field}"))
            yield each.confidence, not any(cells.fp + cells.fn for cells in own)


def answered_cases(cases: Sequence[JudgedCase]) -> tuple[AnsweredCase, ...]:
    """Return the cases with their answers, in the order of the first answer to each.

    Empty if the file has neither texts nor scores of judges.
    """
    lengths = [
        len(text)
        for case in cases
        for text in chain(
            (case.input, case.expected, case.output, case.error, *(turn.text for turn in case.transcript)),
            *((opinion.reasoning, *opinion.hits, *opinion.misses) for opinion in case.opinions),
        )
    ]
    fitting = (bound for bound in _BOUNDS if sum(min(length, bound) for length in lengths) <= _TOGETHER)
    longest = next(fitting, _BOUNDS[-1])
    stated = ((judge.score, judge.details) for case in cases for judge in case.judges)
    has_details = any(case.opinion.details is not None for case in cases)
    if not any(lengths) and not has_details and all(of_judge == (None, None) for of_judge in stated):
        return ()
    return tuple(
        AnsweredCase(
            id=name,
            asked={name: cut(text, longest) for name, text in _asked(of_case) if text},
            expected=cut(next((case.expected for case in of_case if case.expected), ""), longest),
            # Of a case that sums up answers, each of them if the file tells them apart.
            answers=tuple([_answer(each, case, longest) for case in of_case for each in case.repeats or (case,)]),
        )
        for name, of_case in grouped((case.id, case) for case in cases).items()
    )


def _asked(of_case: Sequence[JudgedCase]) -> Iterator[tuple[str, str]]:
    """Yield the input, and what else the file says of all answers to a case in the same words."""
    yield INPUT, next((case.input for case in of_case if case.input), "")
    texts = of_case[0].texts
    for name, text in texts.items():
        if all(case.texts is texts or case.texts.get(name) == text for case in of_case):
            yield name, text


def _answer(case: JudgedCase, summed: JudgedCase, longest: int) -> CaseAnswer:
    """Return an answer, which the case ``summed`` may sum up with others."""
    transcript: Iterable[Turn] = case.transcript
    if (left_out := len(case.transcript) - _TURNS) > 0:
        gap = Turn("message", "", f"… {left_out:,} entries are left out …")
        transcript = chain(case.transcript[: _TURNS // 2], (gap,), case.transcript[-_TURNS // 2 :])
    overall, *judges = (_words(opinion, longest) for opinion in case.opinions[: _JUDGES + 1])
    if overall.details or not any(overall.reasons in judge.reasons for judge in judges):
        judges = [overall, *judges]  # what is said of all together, unless one of them says it
    return CaseAnswer(
        document=summed.document,
        variant=cut(summed.variant, longest),
        model=cut(summed.provider or case.model, longest),
        output=cut(case.output, longest),
        error=cut(case.error or case.unjudged, longest),
        passed=None if case.passed is None else float(case.passed),
        score=case.score,
        judges=tuple(judges),
        usage=case.call.usage,
        transcript=tuple(
            turn._replace(name=cut(turn.name, longest), text=cut(turn.text, longest)) for turn in transcript
        ),
    )


def _words(opinion: Opinion, longest: int) -> JudgeWords:
    hits = (f"✓ {hit}" for hit in opinion.hits)
    named = (opinion.name, VERDICT_FIELD)
    misses = (f"✗ {miss.removeprefix(f'{opinion.name}: ')}" for miss in opinion.misses if miss not in named)
    reasons = "\n".join(filter(None, (opinion.reasoning, *hits, *misses)))
    details = "" if opinion.details is None else as_json(opinion.details)
    return JudgeWords(
        name=cut(opinion.name, longest),
        score=opinion.score,
        reasons=cut(reasons, longest),
        details=cut(details, min(longest, _DETAILS)),
    )
