"""Which browser the tests use: ``python -m tests.browser.find`` prints its path, and fails if there is none."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Debian's headless shell is first: the same engine, without windows of its own, for half of the processor time."""


def find_chromium() -> str | None:
    """The first browser that starts: one on the PATH, else playwright's own."""
    return next((path for path in _candidates() if _starts(path)), None)


def _candidates() -> Iterator[str]:
    for name in NAMES:
        if path := shutil.which(name):
            yield path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    if Path(own).exists():
        yield own


def _starts(path: str) -> bool:
    """A name on the PATH may be a stub that only says how to install the browser."""
    try:
        run = subprocess.run([path, "--version"], capture_output=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0 and b"Chrom" in run.stdout and os.access(path, os.X_OK)


def main() -> int:
    path = find_chromium()
    if path is None:
        print("No Chromium or Chrome found. `make browser` installs one.", file=sys.stderr)
        return 1
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
