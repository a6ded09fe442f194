"""Files of cases with both sides among the evals, that no manifest names.

They are looked for in the folder of evals, and in a folder of it that holds nothing which makes it an eval of another
kind: there, in ``results/``, ``runs/`` and ``outputs/`` below it, and in the folders of runs in these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from posixpath import splitext
from typing import Final, NamedTuple

from sitegen.config import GROUND_TRUTHS, SCORED_FILES, EvalConfig, Kind, files_of
from sitegen.configuring.looked import Looked

LARGEST_CASES: Final = 20_000_000
"""Bytes of a file that is looked into."""

_MOST_READ: Final = 100
"""Files that are looked into."""
_BELOW: Final = ("results", "runs", "outputs")
_ENDINGS: Final = (".json", ".jsonl")
_DIGITS = re.compile(r"[0-9]+(?:[-_.:TZ]*[0-9]+)*Z?")
_OF_A_RUN = re.compile(
    r"(?:run|results?|outputs?|iter(?:ation)?|attempt|trial|eval|v(?:ersion)?)[-_. ]?\*", re.IGNORECASE
)
_TIME_DIGITS: Final = 6
"""Digits of a name that are a date at least."""
_JUDGED = re.compile(rb'"(?:score|scores|evaluator_results)"\s*:')
_NOT_CASES: Final = frozenset({*GROUND_TRUTHS, "eval-results.json", "aggregate.json"})
_KNOWN: Final = frozenset((*GROUND_TRUTHS, *(name for files in SCORED_FILES for name in files.overwritten)))
_MAYBE_JUDGED: Final = frozenset(files_of("judged").outputs)


class _Candidate(NamedTuple):
    """The newest file of a name, or of a glob of runs."""

    outputs: str
    """Relative to the eval's folder."""
    newest: str
    """The same of the newest file."""


class FoundCases:
    """The look at one revision or work tree."""

    def __init__(self, evals_dir: str, looked: Looked, homes: set[str]) -> None:
        """*homes*: folders of evals that the manifest names."""
        self._top = evals_dir
        self._looked = looked
        self._homes = homes
        self._left = _MOST_READ

    def entries(self) -> Iterator[EvalConfig]:
        """An entry for each file, or each row of runs: those of folders first."""
        if not self._top:
            return
        inside = self._looked.names(self._top)
        for name in sorted(name for name in inside if inside[name] and name[0] != "."):
            folder = f"{self._top}/{name}"
            if folder not in self._homes and self._is_free(folder):
                yield from self._of_folder(name, folder)
        if self._top not in self._homes:
            for each in _candidates({name: is_folder for name, is_folder in inside.items() if not is_folder}):
                if kind := self._kind(self._top, each):
                    yield _entry(_stem(each.outputs), each, kind, self._top)

    def _is_free(self, folder: str) -> bool:
        names = self._looked.names(folder)
        results = self._looked.names(f"{folder}/results") if names.get("results") else {}
        taken = {*names, *(f"results/{name}" for name in results)} & _KNOWN
        return taken <= _MAYBE_JUDGED

    def _of_folder(self, eval_id: str, folder: str) -> Iterator[EvalConfig]:
        found = [(each, kind) for each in self._below(folder) if (kind := self._kind(folder, each))]
        for number, (each, kind) in enumerate(found):
            name = eval_id if not number else f"{eval_id}-{_stem(each.outputs)}"
            yield _entry(name, each, kind, folder if number else None)

    def _below(self, folder: str) -> Iterator[_Candidate]:
        here = self._looked.names(folder)
        yield from _candidates(here)
        for below in _BELOW:
            if not here.get(below):
                continue
            names = self._looked.names(f"{folder}/{below}")
            for each in _candidates(names):
                yield _Candidate(f"{below}/{each.outputs}", f"{below}/{each.newest}")
            runs = sorted((name for name in names if names[name] and _DIGITS.search(name)), key=_natural)
            if runs:
                inside = self._looked.names(f"{folder}/{below}/{runs[-1]}")
                for name in sorted(name for name in inside if not inside[name] and name not in _NOT_CASES):
                    yield _Candidate(f"{below}/*/{name}", f"{below}/{runs[-1]}/{name}")

    def _kind(self, folder: str, each: _Candidate) -> Kind | None:
        if not self._left or splitext(each.newest)[1] not in _ENDINGS:
            return None
        self._left -= 1
        path = f"{folder}/{each.newest}"
        if each.newest in _MAYBE_JUDGED and self._looked.answer("scores", path, LARGEST_CASES, _scores):
            return None
        return self._looked.kind_of_file(path, LARGEST_CASES)


def _scores(content: bytes) -> str:
    return "judged" if _JUDGED.search(content) else ""


def newest_named(looked: Looked, folder: str, segments: list[str]) -> str | None:
    """The last file, numbers in names by value, that a path or a glob names below a folder."""
    names = looked.names(folder)
    fitting = sorted((name for name in names if fnmatchcase(name, segments[0])), key=_natural, reverse=True)
    for name in fitting[:_MOST_READ]:
        path = f"{folder}/{name}" if folder else name
        if len(segments) == 1:
            if not names[name]:
                return path
        elif names[name] and (found := newest_named(looked, path, segments[1:])):
            return found
    return None


def _candidates(names: dict[str, bool]) -> Iterator[_Candidate]:
    """Files of one folder; those whose names differ by a time or the number of a run are runs of one eval."""
    by_outputs: dict[str, list[str]] = {}
    for name in sorted(name for name in names if not names[name] and splitext(name)[1] in _ENDINGS):
        if name not in _NOT_CASES and name[0] != ".":
            by_outputs.setdefault(_outputs(name), []).append(name)
    for outputs, files in by_outputs.items():
        yield _Candidate(outputs, max(files, key=_natural))


def _outputs(name: str) -> str:
    stem, ending = splitext(name)
    glob = _DIGITS.sub("*", stem) + ending
    longest = max((sum(map(str.isdigit, digits)) for digits in _DIGITS.findall(stem)), default=0)
    return glob if longest >= _TIME_DIGITS or _OF_A_RUN.search(glob) else name


def _entry(eval_id: str, each: _Candidate, kind: Kind, folder: str | None) -> EvalConfig:
    return EvalConfig(id=eval_id, kind=kind, dir=folder, outputs=each.outputs, ground_truth=each.outputs)


def _stem(outputs: str) -> str:
    """A name for what the files hold: ``results/eval_*.json`` is ``eval``."""
    words = splitext(outputs.rpartition("/")[2])[0].replace("*", "").strip("-_. ")
    return words or "cases"


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", name) if part)
