"""``sitegen verify-one`` and ``verify-all``."""

from __future__ import annotations

import shlex
import sys
import webbrowser
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from sitegen import saving
from sitegen.analysis.documents import Document, document
from sitegen.analysis.series import HEADLINES
from sitegen.analysis.verdict import verdict
from sitegen.errors import ConfigurationError, SitegenError
from sitegen.model.metrics import Nouns
from sitegen.model.outcomes import ERROR_TYPES, Judgement
from sitegen.model.scorecards import Scorecard
from sitegen.scoring.kinds import scorer
from sitegen.scoring.responses.document import METHODS, metrics_of
from sitegen.scoring.results_file import to_json_bytes
from sitegen.stats.counts import f1, mean, precision, recall, total
from sitegen.text.plain import encodable, line
from sitegen.verifying import Bench, Verified

SHOWN: Final = 12
"""Discrepancies that the terminal lists."""

LONGEST_NAME: Final = 40
"""Characters of an eval's id in a table."""


class Wanted(NamedTuple):
    """What ``verify-one`` is asked for."""

    repo: Path
    eval_id: str
    output: Path | None = None
    settings: tuple[tuple[str, str], ...] = ()
    """Settings of the kind that are given on the command line, and win."""
    methods: tuple[str, ...] = ()
    """Of kind ``responses``; empty: all."""
    config: Path | None = None
    save: bool = False
    open_report: bool = False
    as_json: bool = False
    debug: bool = False


def asked(
    repo: Path, eval_id: str, rest: Sequence[str], methods: Sequence[str], settings: Iterable[tuple[str, str | None]]
) -> Wanted:
    """Sort out the words behind the eval's id: names of methods, if ``--methods`` stands before them, and an output.

    Raises ConfigurationError if more than one output is left.
    """
    further = [word for word in rest if methods and word in METHODS]
    outputs = [word for word in rest if word not in further]
    if len(outputs) > 1:
        raise ConfigurationError(f"One output at a time: {', '.join(outputs)}.", fix="Name one file.")
    given = tuple((name, value) for name, value in settings if value is not None)
    output = Path(outputs[0]) if outputs else None
    return Wanted(repo, eval_id, output, given, (*methods, *further))


def verify_one(wanted: Wanted) -> None:
    """Score one output and print it."""
    repo, eval_id, output = wanted.repo, wanted.eval_id, wanted.output
    save, open_report, as_json = wanted.save, wanted.open_report, wanted.as_json
    bench = Bench.open(repo)
    if wanted.config:
        bench = bench.configured(eval_id, wanted.config)
    verified = bench.verify(eval_id, output.resolve() if output else None, dict(wanted.settings))
    if wanted.methods and verified.place.kind != "responses":
        raise ConfigurationError("--methods is for evals of kind responses.", fix="Leave it out.")
    if wanted.debug:
        for row in _debug(bench, verified):
            print(row, file=sys.stderr)
    timestamp = datetime.now(UTC).replace(microsecond=0).isoformat()
    kept = _document(bench, verified, timestamp=timestamp, methods=wanted.methods)
    if save:
        folder, kept = saving.save(verified, kept)
        print(f"saved {folder}", file=sys.stderr)
    if as_json:
        sys.stdout.buffer.write(to_json_bytes(kept))
    else:
        for row in _report(bench, verified, wanted.methods):
            print(row)
    if output is None and (other := bench.passed_over(verified)):
        what = f"{_shown(bench, other)} is no iteration yet, and was not scored."
        fix = f"sitegen verify-one {shlex.quote(eval_id)} {shlex.quote(str(other))} --save"
        print(f"sitegen: {SitegenError(what, fix=fix)}", file=sys.stderr)
    if open_report:
        from sitegen.stages.preview import write_preview

        page = write_preview(bench, verified)
        print(f"report {page}", file=sys.stderr)
        webbrowser.open(page.as_uri())


def verify_all(repo: Path, *, as_json: bool) -> None:
    """Score the newest output of every eval and print them with macro and pooled F1."""
    bench = Bench.open(repo)
    verified, missing = [], []
    for eval_id in bench.eval_ids():
        try:
            verified.append(bench.verify(eval_id))
        except SitegenError as error:
            missing.append(error)
    if not verified and missing:
        raise missing[0]
    # Only kinds whose answers are counted have an F1; a mean over what is measured otherwise would say nothing.
    counted = [one for one in verified if any(spec.name == "f1" for spec in scorer(one.place.kind).metrics)]
    macro, left_out = mean(one.result.scorecard.metric("f1") for one in counted)
    pooled = f1(total(one.result.scorecard.counts for one in counted))
    if as_json:
        _print_all(bench, verified, macro, pooled)
    else:
        names = [line(one.place.entry.id, LONGEST_NAME) for one in verified]
        width = max(len(name) for name in ("pooled", *names))
        print(f"{'eval':{width}}  {'F1':>6} {'P':>6} {'R':>6} {'errors':>7}  newest output")
        for name, one in zip(names, verified, strict=True):
            card = one.result.scorecard
            errors = sum(_errors(card))
            print(f"{name:{width}}  {_three(card)} {errors:7,}  {_shown(bench, one.outputs[0])}{_said(one)}")
        print(f"{'macro':{width}}  {_number(macro)}{f'   ({left_out} undefined left out)' if left_out else ''}")
        print(f"{'pooled':{width}}  {_number(pooled)}")
    for failure in missing:
        print(f"sitegen: {failure}", file=sys.stderr)


def _print_all(bench: Bench, verified: Sequence[Verified], macro: float | None, pooled: float | None) -> None:
    import msgspec

    documents = [_document(bench, one, timestamp=None) for one in verified]
    body = {"evals": documents, "macro_f1": macro, "pooled_f1": pooled}
    encoded = msgspec.json.Encoder(decimal_format="number").encode(body)
    sys.stdout.buffer.write(msgspec.json.format(encoded, indent=2) + b"\n")


def _document(bench: Bench, verified: Verified, *, timestamp: str | None, methods: tuple[str, ...] = ()) -> Document:
    place = verified.place
    return document(
        place.kind,
        verified.result,
        eval_id=encodable(place.entry.id),
        metadata=bench.metadata(verified, timestamp=timestamp),
        thresholds=place.entry.thresholds,
        methods=methods,
    )


def _report(bench: Bench, verified: Verified, methods: tuple[str, ...]) -> list[str]:
    place, card = verified.place, verified.result.scorecard
    nouns = scorer(place.kind).nouns
    wrong = [one for one in verified.result.judgements if one.outcome in ERROR_TYPES]
    shown = ", ".join(_shown(bench, output) for output in verified.outputs)
    lines = [f"{line(place.entry.id)}  {shown}{_remark(card)}"]
    lines += _numbers_of_fields(card) if place.kind == "fields" else _numbers_of_kind(verified, methods)
    errors = zip(nouns.errors, _errors(card), strict=True)
    lines.append("  " + "  ".join(f"{name} {count}" for name, count in errors if count or place.kind == "fields"))
    if len(card.documents) > 1 and place.kind == "fields":
        lines.append(f"  {len(card.documents)} documents, macro F1 {_number(card.metric('macro_f1'))}")
    lines += [f"  {finding.severity}: {finding.what} {finding.fix}" for finding in card.findings]
    lines += [f"  {_discrepancy(one, nouns)}" for one in wrong[:SHOWN]]
    if len(wrong) > SHOWN:
        lines.append(f"  ... and {len(wrong) - SHOWN} more: --json has all, --open shows them")
    return lines


def _numbers_of_fields(card: Scorecard) -> list[str]:
    counts = card.counts
    return [
        f"  F1 {_number(card.metric('f1'))}   precision {_number(card.metric('precision'))}"
        f"   recall {_number(card.metric('recall'))}",
        f"  TP {counts.tp}  FP {counts.fp}  FN {counts.fn}  TN {counts.tn}",
    ]


def _numbers_of_kind(verified: Verified, methods: tuple[str, ...]) -> list[str]:
    """A line a metric with the verdict on it, those of each variant, and what to do."""
    place, card = verified.place, verified.result.scorecard
    names = metrics_of(methods) if methods else None
    specs = [spec for spec in scorer(place.kind).metrics if names is None or spec.name in names]
    wanted = [each for each in place.entry.thresholds if names is None or each[0] in names]
    judged = verdict(specs, wanted, card.metrics)
    width = max(len(spec.label) for spec in specs)
    lines = []
    for spec in specs:
        row = judged.row(spec.name)
        said = f"  {row.status} (at {'least' if spec.higher_is_better else 'most'} {row.threshold:g})" if row else ""
        lines.append(f"  {spec.label:{width}} {_number(card.metric(spec.name))}{said}")
    for each in card.documents:
        if each.metrics and len(card.documents) > 1:
            own = dict(each.metrics)
            numbers = "  ".join(f"{spec.label} {_number(own.get(spec.name)).strip()}" for spec in specs[:HEADLINES])
            lines.append(f"  {line(each.id, LONGEST_NAME)}: {numbers}")
    return [*lines, *(f"  {sentence}" for sentence in judged.recommendations)]


def _debug(bench: Bench, verified: Verified) -> list[str]:
    """What was read, for ``--debug``."""
    place = verified.place
    files = [("ground truth", place.ground_truth), *(("output", output) for output in verified.outputs)]
    read = [f"debug: {what} {_shown(bench, path)}, {path.stat().st_size:,} bytes" for what, path in files if path]
    return [
        f"debug: {line(place.entry.id)} is of kind {place.kind}, in {_shown(bench, place.folder)}",
        *read,
        f"debug: settings {line(place.entry.settings, 500)}, thresholds {dict(place.entry.thresholds)}",
        f"debug: {len(verified.result.judgements):,} judgements, {len(verified.result.scorecard.findings)} findings",
    ]


def _discrepancy(one: Judgement, nouns: Nouns) -> str:
    from sitegen.text.values import as_text

    where = f"{one.document}: {one.path}" if one.document else one.path
    expected = "nothing" if one.expected is None else line(as_text(one.expected), 60)
    actual = "nothing" if one.actual is None else line(as_text(one.actual), 60)
    outcome = nouns.errors[ERROR_TYPES.index(one.outcome)]
    return f"{outcome:13}  {line(where, 100)}: expected {expected}, found {actual}"


def _shown(bench: Bench, path: Path) -> str:
    return line(str(path.relative_to(bench.root) if path.is_relative_to(bench.root) else path))


def _errors(card: Scorecard) -> tuple[int, ...]:
    counts = card.counts
    return (counts.omission, counts.hallucination, counts.wrong_value, counts.format_error)


def _three(card: Scorecard) -> str:
    """F1, precision and recall; of a kind that does not count answers so, nothing."""
    if not any(metric.name == "f1" for metric in card.metrics):
        return " ".join([_number(None)] * 3)
    return " ".join(_number(ratio(card.counts)) for ratio in (f1, precision, recall))


def _number(value: float | None) -> str:
    return "     —" if value is None else f"{value:6.3f}"


def _said(verified: Verified) -> str:
    """What is unusual about an output; and the headline, of a kind whose headline is not F1."""
    card = verified.result.scorecard
    spec = scorer(verified.place.kind).metrics[0]
    own = "" if spec.name == "f1" else f"  {spec.label.lower()} {_number(card.metric(spec.name)).strip()}"
    return f"{_remark(card)}{own}"


def _remark(card: Scorecard) -> str:
    return "" if card.status == "scored" else f"  ({card.status.replace('_', ' ')})"
