"""Building sites in tests, and comparing them as a whole."""

import importlib
import os
import pty
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from html import unescape
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

import pytest

from sitegen.engine.built_site import Site
from sitegen.engine.output_folder import LIST
from sitegen.engine.worker_context import Renderer
from sitegen.model.site import Page, SiteInfo
from sitegen.project import MARKER, Options
from sitegen.update import build
from tests.command_server import run_command
from tests.scoring.test_tables import tables

ADDRESSES = {
    row["kind"]: row["file"] for row in tables(Path(__file__).with_name("files_of_a_site.md").read_text("utf-8"))[0]
}
"""What files of a site are called, by their kind; of pages, the tests in a browser open one of each kind."""


def build_site(repo: Path, out: Path, **options: object) -> Site:
    """Build into a folder with a memo of its own beside it."""
    options.setdefault("cache", out.with_name(f"{out.name}-memo"))
    return build(Options(repo=repo, out=out, **options))  # type: ignore[arg-type]


def failing(
    monkeypatch: pytest.MonkeyPatch, name: str, error: BaseException, when: Callable[..., bool] = lambda *_, **__: True
) -> None:
    """Let a function raise, always or if its arguments are such."""
    module, _, function = name.rpartition(".")
    real = getattr(importlib.import_module(module), function)

    def fails(*arguments: Any, **named: Any) -> Any:
        if when(*arguments, **named):
            raise error
        return real(*arguments, **named)

    monkeypatch.setattr(name, fails)


def clone_bare(repo: Path, clone: Path) -> Path:
    """A bare clone whose branch a test may move, and which does not know the other repository."""
    subprocess.run(["git", "clone", "-q", "--bare", str(repo), str(clone)], check=True)
    subprocess.run(["git", "-C", str(clone), "remote", "remove", "origin"], check=True)
    return clone


@cache
def renderer_of(site: SiteInfo) -> Renderer:
    """Renders with the templates of sitegen. One for all tests of a process, because it loads each template once."""
    return Renderer(site)


def written(renderer: Renderer, page: Page) -> str:
    """The HTML of a page with white space collapsed, and without any between tags."""
    return re.sub("> <", "><", " ".join(renderer.render(page).decode().split()))


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a site, by path, without those that say to sitegen and to git what the folder is."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in (MARKER, LIST, ".gitignore")
    }


_TAG = re.compile(r'<[a-z][a-z0-9]*((?:\s+[a-zA-Z-]+(?:="[^"]*"|=[^\s">]+)?)+)')
_ATTRIBUTE = re.compile(r'\s([a-zA-Z-]+)=(?:"([^"]*)"|([^\s">]+))')
_CELL = re.compile(r'<t[dh](?:\s+[a-zA-Z-]+(?:="[^"]*"|=[^\s">]+)?)*>')
_LEADS_ON = re.compile("http-equiv=refresh|<h1>This page is not written yet|> This page could not be made")
"""What a page has that stands in the place of another one: it has no ids, and leads to the numbers, or says why not."""


def attributes(html: str) -> list[tuple[str, str]]:
    """Name and value of each attribute of the tags of a page."""
    found = (each for tag in _TAG.findall(html) for each in _ATTRIBUTE.findall(tag))
    return [(name, unescape(quoted or bare)) for name, quoted, bare in found]


def broken_links(folder: Path) -> list[str]:
    """``page: link`` of every relative link without a file or, in a whole page, its id; also ids that stand twice.

    ``#a=1&b=2`` is a choice, and no id. Links of 404.html depend on the address. The page of all fields has no ids of
    those beyond its length, and says so where it begins.
    """
    ids: dict[Path, set[str] | None] = {}
    found: list[tuple[Path, str]] = []
    broken = []
    for page in sorted(folder.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        found_here = attributes(text)
        counts = Counter(value for name, value in found_here if name == "id")
        broken += [f"{page.relative_to(folder)}: {name} twice" for name, count in counts.items() if count > 1]
        ids[page] = None if _LEADS_ON.search(text) or "shown" in counts else {*counts}
        if page.name != "404.html":
            links = (value for name, value in found_here if name in ("href", "src"))
            found += [(page, link) for link in links if not link.startswith(("http:", "https:", "data:"))]
    for page, link in found:
        address, _, fragment = link.partition("#")
        target = Path(os.path.normpath(page.parent / address)) if address else page
        known = ids.get(target) if fragment and "=" not in fragment else None
        if not target.is_file() or (known is not None and unquote(fragment) not in known):
            broken.append(f"{page.relative_to(folder)}: {link}")
    return broken


def faults_of_structure(folder: Path) -> dict[str, list[str]]:
    """What the pages of a site have that their policy forbids, or that those who hear a page stumble over."""
    found = {}
    for path in sorted(folder.rglob("*.html")):
        html = path.read_text(encoding="utf-8")
        given = attributes(html)
        ids = Counter(value for name, value in given if name == "id")
        named = {word for name, value in given if name in ("for", "aria-labelledby") for word in value.split()}
        levels = [int(level) for level in re.findall(r"<h([1-6])[\s>]", html)]
        found[path.relative_to(folder).as_posix()] = [
            *(f"the id {each} {count} times" for each, count in ids.items() if count > 1),
            *(f"no id {each}" for each in sorted(named - ids.keys())),
            *(f"inline {name}" for name, _ in given if name == "style" or name.startswith("on")),
            *re.findall(r"<style|<script(?![^>]*\s(?:src=|type=.?application/json))|<tspan[^>]*><span", html),
            *([f"{levels.count(1)} first headings"] if levels.count(1) != 1 else []),
            *(row for table in re.findall(r"<table.*?</table>", html, re.DOTALL) for row in misplaced(table)),
            *(f"h{lower} below h{upper}" for upper, lower in pairwise(levels) if lower > upper + 1),
        ]
    return {page: faults for page, faults in found.items() if faults}


def misplaced(table: str) -> list[str]:
    """Rows that have not one cell below each head, or one that is of another column or hidden on other screens."""
    every = [row for row in table.split("<tr")[1:] if not row.startswith(' class="gone"')]  # a removed line of a text
    heads, *rows = map(_columns, every if "<thead" in table else [""])
    fits = [(None, head, {each for each in head or () if each.startswith("hide-")}) for head in heads]
    return [
        f"{row} below {heads}" for row in rows if len(row) != len(fits) or not all(map(tuple.__contains__, fits, row))
    ]


def _columns(row: str) -> list[set[str] | None]:
    """The classes of each cell that name or hide its column; None for each column of a cell that spans several."""
    cells = map(dict, map(attributes, _CELL.findall(row)))
    named = [({*re.findall(r"(?:c|hide)-\S+", cell.get("class", ""))}, int(cell.get("colspan", 1))) for cell in cells]
    return [classes if spanned == 1 else None for classes, spanned in named for _ in range(spanned)]


def problems_text(folder: Path) -> str:
    """The text of the problems page, with a space between the cells of a table."""
    return text_of(folder / "problems.html")


def words_of(html: str) -> str:
    """The text of HTML, with a space in place of each tag."""
    return " ".join(re.sub("<[^>]*>", " ", html).split())


def text_of(page: Path) -> str:
    """The text of a page, with a space in place of each tag, except before what closes or goes on."""
    html = page.read_text(encoding="utf-8").replace("<wbr>", "")
    return re.sub(r" (?=[,.;:)])", "", " ".join(unescape(words_of(html)).split()))


def differences(one: Path, other: Path) -> list[str]:
    """Paths that are not the same in both sites."""
    left, right = content(one), content(other)
    return sorted(path for path in left.keys() | right.keys() if left.get(path) != right.get(path))


def differs_from_cold(site: Path, repo: Path, **options: object) -> list[str]:
    """Paths that are not the same in a site and in that of a cold build."""
    with TemporaryDirectory() as folder:
        cold = Path(folder) / "site"
        build_site(repo, cold, jobs=1, **options)
        return differences(site, cold)


def on_a_terminal(command: Sequence[str]) -> tuple[str, str]:
    """What a command prints, and what it draws: its standard error is a terminal, its standard output a pipe."""
    ours, its = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    drawn = b""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=its, env=environment) as process:
        os.close(its)
        with suppress(OSError):  # Linux ends a terminal whose other side is closed this way
            while chunk := os.read(ours, 4096):
                drawn += chunk
        assert process.stdout is not None
        printed = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0
    return printed.decode(), drawn.decode()


def run(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command line as a user runs it, without the user's git configuration."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return run_command([*map(str, arguments)], cwd or Path.cwd(), environment)


def start(*arguments: str | Path, stdout: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """The command line, running. A pipe as *stdout* ends when the last of its processes has ended."""
    return subprocess.Popen(
        [sys.executable, "-m", "sitegen", *map(str, arguments)], stdout=stdout, stderr=subprocess.DEVNULL
    )
