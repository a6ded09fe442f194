"""The invented team's project: what its files hold now, and how a commit changes them."""

from __future__ import annotations

import copy
import hashlib
from datetime import UTC, datetime
from typing import Final

from tests.demo import files, prose
from tests.demo.dice import Dice, hashed
from tests.demo.documents import Cell, Cells, EvalSpec, true_cells
from tests.demo.fast_import import Stream
from tests.demo.reading import read
from tests.demo.specs import SPECS
from tests.demo.topics import TOPICS

START: Final = 1_767_600_000
"""5 January 2026, 08:00 UTC."""
AUTHORS: Final = (
    "Dev A <dev-a@example.org>",
    "Dev B <dev-b@example.org>",
    "Annotator <annotator@example.org>",
    "Reader bot <reader-bot@example.org>",
)
MANIFEST: Final = "evals/manifest.yaml"


class Project:
    """The state of the work tree and of the team. Every method changes it; ``commit`` makes history of the change."""

    def __init__(self) -> None:
        self.stream = Stream()
        self.clock, self.head = START, 0
        self.dice = Dice(2026)
        self.files: dict[str, bytes] = {}
        self.sections: dict[str, prose.Sections] = {}
        self.entries: dict[str, tuple[EvalSpec, dict[str, object]]] = {}
        """Evals of the manifest by their present id; the id is the folder's name too."""
        self.others: dict[str, dict[str, object]] = {}
        """Evals of other kinds than fields: their entries of the manifest, by id."""
        self.rules: dict[str, dict[str, object]] = {}
        """What the story added to each eval's mapping."""
        self.truths: dict[str, dict[str, Cells]] = {}
        """The ground truth as people typed it; ``_paper`` has what the documents really say."""
        self.skills = {
            spec.id: {
                f"{spec.items.path}[]": spec.items.skill,
                **{name: field.skill for name, field in spec.attributes().items()},
            }
            for spec in SPECS
        }
        self.runs = {spec.id: 0 for spec in SPECS}
        self._paper = {
            spec.id: {name: true_cells(spec, name, Dice(hashed(spec.id, name))) for name in spec.documents}
            for spec in SPECS
        }

    def commit(self, message: str, author: int = 0) -> None:
        """Commit everything. ``author`` is an index of ``AUTHORS``."""
        self._commit(message, author, merged=None)

    def _commit(self, message: str, author: int, merged: int | None) -> None:
        self.clock += self.dice.between(1_800, 158_000)
        self.head = self.stream.commit(
            self.files,
            author=AUTHORS[author],
            seconds=self.clock,
            message=message,
            parent=self.head or None,
            merged=merged,
        )

    def fork(self) -> Project:
        """A side branch from here: it writes into the same stream and goes its own way from now on."""
        side = copy.copy(self)
        side.dice = Dice(hashed("side", str(self.head)))
        own = ("files", "sections", "entries", "others", "rules", "truths", "skills", "runs")
        vars(side).update({name: copy.deepcopy(vars(self)[name]) for name in own})
        return side

    def merge(self, side: Project, message: str, *paths: str) -> None:
        """Merge a side branch that changed only these instruction files; what it learned comes along."""
        for path in paths:
            self.sections[path], self.files[path] = side.sections[path], side.files[path]
        for spec_id, skills in side.skills.items():
            self.skills[spec_id] = {name: max(skill, self.skills[spec_id][name]) for name, skill in skills.items()}
        self.clock = max(self.clock, side.clock)
        self._commit(message, 0, merged=side.head)

    # Instructions

    def instruct(self, *paths: str) -> None:
        """Write instruction files for the first time."""
        for path in paths:
            self._store(path, prose.write(TOPICS[path], Dice(hashed("prose", path))))

    def rule(self, path: str, heading: str, rule: str) -> None:
        """Add a rule to an instruction file."""
        self._store(path, prose.with_rule(self.sections[path], heading, rule))

    def drop(self, path: str, heading: str, words: str) -> None:
        """Take rules out of an instruction file."""
        self._store(path, prose.without_rule(self.sections[path], heading, words))

    def restore(self, path: str, sections: prose.Sections) -> None:
        """Give an instruction file the contents that it had before."""
        self._store(path, sections)

    def write(self, path: str, text: str) -> None:
        """Write a short instruction file as it is."""
        self.files[path] = text.encode()

    def text(self, path: str) -> str:
        """What a file says now."""
        return self.files[path].decode()

    def rename(self, old: str, new: str) -> None:
        """Move an instruction file."""
        self.files[new], self.sections[new] = self.files.pop(old), self.sections.pop(old)

    def _store(self, path: str, sections: prose.Sections) -> None:
        self.sections[path], self.files[path] = sections, prose.text(sections)

    def learn(self, eval_id: str, by: int, *attributes: str) -> None:
        """Move the skill at attributes of an eval, in thousandths; none named: at all of them."""
        skills = self.skills[eval_id]
        for name in attributes or tuple(skills):
            skills[name] = max(80, min(985, skills[name] + by))

    # Evals

    def add_eval(self, spec: EvalSpec, eval_id: str | None = None) -> None:
        """Bring a new eval: its documents' truth, its mapping, its entry in the manifest."""
        self.entries[eval_id or spec.id] = (spec, {})
        self.rules[spec.id] = {}
        self.truths[spec.id] = copy.deepcopy(self._paper[spec.id])
        self._write_eval(eval_id or spec.id)

    def _write_eval(self, eval_id: str) -> None:
        spec, _ = self.entries[eval_id]
        truth = files.truth(spec, self.truths[spec.id])
        self.files[f"evals/{eval_id}/{files.TRUTH_NAMES[spec.truth]}"] = truth
        columns = list(dict.fromkeys(path for cells in self._paper[spec.id].values() for path in cells))
        mapping = files.mapping(spec, columns, self.rules[spec.id])
        self.files[f"evals/{eval_id}/field_mapping.yaml"] = mapping
        self._write_manifest()

    def add_other(self, eval_id: str, kind: str, name: str, description: str, instructions: str) -> None:
        """Bring an eval of another kind; its files are up to the caller."""
        entry: dict[str, object] = {
            "name": name,
            "description": description,
            "kind": kind,
            "instructions": [instructions],
        }
        self.others[eval_id] = entry
        self._write_manifest()

    def _write_manifest(self) -> None:
        self.files[MANIFEST] = files.manifest(self.entries, self.others)

    def mistype(self, eval_id: str, document: str, path: str, cell: Cell) -> None:
        """Put a value into the ground truth that does not stand on the paper."""
        spec, _ = self.entries[eval_id]
        self.truths[spec.id][document][path] = cell
        self._write_eval(eval_id)

    def correct(self, eval_id: str, document: str, path: str) -> None:
        """Put into the ground truth what stands on the paper."""
        spec, _ = self.entries[eval_id]
        self.mistype(eval_id, document, path, self._paper[spec.id][document][path])

    def map_rule(self, eval_id: str, key: str, value: object) -> None:
        """Set a key of the eval's field mapping."""
        self.rules[self.entries[eval_id][0].id][key] = value
        self._write_eval(eval_id)

    def configure(self, eval_id: str, key: str, value: object) -> None:
        """Set a key of the eval's entry in the manifest."""
        self.entries[eval_id][1][key] = value
        self._write_eval(eval_id)

    def rename_eval(self, old: str, new: str) -> None:
        """Give an eval's folder, and its entry in the manifest, another name."""
        entries = {new if name == old else name: entry for name, entry in self.entries.items()}
        moved = {path: path.replace(f"evals/{old}/", f"evals/{new}/", 1) for path in self.files}
        self.entries, self.files = entries, {moved[path]: content for path, content in self.files.items()}
        self._write_manifest()

    def remove_eval(self, eval_id: str) -> None:
        """Delete an eval with everything in its folder."""
        del self.entries[eval_id]
        self.files = {path: body for path, body in self.files.items() if not path.startswith(f"evals/{eval_id}/")}
        self._write_manifest()

    def run(self, eval_id: str, *, cut: int | None = None, luck: int = 0) -> None:
        """Read all documents of an eval again.

        ``cut``: the answer breaks off after so many bytes. ``luck`` moves every skill for this run alone, in
        thousandths.
        """
        spec, _ = self.entries[eval_id]
        self.runs[spec.id] += 1
        run, paper = self.runs[spec.id], self._paper[spec.id]
        skills = {name: skill + luck for name, skill in self.skills[spec.id].items()}
        answer = {name: read(spec, name, paper[name], skills, run) for name in spec.documents}
        folder = f"evals/{eval_id}/" + (f"results/iteration-{run:03}/" if spec.layout == "iterations" else "")
        self.files[folder + "extracted.json"] = files.output(spec, answer)[:cut]
        if spec.records_runs:
            self.files[folder + "eval-results.json"] = self._record(eval_id, run)

    def _record(self, eval_id: str, run: int) -> bytes:
        """What the run says of itself: when, and with which instructions."""
        made = datetime.fromtimestamp(self.clock + 60 * run, UTC).isoformat()
        hashes = {path: hashlib.sha256(self.files[path]).hexdigest() for path in sorted(self.sections)}
        metadata = {"iteration": run, "timestamp": made, "instruction_hashes": hashes}
        return files.as_json({"eval_id": eval_id, "metadata": metadata})
