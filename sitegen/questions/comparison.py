"""Scores the two or more sides of ``sitegen compare``: variants of the work tree, prompts, iterations or revisions."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, islice
from math import inf
from shlex import quote
from typing import Final, TypeAlias

from sitegen.analysis.change import change
from sitegen.analysis.series import series_of
from sitegen.analysis.slices import axes_of, part_of
from sitegen.analysis.variant_tests import VariantComparison
from sitegen.analysis.variants import variant_comparison, variant_of, variants_of
from sitegen.config.manifest import significance_level
from sitegen.config.models import EvalConfig
from sitegen.errors import ConfigurationError, NothingToReportError
from sitegen.history.eval_state import with_common_grades
from sitegen.model.changes import ChangeVerdict
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.frozen import replace
from sitegen.model.metrics import traits_of
from sitegen.model.scorecards import Result
from sitegen.model.series import EvalInfo
from sitegen.model.timeline import Blob, EvalHistory, Snapshot, ids_since
from sitegen.project import Options
from sitegen.questions.comparison_files.changes import ResultChange, result_change
from sitegen.questions.comparison_files.prompts import ComparisonDocument, Evaluation
from sitegen.questions.study import Study, baseline_commit, open_study
from sitegen.questions.verify import Verified, verify
from sitegen.questions.work_tree import WorktreeProject
from sitegen.scoring.kinds import scorer, specs_of_results
from sitegen.stats.significance import ALPHA

_LISTED: Final = 100  # the most values that a message lists

Thresholds: TypeAlias = dict[str, dict[str, float]]
"""The lowest acceptable value of each metric of each eval, by the id of the eval and the name of the metric."""


def compare_variants(
    project: WorktreeProject, eval_id: str, names: Sequence[str]
) -> tuple[ComparisonDocument, Thresholds]:
    """Compare variants of an eval in the work tree, its models, or the values of a tag.

    ``names``: values on one axis, also written ``model=mini``, or on the same axes, ``model=mini,variant=short``; empty
    for all on the first axis, which is the variant if there are several. Raises ConfigurationError if the eval or a
    value does not exist, if the values are on different axes, or if there are fewer than two.
    """
    verified = verify(project, eval_id)
    parts = (part for name in names for part in name.split(","))
    on_other_axis = any("=" in part and not part.startswith("variant=") for part in parts)
    if on_other_axis or not traits_of(verified.place.kind).answers_cases:
        return _compare_slices(verified, names)
    names = [name.removeprefix("variant=") for name in names]
    variants = {variant.measured.name: variant for variant in variants_of(verified.result)}
    fix = f"The variants of {eval_id}: {', '.join(name for name in variants if name) or 'none'}."
    for name in names:
        if name not in variants:
            raise ConfigurationError(f"The eval {eval_id!r} has no variant {name!r}.", fix=fix)
    chosen = [variants[name] for name in dict.fromkeys(names or variants)]
    if len(chosen) < 2:
        raise ConfigurationError(f"The eval {eval_id!r} has fewer than two variants to compare.", fix=fix)
    thresholds = _thresholds(verified.place.kind, verified.place.entry.thresholds)
    comparison = variant_comparison(eval_id, chosen, significance_level(verified.place.entry.settings) or ALPHA)
    return ComparisonDocument(variants=(comparison,)), {eval_id: thresholds}


def _compare_slices(verified: Verified, names: Sequence[str]) -> tuple[ComparisonDocument, Thresholds]:
    entry, kind, result = verified.place.entry, verified.place.kind, verified.result
    documents, axes = result.scorecard.documents, axes_of(result.scorecard, inf)
    if not axes:
        raise ConfigurationError(
            f"The answers in the newest output of {entry.id!r} differ in no variant, model or tag.",
            fix=f"Compare two of its iterations: sitegen compare {(of_eval := quote(entry.id))}@1 {of_eval}@2",
        )
    sides = {
        f"{axis}={value}": (axis, value)
        for axis in axes
        for value in dict.fromkeys(value for document in documents for value in document.on(axis))
    }
    known = {value: side for side in reversed(sides.values()) for value in (side[1],)} | sides
    chosen, unknown = dict[str, dict[str, str]](), []
    for name in names or [name for name, (axis, _) in sides.items() if axis == axes[0]]:
        parts = [name] if name in known else name.split(",")
        values = dict(known[part] for part in parts if part in known)
        unknown += [part for part in parts if part not in known]
        if not any(all(value in document.on(axis) for axis, value in values.items()) for document in documents):
            unknown.append(name)
        chosen[",".join(map("=".join, values.items()))] = values
    if unknown or len(chosen) < 2 or len({frozenset(values) for values in chosen.values()}) > 1:
        has_no = f"The answers in the newest output of {entry.id!r} have no {', '.join(map(repr, unknown))}."
        message = has_no if unknown else "To compare answers, two or more values on the same axes are needed."
        raise ConfigurationError(message, fix=f"The values of {entry.id}: {', '.join(islice(sides, _LISTED))}.")
    parts_of_result = [part_of(result, values) for values in chosen.values()]
    info = EvalInfo(id=entry.id, name=entry.id, kind=kind)
    document = ComparisonDocument(changes=compare_results(info, parts_of_result, list(chosen)))
    return document, {entry.id: _thresholds(kind, entry.thresholds)}


def compare_results(
    info: EvalInfo,
    results: Sequence[Result],
    names: Sequence[str],
    known: Sequence[Snapshot] = (),
    result_of: Callable[[Snapshot], Result] | None = None,
) -> tuple[ResultChange, ...]:
    """Compare results that are no points of a series with the first of them.

    ``known``: their snapshots; without these, which of their files differ is unknown, so that the changes have no
    parts. ``result_of``: returns the result of a mixture of two.
    """
    scorecard_of = (lambda mixed: result_of(mixed).scorecard) if result_of else None
    specs = specs_of_results(*results)
    whole = Snapshot(iteration=0, label="", slug="", commit=Commit(WORKTREE), cause=("outputs",), outputs=())
    known = known or [replace(whole, outputs=(Blob(of, of),), ground_truth=Blob(of, of)) for of in names]
    first, *others = (replace(at, label=of, commit=whole.commit) for at, of in zip(known, names, strict=True))
    changes = []
    for snapshot, result in zip(others, results[1:], strict=True):
        rejudged = [result_of(mixed) for mixed in first.judged_as(snapshot)] if result_of else []
        series = series_of(info, specs, (first, snapshot), (results[0], result), rejudged=rejudged)
        between = first.label, snapshot.label
        changes.append(result_change(series, 0, 1, change(series, 0, 1, scorecard_of), names=between))
    return tuple(changes)


def compare_prompts(entry: EvalConfig, evaluations: Sequence[Evaluation]) -> tuple[ComparisonDocument, Thresholds]:
    """Compare prompts that answered the test cases of one eval, each labelled with its path."""
    chosen = [variant_of(document.prompt_path, verified.result) for verified, document in evaluations]
    comparison = variant_comparison(entry.id, chosen, significance_level(entry.settings) or ALPHA)
    return ComparisonDocument(variants=(comparison,)), {entry.id: _thresholds("responses", entry.thresholds)}


def compare_iterations(options: Options, eval_id: str, names: Sequence[str]) -> tuple[ComparisonDocument, Thresholds]:
    """Compare iterations of one eval, named by a baseline or as ``snapshot_named`` reads names.

    With values such as ``model=mini`` behind them, only these answers. Raises ConfigurationError if one is missing.
    """
    wanted = dict(name.split("=", 1) for name in names if "=" in name)
    with open_study(options) as study:
        history = study.history(eval_id)
        baselines = {name: history.snapshots[at] for name, at in study.timeline.baselines_of(history)}
        sides = [name for name in names if "=" not in name]
        snapshots = [baselines.get(name) or snapshot_named(history, name) for name in sides]
        labels = [name if name in baselines else at.label for name, at in zip(sides, snapshots, strict=True)]
        if len(set(labels)) < len(labels):  # one iteration, scored several times
            labels = [name if name in baselines else at.slug for name, at in zip(sides, snapshots, strict=True)]
        snapshots = [at.judged_beside(snapshots[0]) for at in snapshots]
        if wanted:
            only = ", ".join(map("=".join, wanted.items()))
            parts = [part_of(result, wanted) for result in study.scorecards(history).results(snapshots)]
            if lacking := [label for label, part in zip(labels, parts, strict=True) if not part.scorecard.documents]:
                fix = f"Its values: sitegen history {quote(eval_id)} --by {quote(next(iter(wanted)))}"
                raise ConfigurationError(f"No answer has {only}.", where=", ".join(lacking), fix=fix)

            def mixed(snapshot: Snapshot) -> Result:
                (whole,) = study.scorecards(history).results([replace(snapshot, commit=snapshots[0].commit)])
                return part_of(whole, wanted)

            asked = None if traits_of(history.kind).is_recorded else mixed
            info, named = EvalInfo(eval_id, eval_id, history.kind), [f"{label}, {only}" for label in labels]
            changes = compare_results(info, parts, named, snapshots, asked)
            return ComparisonDocument(changes=changes), _thresholds_of(study)
        series = study.series(history)
        base, *others = snapshots
        results = tuple(study.scorecards(history).results(snapshots)) if traits_of(history.kind).answers_cases else ()
        document = ComparisonDocument(
            variants=_variants(
                study.timeline.manifest.entry(eval_id),
                labels,
                results,
                [study.compared(series, *pair)[-1].verdict for pair in combinations(snapshots if results else (), 2)],
            ),
            changes=tuple(
                result_change(*study.compared(series, base, at), names=(labels[0], label), whole=series)
                for at, label in zip(others, labels[1:], strict=True)
            ),
        )
        return document, _thresholds_of(study)


def compare_revisions(options: Options, revisions: Sequence[str]) -> tuple[ComparisonDocument, Thresholds]:
    """Compare the newest outputs of every eval that two revisions have, each by the rules of its revision.

    The first revision is compared with each other one; the name of a baseline stands for its own. The eval of which
    most broke comes first. Raises NothingToReportError if two have no eval in common.
    """
    base, *heads = revisions
    commits = {name: baseline_commit(options, name) or name for name in revisions}
    with open_study(options._replace(rev=commits[base])) as study:
        before, stated = study.evals_with_outputs, study.stated
    variants: list[VariantComparison] = []
    changes: list[ResultChange] = []
    thresholds: Thresholds = {}
    places = {eval_id: at for at, eval_id in enumerate(before)}
    passed_over = set[str]()
    for head in heads:
        with open_study(options._replace(rev=commits[head])) as study:
            after = study.evals_with_outputs
            same = {eval_id: before[name] for name, eval_id in ids_since(before, after).items()}
            common = [eval_id for eval_id in same if eval_id in after and same[eval_id].kind == after[eval_id].kind]
            if not common:
                instead = "compare iterations instead: sitegen compare EVAL@1 EVAL@2"
                message = f"{base!r} and {head!r} have no eval with outputs in common."
                raise NothingToReportError(message, fix=f"If the manifest is newer than one of them, {instead}")
            for eval_id in common:
                histories = same[eval_id], after[eval_id]
                earlier, history = with_common_grades(*histories, guessed=same[eval_id].id not in stated)
                series, sides = study.series(history), (earlier.snapshots[-1], history.snapshots[-1])
                found = study.compared(series, *sides)
                if len(heads) == 1:
                    entry, results = study.timeline.manifest.entry(eval_id), [*study.scorecards(history).results(sides)]
                    variants += _variants(entry, [base, head], results, [found[-1].verdict])
                changes.append(result_change(*found, names=(base, head), whole=series))
            places |= {eval_id: places[same[eval_id].id] for eval_id in common}
            passed_over |= {*same, *after} - {*common}
            thresholds |= _thresholds_of(study)
    lost = {of: sum(one.broken - one.fixed for one in changes if one.eval_id == of) for of in places}
    changes.sort(key=lambda found: (-lost[found.eval_id], places[found.eval_id]))
    over = tuple(sorted(passed_over))
    return ComparisonDocument(variants=tuple(variants), changes=tuple(changes), passed_over=over), thresholds


def _variants(
    entry: EvalConfig, names: Sequence[str], results: Sequence[Result], verdicts: Sequence[ChangeVerdict | None]
) -> tuple[VariantComparison, ...]:
    """Compare responses as two or more prompts as well; nothing for other kinds."""
    if not results or not all(result.scorecard.variants for result in results):
        return ()
    variants = [variant_of(name, result, beside=results) for name, result in zip(names, results, strict=True)]
    return (variant_comparison(entry.id, variants, significance_level(entry.settings) or ALPHA, verdicts),)


def _thresholds(kind: str, stated: Mapping[str, float]) -> dict[str, float]:
    """Return the default targets of the kind, overridden by ``thresholds`` of the manifest."""
    return {spec.name: spec.least for spec in scorer(kind).metrics if spec.least is not None} | dict(stated)


def _thresholds_of(study: Study) -> Thresholds:
    return {
        eval_id: _thresholds(history.kind, study.timeline.info(history).thresholds)
        for eval_id, history in study.evals.items()
    }


def snapshot_named(history: EvalHistory, name: str) -> Snapshot:
    """Return the snapshot that a name means.

    A number (``14``) or a label (``iteration-014``) means the iteration as it was last scored; the name of a report
    (``0014``, ``0014-3f2a91c07d55``) means the iteration as that report shows it.

    Raises ConfigurationError if there is none.
    """
    last_scored = {str(snapshot.iteration): snapshot for snapshot in history.snapshots}
    last_scored |= {snapshot.label: snapshot for snapshot in history.snapshots}
    reports = {snapshot.slug: snapshot for snapshot in history.snapshots}
    number = name.removeprefix("iteration-").lstrip("0") or "0"
    snapshot = last_scored.get(name) or reports.get(name) or last_scored.get(number)
    if snapshot is not None:
        return snapshot
    numbers = sorted({snapshot.iteration for snapshot in history.snapshots})
    is_whole = len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1
    listed = f"{numbers[0]} to {numbers[-1]}" if is_whole else ", ".join(map(str, numbers)) or "none"
    raise ConfigurationError(
        f"The eval {history.id!r} has no iteration {'or baseline ' * name.isalpha()}{name}.", fix=f"It has {listed}."
    )
