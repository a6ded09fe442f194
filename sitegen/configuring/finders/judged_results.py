"""Finds folders of evals with judged results that hold no eval of another kind."""

from __future__ import annotations

from collections.abc import Iterator

from sitegen.config import EvalConfig
from sitegen.configuring.finders.searched_files import OTHER_KINDS, Search
from sitegen.kind_files import files_of


def judged_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each such folder."""
    for eval_id, folder in search.eval_folders.items():
        names = search.files.names(folder)
        if folder in search.homes or not OTHER_KINDS.isdisjoint(names):
            continue
        if any(names.get(name) is False for name in files_of("judged").outputs):
            yield EvalConfig(id=eval_id, kind="judged")
