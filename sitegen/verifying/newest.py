"""Finds the newest output of an eval in the work tree: the one that a site of the work tree shows as the newest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeAlias

from sitegen.errors import SitegenError
from sitegen.history.fold_state import CopiedParts
from sitegen.history.repository import Repository
from sitegen.history.timeline import advance
from sitegen.history.worktree import with_worktree
from sitegen.scoring.kinds import CONTENTS
from sitegen.verifying.eval_files import WorktreeEval, each_output
from sitegen.verifying.project import WorktreeProject

OutputsInOrder: TypeAlias = Mapping[str, list[tuple[Path, ...]]]
"""The outputs of each eval, oldest first, by the eval's id."""


def newest_outputs(
    project: WorktreeProject, place: WorktreeEval, in_order: Callable[[], OutputsInOrder] | None = None
) -> tuple[Path, ...]:
    """Return the files of the newest output of an eval; often none.

    Of several iterations or runs, the newest is the last by commit, within one commit by recorded time and then by
    number; uncommitted ones come last. Without any commit, it is the last by number or by name.

    Args:
        project: the project of the eval.
        place: the eval.
        in_order: returns the ``outputs_in_order`` of the project, for callers that ask for several evals.

    """
    several = each_output(place)
    if len(several) > 1:
        every_eval = in_order() if in_order else outputs_in_order(project)
        several += [outputs for outputs in every_eval.get(place.entry.id, ()) if outputs in several]
    return several[-1] if several else ()


def outputs_in_order(project: WorktreeProject) -> OutputsInOrder:
    """Return the outputs of each eval in the order of its history, with the uncommitted state at the end.

    Reads history from its root. Empty without any commit, or if history cannot be read.
    """
    if project.head is None:
        return {}
    follow = partial(
        advance,
        site=project.config,
        head=project.head,
        manifest=project.manifest,
        structure="",
        contents=CONTENTS,
        allow_shallow=True,
    )
    try:
        advanced = with_worktree(Repository.open(project.root), CopiedParts(), project.head, follow)
    except SitegenError:
        return {}
    return {
        update.history.id: [
            tuple(project.root / blob.path for blob in snapshot.outputs) for snapshot in update.history.snapshots
        ]
        for update in advanced.update.evals
    }
