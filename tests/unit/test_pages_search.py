"""The search index in shards that never change once they are full."""

import json
import re
from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.model.outcomes import REDACTED, Cell, Period
from sitegen.model.site import RawFile
from sitegen.pages import links
from sitegen.pages.data import search
from sitegen.pages.other_pages import methods_page, topics
from sitegen.scoring.kinds import BUILTIN_KINDS, scorer
from tests import pages_sample as sample


def _body(file: RawFile) -> Any:
    text = file.content.decode("ascii")
    return json.loads(text.removeprefix("(self.SEARCH=self.SEARCH||[]).push(").removesuffix(");\n"))


def _log(size: int) -> list[search.SearchEntry]:
    return [search.SearchEntry(f"title {i}", f"evals/a/{i:04}.html", "note") for i in range(size)]


def test_a_full_shard_does_not_change_when_the_log_grows():
    before, after = search.shards(_log(4500)), search.shards(_log(6001))
    assert [file.path for file in after] == ["search/0.js", "search/1.js", "search/2.js", "search/3.js"]
    assert before[:2] == after[:2]
    assert [len(_body(file)[2]) for file in after] == [2000, 2000, 2000, 1]


def test_the_last_shard_can_be_written_alone():
    log = _log(4500)
    assert search.shards(log[4000:], first=4499 // search.SHARD) == search.shards(log)[2:]


def test_an_entry_of_an_iteration_has_the_subject_and_the_author_of_its_commit():
    info, snapshot = sample.series(3).info, sample.series(3).points[1].snapshot
    assert search.iteration_entry(info, snapshot) == search.SearchEntry(
        f"{info.name}, {snapshot.label}",
        f"evals/{info.id}/{snapshot.slug}.html",
        snapshot.commit.subject,
        snapshot.commit.author,
        snapshot.commit.committed_at[:10],
    )
    copied = search.iteration_entry(info, snapshot, "iteration-001")
    assert copied.note == f"same output as iteration-001, {snapshot.commit.subject}"


def test_the_list_has_the_topics_of_methods_and_the_pages_that_each_eval_has():
    several, one = sample.summary(sample.series(3)), sample.summary(sample.single())
    pages = _body(search.list_file([several, one], (), (), 0))[2]["pages"]
    assert ["Noise", "methods.html#noise", "Methods: how it is computed"] in pages
    assert ["Errors by type", "index.html#evals", "omission, hallucination, wrong value, format error"] in pages
    assert [page[1] for page in pages if page[0] == "Compare iterations"] == ["evals/waybills/compare.html"]
    missed = replace(one, has_answerers=True, targets=(("F1", False),), metrics=("flaky",))
    answered = _body(search.list_file([missed], (), (), 0))[2]
    assert ["Flaky cases", "evals/receipts/0001.html#flaky=1", "Receipts: repeats that differ"] in answered["pages"]
    assert ["Compare answers", "evals/receipts/compare.html", "Receipts"] in answered["pages"]
    assert "misses its target" in answered["evals"][0][3]
    of_all = ["Suspect labels", "suspect-labels.html", "labels of all evals that may be wrong"]
    assert [page for page in pages if page[0] == "Suspect labels"] == [of_all]
    several = replace(several, suspects=(sample.suspect("a", '"x"', '"y"'),))
    found = [page for page in _body(search.list_file([several], (), (), 0))[2]["pages"] if page[0] == "Suspect labels"]
    of_eval = ["Suspect labels", "suspect-labels.html#section=waybills", "Waybills: labels that may be wrong"]
    assert found == [of_all, of_eval]


@pytest.mark.parametrize("kind", BUILTIN_KINDS)
def test_the_page_of_methods_has_what_is_true_of_the_kinds_of_the_site_and_search_finds_no_more(kind):
    html = sample.html_of(methods_page(((kind, scorer(kind).metrics),)))
    assert re.findall(r'<h2 id="?(\w+)', html) == list(topics([kind]))
    assert {*re.findall(r'href="?#([\w-]+)', html)} <= {*re.findall(r'id="?([\w-]+)', html)}
    assert ("<code>hungarian</code>" in html, "MiniLM" in html) == (kind == "fields", kind in ("responses", "judged"))


def test_a_redacted_value_is_not_found():
    hidden = Period(start=0, state="correct", expected=REDACTED.literal, actual=REDACTED.literal)
    cells = sample.cell_map(1, (sample.cell("", "name", hidden),))
    assert _body(search.values_file(replace(sample.single(), cells=cells)))[2] == []


def test_verdicts_come_first_then_the_newest_values_then_those_that_they_replaced_each_once_and_bounded():
    def cell(document: str, *values: tuple[str, str]) -> Cell:
        return sample.cell(document, "name", *(Period(at, "wrong_value", *sides) for at, sides in enumerate(values)))

    cells = cell("a", ('"Rome"', '"Old"'), ('"Rome"', '"Bern"')), cell("b", ('"Rome"', f'"{"x" * 99}"'))
    file = search.values_file(replace(sample.series(2), cells=sample.cell_map(2, cells)))
    assert file.path == links.search_values("waybills")
    field = ["name", links.field("waybills", "name")]
    verdict = ["iteration-002", "evals/waybills/0002.html", ["F1 −0.156, cannot tell"], "verdict", "2025-01-09"]
    values = [verdict, [*field, ["Rome", "Bern", "x" * search.LONGEST_VALUE]], [*field, ["Old"], "earlier value"]]
    assert _body(file) == ["values", "waybills", values]


def test_scripts_are_ascii_whatever_the_titles_hold():
    titles = (*sample.NASTY, "line\u2028separator", "\udcff")
    files = search.shards([search.SearchEntry(title, "a.html", title) for title in titles])
    assert [entry[0] for entry in _body(files[0])[2]] == list(titles)
