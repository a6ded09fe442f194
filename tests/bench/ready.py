"""When a reader sees a page: pages of a built site in a real browser, opened from disk.

``python -m tests.bench.ready SITE [OTHER ...] [--loads 5]`` prints a table; pages of several sites take turns.

All times are those of the browser's own clock, from the start of the navigation. Each load has a window of its own,
which has shown only an empty page: the browser has started, and has nothing of the site in memory.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.bench.table import number

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LOADS: Final = 5
"""How often each page is opened; of each number the least counts."""
PATTERNS: Final = {
    "overview": "index.html",
    "trend": "evals/*/index.html",
    "report": "evals/*/[0-9]*[0-9].html",
    "compare": "evals/*/compare.html",
    "fields": "fields.html",
    "labels": "suspect-labels.html",
    "instructions": "instructions/index.html",
    "regressions": "regressions.html",
}
"""The pages that are opened, by their names in the table: the largest file of each pattern."""
EMPTY: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Empty</title></head><body>.</body></html>\n'
)
"""What a navigation costs without a page. It has one character, or it would never be painted."""
CLOCK: Final = """
window.frame = new Promise(done => addEventListener("load", () => requestAnimationFrame(() => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => done(performance.now());
  channel.port2.postMessage(0);
})));
window.paint = new Promise(done => new PerformanceObserver(list => {
  for (const entry of list.getEntriesByName("first-contentful-paint")) done(entry.startTime);
}).observe({type: "paint", buffered: true}));
"""
"""Runs before the page. The message arrives after the frame was styled, laid out and painted."""
TIMES: Final = """async () => {
  const [frame, paint] = await Promise.all([window.frame, window.paint]);
  const [page] = performance.getEntriesByType("navigation");
  return [paint, page.domContentLoadedEventEnd, page.loadEventEnd, Math.max(frame, paint)];
}"""
METRICS: Final = ("RecalcStyleDuration", "LayoutDuration", "ScriptDuration", "TaskDuration")
"""What the browser counts for the main thread of a page, in seconds of its CPU."""


class Load(NamedTuple):
    """One load of a page, in milliseconds: times since the navigation began, then CPU of the page's main thread."""

    paint: float
    """First contentful paint."""
    parsed: float
    """End of the DOMContentLoaded event: deferred scripts have run."""
    loaded: float
    """End of the load event."""
    ready: float
    """End of the first frame after the load event, and not before the first contentful paint."""
    style: float
    layout: float
    scripts: float
    cpu: float
    """All of it, with parsing and painting."""

    def __str__(self) -> str:
        times = f"painted {number(self.paint)}, parsed {number(self.parsed)}, loaded {number(self.loaded)}"
        return f"{times}; CPU {number(self.cpu)}"


def largest_pages(site: Path) -> dict[str, Path]:
    """The pages of a built site that are opened, by name; a site need not have all of them."""
    found = {name: list(site.resolve().glob(pattern)) for name, pattern in PATTERNS.items()}
    return {name: max(pages, key=lambda page: (page.stat().st_size, page)) for name, pages in found.items() if pages}


def least(loads: Sequence[Load]) -> Load:
    """The least of each number."""
    return Load(*map(min, zip(*loads, strict=True)))


@contextmanager
def started_browser() -> Iterator[Browser | None]:
    """The browser of the tests, without a window on the screen; None if this machine has none."""
    from playwright.sync_api import sync_playwright

    from tests.browser.find import find_chromium

    path = find_chromium()
    if path is None:
        yield None
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def measure_pages(browser: Browser, pages: Mapping[str, Path], loads: int = LOADS) -> dict[str, Load]:
    """Open the pages in turns, each so often; the least of each number. Under the empty name is an empty page."""
    measured: dict[str, list[Load]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.html"
        empty.write_text(EMPTY, encoding="utf-8")
        for _ in range(loads):
            for name, page in {"": empty, **pages}.items():
                measured[name].append(open_page(browser, page, empty))
    return {name: least(each) for name, each in measured.items()}


def open_page(browser: Browser, page: Path, empty: Path) -> Load:
    """Open a page in a new window after an empty one."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    tab.add_init_script(CLOCK)
    tab.goto(empty.as_uri())
    tab.evaluate(TIMES)
    counts = context.new_cdp_session(tab)
    counts.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> list[float]:
        values = {entry["name"]: entry["value"] for entry in counts.send("Performance.getMetrics")["metrics"]}
        return [1000 * values[name] for name in METRICS]

    before = spent()
    tab.goto(page.as_uri())
    times = tab.evaluate(TIMES)
    load = Load(*times, *(after - start for after, start in zip(spent(), before, strict=True)))
    context.close()
    return load


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the pages and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.ready", description="When pages of built sites are ready."
    )
    parser.add_argument("sites", nargs="+", type=Path, help="built sites; their pages take turns")
    parser.add_argument("--loads", type=int, default=LOADS, help=f"loads of each page (default: {LOADS})")
    options = parser.parse_args(arguments)
    several = options.sites[1:]
    pages = {
        f"{name}, {site}" if several else name: page
        for site in options.sites
        for name, page in largest_pages(site).items()
    }
    with started_browser() as browser:
        if browser is None:
            print("No browser was found. `make browser` installs one.", file=sys.stderr)
            return 1
        loads = measure_pages(browser, dict(sorted(pages.items())), options.loads)
    print("| page | painted | parsed | loaded | ready | style | layout | scripts | CPU | kB |")
    print("|---|" + "---|" * 9)
    for name, load in loads.items():
        kilobytes = number(pages[name].stat().st_size / 1e3) if name else ""
        print("| " + " | ".join([name or "an empty page", *map(number, load), kilobytes]) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
