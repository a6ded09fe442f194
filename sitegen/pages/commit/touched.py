"""What a commit changed, sorted by what each path is to the site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from sitegen.history.layout import Layout
from sitegen.model.commits import ChangedPath
from sitegen.text.plain import line

Role: TypeAlias = Literal["output", "recorded", "run", "ground_truth", "rules", "instruction", "other"]
"""recorded: metrics that a run wrote down itself. run: an output of a repeated run. rules: a field mapping, a schema
or the manifest."""

How: TypeAlias = Literal["added", "modified", "deleted"]


class Touched(NamedTuple):
    """One changed path and what it is."""

    change: ChangedPath
    role: Role
    eval_id: str = ""
    iteration: str = ""
    """Name of the iteration's folder; empty for an overwritten output, and for what is no output."""


class OutputChanges(NamedTuple):
    """What a commit did to the outputs of one eval, iterations counted and not files."""

    eval_id: str
    name: str
    added: int
    modified: int
    deleted: int
    overwritten: bool
    """The one output that is overwritten from commit to commit is among them."""
    runs: int
    recorded: int
    known: bool = True
    """The site has a page for the eval."""

    @property
    def words(self) -> str:
        """``3 iterations added, 1 changed``."""
        parts = [
            (self.added, "added"),
            (self.modified, "changed"),
            (self.deleted, "deleted"),
        ]
        what = "output" if self.overwritten else "iteration"
        said: list[str] = []
        for count, how in parts:
            if count:
                noun = "" if said else f" {what}{'' if count == 1 else 's'}"
                said.append(f"{count:,}{noun} {how}")
        if self.runs:
            said.append(f"{self.runs:,} repeated run{'' if self.runs == 1 else 's'}")
        if self.recorded:
            said.append(f"{self.recorded:,} record{'' if self.recorded == 1 else 's'} of metrics")
        return ", ".join(said)


class PathChange(NamedTuple):
    """One path, visible, and what happened to it."""

    path: str
    how: How
    eval_id: str = ""
    name: str = ""
    """Of the eval; empty if the site has no page for it."""


def sort_out(changes: Iterable[ChangedPath], layout: Layout, names_now: Mapping[str, str]) -> tuple[Touched, ...]:
    """Each change with what its path is at the built configuration, once for each eval that it belongs to.

    ``names_now`` has, for folders that evals were renamed from, the id that the eval has now.
    """
    return tuple(each for change in changes for each in _sorted_out(change, layout, names_now))


def _sorted_out(change: ChangedPath, layout: Layout, names_now: Mapping[str, str]) -> tuple[Touched, ...]:
    path = change.path
    touched = []
    for place in layout.places(path):
        if place.role != "stranger":
            role: Role = "output" if place.role == "overwritten" else place.role
            touched.append(
                Touched(
                    change=change,
                    role=role,
                    eval_id=names_now.get(place.eval_id, place.eval_id),
                    iteration=place.iteration,
                )
            )
    if touched:
        return tuple(touched)
    if path == layout.manifest_path or layout.is_shared(path):
        return (Touched(change, "rules"),)
    return (Touched(change, "instruction" if layout.is_instruction(path) else "other"),)


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
    found = []
    for eval_id, iterations in kinds.items():
        # A folder whose files were partly added and partly deleted (renamed, say) has changed.
        one = [next(iter(hows)) if len(hows) == 1 else "modified" for hows in iterations.values()]
        found.append(
            OutputChanges(
                eval_id=eval_id,
                name=line(names.get(eval_id, eval_id), 80),
                added=one.count("added"),
                modified=one.count("modified"),
                deleted=one.count("deleted"),
                overwritten="" in iterations,
                runs=runs.get(eval_id, 0),
                recorded=recorded.get(eval_id, 0),
                known=eval_id in names,
            )
        )
    return tuple(sorted(found, key=lambda row: (row.name, row.eval_id)))


def paths(touched: Iterable[Touched], role: Role, names: Mapping[str, str]) -> tuple[PathChange, ...]:
    """The paths of one role, in their order."""
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
    """What happened to the path."""
    return "added" if change.old is None else "deleted" if change.new is None else "modified"
