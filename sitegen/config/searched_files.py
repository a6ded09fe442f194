"""The input of the finders: the files of a revision or of the work tree, and the entries of the manifest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from posixpath import basename, dirname, join, splitext
from typing import Final, Protocol

from sitegen.config.findings import home_of
from sitegen.config.models import GROUND_TRUTHS, SCORED_FILES, EvalConfig, EvaluationConfig, Kind, files_of
from sitegen.data_files.project_files import is_folder_inside, read_inside
from sitegen.data_files.reading import UnreadableError
from sitegen.model.frozen import Frozen

LARGEST_READ: Final = 1_000_000
"""The size of the largest configuration or file of numbers that is read, in bytes."""
LARGEST_CASES: Final = 20_000_000
"""The size of the largest file of cases that is read, in bytes."""

OTHER_KINDS: Final = frozenset(
    {*GROUND_TRUTHS, *(name for files in SCORED_FILES for name in files.overwritten)} - {*files_of("judged").outputs}
)
"""Names of files that make their folder an eval of another kind than ``judged`` and ``recorded``."""

_NO_KIND: Final = "none"
_MOST_OUTPUTS: Final = 20
"""The most outputs that can decide the kind of an eval."""
_MOST_FOLDERS: Final = 100
_DEEPEST: Final = 3
_SKIPPED: Final = frozenset({"node_modules", "public", "dist", "build"})


def _no_version(path: str, largest: int) -> Iterator[bytes]:
    """Yield nothing, by default."""
    yield from ()


class KeptAnswers(Protocol):
    """A store of answers derived from contents, identified by the content and not by its path."""

    def get(self, question: str, path: str) -> str | None:
        """Return the answer for the file at a path; None if its content was never examined."""

    def put(self, question: str, path: str, answer: str) -> None:
        """Store the answer for the file at a path."""


class SearchedFiles(Frozen):
    """The files of the revision, or of the work tree, by name."""

    names: Callable[[str], dict[str, bool]]
    """Returns the names in a folder, and whether each is a folder; none if there is no such folder."""
    read: Callable[[str, int], bytes | None]
    """Returns the bytes of a file; None if there is none, or if it is larger than the given number of bytes."""
    earlier: Callable[[str, int], Iterator[bytes]]
    """Takes the same; yields the contents in earlier commits that can be read, the newest first."""
    kind_of_cases: Callable[[str, bytes], Kind | None]
    """Takes (path, content); returns the kind that scores a case file, or None for any other file."""
    answers: KeptAnswers | None = None
    """The store of answers, which avoids reading a content twice; None to read every file."""

    def answer(self, question: str, path: str, largest: int, of: Callable[[bytes], str]) -> str:
        """Return the answer that *of* derives from a file's newest content that can be read; empty without any.

        The text of the question identifies *of* and all inputs of *of* besides the content.
        """
        answer = self._answer(question, path, largest, of)
        if answer is None and self.is_file(dirname(path), basename(path)):
            answer = next(map(of, self.earlier(path, largest)), None)
        return answer or ""

    def kind_of_series(self, paths: Iterable[str]) -> Kind | None:
        """Return the kind that scores outputs, newest first, or the versions of one output; None if they are no cases.

        The newest output that can be read decides. But once an output states verdicts or scores of texts, these decide
        for all: where another output states none, its texts are not compared instead. So the kind never depends on
        which contents this clone lacks, or on one broken output.
        """
        several = tuple(islice(paths, _MOST_OUTPUTS))
        kinds = filter(None, map(self._kind_of_file, several) if len(several) > 1 else self._kinds_of_versions(several))
        newest = next(kinds, _NO_KIND)
        if newest == "responses" or (newest == _NO_KIND and basename(several[0]) in files_of("responses").outputs):
            newest = "judged" if "judged" in kinds else newest
        return None if newest == _NO_KIND else newest

    def _kinds_of_versions(self, paths: Sequence[str]) -> Iterator[str | None]:
        for path in paths:
            yield self._kind_of_file(path)
            yield from (self._kind_in(path, content) for content in self.earlier(path, LARGEST_CASES))

    def _kind_of_file(self, path: str) -> str | None:
        name = basename(path)
        shown = name if name in files_of("responses").outputs else f"*{splitext(path)[1]}"
        question = f"kind of cases or results in {shown}"
        return self._answer(question, path, LARGEST_CASES, lambda content: self._kind_in(path, content))

    def _kind_in(self, path: str, content: bytes) -> str | None:
        """Return the kind that scores a content, ``_NO_KIND`` for one without cases; None if it cannot be read."""
        try:
            return self.kind_of_cases(path, content) or _NO_KIND
        except UnreadableError:
            return None

    def _answer(self, question: str, path: str, largest: int, of: Callable[[bytes], str | None]) -> str | None:
        """Return the answer about the content of a file; None if there is none, which may be fetched later."""
        stored = self.answers.get(question, path) if self.answers else None
        if stored is not None:
            return stored
        content = self.read(path, largest)
        answer = None if content is None else of(content)
        if self.answers and answer is not None:
            self.answers.put(question, path, answer)
        return answer

    def is_file(self, folder: str, name: str) -> bool:
        """Whether a file lies in a folder."""
        return self.names(folder).get(name) is False


class Search(Frozen, gc=True, dict=True):
    """One search for the evals that the manifest does not name. Folders are walked once for all finders."""

    files: SearchedFiles
    evals_dir: str
    """The folder of evals, relative to the root; empty for the root."""
    stated: tuple[EvalConfig, ...]
    """The entries of the manifest."""
    evaluation: EvaluationConfig | None
    """The evaluation that the project configures; a finding if it cannot be read."""

    @cached_property
    def homes(self) -> frozenset[str]:
        """The folders of the evals that the manifest names."""
        return frozenset(home_of(entry, self.evals_dir) for entry in self.stated)

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """The root and the folders below it, nearest first, up to ``_MOST_FOLDERS`` and ``_DEEPEST`` levels."""
        return tuple(self._walk())

    @cached_property
    def eval_folders(self) -> dict[str, str]:
        """The path of each folder in the folder of evals by its name, sorted by name."""
        inside = self.files.names(self.evals_dir)
        return {name: join(self.evals_dir, name) for name in sorted(inside) if inside[name] and name[0] != "."}

    def _walk(self) -> Iterator[str]:
        level, remaining = [""], _MOST_FOLDERS
        for _ in range(_DEEPEST):
            below: list[str] = []
            for folder in level[:remaining]:
                yield folder
                names = self.files.names(folder)
                inside = sorted(name for name in names if names[name] and name[0] != "." and name not in _SKIPPED)
                below += [join(folder, name) for name in inside]
            remaining -= len(level[:remaining])
            level = below


def work_tree_files(
    root: Path,
    kind_of_cases: Callable[[str, bytes], Kind | None],
    earlier: Callable[[str, int], Iterator[bytes]] = _no_version,
) -> SearchedFiles:
    """Return the files of a work tree. No link is followed."""

    def names(folder: str) -> dict[str, bool]:
        if not is_folder_inside(root, folder):
            return {}
        with os.scandir(root / folder) as entries:
            kinds = {
                entry.name: (entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False))
                for entry in entries
            }
        return {name: is_folder for name, (is_folder, is_file) in kinds.items() if is_folder or is_file}

    def read(path: str, largest: int) -> bytes | None:
        try:
            return read_inside(root, path, largest)
        except OSError:
            return None

    return SearchedFiles(names=names, read=read, earlier=earlier, kind_of_cases=kind_of_cases)
