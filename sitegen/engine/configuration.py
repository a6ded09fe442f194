"""Caches every version of the manifest that history has as a validated value."""

from __future__ import annotations

from typing import Final

from sitegen.config.findings import error_in
from sitegen.config.manifest import read_manifest
from sitegen.config.models import EvalConfig, Manifest, SiteConfig
from sitegen.config.site import read_rules
from sitegen.engine.cached_kinds import CONFIGURATION, CacheStore, Configuration
from sitegen.engine.writer import digest
from sitegen.history.files_at_commit import FilesAt
from sitegen.history.memo_rows import within
from sitegen.model.problems import Parsed

_CHECKED: Final = "paths inside the project; wrong values and negative numbers do not count; no refused address is said"
"""Names the checks beyond types. Change it whenever they change: values cached after weaker checks are not used."""


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
