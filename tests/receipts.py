"""The project in which the examples of the Python API run: one eval, ``receipts``, that got better once."""

from pathlib import Path

from tests.gitrepo import GitRepo

EVAL = "evals/receipts"
TRUTH = "id,shop,total\na,Fern & Moss,12.50\nb,The Green Door,4\n"
MAPPING = "csv_to_json: {shop: shop, total: total}\ndocuments: {path: receipts, key: id}\n"
FIRST = (
    '{"receipts": [{"id": "a", "shop": "Fern & Moss", "total": 125.0},'
    ' {"id": "b", "shop": "The Green Door", "total": null}]}'
)
SECOND = FIRST.replace("125.0", "12.5").replace("null", "4")


def write_receipts(folder: Path) -> GitRepo:
    """Three commits: instructions and ground truth, a first output, an edit of the instructions with a second one."""
    repo = GitRepo(folder)
    repo.commit(
        {
            "CLAUDE.md": "Read the receipt.\n",
            f"{EVAL}/ground_truth.csv": TRUTH,
            f"{EVAL}/field_mapping.yaml": MAPPING,
            ".gitignore": ".sitegen\npublic\n",
        },
        message="Say what to read",
    )
    repo.commit({f"{EVAL}/results/iteration-001/extracted.json": FIRST}, message="Read for the first time")
    repo.check_in(
        {
            "CLAUDE.md": "Read the receipt. Mind the decimal point.\n",
            f"{EVAL}/results/iteration-002/extracted.json": SECOND,
        },
        message="Mind the decimal point",
    )
    return repo
