"""The timeline: for each eval its snapshots, for each instruction file its edits, oldest first."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from sitegen.model.commits import ChangedPath, Commit
from sitegen.model.frozen import Frozen, field, grouped, replace
from sitegen.model.usage import RunUsage

Cause: TypeAlias = Literal["outputs", "ground_truth", "mapping", "schema", "settings"]
Role: TypeAlias = Literal["outputs", "ground_truth", "rules"]
"""What decides a scorecard; the rules are mapping, schema and settings."""
RoleSet: TypeAlias = tuple[Role, ...]
"""A set of roles, in the order of ``ROLES``."""
ROLES: Final[RoleSet] = ("outputs", "ground_truth", "rules")


class Blob(NamedTuple):
    """A file at a revision: its path, and the id of its contents."""

    path: str
    oid: str


class Snapshot(Frozen):
    """One point of a series: the files that are scored and that score them, and the commit. It has no contents."""

    iteration: int
    """The number of ``iteration-NNN``, or the number of the version of an overwritten output, from 1."""
    label: str
    """``iteration-012``: the folder's own name, or the number written that way for an overwritten output."""
    slug: str
    """File name of the report without ``.html``: ``0012``; ``0012-<sha>`` if re-scored; unique in the eval."""
    commit: Commit
    cause: tuple[Cause, ...]
    """What changed since this iteration was last scored; ``outputs`` is first if it is among them."""
    outputs: tuple[Blob, ...]
    """The files of the output, by path; empty if the output is missing from the iteration."""
    ground_truth: Blob | None = None
    mapping: Blob | None = None
    schema: Blob | None = None
    settings: str = "{}"
    """The settings of the eval, as canonical JSON: all that scoring depends on besides blobs."""
    recorded: tuple[Blob, ...] = ()
    """The records beside the output, such as ``eval-results.json``; those with metrics come first."""
    recorded_at: str | None = None
    """The recorded timestamp, ISO 8601."""
    made_at: str | None = None
    """Id of the commit with the output's instructions, if the output records it or hashes of instruction files."""
    deleted: bool = False
    """Whether the iteration's folder does not exist any more at the built revision."""
    runs: tuple[Blob, ...] = ()
    """Outputs of repeated runs of this iteration, ``runs/K/extracted.json``."""
    recorded_metrics: dict[str, float] = field(default_factory=dict)
    """Pages show these beside the computed metrics, never in their place."""
    usage: RunUsage | None = None
    """The recorded usage and model of the run; None if neither is recorded."""
    grades: tuple[str, ...] = ()
    """Named scores of its output with values that are neither right nor wrong, which decide for the whole series."""

    @property
    def scored(self) -> tuple[Blob, ...]:
        """The files that its score is computed from."""
        return tuple(blob for blob in (*self.outputs, self.ground_truth, self.mapping, self.schema) if blob)

    @property
    def repeated_runs(self) -> "list[Snapshot]":
        """Each repeated run of the iteration as a snapshot, also if its output cannot be read. A run is a folder."""
        folders = grouped((blob.path.rpartition("/")[0], blob) for blob in self.runs)
        return [replace(self, outputs=tuple(blobs), runs=(), usage=None) for blobs in folders.values()]

    @property
    def record_name(self) -> str:
        """The name of the file with the record of a run."""
        return self.recorded[0].path.rpartition("/")[2] if self.recorded else "record"

    def roles_changed_in(self, after: "Snapshot") -> RoleSet:
        """Return the roles whose contents differ, whatever the paths of the files."""
        differ = (
            self.outputs != after.outputs and self.output_contents != after.output_contents,
            self.ground_truth != after.ground_truth and _oid(self.ground_truth) != _oid(after.ground_truth),
            self._rules != after._rules and self._rule_contents != after._rule_contents,
        )
        return tuple(role for role, has_changed in zip(ROLES, differ, strict=True) if has_changed)

    def with_roles_of(self, after: "Snapshot", roles: RoleSet) -> "Snapshot":
        """Return the snapshot with these roles of another one."""
        mixed = self
        if "outputs" in roles:
            mixed = replace(mixed, outputs=after.outputs, usage=after.usage)
        if "ground_truth" in roles:
            mixed = replace(mixed, ground_truth=after.ground_truth)
        if "rules" in roles:
            mixed = replace(mixed, mapping=after.mapping, schema=after.schema, settings=after.settings)
        return mixed

    def under_rules_of(self, reference: "Snapshot") -> "Snapshot":
        """Return its outputs with the truth and the rules of another one, the second clock; itself if it has these."""
        if self.ground_truth == reference.ground_truth and self._rules == reference._rules:  # as a rule
            return self
        return self.with_roles_of(reference, ("ground_truth", "rules"))

    def judged_as(self, after: "Snapshot") -> "list[Snapshot]":
        """Return its outputs with the truth and rules of another one; none unless these changed beside the outputs."""
        roles = self.roles_changed_in(after)
        return [self.with_roles_of(after, roles[1:])] if roles[1:] and "outputs" in roles else []

    def judged_beside(self, base: "Snapshot") -> "Snapshot":
        """Return its output with the truth and rules of ``base``, if that is a later, other output; else itself."""
        return (
            self.under_rules_of(base) if self.commit.position < base.commit.position and self.judged_as(base) else self
        )

    @property
    def _rules(self) -> tuple[Blob | str | None, ...]:
        return self.mapping, self.schema, self.settings

    @property
    def _rule_contents(self) -> tuple[str | None, ...]:
        return _oid(self.mapping), _oid(self.schema), self.settings

    @property
    def output_contents(self) -> list[str]:
        """The ids of its files, after the names below their folder of several, which distinguish documents."""
        return [*names_of_several(self.outputs), *[blob.oid for blob in self.outputs]]


def names_of_several(files: Sequence[Blob]) -> list[str]:
    """Return the name of each file below the folder that holds all of them; empty unless there are several."""
    if len(files) < 2:
        return []
    parts = [file.path.split("/") for file in files]
    pairs = enumerate(zip(parts[0][:-1], parts[-1][:-1], strict=False))
    shared = next((depth for depth, (one, other) in pairs if one != other), min(len(parts[0]), len(parts[-1])) - 1)
    return ["/".join(part[shared:]) for part in parts]


def _oid(blob: Blob | None) -> str | None:
    return blob.oid if blob else None


OutputLayout: TypeAlias = Literal["iterations", "overwritten"]


class EvalHistory(Frozen):
    """One eval through history."""

    id: str
    kind: str
    layout: OutputLayout
    snapshots: tuple[Snapshot, ...]
    """In series order: by commit, within one commit by recorded timestamp, then by iteration number."""
    renamed_from: tuple[str, ...] = ()
    """Earlier folder names, oldest first."""
    deleted: bool = False
    """Whether the eval has no ground truth any more at the built revision."""

    @property
    def grades(self) -> frozenset[str]:
        """The named scores that are grades, because some output has a value that is neither right nor wrong."""
        return frozenset(name for snapshot in self.snapshots for name in snapshot.grades)

    @property
    def without_output(self) -> bool:
        """Whether the newest iteration has no output, or no output exists any more at the built revision."""
        return not self.snapshots or not self.snapshots[-1].outputs or self.snapshots[-1].deleted


EditStatus: TypeAlias = Literal["added", "modified", "deleted", "renamed", "combined"]
"""``combined``: several edits of one file as one, from its first text to its last."""


class Edit(Frozen):
    """One commit's change of one instruction file."""

    commit: Commit
    path: str
    """The path after the edit (before it, if the file was deleted)."""
    status: EditStatus
    old: Blob | None
    new: Blob | None

    @property
    def place(self) -> tuple[int, str]:
        """Its place in the order of the edits of all files."""
        return self.commit.position, self.path


class InstructionHistory(Frozen):
    """One instruction file through history, renames followed."""

    path: str
    """Its last path, which identifies it."""
    edits: tuple[Edit, ...]
    """Oldest first; at least one."""
    deleted: bool = False


class CommitRecord(Frozen):
    """What one commit changed that sitegen reads. Commits without such a change have no record."""

    commit: Commit
    changes: tuple[ChangedPath, ...]
    """The changed paths that sitegen reads, by path."""
    other_changes: int
    """Number of other changed paths; 0 if the walk did not read them."""
    snapshots: tuple[tuple[str, str], ...]
    """Every snapshot that this commit started: the id of its eval, and its slug."""
    edits: tuple[str, ...]
    """Paths (as in ``Edit.path``) of the instruction files that it edited."""
    others: tuple[ChangedPath, ...] = ()
    """The first of the other changed paths, by path."""


class RenamedEval(Frozen):
    """An eval that had another id up to a commit."""

    old: str
    position: int
    """Position of the commit that renamed its folder."""
    new: str


def ids_since(before: Mapping[str, EvalHistory], after: Mapping[str, EvalHistory]) -> dict[str, str]:
    """Return the id of each eval in other histories: that under which these have the same outputs of a commit."""
    new = [(name, at) for name in after if name not in before for at in after[name].snapshots]
    ids = {(at.commit.sha, *at.output_contents): name for name, at in new}
    old = [(name, at) for name in before if name not in after for at in before[name].snapshots]
    renamed = {name: ids[made] for name, at in old if (made := (at.commit.sha, *at.output_contents)) in ids}
    return {name: renamed.get(name, name) for name in before}


def last_id(eval_id: str, position: int, renamed: Iterable[RenamedEval]) -> str:
    """Return the last id of the eval that had this id at a commit.

    After the rename, another eval may have the same id: its commits keep it. ``position``: that of the commit;
    ``renamed``: oldest first.
    """
    for rename in renamed:
        if rename.old == eval_id and rename.position >= position:
            eval_id, position = rename.new, rename.position + 1
    return eval_id
