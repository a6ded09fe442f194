"""The list of commits: what a row says, and pages of which one more commit changes the newest alone."""

from msgspec.structs import replace

from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.pages.commit import COMMITS, CommitsView, ListedCommit, commits_page, older_than_page
from tests import pages_sample_diffs as sample
from tests.sites import renderer_of
from tests.unit.test_for_machines import commit


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
    assert [(path, len(view(page).rows)) for path, page in pages(5 * COMMITS // 2).items()] == [
        ("commits/page-1.html", COMMITS),
        ("commits/index.html", 3 * COMMITS // 2),
    ]
    before, after = pages(4 * COMMITS - 2), pages(4 * COMMITS - 1)
    assert {path for path in after if before[path] != after[path]} == {links.commits()}
    assert [row.commit.subject for row in view(after["commits/page-1.html"]).rows][:: COMMITS - 1] == [
        f"Subject {COMMITS - 1}",
        "Subject 0",
    ]


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
