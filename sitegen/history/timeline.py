"""The timeline: a fold over revisions, oldest first, that can stop at any commit and continue from there.

The stored state (``fold_state``) is small and in parts, so that one more commit loads only the parts that it touches.
If continuing could give another result than starting from the root, the fold starts from the root. Its results are an
update relative to the previous build, the problems, and the stored parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.config.models import SiteConfig
from sitegen.history import problems
from sitegen.history.eval_fold import history_of, layout_of
from sitegen.history.fold_state import (
    EVAL,
    GLOBAL,
    INSTRUCTION,
    PROBLEMS,
    STATE,
    EvalState,
    FoldState,
    FoldStore,
    PartStore,
    StartOverError,
)
from sitegen.history.history_fold import HistoryFold, StartedSnapshots
from sitegen.history.layout import Layout
from sitegen.history.process import share_processes
from sitegen.history.repository import Repository
from sitegen.history.revisions import Irregular
from sitegen.model.commits import Commit, Revision
from sitegen.model.contents import NO_CONTENTS, Contents
from sitegen.model.frozen import Frozen
from sitegen.model.named_tuple import NamedTuple
from sitegen.model.problems import Problem
from sitegen.model.timeline import CommitRecord, EvalHistory, EvalUpdate, RenamedEval, Update

VERSION: Final = 18
"""Increased whenever the same history would fold to another result."""


class WorktreeBlob(NamedTuple):
    """A file of the work tree and the id of its content, which git may not have."""

    oid: str
    file: Path


class Advanced(Frozen):
    """The timeline at a commit, relative to the previous build."""

    update: Update
    head: Commit
    commits: int
    """Number of commits on the first-parent line up to the head."""
    problems: tuple[Problem, ...]
    """The problems of all history by commit, followed by problems of the history as a whole."""
    overlay: tuple[WorktreeBlob, ...] = ()
    """Files of the work tree whose contents git may not have."""


Extra: TypeAlias = Callable[[Layout, Commit, Irregular], Iterable[Revision]]
"""Returns revisions that follow the head, which represent the work tree."""


@share_processes()
def advance(
    repository: Repository,
    layout: Layout,
    parts: PartStore,
    *,
    head: str,
    contents: Contents = NO_CONTENTS,
    extra: Extra | None = None,
) -> Advanced:
    """Bring the timeline that *parts* holds to the commit *head*.

    *layout* has the manifest of the built revision, which defines the evals and their folders. The result does not
    depend on what *parts* held before, except for ``Update``, which lists what is new. *contents* has the functions
    that read contents of outputs. *extra* returns revisions to fold after the head. A shallow history is folded as far
    as it goes.

    Raises NothingToReportError if no eval ever had ground truth and there never was an instruction file; *parts* is
    then unchanged.
    """
    boundary = repository.shallow_boundary
    configuration = repr((layout.site, layout.manifest)).encode("utf-8", "surrogateescape")
    structure = f"{VERSION} {blake2b(configuration, digest_size=16).hexdigest()} {contents.installed}"
    store, renamed = FoldStore(parts), tuple[RenamedEval, ...]()
    state = store.state()
    new = None
    if state is not None and (state.structure, state.boundary) == (structure, boundary):
        new = _new_commits(repository, layout.site, state.head, head)
    if new is None:
        state = None
    while True:
        fold = HistoryFold(repository, layout, store, state or FoldState(structure, boundary), renamed, contents)
        since = fold.state.head
        try:
            fold.walk(head, new if state else None)
            if extra is not None:
                fold.fold(extra(fold.layout, fold.head, fold.irregular))
            if not fold.state.scorable and not fold.has_instructions:
                raise problems.nothing_to_report(repository.place.top, fold.layout)
            update, problems_so_far = update_of(fold), all_problems(fold, store)
        except StartOverError as reason:
            state = None
            layout = Layout(layout.site, layout.manifest, fold.layout.watched | reason.watched)
            renamed += reason.renamed
            continue
        if fold.head != since:
            keep_parts(fold, store, problems_so_far)
        return Advanced(
            update=update,
            head=fold.head,
            commits=fold.head.position + 1,
            problems=shown_problems(fold, problems_so_far),
        )


def current_histories(parts: PartStore, layout: Layout) -> tuple[EvalHistory, ...]:
    """Return all evals in *parts* that ever had ground truth, by id."""
    return tuple(history_of(state, layout.entry(state.id)) for state in FoldStore(parts).evals() if state.was_scorable)


def history_in(parts: PartStore, layout: Layout, eval_id: str) -> EvalHistory | None:
    """Return an eval in *parts*; None if it never had ground truth."""
    state = FoldStore(parts).eval(eval_id)
    if state is None or not state.was_scorable:
        return None
    return history_of(state, layout.entry(eval_id))


def _new_commits(repository: Repository, site: SiteConfig, since: Commit | None, head: str) -> tuple[str, ...] | None:
    """Return the commits with which the fold can continue, oldest first; None if it has to start from the root."""
    if since is None:
        return None
    if since.sha == head:
        return ()
    return repository.commits_after(since.sha, head) if site.first_parent else None


def update_of(fold: HistoryFold) -> Update:
    """Return the changes of new commits. Raises StartOverError if they affect the content of earlier pages."""
    evals = [_eval_update(fold, state) for _, state in sorted(fold.evals.items()) if state.was_scorable]
    if fold.instructions.renames and not fold.complete:
        raise StartOverError  # the pages of earlier commits name a file by its last path
    files = [history for _, history in sorted(fold.instructions.touched.items()) if history is not None]
    return Update(
        complete=fold.complete,
        evals=tuple(update for update in evals if update is not None),
        instructions=tuple(files),
        records=tuple(_with_snapshots(record, started) for record, started in fold.records),
        renamed=tuple(fold.renamed),
    )


def all_problems(fold: HistoryFold, store: FoldStore) -> list[Problem]:
    """Return all problems of history, the stored ones first."""
    return problems.first_of_each([] if fold.complete else store.problems(), fold.problems)


def shown_problems(fold: HistoryFold, all_of_history: list[Problem]) -> tuple[Problem, ...]:
    """Return the problems of displayed evals, of files that belong to no eval, and of the history as a whole."""
    evals = fold.state.scorable
    return (
        *(problem for problem in all_of_history if problem.eval_id is None or problem.eval_id in evals),
        *_problems_of_the_whole(fold),
    )


def keep_parts(fold: HistoryFold, store: FoldStore, every_problem: list[Problem]) -> None:
    """Store the parts that the fold touched, and all problems."""
    state, watched = fold.state, fold.layout.watched
    state.shared_paths, state.ground_truth_names = sorted(watched.shared), sorted(watched.ground_truths)
    if fold.complete:
        store.clear()
    if fold.complete or fold.problems:
        store.put(STATE, PROBLEMS, every_problem)
    for eval_id, eval_state in fold.evals.items():
        store.put(EVAL, eval_id, eval_state)
    for path, history in fold.instructions.touched.items():
        store.put(INSTRUCTION, path, history)
    store.put(STATE, GLOBAL, state)


def _eval_update(fold: HistoryFold, eval_state: EvalState) -> EvalUpdate | None:
    history = history_of(eval_state, fold.layout.entry(eval_state.id))
    before = fold.before.get(eval_state.id)
    if before is None:
        return EvalUpdate(history, 0)
    if before == history:
        return None
    if (
        before.snapshots
        and history.snapshots
        and (
            (before.layout, before.kind) != (history.layout, history.kind)
            or before.snapshots[0].settings != history.snapshots[0].settings
        )
    ):
        raise StartOverError  # the pages of earlier commits show outputs of this eval
    pairs = list(zip(before.snapshots, history.snapshots, strict=False))
    if any(old.runs != new.runs for old, new in pairs):
        raise StartOverError  # the pages of earlier commits judge changes by the repeated runs of their outputs
    first_new = next((index for index, (old, new) in enumerate(pairs) if old != new), len(before.snapshots))
    return EvalUpdate(history, first_new)


def _with_snapshots(record: CommitRecord, started: list[StartedSnapshots]) -> CommitRecord:
    """Return the record with the snapshots of the series that counts, under the final ids of the evals."""
    snapshots = []
    for start in started:
        if start.state.was_scorable:
            layout = layout_of(start.state, start.entry)
            slugs = start.iterations if layout == "iterations" else start.overwritten
            snapshots += [(start.state.id, slug) for slug in slugs]
    return replace(record, snapshots=tuple(snapshots))


def _problems_of_the_whole(fold: HistoryFold) -> Iterator[Problem]:
    state = fold.state
    if not state.scorable:
        yield problems.no_eval(fold.layout)
    if state.backward_dates:
        yield problems.backward_dates(state.backward_dates)
    if state.boundary:
        yield problems.cut_off_history(state.boundary[0])
