from sitegen.analysis.versions import BestVersion, best_versions
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import Effect, Headline
from sitegen.model.timeline import Blob, Edit, InstructionHistory
from sitegen.pages.file_history import Tendency, Track, best_rows, growth
from sitegen.pages.restore import restore
from sitegen.render.tracks import Drawn, track

F1 = MetricSpec("f1", "F1", "")
ERRORS = MetricSpec("errors", "Errors", "", higher_is_better=False)


def commit(position: int) -> Commit:
    return Commit(f"{position:040x}", position, "Ann", f"2026-03-{position:02}T10:00:00Z", f"Edit {position}")


def edit(position: int, path: str = "a.md", *, gone: bool = False) -> Edit:
    blob = Blob(path, f"{position:040x}")
    return Edit(commit(position), path, "deleted" if gone else "modified", blob, None if gone else blob)


def effect(eval_id: str, value: float | None, spec: MetricSpec = F1) -> Effect:
    after = Headline(1, "s", "0001", "iteration-001", "scored", (value,), (0, 0, 0, 0))
    return Effect(eval_id, eval_id.title(), None, after, (spec,))


FILE = InstructionHistory("a.md", (edit(1, "old name.md"), edit(2), edit(3)))


def test_the_best_version_is_the_newest_of_equal_ones_and_knows_what_the_newest_version_has():
    effects = [(effect("b", 0.9), effect("a", 0.5)), (effect("b", 0.9),), (effect("b", 0.7), effect("a", 0.6))]
    assert best_versions(effects) == (
        BestVersion("a", "A", F1, 2, 0.6, 0.6),
        BestVersion("b", "B", F1, 1, 0.9, 0.7),
    )


def test_a_version_without_output_or_score_is_never_the_best():
    silent = Effect("a", "A", None, None, (F1,))
    assert best_versions([(effect("a", None),), (effect("a", 0.1),), (silent,)]) == (
        BestVersion("a", "A", F1, 1, 0.1, None),
    )
    assert best_versions([(silent,), (effect("a", None),)]) == ()
    assert best_versions([]) == ()


def test_the_least_is_the_best_where_lower_is_better():
    assert best_versions([(effect("a", 3.0, ERRORS),), (effect("a", 5.0, ERRORS),)]) == (
        BestVersion("a", "A", ERRORS, 0, 3.0, 5.0),
    )


def test_a_row_says_how_to_bring_the_version_back_unless_it_is_there():
    effects = [(effect("a", 0.9),), (effect("b", 0.8),), (effect("a", 0.5), effect("c", 0.4))]
    rows = best_rows(FILE, effects, ("1.0", "1.1", "1.2"))
    assert [(row.name, row.number, row.version, row.is_newest, row.lost, row.command) for row in rows] == [
        ("A", 1, "1.0", False, 0.5 - 0.9, "git show '0000000:old name.md' > a.md"),
        ("B", 2, "1.1", False, None, "git checkout 0000000 -- a.md"),
        ("C", 3, "1.2", True, 0.0, None),
    ]


def test_no_command_brings_back_what_is_not_there_or_cannot_be_named():
    assert restore(edit(1, gone=True), "a.md") is None
    assert restore(edit(1)._replace(commit=commit(1)._replace(sha=WORKTREE)), "a.md") is None
    assert restore(edit(1, "a\u202eb.md"), "a\u202eb.md") is None
    assert restore(edit(1, "old.md"), "a\nb.md") is None


def test_paths_are_quoted_for_the_shell_and_are_no_patterns_for_git():
    assert restore(edit(1, "it's $(x).md"), "it's $(x).md") == "git checkout 0000000 -- 'it'\"'\"'s $(x).md'"
    assert restore(edit(1, "*.md"), "*.md") == "git --literal-pathspecs checkout 0000000 -- '*.md'"


def test_sizes_stand_beside_every_eval_that_was_measured_twice():
    effects = [(effect("b", 0.1), effect("a", 0.3)), (effect("b", None),), (effect("b", 0.2), effect("c", 0.9))]
    found = growth(FILE, (10, 12, 11), (90, None, None), effects, (None, 0.2, -0.1))
    assert found is not None
    assert found.sizes == (Track("Lines", (10, 12, 11)),)
    assert found.evals == (Track("B", (0.1, None, 0.2), "b"),)
    assert (found.first, found.last) == (commit(1), commit(3))
    assert (found.longer, found.shorter) == (Tendency(1, 1, 0), Tendency(1, 0, 1))


def test_a_file_with_one_version_has_no_growth():
    file = InstructionHistory("a.md", (edit(1),))
    assert growth(file, (10,), (90,), [(effect("a", 0.5),)], (None,)) is None


def test_a_track_joins_what_is_known_and_a_size_holds_until_the_next():
    assert track((0.5, None, 1.0)) == Drawn(3, "M0 100L2 0", "M0 100h0M2 0h0")
    assert track((None, 0.5)) == Drawn(2, "", "M1 50h0")
    assert track((4, 8, 6), held=True) == Drawn(3, "M0 100H1V0H2V50h0.5", "")
    assert track((None, None)) == Drawn(2, "", "")
