"""The size of a site: a limit that is said, and old reports that make room without a number lost."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from sitegen.analysis.memo import Memo, PageRow
from sitegen.model.site import Page
from sitegen.model.timeline import InstructionHistory
from sitegen.pages import links
from sitegen.pages.edit.page import edit_page
from sitegen.render.output_folder import MARKER
from sitegen.render.writer import Writer
from sitegen.stages import instruction_task, site_files
from sitegen.stages.reports import ReportCollector, ReportInputs, ReportWriter
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.size_budget.budget import Division, divide
from sitegen.stages.size_budget.expected_room import ExpectedRoom
from sitegen.stages.size_budget.sizes import COMMITS, EDITS, FIELDS, REPORTS, PageSizes
from sitegen.stages.size_budget.thinning import SHORT
from tests.gitrepo import GitRepo
from tests.sites import build_site, content, differences, run

TRUTH = json.dumps({f"field{number}": f"value {number}" for number in range(40)})
POINTS = 6
LEADS = "<meta http-equiv=refresh"
"""A short page of a report, an edit or a commit leads to its row in a list."""


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
    return {page.stem: "short" if LEADS in page.read_text() else "full" for page in pages}


def test_only_the_newest_reports_are_full_if_so_many_are_kept(project, tmp_path):
    build_site(project.path, tmp_path / "all")
    limits(project, reports_kept=2)
    build_site(project.path, tmp_path / "few")
    kinds = dict.fromkeys(["0001", "0002", "0003", "0004"], "short") | dict.fromkeys(["0005", "0006"], "full")
    assert reports(tmp_path / "few") == kinds
    assert set(reports(tmp_path / "all").values()) == {"full"}
    changed = differences(tmp_path / "all", tmp_path / "few")
    assert [path for path in changed if not re.fullmatch(r"evals/a/(000[1-4]\.(html|json)|short/1\.html)", path)] == []


def test_the_list_of_written_files_counts_like_any_other_file(project, tmp_path):
    build_site(project.path, tmp_path / "all")
    files = [path for path in (tmp_path / "all").rglob("*") if path.is_file() and path.name != MARKER]
    size = sum(path.stat().st_size for path in files)
    for name, limit in (("fits", size), ("exceeds", size - 1)):
        limits(project, site_bytes=limit)
        assert build_site(project.path, tmp_path / name).thinned == (0 if name == "fits" else 1)


def test_files_that_stay_as_they_are_when_others_become_short_are_saved_once(project, tmp_path, monkeypatch):
    build_site(project.path, tmp_path / "all")
    limits(project, site_bytes=size_of(tmp_path / "all") - 20_000)
    saved: Counter[PageRow] = Counter()
    keep_pages = Memo.keep_pages

    def counted(memo: Memo, site: str, rows: Iterable[PageRow]) -> None:
        rows = list(rows)
        saved.update(rows)
        keep_pages(memo, site, rows)

    monkeypatch.setattr(Memo, "keep_pages", counted)
    monkeypatch.setattr(site_files, "SAVED_AT_ONCE", 1)
    assert build_site(project.path, tmp_path / "few").thinned > 0
    assert {row.path for row, count in saved.items() if count > 1} == set()


def test_a_short_page_leads_to_every_number_of_the_report(project, tmp_path):
    limits(project, reports_kept=1)
    build_site(project.path, tmp_path / "out")
    folder = tmp_path / "out/evals/a"
    assert (folder / "0003.html").read_text() == (
        "<!doctype html><html lang=en><meta charset=utf-8><title>iteration-003</title>"
        '<meta http-equiv=refresh content="0;url=short/1.html#0003"><a href="short/1.html#0003">iteration-003</a>'
    )
    page = (folder / "short/1.html").read_text()
    columns = re.findall(r'<th scope="col">([^<\n]*)', page)
    rows = {row[0]: re.split(r"<td>", row[1]) for row in re.findall(r"<tr id=(\S+)><th>(.*)", page)}
    assert list(rows) == ["0005", "0004", "0003", "0002", "0001"]
    point = json.loads((tmp_path / "out/data/evals/a.json").read_bytes())["points"][2]
    numbers = dict(zip(columns[2:], rows["0003"][2:], strict=True))
    assert numbers["F1"] == f"{point['then']['f1']:.3f}"
    assert numbers["Wrong value"] == str(point["then"]["errors"]["wrong_value"])
    assert f"href=../../../commits/{point['commit'][:12]}.html>{point['commit'][:7]}</a> Try 2" in rows["0003"][1]


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
    found = re.search(r"In full the site would have.*?is not on GitHub Pages\.", " ".join(text.split()))
    return found[0] if found else ""


def size_of(site: Path) -> int:
    return sum(map(len, content(site).values()))


def short_ones(site: Path) -> list[str]:
    """The reports of all evals that make room, by path."""
    pages = {path: text for path, text in content(site).items() if re.fullmatch(r"evals/[^/]+/\d{4}.*\.html", path)}
    return sorted(path for path, text in pages.items() if LEADS.encode() in text)


def counts_of_short(site: Path) -> tuple[int, int, int, int]:
    """How many reports and pages of fields, commits and edits are short."""
    pages = {path: text for path, text in content(site).items() if "/short/" not in path}
    short = [path for path, text in pages.items() if LEADS.encode() in text or b"left out to keep the site" in text]
    fields = sum("/fields/" in path for path in short)
    evals, commits, edits = (sum(path.startswith(folder) for path in short) for folder in ("eval", "comm", "inst"))
    return evals - fields, fields, commits, edits


def test_the_oldest_reports_make_room_and_the_warning_says_what_takes_the_space(project, tmp_path):
    build_site(project.path, tmp_path / "out")
    size = size_of(tmp_path / "out")
    limits(project, site_bytes=size - 28_000)
    done = run("build", project.path, "--strict")
    assert (done.returncode, "; 3 old pages made short to fit" in done.stdout) == (3, True)
    kinds = dict.fromkeys(["0001", "0002", "0003"], "short") | dict.fromkeys(["0004", "0005", "0006"], "full")
    assert reports(project.path / "public") == kinds
    assert size_of(project.path / "public") <= size - 28_000
    text = warning(project.path / "public")
    assert re.match(r"In full the site would have about \d\.\d MB, more than the \d\.\d MB of site_bytes: ", text)
    assert "pages of fields 0.2 MB (40 files), " in text
    assert "reports 0.1 MB (6 files), " in text
    assert "So the 3 oldest of 6 full reports became short pages without losing a number, and it has " in text


def test_what_the_warning_advises_is_enough_and_ends_it(project, tmp_path):
    build_site(project.path, tmp_path / "out")
    most = size_of(tmp_path / "out") - 28_000
    limits(project, site_bytes=most)
    build_site(project.path, tmp_path / "out")
    advised = re.search(r"reports_kept = (\d+) under", warning(tmp_path / "out"))
    assert advised
    limits(project, site_bytes=most, reports_kept=int(advised[1]))
    build_site(project.path, tmp_path / "out")
    assert (warning(tmp_path / "out"), list(reports(tmp_path / "out").values()).count("full")) == ("", 3)


def test_where_short_reports_are_not_enough_the_warning_says_so(project, tmp_path):
    limits(project, site_bytes=1000)
    build_site(project.path, tmp_path / "out")
    assert re.match(
        r"In full the site would have about \d\.\d MB, more than the 1 kB of site_bytes\. Though 6 of 6 full reports, "
        r"40 of 40 full pages of fields, 1 of 1 full pages of edits, 7 of 7 full pages of commits became short pages "
        r"without losing a number, it still has \d\.\d MB: .*, pages of fields 0\.1 MB \(40 files\)\. ",
        warning(tmp_path / "out"),
    )
    assert "Publish fewer evals. Or raise site_bytes" in warning(tmp_path / "out")


def test_growing_under_a_budget_leaves_the_site_of_a_cold_build(project, tmp_path):
    build_site(project.path, tmp_path / "out")
    most = size_of(tmp_path / "out") + 20_000
    limits(project, site_bytes=most)
    for step in range(3):
        files = {"evals/a/extracted.json": output(18 + 6 * step), "CLAUDE.md": f"# Rules\n\n{step}\n"}
        project.commit(files, message=f"Once more {step}")
        build_site(project.path, tmp_path / "out")
        build_site(project.path, tmp_path / f"cold{step}")
        assert differences(tmp_path / "out", tmp_path / f"cold{step}") == []
        assert size_of(tmp_path / "out") <= most
    counts = counts_of_short(tmp_path / "out")
    assert all(0 < count < every for count, every in zip(counts, (POINTS + 3, 40, POINTS + 4, 4), strict=True))


def test_reports_are_full_again_once_there_is_room(project, tmp_path):
    out = tmp_path / "out"
    build_site(project.path, out)
    size = size_of(out)
    for step, budget in enumerate((size - 25_000, size - 50_000, size - 25_000, 2 * size)):
        limits(project, site_bytes=budget)
        build_site(project.path, out)
        build_site(project.path, tmp_path / f"cold{step}")
        assert differences(out, tmp_path / f"cold{step}") == []
    assert short_ones(out) == []


def test_one_commit_that_makes_room_makes_pages_of_every_sort_full_again(tmp_path):
    """The page of a file shows its text, and that of an edit its diff, unless they are binary."""
    repo, out = GitRepo(tmp_path / "project"), tmp_path / "out"
    repo.commit(
        {
            "CLAUDE.md": "".join(f"- Rule {number}{'.' * 60}\n" for number in range(1_200)),
            "evals/a/ground_truth.json": TRUTH,
        }
    )
    for number in range(POINTS):
        repo.commit(
            {"evals/a/extracted.json": output(number * 4), ".claude/instructions/b.md": f"# {number}\n"},
            message=f"Try {number}",
        )
    repo.checkout()
    build_site(repo.path, out)
    oldest_edit = max(map(len, (text for path, text in content(out).items() if path.startswith("instructions/"))))
    limits(repo, site_bytes=size_of(out) - oldest_edit - 90_000)
    build_site(repo.path, out)
    before = counts_of_short(out)
    repo.commit({"CLAUDE.md": b"\0"}, message="Binary")
    build_site(repo.path, out)
    build_site(repo.path, tmp_path / "cold")
    assert differences(out, tmp_path / "cold") == []
    assert all(full < short for full, short in zip(counts_of_short(out), before, strict=True))


def test_a_budget_and_a_number_of_reports_together_leave_the_site_of_a_cold_build(project, tmp_path):
    out = tmp_path / "out"
    build_site(project.path, out)
    size = size_of(out)
    steps: tuple[dict[str, int], ...] = ({"reports_kept": 5}, {}, {"reports_kept": 3}, {"reports_kept": 5})
    for step, kept in enumerate(steps):
        limits(project, site_bytes=size - 40_000, **kept)
        build_site(project.path, out)
        build_site(project.path, tmp_path / f"cold{step}")
        assert differences(out, tmp_path / f"cold{step}") == []
        assert size_of(out) <= size - 40_000


def test_one_more_commit_writes_the_newest_lists_alone(project, tmp_path, monkeypatch):
    monkeypatch.setattr("sitegen.pages.short_pages.LISTED", 2)
    out = tmp_path / "out"
    limits(project, site_bytes=1_000)
    project.commit({"CLAUDE.md": "# More rules\n"}, message="Edit")
    build_site(project.path, out, jobs=1)
    lists = {path for path in content(out) if "/short/" in path}
    assert lists == {
        *(f"evals/a/short/{number}.html" for number in (1, 2, 3)),
        *(f"commits/short/{number}.html" for number in (1, 2, 3, 4)),
        links.short_edits("CLAUDE.md", 1),
    }
    written: list[str] = []
    write = Writer.write

    def noted(writer: Writer, owner: str, path: str, *others: Any, **more: Any) -> None:
        written.append(path)
        write(writer, owner, path, *others, **more)

    monkeypatch.setattr(Writer, "write", noted)
    project.commit({"evals/a/extracted.json": output(30)}, message="Once more")
    build_site(project.path, out, jobs=1)
    assert sorted(path for path in written if "/short/" in path) == [
        "commits/short/4.html",  # of the edit, whose effect reaches to the newest output
        "commits/short/5.html",
        "evals/a/short/4.html",
        links.short_edits("CLAUDE.md", 1),
    ]
    build_site(project.path, tmp_path / "cold", jobs=1)
    assert differences(out, tmp_path / "cold") == []


def commits_of(project: Path) -> list[str]:
    """Ids, newest first."""
    return GitRepo(project).git("log", "--first-parent", "--format=%H").split()


def test_with_room_for_all_no_report_of_the_demonstration_is_short(demo_site):
    assert (short_ones(demo_site), warning(demo_site)) == ([], "")


def test_over_all_evals_the_oldest_reports_of_the_demonstration_make_room(demo, demo_site, tmp_path):
    clone = tmp_path / "clone" / demo.name
    GitRepo(clone).git("fetch", "-q", str(demo), "main:main", "--update-head-ok")
    budget = size_of(demo_site) - 400_000
    config = GitRepo(clone).git("show", "main:sitegen.toml", check=False)
    (clone / "sitegen.toml").write_text(f"{config}\n[limits]\nsite_bytes = {budget}\n")
    last = commits_of(clone)[:12:4]
    for head in reversed(last):
        build_site(clone, tmp_path / "out", rev=head)
        assert size_of(tmp_path / "out") <= budget
    build_site(clone, tmp_path / "cold", rev=last[0], jobs=2)
    assert differences(tmp_path / "out", tmp_path / "cold") == []
    series = (json.loads(file.read_bytes()) for file in (tmp_path / "cold/data/evals").glob("*.json"))
    order = commits_of(clone)[::-1]
    ages = {point["report"]: order.index(point["commit"]) for one in series for point in one["points"]}
    short = short_ones(tmp_path / "cold")
    full = sorted(ages.keys() - set(short))
    assert max(ages[path] for path in short) <= min(ages[path] for path in full)
    numbers = [path for path in differences(demo_site, tmp_path / "cold") if path.startswith("data/")]
    assert (len(short) > 5, numbers) == (True, ["data/index.json"])


def test_far_from_the_limit_nothing_is_added_up_but_what_is_new(project, tmp_path, monkeypatch):
    project.commit({"evals/b/ground_truth.json": TRUTH, "evals/b/extracted.json": output(3)}, message="Another eval")
    build_site(project.path, tmp_path / "out", jobs=1)

    def asked(site_files: SiteFiles) -> None:
        raise AssertionError("all files of the site")

    monkeypatch.setattr(SiteFiles, "earlier_files", asked)
    project.commit({"evals/b/extracted.json": output(5)}, message="Again")
    build_site(project.path, tmp_path / "out", jobs=1)
    assert len(reports(tmp_path / "out")) == POINTS


def test_over_the_limit_every_file_is_looked_at_once_and_then_what_is_new(project, tmp_path, monkeypatch):
    out = tmp_path / "out"
    project.commit({"evals/b/ground_truth.json": TRUTH, "evals/b/extracted.json": output(3)}, message="Another eval")
    build_site(project.path, out, jobs=1)
    limits(project, site_bytes=size_of(out) + 1_000)
    build_site(project.path, out, jobs=1)
    asked: list[int] = []
    others = SiteFiles.earlier_files

    def counted(site_files: SiteFiles) -> Iterator[PageRow]:
        asked.append(step)
        return others(site_files)

    monkeypatch.setattr(SiteFiles, "earlier_files", counted)
    for step, eval_id in enumerate("abab"):
        files = {f"evals/{eval_id}/extracted.json": output(5 + step), "CLAUDE.md": f"# Rules\n\n{step}\n"}
        project.commit(files, message=f"Again {step}")
        build_site(project.path, out, jobs=1)
        build_site(project.path, tmp_path / f"cold{step}", jobs=1)
        assert differences(out, tmp_path / f"cold{step}") == []
    assert (set(asked) <= {0}, any(counts_of_short(out))) == (True, True)


@pytest.fixture(scope="module")
def three_evals(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    """Eight points of each, with few fields; later reports are larger."""
    repo = GitRepo(tmp_path_factory.mktemp("three") / "project")
    truth = {f"field{number}": f"value {number}" for number in range(8)}
    truths = {f"evals/{name}/ground_truth.json": json.dumps(truth) for name in "abc"}
    repo.commit({"CLAUDE.md": "# Rules\n", **truths})
    for point in range(8):
        given = {name: value if number > point else "other" for number, (name, value) in enumerate(truth.items())}
        repo.commit({f"evals/{name}/extracted.json": json.dumps(given) for name in "abc"}, message=f"Try {point}")
    repo.checkout()
    build_site(repo.path, repo.path / "public", jobs=1)
    return repo


@pytest.mark.parametrize(("less", "some", "guesses"), [(110_000, range(4, 18), (None, 4, 8)), (10**9, [0], (8,))])
def test_what_is_guessed_of_the_room_changes_no_byte_but_how_much_is_rendered(
    less, some, guesses, three_evals, tmp_path, monkeypatch
):
    limits(three_evals, site_bytes=max(1_000, size_of(three_evals.path / "public") - less))
    rendered: list[int] = []
    page = ReportWriter.page

    def counted(writer: ReportWriter, inputs: ReportInputs) -> Page:
        rendered.append(inputs.at)
        return page(writer, inputs)

    monkeypatch.setattr(ReportWriter, "page", counted)
    build_site(three_evals.path, tmp_path / "out", jobs=1)
    full = 24 - len(short_ones(tmp_path / "out"))
    assert full in some
    assert len(rendered) <= 8 + full + 4  # the first eval tells how large reports are
    for guess in guesses:
        rendered.clear()
        monkeypatch.setattr(ExpectedRoom, "thinned", lambda room, history, margin=1.0, guess=guess: guess)
        monkeypatch.setattr(ExpectedRoom, "short_before", lambda room, guess=guess: guess)
        build_site(three_evals.path, tmp_path / f"{guess}", jobs=1)
        assert differences(tmp_path / "out", tmp_path / f"{guess}") == []
        assert len(rendered) <= {None: 24, 4: full + 4, 8: full + 7}[guess]


def test_the_edits_of_one_file_tell_how_large_those_of_the_others_are(tmp_path, monkeypatch):
    repo = GitRepo(tmp_path / "project")
    files = [f".claude/instructions/{name}.md" for name in "abcd"]
    for version in range(4):
        text = "".join(f"Rule {line} of version {version}: {'very ' * 10}careful.\n" for line in range(300))
        for path in files:
            repo.commit({path: text})
    repo.checkout()
    build_site(repo.path, repo.path / "public", jobs=1)
    limits(repo, site_bytes=size_of(repo.path / "public") // 3)
    drawn: list[str] = []

    def counted(history: InstructionHistory, *others: Any, **named: Any) -> Page:
        drawn.append(history.path)
        return edit_page(history, *others, **named)

    monkeypatch.setattr(instruction_task, "edit_page", counted)
    build_site(repo.path, tmp_path / "out", jobs=1)
    edits = (tmp_path / "out/instructions").glob("*/*.html")
    full = [page.parent.name for page in edits if page.name != "index.html" and LEADS not in page.read_text()]
    assert 2 <= len(full) <= 6
    assert drawn[:4] == [files[3]] * 4
    assert len(drawn) <= len(full) + 3 + 2  # three others of the first file, and few that do not fit


def test_nothing_is_collected_for_reports_that_surely_do_not_fit(three_evals, tmp_path, monkeypatch):
    limits(three_evals, site_bytes=1_000)
    collected: list[int] = []
    inputs = ReportCollector.inputs

    def counted(collector: ReportCollector, index: int, *others: Any) -> ReportInputs:
        collected.append(index)
        return inputs(collector, index, *others)

    monkeypatch.setattr(ReportCollector, "inputs", counted)
    build_site(three_evals.path, tmp_path / "out", jobs=1)
    assert len(short_ones(tmp_path / "out")) == 24
    # The newest one of each eval has its error patterns.
    assert collected == [7, 7, 7]


GAIN = 20_000 - SHORT


def sizes_of(*pages: tuple[int, int | None]) -> PageSizes:
    """Pages by position and size."""
    return PageSizes(positions=tuple(at for at, _ in pages), sizes=tuple(size for _, size in pages))


def test_the_newest_reports_that_fit_together_are_full_and_unmeasured_ones_are_asked_for():
    evals = {
        "a": sizes_of((1, None), (3, 20_000), (5, 20_000)),
        "b": sizes_of((2, 30_000), (4, 20_000)),
    }

    def divided(room: int) -> Division:
        return divide({REPORTS: evals}, room)

    all_short = 5 * SHORT
    assert divided(all_short + 3 * GAIN) == Division({REPORTS: {"a": 1, "b": 1}})
    assert divided(all_short + 3 * GAIN - 1) == Division({REPORTS: {"a": 2, "b": 1}})
    assert divided(all_short + 4 * GAIN + 10_000) == Division({REPORTS: {"a": 0, "b": 0}}, certain=False)
    assert divided(0) == Division({REPORTS: {"a": 3, "b": 2}})
    nothing = {"a": sizes_of((1, None), (2, None))}
    assert divide({REPORTS: nothing}, 10**9) == Division({REPORTS: {"a": 1}}, certain=False)


@pytest.mark.parametrize(
    ("room", "reports", "fields", "edits", "commits"),
    [
        (11 * GAIN, 0, 0, 0, 0),  # everything fits
        (10 * GAIN, 1, 0, 0, 0),  # reports make room first
        (7 * GAIN, 4, 0, 0, 0),  # until they take a quarter of it
        (6 * GAIN, 4, 0, 0, 1),  # then the oldest of all other pages follow, whatever their sort
        (5 * GAIN, 4, 1, 0, 1),
        (4 * GAIN, 5, 1, 0, 1),
        (3 * GAIN, 5, 1, 0, 2),
        (0, 6, 2, 1, 2),
    ],
)
def test_reports_make_room_until_they_take_a_quarter_of_it_and_then_the_oldest_other_pages_do(
    room, reports, fields, edits, commits
):
    sorts = {
        REPORTS: {"a": sizes_of(*((at, 20_000) for at in range(6)))},
        FIELDS: {"a": sizes_of((1, 20_000), (4, 20_000))},
        EDITS: {"rules.md": sizes_of((3, 20_000))},
        COMMITS: {"": sizes_of((0, 20_000), (2, 20_000))},
    }
    counts = {sort: sum(owners.values()) for sort, owners in divide(sorts, 11 * SHORT + room).thinned.items()}
    assert counts == {REPORTS: reports, FIELDS: fields, EDITS: edits, COMMITS: commits}


def test_what_reports_do_not_need_of_their_quarter_is_room_for_other_pages():
    sorts = {REPORTS: {"a": sizes_of((9, 20_000))}, COMMITS: {"": sizes_of(*((at, 20_000) for at in range(9)))}}
    assert divide(sorts, 10 * SHORT + 6 * GAIN).thinned == {REPORTS: {"a": 0}, COMMITS: {"": 4}}


def test_many_short_reports_are_counted_in_steps_so_that_one_more_commit_rarely_needs_more():
    evals = {"a": PageSizes(positions=tuple(range(5_000)), sizes=(20_000,) * 5_000)}
    counts = [
        divide({REPORTS: evals}, room).thinned[REPORTS]["a"]
        for room in range(5_000 * SHORT, 5_000 * SHORT + 100 * GAIN, GAIN)
    ]
    assert (max(counts), len(set(counts)), {count % 32 for count in counts}) == (5_000, 4, {0, 8})
