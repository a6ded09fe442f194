"""One real browser for all tests here, and a site made from the invented sample."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests import pages_sample as sample
from tests.browser import sample_site
from tests.browser.axe import AXE
from tests.browser.find import find_chromium
from tests.browser.fonts import fontconfig_file
from tests.sites import renderer_of

PATIENCE: Final = 120_000
"""Milliseconds that a page may take for anything: no test fails because a machine is busy."""
expect.set_options(timeout=PATIENCE)

VIOLATIONS = """
window.__violations = [];
addEventListener("securitypolicyviolation", e => window.__violations.push(e.violatedDirective + " " + e.blockedURI));
"""


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    path = find_chromium()
    if path is None:
        pytest.fail("No Chromium found. `make browser` installs one.", pytrace=False)
    fonts = {"FONTCONFIG_FILE": str(fontconfig_file(tmp_path_factory.mktemp("fontconfig")))}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"], env={**os.environ, **fonts}, timeout=PATIENCE
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    sample_site.write(folder, renderer_of(sample.SITE))
    return folder


class Tab:
    """A tab in which page after page is opened, and what each page complains of. A new tab takes longer than a page."""

    def __init__(self, page: Page, site: Path) -> None:
        self.page = page
        self._size = page.viewport_size
        self._site = site
        self._complaints: list[str] = []
        page.add_init_script(VIOLATIONS)
        page.on("console", lambda message: self._complain(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self._complain(str(error)))

    def _complain(self, text: str) -> None:
        self._complaints.append(text)

    def open(self, address: str) -> Page:
        """Open a page of the site from disk, in a window of the first size."""
        self._complaints.clear()
        if self._size is not None:
            self.page.set_viewport_size(self._size)
        path, _, fragment = address.partition("#")
        if fragment:
            self.page.goto("about:blank")  # or a page that is open already would only move to the fragment
        self.page.goto((self._site / path).as_uri() + (f"#{fragment}" if fragment else ""))
        return self.page

    def forget(self) -> None:
        """Leave nothing to the next test: no stored theme, no print, no pointer over a part of the page."""
        self.page.evaluate(
            "() => { if (location.protocol === 'file:') { localStorage.clear(); sessionStorage.clear(); } }"
        )
        self.page.emulate_media(media="null")
        self.page.mouse.move(0, 0)

    def complaints(self) -> list[str]:
        """Console errors and violations of the policy since the page was opened."""
        return [*self._complaints, *self.page.evaluate("() => window.__violations ?? []")]


def new_context(chromium: Browser, **options: object) -> BrowserContext:
    """A window of an ordinary size, without the state of any other."""
    context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE)
    if options.get("bypass_csp"):
        context.add_init_script(AXE)
    return context


@pytest.fixture(scope="module")
def open_in_one_tab(chromium: Browser, site: Path) -> Iterator[Callable[..., Tab]]:
    """Opens a page of the site in the module's tab with these options: for tests that look and leave no state."""
    tabs: dict[str, Tab] = {}

    def open_(address: str, **options: object) -> Tab:
        key = repr(sorted(options.items()))
        if key not in tabs:
            tabs[key] = Tab(new_context(chromium, **options).new_page(), site)
        tabs[key].open(address)
        return tabs[key]

    yield open_
    for tab in tabs.values():
        tab.page.context.close()


@pytest.fixture
def open_context(chromium: Browser) -> Iterator[Callable[..., BrowserContext]]:
    contexts: list[BrowserContext] = []

    def open_(**options: object) -> BrowserContext:
        contexts.append(new_context(chromium, **options))
        return contexts[-1]

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def free_tabs() -> Iterator[dict[str, list[Tab]]]:
    """Tabs that no test uses now, by the options of their windows."""
    free: dict[str, list[Tab]] = defaultdict(list)
    yield free
    for tab in chain.from_iterable(free.values()):
        tab.page.context.close()


@pytest.fixture
def visit(chromium: Browser, site: Path, free_tabs: dict[str, list[Tab]]) -> Iterator[Callable[..., Page]]:
    """Opens a page of the site from disk, each time in another tab. The tests of a module use them in turn.

    A console error or a violation of the policy fails the test.
    """
    taken: list[tuple[list[Tab], Tab]] = []

    def visit_(address: str, **options: object) -> Page:
        free = free_tabs[repr(sorted(options.items()))]
        tab = free.pop() if free else Tab(new_context(chromium, **options).new_page(), site)
        taken.append((free, tab))
        return tab.open(address)

    yield visit_
    complaints = [complaint for _, tab in taken for complaint in tab.complaints()]
    for free, tab in taken:
        tab.forget()
        free.append(tab)
    assert complaints == []
