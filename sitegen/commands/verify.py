"""``sitegen verify-one`` and ``verify-all``."""

from __future__ import annotations

import shlex
import sys
import webbrowser
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sitegen import saving
from sitegen.errors import SitegenError
from sitegen.model.outcomes import ERROR_TYPES, Judgement
from sitegen.model.scorecards import Scorecard
from sitegen.scoring.results_file import ResultsDocument, results_document, to_json_bytes
from sitegen.stats.counts import f1, mean, total
from sitegen.text.plain import encodable, line
from sitegen.verifying import Bench, Verified

SHOWN: Final = 12
"""Discrepancies that the terminal lists."""

LONGEST_NAME: Final = 40
"""Characters of an eval's id in a table."""


def verify_one(repo: Path, eval_id: str, output: Path | None, *, save: bool, open_report: bool, as_json: bool) -> None:
    """Score one output and print it."""
    bench = Bench.open(repo)
    verified = bench.verify(eval_id, output.resolve() if output else None)
    document = _document(bench, verified, timestamp=datetime.now(UTC).replace(microsecond=0).isoformat())
    if save:
        folder, document = saving.save(verified, document)
        print(f"saved {folder}", file=sys.stderr)
    if as_json:
        sys.stdout.buffer.write(to_json_bytes(document))
    else:
        for row in _report(bench, verified):
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
    macro, left_out = mean(one.result.scorecard.metric("f1") for one in verified)
    pooled = f1(total(one.result.scorecard.counts for one in verified))
    if as_json:
        _print_all(bench, verified, macro, pooled)
    else:
        names = [line(one.place.entry.id, LONGEST_NAME) for one in verified]
        width = max(len(name) for name in ("pooled", *names))
        print(f"{'eval':{width}}  {'F1':>6} {'P':>6} {'R':>6} {'errors':>7}  newest output")
        for name, one in zip(names, verified, strict=True):
            card = one.result.scorecard
            errors = sum(_errors(card))
            print(f"{name:{width}}  {_three(card)} {errors:7,}  {_shown(bench, one.outputs[0])}{_remark(card)}")
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


def _document(bench: Bench, verified: Verified, *, timestamp: str | None) -> ResultsDocument:
    metadata = bench.metadata(verified, timestamp=timestamp)
    return results_document(verified.result, eval_id=encodable(verified.place.entry.id), metadata=metadata)


def _report(bench: Bench, verified: Verified) -> list[str]:
    card = verified.result.scorecard
    counts = card.counts
    wrong = [one for one in verified.result.judgements if one.outcome in ERROR_TYPES]
    lines = [
        f"{line(verified.place.entry.id)}  {_shown(bench, verified.outputs[0])}{_remark(card)}",
        f"  F1 {_number(card.metric('f1'))}   precision {_number(card.metric('precision'))}"
        f"   recall {_number(card.metric('recall'))}",
        f"  TP {counts.tp}  FP {counts.fp}  FN {counts.fn}  TN {counts.tn}",
        "  "
        + "  ".join(
            f"{name.replace('_', ' ')} {count}" for name, count in zip(ERROR_TYPES, _errors(card), strict=True)
        ),
    ]
    if len(card.documents) > 1:
        lines.append(f"  {len(card.documents)} documents, macro F1 {_number(card.metric('macro_f1'))}")
    lines += [f"  {finding.severity}: {finding.what} {finding.fix}" for finding in card.findings]
    lines += [f"  {_discrepancy(one)}" for one in wrong[:SHOWN]]
    if len(wrong) > SHOWN:
        lines.append(f"  ... and {len(wrong) - SHOWN} more: --json has all, --open shows them")
    return lines


def _discrepancy(one: Judgement) -> str:
    from sitegen.pages.values import as_text

    where = f"{one.document}: {one.path}" if one.document else one.path
    expected = "nothing" if one.expected is None else line(as_text(one.expected), 60)
    actual = "nothing" if one.actual is None else line(as_text(one.actual), 60)
    return f"{one.outcome.replace('_', ' '):13}  {line(where, 100)}: expected {expected}, found {actual}"


def _shown(bench: Bench, path: Path) -> str:
    return line(str(path.relative_to(bench.root) if path.is_relative_to(bench.root) else path))


def _errors(card: Scorecard) -> tuple[int, ...]:
    counts = card.counts
    return (counts.omission, counts.hallucination, counts.wrong_value, counts.format_error)


def _three(card: Scorecard) -> str:
    return " ".join(_number(card.metric(name)) for name in ("f1", "precision", "recall"))


def _number(value: float | None) -> str:
    return "     —" if value is None else f"{value:6.3f}"


def _remark(card: Scorecard) -> str:
    return "" if card.status == "scored" else f"  ({card.status.replace('_', ' ')})"
