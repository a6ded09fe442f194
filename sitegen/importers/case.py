"""A judged case: the common form of the results of all tools.

Tools that name their scores (Inspect's scorers, the columns of a table) do not state which of them are assertions. A
score whose values in all files of a series are right or wrong counts as one: it becomes a field, whose cells are
followed through history. Any other score is only a number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec.structs import replace

from sitegen.model.answers import Turn
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import Unusable, Value
from sitegen.model.problems import Finding
from sitegen.model.recorded import Recorded
from sitegen.model.scorecards import FieldScore
from sitegen.model.usage import LONGEST_MODEL_NAME, Call, spelled_number
from sitegen.stats.counts import mean, total
from sitegen.text.plain import cut, normal_form
from sitegen.text.values import as_json, short_digest

BASELINES: Final = re.compile(r"(?:without|no|old|previous)[-_ ]?skills?|baseline|control", re.IGNORECASE)
"""Matches names of the variant that others are compared with."""


class Grader(Frozen):
    """The model that gave an opinion, as far as the file states it."""

    name: str = ""
    """Its name, and a digest of its prompt. Empty if neither is stated."""
    rubric: str = ""
    """The criteria for this case alone."""


class Opinion(Frozen):
    """The opinion of one judge (a grader, an assertion, a metric) on one case."""

    name: str
    score: float | None
    """0..1."""
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    reasoning: str = ""
    counts: tuple[FieldScore, ...] = ()
    """The attribute is empty if the judge gives totals only."""
    details: Value = None
    """As in the file. None if there are none."""
    grader: Grader | None = None
    """None if the opinion is mechanical, or if nothing states that a model gave it."""

    def as_field(self, grades: Collection[str]) -> Opinion:
        """Return the opinion with what it misses, or without counts if its score is a grade."""
        if self.name in grades:
            return replace(self, counts=())
        if self.misses or not any(field.counts.fp for field in self.counts):
            return self
        return replace(self, misses=(": ".join(filter(None, (self.name, self.reasoning))),), reasoning="")


def grader_name(model: str, prompt: str) -> str:
    """Name a judge by its model, and by a digest of its prompt if that is stated."""
    return " ".join(filter(None, (model[:LONGEST_MODEL_NAME], prompt and f"prompt {short_digest(prompt)}")))


ASSERTED: Final = {True: Counts(tp=1), False: Counts(fp=1, fn=1, wrong_value=1)}
"""An assertion is one value that is right or wrong: F1, precision and recall are the share of passed assertions."""


_TAG: Final = 60  # the most characters of a tag; a longer text is no word for a group of cases
_ITEMS: Final = 20  # the most items of a list that is a tag
_TEXT: Final = 4_000  # the most characters of any other text that a file states about a case
MOST_NUMBERS: Final = 10
"""The most values of a tag if all of them are numbers: more of them measure the answers."""


def texts_of(stated: Mapping[str, Value]) -> Mapping[str, str]:
    """Return what a file says of a case in texts, whole numbers and truth values; each of a list is a line."""
    said: list[tuple[str, str]] = []
    for name, value in stated.items():
        several = value if isinstance(value, list) else [value]
        lines = [each if isinstance(each, str) else as_json(each) for each in several if isinstance(each, str | int)]
        if 0 < len(lines) == len(several) <= _ITEMS:
            said.append((name, cut("\n".join(lines), _TEXT)))
    return _shared(tuple(said))


def tags_of(texts: Mapping[str, str]) -> dict[str, str]:
    """Return those texts that are short enough to be words for groups of cases."""
    return {name: text for name, text in texts.items() if text and max(map(len, text.split("\n"))) <= _TAG}


@lru_cache(1024)
def _shared(texts: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """One object for all answers with the same texts, of which there may be hundreds of thousands."""
    return MappingProxyType(dict(texts))


class JudgedCase(Frozen):
    """One case of one variant, with everything that a format may state about it.

    Several of the same id are repeats: several answers to one case, which are summed up as one (rule 45).
    """

    id: str
    """Identifies the case through history, whoever answers it. Empty if the file is one case and does not name it: its
    place among the files of the output does."""
    opinion: Opinion
    """The opinion of all judges together. Its counts are those in the ``details`` of the case itself."""
    judges: tuple[Opinion, ...]
    variant: str = ""
    """The prompt that was answered. Empty if the file does not distinguish any."""
    provider: str = ""
    """What the run calls the model or program that answered. Empty if that is the name of the model."""
    texts: Mapping[str, str] = MappingProxyType({})
    """What else the file says of the case, by name: its topic, the variables of its prompt. Short ones are tags."""
    document: str = ""
    """The case, with the variant and the model if several answered it (``with_documents``)."""
    passed: float | None = None
    """The share of its answers that passed: 0 or 1 if it is one. None if it is not stated or was skipped."""
    answers: int = 1
    """Number of answers that the file sums up in it."""
    repeats: tuple[JudgedCase, ...] = ()
    """Each of these answers, for the pages alone, if the file tells them apart."""
    input: str = ""
    expected: str = ""
    output: str = ""
    output_at: str = ""
    """The path of the file with the output, in the folder of the run, if it is not in this file."""
    error: str = ""
    """Why there is no answer, or no judgement of it. Empty if nothing failed."""
    unjudged: str = ""
    """Why a judge failed at the case, which therefore counts in no number (rule 41). Empty if none failed."""
    call: Call = Call()
    """The model that answered, and its usage. Whether it failed follows from ``error``."""
    confidence: float | None = None
    """How sure the model said it was of its answer: 0..1 after ``with_confidences``, before that as in the file. None
    if the file does not state it."""
    verdicts: tuple[bool, bool] | None = None
    """Whether the answer is right. None unless the file states both."""
    transcript: tuple[Turn, ...] = ()

    @property
    def model(self) -> str:
        """The model or program that answered. Empty if the file does not state it."""
        return self.provider or self.call.model

    @property
    def axes(self) -> dict[str, str]:
        """What answers can be grouped by, and its value here."""
        who = {"variant": self.variant, "model": self.model}
        return {name: value for name, value in {**tags_of(self.texts), **who}.items() if value}

    @property
    def score(self) -> float | None:
        """The score in the file, else the mean of the judges' scores."""
        stated = self.opinion.score
        return mean(judge.score for judge in self.judges) if stated is None else stated

    @property
    def counted(self) -> JudgedCase:
        """The case without anything that would count, if a judge failed at it; otherwise the case itself."""
        if not self.unjudged:
            return self
        opinion, *judges = (replace(opinion, score=None, counts=()) for opinion in self.opinions)
        return replace(self, opinion=opinion, judges=tuple(judges), passed=None, verdicts=None)

    @property
    def has_result(self) -> bool:
        """Whether the file states a score, a verdict or counts."""
        return self.score is not None or self.passed is not None or any(each.counts for each in self.opinions)

    @property
    def is_one_verdict(self) -> bool:
        """Whether it states whether its answers passed, or are of the expected class, and nothing else."""
        cells = total(cells for opinion in self.opinions for _, cells in opinion.counts)
        return (
            self.passed is not None
            and cells.tp + cells.wrong_value == self.answers == sum(cells[:4]) - cells.wrong_value
            and round(self.passed * self.answers) == cells.tp
            and all(opinion.score in (None, self.passed) for opinion in self.opinions)
        )

    def with_fields(self, grades: Collection[str]) -> JudgedCase:
        """Return the case with the scores that are no grades as its fields, and the verdict that follows from these."""
        judges = tuple([judge.as_field(grades) for judge in self.judges])
        both = ((judge, total(cells for _, cells in judge.counts)) for judge in judges if judge.counts)
        # Of several answers to a case, what is right is the score that the tool gave them together.
        right = (float(sums.tp) if sums.tp + sums.fp == 1 else judge.score or 0.0 for judge, sums in both)
        passed = min(right, default=None)
        return replace(
            self,
            judges=judges,
            passed=passed if self.passed is None else self.passed,
            repeats=tuple([repeat.with_fields(grades) for repeat in self.repeats]),
        )

    @property
    def opinions(self) -> tuple[Opinion, ...]:
        """All opinions that may hold counts."""
        return (self.opinion, *self.judges)


BETWEEN: Final = " · "
"""Between the parts of the name of a document."""


def document_of(case: str, *who: str) -> str:
    """Name the answer to a case by its case, by who answered, and by the repeat if repeats are documents."""
    return BETWEEN.join(filter(None, (case, *who)))


def with_documents(cases: Sequence[JudgedCase], *, always: Collection[str] = ()) -> list[JudgedCase]:
    """Name the document of each case: with its variant if there are several, and with its model if that tells more.

    A case that only one model answers therefore keeps its name when the model is replaced.

    ``always``: those of the two that are named in any case, because paths state them and others answer later.
    """
    several = "variant" in always or len({case.variant for case in cases}) > 1
    names = [(case.id, case.variant if several else "") for case in cases]
    models = [case.model for case in cases]
    if "model" not in always and len({*zip(names, models, strict=True)}) == len({*names}):
        models = [""] * len(cases)
    documents = {who: document_of(*who[0], who[1]) for who in zip(names, models, strict=True)}  # one text for repeats
    return [
        replace(case, document=documents[name, model]) for case, name, model in zip(cases, names, models, strict=True)
    ]


class JudgedResults(Frozen):
    """The readable part of a file of results."""

    cases: tuple[JudgedCase, ...]
    findings: tuple[Finding, ...] = ()
    run: Recorded = Recorded()
    """The statements of the file about the run that wrote it, and the scores of which it shows that they are grades."""
    prompts: Mapping[str, str] = MappingProxyType({})
    """The text of the prompt of each variant, as far as the file states it."""

    def with_confidences(self, lines: Sequence[int | None] = ()) -> JudgedResults:
        """Read the confidences as shares, or as percent if all of the file are above 1 and at most 100.

        Any other number outside 0 to 1 is left out and reported. ``lines``: that of each case, if they are known.
        """
        answers = [answer for case in self.cases for answer in (case, *case.repeats)]
        stated = [answer.confidence for answer in answers]
        shares, off = as_shares(stated, "answers")
        if shares == stated:
            return self
        shared = (replace(answer, confidence=share) for answer, share in zip(answers, shares, strict=True))
        cases = [replace(next(shared), repeats=tuple(islice(shared, len(case.repeats)))) for case in self.cases]
        findings = [*self.findings]
        if off:
            place, finding = off
            names = [case.id for case in self.cases for _ in (case, *case.repeats)]
            said = f"{finding.value}, stated for {names[place][:80]!r}"
            findings.append(replace(finding, value=said, line=lines[place] if len(lines) == len(cases) else None))
        return replace(self, cases=tuple(cases), findings=tuple(findings))

    def with_fields(self, grades: Collection[str]) -> JudgedResults:
        """Keep the counts of the scores that are right or wrong in all cases of the series, as the fields of the cases.

        A case without a verdict passed in the share of answers for which the field that is right least often is right.

        ``grades``: the scores that are none, because another file of the series shows it.
        """
        fields = [field for case in self.cases for judge in case.judges for field in judge.counts]
        own_grades = tuple(dict.fromkeys(field.attribute for field in fields if not any(field.counts)))
        kept = [case.with_fields({*grades, *own_grades}) for case in self.cases]
        return replace(self, cases=tuple(kept), run=replace(self.run, grades=own_grades))


def as_shares(stated: Sequence[float | None], things: str) -> tuple[list[float | None], tuple[int, Finding] | None]:
    """Read the confidences of some things as shares, or as percent if all of them are above 1 and at most 100.

    Any other number outside 0 to 1 is left out, and reported with the place of one: one that is no percent either, if
    there is any.
    """
    known = [each for each in stated if each is not None]
    scale = 100 if known and all(1 < each <= 100 for each in known) else 1
    shares = [None if each is None or not 0 <= each / scale <= 1 else each / scale for each in stated]
    off = [(place, each) for place, each in enumerate(stated) if each is not None and shares[place] is None]
    if not off:
        return shares, None
    place, value = next((each for each in off if not 0 <= each[1] <= 100), off[0])
    message = f"The confidence of {len(off)} of {len(known)} {things} is not from 0 to 1, and is left out"
    fix = (
        "Write numbers from 0 to 1, or a logprob of at most 0. Numbers are read as percent if all of the file "
        "are above 1 and at most 100."
    )
    return shares, (place, Finding("warning", message, fix, value=f"{value:g}"))


class AnswerGrade(NamedTuple):
    """One score of one answer."""

    score: float | None
    """0..1. None if there is no score, or if it is not a number in this range."""
    right: bool | None = None
    """Whether the answer is right, if the tool states it by a word. None if the tool states a number."""


RIGHT, WRONG = AnswerGrade(1.0, True), AnswerGrade(0.0, False)
WORDS: Final = {
    **dict.fromkeys(("true", "yes", "pass", "passed", "correct", "✓", "✔", "✅"), RIGHT),
    **dict.fromkeys(("ja", "richtig", "wahr", "bestanden", "oui", "vrai", "réussi", "sí", "correcto"), RIGHT),
    **dict.fromkeys(("true_positive", "true_negative", "是", "对", "正确", "通过", "正解", "合格"), RIGHT),
    **dict.fromkeys(("partial", "partially correct", "partially_correct"), AnswerGrade(0.5, False)),
    **dict.fromkeys(("false", "no", "fail", "failed", "incorrect", "wrong", "✗", "✘", "❌"), WRONG),
    **dict.fromkeys(("nein", "falsch", "nicht bestanden", "non", "faux", "échoué", "incorrecto"), WRONG),
    **dict.fromkeys(
        ("false_positive", "false_negative", "否", "错", "错误", "不正确", "未通过", "不正解", "不合格"), WRONG
    ),
}
"""Words in a table that state a verdict, in lower case."""
ANY_SCALE: Final = (-1e300, 1e300)
"""The range of a number on an unknown scale."""
_NOTHING: Final = frozenset({"", "nan", "none", "null", "n/a", "skipped", "pending", "todo"})
"""Texts for "no score" in tables, in lower case."""


def is_no_score(value: Value) -> bool:
    """Whether a value stands for a missing score: null, NaN, or a text such as ``n/a``."""
    if isinstance(value, Unusable):
        return value.literal.lower() == "nan"
    return value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING)


def grade_of(
    value: Value, words: Mapping[str, AnswerGrade], limits: tuple[float, float] = (0.0, 1.0)
) -> AnswerGrade | None:
    """Read a truth value, one of ``words`` (as written, else in lower case) or a number within limits as a grade.

    No value, and NaN, is a grade without a score. Returns None for any other value.
    """
    if isinstance(value, bool):
        return AnswerGrade(float(value), value)
    if isinstance(value, str):
        spelled = normal_form(value.strip().removesuffix("\ufe0f"))  # which asks for a coloured sign
        if grade := words.get(spelled) or words.get(spelled.lower()):
            return grade
        if is_no_score(value):
            return AnswerGrade(None)
        if spelled.endswith("%") and (percent := spelled_number(spelled.removesuffix("%"))) is not None:
            return AnswerGrade(float(percent) / 100) if 0 <= percent <= 100 else None
        value = spelled_number(spelled)
    elif is_no_score(value):
        return AnswerGrade(None)
    if not isinstance(value, int | Decimal):
        return None
    low, high = limits
    try:
        score = (float(value) - low) / (high - low)
    except OverflowError:
        return None
    return AnswerGrade(score) if math.isfinite(score) and 0 <= score <= 1 else None


def is_verdict(value: Value) -> bool:
    """Whether a value states a verdict: a truth value, 0 or 1, which may be text, or a word such as ``failed``."""
    grade = grade_of(value, WORDS)
    return grade is not None and (grade.right is not None or grade.score in (0, 1))


def is_number(value: Value) -> bool:
    """Whether a value is a number on any scale, which may be written as text, or a truth value."""
    grade = grade_of(value, {}, ANY_SCALE)
    return grade is not None and grade.score is not None


def graded(
    name: str,
    grades: Sequence[AnswerGrade],
    score: float | None = None,
    reasoning: str = "",
    details: Value = None,
    grader: Grader | None = None,
) -> Opinion:
    """Form an opinion on one case from a grade for each of its answers; ``score`` is the tool's own for all of them.

    It counts whether the answers are right. If a grade is neither right nor wrong, its field counts nothing.
    """
    rights = [
        score == 1 if right is None else right for score, right in grades if right is not None or score is not None
    ]
    wrong = rights.count(False)
    counts = Counts(tp=len(rights) - wrong, fp=wrong, fn=wrong, wrong_value=wrong)
    if any(grade.right is None and grade.score not in (None, 0, 1) for grade in grades):
        counts = Counts()
    return Opinion(
        name=name,
        score=mean(grade.score for grade in grades) if score is None else score,
        reasoning=reasoning,
        counts=(FieldScore(name, counts),) if rights else (),
        details=details,
        grader=grader,
    )


def findings_of_samples(cases: Iterable[JudgedCase], off_scale: Mapping[str, int]) -> Iterator[Finding]:
    """Yield what a log says of samples that failed, and of values that are no scores: their number by scorer."""
    for case in cases:
        if case.error:
            message = f"The sample {case.id[:80]!r} ended with an error"
            fix = "Run the task again, if the sample should count."
            yield Finding("warning", message, fix, value=case.error[:200])
    for name, times in off_scale.items():
        message = f"Scores of {name[:80]!r} are not numbers from 0 to 1, and are left out: {times}"
        yield Finding("warning", message, "Nothing has to be done if the scorer intends this.")


VERDICT_FIELD: Final = "passed"
"""The field that the verdict on a case is if nothing else in its file is right or wrong."""


def with_verdicts_as_fields(cases: Sequence[JudgedCase]) -> tuple[JudgedCase, ...]:
    """Return the cases with their verdicts as the field ``VERDICT_FIELD``, if nothing else is right or wrong.

    A verdict beside grades can change while they stay. As a field, it breaks and is fixed.
    """
    if any(opinion.counts for case in cases for opinion in case.opinions):
        return tuple(cases)
    of_verdict = {score: graded(VERDICT_FIELD, (AnswerGrade(score),)).as_field(()) for score in (0.0, 1.0)}
    named = []
    for case in cases:
        if case.passed in of_verdict:
            verdict, opinion = of_verdict[case.passed], case.opinion
            misses = (*opinion.misses, *verdict.misses)
            case = replace(case, opinion=replace(opinion, counts=verdict.counts, misses=misses))
        named.append(case)
    return tuple(named)
