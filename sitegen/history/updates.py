"""What comes of a fold: the update against the time before, the problems, and the parts that are kept."""

from __future__ import annotations

from collections.abc import Iterator

from sitegen.history import problems
from sitegen.history.evals import history_of, layout_of
from sitegen.history.fold import Fold, Started
from sitegen.history.state import EvalState, StartOverError, Store
from sitegen.model.problems import Problem
from sitegen.model.timeline import CommitRecord, EvalUpdate, Update


def update_of(fold: Fold) -> Update:
    """What new commits changed. Raises StartOverError if they changed how an eval was told so far."""
    evals = [_eval_update(fold, each) for _, each in sorted(fold.evals.items()) if each.was_scorable]
    files = [history for _, history in sorted(fold.instructions.touched.items()) if history is not None]
    if len(files) < len(fold.instructions.touched) and not fold.complete:
        raise StartOverError  # a file was renamed: the pages of earlier commits name it by its last path
    return Update(
        fold.complete,
        tuple(each for each in evals if each is not None),
        tuple(files),
        tuple(_with_snapshots(record, started) for record, started in fold.records),
    )


def problems_of(fold: Fold, store: Store) -> list[Problem]:
    """All problems of history, those that the parts hold first."""
    return problems.merged([] if fold.complete else store.problems(), fold.problems)


def shown(fold: Fold, known: list[Problem]) -> tuple[Problem, ...]:
    """The problems of evals that are shown and of the whole, with those that are found at the end."""
    evals = fold.state.scorable
    return (*(each for each in known if each.eval_id is None or each.eval_id in evals), *_of_the_whole(fold))


def keep(fold: Fold, store: Store, known: list[Problem]) -> None:
    """Write the parts that the fold touched, and *known*: all problems."""
    state, watched = fold.state, fold.layout.watched
    state.shared_paths, state.ground_truth_names = sorted(watched.shared), sorted(watched.ground_truths)
    if fold.complete:
        store.clear()
    if fold.complete or fold.problems:
        store.put_problems(known)
    for eval_id, each in fold.evals.items():
        store.put_eval(eval_id, each)
    for path, history in fold.instructions.touched.items():
        store.put_instruction(path, history)
    store.put_state(state)


def _eval_update(fold: Fold, each: EvalState) -> EvalUpdate | None:
    history = history_of(each, fold.layout.entry(each.id))
    before = fold.before.get(each.id)
    if before is None:
        return EvalUpdate(history, 0)
    if before == history:
        return None
    if before.layout != history.layout and before.snapshots:
        raise StartOverError
    pairs = zip(before.snapshots, history.snapshots, strict=False)
    first_new = next((index for index, (old, new) in enumerate(pairs) if old != new), len(before.snapshots))
    return EvalUpdate(history, first_new)


def _with_snapshots(record: CommitRecord, started: list[Started]) -> CommitRecord:
    """The record with the snapshots of the series that counts, under the names that evals have in the end."""
    snapshots = []
    for each in started:
        if each.state.was_scorable:
            layout = layout_of(each.state, each.entry)
            slugs = each.iterations if layout == "iterations" else each.overwritten
            snapshots += [(each.state.id, slug) for slug in slugs]
    return record._replace(snapshots=tuple(snapshots))


def _of_the_whole(fold: Fold) -> Iterator[Problem]:
    state = fold.state
    if not state.scorable:
        yield problems.no_eval(fold.layout)
    if state.backward_dates:
        yield problems.backward_dates(state.backward_dates)
    if state.boundary:
        yield problems.cut_off(state.boundary[0])
