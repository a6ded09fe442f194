"""Generated repositories of instructions and evals, through ``git fast-import``.

Same size, same head commit. Half of the evals overwrite ``extracted.json``, half add iteration folders. Of
the commits on the first-parent line 30 % edit instructions, 25 % edit instructions and run one to three evals, 38 %
only run evals, 3 % correct a ground truth and run its eval again, 0.5 % change the field mapping, and 3.5 % touch
nothing that a report is about; 5 % of all are merges of a side branch of two commits, and 0.5 % of the edits of
instructions rename the file.
"""

import json
import random
import subprocess
from pathlib import Path
from typing import IO, Final, NamedTuple

from tests.bench import content

MAIN: Final = "refs/heads/main"
MAPPING: Final = "schemas/field_mapping.yaml"
TOPICS: Final = ("extraction", "validation", "formatting", "edge-cases", "domain")
NOISE_FILES: Final = 40
START: Final = 1_700_000_000
PACKING: Final = ("gc.writeCommitGraph=false", "pack.windowMemory=64m", "pack.threads=2")
"""Settings of git that bound the memory for a million objects."""
FIRST_EVAL: Final = "eval-000"


class Size(NamedTuple):
    """How large a repository is."""

    commits: int
    """On the first-parent line."""
    evals: int
    fields: int
    """Attributes of one ground truth, cells of line items among them."""
    line_items: int
    instructions: int
    first_eval_outputs: int = 0
    """Outputs of the first eval, spread over the whole history; 0 if it is run as often as the others."""


SIZES: Final = {
    "tiny": Size(commits=40, evals=3, fields=20, line_items=3, instructions=5),
    "S": Size(commits=200, evals=5, fields=50, line_items=5, instructions=12),
    "M": Size(commits=2_000, evals=20, fields=100, line_items=12, instructions=30),
    "L": Size(commits=20_000, evals=50, fields=100, line_items=12, instructions=60),
    "XL": Size(commits=100_000, evals=200, fields=50, line_items=5, instructions=100, first_eval_outputs=10_000),
}


def generate(folder: Path, size: Size) -> str:
    """Write a bare repository into a new folder, packed as a clone would be; returns the id of its head commit."""
    git(folder.parent, "init", "-q", "--bare", "--object-format=sha1", "--template=", str(folder))
    git(folder, "symbolic-ref", "HEAD", MAIN)
    command = ["git", "-C", str(folder), "fast-import", "--quiet", "--done"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=1 << 20) as process:
        assert process.stdin is not None
        _Generator(process.stdin, size).write()
        process.stdin.close()
    if process.returncode:
        raise RuntimeError("git fast-import failed")
    bounded = [word for setting in PACKING for word in ("-c", setting)]
    git(folder, *bounded, "gc", "-q", "--prune=now")
    return git(folder, "rev-parse", MAIN).strip()


def generate_cases(folder: Path, cases: int = 10_000) -> None:
    """Write a repository with one output of these cases, which four models answered five times each."""
    chance = random.Random(7)
    lines = []
    for number in range(cases):
        question = " ".join(chance.choices(content.WORDS, k=12))
        for model in ("m-a", "m-b", "m-c", "m-d"):
            for _ in range(5):
                passed = chance.random() < 0.8
                answer = {"output": " ".join(chance.choices(content.WORDS, k=8)), "cost": 0.001}
                judged = {"score": float(passed), "passed": passed, "reason": "as expected" if passed else "too short"}
                case = {"test_id": f"case-{number}", "model": model, "input": question, "expected": "yes"}
                lines.append(json.dumps({**case, **answer, **judged}))
    (folder / "evals/big").mkdir(parents=True)
    (folder / "evals/big/results.jsonl").write_text("\n".join(lines))
    (folder / "sitegen.toml").write_text("[limits]\nmax_blob_bytes = 100_000_000\n")
    author = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org")
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "Add the results")):
        git(folder, *author, *arguments)


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder; its output as text."""
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class _Generator:
    """The state of the repository while its history is written."""

    def __init__(self, out: IO[bytes], size: Size) -> None:
        self.out, self.size, self.chance = out, size, random.Random(7)
        self.mark, self.written, self.seconds, self.mapping_version = 0, 0, START, 0
        self.paths = content.field_paths(size.fields, size.line_items)
        self.instructions: dict[str, list[str]] = {}
        self.truths: dict[str, dict[str, str]] = {}
        self.answers: dict[str, dict[str, str | None]] = {}
        self.runs: dict[str, int] = {}

    def write(self) -> None:
        """Write the whole stream."""
        head, self.written = self._commit("Start", self._start()), 1
        while self.written < self.size.commits:
            if self.chance.random() < 0.05:
                base = side = head
                merged: list[bytes] = []
                for _ in range(2):
                    message, operations = self._edit()
                    merged += operations
                    side = self._commit(message, operations, parent=side)
                # The tree of a merge starts as that of its first parent, so the edits of the side are stated again.
                head = self._commit("Merge side", merged, parent=base, merged=side)
            else:
                message, operations = self._edit()
                head = self._commit(message, operations, parent=head)
            self.written += 1
        self.out.write(b"done\n")

    # The stream

    def _put(self, path: str, data: bytes) -> bytes:
        """Write a blob; the answer is the operation that places it."""
        self.mark += 1
        self.out.write(b"blob\nmark :%d\ndata %d\n%s\n" % (self.mark, len(data), data))
        return b"M 100644 :%d %s" % (self.mark, path.encode())

    def _commit(self, message: str, operations: list[bytes], parent: int = 0, merged: int = 0) -> int:
        self.mark += 1
        self.seconds += self.chance.randint(60, 7200)
        text = message.encode()
        who = b"Dev %c <dev@example.org> %d +0000\n" % (65 + self.chance.randrange(6), self.seconds)
        self.out.write(b"commit %s\nmark :%d\nauthor %scommitter %s" % (MAIN.encode(), self.mark, who, who))
        self.out.write(b"data %d\n%s\n" % (len(text), text))
        self.out.write((b"from :%d\n" % parent if parent else b"") + (b"merge :%d\n" % merged if merged else b""))
        self.out.write(b"".join(operation + b"\n" for operation in operations) + b"\n")
        return self.mark

    # What a commit does

    def _start(self) -> list[bytes]:
        operations = []
        for index in range(self.size.instructions):
            lines = 2000 if index == 0 else 200 if index < 4 else self.chance.randint(40, 400)
            path = f".claude/instructions/{TOPICS[index % len(TOPICS)]}/rules-{index:02d}.md"
            body = [content.markdown_line(self.chance) for _ in range(lines)]
            self.instructions[path] = [f"# Rules {index}", "", *body]
            operations.append(self._put_instructions(path))
        operations.append(self._put(MAPPING, content.mapping_yaml(self.paths, self.mapping_version)))
        for index in range(self.size.evals):
            operations += self._new_eval(f"eval-{index:03d}")
        operations += [self._put(f"src/noise_{index}.py", b"x = 1\n") for index in range(NOISE_FILES)]
        return [*operations, self._put("README.md", b"# A generated repository\n")]

    def _new_eval(self, eval_id: str) -> list[bytes]:
        truth = {path: content.random_text(path, self.chance) for path in self.paths}
        self.runs[eval_id], self.truths[eval_id] = 0, truth
        self.answers[eval_id] = {
            path: text if self.chance.random() < 0.8 else content.random_text(path, self.chance)
            for path, text in truth.items()
        }
        return [self._put_truth(eval_id), self._run(eval_id)]

    def _edit(self) -> tuple[str, list[bytes]]:
        """The message and the operations of one ordinary commit."""
        kind, chance = self.chance.random(), self.chance
        count = min(len(self.truths), chance.choice((1, 1, 1, 1, 2, 2, 3)))
        evals = chance.sample(sorted(self.truths), count)
        if FIRST_EVAL not in evals and self._first_eval_is_late():
            evals[0] = FIRST_EVAL
        if kind < 0.30:
            return "Tune instructions", self._edit_instructions()
        if kind < 0.55:
            operations = self._edit_instructions() + [self._run(name) for name in evals]
            return f"Tune instructions, rerun {evals[0]}", operations
        if kind < 0.93:
            return "Rerun " + ", ".join(evals), [self._run(name) for name in evals]
        if kind < 0.96:
            path = chance.choice(self.paths)
            self.truths[evals[0]][path] = content.random_text(path, chance)
            return f"Fix ground truth of {evals[0]}: {path}", [self._put_truth(evals[0]), self._run(evals[0])]
        if kind < 0.965:
            self.mapping_version += 1
            mapping = content.mapping_yaml(self.paths, self.mapping_version)
            return "Adjust field mapping", [self._put(MAPPING, mapping)]
        noise = f"src/noise_{chance.randrange(NOISE_FILES)}.py"
        return "Unrelated change", [self._put(noise, f"# {content.sentence(chance)}\n".encode())]

    def _first_eval_is_late(self) -> bool:
        return self.runs[FIRST_EVAL] * self.size.commits < self.size.first_eval_outputs * self.written

    def _edit_instructions(self) -> list[bytes]:
        chance = self.chance
        path = chance.choice(list(self.instructions))
        lines = self.instructions[path]
        for _ in range(chance.randint(1, 8)):
            index, kind = chance.randrange(len(lines)), chance.random()
            if kind < 0.6:
                lines[index] = content.markdown_line(chance)
            elif kind < 0.85:
                lines.insert(index, content.markdown_line(chance))
            elif len(lines) > 30:
                del lines[index]
        if chance.random() >= 0.005:
            return [self._put_instructions(path)]
        renamed = f"{path.removesuffix('.md').split('--v')[0]}--v{self.mark}.md"
        self.instructions[renamed] = self.instructions.pop(path)
        return [b"R %s %s" % (path.encode(), renamed.encode()), self._put_instructions(renamed)]

    def _run(self, eval_id: str) -> bytes:
        """Read an eval again: a twelfth of its cells is drawn anew, most of them right."""
        answer, truth = self.answers[eval_id], self.truths[eval_id]
        for path in self.chance.sample(self.paths, max(1, len(self.paths) // 12)):
            kind = self.chance.random()
            if kind < 0.70:
                answer[path] = truth[path]
            elif kind < 0.85:
                answer[path] = content.random_text(path, self.chance)
            elif kind < 0.93:
                answer[path] = None
            else:
                answer.pop(path, None)
        self.runs[eval_id] += 1
        run = self.runs[eval_id]
        ordered = {path: answer[path] for path in self.paths if path in answer}
        return self._put(self._output_path(eval_id, run), content.extracted_json(eval_id, run, ordered))

    def _output_path(self, eval_id: str, run: int) -> str:
        if int(eval_id.removeprefix("eval-")) % 2 == 1:
            return f"evals/{eval_id}/results/iteration-{run:03d}/extracted.json"
        return f"evals/{eval_id}/extracted.json"

    def _put_instructions(self, path: str) -> bytes:
        return self._put(path, "\n".join(self.instructions[path]).encode() + b"\n")

    def _put_truth(self, eval_id: str) -> bytes:
        return self._put(f"evals/{eval_id}/ground_truth.csv", content.truth_csv(self.truths[eval_id]))
