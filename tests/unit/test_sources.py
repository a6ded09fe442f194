"""The documents that outputs were made from: found in git, quoted and shown beside ground truth and output."""

import json
import re
from decimal import Decimal
from html import unescape
from pathlib import Path

import pytest

from sitegen.config.manifest import manifest_in_force
from sitegen.data_files.pictures import raster_picture
from sitegen.history.files_at_commit import source_files
from sitegen.history.folder_tree import FolderTree
from sitegen.model.outcomes import Value
from sitegen.scoring.evidence import Evidence, evidence_in
from sitegen.text.words import SearchedText
from tests.gitrepo import GitRepo, Link
from tests.pictures import png
from tests.rows import in_table
from tests.sites import broken_links, build_site, content, differences, problems_text

MANIFEST = """evals:
  letters: {source: "texts/{document}.txt"}
  plans: {source: "../../plans/{page}.png"}
"""
TRUTH = "id,sender,items[0].name,items[0].price\na,Ann,Oak table,10\nb,Ben,Lamp,8\n"
MAPPING = """csv_to_json: {sender: sender, 'items[0].name': 'items[0].name', 'items[0].price': 'items[0].price'}
documents: {path: letters, key: id}
lists: {items: {match_fields: [name]}}
"""
LETTER = "Dear shop,\n\nplease send one <b>oak</b>\n   table for 10 crowns   and a lamp.\n\nAnn\n"


def test_a_pattern_names_files_by_document_and_page_and_nothing_outside():
    listed = FolderTree.of(
        [
            *("evals/x/p/a/01.png", "evals/x/p/a/2.png", "evals/x/p/b/2.png", "evals/x/p/b/x.png"),
            *("evals/x/p/b-2.txt", "s/a.txt"),
        ]
    ).names
    cases = {
        "p/{document}/{page}.png": [("p/a/01.png", "a", 1), ("p/a/2.png", "a", 2), ("p/b/2.png", "b", 2)],
        "p/{document}/{document}.png": [],
        "p/{document}-{page}.txt": [("p/b-2.txt", "b", 2)],
        "p/a/2.png": [("p/a/2.png", None, None)],
        "p/*/2.png": [],
        "../../../etc/{document}.txt": [],
        "/s/{document}.txt": [],
    }
    for pattern, expected in cases.items():
        files = source_files(pattern, "evals/x", listed)
        assert [(file.path.removeprefix("evals/x/"), file.document, file.page) for file in files] == expected, pattern
    assert [file.path for file in source_files("../../s/{document}.txt", "evals/x", listed)] == ["s/a.txt"]


@pytest.mark.parametrize("path", ["/etc/{page}.png", "../../../{page}.png", "../../x/../../a.txt"])
def test_a_source_outside_the_project_does_not_count(path):
    content = f"evals: {{x: {{source: '{path}'}}}}".encode()
    manifest, [finding] = manifest_in_force(content, "evals/manifest.yaml", "evals")
    assert manifest.entry("x").source is None
    assert (finding.severity, finding.message) == (
        "error",
        f"evals.x.source is text ({path!r}): it leads out of the project. It does not count.",
    )


@pytest.mark.parametrize("value", ["invented", "https://example.org/a.pdf", "Smith et al.", "7"])
def test_a_source_that_names_no_file_stays_metadata(value):
    entry = manifest_in_force(
        f"evals: {{x: {{source: {value!r}}}}}".encode(), "evals/manifest.yaml", "evals"
    ).value.entry("x")
    assert (entry.source, dict(entry.metadata)) == (None, {"source": value})


def test_evidence_is_read_in_the_value_beside_it_and_below_it():
    document: dict[str, Value] = {
        "rooms": {"value": 12, "page": 3, "quote": " 12 rooms "},
        "windows": [{"width": 1, "_source": {"page": "p. 4", "quote": "1 m"}}, {"width": 2, "page_number": Decimal(5)}],
        "owner": "Ann",
        "owner_page": [6, 7],
        "owner_quote": "A. Ann",
        "area": 3,
        "area_source": [{"snippet": "3 m²"}, {"page": 9}],
        "page": True,
        "citation": "none",
        "odd": {"page": -1, "quote": 5},
    }
    assert evidence_in(document) == {
        "rooms": Evidence(3, "12 rooms"),
        "windows[0]": Evidence(4, "1 m"),
        "windows[1]": Evidence(5, ""),
        "owner": Evidence(6, "A. Ann"),
        "area": Evidence(None, "3 m²"),
        "area_source[0]": Evidence(None, "3 m²"),
        "area_source[1]": Evidence(9, ""),
    }


def test_a_quote_is_found_whatever_its_spaces_with_the_words_around_it():
    text = SearchedText(f"{'x ' * 50}One  oak\n table, {'y ' * 50}")
    passage = text.passage("oak table")
    assert passage is not None
    assert (passage.quote, passage.before[-6:], passage.after[:4]) == ("oak table", "x One ", ", y ")
    assert (passage.before.startswith("… x"), passage.after.endswith("y …"), len(passage.before) < 70) == (True,) * 3
    assert [text.passage(quote) for quote in ("oak  desk", "Oak table")] == [None, None]


LARGE = png(200, 150, 0)
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc2\x00\x0b\x08\x00\x02\x00\x03\x01\x01\x11\x00"


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (png(3, 2, 9), ("png", 3, 2)),
        (b"GIF89a\x03\x00\x02\x00", ("gif", 3, 2)),
        (JPEG, ("jpg", 3, 2)),
        (b"RIFF....WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x01\x00\x00", ("webp", 3, 2)),
        (b"RIFF....WEBPVP8 ....\x00\x00\x00\x9d\x01\x2a\x03\x00\x02\x40", ("webp", 3, 2)),
        (b"RIFF....WEBPVP8L....\x2f\x02\x40\x00\x00", ("webp", 3, 2)),
        (png(3, 2, 9)[:18], None),
        (b"\x89PNG\r\n\x1a\n....IHDR\x00\x00\xff\xff\x00\x00\x00\x01", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
        (b"\xff\xd8\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", None),
        (b"", None),
    ],
)
def test_only_raster_pictures_are_pictures_and_have_a_size(start, expected):
    assert raster_picture(start) == expected


def letters(*items: dict[str, object], **members: object) -> str:
    """An output with the first of the two letters."""
    return json.dumps(
        {"letters": [{"id": "a", "sender": "Ann", "items": items, **members}, {"id": "b", "sender": "Ben"}]}
    )


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    """Letters as texts, plans as pictures: with quotes and pages that the source has, and others that it has not."""
    repo = GitRepo(tmp_path_factory.mktemp("sources") / "project")
    plans = {"plans/1.png": LARGE, "plans/2.png": png(40, 20, 18)}
    repo.commit(
        {
            "evals/manifest.yaml": MANIFEST,
            "evals/field_mapping.yaml": MAPPING,
            "evals/letters/ground_truth.csv": TRUTH,
            "evals/plans/ground_truth.csv": TRUTH,
            "evals/letters/texts/a.txt": LETTER,
            "evals/letters/texts/b.txt": b"\xff\xfe\x00",
            "plans/3.png": "<svg onload=alert(1)></svg>",
            "plans/4.png": Link("1.png"),
            **plans,
        }
    )
    lamp = {"name": "Lamp", "price": 8, "quote": "three lamps"}
    table = {"name": "Oak table", "price": 10, "_source": {"quote": "one <b>oak</b> table", "page": 1}}
    repo.commit(
        {
            "evals/letters/extracted.json": letters(lamp, table, sender_quote="Ann"),
            "evals/plans/extracted.json": letters(table, sender_page=9, sender_quote="<i>Ann</i>"),
        }
    )
    cited = letters({**table, "price_page": 2}, {**lamp, "page": 3}, sender_page=2)
    repo.commit({"plans/2.png": png(10, 5, 200), "evals/plans/extracted.json": cited})
    return repo


@pytest.fixture(scope="module")
def site(repo: GitRepo) -> Path:
    out = repo.path.with_name("site")
    build_site(repo.path, out, jobs=1)
    return out


def source_lines(page: Path) -> list[str]:
    """What the page says of the source, in the order of the page, with the anchors that it links to."""
    html = page.read_text(encoding="utf-8")
    lines = re.findall(r'class="?src"?>(?:<td colspan=3>)?(.*?)(?:</p>|<tr|</table>)', html)
    return [
        " ".join(unescape(re.sub("<[^>]+>", " ", re.sub(r'<a href="(#[^"]*)">', r"(\1) ", line))).split())
        for line in lines
    ]


def test_quotes_are_shown_with_the_words_around_them_or_are_not_in_the_source(site):
    assert source_lines(site / "evals/letters/0001-tree.html") == [
        "Source … please send one <b>oak</b> table for 10 crowns and a lamp. Ann",
        "Source p. 1 Dear shop, please send one <b>oak</b> table for 10 crowns and a lamp. Ann",
        "Source three lamps this quote is not in the source: a hint at a hallucination",
    ]


def test_the_answers_of_several_models_to_a_document_have_its_source(tmp_path):
    repo = GitRepo(tmp_path / "project")
    entry = 'letters: {source: "texts/{document}.txt", outputs: "{model}.json"}'
    outputs = {f"evals/letters/{model}.json": letters(sender_quote="Ann") for model in ("gpt-4o", "claude-3")}
    truth = {"evals/letters/ground_truth.csv": TRUTH, "evals/field_mapping.yaml": MAPPING}
    texts = {"evals/letters/texts/a.txt": LETTER, "evals/manifest.yaml": f"evals:\n  {entry}\n"}
    repo.commit({**truth, **texts, **outputs})
    build_site(repo.path, tmp_path / "site")
    (found, again) = source_lines(tmp_path / "site/evals/letters/0001-tree.html")
    assert found == again == "Source … please send one <b>oak</b> table for 10 crowns and a lamp. Ann"


def test_a_node_with_a_quote_that_is_not_in_the_source_is_open(site):
    def heads_of_lamps(name: str) -> list[tuple[str, str]]:
        html = (site / name).read_text(encoding="utf-8")
        return re.findall(r"<details( open)?><summary><b>(items\[Lamp\])", html)

    assert heads_of_lamps("evals/letters/0001-tree.html") == [(" open", "items[Lamp]"), ("", "items[Lamp]")]
    assert heads_of_lamps("evals/plans/0002-tree.html") == [("", "items[Lamp]")] * 2


def test_pages_are_shown_as_they_were_at_the_commit_of_the_output_each_once(site):
    assert source_lines(site / "evals/plans/0001-tree.html") == [
        "Source p. 9 <i>Ann</i> the source has no page 9: a hint at a hallucination",
        "Source (#page-1) p. 1 one <b>oak</b> table",
    ]
    page = site / "evals/plans/0002-tree.html"
    assert source_lines(page) == [
        "Source (#page-1) p. 2",
        "Source (#page-2) p. 1 one <b>oak</b> table",
        "Source (#page-1) p. 2",
        "Source p. 3 three lamps page not shown: no PNG, JPEG, GIF or WebP picture",
    ]
    pictures = re.findall(r'<figure id="(.*?)".*?<img (.*?)>', " ".join(page.read_text(encoding="utf-8").split()))
    addresses = [re.search(r'src="(.*?)"', attributes)[1] for _, attributes in pictures]  # type: ignore[index]
    assert [
        (anchor, attributes.replace(address, "FILE"))
        for (anchor, attributes), address in zip(pictures, addresses, strict=True)
    ] == [
        ("page-1", 'src="FILE" alt="Page 2 of the source" width="10" height="5" loading="lazy" decoding="async"'),
        ("page-2", 'src="FILE" alt="Page 1 of the source" width="200" height="150" loading="lazy" decoding="async"'),
    ]
    files = {path: body for path, body in content(site).items() if "/source/" in path}
    assert files == {f"evals/plans/{addresses[0]}": png(10, 5, 200), f"evals/plans/{addresses[1]}": LARGE}
    assert broken_links(site) == []
    assert re.search("img-src [^;]*", page.read_text(encoding="utf-8"))[0] == "img-src 'self' data:"  # type: ignore[index]


def test_what_cannot_be_shown_is_a_problem_that_leaves_scores_alone(site):
    text = problems_text(site)
    assert "A file of the source cannot be shown: no PNG, JPEG, GIF or WebP picture." in text
    assert "plans/3.png" in text
    summary = json.loads((site / "data/evals/plans.json").read_text())["points"][-1]["now"]
    assert summary["tp"] == 4


def test_one_more_commit_gives_the_site_of_a_cold_build(repo, site, tmp_path):
    for rev in ("HEAD~1", "HEAD", "HEAD"):
        built = build_site(repo.path, tmp_path / "out", jobs=1, rev=rev)
    assert (built.written, differences(tmp_path / "out", site)) == (0, [])


@in_table
def test_a_source_that_shows_nothing_is_a_problem(repo, tmp_path, manifest, message, quotes):
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "clone"))
    changed = GitRepo(tmp_path / "clone")
    changed.commit({"evals/manifest.yaml": f"evals:\n  {manifest}\n"})
    build_site(changed.path, tmp_path / "out", jobs=1)
    assert message in problems_text(tmp_path / "out")
    assert source_lines(tmp_path / "out/evals/letters/0001-tree.html") == quotes


def test_a_picture_that_is_too_large_is_a_problem_and_its_quote_stays(repo, tmp_path):
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "clone"))
    (tmp_path / "clone/sitegen.toml").write_text("[limits]\nmax_blob_bytes = 5000\n")
    build_site(tmp_path / "clone", tmp_path / "out", jobs=1)
    reason = f"larger than 0.005 MB ({len(LARGE) / 1e6:.4g} MB)"
    assert f"{reason}." in problems_text(tmp_path / "out")
    lines = source_lines(tmp_path / "out/evals/plans/0001-tree.html")
    assert lines[1] == f"Source p. 1 one <b>oak</b> table page not shown: {reason}"
