"""The site and the exported tables of the golden repository, as they are and as they should be."""

from pathlib import Path

from sitegen import api
from tests.golden.repository import write
from tests.sites import build_site, content

EXPECTED = Path(__file__).parent / "expected"
UNCHANGED = ("assets/", "data/schemas/")
"""What lies in the site as it lies in this repository."""


def build(folder: Path) -> dict[str, bytes]:
    """Build it below an empty folder: every file but styles, scripts, pictures and schemas, by path."""
    repo = write(folder / "golden")
    build_site(repo.path, folder / "site", jobs=1)
    api.export(repo.path, folder / "site/export", "csv", cache=folder / "site-memo")
    return {path: body for path, body in content(folder / "site").items() if not path.startswith(UNCHANGED)}
