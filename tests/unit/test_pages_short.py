"""Short pages have the numbers of the pages that they replace, and name the command that shows the rest."""

import re
from html import unescape
from typing import NamedTuple

import pytest

from sitegen.analysis.blame import Blame
from sitegen.html.formats import day
from sitegen.model.site import Page
from sitegen.pages.commit.page import CommitView, commit_page
from sitegen.pages.edit.effects import effects_view
from sitegen.pages.edit.page import edit_page
from sitegen.pages.field.page import field_page, field_work
from sitegen.pages.short_lists import commit_row, edit_row, list_of_commits, list_of_edits
from sitegen.pages.short_pages import short_commit, short_edit, short_field
from sitegen.text.patch import PatchCounts
from tests import pages_sample_diffs as sample
from tests.sites import renderer_of
from tests.unit import test_pages_fields as fields
from tests.unit.test_pages_edit import drawn


class Three(NamedTuple):
    """A full page, the short page at its address, and the list to which that one leads."""

    full: Page
    short: Page
    listed: Page


def pages_of_a_commit() -> Three:
    full = commit_page(sample.inputs())
    assert isinstance(full.view, CommitView)
    commit = sample.RECORD.commit
    rows = [commit_row(full.view, "rules")]
    return Three(full, short_commit(commit.sha, commit.position), list_of_commits(1, rows, None))


def pages_of_an_edit() -> Three:
    full = edit_page(sample.FILE, 1, drawn(1, sample.V1, sample.V2), sample.EFFECTS)
    row = edit_row(sample.FILE, 1, effects_view(sample.EFFECTS).rows, PatchCounts(3, 1))
    return Three(full, short_edit(sample.FILE, 1), list_of_edits(sample.FILE, 1, [row]))


def values_of(html: str, table: str) -> list[list[str]]:
    """For each eval of the table its name, and the values before and after."""
    body = html.split(f'<table class="{table}">')[1].split("</table>")[0]
    rows = [re.split(r"<td[^>]*>", row)[1:4] for row in body.split("<tr>")[1:]]
    texts = [[unescape(re.sub("<[^>]+>", " ", cell)).split() for cell in row] for row in rows if row]
    return [[cell[0] if cell else "" for cell in row] for row in texts]


@pytest.mark.parametrize("pages", [pages_of_a_commit, pages_of_an_edit])
def test_a_short_page_has_the_address_of_the_full_one_and_leads_to_its_numbers(pages):
    full, short, listed = pages()
    assert short.path == full.path
    whole, leading, rows = [renderer_of(sample.SITE).render(page).decode() for page in pages()]
    assert len(leading) < 250
    file, _, anchor = re.findall(r'content="0;url=([^"]+)"', leading)[0].partition("#")
    assert f'<a href="{file}#{anchor}">' in leading
    assert f"{full.path.rpartition('/')[0]}/{file}" == listed.path
    values = values_of(whole, "efx")
    assert len(values) > 1
    assert values_of(rows.replace(f"<tbody id={anchor}><tr><th colspan=8>", "<tr>"), "short") == values
    assert "left out to keep the site small" in rows


def test_the_short_page_of_a_field_has_its_numbers_and_their_links():
    one = fields.series(fields.FLIPPED, fields.RIGHT)
    snapshots = one.history.snapshots
    (work,) = field_work(one.info.id, one.cells, snapshots)
    blame = Blame(one.cells, snapshots)
    full, short = field_page(one, blame, work), short_field(one.info, snapshots, work, blame)
    assert (short.path, short.template) == (full.path, "pages/short.html")
    html = renderer_of(sample.SITE).render(short).decode()
    assert "<b>The history of its values was left out to keep the site small</b>" in html
    assert "<code>sitegen blame waybills &#39;cargo[].name&#39;</code>" in html
    at = snapshots[2]
    point = (
        f'<a href="../{at.slug}.html">{at.label}, {day(at.commit.committed_at)}</a> '
        f'<a class="sha" href="../../../commits/{at.commit.sha[:12]}.html">{at.commit.short}</a>'
    )
    assert re.findall("<dt>(.*?)<dd>(.*?)(?=<dt>|</dl>)", html, re.DOTALL) == [
        ("Wrong now", "1 of 2 judged"),
        ("Wrong since", point),
        ("Last flip", point),
        ("Flips", "1: 1 by new output"),
    ]
    assert 'href="../../../fields.html#cargo-.name' in html


def test_fields_are_as_old_as_the_last_change_of_their_cells():
    attributes = [fields.FLIPPED._replace(attribute="new"), fields.RIGHT._replace(attribute="old")]
    one = fields.series(*attributes)
    works = field_work(one.info.id, one.cells, one.history.snapshots)
    positions = [one.history.snapshots[index].commit.position for index in (1, 4)]
    assert [(work.attribute, work.position) for work in works] == [("old", positions[0]), ("new", positions[1])]


def test_the_commands_of_lists_show_what_short_pages_leave_out():
    commit, edit = (
        renderer_of(sample.SITE).render(pages().listed).decode() for pages in (pages_of_a_commit, pages_of_an_edit)
    )
    assert "<code>git show -m --first-parent</code> and the commit" in commit
    assert f"<span class=sha>{sample.RECORD.commit.short}</span>" in commit
    change = sample.FILE.edits[1]
    assert change.old
    assert change.new
    assert f"<code>git diff {change.old.oid[:12]} {change.new.oid[:12]}</code>" in edit
    assert "edit 2 of the file, +3 −1 lines</small>" in edit
