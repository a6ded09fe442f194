"""Renders every page of the invented sample into a folder, to look at: ``python -m tests.browser.preview FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from tests import pages_sample as sample
from tests.browser import sample_site
from tests.sites import renderer_of


def main() -> None:
    folder = Path(sys.argv[1])
    sample_site.write(folder, renderer_of(sample.SITE))
    print(folder / "index.html")


if __name__ == "__main__":
    main()
