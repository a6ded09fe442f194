"""Determines what a path means and how an eval is scored, from conventions, configuration and manifest."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from posixpath import basename, join, normpath
from typing import Any, Final, Literal, TypeAlias

from sitegen.config.findings import ANSWERED_IN, folder_path, home_of
from sitegen.config.models import (
    GROUND_TRUTHS,
    INSTRUCTIONS,
    KIND_FILES,
    SCORED_FILES,
    EvalConfig,
    Kind,
    Manifest,
    SiteConfig,
    files_of,
)
from sitegen.data_files.folders import DATA, may_hold_document
from sitegen.history.folder_tree import first_blob
from sitegen.history.globs import RunGlob, run_glob
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.metrics import traits_of
from sitegen.model.timeline import Blob, RenamedEval
from sitegen.text.globs import compiled, escaped, literal_prefix

DEFAULT_SETTINGS: Final = '{"ground_truth_format":"auto"}'


class EntryRules(Frozen):
    """The rules by which a manifest scores an eval, which can differ from commit to commit."""

    ground_truth: str | None = None
    """Path relative to the eval's folder."""
    mapping: str | None = None
    schema: str | None = None
    settings: str = DEFAULT_SETTINGS
    borrowed: bool = False
    """Whether the rules are those of the built revision, because the commit's manifest does not name the eval."""

    @classmethod
    def of(cls, entry: EvalConfig) -> EntryRules:
        """Return the rules of a manifest's entry."""
        settings = json.loads(entry.settings)
        settings["ground_truth_format"] = "cases" if entry.in_cases else entry.ground_truth_format
        if entry.answered_in:
            settings[ANSWERED_IN] = join(escaped(folder_path(entry.dir or entry.id)), entry.answered_in)
        return cls(
            normal(entry.ground_truth) if entry.ground_truth else None,
            normal(entry.mapping) if entry.mapping else None,
            normal(entry.schema) if entry.schema else None,
            canonical_settings(settings),
        )


def canonical_settings(settings: Mapping[str, Any]) -> str:
    """Return settings as JSON that is the same for equal settings."""
    return json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


_KIND_BY_TRUTH: Final = {name: files.kind for files in reversed(KIND_FILES) for name in files.ground_truths}


def kind_of(entry: EvalConfig, ground_truth: str | None) -> Kind:
    """Return the kind that the manifest states, otherwise the kind implied by the name of the ground truth."""
    return entry.kind or _KIND_BY_TRUTH.get(basename(ground_truth or ""), "fields")


def truth_names(kind: Kind | None, stated: str | None) -> tuple[str, ...]:
    """Return the names that a ground truth can have: the stated one, otherwise those of the kind by convention.

    A kind that needs no ground truth has only stated test cases, whose expected texts are shown.
    """
    conventional = files_of(kind).ground_truths if kind else GROUND_TRUTHS
    if stated is None:
        return conventional
    return (stated,) if conventional or stated.endswith(files_of("responses").ground_truths) else ()


def is_path(outputs: str) -> bool:
    """Whether a manifest's ``outputs`` names files that are overwritten from commit to commit."""
    return outputs not in ("auto", "iterations") and not is_glob(outputs)


def is_in_output(entry: EvalConfig, inside: str) -> bool:
    """Whether a path of the eval's folder is a file of its output, which is a folder or names who answered."""
    if not is_path(entry.outputs) or not may_hold_document(inside):
        return False
    if entry.answered_in:
        return compiled((entry.answered_in,)).fullmatch(inside) is not None
    return inside.startswith(f"{normal(entry.outputs)}/")


def is_glob(outputs: str) -> bool:
    """Whether a manifest's ``outputs`` names runs by a glob."""
    return any(special in outputs for special in "*?[")


def runs_of(entry: EvalConfig) -> RunGlob | None:
    """Return the glob of an eval's runs; None if ``outputs`` is not a glob."""
    files = f"/**/*.{{{','.join(sorted(DATA))}}}" if entry.outputs.endswith("/") else ""  # each folder is a run
    return run_glob(entry.answered_in or f"{normal(entry.outputs)}{files}") if is_glob(entry.outputs) else None


def normal(path: str) -> str:
    """Return a path as git writes it: without ``./``, ``..`` or slashes at its ends."""
    return normpath(path.strip("/"))


FileRole: TypeAlias = Literal["ground_truth", "overwritten", "output", "recorded", "run", "stranger"]

RESULTS: Final = "results"
RECORDED: Final = "eval-results.json"
_RECORDS: Final = ("run", "summary", "metadata", "meta", "config", "params", "metrics")
_OTHER_RECORDS: Final = tuple(f"{name}.{ending}" for name in _RECORDS for ending in ("json", "yaml", "yml"))
REPORT: Final = "eval-report.html"
"""The report for people that ``verify-one --save`` writes beside them."""
LONE: Final[Kind] = "highlights"
"""The kind, which is also the id, of an eval whose files are directly in the folder of evals."""

_ITERATION = re.compile(r"iteration-?([0-9]{1,9})", re.IGNORECASE)
_OUTPUTS: Final = frozenset(name for files in SCORED_FILES for name in files.outputs)
_OVERWRITTEN: Final = frozenset(path for files in SCORED_FILES for path in files.overwritten)
_VARIANT = re.compile("|".join(files.variants for files in KIND_FILES if files.variants))
_OUTPUT = re.compile("|".join((*map(re.escape, sorted(_OUTPUTS)), _VARIANT.pattern)))
_RUN: Final = rf"runs/[^/]+/(?:{_OUTPUT.pattern})"
_OWN_RESULT: Final = rf"{_OUTPUT.pattern}|aggregate\.json|{re.escape(RECORDED)}|run-.*\.(?:json|html)|\..*"
_LONE_FILES: Final = frozenset((*files_of(LONE).ground_truths, *files_of(LONE).overwritten))
_LONE_AT_ROOT: Final = frozenset(files_of(LONE).elsewhere)
_LONE_RESULT = re.compile(rf"{RESULTS}/{_ITERATION.pattern}/", re.IGNORECASE)


class PathRole(Frozen):
    """The role of a path in an eval."""

    eval_id: str
    folder: str
    """The eval's folder that contains the path."""
    role: FileRole
    iteration: str = ""
    """Name of the iteration's folder, of the run, or of a folder that is neither (a stranger)."""


class Watched(Frozen):
    """Paths that any manifest of the history names in addition to the conventional ones."""

    shared: frozenset[str] = frozenset()
    """Mappings, schemas and ground truths outside their eval's folder, relative to the repository."""
    ground_truths: frozenset[str] = frozenset()
    """Ground truths relative to an eval's folder."""

    def __or__(self, other: object) -> Watched:
        assert isinstance(other, Watched)
        return Watched(self.shared | other.shared, self.ground_truths | other.ground_truths)

    def covers(self, other: Watched) -> bool:
        """Whether all paths of the other value are watched here."""
        return other.shared <= self.shared and other.ground_truths <= self.ground_truths


Move: TypeAlias = tuple[str, int, str, str]
"""(id of an eval, position of a commit, folder or file before it, and since): before, its files count as if moved."""


class StartOverError(Exception):
    """A commit shows that earlier commits should have been folded otherwise."""

    def __init__(self, layout: Layout, renamed: RenamedEval | None = None) -> None:
        """The arguments are for the next attempt: which paths to follow, and an eval that is renamed later."""
        super().__init__()
        self.layout = layout
        self.renamed = (renamed,) if renamed else ()


class Layout:
    """The configuration of the built revision, which determines the role of each path."""

    def __init__(
        self, site: SiteConfig, manifest: Manifest, watched: Watched | None = None, moved: Sequence[Move] = ()
    ) -> None:
        """``watched``: paths to follow in addition to those that the manifest names. ``moved``: by position."""
        self.site, self.moved = site, moved
        self.manifest = manifest
        self._evals_dir = folder_path(site.evals_dir)
        self._evals = f"{self._evals_dir}/" if self._evals_dir else ""
        self.manifest_path = f"{self._evals}manifest.yaml"
        self._entries = {entry.id: entry for entry in manifest.evals}
        self._rules = {entry.id: EntryRules.of(entry) for entry in manifest.evals}
        self._owners = self._folder_owners(manifest)
        self._sharing = [frozenset(ids) for ids in self._owners.values() if len(ids) > 1]
        at_root = [self._entries[eval_id] for eval_id in self._owners.get("", ())]
        stated = ((entry.ground_truth, entry.outputs if is_path(entry.outputs) else None) for entry in at_root)
        self._named_from_root = {normal(path) for paths in stated for path in paths if path}
        self._globs = site.instructions
        self._instructions = compiled(tuple(glob for glob in self._globs if glob not in INSTRUCTIONS))
        self._usual_instructions = compiled(tuple(glob for glob in self._globs if glob in INSTRUCTIONS))
        self._mappings = tuple(normal(mapping) for mapping in site.mapping)
        self._own_mappings = tuple(mapping for mapping in self._mappings if "{dir}" in mapping)
        self.watched = self.named_by(manifest) | (watched or Watched())
        self._shared = self.watched.shared | {mapping for mapping in self._mappings if "{dir}" not in mapping}
        explicit = {normal(entry.outputs) for entry in manifest.evals if is_path(entry.outputs)}
        self._overwritten = _OVERWRITTEN | explicit
        self._recorded = {  # paths relative to the eval's folder
            entry.id: {normal(entry.outputs)} if is_path(entry.outputs) else {*files_of(str(entry.kind)).overwritten}
            for entry in manifest.evals
            if traits_of(entry.kind).is_recorded
        }
        self._earlier = {path: entry for entry in manifest.evals for path in entry.earlier_outputs}
        self._beside = {entry.id: _folders_of_outputs(entry) for entry in manifest.evals}
        self._runs = {entry.id: globbed for entry in manifest.evals if (globbed := runs_of(entry)) is not None}
        homes = {entry.id: home_of(entry, self._evals_dir) for entry in manifest.evals}
        inside = (join(homes[eval_id], runs.inside) for eval_id, runs in self._runs.items() if runs.inside)
        self._inside_runs = compiled(tuple(inside))
        self._truths = frozenset({*GROUND_TRUTHS, *self.watched.ground_truths})

    def with_entries(self, entries: Iterable[EvalConfig], moved: Sequence[Move] = ()) -> Layout:
        """Return the layout with other entries of some evals, and with further moves."""
        every = {entry.id: entry for entry in (*self.manifest.evals, *entries)}
        manifest = dataclasses.replace(self.manifest, evals=tuple(every.values()))
        return Layout(self.site, manifest, self.watched, (*moved, *self.moved))

    def entry(self, eval_id: str) -> EvalConfig:
        """Return the built manifest's entry of an eval, or the defaults."""
        if eval_id not in self._entries:
            self._entries[eval_id] = EvalConfig(id=eval_id)
        return self._entries[eval_id]

    def rules(self, eval_id: str) -> EntryRules:
        """Return the rules of an eval in the built manifest, or the defaults."""
        return self._rules.get(eval_id) or EntryRules()

    def folders(self, eval_id: str) -> tuple[str, ...]:
        """Return the folders where the eval may be, by precedence: its own, its earlier names, the folder of its id."""
        entry = self.entry(eval_id)
        stated = [folder_path(entry.dir)] if entry.dir else []
        lone = [self._evals_dir] if eval_id == LONE and self._evals_dir else []
        return tuple(dict.fromkeys([*stated, *self._aliases(entry), f"{self._evals}{eval_id}", *lone]))

    def named_by(self, manifest: Manifest) -> Watched:
        """Return the paths that a manifest names."""
        shared, truths = set(), set()
        for entry in manifest.evals:
            rules = EntryRules.of(entry)
            folder = home_of(entry, self._evals_dir)
            shared |= {path.replace("{dir}", folder) for path in (rules.mapping, rules.schema) if path}
            if rules.ground_truth and rules.ground_truth.startswith("../"):
                shared.add(normal(f"{folder}/{rules.ground_truth}"))
            elif rules.ground_truth:
                truths.add(rules.ground_truth)
        return Watched(frozenset(shared), frozenset(truths))

    def places(self, path: str) -> tuple[PathRole, ...]:
        """Return a path's role in each eval that it belongs to: several only if the manifest gives them one folder."""
        if self._evals and path in _LONE_AT_ROOT:
            return (PathRole(eval_id=LONE, folder=self._evals_dir, role="overwritten"),)
        if entry := self._earlier.get(path):
            return (PathRole(eval_id=entry.id, folder=home_of(entry, self._evals_dir), role="overwritten"),)
        for eval_ids, folder in () if path == self.manifest_path else self._owners_of(path):  # which is no output
            inside = path[len(folder) + 1 :] if folder else path
            found = ((eval_id, *self._role(eval_id, inside)) for eval_id in eval_ids)
            roles = [PathRole(eval_id=name, folder=folder, role=role, iteration=at) for name, role, at in found if role]
            if roles:
                return tuple(roles)
        return ()

    def place_now(self, path: str, position: int) -> str:
        """Return where a file was moved after a commit, if an eval has it since; otherwise the path itself."""
        moved = [] if not self.moved or self.places(path) else [move for move in self.moved if position <= move[1]]
        for eval_id, own in grouped((move[0], move) for move in moved).items():
            now = path
            for _, _, old, new in own:
                if not old or f"{now}/".startswith(f"{old}/"):
                    now = f"{new}/{now[len(old) :].lstrip('/')}".strip("/")
            if any(place.eval_id == eval_id for place in self.places(now)):
                return now
        return path

    def share_folder(self, first_id: str, second_id: str) -> bool:
        """Whether the manifest gives two different evals one folder."""
        return first_id != second_id and any({first_id, second_id} <= ids for ids in self._sharing)

    def _role(self, eval_id: str, inside: str) -> tuple[FileRole | None, str]:
        """Return the role of a path in the eval's folder, and the iteration, run or stranger that it belongs to."""
        recorded = self._recorded.get(eval_id)
        if recorded is None and _is_at(inside, self._truths):
            return "ground_truth", ""
        start, _, name = inside.rpartition("/")
        records = {*records_of(self.entry(eval_id).kind)} - {basename(self.entry(eval_id).outputs)}
        is_beside = name in records and start in self._beside.get(eval_id, ())
        if eval_id in self._runs:
            runs = self._runs[eval_id]
            run = runs.name(inside)
            if run is not None and not (runs.is_folder and recorded is None and name in records):
                return "output", run
            folder = start[len(runs.start) :]
            is_of_run = name in records and runs.is_folder and runs.ending and runs.name(start + runs.ending) == folder
            run = run or (folder if is_of_run else None)
            return ("recorded", run or "") if run or is_beside else (None, "")
        if recorded is not None and (inside in recorded or is_in_output(self.entry(eval_id), inside)):
            return "overwritten", ""
        if is_beside and inside not in self._overwritten:
            return "recorded", ""
        if recorded is not None:
            return None, ""
        if is_in_output(self.entry(eval_id), inside):
            return ("recorded" if name in records else "overwritten"), ""
        if inside in self._overwritten or _VARIANT.fullmatch(inside.removeprefix(f"{RESULTS}/")):
            return "overwritten", ""
        if not inside.startswith(f"{RESULTS}/") or is_path(self.entry(eval_id).outputs):
            return None, ""  # no folder among the results is an iteration, if one output is stated
        return _role_in_results(inside, records)

    def is_instruction(self, path: str) -> bool:
        """Whether the path is an instruction file's. No file of a run is one, unless a glob of the project names it."""
        if self._instructions.fullmatch(path) is not None:
            return True
        return self._usual_instructions.fullmatch(path) is not None and self._inside_runs.fullmatch(path) is None

    def is_shared(self, path: str) -> bool:
        """Whether the path may be a mapping, a schema, or a ground truth outside its eval's folder."""
        if _is_at(path, self._shared):
            return True
        like_it = [own for own in self._own_mappings if path.endswith(own.rpartition("{dir}")[2])]
        return any(own.replace("{dir}", folder) == path for own in like_it for _, folder in self._owners_of(path))

    def hides(self, path: str) -> bool:
        """Whether files that are read could be below a path, if it were a folder."""
        below = f"{path}/"
        if any(spec == path or spec.startswith(below) for spec in self.pathspecs):
            return True
        for _, folder in self._owners_of(f"{below}x"):
            inside = below[len(folder) + 1 :] if folder else below
            name = inside.removeprefix(f"{RESULTS}/")
            of_iteration = name != inside and iteration_number(name[:-1]) is not None
            holds_file = _is_at(f"{inside}x.json", self._truths | self._overwritten)
            if inside in ("", f"{RESULTS}/") or of_iteration or holds_file:
                return True
        return False

    @property
    def pathspecs(self) -> tuple[str, ...]:
        """The folders and files that hold everything that is read; empty for the whole repository."""
        paths = {
            self._evals_dir,
            *self._owners,
            *self._shared,
            *self._earlier,
            *(move[2] for move in self.moved),
            *_LONE_AT_ROOT,
            *map(literal_prefix, self._globs),
        }
        roots = {path for path in paths if not f"{path}/".startswith("../")}  # git refuses paths outside the repository
        if "" in roots:
            return ()
        inside = {root for root in roots for at, letter in enumerate(root) if letter == "/" and root[:at] in roots}
        return tuple(sorted(roots - inside))

    def mapping(self, rules: EntryRules, folder: str, shared: Mapping[str, str]) -> Blob | None:
        """Return the field mapping in force: the mapping in the rules, otherwise the site's first existing one."""
        candidates = (rules.mapping,) if rules.mapping else self._mappings
        return first_blob((path.replace("{dir}", folder) for path in candidates), shared)

    def _folder_owners(self, manifest: Manifest) -> dict[str, tuple[str, ...]]:
        """Return the ids of the evals that each named folder belongs to, sorted."""
        homes = {entry.id: home_of(entry, self._evals_dir) for entry in manifest.evals}
        owners: dict[str, tuple[str, ...]] = {folder_path(entry.dir): () for entry in manifest.evals if entry.dir}
        for eval_id, home in homes.items():
            if home in owners:
                owners[home] = (*owners[home], eval_id)
        aliases: dict[str, tuple[str, ...]] = {}
        for entry in manifest.evals:
            for alias in dict.fromkeys(self._aliases(entry)):
                eval_ids = aliases.get(alias, ())
                # If evals in different folders share an alias, the first eval owns the files under it.
                if not eval_ids or homes[eval_ids[0]] == homes[entry.id]:
                    aliases[alias] = (*eval_ids, entry.id)
        return {folder: tuple(sorted(ids)) for folder, ids in {**aliases, **owners}.items()}

    def _aliases(self, entry: EvalConfig) -> list[str]:
        outputs = frozenset(entry.earlier_outputs)
        earlier = [alias for alias in entry.aliases if alias not in outputs]
        return [folder_path(alias) if "/" in alias else f"{self._evals}{alias}" for alias in earlier]

    def _owners_of(self, path: str) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield (eval ids, folder) that a path may belong to: the deepest named folder, then the conventional one.

        If the named folder holds all evals, the convention counts as well, because it is more specific.
        """
        folder = self._named_folder(path)
        if folder is not None:
            yield self._owners[folder], folder
            if folder != self._evals_dir:
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
        # An eval at the root of the repository has the files of the root, and of its folders only those that it names.
        if "" in self._owners and ("/" not in path or _LONE_RESULT.match(path) or _is_at(path, self._named_from_root)):
            return ""
        roles = (self._role(eval_id, path)[0] for eval_id in self._owners.get("", ()))
        return "" if any(role in ("output", "overwritten", "recorded") for role in roles) else None


def _is_at(path: str, places: Container[str]) -> bool:
    """Whether a path is one of the places, or a document in a folder that is one of them."""
    if path in places:
        return True
    folder = path.rpartition("/")[0] if may_hold_document(path) else ""
    while folder and folder not in places:
        folder = folder.rpartition("/")[0]
    return bool(folder)


def _role_in_results(inside: str, records: Container[str]) -> tuple[FileRole | None, str]:
    """Return the role of a path below ``results/``, and the iteration or the stranger that it belongs to."""
    name, _, rest = inside[len(RESULTS) + 1 :].partition("/")
    if iteration_number(name) is None or not rest:
        return None if re.fullmatch(_OWN_RESULT, name) else "stranger", name
    if _OUTPUT.fullmatch(rest):
        return "output", name
    if rest in records:
        return "recorded", name
    return "run" if re.fullmatch(_RUN, rest) else None, name


@cache
def records_of(kind: Kind | None, *, in_own_folder: bool = True) -> tuple[str, ...]:
    """Return the names of files beside an output in which its run may record how it was made, by precedence.

    In a folder with other outputs, only numbers and opinions that others computed have such a file: the run that wrote
    the output last overwrote it too.
    """
    needs_truth = kind is None or bool(files_of(kind).ground_truths)
    own = (RECORDED,) if in_own_folder and not traits_of(kind).is_recorded else ()
    return (*own, *_OTHER_RECORDS) if in_own_folder or not needs_truth else ()


def _folders_of_outputs(entry: EvalConfig) -> frozenset[str]:
    """Return the folders of outputs, relative to the eval's, in which a record is that of the output written last."""
    if not records_of(entry.kind, in_own_folder=False):
        return frozenset()
    if runs := runs_of(entry):
        return frozenset() if runs.is_folder else frozenset((runs.start.rstrip("/"),))
    places = (normal(entry.outputs),) if is_path(entry.outputs) else files_of(str(entry.kind)).overwritten
    return frozenset(place.rpartition("/")[0] for place in places)


def iteration_number(name: str) -> int | None:
    """Return 12 for ``iteration-012``; None if the name is not an iteration's."""
    match = _ITERATION.fullmatch(name)
    return int(match[1]) if match else None
