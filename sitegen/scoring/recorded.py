"""The scorer of kind ``recorded``: follows numbers that a run wrote and that cannot be computed again.

The ``settings`` of an eval choose the numbers, and which direction is better.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.config.findings import read_keys, settings_finding
from sitegen.data_files.reading import FINITE, UnreadableError
from sitegen.importers.case import document_of
from sitegen.importers.recorded_layouts import (
    RecordedNumber,
    headline_rank,
    is_measure,
    lower_is_better,
    numbers_of_layout,
    read_record,
    runs_in,
    runs_of_models,
    says_direction,
)
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import Counts, Metric, MetricSpec, Nouns
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.recorded import WHERE
from sitegen.model.scorecards import DocumentScore, Result, Scorecard, Status
from sitegen.model.usage import BESIDE, Call, stated, stated_judge
from sitegen.scoring.answerers import Answerer, answer_in, files_of_each, glob_of_answers
from sitegen.scoring.kinds import NO_METRIC, Scorer, ScoringInputs, bounded_findings, content_of
from sitegen.scoring.usage import run_usage, with_stated
from sitegen.stats.counts import mean
from sitegen.text.plain import line
from sitegen.text.values import COUNT

_COSTS: Final = re.compile(r"(?i)[mµun]?s|(?:milli)?sec(?:ond)?s?|min(?:ute)?s?|h(?:our)?s?|tokens?|usd|eur|gbp|[$€£]")
"""Matches units of time, tokens and money."""
_LISTS: Final = ("metrics", "lower_is_better", "higher_is_better")
KEYS: Final = (*_LISTS, "headline", WHERE)


class RecordedSettings(Frozen):
    """Which numbers of a file are followed, and how. In globs, ``*`` also matches dots."""

    metrics: tuple[str, ...] = ()
    """Globs, in the order in which their numbers are listed. Empty for every number that measures something."""
    headline: str | None = None
    """A name, or a glob whose first match is the headline."""
    lower_is_better: tuple[str, ...] = ()
    higher_is_better: tuple[str, ...] = ()
    where: Mapping[str, str] = MappingProxyType({})
    """Keys and values that a file has to state to be a run of this eval."""

    def followed(self, numbers: Sequence[RecordedNumber]) -> tuple[list[RecordedNumber], int]:
        """Choose the numbers to follow, the headline first. Returns them, and how many more there are."""
        if self.metrics:
            by_glob = ([number for number in numbers if matches_a_glob(number.name, (glob,))] for glob in self.metrics)
            candidates = list(dict.fromkeys(number for group in by_glob for number in group))
        else:
            candidates = [number for number in numbers if not number.is_sample and is_measure(number.name)]
        if not candidates:
            return [], 0
        stated = (self.headline,) if self.headline else ()
        named = [one for one in candidates if one.name in stated]
        named = named or [one for one in candidates if matches_a_glob(one.name, stated)]
        ranked = candidates if self.metrics else sorted(candidates, key=lambda number: headline_rank(number.name))
        headline = (named or ranked)[0]
        rest = [number for number in candidates if number is not headline]
        if not self.metrics:  # numbers with the headline's range come first, because they can share its chart
            rest.sort(key=lambda number: number.range != headline.range)
        return [headline, *rest][:MOST], max(0, len(candidates) - MOST)

    def missing_headline(self, numbers: Sequence[RecordedNumber]) -> RecordedNumber | None:
        """Return the stated headline, undefined, if a run lacks it: it stays the headline. None if it may be a glob.

        A name without dots may be the last part of the names in another run, if the numbers of this one are nested.
        """
        name = self.headline or ""
        is_there = {*name} & {*"*?["} or any(matches_a_glob(number.name, (name,)) for number in numbers)
        is_part = "." not in name and all("." in number.name for number in numbers)
        return None if not name or not numbers or is_there or is_part else RecordedNumber(name, None)

    def spec_of(self, number: RecordedNumber) -> MetricSpec:
        """Describe a number as a metric."""
        is_lower = matches_a_glob(number.name, self.lower_is_better)
        if is_lower or matches_a_glob(number.name, self.higher_is_better):
            higher_is_better, reason = not is_lower, "stated in the settings"
        elif number.higher_is_better is not None:
            higher_is_better, reason = number.higher_is_better, "stated in the file"
        elif _COSTS.fullmatch(number.unit):
            higher_is_better, reason = False, "guessed from the unit"
        else:
            said = "guessed from the name" if says_direction(number.name) else "by default: its name says nothing of it"
            higher_is_better, reason = not lower_is_better(number.name), said
        low, high = number.range
        return MetricSpec(
            name=number.name,
            label=line(number.name, _LABEL),
            explanation=f"Recorded by the run; {'higher' if higher_is_better else 'lower'} is better ({reason}).",
            low=low,
            high=high,
            higher_is_better=higher_is_better,
            unit=number.unit or (COUNT if number.is_count else ""),
            when_failed="look at the run that wrote it.",
            when_undefined="look at the run that should have written it.",
            recorded=True,
        )


def matches_a_glob(name: str, globs: Iterable[str]) -> bool:
    """Whether any glob matches the whole name of a number, or the part after its last dot."""
    last = name.rpartition(".")[2]
    return any(fnmatchcase(name, glob) or fnmatchcase(last, glob) for glob in globs)


@lru_cache(maxsize=64)
def read_recorded_settings(settings: str) -> Parsed[RecordedSettings]:
    """Read the canonical JSON of the settings. Whatever is invalid is left out and reported. Never raises."""
    stated, unknown = read_keys(settings, KEYS)
    findings = [*unknown]
    lists = {}
    for key in _LISTS:
        value = stated.get(key)
        values = [] if value is None else value if isinstance(value, list) else [value]
        lists[key] = tuple(name for name in values if isinstance(name, str))
        if len(lists[key]) != len(values):
            lists[key] = ()
            fix = 'Write a list such as ["*.f1", "accuracy"].'
            findings.append(settings_finding(f"{key!r} is not a list of names", fix, key))
    headline = stated.get("headline")
    if not isinstance(headline, str | None):
        fix = 'Write the name of one number, such as "retail.f1".'
        findings.append(settings_finding("'headline' is not a name", fix, "headline"))
        headline = None
    where = stated.get(WHERE)
    if not isinstance(where, dict | None):
        fix = "Write keys of the file and their values."
        findings.append(settings_finding(f"{WHERE!r} is not an object of keys", fix, WHERE))
        where = None
    run = {key: str(value) for key, value in (where or {}).items()}
    return Parsed(RecordedSettings(headline=headline, where=run, **lists), tuple(findings))


MOST: Final = 50
"""The most numbers of a file that are followed. A finding gives the number of the others."""

RUN: Final = "run"
"""The id of the single document. It is the same in runs over the same cases, so that these are comparable."""
_OVER: Final = ("range", "subset", "split")
"""Keys of a run, or of its configuration, that state over which cases it was made."""

_LABEL: Final = 60  # characters


def _run_over(root: dict[str, Value] | list[Value]) -> str:
    """Return the id of a run: with the cases that it was made over, if it states them."""
    stated = (runs_in(root) or [root if isinstance(root, dict) else {}])[-1]
    places = (stated, *(below for key in BESIDE if isinstance(below := stated.get(key), dict)))
    cases = next((place[key] for key in _OVER for place in places if place.get(key) not in (None, "", [], {})), None)
    if isinstance(cases, dict):
        cases = ", ".join(f"{key} {value}" for key, value in cases.items() if isinstance(value, str | int))
    return f"{RUN} over {line(str(cases), _LABEL)}" if isinstance(cases, str | int) and cases else RUN


_Run: TypeAlias = tuple[Answerer, str, dict[str, RecordedNumber]]
"""Who answered, the id of the run, and its numbers by name."""


def _score(inputs: ScoringInputs) -> Result:
    """Score one output. Never raises on bad input: errors become a status and findings."""
    settings, remarks = read_recorded_settings(inputs.settings)
    findings = list(remarks)
    runs, calls = _runs(inputs, settings, findings)
    no_number = next((each.line for each in findings if each.fix == FINITE), None)  # of any number, followed or not
    findings = [each for each in findings if each.fix != FINITE]
    numbers = {name: number for _, _, of_run in reversed(runs) for name, number in of_run.items()}
    if len(runs) > 1:  # a number of several models or cases is their mean, and each has its own
        means = {name: mean(of_run[name].value for _, _, of_run in runs if name in of_run) for name in numbers}
        numbers = {name: replace(number, value=means[name]) for name, number in numbers.items()}
    distinct = list(numbers.values())
    if missing := settings.missing_headline(distinct):
        distinct.insert(0, missing)
        message = f"The run has no number {line(missing.name, _LABEL)!r}, the headline of the eval's settings"
        findings.append(Finding("note", message, "Correct 'headline' if no run has it."))
    followed, left_out = settings.followed(distinct)
    if runs and not followed:
        message = "No number of the file is wanted" if numbers else "The file holds no number"
        fix = "Correct 'metrics' of the eval's settings." if settings.metrics else "Name the file that holds them."
        findings.append(Finding("warning", message, fix))
    undefined = [line(number.name, _LABEL) for number in followed if number.value is None and number is not missing]
    if undefined:
        message = f"{len(undefined)} of the numbers are NaN, infinite or beyond every range, first {undefined[0]!r}"
        findings.append(Finding("warning", message, "Let the run write numbers.", line=no_number))
    if left_out:
        message = f"The file holds {left_out + MOST:,} numbers, of which the first {MOST} are followed"
        findings.append(Finding("note", message, "Choose with 'metrics' of the eval's settings."))
    specs = [settings.spec_of(number) for number in followed]
    of = "cases" if "{case}" in glob_of_answers(inputs.settings) else "models"
    if len(runs) > 1:
        specs = [replace(spec, explanation=f"The mean of several {of}. {spec.explanation}") for spec in specs]
    status: Status = "scored" if runs else "unreadable"
    metrics = tuple(Metric(number.name, number.value) for number in followed)
    documents = [
        DocumentScore(
            name=name,
            status=status,
            counts=Counts(),
            metrics=tuple(
                Metric(one.name, of_run[one.name].value if one.name in of_run else None)
                for one in (followed if of == "cases" or who.axes else ())
            ),
            axes=who.axes,
        )
        for who, name, of_run in runs or [(Answerer(), RUN, {})]
    ]
    card = Scorecard(
        status=status,
        counts=Counts(),
        metrics=metrics or (Metric(NO_METRIC.name, None),),
        documents=tuple(documents),
        fields=(),
        findings=bounded_findings(findings),
        specs=tuple(specs),
        kind=SCORER.kind,
    )
    return with_stated(Result(card, ()), run_usage(calls))


def _runs(inputs: ScoringInputs, settings: RecordedSettings, findings: list[Finding]) -> tuple[list[_Run], list[Call]]:
    """Return the runs in the files that can be read, and who made and judged these; add what is wrong to findings."""
    runs, calls = list[_Run](), list[Call]()
    glob = glob_of_answers(inputs.settings)
    for who, files in files_of_each(inputs.outputs, inputs.settings):
        for file in files:
            try:
                content = content_of(file, "the file is missing", "Commit it again.")
                root, remarks = read_record(file.path, content)
            except UnreadableError as error:
                findings.append(error.finding("The file"))
                continue
            case = answer_in(file.path, glob)[1] if "{case}" in glob else ""
            by_model = {} if who.model else runs_of_models(root, settings.headline)
            for model, run in by_model.items() or [(who.model, root)]:
                by_name: dict[str, RecordedNumber] = {}
                for number in numbers_of_layout(run, settings.where):
                    by_name.setdefault(number.name, number)  # the key ``a.b`` has the name of the key ``b`` below ``a``
                each = who._replace(model=model)
                runs.append((each, document_of(case, *each) or _run_over(root), by_name))
            findings += remarks
            # Stated of the whole run, the newest of several; the model of another row is the name of its numbers.
            places = [*runs_in(root)[-1:], *([root] if isinstance(root, dict) else [])]
            beside = [each.get(key) for each in places for key in BESIDE]
            whole = replace(stated(*places, *beside), model=stated(*places).model or stated(*beside).model)
            calls += (replace(whole, judge=stated_judge(row)) for row in (root if isinstance(root, list) else [root]))
    if not inputs.outputs:
        findings.append(Finding("error", "The file is missing", "Commit it again."))
    return runs, calls


def _metrics_of(documents: Sequence[DocumentScore]) -> tuple[Metric, ...]:
    """Return the mean of each number over the runs of several models; nothing for a single run, which has no others."""
    values = [dict(document.metrics) for document in documents]
    names = dict.fromkeys(name for each in values for name in each)
    return tuple(Metric(name, mean(each.get(name) for each in values)) for name in names)


SCORER: Final = Scorer(
    kind="recorded",
    metrics=(),
    nouns=Nouns(
        attribute="number", attributes="numbers", document="run", errors=("", "", "", ""), letters=("", "", "", "")
    ),
    score=_score,
    metrics_for=_metrics_of,
)
"""Follows the numbers of a file unchanged.

There are no fields or judgements. Each number is a metric that the scorecard itself describes.
"""
