"""A history in which everything moves: evals, ground truths, outputs, iterations, mappings and instruction files.

``MovingHistory`` makes commits that follow from a seed: files are added, changed, renamed, deleted, brought back and
reverted. A site that is built commit by commit has to be the one that is built at once, whatever it remembers.
"""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.gitrepo import Content, GitRepo

FIELDS: Final = 30
"""Of each document: more labels can be suspect than a build looks for the lines of."""
MAPPINGS: Final = ("schemas/field_mapping.yaml", "src/schemas/field_mapping.yaml", "evals/field_mapping.yaml")
TRUTHS: Final = ("ground_truth.json", "ground_truth.yaml")
EVALS: Final = ("bills", "old-bills", "Bills", "plans", "notes")
FILES: Final = ("CLAUDE.md", "AGENTS.md", "prompts/read.md", "prompts/Read.md", ".claude/instructions/a--b.md")
MANIFEST: Final = """version: "2.0"
evals:
  bills:
    name: Bills
    aliases: [old-bills]
    instructions: ["prompts/**", "CLAUDE.md"]
"""


class MovingHistory:
    """A repository and what its newest commit holds."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.repo = GitRepo(folder)
        self.files: dict[str, str] = {}
        self._before: list[dict[str, str]] = []
        self._gone: list[dict[str, str]] = []
        self._dice = random.Random(seed)
        self._count = 0
        self._moves: tuple[Callable[[], None], ...] = (
            *(self._run, self._run, self._run, self._overwrite, self._edit, self._edit),
            *(self._rename_instruction, self._rename_eval, self._rename_iteration),
            *(self._rename_truth, self._rename_mapping, self._rename_output),
            *(self._correct, self._change_rules, self._record, self._repeat),
            *(self._delete_something, self._delete_eval, self._bring_back, self._revert),
            *(self._manifest, self._answers, self._new_eval),
        )
        self._new_eval()
        self._edit()
        self._commit("Begin")

    def commit(self) -> str:
        """One more commit that does one to three of these things; its id."""
        done = []
        for _ in range(self._dice.choice((1, 1, 1, 2, 3))):
            move = self._dice.choice(self._moves)
            move()
            done.append(move.__name__.strip("_").replace("_", " "))
        return self._commit(", ".join(done))

    def _commit(self, message: str) -> str:
        before = self._before[-1] if self._before else {}
        changes: dict[str, Content] = dict.fromkeys(before.keys() - self.files.keys())
        changes |= {path: text for path, text in self.files.items() if before.get(path) != text}
        self._before.append(dict(self.files))
        return self.repo.commit(changes, message=message)

    # What there is.

    def _evals(self) -> list[str]:
        return sorted({path.split("/")[1] for path in self.files if path.startswith("evals/") and path.count("/") > 1})

    def _an_eval(self) -> str:
        return self._dice.choice(self._evals() or ["bills"])

    def _below(self, folder: str) -> dict[str, str]:
        return {path: text for path, text in self.files.items() if path.startswith(f"{folder}/")}

    def _one_of(self, *endings: str) -> str | None:
        found = sorted(path for path in self.files if path.endswith(endings))
        return self._dice.choice(found) if found else None

    def _number(self) -> int:
        self._count += 1
        return self._count

    def _move(self, old: str, new: str) -> None:
        """A file or a folder; nothing is overwritten."""
        for path in [path for path in self.files if path == old or path.startswith(f"{old}/")]:
            self.files.setdefault(new + path[len(old) :], self.files.pop(path))

    # What happens.

    def _document(self, wrong: int) -> dict[str, Any]:
        """What is expected; the first fields are wrong in every output, always in the same way."""
        return {f"field {n}": f"{'other' if n < wrong else 'value'} {n}" for n in range(FIELDS)}

    def _new_eval(self) -> None:
        folder = f"evals/{self._dice.choice(EVALS)}"
        truth = [{"id": name, **self._document(0)} for name in ("a", "b")]
        self.files[f"{folder}/{TRUTHS[0]}"] = json.dumps(truth, indent=0)

    def _output(self) -> str:
        wrong = self._dice.choice((3, 16, 16, 16))
        documents = [{"id": name, **self._document(wrong)} for name in ("a", "b")]
        documents[0][f"field {self._dice.randrange(FIELDS)}"] = self._dice.choice((None, "else", 7))
        return json.dumps(documents, indent=0)

    def _run(self) -> None:
        self.files[f"evals/{self._an_eval()}/results/iteration-{self._number():03d}/extracted.json"] = self._output()

    def _overwrite(self) -> None:
        self.files[f"evals/{self._an_eval()}/extracted.json"] = self._output()

    def _record(self) -> None:
        if path := self._one_of("/extracted.json"):
            day = self._dice.randrange(1, 28)
            said = {"metadata": {"timestamp": f"2023-12-{day:02d}T00:00:00Z"}, "metrics": {"f1": 0.5}}
            self.files[path.replace("extracted", "eval-results")] = json.dumps(said)

    def _repeat(self) -> None:
        if (path := self._one_of("/extracted.json")) and "/results/" in path and "/runs/" not in path:
            self.files[path.replace("extracted", f"runs/{self._number()}/extracted")] = self._output()

    def _edit(self) -> None:
        path = self._dice.choice(FILES)
        self.files[path] = self.files.get(path, "# Read\n\nRead all.\n") + f"\n## Rule {self._number()}\n\nLook.\n"

    def _rename_instruction(self) -> None:
        if path := self._one_of(".md"):
            new = self._dice.choice([other for other in FILES if other != path])
            if new not in self.files:
                self._move(path, new)
                self.files[new] += self._dice.choice(("", "And look again.\n"))

    def _rename_eval(self) -> None:
        old, new = self._an_eval(), self._dice.choice(EVALS)
        if new not in self._evals():
            self._move(f"evals/{old}", f"evals/{new}")

    def _rename_iteration(self) -> None:
        if (path := self._one_of("/extracted.json")) and "/results/" in path:
            folder = path[: path.index("/", path.index("/results/") + 9)]
            self._move(folder, f"{folder.rpartition('/')[0]}/iteration-{self._number():03d}")

    def _rename_truth(self) -> None:
        if path := self._one_of(*TRUTHS):
            self._move(path, f"{path.rpartition('/')[0]}/{self._dice.choice(TRUTHS)}")

    def _rename_mapping(self) -> None:
        if path := self._one_of("field_mapping.yaml"):
            self._move(path, self._dice.choice((*MAPPINGS, f"evals/{self._an_eval()}/field_mapping.yaml")))

    def _rename_output(self) -> None:
        """From a version that is overwritten to an iteration."""
        if (path := self._one_of("/extracted.json")) and "/results/" not in path:
            self._move(path, path.replace("extracted", f"results/iteration-{self._number():03d}/extracted"))

    def _correct(self) -> None:
        if path := self._one_of(*TRUTHS):
            number = self._dice.randrange(FIELDS)
            self.files[path] = self.files[path].replace(f'"value {number}"', f'"other {number}"', 1)

    def _change_rules(self) -> None:
        path = self._one_of("field_mapping.yaml") or MAPPINGS[0]
        self.files[path] = f"ignore: [field {self._dice.randrange(FIELDS)}]\n"

    def _delete_something(self) -> None:
        path = self._dice.choice(sorted(self.files))
        self._gone.append({path: self.files.pop(path)})

    def _delete_eval(self) -> None:
        folder = f"evals/{self._an_eval()}"
        self._gone.append(self._below(folder))
        for path in self._gone[-1]:
            del self.files[path]

    def _bring_back(self) -> None:
        if self._gone:
            self.files |= self._gone.pop(self._dice.randrange(len(self._gone)))

    def _revert(self) -> None:
        """Everything as it was some commits ago."""
        self.files = dict(self._dice.choice(self._before[-6:]))

    def _manifest(self) -> None:
        path = "evals/manifest.yaml"
        if self._dice.random() < 0.5:
            self.files[path] = MANIFEST
        else:
            self.files.pop(path, None)

    def _answers(self) -> None:
        """Another kind, whose eval may have had documents before."""
        folder = f"evals/{self._dice.choice(EVALS[-2:])}"
        cases = [{"id": f"c{n}", "input": "?", "expected": "yes", "category": "all"} for n in range(4)]
        self.files[f"{folder}/test_cases.json"] = json.dumps(cases)
        for variant in "xy":
            rows = [{"case_id": case["id"], "output": self._dice.choice(("yes", "no"))} for case in cases]
            self.files[f"{folder}/responses-{variant}.jsonl"] = "".join(json.dumps(row) + "\n" for row in rows)
