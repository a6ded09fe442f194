"""The page of a commit, which agrees with those of its edits, and the list, of which a commit changes one page."""

import json
import re
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from sitegen.model.changes import Change, MetricDelta, Overlap
from sitegen.model.commits import WORKTREE, ChangedPath
from sitegen.model.outcomes import Flips
from sitegen.model.series import HEADLINES
from sitegen.model.site import Page, SiteInfo
from sitegen.pages import effects, links
from sitegen.pages.commit import (
    COMMITS,
    MOST_POINTS,
    CommitEffect,
    CommitsView,
    CommitView,
    ListedCommit,
    commit_effect,
    commits_page,
    earlier_edits,
    older_than_page,
)
from sitegen.pages.edit import draw_edit
from sitegen.pages.effects import Touched, outputs
from tests import pages_sample as points
from tests import pages_sample_diffs as sample
from tests.gitrepo import GitRepo
from tests.sites import build_site, renderer_of, written
from tests.unit.test_for_machines import commit

VERDICT = points.verdict(n=3, fixed=1, counted=(1, 9))
CHANGED = Change(
    overlap=Overlap(3, ("x",)),
    metrics=(MetricDelta("f1", -0.02, None), MetricDelta("precision", None, None), MetricDelta("recall", 0.01, None)),
    flips=Flips(fixed=(("a<b>", 1),), broken=(("a<b>", 4), ("c", 5)), appeared=(("c", 1),)),
    verdict=VERDICT,
)
BROUGHT = CommitEffect(change=CHANGED, said=("Outputs −0.030, ground truth +0.010; over 3 common documents.",))
SAME = CommitEffect(change=replace(CHANGED, metrics=(), flips=Flips(), verdict=None))


def html_of(view: CommitView | None = None, site: SiteInfo = sample.SITE) -> str:
    return written(renderer_of(site), (view or sample.commit_view()).page)


def test_other_files_are_named_as_far_as_the_record_holds_them_and_the_rest_is_counted():
    record = replace(sample.RECORD, others=(ChangedPath("src/<b>.py", None, "1"),))
    view = sample.commit_view(record=record, moves=())
    assert [item.change for item in view.other_paths] == list(record.others)
    html = html_of(view)
    assert "src/<wbr>&lt;b&gt;.py</span>" in html
    assert "2 other files changed that no number depends on" in html


def test_an_iteration_is_counted_once_however_many_files_it_has():
    def touched(iteration: str, name: str, old: str | None, new: str | None, role: str = "output") -> Touched:
        change = ChangedPath(f"evals/a/results/{iteration}/{name}", old, new)
        return replace(sample.touched("", role, "a", iteration), change=change)

    found = outputs(
        (
            touched("iteration-001", "extracted.json", None, "1"),
            touched("iteration-001", "eval-results.json", None, "2", "recorded"),
            touched("iteration-002", "extracted.json", "1", None),
            touched("iteration-002", "extracted.yaml", None, "3"),
            touched("iteration-003", "extracted.json", "1", None),
            touched("iteration-003", "runs/1/extracted.json", None, "4", "run"),
        ),
        {"a": "a"},
    )
    words = "1 iteration added, 1 changed, 1 deleted, 1 repeated run, 1 record of metrics"
    assert found == [("a", words)]


def test_copies_are_named_and_not_counted_as_outputs_of_the_commit():
    html = html_of()
    assert "<summary>40 iterations, 38 outputs of this commit</summary>" in html
    assert "Best of 38 outputs: " in html
    told = re.findall(r"iteration-0(\d\d)</a><span>[\d.]+</span><i>(.+?)</i>", html)
    assert told == [("39", "same output as iteration-038"), ("40", "same output as iteration-036")]


def test_an_earlier_edit_names_three_evals():
    edit = replace(sample.RECORD.commit, sha="b" * 40, subject="Grow <i>", body="")
    unedited = replace(sample.MOVES[1], effect=BROUGHT)
    move = replace(unedited, effect=replace(BROUGHT, edits=((edit, 1_200),)))
    names = ("A&B", "C", "D", "E", "F")
    moves = [replace(move, info=replace(move.info, id=f"e{number}", name=name)) for number, name in enumerate(names)]
    assert (
        f'<li><a href="../commits/{"b" * 12}.html">Grow &lt;i&gt;</a><span class="muted">'
        '<span class="sha">bbbbbbb</span> 1,200 files; for A&amp;B, C, D and 2 more</span></li>'
    ) in html_of(sample.commit_view(moves=(*moves, unedited)))


def test_the_edits_of_the_commit_itself_are_no_earlier_ones():
    edits = [points.edit(1), points.edit(3), points.edit(3, "CLAUDE.md"), points.edit(4)]
    of = [edit.commit for edit in edits]
    found = earlier_edits([*edits, *edits], of[3].sha)
    assert found == ((replace(of[1], body=""), 2), (replace(of[0], body=""), 1))


def test_points_beyond_the_bound_are_counted_not_listed():
    move = replace(sample.MOVES[0], points=tuple(sample.headline(6, 0.5, f"{n:04}") for n in range(MOST_POINTS + 7)))
    html = html_of(sample.commit_view(moves=(move,))).partition('<ol class="pts-l">')[2].partition("</ol>")[0]
    assert html.count("<li><a href=") == MOST_POINTS
    assert "<li>and 7 more</li>" in html


def test_the_message_is_plain_text_and_the_commit_links_to_the_repository():
    html = html_of()
    assert "&lt;b&gt;Not bold.&lt;/b&gt;" in html
    assert f'href="https://example.org/garden/seed-packets/commit/{sample.RECORD.commit.sha}"' in html
    assert (
        f"../instructions/claude--instructions--packet-reader--instructions.md/{sample.RECORD.commit.sha[:12]}" in html
    )


def test_neither_the_uncommitted_state_nor_what_is_no_web_address_becomes_a_link():
    for address in ("javascript:alert(1)//", None):
        assert "In the repository" not in html_of(site=replace(sample.SITE, repository_url=address))
    record = replace(sample.RECORD, commit=replace(sample.RECORD.commit, sha=WORKTREE))
    assert "In the repository" not in html_of(sample.commit_view(record=record))


def test_a_long_message_is_cut():
    record = replace(sample.RECORD, commit=replace(sample.RECORD.commit, subject="", body="x" * 20_000))
    html = html_of(sample.commit_view(record=record, moves=(), edits=()))
    assert "<h1>(no subject)</h1>" in html
    assert f'<p class="message">{"x" * 10_000} … (10,000 more characters)</p>' in html


def test_an_eval_without_a_page_is_named_and_not_linked():
    changed = sample.touched("evals/gone/results/iteration-001/extracted.json", "output", "gone", "x")
    html = html_of(sample.edit_view(changed=(changed,), names={}))
    assert "<span>gone</span>" in html
    assert "evals/gone/" not in html


def test_a_commit_shows_its_diffs_and_links_their_passages_with_the_fields_that_they_name():
    flips = Flips(fixed=(("price", 3),), broken=(("variety", 2),))
    move = replace(sample.MOVES[1], effect=replace(BROUGHT, change=replace(CHANGED, flips=flips)))
    drawn = draw_edit(sample.FILE.edits[1], sample.patch_of(sample.V1, sample.V2))
    html = html_of(sample.commit_view(moves=(move,), patches={sample.PATH: drawn}))
    assert '<td class=c-passages data-h="Passages"><a href="#p2">2</a>' in html
    assert '<tr class="hk" id="p2">' in html
    assert '<a href="#d1"><code>price</code></a> +3' in html
    assert "<ins>without currency</ins>" in html
    assert '<a class="how" href="../methods.html#steps-verdict">why it can still be a step</a>' in html


def test_a_commit_that_only_scores_again_is_not_judged_for_chance():
    move, copied = (replace(move, effect=SAME) for move in sample.MOVES[1::-1])
    html = html_of(sample.commit_view(moves=(move, copied)))
    assert '<span class="pill">same output</span><div class="by">ground truth changed</div>' in html
    assert '<span class="pill">same output</span><div class="by">identical to an earlier one</div>' in html
    rows = sample.moved(move, replace(sample.MOVES[2], effect=BROUGHT)).effects
    assert effects.grade_counts(row.grade for row in rows) == (("worse", 1), ("same output", 1))


def test_of_a_change_what_the_page_shows_is_stored():
    before, after = points.series(6).points[4:]
    flips = Flips(fixed=(("a", 1), ("b", 3)), broken=(("a", 3), ("c", 1)), still=(("d", 9),))
    change = points.compared(before, after, flips).change
    assert change is not None
    stored = commit_effect(points.series(6), before, after, change).change
    assert stored.flips == replace(flips, still=())
    assert [metric.name for metric in stored.metrics] == [spec.name for spec in points.SPECS[:HEADLINES]]
    assert (stored.overlap, stored.verdict) == (change.overlap, change.verdict)


def rows(count: int) -> list[ListedCommit]:
    return [ListedCommit(commit=commit(number, f"Subject {number}"), changed="rules") for number in range(count)]


def pages(count: int) -> dict[str, Page]:
    """All pages of so many commits, the oldest first."""
    made: list[Page] = []
    newest_first, end = rows(count)[::-1], count
    while not made or end:
        first = older_than_page(end, count)
        made.append(commits_page(newest_first[count - end : count - first], end, count))
        end = first
    return {page.path: page for page in reversed(made)}


def view(page: Page) -> CommitsView:
    assert isinstance(page.view, CommitsView)
    return page.view


def test_the_newest_page_is_never_short_and_a_full_page_holds_the_same_commits_for_good():
    told = [(path, len(view(page).rows)) for path, page in pages(5 * COMMITS // 2).items()]
    assert told == [("commits/page-1.html", COMMITS), ("commits/index.html", 3 * COMMITS // 2)]
    before, after = pages(4 * COMMITS - 2), pages(4 * COMMITS - 1)
    assert {path for path in after if before[path] != after[path]} == {links.commits()}
    seen = [row.commit.subject for row in view(after["commits/page-1.html"]).rows][:: COMMITS - 1]
    assert seen == [f"Subject {COMMITS - 1}", "Subject 0"]


def test_pages_link_to_the_next_newer_and_the_next_older_commits():
    neighbours = {path: (view(page).newer, view(page).older) for path, page in pages(4 * COMMITS).items()}
    assert neighbours == {
        "commits/page-1.html": ("commits/page-2.html", None),
        "commits/page-2.html": ("commits/page-3.html", "commits/page-1.html"),
        "commits/page-3.html": ("commits/index.html", "commits/page-2.html"),
        "commits/index.html": (None, "commits/page-3.html"),
    }


def test_the_page_escapes_what_commits_say():
    row = rows(1)[0]
    commit = replace(row.commit, subject="Say <b>", author="<i>")
    row = replace(row, commit=commit, largest=("<u>", sample.SPECS[0], 0.5, None))
    page = commits_page([row], 1, 1)
    html = renderer_of(sample.SITE).render(page).decode()
    assert all(f"&lt;{tag}&gt;" in html and f"<{tag}>" not in html for tag in "biu")


RUNS = "evals/a/results/iteration-00"


def numbers(right: int = 12) -> str:
    return json.dumps({f"field_{number}": number if number < right else -1 for number in range(12)})


def begin(repo: GitRepo, right: int) -> str:
    """A commit of a ground truth, an instruction and an output."""
    files = {"evals/a/ground_truth.json": numbers(), f"{RUNS}1/extracted.json": numbers(right), "CLAUDE.md": "1"}
    return repo.commit(files)


def built(repo: GitRepo, *shas: str) -> list[str]:
    """The pages of the commits of a site."""
    site = repo.path.parent / "site"
    build_site(repo.path, site)
    return [" ".join((site / links.commit(sha)).read_text().split()) for sha in shas]


def test_an_output_beside_folders_of_iterations_is_said_to_be_not_scored(repo):
    first = begin(repo, 3)
    second = repo.commit({"evals/a/extracted.json": numbers(9), "CLAUDE.md": "2"})
    third = repo.commit({f"{RUNS}2/extracted.json": numbers()})
    page, *others = built(repo, second, first, third)
    assert "1 output" not in page
    assert "Not scored: these evals have folders of iterations, which alone count" in page
    assert all("Not scored" not in other for other in others)


def test_a_commit_whose_outputs_are_copies_shows_what_became_of_its_edits(repo):
    begin(repo, 0)
    edited = repo.commit({"CLAUDE.md": "2", f"{RUNS}2/extracted.json": numbers(0)})
    repo.commit({f"{RUNS}3/extracted.json": numbers()})
    effects, _, outputs = built(repo, edited)[0].partition("Outputs that came with it")
    assert ">better</span>" in effects
    assert "same output" in outputs


@pytest.mark.parametrize(("hours", "in_doubt"), [(12, True), (None, False)])
def test_the_page_of_a_commit_has_the_doubt_of_its_outputs_about_their_edit(repo, hours, in_doubt):
    first, recorded = begin(repo, 0), {}
    if hours:
        made = datetime.fromisoformat(repo.git("show", "-s", "--format=%cI", first)) + timedelta(hours=hours)
        recorded = {f"{RUNS}2/eval-results.json": json.dumps({"timestamp": made.isoformat()})}
    (page,) = built(repo, repo.commit({"CLAUDE.md": "2", f"{RUNS}2/extracted.json": numbers(), **recorded}))
    said = f"By this edit or {first[:7]}, whichever the output was made with."
    assert (said in " ".join(re.sub("<[^>]+>", "", page).split())) is in_doubt
