"""Reads the configuration of the built revision and caches it validated, because validation needs slow imports."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sitegen import configuring
from sitegen.config import EvalConfig, Manifest, SiteConfig
from sitegen.history.files_at_commit import FilesAt
from sitegen.history.fold_state import PartStore
from sitegen.model.problems import Parsed
from sitegen.project_files import read_inside
from sitegen.render.writer import digest
from sitegen.stages.cached_kinds import ANSWERS, MANIFEST, SITE_CONFIG

_CHECKED: Final = "paths inside the project"
"""Names the checks beyond types. Change it whenever they change: values cached after weaker checks are not used."""


def read_site(files: FilesAt, parts: PartStore) -> SiteConfig:
    """Read the site's configuration from the work tree, or without one from the commit. Raises ConfigurationError."""
    root = files.place.root
    key = digest(_CHECKED, repr(SiteConfig()), configuring.site_config_bytes(root, read=files.read))
    return SITE_CONFIG.derived(parts, "", key, lambda: configuring.read_site(root, read=files.read))


def read_manifest(files: FilesAt, config: SiteConfig, parts: PartStore, *, worktree: bool) -> Parsed[Manifest]:
    """Read the manifest from the commit, or from the work tree with ``worktree``. Raises ConfigurationError."""
    path, root, largest = f"{config.evals_dir}/manifest.yaml", files.place.root, config.limits.max_blob_bytes
    content = _on_disk(root, path, largest) if worktree and root is not None else files.read(path, largest)
    if content is None:
        return Parsed(Manifest())
    key = digest(_CHECKED, repr(EvalConfig(id="")), path, content)

    return MANIFEST.derived(
        parts, "", key, lambda: configuring.read_manifest_with_remarks(content, path, config.evals_dir)
    )


class AnswersAt:
    """The answers of the search for evals about the files of a commit, cached by blob id."""

    def __init__(self, files: FilesAt, parts: PartStore) -> None:
        self._files = files
        self._parts = parts
        self._before = ANSWERS.get(parts) or {}
        self._now: dict[str, str] = {}

    def get(self, question: str, path: str) -> str | None:
        """Return the answer for the present content of a path; None if the question was never asked."""
        key = f"{self._files.blob_id(path)} {question}"
        answer = self._now.get(key, self._before.get(key))
        if answer is not None:
            self._now[key] = answer
        return answer

    def put(self, question: str, path: str, answer: str) -> None:
        """Store the answer for the present content of a path."""
        if (oid := self._files.blob_id(path)) is not None:
            self._now[f"{oid} {question}"] = answer

    def keep(self) -> None:
        """Cache the answers that this build asked for, and delete all others."""
        if self._now != self._before:
            ANSWERS.keep(self._parts, "", self._now)


def _on_disk(root: Path, path: str, limit: int) -> bytes | None:
    """Return the content of a file of the work tree; None if it is missing, a link or too large."""
    try:
        return read_inside(root, path, limit)
    except OSError:
        return None
