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
                findings.append(
                    Finding(
                        severity="error", what=f"The file cannot be read: {error.what}", fix=error.fix, line=error.line
                    )
                )
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
        by_glob = ([number for number in numbers if matches_a_glob(number.name, (glob,))] for glob in settings.metrics)
        candidates = list(dict.fromkeys(number for group in by_glob for number in group))
    else:
        candidates = [number for number in numbers if not number.is_sample and is_measure(number.name)]
    if not candidates:
        return [], 0
    headline = _headline_number(candidates, settings)
    others = [number for number in candidates if number is not headline]
    if not settings.metrics:  # those of the headline's range come first, because they can share its chart
        headline_range = range_of(headline.name, headline.value)
        others.sort(key=lambda number: range_of(number.name, number.value) != headline_range)
    chosen = [headline, *others]
    return [_directed(number, settings) for number in chosen[:MOST]], max(0, len(chosen) - MOST)


def _headline_number(numbers: Sequence[RecordedNumber], settings: RecordedSettings) -> RecordedNumber:
    stated = settings.headline
    headline = next((number for number in numbers if number.name == stated), None)
    if headline is None and stated:
        headline = next((number for number in numbers if matches_a_glob(number.name, (stated,))), None)
    if headline is None and not settings.metrics:
        headline = min(numbers, key=lambda number: headline_rank(number.name))
    return headline or numbers[0]


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
        specs=tuple(map(_recorded_spec, chosen)),
    )
    return Result(card, ())


def _recorded_spec(chosen: _Chosen) -> MetricSpec:
    low, high = range_of(chosen.number.name, chosen.number.value)
    return MetricSpec(
        name=chosen.number.name,
        label=line(chosen.number.name, _LABEL),
        explanation=f"Recorded by the run; {chosen.better} is better ({chosen.how}).",
        low=low,
        high=high,
        higher_is_better=chosen.higher_is_better,
        unit=COUNT if is_count(chosen.number.name, chosen.number.value) else "",
        when_failed="look at the run that wrote it.",
        when_undefined="look at the run that should have written it.",
        recorded=True,
    )


def _record_content(file: File) -> bytes:
    if file.content is None:
        raise UnreadableError(file.reason or "the file is missing", "Commit it again.")
    return file.content
