"""Which path means what: the conventions, the site's configuration and the built manifest in one place."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from posixpath import basename, normpath
from sys import intern
from typing import Final, Literal, NamedTuple, TypeAlias

from sitegen.config import GROUND_TRUTHS, KIND_FILES, SCORED_FILES, EvalConfig, Kind, Manifest, SiteConfig, files_of
from sitegen.history.folder_tree import FolderTree
from sitegen.history.globs import RunGlob, compiled, literal_prefix, run_glob
from sitegen.model.kinds import traits_of
from sitegen.model.recorded import WHERE
from sitegen.model.timeline import Blob

Role: TypeAlias = Literal["ground_truth", "overwritten", "output", "recorded", "run", "stranger"]

RESULTS: Final = "results"
RECORDED: Final = "eval-results.json"
RECORDS: Final = (RECORDED, "run.json", "summary.json", "metadata.json")
"""Files beside an output in which its run may state something of itself; the first that exists counts."""
REPORT: Final = "eval-report.html"
"""What ``verify-one --save`` writes beside them, for people."""
DEFAULT_SETTINGS: Final = '{"ground_truth_format":"auto"}'
LONE: Final[Kind] = "highlights"
"""The kind, and the id, of an eval whose files lie in the folder of evals itself."""

_ITERATION = re.compile(r"iteration-?([0-9]{1,9})", re.IGNORECASE)
_KINDS: Final = frozenset(files.kind for files in KIND_FILES)
_OUTPUTS: Final = frozenset(name for files in SCORED_FILES for name in files.outputs)
_OVERWRITTEN: Final = frozenset(path for files in SCORED_FILES for path in files.overwritten)
_VARIANT = re.compile("|".join(files.variants for files in KIND_FILES if files.variants))
_OUTPUT = re.compile("|".join((*map(re.escape, sorted(_OUTPUTS)), _VARIANT.pattern)))
_RUN = re.compile(rf"runs/[^/]+/(?:{_OUTPUT.pattern})")
_OWN_RESULT = re.compile(rf"{_OUTPUT.pattern}|aggregate\.json|{re.escape(RECORDED)}|run-.*\.(?:json|html)|\..*")
_LONE_FILES: Final = frozenset((*files_of(LONE).ground_truths, *files_of(LONE).overwritten))
_LONE_AT_ROOT: Final = frozenset(files_of(LONE).at_root)
_LONE_RESULT = re.compile(rf"{RESULTS}/{_ITERATION.pattern}/", re.IGNORECASE)


class PathRole(NamedTuple):
    """What a path is to an eval."""

    eval_id: str
    folder: str
    """The eval's folder that the path lies in."""
    role: Role
    iteration: str = ""
    """Name of the iteration's folder, of the run, or of the stranger."""


class EntryRules(NamedTuple):
    """What a manifest says of how an eval is scored: all that may differ from commit to commit."""

    ground_truth: str | None = None
    """Path relative to the eval's folder."""
    mapping: str | None = None
    schema: str | None = None
    settings: str = DEFAULT_SETTINGS
    borrowed: bool = False
    """Whether they are those of the built revision, at a commit whose manifest does not name the eval."""

    @classmethod
    def of(cls, entry: EvalConfig) -> EntryRules:
        """The rules of a manifest's entry."""
        settings = json.loads(entry.settings)
        settings["ground_truth_format"] = "cases" if entry.in_cases else entry.ground_truth_format
        return cls(
            normal(entry.ground_truth) if entry.ground_truth else None,
            normal(entry.mapping) if entry.mapping else None,
            normal(entry.schema) if entry.schema else None,
            json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        )


class Watched(NamedTuple):
    """Paths that some manifest of history names beyond the conventions."""

    shared: frozenset[str] = frozenset()
    """Mappings, schemas and ground truths outside their eval's folder, relative to the repository."""
    ground_truths: frozenset[str] = frozenset()
    """Ground truths relative to an eval's folder."""

    def __or__(self, other: object) -> Watched:
        assert isinstance(other, Watched)
        return Watched(self.shared | other.shared, self.ground_truths | other.ground_truths)

    def covers(self, other: Watched) -> bool:
        """Whether nothing of the other is new."""
        return other.shared <= self.shared and other.ground_truths <= self.ground_truths


class Layout:
    """Answers what a path means at the built revision's configuration."""

    def __init__(self, site: SiteConfig, manifest: Manifest, watched: Watched) -> None:
        self._evals_dir = _folder(site.evals_dir)
        self._evals = f"{self._evals_dir}/" if self._evals_dir else ""
        self.manifest_path = f"{self._evals}manifest.yaml"
        self._entries = {entry.id: entry for entry in manifest.evals}
        self._rules = {entry.id: EntryRules.of(entry) for entry in manifest.evals}
        self._owners = self._folder_owners(manifest)
        self._sharing = [frozenset(ids) for ids in self._owners.values() if len(ids) > 1]
        self._instructions = compiled(site.instructions)
        self._globs = site.instructions
        self._mappings = tuple(normal(mapping) for mapping in site.mapping)
        self._own_mappings = tuple(mapping for mapping in self._mappings if "{dir}" in mapping)
        self.watched = watched | self.named_by(manifest)
        self._shared = self.watched.shared | {mapping for mapping in self._mappings if "{dir}" not in mapping}
        explicit = {normal(entry.outputs) for entry in manifest.evals if is_path(entry.outputs)}
        installed = tuple(files_of(entry.kind) for entry in manifest.evals if entry.kind and entry.kind not in _KINDS)
        self._installed_outputs = frozenset(name for files in installed for name in files.outputs)
        self._overwritten = _OVERWRITTEN | explicit | {path for files in installed for path in files.overwritten}
        recorded = (entry for entry in manifest.evals if traits_of(entry.kind).is_recorded)
        self._recorded = {entry.id: _recorded_files(entry) for entry in recorded}
        self._runs = {entry.id: globbed for entry in manifest.evals if (globbed := runs_of(entry)) is not None}
        truths = (name for files in installed for name in files.ground_truths)
        self._truths = frozenset({*GROUND_TRUTHS, *self.watched.ground_truths, *truths})

    @property
    def stated(self) -> tuple[str, ...]:
        """Ids of the evals that the built manifest names."""
        return tuple(self._entries)

    def entry(self, eval_id: str) -> EvalConfig:
        """The built manifest's entry, or the defaults."""
        return self._entries.get(eval_id) or EvalConfig(id=eval_id)

    def rules(self, eval_id: str) -> EntryRules:
        """What the built manifest says of how the eval is scored, or the defaults."""
        return self._rules.get(eval_id) or EntryRules()

    def folders(self, eval_id: str) -> tuple[str, ...]:
        """Where the eval may live, the best place first: its folder, earlier names of it, the folder of its id."""
        entry = self.entry(eval_id)
        stated = [_folder(entry.dir)] if entry.dir else []
        aliases = (self._alias(alias) for alias in entry.aliases)
        lone = [self._evals_dir] if eval_id == LONE and self._evals_dir else []
        return tuple(dict.fromkeys([*stated, *aliases, f"{self._evals}{eval_id}", *lone]))

    def named_by(self, manifest: Manifest) -> Watched:
        """The paths that a manifest names."""
        shared, truths = set(), set()
        for entry in manifest.evals:
            rules = EntryRules.of(entry)
            folder = _folder(entry.dir) if entry.dir else f"{self._evals}{entry.id}"
            shared |= {path.replace("{dir}", folder) for path in (rules.mapping, rules.schema) if path}
            if rules.ground_truth and rules.ground_truth.startswith("../"):
                shared.add(normal(f"{folder}/{rules.ground_truth}"))
            elif rules.ground_truth:
                truths.add(rules.ground_truth)
        return Watched(frozenset(shared), frozenset(truths))

    def places(self, path: str) -> tuple[PathRole, ...]:
        """What a path is to each eval that it belongs to: to several only if the manifest gives them one folder."""
        if self._evals and path in _LONE_AT_ROOT:
            return (PathRole(eval_id=LONE, folder=self._evals_dir, role="overwritten"),)
        for eval_ids, folder in self._owners_of(path):
            inside = path[len(folder) + 1 :] if folder else path
            candidates = [self._place(eval_id, folder, inside) for eval_id in eval_ids]
            roles = tuple([place for place in candidates if place is not None])
            if roles:
                return roles
        return ()

    def share_folder(self, eval_id: str, other: str) -> bool:
        """Whether the manifest gives two different evals one folder."""
        return eval_id != other and any({eval_id, other} <= ids for ids in self._sharing)

    def _place(self, eval_id: str, folder: str, inside: str) -> PathRole | None:
        recorded = self._recorded.get(eval_id)
        if inside in self._truths and recorded is None:
            return PathRole(eval_id=eval_id, folder=folder, role="ground_truth")
        if eval_id in self._runs:
            runs = self._runs[eval_id]
            if (run := runs.name(inside)) is not None:
                return PathRole(eval_id=eval_id, folder=folder, role="output", iteration=run)
            start, _, name = inside.rpartition("/")
            run = runs.folder_name(start) if name in RECORDS and recorded is None else None
            return None if run is None else PathRole(eval_id=eval_id, folder=folder, role="recorded", iteration=run)
        if recorded is not None:
            return PathRole(eval_id=eval_id, folder=folder, role="overwritten") if inside in recorded else None
        if inside in self._overwritten or _VARIANT.fullmatch(inside.removeprefix(f"{RESULTS}/")):
            return PathRole(eval_id=eval_id, folder=folder, role="overwritten")
        if not inside.startswith(f"{RESULTS}/"):
            return None
        name, _, rest = inside[len(RESULTS) + 1 :].partition("/")
        if iteration_number(name) is None or not rest:
            return (
                None
                if _OWN_RESULT.fullmatch(name)
                else PathRole(eval_id=eval_id, folder=folder, role="stranger", iteration=name)
            )
        if _OUTPUT.fullmatch(rest) or rest in self._installed_outputs:
            return PathRole(eval_id=eval_id, folder=folder, role="output", iteration=name)
        if rest in RECORDS:
            return PathRole(eval_id=eval_id, folder=folder, role="recorded", iteration=name)
        return PathRole(eval_id=eval_id, folder=folder, role="run", iteration=name) if _RUN.fullmatch(rest) else None

    def is_instruction(self, path: str) -> bool:
        """Whether the path is an instruction file's."""
        return self._instructions.fullmatch(path) is not None

    def is_shared(self, path: str) -> bool:
        """Whether the path may be a mapping, a schema, or a ground truth outside its eval's folder."""
        if path in self._shared:
            return True
        folders = [folder for _, folder in self._owners_of(path)] if self._own_mappings else []
        return any(own.replace("{dir}", folder) == path for own in self._own_mappings for folder in folders)

    def hides(self, path: str) -> bool:
        """Whether something that is read could lie below a path, were it a folder."""
        below = f"{path}/"
        if any(spec == path or spec.startswith(below) for spec in self.pathspecs):
            return True
        return any(_hides(below[len(folder) + 1 :]) for _, folder in self._owners_of(f"{below}x"))

    @property
    def pathspecs(self) -> tuple[str, ...]:
        """Literal folders and files that hold everything that is read; empty: the whole repository."""
        named = {self._evals_dir, *self._owners, *self._shared, *_LONE_AT_ROOT}
        named |= {literal_prefix(glob) for glob in self._globs}
        roots = {root for root in named if not f"{root}/".startswith("../")}  # git refuses what lies outside
        if "" in roots:
            return ()
        return tuple(sorted(root for root in roots if not any(root.startswith(f"{other}/") for other in roots)))

    def mapping(self, rules: EntryRules, folder: str, shared: Mapping[str, str]) -> Blob | None:
        """The field mapping in force: the one that the rules name, else the first of the site's that exists."""
        candidates = (rules.mapping,) if rules.mapping else self._mappings
        return first_blob((path.replace("{dir}", folder) for path in candidates), shared)

    def _folder_owners(self, manifest: Manifest) -> dict[str, tuple[str, ...]]:
        """The ids of the evals that each named folder belongs to, sorted."""
        homes = {entry.id: _folder(entry.dir) if entry.dir else f"{self._evals}{entry.id}" for entry in manifest.evals}
        owners: dict[str, tuple[str, ...]] = {_folder(entry.dir): () for entry in manifest.evals if entry.dir}
        for eval_id, home in homes.items():
            if home in owners:
                owners[home] = (*owners[home], eval_id)
        aliases: dict[str, tuple[str, ...]] = {}
        for entry in manifest.evals:
            for alias in dict.fromkeys(map(self._alias, entry.aliases)):
                others = aliases.get(alias, ())
                if not others or homes[others[0]] == homes[entry.id]:  # otherwise all of it counts for the first
                    aliases[alias] = (*others, entry.id)
        return {folder: tuple(sorted(ids)) for folder, ids in {**aliases, **owners}.items()}

    def _alias(self, alias: str) -> str:
        return _folder(alias) if "/" in alias else f"{self._evals}{alias}"

    def _owners_of(self, path: str) -> Iterator[tuple[tuple[str, ...], str]]:
        """(eval ids, folder) that a path may lie in: the deepest folder that is named, then the convention.

        The convention counts as well where the named folder holds all evals: there it says more.
        """
        named = self._named_folder(path)
        if named is not None:
            yield self._owners[named], named
            if named != self._evals_dir:
                return
        if not path.startswith(self._evals):
            return
        inside = path[len(self._evals) :]
        if self._evals and (inside in _LONE_FILES or _LONE_RESULT.match(inside)):
            yield (LONE,), self._evals_dir
            return
        name, slash, _ = inside.partition("/")
        if slash:
            yield (name,), f"{self._evals}{name}"

    def _named_folder(self, path: str) -> str | None:
        end = path.rfind("/")
        while end > 0 and self._owners:
            if path[:end] in self._owners:
                return path[:end]
            end = path.rfind("/", 0, end)
        # An eval that lies at the top has what lies at the top.
        return "" if "" in self._owners and "/" not in path else None


def structure_digest(site: SiteConfig, manifest: Manifest) -> str:
    """A digest of what decides how all of history is read: if it changes, the timeline is made anew."""
    entries = [
        (entry.id, entry.dir, entry.aliases, entry.kind, entry.outputs, entry.instructions)
        for entry in sorted(manifest.evals, key=lambda entry: entry.id)
    ]
    read = (site.first_parent, site.instructions, site.evals_dir, site.mapping, site.limits.max_blob_bytes, entries)
    return hashlib.sha256(json.dumps(read).encode()).hexdigest()


def _hides(inside: str) -> bool:
    """Whether what is read of an eval could lie in a folder of its own, by the folder's path there."""
    first, _, rest = inside.partition("/")
    return not inside or inside == f"{RESULTS}/" or (first == RESULTS and iteration_number(rest[:-1]) is not None)


def required_statements(entry: EvalConfig) -> dict[str, str]:
    """What a run must state of itself to belong to a recorded eval; empty: every file that ``outputs`` names does."""
    where = json.loads(entry.settings).get(WHERE) if traits_of(entry.kind).is_recorded else None
    return {key: str(value) for key, value in where.items()} if isinstance(where, dict) else {}


def _recorded_files(entry: EvalConfig) -> frozenset[str]:
    """Where the numbers of a recorded eval may stand, relative to its folder, if no glob names runs."""
    return frozenset((normal(entry.outputs),) if is_path(entry.outputs) else files_of(str(entry.kind)).overwritten)


def iteration_number(name: str) -> int | None:
    """The number of ``iteration-012``; None if the folder's name is no iteration's."""
    match = _ITERATION.fullmatch(name)
    return int(match[1]) if match else None


def kind_of(entry: EvalConfig, ground_truth: str | None) -> Kind:
    """The kind that the manifest states, else that of the ground truth's name."""
    if entry.kind:
        return entry.kind
    name = ground_truth.rpartition("/")[2] if ground_truth else ""
    return next((files.kind for files in KIND_FILES if name in files.ground_truths), "fields")


def outputs_in(
    folder: str, names: Iterable[str], files: FolderTree, variants: str = "", *, elsewhere: Iterable[str] = ()
) -> tuple[Blob, ...]:
    """The output files of a folder: those of several variants together, by path, else the first of the names.

    Variants may also lie *elsewhere*, in other folders.
    """
    first = first_blob((f"{folder}/{name}" if folder else name for name in names), files)
    if not variants:
        return (first,) if first else ()
    is_variant = re.compile(variants)
    of_variants = [
        Blob(f"{place}/{name}", oid)
        for place in (folder, *elsewhere)
        for name, oid in files.folder(place).files.items()
        if is_variant.fullmatch(name)
    ]
    return tuple(sorted((*of_variants, *((first,) if first else ()))))


def first_blob(paths: Iterable[str], files: FolderTree | Mapping[str, str]) -> Blob | None:
    """The first of the paths that there is a file at. *files* gives the blob id of a path."""
    return next((Blob(intern(path), oid) for path in paths if (oid := files.get(path)) is not None), None)


def is_path(outputs: str) -> bool:
    """Whether a manifest's ``outputs`` names one file, which is overwritten from commit to commit."""
    return outputs not in ("auto", "iterations") and not is_glob(outputs)


def is_glob(outputs: str) -> bool:
    """Whether a manifest's ``outputs`` names runs by a glob."""
    return any(special in outputs for special in "*?[")


def runs_of(entry: EvalConfig) -> RunGlob | None:
    """The glob of an eval's runs; None if its outputs are not named by one."""
    return run_glob(normal(entry.outputs)) if is_glob(entry.outputs) else None


def folder_name(folder: str) -> str:
    """What a folder is called without the folders above it."""
    return basename(folder)


def normal(path: str) -> str:
    """A path as git writes it: no ``./``, no slash at either end, no way up and down again."""
    return normpath(path.strip("/"))


def _folder(path: str) -> str:
    folder = normal(path)
    return "" if folder == "." else folder
