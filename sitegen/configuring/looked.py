"""Where evals that no manifest names are looked for: a revision, or the work tree."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from posixpath import splitext
from typing import NamedTuple, Protocol

from sitegen.config import Kind
from sitegen.project_files import is_folder_inside, read_inside


def _none_is_of_cases(path: str, content: bytes) -> Kind | None:
    """Whoever hands in nothing else finds no file of cases."""


class KeptAnswers(Protocol):
    """What contents said to questions before, by the content and not by its path."""

    def get(self, question: str, path: str) -> str | None:
        """The answer of the file that lies at a path; None if it was never asked."""

    def put(self, question: str, path: str, answer: str) -> None:
        """Keep the answer of the file that lies at a path."""


class Looked(NamedTuple):
    """The files of the revision, or of the work tree, by name."""

    names: Callable[[str], dict[str, bool]]
    """The names in a folder, and whether each is a folder; of one that is not there, none."""
    read: Callable[[str, int], bytes | None]
    """The bytes of a file; None if there is none, or it is larger than so many bytes."""
    kind_of_cases: Callable[[str, bytes], Kind | None] = _none_is_of_cases
    """(path, content) -> the kind that scores a file of cases with both sides; None: it is no such file."""
    answers: KeptAnswers | None = None
    """Where answers are kept, so that no content is read twice; None: every file is read."""

    def answer(self, question: str, path: str, largest: int, of: Callable[[bytes], str]) -> str:
        """What a file says to a question; empty if it cannot be read.

        The text of the question stands for *of*, and for all that it knows besides the content.
        """
        known = self.answers.get(question, path) if self.answers else None
        if known is not None:
            return known
        content = self.read(path, largest)
        if content is None:
            return ""
        answer = of(content)
        if self.answers:
            self.answers.put(question, path, answer)
        return answer

    def kind_of_file(self, path: str, largest: int) -> Kind | None:
        """The kind that scores a file of cases with both sides; None: it is no such file."""
        question = f"kind of cases in *{splitext(path)[1]}"
        return self.answer(question, path, largest, lambda content: self.kind_of_cases(path, content) or "") or None


def looked_into(root: Path, kind_of_cases: Callable[[str, bytes], Kind | None]) -> Looked:
    """The files of a work tree. No link is followed."""

    def names(folder: str) -> dict[str, bool]:
        if not is_folder_inside(root, folder):
            return {}
        with os.scandir(root / folder) as entries:
            kinds = {
                each.name: (each.is_dir(follow_symlinks=False), each.is_file(follow_symlinks=False)) for each in entries
            }
        return {name: is_folder for name, (is_folder, is_file) in kinds.items() if is_folder or is_file}

    def read(path: str, largest: int) -> bytes | None:
        try:
            return read_inside(root, path, largest)
        except OSError:
            return None

    return Looked(names, read, kind_of_cases)
