"""One real browser for all tests here, and a site made from the invented sample."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests import pages_sample as sample
from tests.browser import sample_site
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


@pytest.fixture
def open_context(chromium: Browser) -> Iterator[Callable[..., BrowserContext]]:
    contexts: list[BrowserContext] = []

    def open_(**options: object) -> BrowserContext:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        return context

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture
def visit(site: Path, open_context: Callable[..., BrowserContext]) -> Iterator[Callable[..., Page]]:
    """Opens a page of the site from disk. A console error or a violation of the policy fails the test."""
    complaints: list[str] = []
    opened: list[Page] = []

    def visit_(address: str, **options: object) -> Page:
        page = open_context(**options).new_page()
        page.add_init_script(VIOLATIONS)
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        path, _, fragment = address.partition("#")
        page.goto((site / path).as_uri() + (f"#{fragment}" if fragment else ""))
        opened.append(page)
        return page

    yield visit_
    for page in opened:
        if page.evaluate("() => true"):
            complaints += page.evaluate("() => window.__violations ?? []")
    assert complaints == []
