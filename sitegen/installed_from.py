"""Where this very sitegen was installed from, so that a workflow installs the same."""

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
"""Whether a package index has sitegen: the one thing to change when it has. Tests hold the README to it."""

PLACEHOLDER: Final = "git+https://HOST/OWNER/REPOSITORY@COMMIT"
"""Where nobody knows an address that another machine could install from, the user has to say one."""

_PUBLIC: Final = re.compile(r"https://[\w.-]+(/[\w.~-]+)+")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_INSTALL: Final = re.compile(rf'(pip install --quiet )"?{PACKAGE}(\[\w+\])?"?')


def source() -> str | None:
    """The commit of a git repository on the web that it was installed from, as pip names it; None: no such commit.

    For a folder of this machine, which no other machine has, it is the commit that is checked out there, at the web
    address of its remote ``origin``.
    """
    try:
        record = distribution(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return source_of(json.loads(record)) if record else None


def source_of(record: dict[str, Any]) -> str | None:
    """The same, of a record as PEP 610 describes it. Credentials are left out."""
    if "dir_info" in record:
        return _of_clone(Path(unquote(urlsplit(record["url"]).path)))
    return _named(web_address(record["url"]), record.get("vcs_info", {}).get("commit_id"))


def installing(workflow: bytes, source: str | None) -> bytes:
    """A workflow whose steps install this very sitegen: from the commit of *source*, else by its version."""

    def pinned(found: re.Match[str]) -> str:
        return f'{found[1]}"{requirement(source, found[2] or "")}"'

    return _INSTALL.sub(pinned, workflow.decode()).encode()


def requirement(source: str | None, extra: str = "") -> str:
    """What pip is asked for, one version of it; *extra* in brackets."""
    if source is None and PUBLISHED:
        return f"{PACKAGE}{extra}=={__version__}"
    return f"{PACKAGE}{extra} @ {source or PLACEHOLDER}"


def _of_clone(folder: Path) -> str | None:
    try:
        found, head = find_repository(folder)
        if found.root is None or found.root != folder.resolve():
            return None
        return _named(Repository.open(folder).origin_url(), head)
    except RepositoryError:
        return None


def _named(address: str | None, commit: str | None) -> str | None:
    if not _PUBLIC.fullmatch(address or "") or not _COMMIT.fullmatch(commit or ""):
        return None
    return f"git+{address}@{commit}"
