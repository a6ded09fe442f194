"""The stored state of the fold, from which the next build continues, in parts so that one commit loads only a few."""

import json
from collections.abc import Hashable, Iterator
from functools import cache
from typing import Any, Final, Protocol, TypeVar, cast

import msgspec
from msgspec import field

from sitegen.history.entry_rules import EntryRules
from sitegen.history.folder_tree import FolderTree
from sitegen.history.layout import Watched
from sitegen.history.memo_rows import stored
from sitegen.model.commits import Commit
from sitegen.model.named_tuple import NamedTuple
from sitegen.model.problems import Problem
from sitegen.model.timeline import Blob, InstructionHistory, RenamedEval, Snapshot

STATE: Final = "state"
EVAL: Final = "eval"
INSTRUCTION: Final = "instruction"
KINDS: Final = (STATE, EVAL, INSTRUCTION)

GLOBAL: Final = "global"
PROBLEMS: Final = "problems"

T = TypeVar("T")


class PartStore(Protocol):
    """A store of bytes by kind and key. Either everything that was put into it is returned later, or nothing."""

    def get(self, kind: str, key: str) -> bytes | None:
        """Return the stored content, or None."""

    def put(self, kind: str, key: str, content: bytes) -> None:
        """Store a content, replacing any earlier one."""

    def delete(self, kind: str, key: str) -> None:
        """Delete the content, if there is one."""

    def keys(self, kind: str) -> tuple[str, ...]:
        """Return all keys of a kind."""


class CopiedParts:
    """A copy of a store that can be changed without changing the original."""

    def __init__(self, parts: PartStore | None = None) -> None:
        self._parts = parts
        self._own: dict[tuple[str, str], bytes | None] = {}

    def get(self, kind: str, key: str) -> bytes | None:
        """Return the content in the copy, otherwise the original."""
        if (kind, key) in self._own:
            return self._own[kind, key]
        return self._parts.get(kind, key) if self._parts else None

    def put(self, kind: str, key: str, content: bytes) -> None:
        """Store a content in the copy."""
        self._own[kind, key] = content

    def delete(self, kind: str, key: str) -> None:
        """Delete a content from the copy."""
        self._own[kind, key] = None

    def keys(self, kind: str) -> tuple[str, ...]:
        """Return all keys of a kind, in the copy and in the original."""
        originals = self._parts.keys(kind) if self._parts else ()
        keys = {*originals, *(key for own_kind, key in self._own if own_kind == kind)}
        return tuple(sorted(key for key in keys if self._own.get((kind, key), b"") is not None))


class EvalInputs(NamedTuple):
    """The inputs of scoring an eval besides its outputs."""

    ground_truth: Blob | None = None
    mapping: Blob | None = None
    schema: Blob | None = None
    settings: str = ""


class SeriesIteration(msgspec.Struct):
    """One iteration: a folder, or one version of an overwritten output."""

    number: int
    slug: str
    points: list[int] = field(default_factory=list)
    """Indices of its snapshots in the series."""
    present: bool = True


class SeriesState(msgspec.Struct):
    """One candidate for an eval's series: its iterations, or the versions of an overwritten output."""

    snapshots: list[Snapshot] = field(default_factory=list)
    units: dict[str, SeriesIteration] = field(default_factory=dict)
    """Iterations by folder name, or versions by number, in the order of their first commits."""
    waiting: dict[str, bool] = field(default_factory=dict)
    """Names of iterations that were added or changed while there was no ground truth."""
    slugs: dict[str, bool] = field(default_factory=dict)
    """Slugs in use."""


class SideBlobs(NamedTuple):
    """For a version of a case file: the first blobs with the same expected values and with the same outputs."""

    expected: str
    output: str


class EvalState(msgspec.Struct):
    """One eval at the last folded commit."""

    id: str
    folders: list[str]
    """The folders that it may be in, by precedence."""
    active: str | None = None
    """The folder that it is in."""
    renamed_from: list[str] = field(default_factory=list)
    files: FolderTree = field(default_factory=FolderTree)
    """Every file of its folders that sitegen reads, by its path from the root of the repository."""
    newest_run: str | None = None
    """The last by name of the runs that a glob matches; None if it is not determined yet."""
    with_runs: dict[str, bool] = field(default_factory=dict)
    """Names of iterations that ever had repeated runs."""
    strangers: dict[str, bool] = field(default_factory=dict)
    """Names below ``results/`` that were reported because they are not names of iterations."""
    inputs: EvalInputs | None = None
    """The inputs in force; None before the first commit that touched the eval."""
    was_scorable: bool = False
    """Whether there ever was ground truth, or files that are judged already. Other evals are not displayed."""
    iterations: SeriesState = field(default_factory=SeriesState)
    overwritten: SeriesState = field(default_factory=SeriesState)
    output: tuple[Blob, ...] = ()
    """The files of the current overwritten output."""
    sides: dict[str, SideBlobs] = field(default_factory=dict)
    """The sides of each version of a case file, by its blob id."""
    first_with: dict[str, str] = field(default_factory=dict)
    """Digest of a side -> the first blob that had it."""


class FoldState(msgspec.Struct):
    """The small part that every build loads. Its size does not grow with the number of commits."""

    structure: str
    boundary: tuple[str, ...]
    head: Commit | None = None
    rules: dict[str, EntryRules] = field(default_factory=dict)
    """The rules of the newest readable manifest, by eval id."""
    rule_folders: dict[str, str] = field(default_factory=dict)
    """The eval id of each folder that this manifest names."""
    shared: dict[str, str] = field(default_factory=dict)
    """Path -> blob id of mappings, schemas and ground truths outside their eval's folder."""
    evals: dict[str, str | None] = field(default_factory=dict)
    """Id -> active folder of every eval, or possible eval, that has a part of its own."""
    scorable: dict[str, bool] = field(default_factory=dict)
    """Ids of the evals that are displayed."""
    shared_paths: list[str] = field(default_factory=list)
    ground_truth_names: list[str] = field(default_factory=list)
    backward_dates: int = 0
    """Number of commits that are dated before their parent."""


class StartOverError(Exception):
    """Continuing from the state would give another result than starting from the root."""

    def __init__(self, watched: Watched | None = None, renamed: RenamedEval | None = None) -> None:
        """The arguments are for the next attempt: paths to follow, and an eval that is renamed later."""
        super().__init__()
        self.watched = watched or Watched()
        self.renamed = (renamed,) if renamed else ()


def encode(value: object) -> bytes:
    """Encode a part as JSON."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        # Paths that are not UTF-8 carry surrogate escapes, which only the standard library writes.
        return json.dumps(msgspec.to_builtins(value)).encode()


def decode(content: bytes, kind: type[T]) -> T:
    """Decode a part from JSON. Raises ValueError if it is not of this type."""
    try:
        value: T = _decoder(cast("Hashable", kind)).decode(content)
        return value
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(content), kind)


@cache
def _decoder(kind: Any) -> Any:
    return msgspec.json.Decoder(kind)


class FoldStore:
    """The parts as values, each loaded separately."""

    def __init__(self, parts: PartStore) -> None:
        self._parts = parts

    def state(self) -> FoldState | None:
        """Return the small part; None if there is none, or if this version cannot read it."""
        try:
            return self._get(STATE, GLOBAL, FoldState)
        except ValueError:
            return None

    def eval(self, eval_id: str) -> EvalState | None:
        """Return the part of an eval."""
        return self._get(EVAL, eval_id, EvalState)

    def instruction(self, path: str) -> InstructionHistory | None:
        """Return the part of an instruction file."""
        return self._get(INSTRUCTION, path, InstructionHistory)

    def problems(self) -> list[Problem]:
        """Return all stored problems."""
        return self._get(STATE, PROBLEMS, list[Problem]) or []

    def clear(self) -> None:
        """Delete all parts."""
        for kind in KINDS:
            for key in self._parts.keys(kind):
                self._parts.delete(kind, key)

    def _get(self, kind: str, name: str, shape: type[T]) -> T | None:
        content = self._parts.get(kind, stored(name))
        return None if content is None else decode(content, shape)

    def put(self, kind: str, name: str, value: object | None) -> None:
        """Store a part: the value, as bytes, under its kind and name. None: delete the part."""
        if value is None:
            self._parts.delete(kind, stored(name))
        else:
            self._parts.put(kind, stored(name), encode(value))

    def instructions(self) -> Iterator[InstructionHistory]:
        """Yield the part of every instruction file, by path."""
        histories = (self._parts.get(INSTRUCTION, key) for key in self._parts.keys(INSTRUCTION))
        decoded = [decode(content, InstructionHistory) for content in histories if content is not None]
        yield from sorted(decoded, key=lambda history: history.path)

    def evals(self) -> Iterator[EvalState]:
        """Yield the part of every eval, by id."""
        contents = (self._parts.get(EVAL, key) for key in self._parts.keys(EVAL))
        states = [decode(content, EvalState) for content in contents if content is not None]
        yield from sorted(states, key=lambda state: state.id)
