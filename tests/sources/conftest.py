"""The project of each source document and its site, made once."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from sitegen.engine.built_site import Site
from tests.gitrepo import GitRepo
from tests.sites import build_site
from tests.sources.tables import write_project


class Built(NamedTuple):
    """A document's project with its site."""

    repo: GitRepo
    out: Path
    site: Site


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Built]:
    """The document's name -> its project, to read from, and the site that is built of it without configuration."""

    @cache
    def build(document: str) -> Built:
        folder = tmp_path_factory.mktemp(document)
        repo = write_project(document, folder / "project")
        return Built(repo, folder / "public", build_site(repo.path, folder / "public", jobs=1))

    return build
