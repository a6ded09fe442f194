"""The gate: compares the newest output of every eval at a revision with the one at the commit it branched from."""

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

from msgspec.structs import replace

from sitegen.analysis.gate import check_eval, check_report, gate_metric, idle_limits, limits_of, looser_limits, stranger
from sitegen.analysis.slices import averaged, slices_by_name
from sitegen.config.findings import error_of
from sitegen.config.models import GateSettings, Limit, SlicedLimits
from sitegen.config.site import located, read_site
from sitegen.engine.memo import Memo
from sitegen.errors import ConfigurationError, NothingToReportError, RepositoryError
from sitegen.history.eval_state import with_common_grades
from sitegen.history.repository import Repository
from sitegen.history.timeline import shallow_history
from sitegen.model.gate import GateEval, GateReport, Reason
from sitegen.model.timeline import ids_since
from sitegen.project import Options, Project, open_project
from sitegen.questions.gate_pair import GatedPair, GateSide, held_specs
from sitegen.questions.study import Study, baseline_commit
from sitegen.scoring.usage import all_specs


def check(options: Options, base: str, *, exact: bool = False) -> GateReport:
    """Compare a revision, by default ``HEAD``, with the commit at which it branched off from ``base``.

    ``exact``: compare with ``base`` itself, as is done if ``base`` is the name of a baseline. Limits are
    read from the work tree's configuration. Raises RepositoryError if a revision is unknown, the two have no commit in
    common or history is truncated, and ConfigurationError if the configuration of a side is wrong or a limit names an
    unknown eval or metric.
    """
    head = open_project(options._replace(rev=options.rev or "HEAD"), "")
    baseline = baseline_commit(options, base)
    start = _base_commit(head, baseline or base, exact=exact or baseline is not None)
    before = open_project(options._replace(rev=start, worktree=False), "")
    with Memo.open(head.cache) as memo, memo.held(), memo.transaction():
        later = Study.of(head, memo)  # the first, as an error that both sides have is reported for the head
        try:
            earlier = Study.of(before, memo)
        except NothingToReportError:
            earlier = None
        except ConfigurationError as error:
            raise ConfigurationError(
                f"At the base, {start[:7]}: {error.message}",
                where=error.where,
                fix="The head is valid: merge it once without the gate.",
            ) from None
        for problem in later.timeline.remarks:
            if problem.severity == "error":  # with another limit than the one that is meant, the gate may pass
                raise error_of(problem)
        if earlier is None or not earlier.evals:
            # A build also applies the manifest of the built revision to commits that had none (0014). Without this, the
            # pull request that adds the manifest would fail.
            with suppress(NothingToReportError):
                earlier = Study.of(before, memo, later.timeline)
        if earlier:
            timeline = earlier.timeline
            with suppress(ConfigurationError):  # the limits of its own commit, unless these cannot be read
                gate = read_site(timeline.files.read_rules).value.gate
                timeline = replace(timeline, config=dataclasses.replace(timeline.config, gate=gate))
            earlier = replace(earlier, timeline=timeline)
        return _gate_report(earlier, later, start)


def _base_commit(head: Project, base: str, *, exact: bool) -> str:
    repository = Repository(head.place)
    if repository.shallow_boundary and not head.options.allow_shallow:
        raise shallow_history(repository)
    named = repository.resolve(base)
    start = named if exact else repository.merge_base(named, head.head or repository.resolve(head.revision))
    if start is None:
        raise RepositoryError(
            f"{head.revision!r} and {base!r} have no commit in common.",
            where=str(head.place.top),
            fix="Name the branch where the work began, or compare with the revision itself: --exact.",
        )
    return start


def _gated_evals(study: Study) -> dict[str, GateSide]:
    return {
        history.id: GateSide(study, history)
        for history in study.evals_with_outputs.values()
        if not history.snapshots[-1].deleted
    }


def _gate_report(earlier: Study | None, later: Study, start: str) -> GateReport:
    gate = later.timeline.config.gate
    at_base, at_head = _gated_evals(earlier) if earlier else {}, _gated_evals(later)
    sides = (*at_base.values(), *at_head.values())
    metrics = {name for side in sides for spec in all_specs(side.specs()) for name in spec.names}
    cards = (side.card for side in sides * any(".slices." in key for key, _, _, _ in gate.limits))
    named = chain.from_iterable(slices_by_name(card).items() for card in cards)
    slices = {key for name, values in named for key in (name, ",".join(values))}
    idle = idle_limits(gate, {"eval": {**at_base, **at_head}, "metric": metrics, "slice": slices})
    for problem in located(idle, later.timeline.files.of_work_tree.read_rules):
        raise error_of(problem)
    histories = ({eval_id: side.history for eval_id, side in sides.items()} for sides in (at_base, at_head))
    before = {eval_id: at_base[old] for old, eval_id in ids_since(*histories).items()}
    gone = []
    for side in (before[eval_id] for eval_id in before if eval_id not in at_head):
        info = side.study.timeline.info(side.history)
        looser = looser_limits(side.limits, (gate, info), ())
        check = GateEval(eval_id=info.id, name=info.name, kind=info.kind, presence="gone", lost=looser)
        # Deleting a failing eval must not let the gate pass.
        gone.append(check_eval(check if info.id in gate.removed else replace(check, reasons=("removed",))))
    there = [_check_present(gate, before.get(eval_id), side) for eval_id, side in at_head.items()]
    for eval_id, side in at_head.items():
        there += _check_slices(gate, before.get(eval_id), side)
    draft = GateReport(
        base=start,
        head=later.timeline.head.sha,
        verdict="pass",
        passed=False,
        matched=0,
        evals=(*gone, *there),
        strict_floors=gate.strict_floors,
    )
    return check_report(draft, allow_incomparable=gate.allow_incomparable)


def _check_slices(gate: GateSettings, before: GateSide | None, after: GateSide) -> Iterator[GateEval]:
    """Judge each slice that has limits. Deleting the cases of one must not let the gate pass."""
    info = after.study.timeline.info(after.history)
    if not gate.slices and not gate.evals.get(info.id, SlicedLimits()).slices:
        return
    is_alike = before and before.history.kind == after.history.kind
    at_head, at_base = (slices_by_name(side.card) if side else {} for side in (after, before if is_alike else None))
    for name, values in {**at_head, **at_base}.items():
        if (settings := gate.of_slice(info.id, (name, ",".join(values)))) is None:
            continue
        if name in at_head:
            there = replace(before, slice=values) if before and name in at_base else None
            found = _check_present(settings, there, replace(after, slice=values))
        else:
            gone = GateEval(eval_id=info.id, name=info.name, kind=info.kind, presence="gone", reasons=("removed",))
            found = check_eval(gone)
        yield replace(found, slice=name, instructions=(), or_edit=None, stale=False)


def _check_present(gate: GateSettings, before: GateSide | None, after: GateSide) -> GateEval:
    info = after.study.timeline.info(after.history)
    if after.slice:  # targets of the manifest are floors of the whole eval
        info = replace(info, thresholds={})
    same = before if before and before.history.kind == after.history.kind else None
    if same:
        histories = with_common_grades(same.history, after.history, guessed=same.history.id not in same.study.stated)
        same, after = (replace(at, history=of) for at, of in zip((same, after), histories, strict=True))
    own = after.specs(same)
    specs = all_specs(own)
    limits = limits_of(gate, info, specs)
    names = {spec.name for spec in specs}
    max_broken, min_cases = gate.case_limits(info.id)
    draft = GateEval(
        eval_id=info.id,
        name=info.name,
        kind=info.kind,
        presence="both" if before else "new",
        cases=after.cases,
        max_broken=max_broken,
        min_cases=min_cases,
        lost=looser_limits(before.limits, (gate, info), specs) if before and not after.slice else {},
    )
    strangers = [stranger(name, limits[name]) for name in limits if name not in names]
    if same:
        return GatedPair(same, after, own, gate).checked(replace(draft, metrics=strangers), limits)
    card = after.card
    alone = [
        replace(
            gate_metric(spec, Limit(floor=limits[spec.name].floor)),
            head=card.metric(spec.name),
            averaged=("", averaged(spec, card) if spec is own[0] else ""),
        )
        for spec in held_specs(own, [card], limits)
    ]
    reasons: tuple[Reason, ...] = ("another kind",) if before else ()
    return check_eval(replace(draft, metrics=(*alone, *strangers), reasons=reasons))
