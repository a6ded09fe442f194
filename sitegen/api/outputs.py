"""Scores and compares single outputs, from files or from memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from sitegen.analysis.variant_tests import VariantComparison
from sitegen.analysis.variants import variant_comparison as compare_variants
from sitegen.analysis.variants import variant_of
from sitegen.data_files.project_files import LARGEST_ARGUMENT, read_file, real
from sitegen.errors import ConfigurationError, NothingToReportError
from sitegen.model.metrics import Verdict, traits_of
from sitegen.model.problems import Finding
from sitegen.model.scorecards import Result, Status
from sitegen.model.series import EvalInfo
from sitegen.questions import exporting
from sitegen.questions.comparison import compare_results
from sitegen.questions.comparison_files.changes import ResultChange
from sitegen.questions.verify import Verified, verify
from sitegen.questions.work_tree import WorktreeProject
from sitegen.scoring.kinds import File, ScoringInputs, scorer, specs_of_results, verdict
from sitegen.scoring.results_file import ResultsDocument
from sitegen.scoring.usage import all_specs
from sitegen.text.embedding import embedder

if TYPE_CHECKING:
    from sitegen.questions.exporting import DataFrame

Records: TypeAlias = "Sequence[Mapping[str, object]] | str | Path"
"""A list of objects, or the JSON file that holds one. NaN, which pandas writes, counts as a missing key."""

Thresholds: TypeAlias = Mapping[str, float] | Iterable[tuple[str, float]]
"""The least acceptable value by name of the metric, in its unit: shares from 0 to 1, grades from 1 to 5."""


@dataclass(frozen=True, slots=True)
class JudgedOutput:
    """A result and its verdict."""

    kind: str
    result: Result = field(repr=False)
    """The scorecard with every judgement and panel."""
    verdict: Verdict = field(repr=False)
    """The metrics against their targets."""

    @property
    def status(self) -> Status:
        """Whether the files could be read."""
        return self.result.scorecard.status

    @property
    def metrics(self) -> dict[str, float | None]:
        """Values by name, in the order of the kind with the headline first. Undefined values are None."""
        return dict(self.result.scorecard.metrics)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong inside the files."""
        return self.result.scorecard.findings

    def frame(self) -> DataFrame:
        """Return a row for each judgement, with expected and actual value and outcome (``exporting.judgements``)."""
        return exporting.judgements(self.result)


@dataclass(frozen=True, slots=True)
class Evaluated(JudgedOutput):
    """The responses of one prompt, scored."""


@dataclass(frozen=True, slots=True)
class Scored(JudgedOutput):
    """One output of an eval, scored."""

    eval_id: str
    project: WorktreeProject = field(repr=False)
    verified: Verified = field(repr=False)

    @property
    def outputs(self) -> tuple[Path, ...]:
        """The files that were scored, several only for an eval with variants."""
        return self.verified.outputs

    def document(self) -> ResultsDocument:
        """Return the document of ``sitegen verify-one --json`` as a frozen value, without a timestamp."""
        return self.verified.document()


def score(repo: str | Path, eval_id: str, output: str | Path | None = None, **settings: object) -> Scored:
    """Score one output on disk, by default the newest of the eval.

    ``output``: relative to the current folder. ``settings``: they take precedence over those of the manifest.

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
    project = WorktreeProject.open(Path(repo))
    verified = verify(project, eval_id, real(Path(output)) if output else None, settings)
    kind, result = verified.place.kind, verified.result
    specs = all_specs(specs_of_results(result))
    judged = verdict(specs, verified.place.entry.thresholds, result.scorecard.metrics)
    return Scored(kind=kind, result=result, verdict=judged, eval_id=eval_id, project=project, verified=verified)


def evaluate(cases: Records, responses: Records, thresholds: Thresholds = ()) -> Evaluated:
    """Score the responses of a prompt to test cases, without a project.

    A case is ``{id, expected, category}``, a response ``{case_id, output, error, quality, embedding}``; only the ids
    are required, and other keys are ignored. A metric without a target here has the default of the kind, if any.

    >>> cases = [{"id": "open", "expected": "No"}, {"id": "ivy", "expected": "Twice a week"}]
    >>> answers = [{"case_id": "open", "output": "no", "quality": 5}, {"case_id": "ivy", "output": "So", "quality": 2}]
    >>> found = evaluate(cases, answers, thresholds={"accuracy": 0.5})
    >>> found.metrics["accuracy"], found.metrics["average_quality"], found.metrics["consistency_score"]
    (0.5, 3.5, None)
    >>> found.verdict.overall_status, found.verdict.failed_criteria
    ('FAIL', ('average_quality',))
    """
    files = (_file_of_records(responses, "responses.json"),)
    inputs = ScoringInputs(outputs=files, ground_truth=_file_of_records(cases, "test_cases.json"), embedder=embedder())
    result = scorer("responses").score(inputs)
    specs = all_specs(specs_of_results(result))
    judged = verdict(specs, dict(thresholds), result.scorecard.metrics)
    return Evaluated("responses", result, judged)


@overload
def compare(a: Evaluated, b: Evaluated, *, names: tuple[str, str] = ...) -> VariantComparison: ...
@overload
def compare(a: Scored, b: Scored, *, names: tuple[str, str] = ...) -> VariantComparison | ResultChange: ...
def compare(
    a: Evaluated | Scored, b: Evaluated | Scored, *, names: tuple[str, str] = ("a", "b")
) -> VariantComparison | ResultChange:
    """Compare two results of one kind, and test whether their difference can be chance.

    Responses are compared as prompts, with winner, ranking and recommendation (rules 33 and 34), outputs of other kinds
    as a result and a later one. ``names``: two different names for use in texts.

    >>> first = score(".", "receipts", "evals/receipts/results/iteration-001/extracted.json")
    >>> change = compare(first, score(".", "receipts"))
    >>> change.fixed, change.broken, change.verdict.p_value
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
    if traits_of(a.kind).answers_cases:
        return compare_variants(
            eval_id,
            [
                variant_of(name, output.result, beside=(a.result, b.result))
                for name, output in zip(names, (a, b), strict=True)
            ],
        )
    info = EvalInfo(id=eval_id, name=eval_id, kind=a.kind)
    return compare_results(info, (a.result, b.result), names)[0]


def _file_of_records(records: Records, name: str) -> File:
    """Return the file as input of a scorer, or the records as if they were in a file of that name."""
    if isinstance(records, str | Path):
        try:
            return File(str(records), read_file(Path(records), LARGEST_ARGUMENT))
        except OSError as error:
            why = error.strerror or "It cannot be read"
            raise NothingToReportError(f"{why}.", where=str(records), fix="Name a file that is there.") from error
    present = [
        {key: value for key, value in record.items() if not (isinstance(value, float) and isnan(value))}
        for record in records
    ]
    try:
        return File(name, json.dumps(present, default=_plain_lists).encode())
    except (TypeError, ValueError) as error:
        fix = "Give texts, numbers, lists and dictionaries."
        raise ConfigurationError(f"The records cannot be written as JSON: {error}.", where=name, fix=fix) from error


def _plain_lists(value: Any) -> Any:
    """Arrays and numbers of numpy as lists and numbers. Raises TypeError for anything else."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no JSON")
