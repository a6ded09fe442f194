"""Finds the newest output of an eval in the work tree: the one that a site of the work tree shows as the newest."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from sitegen.errors import SitegenError
from sitegen.history.fold_state import CopiedParts
from sitegen.history.repository import Repository
from sitegen.history.timeline import advance
from sitegen.history.worktree import with_worktree
from sitegen.scoring.kinds import CONTENTS
from sitegen.verifying.eval_files import WorktreeEval, each_output
from sitegen.verifying.project import WorktreeProject


def newest_outputs(
    project: WorktreeProject, place: WorktreeEval, in_order: Mapping[str, list[tuple[Path, ...]]] | None = None
) -> tuple[Path, ...]:
    """Return the files of the newest output of an eval; often none.

    Of several iterations or runs, the newest is the last by commit, within one commit by recorded time and then by
    number; uncommitted ones come last. Without any commit, it is the last by number or by name.

    Args:
        project: the project of the eval.
        place: the eval.
        in_order: the result of ``outputs_in_order``, if it is known.

    """
    several = each_output(place)
    if len(several) > 1:
        in_order = outputs_in_order(project) if in_order is None else in_order
        several += [outputs for outputs in in_order.get(place.entry.id, ()) if outputs in several]
    return several[-1] if several else ()


def outputs_in_order(project: WorktreeProject) -> dict[str, list[tuple[Path, ...]]]:
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
