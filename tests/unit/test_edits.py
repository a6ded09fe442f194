"""Edits of instructions: how large they are, beside which points they stand, the fields they name, which have pages."""

from pathlib import Path

import pytest
from markupsafe import Markup
from msgspec.structs import replace

from sitegen.analysis.change import change_between
from sitegen.analysis.edits import OutputEdits
from sitegen.analysis.section_flips import mentioned_fields
from sitegen.history import fold, instructions
from sitegen.model.changes import Change
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import Flips
from sitegen.model.series import Point
from sitegen.model.timeline import Blob, Snapshot
from sitegen.pages import links
from sitegen.pages.edit import EditView, draw_edit
from sitegen.text.patch import Hunk, PatchCounts, PatchLine
from sitegen.text.sections import TextStats
from tests import pages_sample_diffs as sample
from tests.gitrepo import GitRepo
from tests.rows import in_table
from tests.sites import broken_links, build_site, content, differs_from_cold, renderer_of
from tests.unit.test_noise import card
from tests.unit.test_windows import F1, commit, edit, snapshot

WORSE = Flips(broken=(("a", 4), ("b", 4)), still=(("c", 10),))


def point(number: int, output: str, right: int) -> Point:
    at = replace(snapshot(number, number), outputs=(Blob("out.json", output),))
    return Point(at, card("+" * right + "-" * (40 - right)), ())


def outcome(output: str, headline: MetricSpec) -> Change:
    return change_between(point(1, "x", 30), point(2, output, 22), WORSE, headline=headline)


def test_a_change_around_an_edit_is_judged():
    found = outcome("y", F1)
    assert found.verdict is not None
    assert (found.verdict.decision, found.verdict.why, found.verdict.broken) == ("worse", "beyond chance", 8)


def test_the_same_output_scored_again_is_not_judged():
    assert outcome("x", F1).verdict is None


def facts(counts: PatchCounts, before: TextStats | None, after: TextStats | None) -> str:
    """What stands below the subject of an edit, after its number."""
    drawn = draw_edit(sample.FILE.edits[1], sample.patch_of(sample.V1, sample.V2))
    patch, edits = replace(drawn, counts=counts), sample.FILE.edits[:2]
    page = EditView(path=sample.PATH, edits=edits, index=1, patch=patch, effects=(), sizes=(before, after)).page
    assert isinstance(page.view, EditView)
    html = renderer_of(sample.SITE).render(page).decode().partition("edit 2 of the file</span>")[2].partition("</p>")[0]
    return " ".join(Markup(html.replace("</span>\n<span>", ", ").replace("</span><span>", ", ")).striptags().split())


@in_table
def test_an_edit_says_the_version_and_the_size_of_its_file(counts, before, after, stated):
    """The version is that of the patch or else of the text; a size that did not change stands once."""
    texts = [None if text is None else TextStats(**text) for text in (before, after)]
    assert facts(PatchCounts(**counts), *texts) == stated


def linked(snapshots: list[Snapshot], *edits: int) -> list[list[int]]:
    """Positions of the commits of the edits beside each point."""
    every = [edit(position) for position in edits]
    return [[one.commit.position for one in beside] for beside in OutputEdits(snapshots, every).beside]


def test_an_output_has_the_edits_since_the_output_before():
    assert linked([snapshot(1, 2), snapshot(2, 5), snapshot(3, 8)], 1, 3, 5, 6, 9) == [[1], [3, 5], [6]]


def test_all_outputs_of_a_commit_have_the_edits_since_the_last_output_of_an_earlier_one():
    outputs = [snapshot(1, 2), snapshot(2, 6), snapshot(3, 6), snapshot(4, 6), snapshot(5, 8)]
    assert linked(outputs, 1, 3, 6) == [[1], [3, 6], [3, 6], [3, 6], []]


def test_of_several_outputs_of_a_commit_the_times_that_they_record_say_which_came_after_an_edit():
    outputs = [snapshot(number, 9, recorded=f"2026-03-02T0{number}:30:00Z") for number in (2, 3, 4, 6, 7)]
    assert linked(outputs, 1, 3, 5) == [[1], [3], [], [5], []]


def test_an_edit_of_the_commit_that_brought_the_outputs_may_have_come_before_any_that_was_made_while_it_was_at_work():
    first = snapshot(1, 5, recorded="2026-03-02T03:30:00Z")
    outputs = [snapshot(number, 7, recorded=f"2026-03-02T06:{number}0:00Z") for number in (2, 3, 4)]
    assert linked([first, *outputs], 1, 2, 6, 7) == [[1, 2], [6, 7], [7], [7]]


def test_an_edit_after_the_output_before_was_made_counts_also_if_it_was_committed_with_it():
    outputs = [snapshot(1, 5, recorded="2026-03-02T02:30:00Z"), snapshot(2, 8, recorded="2026-03-02T06:30:00Z")]
    assert linked(outputs, 1, 4, 7) == [[1], [4]]


def test_a_commit_that_an_output_records_says_more_than_its_place():
    outputs = [snapshot(1, 3), snapshot(2, 9, made_at=commit(4).sha), snapshot(3, 9)]
    assert linked(outputs, 1, 4, 7) == [[1], [4], [7]]


def test_points_that_are_scored_again_take_no_edits_from_the_output_after_them():
    again = [snapshot(1, 2), snapshot(1, 5, "mapping"), snapshot(1, 6, "ground_truth"), snapshot(2, 8)]
    assert linked(again, 1, 3, 6, 7) == [[1], [3], [6], [3, 6, 7]]


def test_a_copy_of_the_output_before_leaves_its_edits_to_the_next_one_as_well():
    first, copy, other, last = (
        replace(snapshot(number, position), outputs=(Blob("out.json", oid),))
        for number, position, oid in ((1, 2, "x"), (2, 6, "x"), (3, 6, "y"), (4, 8, "z"))
    )
    assert linked([first, copy, other, last], 1, 3, 7) == [[1], [3], [3], [7]]
    times = [f"2026-03-02T0{hour}:30:00Z" for hour in (1, 3, 4, 5)]
    timed = [replace(one, recorded_at=time) for one, time in zip((first, copy, other, last), times, strict=True)]
    assert linked(timed, 1, 3) == [[1], [3], [3], []]


@in_table
def test_an_output_that_was_put_back_is_as_old_as_when_it_was_there_first(number, message, edits, expected):
    places = ((1, 2, "x"), (2, 5, "y"), (number, 7, "x"), (4, 9, "z"))
    outputs = [replace(snapshot(n, at), outputs=(Blob("out.json", oid),)) for n, at, oid in places]
    outputs[2] = replace(outputs[2], commit=replace(outputs[2].commit, body=message))
    found = OutputEdits(outputs[:3], [edit(position) for position in edits])
    assert [found.made_with[2][0].position, found.stale[2], linked(outputs, *edits)[2:]] == expected


def test_a_time_that_cannot_be_read_is_none():
    outputs = [snapshot(1, 2), snapshot(2, 6, recorded="yesterday"), snapshot(3, 6)]
    assert linked(outputs, 1, 3) == [[1], [3], [3]]


EDITS_KEPT = 50
OLD = [f"prompts/old/{number:03}.md" for number in range(30)]
NEW = [f"prompts/new/{number:03}.md" for number in range(EDITS_KEPT - 4)]


@pytest.fixture(autouse=True)
def few_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bounds, but smaller."""
    for module in (fold, instructions):
        monkeypatch.setattr(module, "MOST_ADDED", EDITS_KEPT)


def project(folder: Path, manifest: str = "evals: {}") -> GitRepo:
    repo = GitRepo(folder)
    (repo.path / "sitegen.toml").write_text(f"[limits]\nreports_kept = {EDITS_KEPT}\n")
    repo.commit({**dict.fromkeys(OLD, "Read it.\n"), "evals/manifest.yaml": f'version: "2.0"\n{manifest}\n'})
    repo.commit({**dict.fromkeys(NEW, "Read it all.\n"), "evals/a/ground_truth.json": '{"who": "Ann"}'})
    repo.commit({"evals/a/extracted.json": '{"who": "Ann"}'})
    return repo


def edits(out: Path) -> tuple[int, int]:
    """How many edits have a whole page, and how many a short one."""
    texts = [body for path, body in content(out).items() if path.startswith("instructions/") and "/index." not in path]
    short = sum(b"to keep the site small" in text for text in texts)
    return len(texts) - short, short


def test_a_short_report_has_no_metric_that_a_later_output_states_first(tmp_path):
    repo, out, results = GitRepo(tmp_path / "project"), tmp_path / "site", "evals/a/results/iteration-00"
    (repo.path / "sitegen.toml").write_text("[limits]\nreports_kept = 1\n")
    repo.commit({"evals/a/ground_truth.json": '{"who": "Ann"}', f"{results}1/extracted.json": '{"who": "Bo"}'})
    repo.commit({f"{results}2/extracted.json": '{"who": "Cy"}'})
    build_site(repo.path, out)
    record = {f"{results}3/eval-results.json": '{"usage": {"cost": 2}}'}
    repo.commit({f"{results}3/extracted.json": '{"who": "Ann"}', **record})
    build_site(repo.path, out)
    reports = [content(out)[f"evals/a/000{number}.html"] for number in (1, 2, 3)]
    assert [b"Total cost" in report for report in reports] == [False, False, True]
    assert differs_from_cold(out, repo.path) == []


def test_the_newest_edits_have_whole_pages_and_older_ones_short_pages_to_which_all_links_lead(tmp_path):
    repo, out = project(tmp_path / "project"), tmp_path / "site"
    first, *_ = repo.git("rev-list", "--reverse", "HEAD").split()
    build_site(repo.path, out)
    assert edits(out) == (EDITS_KEPT, len(OLD) + len(NEW) - EDITS_KEPT)
    assert broken_links(out) == []
    text = (out / links.edit(OLD[0], first)).read_text()
    assert "<b>Its lines were left out to keep the site small</b>" in text
    assert f"<code>git show -m --first-parent {first[:7]} -- {OLD[0]}</code>" in text
    assert "<dt>Lines added<dd>1<dt>Lines removed<dd>0" in text


def test_more_edits_shorten_the_pages_of_others_as_a_cold_build_does_and_uncommitted_ones_of_none(tmp_path):
    repo, out = project(tmp_path / "project"), tmp_path / "site"
    build_site(repo.path, out)
    repo.commit({OLD[0]: "Read it twice.\n"})
    site = build_site(repo.path, out)
    assert site.written < 25
    assert edits(out)[0] == EDITS_KEPT
    assert differs_from_cold(out, repo.path) == []
    repo.commit(dict.fromkeys(NEW[:23], "Read all of it.\n"))
    build_site(repo.path, out)
    assert edits(out)[0] == EDITS_KEPT
    assert differs_from_cold(out, repo.path) == []
    repo.checkout()
    (repo.path / OLD[1]).write_text("Not yet.\n")
    build_site(repo.path, out, worktree=True)
    assert edits(out)[0] == EDITS_KEPT + 1
    assert broken_links(out) == []


def test_of_very_many_files_that_one_commit_adds_the_others_are_followed_since_their_next_edits(tmp_path):
    repo, out = project(tmp_path / "project"), tmp_path / "site"
    many = [f"prompts/many/{number:03}.md" for number in range(EDITS_KEPT + 10)]
    repo.commit(dict.fromkeys(many, "Read it all.\n"))
    build_site(repo.path, out)
    assert {path for path in many if (out / links.instruction(path)).exists()} == {*many[:EDITS_KEPT]}
    assert f"{len(many)} instruction files in one commit: {EDITS_KEPT} are" in (out / links.problems()).read_text()
    repo.commit({many[-1]: "Read it all.\nTwice.\n", many[-2]: None})
    build_site(repo.path, out)
    assert not (out / links.instruction(many[-2])).exists()
    assert "2 lines" in (out / links.edit(many[-1], repo.git("rev-parse", "HEAD").strip())).read_text()
    assert differs_from_cold(out, repo.path) == []


def hunk(*lines: str, section: str = "") -> Hunk:
    kinds = {"+": "added", "-": "removed", " ": "context"}
    read = tuple(PatchLine(kind=kinds[line[0]], text=line[1:], old=1, new=1) for line in lines)  # type: ignore[arg-type]
    return Hunk(section=section, old_start=1, old_count=1, new_start=1, new_count=1, lines=read)


@in_table
def test_a_passage_names_a_field_by_the_words_of_its_changed_lines(
    lines: list[str], section: str, attribute: str, named: bool
):
    assert mentioned_fields([hunk(*lines, section=section)], [attribute], "rules.md") == (
        ((attribute,) if named else ()),
    )


def test_the_path_of_the_file_can_name_the_step_above_a_field():
    passages = [hunk("+The area is in ft2."), hunk("+Nothing else.")]
    fields = ["walls[].area", "windows[].area"]
    assert mentioned_fields(passages, fields, "prompts/windows-extractor.md") == (("windows[].area",), ())
