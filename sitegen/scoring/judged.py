"""The scorer of kind ``judged``: sums up the opinions of judges in results that another tool wrote."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from math import inf, sqrt
from posixpath import basename, dirname, normpath, splitext
from statistics import fmean
from typing import Final, Literal

from sitegen.config.models import case_settings, files_of
from sitegen.data_files.reading import FINITE, UnreadableError, read_json
from sitegen.importers import ANSWER, INDEX, read_results
from sitegen.importers.case import BASELINES, BETWEEN, JudgedCase, Opinion, with_documents
from sitegen.importers.columns import read_settings
from sitegen.importers.skill_grading import BESIDE, GRADING, OUTPUTS, said_in, with_files_beside
from sitegen.importers.tables import exact_match
from sitegen.importers.tool_values import TRANSCRIPT, members, text, transcript
from sitegen.model.answers import Turn
from sitegen.model.frozen import grouped, replace
from sitegen.model.metrics import LIFT, OF_TRANSCRIPTS, Counts, Metric, MetricSpec, Nouns
from sitegen.model.outcomes import Judgement, Outcome, Value
from sitegen.model.problems import Finding
from sitegen.model.scorecards import ANSWERERS, DocumentScore, FieldScore, NotePanel, Panel, Result, Scorecard
from sitegen.model.usage import Call, RunUsage
from sitegen.scoring.answerers import answer_in, glob_of_answers
from sitegen.scoring.answers import LONGEST_TEXT, OF_DRAWS, answered_cases, confidences, draws, fewest_verdicts, given
from sitegen.scoring.judged_panels import agreement_note, lift_note, panels, preference_notes
from sitegen.scoring.kinds import File, Scorer, ScoringInputs, bounded_findings, content_of
from sitegen.scoring.responses.files import read_cases
from sitegen.scoring.usage import VERDICTS, missing_usage, run_usage, with_usage
from sitegen.stats import counts as stats
from sitegen.stats.agreement import cohens_kappa
from sitegen.stats.confidence import AUROC, auroc_metric
from sitegen.stats.significance import variance
from sitegen.text.plain import cut
from sitegen.text.values import COUNT, as_json, short_digest

METRICS: Final = (
    MetricSpec(
        "score",
        "Score",
        "The mean of the scores of the cases as the tool gave them; for a case without one, the mean of its judges.",
        when_failed="read the cases with the lowest scores.",
    ),
    *(ratio.spec for ratio in stats.RATIOS),
    stats.PASSED.spec,
    MetricSpec(
        LIFT,
        "Lift",
        "The mean of the differences of scores, with a skill less without it, or those of a variant less those of the "
        "baseline: over the cases that both answered.",
        low=-1.0,
        is_optional=True,
    ),
    *OF_DRAWS,
    MetricSpec(
        "spread",
        "Spread of repeats",
        "The standard deviation of the scores of the answers to a case; the mean over cases with two scores or more.",
        higher_is_better=False,
        is_optional=True,
    ),
    AUROC,
    *(
        MetricSpec(name, label, explanation, high=inf, higher_is_better=False, unit=COUNT, is_optional=True)
        for name, label, explanation in zip(
            OF_TRANSCRIPTS,
            ("Turns", "Tool calls", "Tool errors"),
            (
                "The messages of the model in a transcript; the mean over cases.",
                "The calls of tools in a transcript; the mean over cases.",
                "The calls of tools in a transcript that failed; the mean over cases.",
            ),
            strict=True,
        )
    ),
)
_OPTIONAL: Final = tuple(spec.name for spec in METRICS if spec.is_optional and spec is not AUROC)
"""The optional metrics that are means over the cases."""
_CONFIGURATION: Final = re.compile(r"(?:.+[-_])?(?:with|without|no|old|new)[-_]?skills?", re.IGNORECASE)
_ITERATION: Final = re.compile(r"iteration[-_].+")
_RUN: Final = re.compile(r"(?:run|repeat|attempt|trial)[-_]?[0-9]+")
_INDEX, _ANY = re.compile(re.escape(INDEX)), re.compile(rf"(?!{TRANSCRIPT.pattern}$).*")
_NOTE: Final = 200  # characters
_JUDGES: Final = 20  # the most judges with a mean of their own: the first of more
_ANSWER: Final = 500  # the most characters of the note of a judgement, and of the answers in it


def _score(inputs: ScoringInputs) -> Result:
    """Score one output. Never raises on bad input: errors become a status and findings."""
    settings, truth, answered_in = inputs.settings, inputs.ground_truth, glob_of_answers(inputs.settings)
    findings = [*read_settings(settings).findings]
    if not inputs.outputs:
        missing = UnreadableError("the output is missing", "Let the judge write it again.")
        findings.append(missing.finding("The output"))
    is_named = len(inputs.outputs) > 1 or bool(answered_in)
    has_parts = len({answer_in(file.path, answered_in)[1] for file in inputs.outputs}) > 1
    names = {basename(file.path) for file in inputs.outputs}
    results_in = GRADING if any(map(GRADING.fullmatch, names)) else _INDEX if names == {INDEX, ANSWER} else _ANY
    outputs = [file for file in inputs.outputs if results_in.fullmatch(basename(file.path))] or [*inputs.outputs]
    beside = {file.path: _value_of(file, findings) for file in inputs.outputs if file not in outputs}
    unread = {said: path for path in beside if basename(path) == BESIDE[1] for _, said in said_in(beside[path])}
    told = {dirname(path): value for path, value in beside.items() if TRANSCRIPT.fullmatch(basename(path))}
    cases: list[JudgedCase] = []
    prompts: dict[str, str] = {}
    del inputs  # so that each file goes when it is read
    for place in _places([file.path for file in outputs]):
        file = outputs.pop(0)
        named_file = file.path if is_named else ""  # no part of the key of other results
        try:
            content = content_of(file, "the output is missing", "Make the output again.")
            results = read_results(file.path, content, settings)
        except UnreadableError as error:
            findings.append(replace(error.finding("The output"), file=named_file))
            continue
        who, part = answer_in(file.path, answered_in)
        run = dirname(file.path).removesuffix("/.internal")
        prompts |= {who.variant or name: cut(text, LONGEST_TEXT) for name, text in results.prompts.items() if text}
        is_alone = len(results.cases) == 1  # in its file, whose path names it
        above = part.removesuffix(".graded").split("/") if has_parts or is_alone else ()
        within = "/".join(name for name in above if name and not _RUN.fullmatch(name))
        for case in results.cases:
            if any(who):
                id = (within or case.id or "1") if is_alone else "/".join(filter(None, (within, case.id)))
                variant, model = who.variant or case.variant, who.model or case.provider
                named = replace(case.counted, id=id, variant=variant, provider=model)
            elif case.id and not (is_alone and is_named and case.id == "row 1"):
                named = case.counted
            else:
                named = replace(case.counted, id=place[0], variant=BETWEEN.join(place[1:]))
                named = with_files_beside(named, file.path, beside, unread)
            if named.output_at and not named.output:  # among the outputs are no files of another run
                named = replace(named, output=text(beside.get(normpath(f"{run}/{named.output_at}"))))
            if is_alone and not named.transcript and (messages := told.get(dirname(file.path))):
                named = replace(named, transcript=transcript(members(messages).get("messages", messages)))
            cases.append(named)
        # A score that is no number is reported with its case; tools write such numbers elsewhere too.
        findings += [replace(each, file=named_file) for each in results.findings if each.fix != FINITE]
        del file, content, results  # which take much memory if a file has hundreds of thousands of answers
    remark = Finding("warning", "Feedback names no run that has a grading", "Name it by the folders of its grading.")
    findings += [replace(remark, value=said[:_NOTE], file=path) for said, path in sorted(unread.items())]
    if truth is not None:
        cases, remarks = _with_expected_texts(cases, truth, settings)
        findings += remarks
    cases = with_documents(cases, always=ANSWERERS if answered_in else ())  # instead of the others, which are many
    return replace(_judged_result(cases, findings), prompts=prompts)


def _metrics_of(documents: Sequence[DocumentScore]) -> tuple[Metric, ...]:
    """Return the means over cases, and the ratios of their counts. Optional metrics that no case has are left out."""
    by_case = stats.values_by_case(documents, ("score", stats.PASSED.name, *_OPTIONAL))
    score, pass_rate, *optional = map(stats.mean_over_cases, by_case.values())
    stated = (Metric(name, value) for name, value in zip(_OPTIONAL, optional, strict=True) if value is not None)
    return (*_judged_metrics(score, stats.total(document.counts for document in documents), pass_rate), *stated)


SCORER: Final = Scorer(
    kind="judged",
    metrics=METRICS,
    nouns=Nouns(
        attribute="attribute",
        attributes="attributes",
        document="case",
        errors=("false negative", "false positive", "wrong value", ""),
        letters=("N", "P", "W", ""),
    ),
    score=_score,
    metrics_for=_metrics_of,
)
"""Sums up judged cases: the mean of their scores, and the counts of their judges.

A document is a case, a field is an attribute that a judge counted. A false negative is an omission, a false
positive a hallucination. A single one of each is a wrong value.
"""


def _value_of(file: File, findings: list[Finding]) -> Value:
    """Return the value of a file beside results, or its text; None with a finding if it cannot be read."""
    try:
        content = content_of(file, "it is missing", "Write it again.")
        return content.decode(errors="replace") if basename(file.path) == ANSWER else read_json(content).value
    except UnreadableError as error:
        findings.append(replace(error.finding(basename(file.path)), severity="warning", file=file.path))
        return None


def _places(paths: Sequence[str]) -> list[list[str]]:
    """Return the names by which each file is told from the others, without those that number repeated runs.

    The first is that of the case, the second that of the variant: ``eval-totals/with_skill/run-2``. They are folders,
    and what the name of a grading says besides: ``with_skill/eval-totals-grading.json``. Below the folder of its
    iteration, a grading has both names, also if it is alone or all others are of the same case.
    """
    files = [(path.split("/")[:-1], GRADING.fullmatch(basename(path))) for path in paths]
    named = ((*above, *filter(None, match.groups() if match else ())) for above, match in files)
    folders = [[name for name in each if not _RUN.fullmatch(name) and name != OUTPUTS] for each in named]
    least = min(map(len, folders), default=0)
    same = next((depth for depth in range(least) if len({each[depth] for each in folders}) > 1), least)
    places = []
    for each, (_, match) in zip(folders, files, strict=True):
        iteration = max((depth for depth, name in enumerate(each, 1) if _ITERATION.fullmatch(name)), default=0)
        first = max(iteration, min(same, len(each) - 2)) if match and iteration else same
        places.append(each[first:])
    if any(place and _CONFIGURATION.fullmatch(place[0]) for place in places) and len({*map(len, places)}) == 1:
        places = [[*case, variant] for variant, *case in places]
    return [place or [splitext(basename(path))[0]] for path, place in zip(paths, places, strict=True)]


def _with_expected_texts(cases: list[JudgedCase], file: File, settings: str) -> tuple[list[JudgedCase], list[Finding]]:
    """Add the questions and expected texts of a file of test cases to the answers that do not state them.

    If the answers are only held against what is expected beside them, the version of their table counts that is the
    truth: its texts stand in place of theirs.
    """
    described = case_settings(settings) and read_settings(settings).value
    if not described and not file.path.endswith(files_of("responses").ground_truths):
        return cases, []
    try:
        content = content_of(file, "the test cases are missing", "Restore the file.")
        if described:
            texts = {(each.id, each.model): each.expected for each in read_results(file.path, content, settings).cases}
            column = described.parts["expected"][0]
            for place, case in enumerate(cases):
                if (text := texts.get((case.id, case.model), "")) != case.expected:
                    judges = (exact_match(column, text, case.output),) if text.strip() and not case.error else ()
                    cases[place] = replace(case, expected=text, passed=None, judges=judges).with_fields(())
            return cases, []
        expected, remarks = read_cases(content)
    except UnreadableError as error:
        return cases, [error.finding("The ground truth")]
    findings, answered = [*remarks], {case.id for case in cases}
    if missing := [case_id for case_id in expected if case_id not in answered]:
        message = f"{len(missing)} of {len(expected)} test cases have no response, and count in no number"
        findings.append(Finding("warning", message, "Run the prompt again for all test cases."))
    for place, case in enumerate(cases):
        if known := expected.get(case.id):
            text = case.expected or " | ".join(known.expected)
            cases[place] = replace(case, expected=text, input=case.input or known.question)
    return cases, findings


def _judged_result(cases: Sequence[JudgedCase], findings: list[Finding]) -> Result:
    answers = grouped((case.document, case) for case in cases)
    cases = tuple(chain.from_iterable(answers.values()))
    lifts = _lifts(answers)
    documents = tuple(_judged_documents(answers, lifts))
    # What several judges count is kept apart by their names, because each judge has its own rules.
    counted = [(case, opinion, *each) for case in cases for opinion in case.opinions for each in opinion.counts]
    names = Counter(field for field, _ in {(field, opinion.name) for _, opinion, field, _ in counted})
    named = [
        (f"{opinion.name}: {field}" if names[field] > 1 and opinion.name else field, (case, opinion, cells))
        for case, opinion, field, cells in counted
        if field
    ]
    by_field = grouped((attribute, cells) for attribute, (_, _, cells) in named)
    fields = tuple(FieldScore(field, stats.total(cells)) for field, cells in by_field.items())
    by_document = grouped(((each[0].document, attribute), each) for attribute, each in named)
    judgements = tuple(each for (_, attribute), own in by_document.items() for each in _case_judgements(attribute, own))
    metrics = (*_metrics_of(documents), *auroc_metric(judgements))
    calls = _calls(cases)
    usage = _with_judges(run_usage(calls), cases, metrics)
    explained = any(finding.severity == "error" for finding in findings)
    if cases and not explained and not any(case.has_result or case.error or case.unjudged for case in cases):
        message = "No case of the output has a score or a verdict"
        fix = "Name the columns that hold them, as `settings: {columns: {score: rating, passed: ok}}`."
        findings.append(Finding("error", message, fix))
    scored = sum(dict(document.metrics)["score"] is not None for document in documents)
    notes: list[Panel] = [*_notes(cases, len(answers), len(answers) - scored)]
    notes += (*lift_note(stats.values_by_case(documents, [LIFT])[LIFT]), *preference_notes(cases))
    opinions = [opinion for case in cases for opinion in case.judges if opinion.counts or opinion.score is not None]
    by_model = sum(opinion.grader is not None for opinion in opinions)
    if usage and usage.graded and by_model < len(opinions):
        said = f"A model gave {by_model:,} of these {len(opinions):,} opinions, rules or people the others."
        said += " Numbers made from both are compared only with outputs that the same model judged, by the same prompt."
        notes.append(NotePanel(said))
    agreement = cohens_kappa([case.verdicts for case in cases if case.verdicts is not None])
    if agreement:
        notes.append(agreement_note(agreement, "cases"))
    counts = stats.total(document.counts for document in documents)
    judged = [case for case in cases if case.has_result]
    has_scores = any(case.opinion.score is not None for case in judged)
    has_grades = any(judge.score is not None and not judge.counts for case in judged for judge in case.judges)
    states: Literal["verdicts", "verdicts as scores", "scores", ""] = "scores" if has_scores or has_grades else ""
    if judged and all(case.is_one_verdict for case in judged):
        states = "verdicts as scores" if has_scores else "verdicts"
    scorecard = Scorecard(
        status="scored" if cases else "unreadable",
        counts=counts,
        metrics=metrics,
        documents=documents,
        fields=fields,
        findings=bounded_findings([*findings, *missing_usage(calls)]),
        expected_values=counts.tp + counts.fn,
        judges=_by_judge(answers),
        kind="judged",
        states=states,
    )
    details: dict[str, list[Value]] = {  # unchanged from the file; of several answers to a case those of the last
        case.document: [{"name": opinion.name, "details": opinion.details} for opinion in detailed]
        for case in cases
        if (detailed := [opinion for opinion in case.opinions if opinion.details is not None])
    }
    return Result(
        with_usage(scorecard, usage),
        judgements,
        panels=(*notes, *panels(cases)),
        data=[{"id": document, "judges": judges_of_case} for document, judges_of_case in details.items()],
        agreement=agreement,
        cases=answered_cases(cases),
    )


def _judged_documents(
    answers: Mapping[str, Sequence[JudgedCase]], lifts: Mapping[str, float]
) -> Iterator[DocumentScore]:
    """Yield the sum of the answers to each document that is judged: over no other one, a change is taken."""
    numbers = [_numbers(case.transcript) for case in chain.from_iterable(answers.values()) if case.transcript]
    # Of a single answer without tools, no metric of transcripts says anything.
    of_transcripts = OF_TRANSCRIPTS[: 3 if any(each[1] for each in numbers) else any(each[0] > 1 for each in numbers)]
    k = fewest_verdicts(answers.values())
    for document, repeats in answers.items():
        if any(case.has_result for case in repeats):
            told = [[each / case.answers for each in _numbers(case.transcript)] for case in repeats if case.transcript]
            of_turns = map(Metric, of_transcripts, map(stats.mean, zip(*told, strict=True)))
            counts = stats.total(cells for case in repeats for opinion in case.opinions for _, cells in opinion.counts)
            score, pass_rate = stats.mean(case.score for case in repeats), stats.mean(case.passed for case in repeats)
            metrics = *_judged_metrics(score, counts, pass_rate), *_optional(repeats, k, lifts.get(document))
            first, usage = repeats[0], run_usage(_calls(repeats)) or RunUsage()
            yield DocumentScore(
                name=document,
                status="scored",
                counts=counts,
                metrics=(*metrics, *of_turns),
                rubric=_graded_by(repeats),
                of_case="" if first.id == document else first.id,
                axes=first.axes,
                answers=usage.answers,
                cost=usage.cost,
                latency=usage.latency_median,
            )


def _by_judge(answers: Mapping[str, Sequence[JudgedCase]]) -> dict[str, float | None]:
    """Return the mean of the scores of each judge over cases; empty unless several judges gave scores."""
    values: dict[str, dict[str, list[float]]] = {}
    for repeats in answers.values():
        scored = ((judge.name, judge.score) for case in repeats for judge in case.judges)
        for name, scores in grouped((name, score) for name, score in scored if name and score is not None).items():
            values.setdefault(name, {}).setdefault(repeats[0].id, []).append(fmean(scores))
    several = values if len(values) > 1 else {}
    return {name: stats.mean_over_cases(of_cases) for name, of_cases in islice(several.items(), _JUDGES)}


def _graded_by(repeats: Sequence[JudgedCase]) -> str:
    """Return the digests of who graded the answers to a case, and of what they were asked, as in ``DocumentScore``."""
    rubrics = [each.grader.rubric for each in repeats[0].opinions if each.grader and each.grader.rubric]
    scored = [[judge for judge in case.judges if judge.score is not None] for case in repeats]
    # The score that a tool states, and that of verdicts alone, is no mean of grades.
    is_stated = any(case.opinion.score is not None for case in repeats)
    is_mean = not is_stated and any(not judge.counts for judges in scored for judge in judges)
    judges = set.intersection(*({judge.name for judge in each} for each in scored)) if is_mean else set[str]()
    digests = [short_digest(as_json([*names])) if names else "-" for names in (sorted(judges), rubrics)]
    return " ".join(digests).removesuffix(" -").removesuffix("-")


def _calls(cases: Iterable[JudgedCase]) -> list[Call]:
    answers = (answer for case in cases for answer in case.repeats or (case,))
    return [replace(answer.call, failed=True) if answer.error else answer.call for answer in answers]


def _lifts(answers: Mapping[str, Sequence[JudgedCase]]) -> dict[str, float]:
    """Return by how much the score of each document is above that of the baseline; empty unless one variant has one."""
    variants = {case.variant for repeats in answers.values() for case in repeats}
    baselines = {variant for variant in variants if BASELINES.fullmatch(variant)}
    if len(baselines) != 1 or len(variants) != 2:
        return {}
    sides: dict[tuple[str, str], dict[bool, tuple[str, float]]] = {}
    for document, (first, *others) in answers.items():
        score = stats.mean(case.score for case in (first, *others))
        if score is not None:
            sides.setdefault((first.id, first.model), {})[first.variant in baselines] = document, score
    pairs = (both for both in sides.values() if len(both) == 2)
    return {both[False][0]: both[False][1] - both[True][1] for both in pairs}


def _notes(cases: Sequence[JudgedCase], documents: int, without: int) -> Iterator[NotePanel]:
    """Yield what the reader has to know about the sample. ``without``: number of cases without a score."""
    if without:
        yield NotePanel(f"The mean leaves out {without} of {documents} cases that have no score.")
    if unjudged := sum(bool(case.unjudged) for case in cases):
        nouns = "answers" if len(cases) > documents else "cases"
        text = f"A judge failed at {unjudged} of {len(cases)} {nouns}. They are not judged, and count in no number."
        yield NotePanel(text)
    if len(cases) > documents:
        text = f"There are {len(cases):,} answers, {documents:,} if repeats count once."
        yield NotePanel(f"{text} Repeats by one variant and model have one value, their mean.")


def _with_judges(usage: RunUsage | None, cases: Sequence[JudgedCase], metrics: Iterable[Metric]) -> RunUsage | None:
    """Return the usage with the models or scales that judged, and which of the metrics depend on their opinions."""
    by_model = [opinion for case in cases for opinion in case.opinions if opinion.grader]
    names = {opinion.grader.name for opinion in by_model if opinion.grader}.union(usage.judges if usage else ()) - {""}
    if not by_model and not names:
        return usage
    graded = [name for name, _ in metrics if name not in OF_TRANSCRIPTS]
    if not any(opinion.counts for opinion in by_model):
        # If a model scored the whole case, the tool computed the verdict from its score.
        of_scores = ("score", LIFT, *(VERDICTS if any(case.opinion.grader for case in cases) else ()))
        graded = [name for name in graded if name in of_scores]
    return replace(usage or RunUsage(), judges=tuple(sorted(names)), graded=tuple(graded))


def _case_judgements(attribute: str, answers: Sequence[tuple[JudgedCase, Opinion, Counts]]) -> Iterator[Judgement]:
    """Yield the judgements of an attribute of a case, with the answer in the file, else the number of values.

    Of several answers, the first wrong one is shown.
    """
    wrong = [answer for answer in answers if answer[2].fp + answer[2].fn]
    case, opinion, counts = (*wrong, *answers)[0]
    name = attribute.rpartition(": ")[2]
    note = next((miss[len(name) + 1 :].strip() for miss in opinion.misses if miss.startswith(f"{name}:")), "")
    if wrong and len(answers) > 1:
        unlike = len(wrong) == len(answers) and len({answer[0].output for answer in wrong}) > 1
        several = f"{len(wrong)} of {len(answers)} answers{', which differ' * unlike}"
        note = "; ".join(filter(None, (several, note)))
    those = {id(case): case for case, *_ in answers}  # several judges may have one attribute
    stated = tuple(confidences(attribute, those.values()))
    expected, actual = cut(case.expected, _ANSWER), cut(case.output, _ANSWER)
    sides: list[tuple[Outcome, str | None, str | None]] = []
    if counts.wrong_value:
        judged = counts.wrong_value + counts.tp
        failed = "failed" if judged == 1 else f"{counts.wrong_value} of {judged} failed"
        shown = actual if expected and actual else ": ".join(filter(None, (failed, actual)))
        sides.append(("wrong_value", expected or "passed", shown))
    if counts.omission:
        values = expected if attribute == case.expected else _number_of_values(counts.omission, counts.tp)
        sides.append(("omission", values, None))
    if counts.hallucination:
        values = actual if attribute == case.output else _number_of_values(counts.hallucination, counts.tp)
        sides.append(("hallucination", None, values))
    if not counts.fp + counts.fn:
        values = "passed" if counts.tp == 1 else _number_of_values(counts.tp)
        sides.append(("correct", expected or values, actual or values) if counts.tp else ("true_negative", None, None))
    for place, (outcome, expected_side, actual_side) in enumerate(sides):
        yield Judgement(
            document=case.document,
            path=attribute,
            attribute=attribute,
            outcome=outcome,
            expected=expected_side,
            actual=actual_side,
            note=cut(note, _NOTE),
            stated=stated if not place or len(those) == 1 else (),
        )


def _number_of_values(count: int, correct: int = 0) -> str:
    """Return the number of values that an error concerns, with their total if others are correct."""
    if correct:
        return f"{count} of {count + correct} values"
    return "a value" if count == 1 else f"{count} values"


@lru_cache(4096)  # one object for all cases with the same numbers
def _judged_metrics(score: float | None, counts: Counts, pass_rate: float | None) -> tuple[Metric, ...]:
    ratios = (Metric(ratio.name, ratio.of(counts)) for ratio in stats.RATIOS)
    return (Metric("score", score), *ratios, Metric(stats.PASSED.name, pass_rate))


def _optional(repeats: Sequence[JudgedCase], k: int, lift: float | None) -> Iterator[Metric]:
    """Yield the lift of a document, and what its repeats show."""
    if lift is not None:
        yield Metric(LIFT, lift)
    yield from draws(repeats, k)
    scores = [answer.score for answer in given(repeats) if answer.score is not None]
    if len(scores) > 1:
        yield Metric("spread", sqrt(variance(scores)))


def _numbers(transcript: Sequence[Turn]) -> tuple[int, int, int]:
    """Return the number of messages of the model, some of which only call tools, of calls, and of failed ones."""
    said = [turn[:2] == ("message", "assistant") for turn in transcript]
    calls = [turn.kind == "call" for turn in transcript]
    before = [False, *map(max, said, calls)]  # whether what stands before it may be the same message
    alone = sum(call > by_model for call, by_model in zip(calls, before, strict=False))
    return sum(said) + alone, sum(calls), sum(turn.failed for turn in transcript)
