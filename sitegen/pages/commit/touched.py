"""Classifies the paths that a commit changed by their roles for the site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from sitegen.frozen import Frozen
from sitegen.history.layout import Layout
from sitegen.model.commits import ChangedPath
from sitegen.model.timeline import CommitRecord, OutputLayout, RenamedEval, last_id
from sitegen.text.plain import line

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


class OutputChanges(Frozen):
    """The changes of a commit to the outputs of one eval, counted in iterations."""

    eval_id: str
    name: str
    added: int
    modified: int
    deleted: int
    overwritten: bool
    """Whether the output that commits overwrite is among them."""
    runs: int
    recorded: int
    has_page: bool = True
    """Whether the site has a page for the eval."""

    @property
    def words(self) -> str:
        """``3 iterations added, 1 changed``."""
        changes = [
            (self.added, "added"),
            (self.modified, "changed"),
            (self.deleted, "deleted"),
        ]
        unit = "output" if self.overwritten else "iteration"
        phrases: list[str] = []
        for count, how in changes:
            if count:
                noun = "" if phrases else f" {unit}{'' if count == 1 else 's'}"
                phrases.append(f"{count:,}{noun} {how}")
        if self.runs:
            phrases.append(f"{self.runs:,} repeated run{'' if self.runs == 1 else 's'}")
        if self.recorded:
            phrases.append(f"{self.recorded:,} record{'' if self.recorded == 1 else 's'} of metrics")
        return ", ".join(phrases)


class PathChange(Frozen):
    """One path, with hidden characters made visible, and how it changed."""

    path: str
    how: How
    eval_id: str = ""
    name: str = ""
    """Name of the eval; empty if the site has no page for it."""


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


def outputs(touched: Iterable[Touched], names: Mapping[str, str]) -> tuple[OutputChanges, ...]:
    """Outputs by eval, in the order of the evals' names."""
    kinds: dict[str, dict[str, set[How]]] = {}
    runs: dict[str, int] = {}
    recorded: dict[str, int] = {}
    for item in touched:
        if item.role in ("output", "run", "recorded"):
            iterations = kinds.setdefault(item.eval_id, {})
            if item.role == "output":
                iterations.setdefault(item.iteration, set()).add(how(item.change))
            elif item.role == "run":
                runs[item.eval_id] = runs.get(item.eval_id, 0) + 1
            else:
                recorded[item.eval_id] = recorded.get(item.eval_id, 0) + 1
    rows = []
    for eval_id, iterations in kinds.items():
        # A folder with both added and deleted files, for example renamed ones, counts as changed.
        fates = [next(iter(hows)) if len(hows) == 1 else "modified" for hows in iterations.values()]
        rows.append(
            OutputChanges(
                eval_id=eval_id,
                name=line(names.get(eval_id, eval_id), 80),
                added=fates.count("added"),
                modified=fates.count("modified"),
                deleted=fates.count("deleted"),
                overwritten="" in iterations,
                runs=runs.get(eval_id, 0),
                recorded=recorded.get(eval_id, 0),
                has_page=eval_id in names,
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.name, row.eval_id)))


def paths(touched: Iterable[Touched], role: TouchedRole, names: Mapping[str, str]) -> tuple[PathChange, ...]:
    """The changed paths with one role, in their order."""
    return tuple(
        PathChange(
            path=line(item.change.path),
            how=how(item.change),
            eval_id=item.eval_id,
            name=line(names.get(item.eval_id, ""), 80),
        )
        for item in touched
        if item.role == role
    )


def how(change: ChangedPath) -> How:
    """How the path changed."""
    return "added" if change.old is None else "deleted" if change.new is None else "modified"
