"""Where this very sitegen was installed from, so that a workflow installs the same."""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any, Final

from sitegen.text.addresses import web_address

PACKAGE: Final = "sitegen-evals"

_PUBLIC: Final = re.compile(r"https://[\w.-]+(/[\w.~-]+)+")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_INSTALL: Final = re.compile(rf'(pip install --quiet )"?{PACKAGE}(\[\w+\])?"?')


def source() -> str | None:
    """The commit of a git repository on the web that it was installed from, as pip names it; None: the package index.

    A folder of this machine counts as the index: no other machine has it.
    """
    try:
        record = distribution(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return source_of(json.loads(record)) if record else None


def source_of(record: dict[str, Any]) -> str | None:
    """The same, of a record as PEP 610 describes it. Credentials are left out."""
    commit = record.get("vcs_info", {}).get("commit_id", "")
    address = web_address(record["url"]) or ""
    if not _PUBLIC.fullmatch(address) or not _COMMIT.fullmatch(commit):
        return None
    return f"git+{address}@{commit}"


def installing(workflow: bytes, source: str | None) -> bytes:
    """A workflow whose steps install sitegen from there."""
    if source is None:
        return workflow
    return _INSTALL.sub(lambda found: f'{found[1]}"{PACKAGE}{found[2] or ""} @ {source}"', workflow.decode()).encode()
