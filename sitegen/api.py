"""sitegen from Python, for notebooks and scripts: what the commands do, as values.

Every function raises a SitegenError that says what, where and what to do, where the command would exit with it. What is
wrong *inside* a file raises nothing: it is in ``findings``, and scored by the rules. Undefined numbers are None; in the
frames of pandas, which knows no None among numbers, they are NaN.

The examples run in a project with one eval, ``receipts``, of two iterations.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from sitegen import frames
from sitegen.analysis.comparison.change import Change, change_of
from sitegen.analysis.comparison.values import Comparison
from sitegen.analysis.comparison.variants import compare as compare_variants
from sitegen.analysis.comparison.variants import variant_of
from sitegen.analysis.documents import Document
from sitegen.analysis.documents import document as document_of
from sitegen.analysis.verdict import verdict
from sitegen.build import build as build_site
from sitegen.comparing.gate.document import GateDocument
from sitegen.comparing.gate.document import document_of as gate_document
from sitegen.comparing.gate.markdown import markdown
from sitegen.errors import ConfigurationError, NothingToReportError
from sitegen.exporting.files import Format
from sitegen.model.gate import GateReport, GateVerdict
from sitegen.model.problems import Finding
from sitegen.model.scorecards import Result, Status
from sitegen.model.series import Point, Series
from sitegen.model.verdicts import Verdict
from sitegen.project import Options
from sitegen.scoring.kinds import scorer
from sitegen.scoring.scorer import File, Inputs
from sitegen.stages.export import write_export
from sitegen.stages.gate import check as check_gate
from sitegen.stages.ledger import Site
from sitegen.stages.public import Gate as PublicGate
from sitegen.stages.series import read_series
from sitegen.text.embedding import embedder
from sitegen.verifying import Bench, Verified

if TYPE_CHECKING:
    from sitegen.frames import DataFrame

Records: TypeAlias = "Sequence[Mapping[str, object]] | str | Path"
"""What a JSON file holds as a list of objects, or the file. NaN, as pandas writes it, counts as a missing key."""

Thresholds: TypeAlias = Mapping[str, float] | Iterable[tuple[str, float]]
"""By name of the metric, the least value wanted; in the unit of the metric: shares from 0 to 1, grades from 1 to 5."""


@dataclass(frozen=True, slots=True)
class History:
    """An eval through git history."""

    series: Series = field(repr=False)

    @property
    def points(self) -> tuple[Point, ...]:
        """The scored snapshots, oldest first."""
        return self.series.points

    def frame(self) -> DataFrame:
        """One row a point: iteration, commit, metrics, counts, errors by type (see ``frames.points``)."""
        return frames.points(self.series)

    def fields(self) -> DataFrame:
        """One row a point and attribute: its precision, recall, F1 and counts (see ``frames.fields``)."""
        return frames.fields(self.series)


@dataclass(frozen=True, slots=True)
class Checked:
    """What the gate found."""

    report: GateReport = field(repr=False)
    """Every eval and metric with its verdict, the worst eval first."""

    @property
    def passed(self) -> bool:
        """Whether ``sitegen check`` would exit with 0."""
        return self.report.passed

    @property
    def verdict(self) -> GateVerdict:
        """That of the worst eval; ``not comparable`` if nothing matched."""
        return self.report.verdict

    @property
    def evals(self) -> dict[str, GateVerdict]:
        """By id, the worst first."""
        return {one.info.id: one.verdict for one in self.report.evals}

    def document(self) -> GateDocument:
        """What ``sitegen check --json`` prints, as a frozen value."""
        return gate_document(self.report)

    def markdown(self) -> str:
        """What ``sitegen check`` prints: 65,000 characters at most."""
        return markdown(self.report)


@dataclass(frozen=True, slots=True)
class _Judged:
    """A result and what is said of it."""

    kind: str
    result: Result = field(repr=False)
    """With every judgement and panel."""
    verdict: Verdict = field(repr=False)
    """The metrics against their thresholds."""

    @property
    def status(self) -> Status:
        """Whether the files could be read."""
        return self.result.scorecard.status

    @property
    def metrics(self) -> dict[str, float | None]:
        """By name, in the order of the kind, the headline first. Undefined is None."""
        return dict(self.result.scorecard.metrics)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is odd about the files."""
        return self.result.scorecard.findings

    def frame(self) -> DataFrame:
        """One row a judgement: what was expected, what was found, what came of it (see ``frames.judgements``)."""
        return frames.judgements(self.result.judgements)


@dataclass(frozen=True, slots=True)
class Evaluated(_Judged):
    """The responses of one prompt, scored."""


@dataclass(frozen=True, slots=True)
class Scored(_Judged):
    """One output of an eval, scored."""

    eval_id: str
    bench: Bench = field(repr=False)
    verified: Verified = field(repr=False)

    @property
    def outputs(self) -> tuple[Path, ...]:
        """The files that were scored; several of an eval with variants."""
        return self.verified.outputs

    def document(self) -> Document:
        """What ``sitegen verify-one --json`` prints, as a frozen value; without a timestamp."""
        return document_of(
            self.kind,
            self.result,
            eval_id=self.eval_id,
            metadata=self.bench.metadata(self.verified, timestamp=None),
            thresholds=self.verified.place.entry.thresholds,
        )


def build(
    repo: str | Path = ".",
    out: str | Path | None = None,
    *,
    rev: str | None = None,
    jobs: int | None = 1,
    cache: str | Path | None = None,
    force: bool = False,
    public: bool = False,
    worktree: bool = False,
    base_url: str | None = None,
) -> Site:
    """Bring the site of a project up to date; by default in its folder ``public``.

    It runs in this process alone, because a notebook has threads, which a forked process cannot have. A script without
    any may ask for more ``jobs``: a number of processes, or None for as many as the work is worth. ``force`` writes
    into a folder that is neither empty nor a site. ``worktree`` adds what is not committed as the newest point;
    ``base_url`` is the address that the site will have. With ``public``, a site that holds what looks like a secret
    raises SecretsError, and must not be published; it needs the extra of that name.

    >>> site = build(".", out="public")
    >>> site.evals, site.iterations, site.errors
    (1, 2, 0)
    >>> build(".", out="public").written  # nothing is new
    0
    """
    options = Options(Path(repo), _path(out), rev, jobs, _path(cache), force, worktree=worktree, base_url=base_url)
    gate = PublicGate(options) if public else None
    collected = gc.get_threshold()
    try:
        site = build_site(options)
    finally:
        gc.set_threshold(*collected)  # a build changes them for its whole process, which here is the caller's
    if gate:
        gate.check()
    return site


def check(
    repo: str | Path,
    base: str,
    *,
    rev: str | None = None,
    exact: bool = False,
    worktree: bool = False,
    cache: str | Path | None = None,
) -> Checked:
    """Hold the newest outputs at a revision, by default ``HEAD``, to the limits of the project.

    They are compared with those at the commit where it left ``base``, or with ``exact`` at ``base`` itself. Limits are
    those of the work tree's ``sitegen.toml`` and manifest. ``worktree`` checks what is not committed yet.

    >>> found = check(".", "HEAD~1", exact=True)
    >>> found.passed, found.verdict, found.evals
    (True, 'pass', {'receipts': 'pass'})
    >>> recall = found.report.evals[0].metrics[2]
    >>> recall.spec.name, recall.before, recall.after
    ('recall', 0.5, 1.0)
    >>> found.markdown().partition(".")[0]
    '**Evals: pass'
    """
    options = Options(Path(repo), rev=rev, cache=_path(cache), worktree=worktree)
    return Checked(check_gate(options, base, exact=exact))


def history(repo: str | Path, eval_id: str, rev: str | None = None, *, cache: str | Path | None = None) -> History:
    """Score every snapshot of an eval up to a revision, by default that of the configuration.

    What was scored once is remembered below ``cache``, by default the project's ``.sitegen``.

    >>> receipts = history(".", "receipts")
    >>> [point.snapshot.label for point in receipts.points]
    ['iteration-001', 'iteration-002']
    >>> receipts.frame()[["label", "f1", "wrong_value"]]
               label        f1  wrong_value
    0  iteration-001  0.571429            1
    1  iteration-002  1.000000            0
    >>> receipts.fields()[["label", "attribute", "recall"]]
               label attribute  recall
    0  iteration-001      shop     1.0
    1  iteration-001     total     0.0
    2  iteration-002      shop     1.0
    3  iteration-002     total     1.0
    """
    return History(read_series(Options(Path(repo), rev=rev, cache=_path(cache)), eval_id))


def export(
    repo: str | Path,
    place: str | Path,
    format: Format = "sqlite",
    evals: Sequence[str] = (),
    *,
    rev: str | None = None,
    cache: str | Path | None = None,
) -> tuple[Path, ...]:
    """Write every score and outcome of history as tables; the files that came of it.

    ``place`` is a file for ``sqlite`` and ``json``, a folder for ``csv`` and ``parquet``; ``exporting/tables.py`` has
    the columns. Without ``evals``, all of them.

    >>> files = export(".", "history.sqlite")
    >>> import sqlite3
    >>> with sqlite3.connect(files[0]) as database:
    ...     rows = database.execute("SELECT path, from_point, state, actual FROM cells WHERE document = 'b'").fetchall()
    >>> database.close()
    >>> rows
    [('shop', 0, 'correct', '"The Green Door"'), ('total', 0, 'omission', None), ('total', 1, 'correct', '4')]
    """
    options = Options(Path(repo), rev=rev, cache=_path(cache))
    return write_export(options, format, Path(place), evals)


def score(repo: str | Path, eval_id: str, output: str | Path | None = None, **settings: object) -> Scored:
    """Score one output as it lies on disk, by default the newest of the eval.

    ``output`` is relative to the current folder, as any path. ``settings`` go before those of the manifest.

    >>> first = score(".", "receipts", "evals/receipts/results/iteration-001/extracted.json")
    >>> first.metrics["precision"], first.metrics["recall"]
    (0.6666666666666666, 0.5)
    >>> wrong = first.frame().query("outcome != 'correct'")
    >>> wrong[["document", "path", "outcome", "expected", "actual"]]
      document   path      outcome expected actual
    1        a  total  wrong_value    12.50  125.0
    3        b  total     omission        4   None
    >>> first.document().errors_by_type["omission"]
    1
    """
    bench = Bench.open(Path(repo))
    verified = bench.verify(eval_id, Path(output).resolve() if output else None, settings)
    kind, result = verified.place.kind, verified.result
    judged = _verdict(kind, verified.place.entry.thresholds, result)
    return Scored(kind, result, judged, eval_id, bench, verified)


def evaluate(cases: Records, responses: Records, thresholds: Thresholds = ()) -> Evaluated:
    """Score what a prompt answered to test cases, without any project.

    A case is ``{id, expected, category}``, a response ``{case_id, output, error, quality, embedding}``; all but the ids
    may be missing, and more keys are passed over. Metrics without a threshold here have that of the kind, if any.

    >>> cases = [{"id": "open", "expected": "No"}, {"id": "ivy", "expected": "Twice a week"}]
    >>> answers = [{"case_id": "open", "output": "no", "quality": 5}, {"case_id": "ivy", "output": "So", "quality": 2}]
    >>> found = evaluate(cases, answers, thresholds={"accuracy": 0.5})
    >>> found.metrics["accuracy"], found.metrics["average_quality"], found.metrics["consistency_score"]
    (0.5, 3.5, None)
    >>> found.verdict.overall_status, found.verdict.failed_criteria
    ('FAIL', ('average_quality',))
    """
    files = (_file(responses, "responses.json"),)
    inputs = Inputs(files, _file(cases, "test_cases.json"), None, None, "{}", embedder())
    result = scorer("responses").score(inputs)
    stated = thresholds.items() if isinstance(thresholds, Mapping) else thresholds
    return Evaluated("responses", result, _verdict("responses", stated, result))


@overload
def compare(a: Evaluated, b: Evaluated, *, names: tuple[str, str] = ...) -> Comparison: ...
@overload
def compare(a: Scored, b: Scored, *, names: tuple[str, str] = ...) -> Comparison | Change: ...
def compare(
    a: Evaluated | Scored, b: Evaluated | Scored, *, names: tuple[str, str] = ("a", "b")
) -> Comparison | Change:
    """Compare two results of one kind, with tests of whether the difference can be chance.

    Responses are compared as prompts, with winner, ranking and recommendation (rules 33 and 34); outputs of any other
    kind as a result and a later one. ``names`` is how texts call the two, which have to differ.

    >>> first = score(".", "receipts", "evals/receipts/results/iteration-001/extracted.json")
    >>> change = compare(first, score(".", "receipts"))
    >>> change.fixed, change.broken, change.judgements.p_value
    (2, 0, 0.5)
    >>> cases = [{"id": number, "expected": "yes"} for number in range(40)]
    >>> plain = evaluate(cases, [{"case_id": number, "output": "yes" if number < 12 else "no"} for number in range(40)])
    >>> friendly = evaluate(cases, [{"case_id": number, "output": "Yes"} for number in range(40)])
    >>> found = compare(plain, friendly, names=("plain", "friendly"))
    >>> found.overall_winner, found.recommendation
    ('friendly', 'Use friendly: it is significantly better in accuracy, and ranks first.')
    """
    if a.kind != b.kind:
        raise ConfigurationError(
            f"Results of the kinds {a.kind!r} and {b.kind!r} cannot be compared.", fix="Compare two of one kind."
        )
    if names[0] == names[1]:
        raise ConfigurationError(f"Both are called {names[0]!r}.", fix="Give two different names.")
    eval_id = a.eval_id if isinstance(a, Scored) else ""
    if a.kind == "responses":
        return compare_variants(
            eval_id, [variant_of(name, one.result) for name, one in zip(names, (a, b), strict=True)]
        )
    return change_of(eval_id, scorer(a.kind).metrics, (names[0], a.result), (names[1], b.result))


def _verdict(kind: str, thresholds: Iterable[tuple[str, float]], result: Result) -> Verdict:
    return verdict(scorer(kind).metrics, thresholds, result.scorecard.metrics)


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _file(records: Records, name: str) -> File:
    """What a scorer reads: the file, or the records as if they were the file of that name."""
    if isinstance(records, str | Path):
        try:
            return File(str(records), Path(records).read_bytes())
        except OSError as error:
            why = error.strerror or "It cannot be read"
            raise NothingToReportError(f"{why}.", where=str(records), fix="Name a file that is there.") from error
    present = [{key: value for key, value in each.items() if not _is_missing(value)} for each in records]
    try:
        return File(name, json.dumps(present, default=_listed).encode())
    except (TypeError, ValueError) as error:
        fix = "Give texts, numbers, lists and dictionaries."
        raise ConfigurationError(f"The records cannot be written as JSON: {error}.", where=name, fix=fix) from error


def _is_missing(value: object) -> bool:
    return isinstance(value, float) and isnan(value)


def _listed(value: Any) -> Any:
    """A vector or a number of numpy as lists and numbers. Raises TypeError for anything else."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no JSON")
