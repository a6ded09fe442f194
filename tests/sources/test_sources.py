"""What the source documents state is what ``rows.md`` says of it, and the files that they print make a site."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

from tests.sites import broken_links
from tests.sources.tables import DOCUMENTS, HERE, evals_of, read_rows, summary

ROOT = HERE.parents[1]
METHODS = (ROOT / "site_templates" / "pages" / "methods.html").read_text(encoding="utf-8")
SECTIONS = {
    title
    for file in HERE.parent.glob("unit/layouts*.md")
    for title in re.findall("^## (.+)$", file.read_text("utf-8"), re.M)
}
WITH_PROJECTS = [document for document in DOCUMENTS if (HERE / document / "commits").is_dir()]


@cache
def functions(path: Path) -> frozenset[str]:
    """The names of the functions of a module; of one that is not there, none."""
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def is_there(test: str) -> bool:
    path, _, name = test.partition("::")
    return name in functions(ROOT / path)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_rows_are_numbered_upwards_and_none_is_lost_to_a_slip_of_the_pen(document):
    text = (HERE / document / "rows.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = read_rows(document)
    assert len(rows) == len(lines) - 2  # the head of the table, and the line below it
    numbers = [row.number for row in rows]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_statement_works_by_tests_that_are_there_or_is_different_by_a_record_that_methods_cites(document):
    wrong = []
    for row in read_rows(document):
        if row.state == "works":
            sections = set(re.findall(r"what_its_section_says\[([^`]+)\]", row.seen_by))
            holds = bool(row.tests) and all(map(is_there, row.tests)) and sections <= SECTIONS
        else:
            cited = all(list(ROOT.glob(f".github/decisions/{each}-*.md")) and each in METHODS for each in row.records)
            holds = row.state == "different" and bool(row.records) and cited
        if not holds:
            wrong.append(row)
    assert wrong == []


@pytest.mark.parametrize("document", WITH_PROJECTS)
def test_the_project_of_a_document_makes_a_site_without_configuration(document, built):
    project = built(document)
    assert not (project.repo.path / "sitegen.toml").exists()
    index = json.loads((project.out / "data" / "index.json").read_text(encoding="utf-8"))
    assert index["evals"] == evals_of(document)
    assert (project.site.errors, project.site.failed) == (0, 0)
    assert broken_links(project.out) == []


def test_a_statement_does_not_work_while_its_test_fails():
    rows = [row for document in DOCUMENTS for row in read_rows(document)]
    one = next(row for row in rows if row.state == "works")
    lost = sum(one.tests[0] in row.tests for row in rows if row.state == "works")
    work, rest = summary(frozenset()).split(maxsplit=3)[2:]
    assert summary(frozenset(one.tests[:1])) == f"source documents: {int(work) - lost} {rest}"
