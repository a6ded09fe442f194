"""Addresses of pages, links that all lead somewhere, and the address under which a site is published."""

import json
import re
from hashlib import sha256
from itertools import count
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

import pytest

from sitegen.pages import field, links
from tests.gitrepo import GitRepo
from tests.golden.repository import write as golden
from tests.rows import in_table
from tests.sites import attributes, broken_links, build_site, content, differs_from_cold, run


def names_with_equal_digits(digits: int, digested: str) -> tuple[str, str]:
    """Two names of the same readable letters; the digests of what is made of them begin with the same digits."""
    seen: dict[str, str] = {}
    for number in count():
        name = f"Walls {chr(0x4E00 + number // 5_000)}{chr(0x4E00 + number % 5_000)}"
        start = sha256(digested.format(name).encode()).hexdigest()[:digits]
        if start in seen:
            return seen[start], name
        seen[start] = name
    raise AssertionError


def test_names_of_any_kind_have_addresses_of_their_own():
    names = ("x\ud800", "x\udcff", "x\udcfe", "\ud800", "\udced\udca0\udc80", "A", "a", "\u00e9", "e\u0301", *"eE")
    assert len({links.slug(name).lower() for name in names}) == len(names)


def test_a_name_that_looks_like_the_slug_of_another_has_another_slug():
    for name in ("Walls", "\u58c1 1", "a/b"):
        assert links.slug(links.slug(name)) != links.slug(name)


def test_plain_names_are_their_own_addresses_and_long_ones_fit_into_a_file_name():
    plain = ("walls", "x-79910d15", "run-0123456789abcdef", "a.b_c-d")
    assert tuple(map(links.slug, plain)) == plain
    assert len(links.slug("\u58c1 " + "x" * 5_000).encode()) == 93


@in_table
def test_letters_of_all_scripts_stay_in_addresses(name: str, address: str):
    assert re.fullmatch(address, links.slug(name))


def test_a_site_with_names_of_other_scripts_is_whole_and_its_canonical_links_are_encoded(repo: GitRepo, tmp_path: Path):
    scores = [
        {"evals/合同审查/metrics.json": f'{{"accuracy": {score}}}', "prompts/合同.md": f"{score}"} for score in (0, 1)
    ]
    repo.commits(scores)
    build_site(repo.path, tmp_path / "out", base_url="https://example.org/数")
    page = tmp_path / "out/evals/合同审查/index.html"
    assert 'href="https://example.org/数/evals/%E5%90%88%E5%90%8C%E5%AE%A1%E6%9F%A5/"' in page.read_text()
    assert (tmp_path / "out/instructions/prompts--合同.md/index.html").exists()
    assert broken_links(tmp_path / "out") == []


def test_names_whose_digests_begin_alike_have_pages_of_their_own(repo: GitRepo, tmp_path: Path):
    one, other = names_with_equal_digits(8, "{}")
    names = names_with_equal_digits(8, ".claude--instructions--{}.md\0")
    guides = [f".claude/instructions/{name}.md" for name in names]
    files = {path: f"Read wall {number}.\n" for number, path in enumerate(guides)}
    for number, name in enumerate((one, other), 1):
        files[f"evals/{name}/ground_truth.json"] = f'{{"{one}": {number}, "{other}": 3}}'
        files[f"evals/{name}/extracted.json"] = f'{{"{one}": {number}, "{other}": 4}}'
    repo.commit(files)
    out = tmp_path / "out"
    build_site(repo.path, out)
    kinds = (links.eval_trend(name) for name in (one, other)), map(links.instruction, guides)
    fields = (links.field(one, attribute) for attribute in (one, other))
    for here, there in (*kinds, fields):
        assert (out / here).read_bytes() != (out / there).read_bytes()
    assert broken_links(out) == []


@pytest.fixture(scope="module")
def pages(demo_site: Path) -> dict[str, list[str]]:
    """What every page of the demonstration site links to, by path."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(demo_site.rglob("*.html"))}
    return {
        path.relative_to(demo_site).as_posix(): [value for name, value in attributes(text) if name in ("href", "src")]
        for path, text in texts.items()
    }


def _target(page: str, link: str) -> str | None:
    """The path that a link of a page names; None if it leaves the site."""
    parts = urlsplit(link)
    if parts.scheme:
        return None
    return normpath(join(dirname(page), unquote(parts.path))) if parts.path else page


def test_every_link_names_a_file_of_the_site_and_every_fragment_an_id(demo_site):
    assert broken_links(demo_site) == []


@pytest.mark.parametrize("kept", [None, 0, 1])
def test_however_few_full_reports_are_kept_every_link_leads_somewhere(tmp_path, kept):
    """The golden site, which has a page of each sort."""
    repo = golden(tmp_path / "golden")
    if kept is not None:
        (repo.path / "sitegen.toml").write_text(f"[limits]\nreports_kept = {kept}\n")
    build_site(repo.path, tmp_path / "out", jobs=1)
    assert broken_links(tmp_path / "out") == []


def test_links_to_fields_beyond_those_that_are_shown_lead_to_a_line_that_says_so(repo, tmp_path, monkeypatch):
    monkeypatch.setattr(field, "ROWS", 2)
    monkeypatch.setattr(field, "NAMED_FIELDS", 3)
    for given in ("right", "wrong"):
        truth, output = ({f"field{number}": text for number in range(8)} for text in ("right", given))
        sides = {"ground_truth": truth, "extracted": output}
        repo.commit({f"evals/{name}/{side}.json": json.dumps(of) for name in "ab" for side, of in sides.items()})
    repo.checkout()
    build_site(repo.path, tmp_path / "out", jobs=1)
    assert broken_links(tmp_path / "out") == []
    text = " ".join((tmp_path / "out" / links.fields()).read_text().split())
    assert "Here are the 4 fields with most errors. Links to the other 4 lead to this line" in text
    assert "fields.html#field7" in (tmp_path / "out/index.html").read_text() + "".join(
        page.read_text() for page in (tmp_path / "out/evals/a/fields").iterdir()
    )


def test_every_page_can_be_reached_from_the_first_one(pages):
    seen, waiting = {links.overview()}, [links.overview()]
    while waiting:
        path = waiting.pop()
        for link in pages[path]:
            found = _target(path, link)
            if found and found in pages and found not in seen:
                seen.add(found)
                waiting.append(found)
    assert pages.keys() - seen == {"404.html"}


@pytest.mark.parametrize("name", ["nul", "nul.txt", "NUL.TXT", "con.a.b", "com1.json", "Aux."])
def test_no_address_is_a_name_that_windows_reserves(name):
    assert re.match(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", links.slug(name)) is None


OPTION = "https://owner.github.io/project"


@pytest.fixture
def project(repo: GitRepo) -> GitRepo:
    repo.commit({"CLAUDE.md": "# Rules\n", "evals/a/ground_truth.json": '{"who": "Ann"}'})
    repo.check_in({"evals/a/extracted.json": '{"who": "Ann"}'}, message='Say "<b>" & more')
    return repo


def addresses(site: Path) -> dict[str, str | None]:
    """The canonical link of each page, by path."""
    pages = {path: text.decode() for path, text in content(site).items() if path.endswith(".html")}
    found = {path: re.search(r'<link rel="canonical" href="([^"]*)">', text) for path, text in pages.items()}
    return {path: link[1] if link else None for path, link in found.items()}


@pytest.mark.parametrize("option", [OPTION, f"{OPTION}/"])
def test_every_page_but_that_for_wrong_addresses_names_its_own(project, tmp_path, option):
    build_site(project.path, tmp_path / "out", base_url=option)
    wanted = {path: f"{OPTION}/{path.removesuffix('index.html')}" for path in addresses(tmp_path / "out")}
    assert addresses(tmp_path / "out") == {**wanted, "404.html": None}


def test_without_an_address_no_page_names_one(project, tmp_path):
    build_site(project.path, tmp_path / "out", base_url="")
    assert set(addresses(tmp_path / "out").values()) == {None}


def test_the_configuration_goes_before_the_option(project, tmp_path):
    (project.path / "sitegen.toml").write_text('base_url = "https://evals.example.org"\n')
    build_site(project.path, tmp_path / "out", base_url=OPTION)
    assert addresses(tmp_path / "out")["index.html"] == "https://evals.example.org/"


def test_another_address_is_on_every_page_at_once(project, tmp_path):
    build_site(project.path, tmp_path / "out")
    build_site(project.path, tmp_path / "out", base_url=OPTION)
    assert differs_from_cold(tmp_path / "out", project.path, base_url=OPTION) == []


def test_what_a_preview_shows_of_a_page_is_escaped(project, tmp_path):
    build_site(project.path, tmp_path / "out", base_url=OPTION)
    (page,) = [
        text
        for path, text in content(tmp_path / "out").items()
        if b"Say &#34;&lt;b&gt;" in text and path.startswith("commits/") and path != "commits/index.html"
    ]
    assert b'<meta property="og:title" content="Say &#34;&lt;b&gt;&#34; &amp; more">' in page


@pytest.mark.parametrize("address", ["owner.github.io/project", "javascript:alert(1)", "https://[", "https://a/?q=1"])
def test_what_is_no_address_of_a_site_is_an_error(project, address):
    done = run("build", project.path, "--base-url", address)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"The base_url {address!r} is not an address of a site." in done.stderr


def test_noindex_is_on_every_page_and_no_robots_txt_hides_it(project, tmp_path):
    (project.path / "sitegen.toml").write_text("noindex = true\n")
    build_site(project.path, tmp_path / "out")
    files = content(tmp_path / "out")
    pages = {path for path in files if path.endswith(".html")}
    assert {path for path in pages if b'<meta name="robots" content="noindex, nofollow">' in files[path]} == pages
    assert "robots.txt" not in files


@in_table
def test_a_project_makes_no_link_but_to_a_web_address_without_secrets(project, address):
    keys = ("repository_url", "base_url")
    (project.path / "sitegen.toml").write_text("".join(f"{key} = {json.dumps(address)}\n" for key in keys))
    done = run("build", project.path)
    assert done.returncode == 0
    pages = [page.read_text(encoding="utf-8") for page in (project.path / "site").rglob("*.html")]
    assert pages
    assert [page for page in pages if "secret@" in page or "token=secret" in page] == []
    assert [page for page in pages if f'href="{address}' in page or f"href={address}" in page] == []


def test_a_token_in_the_address_of_the_remote_is_in_no_file_of_the_site(project, tmp_path):
    project.git("remote", "add", "origin", "https://ann:geheim@example.org/org/repo.git?private_token=geheim#geheim")
    build_site(project.path, tmp_path / "out")
    files = content(tmp_path / "out")
    assert [path for path, body in files.items() if b"geheim" in body] == []
    assert b'<a href="https://example.org/org/repo">Repository</a>' in files["index.html"]
