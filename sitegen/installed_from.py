"""Finds out where the running sitegen was installed from, so that a workflow can install the same version."""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from sitegen import __version__
from sitegen.errors import RepositoryError
from sitegen.history.repository import Repository
from sitegen.history.repository_place import find_repository
from sitegen.text.addresses import web_address

PACKAGE: Final = "sitegen-evals"

PUBLISHED: Final = False
"""Whether a package index has sitegen. Tests check that the README agrees."""

PLACEHOLDER: Final = "git+https://HOST/OWNER/REPOSITORY@COMMIT"
"""The placeholder for an address that only the user knows."""

_PUBLIC: Final = re.compile(r"https://[\w.-]+(/[\w.~-]+)+")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_INSTALL: Final = re.compile(rf'(pip install --quiet )"?{PACKAGE}(\[\w+\])?"?')


def source() -> str | None:
    """The web repository and commit that sitegen was installed from, in pip's notation; None if there is none.

    For an installation from a local folder, it is the checked-out commit at the web address of the remote ``origin``.
    """
    try:
        record = distribution(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return source_of(json.loads(record)) if record else None


def source_of(record: dict[str, Any]) -> str | None:
    """The same for a record as PEP 610 describes it. Credentials are left out."""
    if "dir_info" in record:
        return _of_clone(Path(unquote(urlsplit(record["url"]).path)))
    return _pip_address(web_address(record["url"]), record.get("vcs_info", {}).get("commit_id"))


def installing(workflow: bytes, source: str | None) -> bytes:
    """The workflow with steps that install the running sitegen: from *source*, otherwise by its version."""

    def pinned(match: re.Match[str]) -> str:
        return f'{match[1]}"{requirement(source, match[2] or "")}"'

    return _INSTALL.sub(pinned, workflow.decode()).encode()


def requirement(source: str | None, extra: str = "") -> str:
    """The requirement for pip with a fixed version. *extra* is in brackets."""
    if source is None and PUBLISHED:
        return f"{PACKAGE}{extra}=={__version__}"
    return f"{PACKAGE}{extra} @ {source or PLACEHOLDER}"


def _of_clone(folder: Path) -> str | None:
    try:
        place, head = find_repository(folder)
        if place.root is None or place.root != folder.resolve():
            return None
        return _pip_address(Repository.open(folder).origin_url(), head)
    except RepositoryError:
        return None


def _pip_address(address: str | None, commit: str | None) -> str | None:
    if not _PUBLIC.fullmatch(address or "") or not _COMMIT.fullmatch(commit or ""):
        return None
    return f"git+{address}@{commit}"
