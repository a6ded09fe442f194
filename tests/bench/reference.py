"""R, the floor: what git alone needs to name every change and to give every blob that a report depends on."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.bench.generate import git
from tests.bench.processes import run

PATHS: Final = (".claude/instructions", "evals", "schemas")
LOG: Final = ("log", "--first-parent", "--raw", "--no-abbrev", "-z", "--no-renames", "--diff-merges=first-parent")


def needed_blobs(repository: Path) -> list[str]:
    """The id of every blob that ever stood at a needed path, each once, in the order of the log."""
    tokens = git(repository, *LOG, "--format=", "main", "--", *PATHS).split("\0")
    records = [token.strip().split() for token in tokens if token.strip().startswith(":")]
    return list(dict.fromkeys(record[3] for record in records if record[1].startswith("100")))


def write_needed(repository: Path, file: Path) -> int:
    """Write the ids, one a line, for ``cat-file``; returns how many."""
    blobs = needed_blobs(repository)
    file.write_text("".join(f"{oid}\n" for oid in blobs), encoding="ascii")
    return len(blobs)


def seconds(repository: Path, needed: Path) -> float:
    """R in seconds: the log, then every blob, nothing of it parsed."""
    log = run(["git", "-C", str(repository), *LOG, "main", "--", *PATHS])
    blobs = run(["git", "-C", str(repository), "cat-file", "--batch", "--buffer"], given=needed)
    return log.seconds + blobs.seconds
