"""Addresses of pages are made from names of any kind."""

import re
from hashlib import sha256
from itertools import count
from pathlib import Path

import pytest

from sitegen.pages import links
from tests.gitrepo import GitRepo
from tests.sites import broken_links, build_site


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


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("合同审查", "合同审查"),
        ("合同 審査", "合同-審査-[0-9a-f]{32}"),
        ("prüfung", "prüfung"),
        ("Prüfung", "prüfung-[0-9a-f]{32}"),
        ("pru\u0308fung", "prüfung-[0-9a-f]{32}"),
        ("проверка-2", "проверка-2"),
        ("परीक्षा", "परीक्षा"),
        ("ｃｏｎ", "con-[0-9a-f]{32}"),
        ("a\u202eb", "a-b-[0-9a-f]{32}"),
        ("审" * 200, "审{20}-[0-9a-f]{32}"),
    ],
)
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
