"""R, the floor: what git alone needs to name every change and to give every blob that a report depends on."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.bench.generate import git
from tests.bench.processes import Measured, run

PATHS: Final = (".claude/instructions", "evals", "schemas")
LOG: Final = ("log", "--first-parent", "--raw", "--no-abbrev", "-z", "--no-renames", "--diff-merges=first-parent")


def needed_blobs(repository: Path, revision: str = "main") -> list[str]:
    """The id of every blob that ever stood at a needed path, each once, in the order of the log."""
    tokens = git(repository, *LOG, "--format=", revision, "--", *PATHS).split("\0")
    records = [token.strip().split() for token in tokens if token.strip().startswith(":")]
    return list(dict.fromkeys(record[3] for record in records if record[1].startswith("100")))


def write_needed(repository: Path, file: Path, revision: str = "main") -> int:
    """Write the ids, one a line, for ``cat-file``; returns how many."""
    blobs = needed_blobs(repository, revision)
    file.write_text("".join(f"{oid}\n" for oid in blobs), encoding="ascii")
    return len(blobs)


def measure(repository: Path, needed: Path, revision: str = "main") -> Measured:
    """R: the log, then every blob, nothing of it parsed."""
    log = run(["git", "-C", str(repository), *LOG, revision, "--", *PATHS])
    blobs = run(["git", "-C", str(repository), "cat-file", "--batch", "--buffer"], stdin=needed)
    return log._replace(seconds=log.seconds + blobs.seconds, cpu_seconds=log.cpu_seconds + blobs.cpu_seconds)
