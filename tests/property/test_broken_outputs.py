"""Whatever breaks of outputs with a file for each document, there are the same evals, outputs and expected values."""

import itertools
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sitegen.api import history
from tests.gitrepo import Content, GitRepo
from tests.unit.test_layouts import MANIFEST, layouts, look

FOUND = [
    param.values[0].commits
    for param in layouts("layouts_of_folders.md")
    if param.id.endswith("are found") and MANIFEST not in itertools.chain(*param.values[0].commits)
]
BROKEN = st.sampled_from(["", "null", "[]", "No."]) | st.floats(0, 1)
"""What is left of an output, or its share."""


def found_in(commits: list[dict[str, Content]]) -> dict[str, Any]:
    """The entry of each eval that a search finds, with the names of its outputs and what these are compared with."""
    with TemporaryDirectory() as folder:
        repo, memo = GitRepo(Path(folder) / "repo"), Path(folder) / "memo"
        repo.commits(commits)
        evals = {each.id: (each.entry, history(repo.path, each.id, cache=memo).points) for each in look(repo).proposed}
        shown = {name: [(at.snapshot.label, at.snapshot.ground_truth) for at in evals[name][1]] for name in evals}
        return {name: (entry, shown[name]) for name, (entry, _) in evals.items()}


@cache
def found_in_whole(number: int) -> dict[str, Any]:
    return found_in(FOUND[number])


@settings(max_examples=30)
@given(st.sampled_from(range(len(FOUND))), st.data())
def test_outputs_that_break_change_neither_evals_nor_outputs_nor_what_these_are_compared_with(project, data):
    whole = FOUND[project]
    written = [(number, path) for number, commit in enumerate(whole) for path in commit]
    outputs = [(number, path) for number, path in written if re.search("(?:^|/)(?:out|outputs|results|runs)/", path)]
    commits = [dict(commit) for commit in whole]
    for number, path in data.draw(st.sets(st.sampled_from(outputs), min_size=1)):
        text, left = str(commits[number][path]), data.draw(BROKEN)
        left = text[: int(left * len(text))] if isinstance(left, float) else left
        commits[number][path] = left + " " * number  # a file that a commit does not change makes no output
    assert found_in(commits) == found_in_whole(project)
