"""Short pages in the place of old reports, and the problem of a site that is larger than its limit."""

import json
import re
from pathlib import Path

import pytest

from sitegen.engine.site import SHORT_REPORT, reports_that_fit
from sitegen.pages import links
from tests import pages_sample as sample
from tests.gitrepo import GitRepo
from tests.sites import build_site, content, differences, problems_text

OUTPUTS = 6
EVALS = {"a": 40, "b": 8}
"""The number of fields of each eval."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two evals; an output of the smaller one cannot be read, and another has a wrong value."""
    repo = GitRepo(tmp_path_factory.mktemp("short") / "project")
    right = {name: {f"field{at}": f"value {at}" for at in range(fields)} for name, fields in EVALS.items()}
    repo.commit({f"evals/{name}/ground_truth.json": json.dumps(truth) for name, truth in right.items()})
    for number in range(OUTPUTS):
        outputs = {
            f"evals/{name}/extracted.json": json.dumps({**truth, "field0": f"<b>{number}</b>"})
            for name, truth in right.items()
        }
        if number == 1:
            outputs["evals/b/extracted.json"] = "{"
        repo.commit(outputs, message=f"Read <i>{number}</i>")
    return repo.path


@pytest.fixture(scope="module")
def full(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The site with every report."""
    out = tmp_path_factory.mktemp("full") / "out"
    build_site(source, out, jobs=1)
    return content(out)


@pytest.fixture
def project(source: Path, tmp_path: Path) -> GitRepo:
    repo = GitRepo(tmp_path / "project")
    repo.git("pull", "-q", str(source), "main")
    return repo


def built(project: GitRepo, out: Path, limits: str) -> dict[str, bytes]:
    (project.path / "sitegen.toml").write_text(f"[limits]\n{limits}\n")
    build_site(project.path, out, jobs=1)
    return content(out)


def test_a_short_report_has_the_numbers_of_its_output_and_says_what_is_left_out(project, full, tmp_path):
    site = built(project, tmp_path / "out", "reports_kept = 2")
    reports = {path for path in full if re.fullmatch(r"evals/[ab]/\d+[^/]*[.](html|js|json)", path)}
    kept = {path for path in reports if re.search(r"/000[56]\b", path)}
    short = {path for path in reports - kept if re.search(r"/\d+[.]html$", path)}
    assert reports & site.keys() == kept | short
    assert {path: site[path] for path in kept} == {path: full[path] for path in kept}
    assert len(short) == 2 * (OUTPUTS - 2)
    text = " ".join(site["evals/a/0001.html"].decode().split())
    sha = project.git("rev-list", "--reverse", "HEAD").split()[1]
    assert "Its values were left out to keep the site small" in text
    assert f"To see them: <code>git show {sha[:7]}</code>" in text
    assert links.commit(sha) in text
    assert "Read &lt;i&gt;0&lt;/i&gt;" in text
    assert dict(re.findall("<dt>(.*?)<dd>(.*?)(?=<dt>|</dl>)", text)).items() >= {
        ("F1", "0.975"),
        ("Wrong value", "1"),
        ("Omission", "0"),
    }
    assert '<span class="pill bad">unreadable</span>' in site["evals/b/0002.html"].decode()
    assert max(len(site[path]) for path in short) < SHORT_REPORT


@pytest.mark.parametrize("share", [0.1, 0.3, 0.55])
def test_a_site_over_its_limit_has_one_problem_that_names_how_many_reports_fit(project, full, tmp_path, share):
    reports = sum(len(body) for path, body in full.items() if re.fullmatch(r"evals/[ab]/\d+.*", path))
    limit = sum(map(len, full.values())) - int(reports * share)
    out = tmp_path / "out"
    large = built(project, out, f"site_bytes = {limit}")
    assert {path for path in full if large[path] != full[path]} == {"index.html", "problems.html", "data/index.json"}
    (advised,) = re.findall(r"Write reports_kept = (\d+) under", problems_text(out))
    assert 1 <= int(advised) < OUTPUTS
    site = built(project, out, f"site_bytes = {limit}\nreports_kept = {advised}")
    assert sum(map(len, site.values())) <= limit
    assert "of site_bytes" not in problems_text(out)
    more = built(project, out, f"site_bytes = {limit}\nreports_kept = {int(advised) + 1}")
    assert sum(map(len, more.values())) > limit - len(EVALS) * OUTPUTS * SHORT_REPORT


def test_the_files_with_further_cases_go_with_their_report():
    summary = sample.summary(sample.series(3))
    files = (f"{links.report_cases('waybills', at.slug)}{part}.js" for at in summary.headlines for part in (1, 2))
    assert reports_that_fit([summary], dict.fromkeys(files, SHORT_REPORT), SHORT_REPORT) == (2, 0)


def test_a_site_that_no_number_of_reports_makes_small_enough_is_told_so(project, tmp_path):
    built(project, tmp_path / "out", "site_bytes = 1000")
    text = problems_text(tmp_path / "out")
    assert re.search(r"The site has [\d,]+ bytes, more than the 1,000 of site_bytes\.", text)
    assert re.search(r"Even reports_kept = 1 leaves about [\d,]+ bytes\.", text)


def test_the_problem_is_the_same_after_one_more_commit_and_in_a_cold_build(project, tmp_path):
    (project.path / "sitegen.toml").write_text("[limits]\nsite_bytes = 1000\n")
    build_site(project.path, tmp_path / "out", jobs=1, rev="HEAD~1")
    for out in ("out", "cold"):
        build_site(project.path, tmp_path / out, jobs=1)
    assert differences(tmp_path / "out", tmp_path / "cold") == []
