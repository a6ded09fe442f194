"""Caches the configuration of the built revision and its field mappings as validated values: validation is slow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.config.findings import error_in
from sitegen.config.manifest import read_manifest
from sitegen.config.models import EvalConfig, Manifest, SiteConfig
from sitegen.config.site import read_rules, read_site, site_config_bytes
from sitegen.engine.cached_kinds import CONFIGURATION, CacheStore, Configuration
from sitegen.engine.memo import Memo
from sitegen.engine.writer import digest
from sitegen.history.files_at_commit import FilesAt
from sitegen.history.memo_rows import within
from sitegen.history.repository import Repository
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Parsed
from sitegen.model.timeline import EvalUpdate, Snapshot
from sitegen.scoring.fields import FieldsScorer
from sitegen.scoring.mapping import KeptMapping, kept_mapping, mapping_read, read_mapping, remember
from sitegen.scoring.scorer import ScoringInputs

_CHECKED: Final = "paths inside the project; wrong values and negative numbers do not count; no refused address is said"
"""Names the checks beyond types. Change it whenever they change: values cached after weaker checks are not used."""


def kept_site_config(files: FilesAt, store: CacheStore) -> Parsed[SiteConfig]:
    """Read the site's configuration from the work tree, or without one from the commit. Raises ConfigurationError."""
    root = files.place.root
    key = digest(_CHECKED, repr(SiteConfig()), site_config_bytes(root, read=files.read_rules))
    kept = CONFIGURATION.derived(store, "site", key, lambda: Configuration(site=read_site(root, read=files.read_rules)))
    assert kept.site is not None
    return kept.site


def kept_manifest(files: FilesAt, config: SiteConfig, store: CacheStore, *, worktree: bool) -> Parsed[Manifest]:
    """Read the manifest from the commit, or from the work tree with ``worktree``. Raises ConfigurationError."""
    path, content = f"{config.evals_dir}/manifest.yaml", manifest_content(files, config, worktree=worktree)
    if content is None:
        return Parsed(Manifest())
    manifest, findings = manifest_of(store, content, config.evals_dir)
    if manifest is None:
        raise error_in(path, findings[0])
    return Parsed(manifest, findings)


def manifest_of(store: CacheStore, content: bytes, evals_dir: str) -> Parsed[Manifest | None]:
    """Read a manifest, of any commit, as ``read_manifest`` does."""
    key = within("manifest", digest(_CHECKED, repr(EvalConfig(id="")), evals_dir, content))
    kept = CONFIGURATION.get(store, key)
    if kept is None:
        kept = CONFIGURATION.keep(store, key, Configuration(manifest=read_manifest(content, evals_dir)))
    assert kept.manifest is not None
    return kept.manifest


def manifest_content(files: FilesAt, config: SiteConfig, *, worktree: bool) -> bytes | None:
    """Read the file of the manifest from the commit, or from the work tree with ``worktree``; None without one."""
    path, root, largest = f"{config.evals_dir}/manifest.yaml", files.place.root, config.limits.max_blob_bytes
    return read_rules(root, path, largest) if worktree and root is not None else files.read_rules(path, largest)


class AnswersAt:
    """The answers of the search for evals about the files of a commit, cached by blob id."""

    def __init__(self, files: FilesAt, store: CacheStore) -> None:
        self._files = files
        self._store = store
        kept = CONFIGURATION.get(store, "answers")
        self._before = kept.answers if kept else {}
        self._now: dict[str, str] = {}

    def answer(self, question: str, path: str, examine: Callable[[], str | None]) -> str | None:
        """Return the answer that was kept for the present content of a path, else the one that ``examine`` gives."""
        oid = self._files.blob_id(path)
        key = f"{oid} {question}"
        answer = self._now.get(key, self._before.get(key))
        if answer is None:
            answer = examine()
        if answer is not None and oid is not None:
            self._now[key] = answer
        return answer

    def keep(self) -> None:
        """Cache the answers that this build asked for, and delete all others."""
        if self._now != self._before:
            CONFIGURATION.keep(self._store, "answers", Configuration(answers=self._now))


KeptMappings: TypeAlias = tuple[tuple[str, KeptMapping], ...]
"""Pairs of a mapping's key and the validated mapping."""


def known_mappings(memo: Memo, repository: Repository, updates: Sequence[EvalUpdate]) -> KeptMappings:
    """Return every mapping that the touched evals are scored by. New mappings are read and cached."""
    histories = [update.history for update in updates if traits_of(update.history.kind).is_structured]
    needed = {_mapping_key(snapshot): snapshot for history in histories for snapshot in history.snapshots}
    newest = (without_settings(history.snapshots[-1]) for history in histories if history.snapshots)
    needed |= {_mapping_key(snapshot): snapshot for snapshot in newest if snapshot.mapping}
    kept = {key: CONFIGURATION.get(memo, within("mapping", key)) for key in needed}
    mappings = {key: known.mapping for key, known in kept.items() if known and known.mapping}
    new = {key: snapshot for key, snapshot in needed.items() if key not in mappings}
    for key, mapping in _read_mappings(new, repository):
        mappings[key] = mapping
        CONFIGURATION.keep(memo, within("mapping", key), Configuration(mapping=mapping))
    return tuple(mappings.items())


def without_settings(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot scored by its mapping file alone, which shows the unused entries of the file."""
    return replace(snapshot, settings="")


def recall_mapping(mappings: dict[str, KeptMapping], snapshot: Snapshot, inputs: ScoringInputs) -> None:
    """Pass a cached mapping to the scorer, once per process: it is removed from ``mappings``."""
    content = inputs.mapping.content if inputs.mapping else None
    if content is None and snapshot.mapping:
        return
    if mapping := mappings.pop(_mapping_key(snapshot), None):
        remember(content, snapshot.settings, mapping_read(mapping))


def _mapping_key(snapshot: Snapshot) -> str:
    return digest(str(FieldsScorer.version), snapshot.mapping.oid if snapshot.mapping else "", snapshot.settings)


def _read_mappings(new: dict[str, Snapshot], repository: Repository) -> Iterable[tuple[str, KeptMapping]]:
    """Yield (key, mapping) for each mapping that can be read and cached."""
    oids = [snapshot.mapping.oid for snapshot in new.values() if snapshot.mapping]
    blobs = repository.read_blobs(oids) if oids else iter(())
    for key, snapshot in new.items():
        content = next(blobs).content if snapshot.mapping else None
        if content is None and snapshot.mapping:
            continue
        if mapping := kept_mapping(read_mapping(content, snapshot.settings)):
            yield key, mapping
