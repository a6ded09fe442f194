"""The stored state of the fold, from which the next build goes on. It is in parts, so that one commit loads few."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, NamedTuple, Protocol, TypeVar, cast

import msgspec

from sitegen.frozen import Frozen
from sitegen.history.entry_rules import EntryRules
from sitegen.history.folder_tree import FolderTree
from sitegen.history.layout import Watched
from sitegen.model.commits import Commit
from sitegen.model.problems import Problem
from sitegen.model.timeline import Blob, InstructionHistory, Snapshot

STATE: Final = "state"
EVAL: Final = "eval"
INSTRUCTION: Final = "instruction"
KINDS: Final = (STATE, EVAL, INSTRUCTION)

GLOBAL: Final = "global"
PROBLEMS: Final = "problems"

T = TypeVar("T")


class PartStore(Protocol):
    """A store of bytes by kind and key. Everything put into it must come back together, or not at all."""

    def get(self, kind: str, key: str) -> bytes | None:
        """The stored content, or None."""

    def put(self, kind: str, key: str, content: bytes) -> None:
        """Store a content in place of the former one."""

    def delete(self, kind: str, key: str) -> None:
        """Delete the content, if there is one."""

    def keys(self, kind: str) -> tuple[str, ...]:
        """All keys of a kind."""


class CopiedParts:
    """A copy of parts that can be changed without changing the originals."""

    def __init__(self, parts: PartStore | None = None) -> None:
        self._parts = parts
        self._own: dict[tuple[str, str], bytes | None] = {}

    def get(self, kind: str, key: str) -> bytes | None:
        """The content of the copy, else the original."""
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
        """All keys of a kind, of the copy and of the originals."""
        originals = self._parts.keys(kind) if self._parts else ()
        keys = {*originals, *(key for own_kind, key in self._own if own_kind == kind)}
        return tuple(sorted(key for key in keys if self._own.get((kind, key), b"") is not None))


class EvalInputs(NamedTuple):
    """What scoring an eval depends on besides its outputs."""

    ground_truth: Blob | None = None
    mapping: Blob | None = None
    schema: Blob | None = None
    settings: str = ""


@dataclass(slots=True)
class SeriesIteration:
    """One iteration: a folder, or one version of an overwritten output."""

    number: int
    slug: str
    points: list[int] = field(default_factory=list)
    """Indices of its snapshots in the series."""
    present: bool = True


@dataclass(slots=True)
class SeriesState:
    """One candidate for an eval's series: its iterations, or the versions of an overwritten output."""

    snapshots: list[Snapshot] = field(default_factory=list)
    units: dict[str, SeriesIteration] = field(default_factory=dict)
    """By the name of the iteration's folder, or by the number of the version, in the order of their first commits."""
    waiting: dict[str, bool] = field(default_factory=dict)
    """Names of iterations that were added or changed while there was no ground truth."""
    slugs: dict[str, bool] = field(default_factory=dict)
    """Slugs in use."""


class SideBlobs(NamedTuple):
    """For a version of a case file: the first blob with the same expected values, and that with the same outputs."""

    expected: str
    output: str


@dataclass(slots=True)
class EvalState:
    """One eval at the last folded commit."""

    id: str
    folders: list[str]
    """Where it may live, the best place first."""
    active: str | None = None
    """The folder that it lives in."""
    renamed_from: list[str] = field(default_factory=list)
    files: FolderTree = field(default_factory=FolderTree)
    """Every file of its folders that is read, by its path from the root of the repository."""
    newest_run: str | None = None
    """The last by name of the runs that a glob names; None: not determined yet."""
    with_runs: dict[str, bool] = field(default_factory=dict)
    """Names of iterations that ever had repeated runs."""
    strangers: dict[str, bool] = field(default_factory=dict)
    """Names below ``results/`` that were reported."""
    inputs: EvalInputs | None = None
    """The inputs in force; None before the first commit that touched the eval."""
    was_scorable: bool = False
    """Whether there ever was ground truth, or files that are judged already. Other evals are not displayed."""
    iterations: SeriesState = field(default_factory=SeriesState)
    overwritten: SeriesState = field(default_factory=SeriesState)
    output: tuple[Blob, ...] = ()
    """The current overwritten output."""
    sides: dict[str, SideBlobs] = field(default_factory=dict)
    """For each version of a case file."""
    first_with: dict[str, str] = field(default_factory=dict)
    """Digest of a side -> the first blob that had it."""


@dataclass(slots=True)
class FoldState:
    """The small part that every build loads. Nothing in it grows with the number of commits."""

    structure: str
    boundary: tuple[str, ...]
    head: Commit | None = None
    rules: dict[str, EntryRules] = field(default_factory=dict)
    """By eval id, of the newest readable manifest."""
    rule_folders: dict[str, str] = field(default_factory=dict)
    """Folder -> eval id, of that manifest."""
    borrowed: dict[str, EntryRules] = field(default_factory=dict)
    """By eval id: rules of the built revision that scored commits whose manifest did not name the eval."""
    shared: dict[str, str] = field(default_factory=dict)
    """Path -> blob id of mappings, schemas and ground truths outside their eval's folder."""
    evals: dict[str, str | None] = field(default_factory=dict)
    """Id -> active folder of every eval, or possible eval, that has a part of its own."""
    scorable: dict[str, bool] = field(default_factory=dict)
    """Ids of the evals that are displayed."""
    shared_paths: list[str] = field(default_factory=list)
    ground_truth_names: list[str] = field(default_factory=list)
    backward_dates: int = 0
    """Commits that are dated before their parent."""


class Renamed(Frozen):
    """An eval that had another id up to a commit, and has other ``outputs`` in the manifest under the new one."""

    old: str
    position: int
    """Position of the commit that renamed its folder."""
    new: str


class StartOverError(Exception):
    """Going on from the state would give another result than starting from the root."""

    def __init__(self, watched: Watched | None = None, renamed: Renamed | None = None) -> None:
        """The arguments are what the next attempt has to know: paths to follow, an eval that is renamed later."""
        super().__init__()
        self.watched = watched or Watched()
        self.renamed = (renamed,) if renamed else ()


def encode(value: object) -> bytes:
    """A part as JSON."""
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
    """The parts as values, each loaded on its own."""

    def __init__(self, parts: PartStore) -> None:
        self._parts = parts

    def state(self) -> FoldState | None:
        """The small part; None if there is none, or this version cannot read it."""
        try:
            return self._get(STATE, GLOBAL, FoldState)
        except ValueError:
            return None

    def eval(self, eval_id: str) -> EvalState | None:
        """One eval's part."""
        return self._get(EVAL, eval_id, EvalState)

    def instruction(self, path: str) -> InstructionHistory | None:
        """One instruction file's part."""
        return self._get(INSTRUCTION, path, InstructionHistory)

    def problems(self) -> list[Problem]:
        """All stored problems."""
        return self._get(STATE, PROBLEMS, list[Problem]) or []

    def clear(self) -> None:
        """Delete all parts."""
        for kind in KINDS:
            for key in self._parts.keys(kind):
                self._parts.delete(kind, key)

    def put_state(self, state: FoldState) -> None:
        """Store the small part."""
        self._put(STATE, GLOBAL, state)

    def put_problems(self, problems: list[Problem]) -> None:
        """Store all problems."""
        self._put(STATE, PROBLEMS, problems)

    def put_eval(self, eval_id: str, state: EvalState | None) -> None:
        """Store one eval's part, or delete it."""
        self._put(EVAL, eval_id, state)

    def put_instruction(self, path: str, history: InstructionHistory | None) -> None:
        """Store one instruction file's part, or delete it."""
        self._put(INSTRUCTION, path, history)

    def _get(self, kind: str, name: str, shape: type[T]) -> T | None:
        content = self._parts.get(kind, stored(name))
        return None if content is None else decode(content, shape)

    def _put(self, kind: str, name: str, value: object | None) -> None:
        if value is None:
            self._parts.delete(kind, stored(name))
        else:
            self._parts.put(kind, stored(name), encode(value))

    def instructions(self) -> Iterator[InstructionHistory]:
        """Every instruction file's part, by path."""
        histories = (self._parts.get(INSTRUCTION, key) for key in self._parts.keys(INSTRUCTION))
        decoded = [decode(content, InstructionHistory) for content in histories if content is not None]
        yield from sorted(decoded, key=lambda history: history.path)

    def evals(self) -> Iterator[EvalState]:
        """Every eval's part, by id."""
        contents = (self._parts.get(EVAL, key) for key in self._parts.keys(EVAL))
        states = [decode(content, EvalState) for content in contents if content is not None]
        yield from sorted(states, key=lambda state: state.id)


def stored(name: str) -> str:
    """A path, or an id made from one, as text that SQLite can store: bytes that are not UTF-8 are escaped."""
    return name if name.isascii() else name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
