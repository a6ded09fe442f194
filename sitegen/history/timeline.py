"""The timeline: a fold over revisions, oldest first, that can stop at any commit and go on from there.

What is kept of the past is small (``state``) and in parts, so that one more commit loads only what it touches. Where
going on could give another result than starting from the root, it starts from the root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeAlias

from sitegen.config import Manifest, SiteConfig
from sitegen.history import problems
from sitegen.history.blobs import shared_cat_file
from sitegen.history.evals import history_of
from sitegen.history.fold import Fold
from sitegen.history.layout import Layout, Watched
from sitegen.history.repository import Repository
from sitegen.history.revisions import Irregular
from sitegen.history.state import PartStore, Renamed, StartOverError, State, Store
from sitegen.history.updates import keep, problems_of, shown, update_of
from sitegen.model.commits import Commit, Revision
from sitegen.model.contents import NO_CONTENTS, Contents
from sitegen.model.problems import Problem
from sitegen.model.timeline import EvalHistory, InstructionHistory, Update

VERSION: Final = 6
"""Raised whenever the same history would fold to something else."""


class Advanced(NamedTuple):
    """The timeline at a commit, against the previous time."""

    update: Update
    head: Commit
    commits: int
    """On the first-parent line up to the head."""
    problems: tuple[Problem, ...]
    """Of all history, not only of what is new: by commit, those of the whole last."""


Extra: TypeAlias = Callable[[Layout, Commit, Irregular], Iterable[Revision]]
"""Makes revisions that follow the head: of the work tree."""


@shared_cat_file()
def advance(
    repository: Repository,
    site: SiteConfig,
    parts: PartStore,
    *,
    head: str,
    manifest: Manifest,
    structure: str,
    contents: Contents = NO_CONTENTS,
    allow_shallow: bool = False,
    extra: Extra | None = None,
) -> Advanced:
    """Bring the timeline that *parts* holds to the commit *head*.

    *manifest* is the one of the built revision: it says which evals there are and where they live. *structure* is a
    digest of all that decides how history is read, see ``layout.structure_digest``. The result is the same whatever
    *parts* held before; only ``Update`` tells new from known. *contents* answers what must be known of the contents of
    outputs. *extra* yields what is folded behind the head.

    Raises ShallowRepositoryError if the history is cut off and that is not allowed, NothingToReportError if no eval
    ever had ground truth and there never was an instruction file; then *parts* stays as it was.
    """
    boundary = repository.shallow_boundary
    if boundary and not allow_shallow:
        raise problems.shallow(repository.found.top)
    store, structure = Store(parts), f"{VERSION} {structure}"
    watched, renamed = Watched(), tuple[Renamed, ...]()
    state = store.state()
    if state is not None and not _can_go_on(repository, site, state, head, structure, boundary):
        state = None
    if state is not None and _speaks_otherwise(Layout(site, manifest, watched), state):
        state = None
    while True:
        fold = Fold(repository, site, manifest, store, state or State(structure, boundary), watched, renamed, contents)
        since = fold.state.head
        try:
            fold.walk(head)
            if extra is not None:
                fold.fold(extra(fold.layout, fold.head, fold.irregular))
            if not fold.state.scorable and not fold.has_instructions:
                raise problems.nothing_to_report(repository.found.top, fold.layout)
            update, known = update_of(fold), problems_of(fold, store)
        except StartOverError as reason:
            state, watched = None, watched | fold.layout.watched | reason.watched
            renamed += reason.renamed
            continue
        if fold.head != since:
            keep(fold, store, known)
        return Advanced(update, fold.head, fold.head.position + 1, shown(fold, known))


def current(
    parts: PartStore, site: SiteConfig, manifest: Manifest
) -> tuple[tuple[EvalHistory, ...], tuple[InstructionHistory, ...]]:
    """All evals that ever had ground truth, by id, and all instruction files, by path, as *parts* holds them."""
    store = Store(parts)
    layout = Layout(site, manifest, Watched())
    histories = (history_of(state, layout.entry(state.id)) for state in store.evals() if state.was_scorable)
    return tuple(histories), tuple(store.instructions())


def history_in(parts: PartStore, site: SiteConfig, manifest: Manifest, eval_id: str) -> EvalHistory | None:
    """One eval as *parts* holds it; None if it never had ground truth."""
    state = Store(parts).eval(eval_id)
    if state is None or not state.was_scorable:
        return None
    return history_of(state, Layout(site, manifest, Watched()).entry(eval_id))


def _speaks_otherwise(layout: Layout, state: State) -> bool:
    """Whether the built manifest now says something else for commits that had no manifest of their own for an eval."""
    return any(layout.rules(eval_id) != rules for eval_id, rules in state.borrowed.items())


def _can_go_on(
    repository: Repository, site: SiteConfig, state: State, head: str, structure: str, boundary: tuple[str, ...]
) -> bool:
    if state.head is None or (state.structure, state.boundary) != (structure, boundary):
        return False
    return state.head.sha == head or (site.first_parent and repository.follows(state.head.sha, head))
