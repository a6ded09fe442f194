"""Two steps that the team takes again and again."""

from __future__ import annotations

from tests.demo.project import Project
from tests.demo.topics import BASE


def tune(project: Project, file: str, heading: str, rule: str, subject: str, author: int = 0) -> None:
    """Commit one more rule in an instruction file; what it teaches is up to the caller, before the next run."""
    project.rule(BASE + file, heading, rule)
    project.commit(subject, author)


def read_again(project: Project, *eval_ids: str, subject: str | None = None) -> None:
    """Run evals and commit their outputs."""
    for eval_id in eval_ids:
        project.run(eval_id)
    project.commit(subject or "Read " + " and ".join(name.replace("-", " ") for name in eval_ids), 3)
