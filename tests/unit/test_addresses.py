"""Addresses of pages are made from names of any kind."""

from hashlib import sha256
from itertools import count
from pathlib import Path

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
    for name in ("Walls", "\u58c1", "a/b"):
        assert links.slug(links.slug(name)) != links.slug(name)


def test_plain_names_are_their_own_addresses_and_long_ones_fit_into_a_file_name():
    plain = ("walls", "x-79910d15", "run-0123456789abcdef", "a.b_c-d")
    assert tuple(map(links.slug, plain)) == plain
    assert len(links.slug("\u58c1 " + "x" * 5_000)) == 93


def test_names_whose_digests_begin_alike_have_pages_of_their_own(tmp_path: Path):
    one, other = names_with_equal_digits(8, "{}")
    names = names_with_equal_digits(8, ".claude--instructions--{}.md\0")
    guides = [f".claude/instructions/{name}.md" for name in names]
    files = {path: f"Read wall {number}.\n" for number, path in enumerate(guides)}
    for number, name in enumerate((one, other), 1):
        files[f"evals/{name}/ground_truth.json"] = f'{{"{one}": {number}, "{other}": 3}}'
        files[f"evals/{name}/extracted.json"] = f'{{"{one}": {number}, "{other}": 4}}'
    repo = GitRepo(tmp_path / "p")
    repo.commit(files)
    out = tmp_path / "out"
    build_site(repo.path, out)
    kinds = (links.eval_trend(name) for name in (one, other)), map(links.instruction, guides)
    fields = (links.field(one, attribute) for attribute in (one, other))
    for here, there in (*kinds, fields):
        assert (out / here).read_bytes() != (out / there).read_bytes()
    assert broken_links(out) == []
