"""A small eval, ``names``: two documents, of which the first has a total that may be wrong."""

from pathlib import Path

from tests.gitrepo import GitRepo

TRUTH = "id,name,total\na,Ann,1\nb,Bob,2\n"
MAPPING = "csv_to_json: {name: name, total: total}\ndocuments: {path: docs, key: id}\n"


def output(total: int) -> str:
    """An output whose first document has this total."""
    return f'{{"docs": [{{"id": "a", "name": "Ann", "total": {total}}}, {{"id": "b", "name": "Bob", "total": 2}}]}}'


def names_project(path: Path, *totals: int) -> GitRepo:
    """A project whose instructions are edited with every output after the first; its work tree has the newest."""
    repo = GitRepo(path)
    repo.commit({"CLAUDE.md": "# Rules\n\nRead well.\n", "evals/field_mapping.yaml": MAPPING})
    for edits, total in enumerate(totals):
        files = {"CLAUDE.md": f"# Rules\n\nRead well{', twice' * edits}.\n", "evals/names/ground_truth.csv": TRUTH}
        repo.commit(files | {"evals/names/extracted.json": output(total)})
    repo.checkout()
    return repo
