"""The tables of statements, ``rows.md``, and the projects beside them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.gitrepo import GitRepo

HERE = Path(__file__).parent
DOCUMENTS = sorted(path.parent.name for path in HERE.glob("*/rows.md"))

_ROW = re.compile(r"\| *(\d+) *\| *(.+?) *\| *(\w+) *\| *(.+?) *\|")
_TEST = re.compile(r"`(tests/[\w/.-]+\.py::\w+)(?:\[[^`]*\])?`")
_RECORD = re.compile(r"decision (\d{4})")


class Row(NamedTuple):
    """A statement of a document."""

    number: int
    statement: str
    state: str
    """``works`` or ``different``; anything else is a mistake in the table."""
    seen_by: str

    @property
    def tests(self) -> tuple[str, ...]:
        """The ids of tests that show it, without parameters."""
        return tuple(_TEST.findall(self.seen_by))

    @property
    def records(self) -> tuple[str, ...]:
        """The numbers of decision records that say why it is different."""
        return tuple(_RECORD.findall(self.seen_by))


def read_rows(document: str) -> tuple[Row, ...]:
    """The rows of a document's table, in their order."""
    text = (HERE / document / "rows.md").read_text(encoding="utf-8")
    found = (_ROW.fullmatch(line.strip()) for line in text.splitlines())
    return tuple(Row(number=int(row[1]), statement=row[2], state=row[3], seen_by=row[4]) for row in found if row)


def evals_of(document: str) -> list[str]:
    """The ids of the evals that a build of the document's project has to find, sorted."""
    text = (HERE / document / "rows.md").read_text(encoding="utf-8")
    stated = re.search(r"^Evals:(.*)$", text, re.MULTILINE)
    return sorted(re.findall(r"`([^`]+)`", stated[1])) if stated else []


def write_project(document: str, path: Path) -> GitRepo:
    """The document's project as a repository, a commit for each folder below ``commits``; checked out."""
    repo = GitRepo(path)
    for folder in sorted((HERE / document / "commits").iterdir(), key=lambda each: int(each.name)):
        repo.commit(dict(_files(folder)), message=f"Commit {folder.name}")
    repo.checkout()
    return repo


def summary(failed: frozenset[str]) -> str:
    """How many statements there are and how many of them hold; none whose test is among the *failed*."""
    rows = [row for document in DOCUMENTS for row in read_rows(document)]
    work = sum(row.state == "works" and failed.isdisjoint(row.tests) for row in rows)
    different = sum(row.state == "different" for row in rows)
    return f"source documents: {work} work, {different} different, {len(rows)} in all"


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()
