"""Building sites in tests, and comparing them as a whole."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from html import unescape
from pathlib import Path

from sitegen.build import build
from sitegen.model.site import SiteInfo
from sitegen.project import Options
from sitegen.render.environment import Renderer, bytecode_folder
from sitegen.render.output_folder import LIST, MARKER
from sitegen.render.template_files import find_templates
from sitegen.stages.site_files import Site
from tests.command_server import run_command


def build_site(repo: Path, out: Path, **options: object) -> Site:
    """Build into a folder with a memo of its own beside it."""
    options.setdefault("cache", out.with_name(f"{out.name}-memo"))
    return build(Options(repo=repo, out=out, **options))  # type: ignore[arg-type]


def clone_bare(repo: Path, clone: Path) -> Path:
    """A bare clone whose branch a test may move, and which does not know the other repository."""
    subprocess.run(["git", "clone", "-q", "--bare", str(repo), str(clone)], check=True)
    subprocess.run(["git", "-C", str(clone), "remote", "remove", "origin"], check=True)
    return clone


@cache
def renderer_of(site: SiteInfo) -> Renderer:
    """Renders with the templates of sitegen. One for all tests of a process, because it loads each template once."""
    return Renderer([find_templates()], site, bytecode_folder())


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a site, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in (MARKER, LIST)
    }


_TAG = re.compile(r'<[a-z][a-z0-9]*((?:\s+[a-zA-Z-]+(?:="[^"]*"|=[^\s">]+)?)+)')
_ATTRIBUTE = re.compile(r'\s([a-zA-Z-]+)=(?:"([^"]*)"|([^\s">]+))')


def broken_links(folder: Path) -> list[str]:
    """``page: link`` of every relative link that leads to no file; those of 404.html depend on the address."""
    found = []
    for page in sorted(folder.rglob("*.html")):
        for attributes in _TAG.findall(page.read_text(encoding="utf-8")):
            for name, quoted, bare in _ATTRIBUTE.findall(attributes) if page.name != "404.html" else ():
                link = unescape(quoted or bare).partition("#")[0] if name in ("href", "src") else ""
                outside = link.startswith(("http:", "https:", "data:"))
                if link and not outside and not (page.parent / link).is_file():
                    found.append(f"{page.relative_to(folder)}: {link}")
    return found


def problems_text(folder: Path) -> str:
    """The text of the problems page."""
    text = re.sub(r"<[^>]+>", "", (folder / "problems.html").read_text(encoding="utf-8"))
    return " ".join(unescape(text).split())


def differences(one: Path, other: Path) -> list[str]:
    """Paths that are not the same in both sites."""
    left, right = content(one), content(other)
    return sorted(path for path in left.keys() | right.keys() if left.get(path) != right.get(path))


def run(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command line as a user runs it, without the user's git configuration."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return run_command([*map(str, arguments)], cwd or Path.cwd(), environment)


def start(*arguments: str | Path, stdout: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """The command line, running. A pipe as *stdout* ends when the last of its processes has ended."""
    return subprocess.Popen(
        [sys.executable, "-m", "sitegen", *map(str, arguments)], stdout=stdout, stderr=subprocess.DEVNULL
    )
