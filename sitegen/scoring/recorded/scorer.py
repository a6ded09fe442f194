"""The scorer of kind ``recorded``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sitegen.data_files.reading import UnreadableError
from sitegen.model.metrics import Counts, Metric, MetricSpec, Nouns
from sitegen.model.problems import Finding
from sitegen.model.scorecards import DocumentScore, Result, Scorecard, Status
from sitegen.scoring.recorded.directions import headline_rank, is_count, is_measure, lower_is_better, range_of
from sitegen.scoring.recorded.layouts import read_numbers
from sitegen.scoring.recorded.numbers import RecordedNumber, first_of_each_name
from sitegen.scoring.recorded.settings import RecordedSettings, matches_a_glob, read_recorded_settings
from sitegen.scoring.scorer import File, ScoringInputs, bounded_findings
from sitegen.text.plain import line
from sitegen.text.values import COUNT

MOST: Final = 50
"""Numbers of a file that are followed; the rest is left out, and that is said."""

RUN: Final = "run"
"""The id of the one document that the numbers are of: two runs are always comparable."""

NOTHING: Final = MetricSpec("nothing", "Nothing recorded", "No file of this eval holds a number.", recorded=True)
"""The metric of what holds no number: a scorecard has at least one."""

_LABEL: Final = 60


class _Chosen(NamedTuple):
    """A number that is followed, and why it is taken to be better the one way."""

    number: RecordedNumber
    higher_is_better: bool
    how: str

    @property
    def better(self) -> str:
        return "higher" if self.higher_is_better else "lower"


class RecordedScorer:
    """Takes the numbers of a file for what they say they are: nothing is computed, so nothing can be computed again.

    There are no documents, fields or judgements. Each number is a metric, which the scorecard itself describes.
    """

    kind = "recorded"
    version = 3
    metrics: tuple[MetricSpec, ...] = ()
    nouns = Nouns(
        attribute="number",
        attributes="numbers",
        document="run",
        documents="runs",
        errors=("", "", "", ""),
        ratios=(),
        letters=("", "", "", ""),
    )

    def score(self, inputs: ScoringInputs) -> Result:
        """Read one file. Never raises on bad input: what is wrong becomes a status and findings."""
        settings, remarks = read_recorded_settings(inputs.settings)
        findings = list(remarks)
        numbers: list[RecordedNumber] = []
        readable = False
        for file in inputs.outputs:
            try:
                found, parsed = read_numbers(file.path, _record_content(file), dict(settings.where))
            except UnreadableError as error:
                findings.append(Finding("error", f"The file cannot be read: {error.what}", error.fix, error.line))
                continue
            readable = True
            numbers += found
            findings += parsed.findings
        if not inputs.outputs:
            findings.append(Finding("error", "The file is missing", "Commit it again."))
        chosen, left_out = _chosen(first_of_each_name(numbers), settings)
        if readable and not chosen:
            what = "No number of the file is wanted" if numbers else "The file holds no number"
            fix = "Correct 'metrics' of the eval's settings." if settings.metrics else "Name the file that holds them."
            findings.append(Finding("warning", what, fix))
        undefined = [each.number.name for each in chosen if each.number.value is None]
        if undefined:
            first = line(undefined[0], _LABEL)
            what = f"{len(undefined)} of the numbers are NaN, infinite or beyond every range, first {first!r}"
            findings.append(Finding("warning", what, "Let the run write numbers."))
        if left_out:
            what = f"The file holds {left_out + MOST:,} numbers, of which the first {MOST} are followed"
            findings.append(Finding("note", what, "Choose with 'metrics' of the eval's settings."))
        return _recorded_result(chosen, findings, readable=readable)

    def metrics_for(self, documents: Sequence[DocumentScore]) -> tuple[Metric, ...]:
        """Nothing: a run is never a part of another one."""
        return ()


def _chosen(numbers: Sequence[RecordedNumber], settings: RecordedSettings) -> tuple[list[_Chosen], int]:
    """The numbers that are followed, the headline first, and how many more there are."""
    if settings.metrics:
        globs = settings.metrics
        wanted = [each for each in numbers if matches_a_glob(each.name, globs)]
        wanted.sort(
            key=lambda each: next(place for place, glob in enumerate(globs) if matches_a_glob(each.name, (glob,)))
        )
    else:
        wanted = [each for each in numbers if not each.is_sample and is_measure(each.name)]
    if not wanted:
        return [], 0
    first = _headline_first(wanted, settings)
    others = [each for each in wanted if each is not first]
    if not settings.metrics:
        alike = range_of(first.name, first.value)
        others.sort(key=lambda each: range_of(each.name, each.value) != alike)  # they can share one chart
    chosen = [first, *others]
    return [_directed(each, settings) for each in chosen[:MOST]], max(0, len(chosen) - MOST)


def _headline_first(numbers: Sequence[RecordedNumber], settings: RecordedSettings) -> RecordedNumber:
    stated = settings.headline
    found = next((each for each in numbers if each.name == stated), None)
    if found is None and stated:
        found = next((each for each in numbers if matches_a_glob(each.name, (stated,))), None)
    if found is None and not settings.metrics:
        found = min(numbers, key=lambda each: headline_rank(each.name))
    return found or numbers[0]


def _directed(number: RecordedNumber, settings: RecordedSettings) -> _Chosen:
    stated = settings.stated_direction(number.name)
    if stated is not None:
        return _Chosen(number, stated, "stated in the settings")
    if number.higher_is_better is not None:
        return _Chosen(number, number.higher_is_better, "stated in the file")
    return _Chosen(number, not lower_is_better(number.name), "guessed from the name")


def _recorded_result(chosen: Sequence[_Chosen], findings: Sequence[Finding], *, readable: bool) -> Result:
    status: Status = "scored" if readable else "unreadable"
    metrics = tuple(Metric(each.number.name, each.number.value) for each in chosen)
    card = Scorecard(
        status=status,
        counts=Counts(),
        metrics=metrics or (Metric(NOTHING.name, None),),
        documents=(DocumentScore(RUN, status, Counts()),),
        fields=(),
        findings=bounded_findings(findings),
        specs=tuple(map(_spec, chosen)),
    )
    return Result(card, ())


def _spec(one: _Chosen) -> MetricSpec:
    low, high = range_of(one.number.name, one.number.value)
    return MetricSpec(
        name=one.number.name,
        label=line(one.number.name, _LABEL),
        explanation=f"Recorded by the run; {one.better} is better ({one.how}).",
        low=low,
        high=high,
        higher_is_better=one.higher_is_better,
        unit=COUNT if is_count(one.number.name, one.number.value) else "",
        when_failed="look at the run that wrote it.",
        when_undefined="look at the run that should have written it.",
        recorded=True,
    )


def _record_content(file: File) -> bytes:
    if file.content is None:
        raise UnreadableError(file.reason or "the file is missing", "Commit it again.")
    return file.content
