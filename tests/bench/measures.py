"""What is measured of one generated repository, by whole processes that take turns."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from sitegen.engine.output_folder import LIST
from tests.bench import hugo, reference
from tests.bench.generate import SIZES, generate, git
from tests.bench.processes import PYTHON, Measured, Samples, alternately, run, sitegen
from tests.bench.ready import Load, largest_pages, measure_pages, started_browser

MAIN: Final = "refs/heads/main"
ONCE: Final = ("L", "XL")
"""Sizes of which a first build takes minutes: it is measured once, and not with one process."""
ONE_EVAL: Final = ("298-points", "2265-points")
"""Repositories of one eval; the second has 7.7 times the commits."""
IMPORT: Final = """
import gc, importlib, sys
gc.set_threshold(1_000_000)  # a build collects no garbage while it imports
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError:
        pass
"""
FEWEST_COMMITS: Final = 3
"""How often one more commit is built; commits differ in what they change."""


class Folders(NamedTuple):
    """Where things are while the benchmark runs."""

    work: Path
    """Repositories, kept from run to run."""
    fast: Path
    """Sites and caches, in memory if the machine offers it; emptied at the end."""

    def repository(self, name: str) -> Path:
        """The generated repository of a size, made if it is not there yet."""
        repository = self.work / f"{name}.git"
        if not repository.exists():
            unfinished = self.work / f"{name}.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            say(f"generating {name}")
            generate(unfinished, SIZES[name])
            unfinished.rename(repository)
        return repository

    def site(self, name: str) -> Site:
        """Where the site of a size is built."""
        return Site(self.repository(name), self.fast / f"{name}-site", self.fast / f"{name}-cache")


class Weight(NamedTuple):
    """Some files of a site, in bytes."""

    largest: int
    total: int
    files: int


class Site(NamedTuple):
    """A repository, and where its site is built."""

    repository: Path
    out: Path
    cache: Path

    def build(self, *arguments: str, watch: bool = False, options: Sequence[str] = ()) -> Measured:
        """Build into whatever is there; *options* are those of Python itself."""
        command = sitegen("build", str(self.repository), "-o", str(self.out), "--cache", str(self.cache), *arguments)
        return run([command[0], *options, *command[1:]], watch=watch)

    def first_build(self, *, jobs: int = 2) -> Measured:
        """Build from nothing, by the same number of processes on any machine."""
        self.clear()
        return self.build("--jobs", str(jobs), watch=True)

    def clear(self) -> None:
        """Delete the site and its cache."""
        for folder in (self.out, self.cache):
            shutil.rmtree(folder, ignore_errors=True)

    def digest(self) -> str:
        """A digest of all names and bytes, without the list of written files, which every build appends to."""
        state = hashlib.sha256()
        for path in sorted(path for path in self.out.rglob("*") if path.is_file() and path.name != LIST):
            state.update(f"{path.relative_to(self.out)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
        return state.hexdigest()

    def weight(self, *patterns: str) -> Weight:
        """The files that any of the patterns matches."""
        sizes = [path.stat().st_size for pattern in patterns for path in self.out.glob(pattern) if path.is_file()]
        return Weight(max(sizes, default=0), sum(sizes), len(sizes))


class OneMore(NamedTuple):
    """Builds of consecutive commits, each with one more than the build before."""

    start: Measured
    """The build before the first of them, which is a first build."""
    builds: list[Measured]
    modules: tuple[str, ...]
    """All that is imported, in order; Python's own among them."""


class OneEval(NamedTuple):
    """First builds of repositories with a single eval."""

    short: list[Measured]
    long: list[Measured]
    long_two_processes: list[Measured]


class SizeResult(NamedTuple):
    """What was measured of one repository."""

    name: str
    reference: list[Measured]
    """R: what git alone needs."""
    first: list[Measured]
    first_one_process: list[Measured]
    unchanged: list[Measured]
    hugo: list[Measured]
    """Hugo with as many pages; nothing if it was not asked for."""
    hugo_weight: Weight
    one_more: OneMore
    weights: dict[str, Weight]
    pages: dict[str, Load]
    """Of pages in a browser, by name, the empty name for an empty page; nothing if there is no browser."""
    same: bool
    """Whether building commit by commit gave the bytes of a first build."""


WEIGHTS: Final = {
    "site": ("**/*",),
    "page": ("**/*.html",),
    "largest trend page": ("evals/*/index.html",),
    "search index": ("search/*",),
    "feed": ("feed.xml",),
    "pages of comparisons": ("evals/*/compare*",),
    "data files": ("data/**/*", "badges/*"),
}
"""The files of a site whose weight is measured."""


def say(text: str) -> None:
    """Report progress."""
    print(f"{text} ...", file=sys.stderr, flush=True)


def seconds(results: Iterable[Measured]) -> Samples:
    """The wall time of each."""
    return Samples(tuple(result.seconds for result in results))


def cpu(results: Iterable[Measured]) -> Samples:
    """The CPU time of each."""
    return Samples(tuple(result.cpu_seconds for result in results))


def measure_size(folders: Folders, name: str, runs: int, *, with_hugo: bool) -> SizeResult:
    """Everything that is measured of a repository at its newest commit."""
    runs = 1 if name in ONCE else runs
    site, needed = folders.site(name), folders.fast / "needed"
    say(f"measuring {name}: {reference.write_needed(site.repository, needed)} blobs")
    source, printed = folders.fast / "hugo-source", site._replace(out=folders.fast / "hugo-site")
    references, alone, first, unchanged, hugos = [], [], [], [], []
    for _ in range(runs):
        references.append(reference.measure(site.repository, needed))
        if name not in ONCE:
            alone.append(site.first_build(jobs=1))
        first.append(site.first_build())
        unchanged.append(site.build())
        if with_hugo:
            if not source.exists():
                hugo.write_site(source, site.weight("**/*.html").files, SIZES[name])
            hugos.append(hugo.build(hugo.binary(), source, printed.out))
    weights = {kind: site.weight(*patterns) for kind, patterns in WEIGHTS.items()}
    hugo_weight = printed.weight("**/*.html")
    for folder in (source, printed.out):
        shutil.rmtree(folder, ignore_errors=True)
    pages = opened_pages(site)
    digest = site.digest()
    one_more = measure_one_more(site, git(site.repository, "rev-parse", MAIN).strip(), max(runs, FEWEST_COMMITS))
    same = site.digest() == digest
    site.clear()
    return SizeResult(
        name=name,
        reference=references,
        first=first,
        first_one_process=alone,
        unchanged=unchanged,
        hugo=hugos,
        hugo_weight=hugo_weight,
        one_more=one_more,
        weights=weights,
        pages=pages,
        same=same,
    )


def opened_pages(site: Site) -> dict[str, Load]:
    """The pages of a built site in a browser."""
    with started_browser() as browser:
        if browser is None:
            say("no browser was found, so no page is opened; `make browser` installs one")
            return {}
        say("opening pages in a browser")
        return measure_pages(browser, largest_pages(site.out))


def measure_one_more(site: Site, tip: str, runs: int) -> OneMore:
    """Builds of the last commits up to *tip*, one after the other; the first only lists its imports."""
    line = git(site.repository, "rev-list", "--first-parent", f"--max-count={runs + 2}", tip).split()
    head = git(site.repository, "rev-parse", MAIN).strip()

    def build(commit: str, options: Sequence[str] = ()) -> Measured:
        git(site.repository, "update-ref", MAIN, commit)
        return site.build(options=options)

    try:
        git(site.repository, "update-ref", MAIN, line[-1])
        start = site.first_build()
        listing = build(line[-2], ("-X", "importtime")).messages
        timed = [build(commit) for commit in reversed(line[:-2])]
    finally:
        git(site.repository, "update-ref", MAIN, head)
    modules = re.findall(r"^import time:.*\| +([\w.]+)$", listing, re.MULTILINE)
    return OneMore(start=start, builds=timed, modules=tuple(modules))


def measure_one_eval(folders: Folders, runs: int) -> OneEval:
    """First builds of two repositories of one eval: the short one and the long one, this by one process and by two."""
    say("measuring one eval with few and with many outputs")
    short, long = (folders.site(name) for name in ONE_EVAL)
    builds = alternately(runs, lambda: short.first_build(jobs=1), lambda: long.first_build(jobs=1), long.first_build)
    for site in (short, long):
        site.clear()
    return OneEval(*builds)


def measure_imports(modules: Sequence[str], runs: int) -> Samples:
    """Milliseconds that a process needs to import these modules, beyond what an empty one needs."""
    bare, importing = alternately(
        runs, lambda: run([PYTHON, "-c", "pass"]), lambda: run([PYTHON, "-c", IMPORT, *modules])
    )
    pairs = zip(importing, bare, strict=True)
    return Samples(tuple(1000 * (longer.seconds - shorter.seconds) for longer, shorter in pairs))
