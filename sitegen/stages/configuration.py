"""The configuration of the built revision, kept as it was validated: doing that imports what takes long."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sitegen import configuring
from sitegen.config import EvalConfig, Manifest, SiteConfig
from sitegen.history.files_at_commit import FilesAt
from sitegen.history.fold_state import PartStore
from sitegen.project_files import read_inside
from sitegen.render.writer import digest
from sitegen.stages.cached_kinds import ANSWERS, MANIFEST, SITE_CONFIG, ManifestRead

_CHECKED: Final = "paths inside the project"
"""What is checked beyond types: another text for other rules, so that nothing is kept that they would refuse."""


def read_site(files: FilesAt, parts: PartStore) -> SiteConfig:
    """The site's: from the work tree, or from the commit where there is none. Raises ConfigurationError."""
    root = files.found.root
    key = digest(_CHECKED, repr(SiteConfig()), configuring.site_config_bytes(root, read=files.read))
    return SITE_CONFIG.derived(parts, "", key, lambda: configuring.read_site(root, read=files.read))


def read_manifest(files: FilesAt, config: SiteConfig, parts: PartStore, *, worktree: bool) -> ManifestRead:
    """Read the manifest of the commit, or of the work tree if that is asked for. Raises ConfigurationError."""
    path, root, largest = f"{config.evals_dir}/manifest.yaml", files.found.root, config.limits.max_blob_bytes
    content = _on_disk(root, path, largest) if worktree and root is not None else files.read(path, largest)
    if content is None:
        return ManifestRead(Manifest(), ())
    key = digest(_CHECKED, repr(EvalConfig(id="")), path, content)

    def read() -> ManifestRead:
        return ManifestRead(*configuring.read_manifest_with_remarks(content, path, config.evals_dir))

    return MANIFEST.derived(parts, "", key, read)


class AnswersAt:
    """What the files of a commit said to the questions of the search for evals, kept by blob id."""

    def __init__(self, files: FilesAt, parts: PartStore) -> None:
        self._files = files
        self._parts = parts
        self._before = ANSWERS.get(parts) or {}
        self._now: dict[str, str] = {}

    def get(self, question: str, path: str) -> str | None:
        """The answer of the content that lies at a path now; None if it was never asked."""
        key = f"{self._files.blob_id(path)} {question}"
        answer = self._now.get(key, self._before.get(key))
        if answer is not None:
            self._now[key] = answer
        return answer

    def put(self, question: str, path: str, answer: str) -> None:
        """Keep the answer of the content that lies at a path now."""
        if (oid := self._files.blob_id(path)) is not None:
            self._now[f"{oid} {question}"] = answer

    def keep(self) -> None:
        """Remember the answers that were asked for, for the next build, and forget all others."""
        if self._now != self._before:
            ANSWERS.keep(self._parts, "", self._now)


def _on_disk(root: Path, path: str, limit: int) -> bytes | None:
    """Content of a file of the work tree; None if there is none, if it is a link, or if it is too large to be read."""
    try:
        return read_inside(root, path, limit)
    except OSError:
        return None
