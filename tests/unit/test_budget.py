"""The size of a site: a limit that is said, and old reports that make room without a number lost."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

from sitegen.stages.ledger import Ledger
from tests.gitrepo import GitRepo
from tests.sites import build_site, content, differences, run

TRUTH = json.dumps({f"field{number}": f"value {number}" for number in range(40)})
POINTS = 6


def output(number: int) -> str:
    return json.dumps({f"field{each}": f"value {each if each > number else -each}" for each in range(40)})


@pytest.fixture
def project(tmp_path: Path) -> GitRepo:
    """Six points; the reports are of different sizes."""
    repo = GitRepo(tmp_path / "project")
    repo.commit({"CLAUDE.md": "# Rules\n", "evals/a/ground_truth.json": TRUTH})
    for number in range(POINTS):
        repo.commit({"evals/a/extracted.json": output(number * 4)}, message=f"Try {number}")
    repo.checkout()
    return repo


def limits(project: GitRepo, **said: int) -> None:
    lines = "".join(f"{name} = {value}\n" for name, value in said.items())
    (project.path / "sitegen.toml").write_text(f"[limits]\n{lines}")


def reports(site: Path) -> dict[str, str]:
    """The reports of the eval, by name: ``full`` or ``short``."""
    pages = sorted((site / "evals/a").glob("0*.html"))
    return {page.stem: "short" if "full report was left out" in page.read_text() else "full" for page in pages}


def test_only_the_newest_reports_are_full_if_so_many_are_kept(project, tmp_path):
    build_site(project.path, tmp_path / "all")
    limits(project, reports_kept=2)
    build_site(project.path, tmp_path / "few")
    kinds = dict.fromkeys(["0001", "0002", "0003", "0004"], "short") | dict.fromkeys(["0005", "0006"], "full")
    assert reports(tmp_path / "few") == kinds
    assert set(reports(tmp_path / "all").values()) == {"full"}
    changed = differences(tmp_path / "all", tmp_path / "few")
    assert [path for path in changed if not re.fullmatch(r"evals/a/000[1-4]\.(html|json)", path)] == []


def test_a_short_page_has_every_number_of_the_report_and_the_way_to_the_trend(project, tmp_path):
    limits(project, reports_kept=1)
    build_site(project.path, tmp_path / "out")
    page = (tmp_path / "out/evals/a/0003.html").read_text()
    numbers = re.findall(r"<dt>([^<]*)</dt><dd><span class=\"v\">([^<]*)</span>", page)
    point = json.loads((tmp_path / "out/data/evals/a.json").read_bytes())["points"][2]
    assert dict(numbers)["F1"] == f"{point['then']['f1']:.3f}"
    assert dict(numbers)["Wrong value"] == str(point["then"]["errors"]["wrong_value"])
    assert 'href="index.html">Trend</a>' in page


def test_more_and_fewer_kept_reports_make_the_site_that_a_cold_build_makes(project, tmp_path):
    out = tmp_path / "out"
    for step, kept in enumerate((3, 1, 4, 0)):
        limits(project, reports_kept=kept)
        project.commit({"evals/a/extracted.json": output(30 + step)}, message=f"Once more {step}")
        build_site(project.path, out)
        build_site(project.path, tmp_path / f"cold{step}")
        assert differences(out, tmp_path / f"cold{step}") == []
        assert list(reports(out).values()).count("full") == kept


def warning(site: Path) -> str:
    """What the problems page says of the size."""
    text = unescape(re.sub(r"<[^>]+>", " ", (site / "problems.html").read_text()))
    found = re.search(r"The site has.*?is not on GitHub Pages\.", " ".join(text.split()))
    return found[0] if found else ""


def test_a_site_that_is_too_large_is_a_warning_that_says_what_takes_the_space(project, tmp_path):
    build_site(project.path, tmp_path / "out")
    size = sum(map(len, content(tmp_path / "out").values()))
    limits(project, site_bytes=size * 11 // 20)
    done = run("build", project.path, "--strict")
    said = warning(project.path / "public")
    assert (done.returncode, ", 1 warning" in done.stdout or "; 1 warning" in done.stdout) == (3, True)
    assert re.match(
        r"The site has 0\.\d MB, more than the 0\.\d MB of site_bytes: pages of fields 0\.\d MB \(40 files\), ", said
    )
    assert "reports 0.1 MB (6 files), " in said
    assert re.search(r"Set reports_kept = [0-5] under \[limits\]", said)


def test_what_the_warning_advises_is_enough(project, tmp_path):
    build_site(project.path, tmp_path / "out")
    sizes = {path: len(text) for path, text in content(tmp_path / "out").items()}
    old = sum(size for path, size in sizes.items() if re.match(r"evals/a/0", path))
    most = (
        sum(size for path, size in sizes.items() if path.startswith(("evals/", "commits/", "data/evals/"))) - old // 3
    )
    limits(project, site_bytes=most)
    build_site(project.path, tmp_path / "out")
    advised = re.search(r"reports_kept = (\d+)", warning(tmp_path / "out"))
    assert advised
    limits(project, site_bytes=most, reports_kept=int(advised[1]))
    build_site(project.path, tmp_path / "out")
    assert warning(tmp_path / "out") == ""
    assert "full" in reports(tmp_path / "out").values()


def test_where_short_reports_are_not_enough_the_warning_says_so(project, tmp_path):
    limits(project, site_bytes=1000)
    build_site(project.path, tmp_path / "out")
    assert "Short reports would not be enough: publish fewer evals. Or raise" in warning(tmp_path / "out")


def test_the_warning_is_that_of_a_cold_build(project, tmp_path):
    build_site(project.path, tmp_path / "out")
    size = sum(map(len, content(tmp_path / "out").values()))
    limits(project, site_bytes=size * 2 // 3)
    for step in range(3):
        project.commit({"evals/a/extracted.json": output(20 + step)}, message=f"Once more {step}")
        build_site(project.path, tmp_path / "out")
        build_site(project.path, tmp_path / f"cold{step}")
        assert differences(tmp_path / "out", tmp_path / f"cold{step}") == []
    assert warning(tmp_path / "out") != ""


def test_far_from_the_limit_the_disk_is_asked_for_new_files_alone(project, tmp_path, monkeypatch):
    project.commit({"evals/b/ground_truth.json": TRUTH, "evals/b/extracted.json": output(3)}, message="Another eval")
    build_site(project.path, tmp_path / "out", jobs=1)
    asked: list[str] = []
    size = Ledger.size

    def counted(ledger: Ledger, path: str) -> int:
        asked.append(path)
        return size(ledger, path)

    monkeypatch.setattr(Ledger, "size", counted)
    project.commit({"evals/b/extracted.json": output(5)}, message="Again")
    build_site(project.path, tmp_path / "out", jobs=1)
    assert asked
    assert [path for path in asked if path.startswith("evals/a/")] == []
