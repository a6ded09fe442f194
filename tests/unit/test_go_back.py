"""Ways back: the command for an edit before a loss, and what every eval would gain or lose by it."""

import json
import re
import subprocess
from html import unescape
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitegen.analysis.effects import BestInstructions, EffectIndex, FileThen
from sitegen.engine.worker_context import Renderer
from sitegen.model.changes import ChangeVerdict
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import BestOutput, EvalInfo, EvalSummary, Window
from sitegen.model.timeline import Blob, Edit, InstructionHistory
from sitegen.pages.instruction import MOST_FILES, go_back_command
from sitegen.pages.instructions import FileRecord, instructions_page
from tests import pages_sample_diffs as sample
from tests.gitrepo import GitRepo
from tests.sites import build_site
from tests.unit.test_for_machines import commit as commit_at
from tests.unit.test_for_machines import headline

F1 = MetricSpec("f1", "F1", "")
WORSE = ChangeVerdict(decision="worse", why="beyond chance", change=-0.25, broken=9, p_value=0.01)


def commit(position: int) -> Commit:
    return replace(commit_at(position), sha=f"{position:07x}" + "0" * 33)


def edit(position: int, path: str, old: str | None, new: str | None) -> Edit:
    blobs = [None if text is None else Blob(path, text * 40) for text in (old, new)]
    return Edit(commit(position), path, "modified", *blobs)


def summary(eval_id: str, values: tuple[float, ...], best_output: int, *windows: Window) -> EvalSummary:
    """Point 1 was made with the edit at 1, and so on."""
    points = tuple(headline(at, value) for at, value in enumerate(values))
    best = BestOutput(at=best_output, value=values[best_output], edit=windows[best_output].edit)
    return EvalSummary(EvalInfo(eval_id, eval_id.title()), (F1,), points, windows=windows, best_output=best)


FILES = (
    InstructionHistory("a.md", (edit(1, "a.md", None, "1"), edit(3, "a.md", "1", "3"))),
    InstructionHistory("b.md", (edit(1, "old b.md", None, "1"), edit(2, "b.md", "1", "1"))),
    InstructionHistory("c.md", (edit(2, "c.md", None, "2"),)),
    InstructionHistory("d.md", (edit(1, "d.md", None, "1"), edit(3, "d.md", "1", None)), deleted=True),
    InstructionHistory(
        "same.md", (edit(1, "same.md", None, "1"), edit(2, "same.md", "1", "2"), edit(3, "same.md", "2", "1"))
    ),
)
WINDOWS = (
    Window(1, None, 0),
    Window(2, 0, 1),
    Window(3, 1, 2, verdict=ChangeVerdict(decision="likely better", why="flips may be chance")),
)


def versions(*summaries: EvalSummary) -> tuple[BestInstructions, ...]:
    return EffectIndex(summaries, {}).best_instructions(FILES)


def test_all_files_that_are_not_what_they_were_are_named_with_both_paths():
    first, newest = versions(summary("x", (0.9, 0.5, 0.6), 0, *WINDOWS), summary("y", (0.1, 0.2, 0.3), 2, *WINDOWS))[
        ::-1
    ]
    assert (first.commit, newest.commit) == (commit(1), commit(3))
    assert first.files == (("a.md", "a.md"), ("old b.md", "b.md"), (None, "c.md"), ("d.md", None))
    assert newest.files == ()


def test_going_back_says_what_every_eval_would_gain_or_lose_and_the_verdict_if_there_is_one():
    best = replace(summary("x", (0.5, 0.75, 0.5), 1, *WINDOWS), since_best=WORSE)
    near = replace(summary("near", (0.5, 0.25, 0.5), 0, *WINDOWS), best_output=None)
    far = summary("far", (0.75, 0.25, 0.5), 0, *WINDOWS)
    near = replace(near, best_output=BestOutput(at=2, value=0.5, edit=3))
    (version,) = [version for version in versions(best, near, far) if version.commit.position == 2]
    assert [
        (effect.info.id, effect.value, effect.change, effect.decision, effect.is_best) for effect in version.evals
    ] == [
        ("x", 0.75, 0.25, "better", True),
        ("far", 0.25, -0.25, "likely worse", False),
        ("near", 0.25, -0.25, "likely worse", False),
    ]
    (oldest,) = [version for version in versions(best, near, far) if version.commit.position == 1]
    untested = next(effect for effect in oldest.evals if effect.info.id == "near")
    assert (untested.change, untested.decision) == (0.0, None)


def test_the_command_brings_everything_back_whatever_the_files_are_called(repo: GitRepo):
    odd = ["-rf.md", "it's $(touch x) `y`.md", "*.md", ":(top)z.md", 'say "hi" & bye.md']
    then = repo.commit(
        {**dict.fromkeys(odd, "then\n"), "old name.md": "then\n", "gone.md": "then\n", "kept.md": "then\n"}
    )
    repo.check_in(
        {
            **dict.fromkeys(odd, "now\n"),
            "old name.md": None,
            "new name.md": "now\n",
            "gone.md": None,
            "--added.md": "now\n",
        }
    )
    files: list[FileThen] = [(name, name) for name in odd]
    files += [("old name.md", "new name.md"), ("gone.md", None), (None, "--added.md")]
    command = go_back_command(replace(commit(1), sha=then), files)
    assert command
    subprocess.run(["/bin/sh", "-c", command], cwd=repo.path, check=True)
    there = {path.name: path.read_text() for path in repo.path.iterdir() if path.is_file()}
    assert there == {**dict.fromkeys([*odd, "new name.md", "gone.md", "kept.md"], "then\n")}


def test_there_is_no_command_that_could_do_something_else():
    assert go_back_command(commit(1), []) is None
    assert go_back_command(replace(commit(1), sha=WORKTREE), [("a", "a")]) is None
    assert go_back_command(commit(1), [("a\nb", "c")]) is None
    assert go_back_command(commit(1), [("a", "a\x1b[2Kb")]) is None
    assert go_back_command(commit(1), [("\u202ea", None)]) is None
    assert go_back_command(commit(1), [("a", "a")] * (MOST_FILES + 1)) is None


def test_an_eval_whose_files_are_as_they_were_gains_nothing_by_going_back():
    moved, same = summary("x", (0.75, 0.5, 0.5), 0, *WINDOWS), summary("y", (0.75, 0.5, 0.5), 0, *WINDOWS)
    index = EffectIndex([moved, same], {"x": frozenset({"a.md"}), "y": frozenset({"same.md"})})
    back, in_use = index.best_instructions(FILES)
    assert [[effect.info.id for effect in version.evals] for version in (back, in_use)] == [["x"], ["y"]]
    assert (back.files, in_use.files) == ((("a.md", "a.md"),), ())


def test_there_is_no_verdict_on_going_back_to_what_the_newest_output_may_have_been_made_with():
    open_window = WINDOWS[-1]._replace(or_edit=commit(2))
    certain, in_doubt = (
        replace(summary("x", (0.5, 0.75, 0.5), 1, *WINDOWS[:-1], window), since_best=WORSE)
        for window in (WINDOWS[-1], open_window)
    )
    decisions = [effect.decision for each in (certain, in_doubt) for effect in versions(each)[0].evals]
    assert decisions == ["better", None]
    other = replace(certain, windows=(*WINDOWS[:-1], WINDOWS[-1]._replace(or_edit=commit(1))))
    assert versions(other)[0].evals[0].decision == "better"


def test_the_best_version_is_in_doubt_if_its_output_may_have_been_made_with_an_earlier_edit():
    best = summary("x", (0.5, 0.25, 0.75), 2, *WINDOWS)
    assert best.best_output
    doubtful = replace(best, best_output=replace(best.best_output, or_edit=commit(1)))
    record = FileRecord(history=sample.FILE, counts=(None,) * 3, grades=())
    page = instructions_page([record], [], versions(doubtful))
    html = " ".join(Renderer(sample.SITE).render(page).decode().split())
    assert "made with this or <a" in html
    assert "in use now, if the outputs were made with them" in html


TRUTH = {f"field_{number}": number for number in range(30)}
RULES = "Read every page.\nGive each value.\n"


def output(right: int) -> str:
    return json.dumps({name: value if value < right else -1 for name, value in TRUTH.items()})


@pytest.fixture
def lost(repo: GitRepo) -> GitRepo:
    begin = {"evals/a/ground_truth.json": json.dumps(TRUTH), "evals/a/results/iteration-001/extracted.json": output(30)}
    repo.commit({**begin, "CLAUDE.md": RULES}, message="Begin")
    return repo


def overview(lost: GitRepo, tmp_path: Path) -> str:
    build_site(lost.path, tmp_path / "site")
    return " ".join((tmp_path / "site" / "index.html").read_text().split())


def first_sentence(html: str) -> str:
    found = re.search(r"<h3>What got worse</h3><p>(.*?)</p>", html)
    assert found
    return unescape(re.sub("<[^>]*>", "", found[1]))


def test_edits_of_several_commits_are_all_in_question(lost: GitRepo, tmp_path: Path) -> None:
    lost.commit({"CLAUDE.md": f"{RULES}One.\n"}, message="One")
    lost.commit({"CLAUDE.md": f"{RULES}Two.\n"}, message="Two")
    lost.commit({"evals/a/results/iteration-002/extracted.json": output(3)}, message="Read")
    assert ") or an earlier edit: 0 values fixed, 27 broken." in first_sentence(overview(lost, tmp_path))


@pytest.mark.parametrize("before", [{}, {"CLAUDE.md": None, "AGENTS.md": RULES}], ids=["no edit", "a file moved"])
def test_no_edit_is_named_if_none_is_beside_the_loss(lost: GitRepo, tmp_path: Path, before: dict[str, None]) -> None:
    lost.commit(before, message="Go on")
    lost.commit({"evals/a/results/iteration-002/extracted.json": output(3)}, message="Read")
    html = overview(lost, tmp_path)
    assert first_sentence(html).endswith("since iteration-001, to 0.100 at iteration-002: 0 values fixed, 27 broken.")
    assert "The way back" not in html


def test_a_file_that_the_edit_added_is_removed_and_one_that_it_deleted_restored(lost: GitRepo, tmp_path: Path) -> None:
    lost.commit({"CLAUDE.md": None, "AGENTS.md": "Something else altogether.\n"}, message="Begin anew")
    lost.commit({"evals/a/results/iteration-002/extracted.json": output(3)}, message="Read")
    html = overview(lost, tmp_path)
    lost.checkout()
    (command,) = re.findall(r"<summary>The way back</summary><span class=\"cmd\"><code>(.*?)</code>", html)
    subprocess.run(unescape(command), shell=True, check=True, cwd=lost.path, capture_output=True)
    assert (lost.path / "CLAUDE.md").read_text() == RULES
    assert not (lost.path / "AGENTS.md").exists()
