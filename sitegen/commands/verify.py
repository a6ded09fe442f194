"""``sitegen verify-one`` and ``verify-all``: score outputs of the work tree, and print or save the results."""

import shlex
import webbrowser
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sitegen.analysis.noise.samples import ends_of_mean, interval_of
from sitegen.analysis.slices import slice_rows
from sitegen.commands.printing import print_document, print_error, print_line
from sitegen.commands.requests import VerifyRequest, word_and_methods
from sitegen.config.findings import error_of
from sitegen.config.manifest import evaluation_methods
from sitegen.config.models import EVALUATION_FILE
from sitegen.data_files.project_files import named_place, real, write_inside, write_named
from sitegen.errors import ConfigurationError, NothingToReportError, SitegenError
from sitegen.history.layout import RECORDED, REPORT
from sitegen.model.changes import Ends
from sitegen.model.metrics import MetricSpec, Nouns, Verdict, traits_of
from sitegen.model.outcomes import ERROR_TYPES, Judgement
from sitegen.model.problems import Finding
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import HEADLINES
from sitegen.pages.labels import STATUSES, interval_basis, span
from sitegen.questions.verify import Verified, save, save_into, verify
from sitegen.questions.work_tree import WorktreeProject
from sitegen.scoring.kinds import nouns_of, scorer, specs_of, verdict
from sitegen.scoring.responses.document import metrics_of
from sitegen.scoring.results_file import ResultsDocument
from sitegen.scoring.usage import USAGE, USAGE_METRICS, all_specs
from sitegen.stats.counts import ACCURACY, RATIOS, averages, error_numbers, errors, mean
from sitegen.text.markdown_cells import number
from sitegen.text.plain import counted, line
from sitegen.text.values import amount, first_names, to_json_bytes

PATTERNS: Final = 3
"""Error patterns that are named."""

SHOWN: Final = 12
"""Errors that are listed, and documents or variants with metrics of their own."""

_LONGEST_NAME: Final = 40  # characters of an eval's id in a table


def one_eval(verified: Verified, methods: tuple[str, ...]) -> list[str]:
    """Return the numbers of an eval, the findings about its files, and the first errors."""
    place, card = verified.place, verified.result.scorecard
    specs, is_structured = specs_of(place.kind, (card,)), traits_of(place.kind).is_structured
    nouns = nouns_of(place.kind, specs)
    wrong = [judgement for judgement in verified.result.judgements if judgement.outcome in ERROR_TYPES]
    files = first_names([place.project.shown_path(output) for output in verified.outputs], 3, line)
    lines = [f"{line(place.entry.id)}  {files}{_remark(card)}"]
    if is_structured:
        counts = card.counts
        lines += [
            "  " + "   ".join(f"{ratio.word} {number(card.metric(ratio.name)):>6}" for ratio in RATIOS),
            f"  {counts.tp} of {card.expected_values} values correct   TP {counts.tp}  FP {counts.fp}  FN {counts.fn}"
            f"  TN {counts.tn}",
            *_usage_lines(card),
        ]
        judged = verdict(all_specs(specs), place.entry.thresholds, card.metrics)
        lines += _metric_lines([spec for spec in all_specs(specs) if judged.row(spec.name)], card, judged)
    else:
        lines += _numbers_of_kind(verified, methods)
    if interval := interval_of(card):
        label, over = specs[0].label, interval_basis(interval.unit, interval.n, nouns)
        lines.append(f"  95 % interval of {label}: {span(interval)}, over {over}")
    every = errors(card.counts)
    of_types = "  ".join(
        f"{name} {count}" + (f" ({100 * count / every:.1f} %)" if count and is_structured else "")
        for name, count in zip(nouns.errors, error_numbers(card.counts), strict=True)
        if count or is_structured
    )
    lines += [f"  {counted(every, 'error')}:  {of_types}" if is_structured else f"  {of_types}"] if of_types else []
    if len(card.documents) > 1 and is_structured:
        lines.append(f"  {len(card.documents)} documents, macro F1 {number(card.metric('macro_f1')):>6}")
    lines += slice_lines(card, specs[0])
    lines += [f"  {_finding_line(finding)}" for finding in card.findings]
    lines += _pattern_lines(verified, wrong)
    lines += [f"  {discrepancy(judgement, nouns)}" for judgement in wrong[:SHOWN]]
    if len(wrong) > SHOWN:
        lines.append(f"  ... and {len(wrong) - SHOWN} more: --json has all, --open shows them")
    return lines


def slice_lines(card: Scorecard, headline: MetricSpec) -> list[str]:
    """Return a table of the groups of answers that have the same value on an axis; empty without any."""
    rows = [(line(f"{row.axis} {row.value}", _LONGEST_NAME), row) for row in slice_rows(card, headline)]
    if not rows:
        return []
    width = max(len(name) for name, _ in rows)
    table = [f"  {'':{width}} {headline.label[:9]:>9} {'95 %':>14} {'cases':>6} {'cost':>12} {'latency':>9}"]
    for name, row in rows:
        around = span(Ends(*row.interval)) if row.interval else ""
        cost = "" if row.cost is None else amount(row.cost, "USD")
        latency = "" if row.latency is None else amount(row.latency, "s")
        numbers = f"{number(row.headline):>9} {around:>14} {row.cases:6,} {cost:>12} {latency:>9}"
        table.append(f"  {name:{width}} {numbers}".rstrip())
    return table


def _pattern_lines(verified: Verified, wrong: Sequence[Judgement]) -> list[str]:
    if not wrong:
        return []
    from sitegen.pages.report.discrepancies import Since  # takes time to import
    from sitegen.pages.report.patterns import pattern_rows, pattern_summaries, pattern_words

    place, result = verified.place, verified.result
    headline = specs_of(place.kind, (result.scorecard,))[0]
    without_history = Since(label="", file="", iterations=1, new=False)
    rows = pattern_rows(headline, result, wrong, [without_history] * len(wrong))
    patterns = pattern_summaries(rows, len(wrong))
    value = result.scorecard.metric(headline.name)
    sentences = (pattern_words(pattern, headline, value, scorer(place.kind).nouns) for pattern in patterns[:PATTERNS])
    return [f"  {''.join(words)}" for words in sentences]


def every_eval(verified: Sequence[Verified], with_f1: Sequence[Scorecard]) -> list[str]:
    """Return a row for each eval with its headline, then the macro average and pooled numbers of those with an F1."""
    names = [line(output.place.entry.id, _LONGEST_NAME) for output in verified]
    specs = [specs_of(output.place.kind, (output.result.scorecard,))[0] for output in verified]
    initials = "".join(f"{ratio.initial:>7}" for ratio in RATIOS[1:])
    rows = [("eval", "metric", f" value {'95 %':>14}{initials}  errors  newest output")]
    for name, spec, output in zip(names, specs, verified, strict=True):
        rows.append((name, line(spec.label, _LONGEST_NAME), _row_of_eval(output)))
    if with_f1:
        counts = [card.counts for card in with_f1]
        means = [*averages(counts).values()]
        ends = ends_of_mean((card.metric("f1"), interval_of(card, "f1")) for card in with_f1)
        undefined = ((ratio.initial, [ratio.of(one) for one in counts].count(None)) for ratio in RATIOS)
        left_out = ", ".join(f"{initial} of {number}" for initial, number in undefined if number)
        macro = _in_columns(means[: len(RATIOS)], span(ends))
        rows.append(("macro", "F1", f"{macro}   (undefined and left out: {left_out})" if left_out else macro))
        rows.append(("pooled", "F1", _in_columns(means[len(RATIOS) :])))
    width, wide = (max(len(row[column]) for row in rows) for column in (0, 1))
    lines = [f"{name:{width}}  {label:{wide}} {text}" for name, label, text in rows]
    cards = [(output.result.scorecard, spec) for output, spec in zip(verified, specs, strict=True) if not spec.recorded]
    if any(spec.name != "f1" for _, spec in cards):  # else the overview has the same mean
        shown = number(mean([card.metric(spec.name) for card, spec in cards]))
        lines.append(f"the mean of {len(cards)} headlines, as on the overview: {shown}")
    for name, output in zip(names, verified, strict=True):
        card = output.result.scorecard
        if card.status == "unreadable" and all(metric.value is None for metric in card.metrics):
            lines += [f"{name}: {_finding_line(finding)}" for finding in card.findings if finding.severity == "error"]
    return lines


def debug(verified: Verified) -> list[str]:
    """Return the files and settings that were read, for ``--debug``."""
    place, project = verified.place, verified.place.project
    files = [("ground truth", place.ground_truth), *(("output", output) for output in verified.outputs)]
    read = [
        f"debug: {role} {line(project.shown_path(path))}, {path.stat().st_size:,} bytes" for role, path in files if path
    ]
    return [
        f"debug: {line(place.entry.id)} is of kind {place.kind}, in {line(project.shown_path(place.folder))}",
        *read,
        f"debug: settings {line(place.entry.settings, 500)}, thresholds {place.entry.thresholds}",
        f"debug: {len(verified.result.judgements):,} judgements, {len(verified.result.scorecard.findings)} findings",
    ]


def _usage_lines(card: Scorecard) -> list[str]:
    if card.usage is None:
        return []
    numbers = [
        f"{spec.label.lower()} {amount(value, spec.unit)}"
        for spec in USAGE_METRICS
        if (value := card.metric(spec.name)) is not None
    ]
    names_by_role = (("model", card.usage.models), ("judge", card.usage.judges))
    models = [f"{role} {line(', '.join(names), 200)}" for role, names in names_by_role if names]
    return [f"  {'; '.join((*models, *numbers))}"]


def _numbers_of_kind(verified: Verified, methods: tuple[str, ...]) -> list[str]:
    place, card = verified.place, verified.result.scorecard
    names = metrics_of(methods) if methods else None
    specs = [
        spec
        for spec in specs_of(place.kind, (card,))
        if (names is None or spec.name in names) and not (spec.is_optional and card.metric(spec.name) is None)
    ]
    thresholds = {
        name: least for name, least in place.entry.thresholds.items() if names is None or name in (*names, *USAGE)
    }
    judged = verdict(all_specs(specs), thresholds, card.metrics)
    lines = []
    if traits_of(place.kind).finds_texts:
        counts, accuracy = card.counts, ACCURACY.of(card.counts)
        share = "undefined" if accuracy is None else f"{100 * accuracy:.0f} %"
        found = f"expected {counts.tp + counts.fn}  found {counts.tp + counts.fp}  correct {counts.tp}"
        lines.append(f"  {found}  accuracy {share}")
    lines += (*_metric_lines(specs, card, judged), *_usage_lines(card))
    documents = [document for document in card.documents if document.metrics] if len(card.documents) > 1 else []
    for document in documents[:SHOWN]:
        own = dict(document.metrics)
        shown = (f"{spec.label} {number(own.get(spec.name))}" for spec in specs[:HEADLINES])
        case = document.of_case or document.name  # which is cut, and not who answered it
        name = line(case, _LONGEST_NAME) + line(document.name.removeprefix(case), 2 * _LONGEST_NAME)
        lines.append(f"  {name}: {'  '.join(shown)}")
    if len(documents) > SHOWN:
        lines.append(f"  ... and {len(documents) - SHOWN} more: --json has all, --open shows them")
    return lines


def _metric_lines(specs: Sequence[MetricSpec], card: Scorecard, judged: Verdict) -> list[str]:
    """Return a line for each metric, and what to do about those that miss their targets."""
    width = max((len(spec.label) for spec in specs), default=0)
    lines = []
    for spec in specs:
        row = judged.row(spec.name)
        remark = f"  {row.status} (at {'least' if spec.higher_is_better else 'most'} {row.threshold:,g})" if row else ""
        lines.append(f"  {spec.label:{width}} {number(card.metric(spec.name), spec.unit):>6}{remark}")
    return [*lines, *(f"  {sentence}" for sentence in judged.recommendations)]


def _finding_line(finding: Finding) -> str:
    text = finding.text.rstrip()
    return line(f"{finding.severity}: {text if text.endswith(('.', '?', '!')) else f'{text}.'} {finding.fix}")


def discrepancy(judgement: Judgement, nouns: Nouns) -> str:
    """Return a line of the list of errors: error type, place, expected and actual value."""
    from sitegen.text.values import as_text, texts_with_types

    where = f"{judgement.document}: {judgement.label}" if judgement.document else judgement.label
    sides = ((judgement.expected, "blank"), (judgement.actual, "missing"))
    texts = texts_with_types(judgement.expected, judgement.actual)
    expected, actual = (line(text, 60) for text in texts or (gap if it is None else as_text(it) for it, gap in sides))
    outcome = nouns.errors[ERROR_TYPES.index(judgement.outcome)]
    said = f"expected {expected}, actual {actual}"
    if judgement.expected == "passed" and nouns.are_verdicts:  # which is all that is expected of an answer
        said = actual.removeprefix("failed: ")
    return f"{outcome:13}  {line(where, 100)}: {said}"


def _row_of_eval(verified: Verified) -> str:
    """Return the headline of an eval with its interval, its errors, the path of its output, and names of two more."""
    place, card, outputs = verified.place, verified.result.scorecard, verified.outputs
    specs, interval = specs_of(place.kind, (card,)), interval_of(card)
    spec, listed = specs[0], {one.name for one in specs if not one.recorded}
    rest = [ratio.of(card.counts) if ratio.name in listed else None for ratio in RATIOS[1:]]
    columns = _in_columns([card.metric(spec.name), *rest], span(interval))
    names = [line(place.project.shown_path(path)) for path in outputs[:1]]
    names += [line(path.name, _LONGEST_NAME) for path in outputs[1:3]]
    more = f" and {len(outputs) - len(names)} more" if len(outputs) > len(names) else ""
    recorded = "  (recorded)" if spec.recorded else ""
    return f"{columns} {errors(card.counts):7,}  {', '.join(names) or 'no output'}{more}{_remark(card)}{recorded}"


def _in_columns(values: Sequence[float | None], spread: str = "") -> str:
    first, *rest = (f"{number(value):>6}" for value in values)
    return " ".join([first, f"{spread:14}", *rest])


def _remark(card: Scorecard) -> str:
    return "" if card.status == "scored" else f"  ({STATUSES[card.status]})"


def verify_one(request: VerifyRequest) -> None:
    """Score an output, and print or save the result."""
    output, methods = word_and_methods(request, "output")
    project = WorktreeProject.open(request.repo)
    if request.config:
        project = project.configured(request.eval_id, request.config)
    settings = {"range": request.range, "run_id": request.run_id}
    stated = {name: value for name, value in settings.items() if value is not None}
    verified = verify(project, request.eval_id, real(Path(output)) if output else None, stated)
    answers_cases = traits_of(verified.place.kind).answers_cases
    for misread in project.misread:
        if answers_cases or request.config or misread.path != EVALUATION_FILE:
            print_error(error_of(misread))
    if answers_cases:
        methods = methods or evaluation_methods(verified.place.entry.settings)
    elif methods:
        raise ConfigurationError("--methods is for evals of kind responses.", fix="Leave it out.")
    if request.debug:
        print_line(*debug(verified), error=True)
    timestamp = datetime.now(UTC).replace(microsecond=0).isoformat()
    document = verified.document(timestamp=timestamp, methods=methods)
    document = _saved(request, verified, document)
    if request.results_file:
        write_named(request.results_file, to_json_bytes(document), project.root)
        print_line(f"wrote {request.results_file}", error=True)
    if request.as_json:
        print_document(to_json_bytes(document))
    else:
        print_line(*one_eval(verified, methods))
    if output is None and (unsaved := verified.unsaved_output):
        message = f"{line(project.shown_path(unsaved))} is not an iteration yet and was not scored."
        fix = f"sitegen verify-one {shlex.quote(request.eval_id)} {shlex.quote(str(unsaved))} --save"
        print_error(SitegenError(message, fix=fix))
    if request.open_report:
        from sitegen.questions.preview import write_preview

        page = write_preview(verified)
        print_line(f"report {page}", error=True)
        webbrowser.open(page.as_uri())


def _saved(request: VerifyRequest, verified: Verified, document: ResultsDocument) -> ResultsDocument:
    """Save the results with a report beside them, wherever the command line asks for it. Returns what was written."""
    written: list[tuple[Path, Path]] = []  # results, and the folder below which no link is followed
    if request.save:
        results, document = save(verified, document)
        print_line(f"saved {results.parent if results.name == RECORDED else results}", error=True)
        written.append((results, verified.place.folder))
    if request.output_dir:
        folder = named_place(request.output_dir, verified.place.project.root)
        results = save_into(folder, verified, document)
        written.append((results, results.parent))
    for results, below in written:
        from sitegen.questions.preview import report_file

        report = results.with_name(REPORT) if results.name == RECORDED else results.with_suffix(".html")
        html = report_file(verified, document.metadata, results.name)
        write_inside(below, report.relative_to(below).as_posix(), html)
        print_line(f"report {report}", error=True)
    return document


def verify_all(repo: Path, evals_dir: Path | None = None, *, as_json: bool = False) -> None:
    """Score the newest output of every eval, and print all results with their averages."""
    project = WorktreeProject.open(repo, evals_dir)
    verified, missing = [], []
    for eval_id in project.eval_ids:
        try:
            verified.append(verify(project, eval_id))
        except SitegenError as error:
            missing.append(error)
    if not (verified or missing or project.histories):
        raise NothingToReportError("There is no eval.", where=str(project.root), fix="To look for some: sitegen init")
    if not verified and missing:
        raise missing[0]
    # Averages include only evals that list an F1, because other metrics have no common meaning.
    cards = (output.result.scorecard for output in verified)
    with_f1 = [
        card for card in cards if any(it.name == "f1" and not it.recorded for it in specs_of(card.kind, (card,)))
    ]
    if as_json:
        means = averages([card.counts for card in with_f1])
        print_document(to_json_bytes({"evals": [output.document() for output in verified], **means}))
    else:
        print_line(*every_eval(verified, with_f1))
        for eval_id in sorted(project.histories.keys() - set(project.eval_ids)):
            shown = line(eval_id, _LONGEST_NAME)
            print_line(f"{shown}: deleted, and not scored; sitegen history {shlex.quote(shown)} lists its outputs")
    for failure in missing:
        print_error(failure)
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        print_line(f"{counted(len(missing), 'eval')} {verb} left out of the means.", error=True)
