"""Classifies the paths that a commit changed by their roles for the site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from sitegen.history.layout import Layout
from sitegen.model.commits import ChangedPath
from sitegen.model.frozen import Frozen
from sitegen.model.timeline import CommitRecord, OutputLayout, RenamedEval, last_id
from sitegen.text.plain import counted

TouchedRole: TypeAlias = Literal[
    "output", "unscored", "recorded", "run", "ground_truth", "rules", "instruction", "other"
]
"""unscored: an output beside the folders of iterations, which alone count. recorded: metrics that a run recorded. run:
an output of a repeated run. rules: a field mapping, a schema or the manifest."""

How: TypeAlias = Literal["added", "modified", "deleted"]


class Touched(Frozen):
    """One changed path with its role."""

    change: ChangedPath
    role: TouchedRole
    eval_id: str = ""
    iteration: str = ""
    """Name of the iteration's folder; empty for an overwritten output, and for other roles."""


def sort_out(
    record: CommitRecord, layout: Layout, renamed: Sequence[RenamedEval], layouts: Mapping[str, OutputLayout]
) -> tuple[Touched, ...]:
    """Each change of a commit with the role of its path, once for each eval that the path belongs to.

    ``layout`` is the layout of the built configuration. ``renamed`` are the evals that were renamed, oldest first: a
    commit before the rename is one of the eval as it is called now, a later one in the same folder is not. ``layouts``
    maps evals to the layout of their outputs.
    """
    touched = []
    for change in record.changes:
        in_evals = []
        for place in layout.places(change.path):
            eval_id = last_id(place.eval_id, record.commit.position, renamed)
            if place.role == "overwritten":
                role: TouchedRole = "unscored" if layouts.get(eval_id) == "iterations" else "output"
            elif place.role == "stranger":
                continue
            else:
                role = place.role
            in_evals.append(Touched(change=change, role=role, eval_id=eval_id, iteration=place.iteration))
        touched += in_evals or [Touched(change, _role_outside_evals(change.path, layout))]
    return tuple(touched)


def _role_outside_evals(path: str, layout: Layout) -> TouchedRole:
    if path == layout.manifest_path or layout.is_shared(path):
        return "rules"
    return "instruction" if layout.is_instruction(path) else "other"


def outputs(touched: Iterable[Touched], names: Mapping[str, str]) -> list[tuple[str, str]]:
    """The evals with changed outputs, by name, each with what changed: ``3 iterations added, 1 changed``."""
    of_evals: dict[str, list[Touched]] = {}
    for item in touched:
        if item.role in ("output", "run", "recorded"):
            of_evals.setdefault(item.eval_id, []).append(item)
    in_order = sorted(of_evals, key=lambda eval_id: (names.get(eval_id, eval_id), eval_id))
    return [(eval_id, _output_words(of_evals[eval_id])) for eval_id in in_order]


def _output_words(changed: Sequence[Touched]) -> str:
    iterations: dict[str, set[How]] = {}
    for item in changed:
        if item.role == "output":
            iterations.setdefault(item.iteration, set()).add(how(item.change))
    # A folder with both added and deleted files, for example renamed ones, counts as changed.
    fates = Counter[str](next(iter(hows)) if len(hows) == 1 else "modified" for hows in iterations.values())
    roles = Counter[str](item.role for item in changed)
    phrases: list[str] = []
    for fate, word in (("added", "added"), ("modified", "changed"), ("deleted", "deleted")):
        if fates[fate]:
            noun = "output" if "" in iterations else "iteration"
            phrases.append(f"{fates[fate]:,} {word}" if phrases else f"{counted(fates[fate], noun)} {word}")
    if roles["run"]:
        phrases.append(counted(roles["run"], "repeated run"))
    if roles["recorded"]:
        phrases.append(f"{counted(roles['recorded'], 'record')} of metrics")
    return ", ".join(phrases)


def how(change: ChangedPath) -> How:
    """How the path changed."""
    return "added" if change.old is None else "deleted" if change.new is None else "modified"
