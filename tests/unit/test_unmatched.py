"""What the configuration names and nothing fits, and files that lie under a name that nobody looks for."""

from tests.sites import build_site, differs_from_cold, problems_text, run
from tests.unit.test_layouts import EVAL, MANIFEST

TRUTH, OUTPUT = EVAL.values()
NO_FIELD = "matches no field of the ground truth or of the newest output."


def test_where_nothing_can_be_reported_the_names_that_are_nearly_right_are_named(repo):
    repo.commit({"evals/n/groundtruth.csv": TRUTH, MANIFEST: "evals:\n  k: {ground_truht: t.csv}\n"})
    done = run("build", repo.path)
    assert done.returncode == 2
    assert "The key 'evals.k.ground_truht' is not known" in done.stderr
    assert "evals/n/ is not an eval: groundtruth.csv is not the name of a ground truth. Call it one of" in done.stderr


def test_an_entry_that_another_eval_comes_to_use_is_no_note_any_more_also_in_the_next_build(repo, tmp_path):
    other = {path.replace("/n/", "/k/"): text for path, text in EVAL.items()}
    repo.commit({**EVAL, **other, "m.yaml": "ignore: [walls]\n", "sitegen.toml": 'mapping = ["m.yaml"]\n'})
    repo.checkout()
    build_site(repo.path, tmp_path / "step", jobs=1)
    assert NO_FIELD in problems_text(tmp_path / "step")
    repo.commit({"evals/k/results/iteration-002/extracted.json": OUTPUT.replace("}", ', "walls": 1}')})
    build_site(repo.path, tmp_path / "step", jobs=1)
    assert NO_FIELD not in problems_text(tmp_path / "step")
    assert differs_from_cold(tmp_path / "step", repo.path) == []


def test_the_work_tree_is_looked_at_where_it_is_built(repo, tmp_path):
    ours = {"evals/k/ground_truth.csv": TRUTH, "evals/k/a.txt": "x", ".gitignore": "*.out.json\n"}
    repo.commit({**EVAL, **ours})
    repo.checkout()
    (repo.path / "evals/k/mine.out.json").write_text(OUTPUT)
    build_site(repo.path, tmp_path / "site", jobs=1, worktree=True)
    assert "Commit evals/k/results/" in problems_text(tmp_path / "site")
    (repo.path / "evals/k/extracted.json").write_text(OUTPUT)
    build_site(repo.path, tmp_path / "site", jobs=1, worktree=True)
    assert "No problems" in problems_text(tmp_path / "site")


def test_an_uncommitted_manifest_is_read_and_a_problem_of_the_work_tree_names_it_whole(repo, tmp_path):
    repo.commit(EVAL)
    repo.checkout()
    (repo.path / MANIFEST).write_text("evals: {n: {name: Receipts}}\n")
    (repo.path / "evals/n/extracted.json").symlink_to("/nowhere")
    build_site(repo.path, tmp_path / "site", jobs=1, worktree=True)
    shown = problems_text(tmp_path / "site")
    assert "manifest" not in shown
    assert "at worktree" in shown
    assert "Receipts" in (tmp_path / "site/index.html").read_text()
