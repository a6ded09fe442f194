"""``sitegen verify-one`` and ``verify-all``."""

from __future__ import annotations

import shlex
import sys
import webbrowser
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sitegen import saving
from sitegen.analysis.documents import Document, document
from sitegen.commands import verified_text
from sitegen.commands.saying import say, say_error
from sitegen.errors import ConfigurationError, SitegenError
from sitegen.scoring.kinds import scorer
from sitegen.scoring.responses.document import METHODS
from sitegen.stats.counts import f1, mean, total
from sitegen.text.json_bytes import to_json_bytes
from sitegen.text.plain import encodable
from sitegen.verifying import Bench, Verified


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
        for row in verified_text.debug(bench, verified):
            say(row, error=True)
    timestamp = datetime.now(UTC).replace(microsecond=0).isoformat()
    kept = _document(bench, verified, timestamp=timestamp, methods=wanted.methods)
    if save:
        folder, kept = saving.save(verified, kept)
        say(f"saved {folder}", error=True)
    if as_json:
        sys.stdout.buffer.write(to_json_bytes(kept))
    else:
        for row in verified_text.one_eval(bench, verified, wanted.methods):
            say(row)
    if output is None and (other := bench.passed_over(verified)):
        what = f"{verified_text.shown(bench, other)} is no iteration yet, and was not scored."
        fix = f"sitegen verify-one {shlex.quote(eval_id)} {shlex.quote(str(other))} --save"
        say_error(SitegenError(what, fix=fix))
    if open_report:
        from sitegen.stages.preview import write_preview

        page = write_preview(bench, verified)
        say(f"report {page}", error=True)
        webbrowser.open(page.as_uri())


def verify_all(repo: Path, *, as_json: bool) -> None:
    """Score the newest output of every eval and print them with macro and pooled F1."""
    bench = Bench.open(repo)
    verified, missing = [], []
    for eval_id in bench.eval_ids():
        try:
            verified.append(bench.verify(eval_id, missing_counts=True))
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
        for row in verified_text.every_eval(bench, verified, macro, left_out, pooled):
            say(row)
    for failure in missing:
        say_error(failure)


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
