"""Every byte of a small site is expected. ``make golden`` rewrites what is, and the diff is yours to read."""

import difflib
import posixpath
import re
from pathlib import Path

import pytest

from tests.golden.repository import write
from tests.golden.site import EXPECTED, build
from tests.sites import content, faults_of_structure

SHOWN = 40
ADVICE = "If this is what you want: make golden, and read the diff."


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return build(tmp_path_factory.mktemp("golden"))


def test_the_site_has_the_files_that_are_expected(built):
    there, wanted = sorted(built), sorted(content(EXPECTED))
    assert there == wanted, ADVICE


@pytest.mark.parametrize("name", sorted(content(EXPECTED)))
def test_a_file_of_the_site_is_the_expected_one_to_the_last_byte(built, name):
    wanted, there = (EXPECTED / name).read_bytes(), built.get(name, b"")
    if there != wanted:
        pytest.fail(f"{name} changed. {ADVICE}\n{difference(wanted, there)}", pytrace=False)


def test_the_expected_site_is_small_and_tells_of_everything(built):
    assert sum(map(len, built.values())) < 1_500_000
    words = b" ".join(built.values()).decode()
    told = ["Formerly", "ground truth", "mapping", "Reverts", "unreadable", "&lt;script&gt;alert(", "iteration-006"]
    told += ["without a new version", "2 correct, 1 wrong", "Answers, case by case", "Questions: 2 variants"]
    assert [each for each in told if each not in words and each.lower() not in words.lower()] == []


def test_every_row_of_every_table_has_one_cell_below_each_head_on_all_screens():
    assert faults_of_structure(EXPECTED) == {}


def test_every_page_is_found_by_search_but_commits_edits_and_trees_which_pages_that_are_found_link_to(built):
    names = {name.removesuffix(".html") for name in built if name.endswith(".html") and name != "404.html"}
    names -= {name for name in names if re.search(r"/[0-9a-f]{12}$|-tree$", name)}
    searched = b"".join(built[name] for name in built if name.startswith("search/")).decode()
    found = {text.partition("#")[0].removesuffix(".html") for text in re.findall(r'"([^"]*)"', searched)}
    (navigation,) = re.findall(r"<nav.*?</nav>", built["index.html"].decode(), re.DOTALL)
    assert {name for name in names if not {name, Path(name).name} & found and f"{name}.html" not in navigation} == set()


def test_another_page_links_to_every_page(built):
    pages = {name: built[name].decode() for name in built if name.endswith(".html") and name != "404.html"}
    linked = {
        posixpath.normpath(posixpath.join(posixpath.dirname(name), address))
        for name, page in pages.items()
        for address in re.findall(r'href="?([^"#? >]+)', page)
        if posixpath.normpath(posixpath.join(posixpath.dirname(name), address)) != name
    }
    assert pages.keys() - linked - {"index.html"} == {"suspect-labels.html"}, "which is linked once a label is suspect"


def test_a_failure_shows_the_lines_that_differ():
    shown = difference(b"<p>one</p><p>two</p>", b"<p>one</p><p>three</p>")
    assert shown.splitlines()[-2:] == ["-<p>two</p>", "+<p>three</p>"]


def difference(wanted: bytes, there: bytes) -> str:
    """The first lines of a unified diff; long lines of HTML are broken between tags."""
    one, other = (re.sub(r">(?=<)", ">\n", side.decode("utf-8", "replace")).splitlines() for side in (wanted, there))
    lines = list(difflib.unified_diff(one, other, "expected", "built", lineterm="", n=1))
    more = [f"... and {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    return "\n".join([line[:200] for line in lines[:SHOWN]] + more)


def test_the_repository_has_the_same_commits_every_time(tmp_path: Path):
    heads = {write(tmp_path / name).git("rev-parse", "HEAD") for name in ("one", "two")}
    assert len(heads) == 1
