"""The input of a search: the files of a revision or of the work tree, read within bounds, and what the manifest has."""

import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain, islice
from posixpath import basename, dirname, join, splitext
from typing import Final

from sitegen.config.findings import home_of
from sitegen.config.manifest import read_evaluation
from sitegen.config.models import (
    EVALUATION_FILE,
    GROUND_TRUTHS,
    SCORED_FILES,
    EvalConfig,
    EvaluationConfig,
    Kind,
    files_of,
)
from sitegen.data_files.reading import UnreadableError
from sitegen.history.files_at_commit import FilesAt
from sitegen.history.repository import KnownAnswers
from sitegen.model.frozen import Frozen, field
from sitegen.model.problems import Parsed
from sitegen.scoring.case_files import kind_of_case_file
from sitegen.text.plain import natural_order

_LARGEST: Final = 20_000_000  # the size of the largest file of cases in a usual place that is read, in bytes
_LARGEST_SETTINGS: Final = 1_000_000  # bytes
BYTES: Final = 5_000_000
"""The size of the largest file anywhere else that is parsed, in bytes."""
MOST_READ: Final = 300  # files
MOST_BYTES: Final = 60_000_000
"""The most bytes that are read from all files together."""

OTHER_KINDS: Final = frozenset(
    {*GROUND_TRUTHS, *(name for files in SCORED_FILES for name in files.overwritten)} - {*files_of("judged").outputs}
)
"""Names of files that make their folder an eval of another kind than ``judged`` and ``recorded``."""

_NO_KIND: Final = "none"
_MOST_OUTPUTS: Final = 20  # the most outputs that can decide the kind of an eval
_MOST_FITTING: Final = 100  # the most names in a folder that a part of a glob matches
_MOST_FOLDERS: Final = 100  # folders that are walked
_DEEPEST: Final = 3  # levels below the root
_SKIPPED: Final = frozenset({"node_modules", "public", "dist", "build"})
_ITERATION: Final = re.compile(r"iteration-?[0-9]+", re.IGNORECASE)
_OF_RESULTS: Final = re.compile(r"\..*|results|runs|outputs|reports|baselines|iteration[-_]?[0-9]+")
"""Matches names of folders in the folder of evals that hold results of several evals, or runs, or are hidden."""


class Search(Frozen, gc=True, dict=True):
    """The files of a revision or of the work tree, by name, and what finders have to know. Folders are walked once."""

    files: FilesAt
    answers: KnownAnswers = field(default_factory=KnownAnswers)
    """What contents were found to state in earlier builds."""
    evals_dir: str = ""
    """The folder of evals, relative to the root; empty for the root."""
    stated: tuple[EvalConfig, ...] = ()
    """The entries of the manifest."""

    @cached_property
    def contents(self) -> dict[str, bytes | None]:
        """The contents that were asked for, by path; no bytes where a bound was reached."""
        return {}

    def content(self, path: str) -> bytes | None:
        """Return the content of a file, which is read once; None without any, no bytes if a bound is reached."""
        if path not in self.contents:
            size = sum(len(content or b"") for content in self.contents.values())
            is_within = len(self.contents) < MOST_READ and size < MOST_BYTES
            self.contents[path] = (self.files.read(path, BYTES) or None) if is_within else b""
        return self.contents[path]

    @cached_property
    def evaluation(self) -> Parsed[EvaluationConfig | None]:
        """The evaluation that the project configures; None if there is none, or its file cannot be read."""
        content = self.files.read(EVALUATION_FILE, _LARGEST_SETTINGS) if self.is_file(EVALUATION_FILE) else None
        return Parsed(None) if content is None else read_evaluation(content)

    @cached_property
    def homes(self) -> frozenset[str]:
        """The folders of the evals that the manifest names."""
        return frozenset(home_of(entry, self.evals_dir) for entry in self.stated)

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """The root and the folders below it, nearest first, up to ``_MOST_FOLDERS`` and ``_DEEPEST`` levels."""
        walked: list[str] = []
        level = [""]
        for _ in range(_DEEPEST):
            level = level[: _MOST_FOLDERS - len(walked)]
            walked += level
            level = [
                join(folder, name)
                for folder in level
                for name, is_folder in sorted(self.files.names(folder).items())
                if is_folder and name[0] != "." and name not in _SKIPPED
            ]
        return tuple(walked)

    @cached_property
    def eval_folders(self) -> dict[str, str]:
        """The path of each folder in the folder of evals that may be one, by its name, sorted by name."""
        folders = (name for name, is_folder in sorted(self.files.names(self.evals_dir).items()) if is_folder)
        return {name: join(self.evals_dir, name) for name in folders if not _OF_RESULTS.fullmatch(name)}

    @cached_property
    def holds_evals_by_convention(self) -> bool:
        """Whether a folder of evals is an eval without a finder, and has an output in a usual place."""
        usual = OTHER_KINDS - {*GROUND_TRUTHS}
        found = (
            (self.files.names(folder), self.files.names(f"{folder}/results")) for folder in self.eval_folders.values()
        )
        return any(
            OTHER_KINDS & names.keys()
            and (usual & {*names, *(f"results/{name}" for name in results)} or any(map(_ITERATION.fullmatch, results)))
            for names, results in found
        )

    def newest_first(self, folder: str, glob: str) -> Iterator[str]:
        """Yield the files that match a path or a glob below a folder, the last in natural order first."""
        names = self.files.names(folder)
        first, _, rest = glob.partition("/")
        fitting = sorted((name for name in names if fnmatchcase(name, first)), key=natural_order, reverse=True)
        for name in fitting[:_MOST_FITTING]:
            if rest and names[name]:
                yield from self.newest_first(join(folder, name), rest)
            elif not rest and not names[name]:
                yield join(folder, name)

    def answer(self, question: str, path: str, of: Callable[[bytes], str]) -> str:
        """Return the answer that ``of`` derives from a file's newest content that can be read; empty without any.

        The text of the question identifies ``of`` and all inputs of ``of`` besides the content.
        """
        answer = self._answer(question, path, of)
        if answer is None and self.is_file(path):
            answer = next(map(of, self.files.earlier(path, _LARGEST)), None)
        return answer or ""

    def kind_of_series(self, paths: Iterable[str]) -> Kind | None:
        """Return the kind that scores outputs, newest first, or the versions of one output; None if they are no cases.

        The newest output that can be read decides. But once an output states verdicts or scores of texts, these decide
        for all: where another output states none, its texts are not compared instead. So the kind never depends on
        which contents this clone lacks, or on one broken output.
        """
        several = tuple(islice(paths, _MOST_OUTPUTS))
        versioned = several if len(several) == 1 else ()
        versions = (self._kind_in(path, text) for path in versioned for text in self.files.earlier(path, _LARGEST))
        kinds = filter(None, chain(map(self._kind_of_file, several), versions))
        newest = next(kinds, _NO_KIND)
        in_responses = any(basename(path) in files_of("responses").outputs for path in several[:1])
        if newest == "responses" or (newest == _NO_KIND and in_responses):
            newest = "judged" if "judged" in kinds else newest
        return None if newest == _NO_KIND else newest

    def _kind_of_file(self, path: str) -> str | None:
        name = basename(path)
        shown = name if name in files_of("responses").outputs else f"*{splitext(path)[1]}"
        question = f"kind of cases or results in {shown}"
        return self._answer(question, path, lambda content: self._kind_in(path, content))

    def _kind_in(self, path: str, content: bytes) -> str | None:
        """Return the kind that scores a content, ``_NO_KIND`` for one without cases; None if it cannot be read."""
        try:
            return kind_of_case_file(path, content) or _NO_KIND
        except UnreadableError:
            return None

    def _answer(self, question: str, path: str, of: Callable[[bytes], str | None]) -> str | None:
        """Return the answer about the content of a file; None if there is none, which may be fetched later."""

        def examine() -> str | None:
            content = self.files.read(path, _LARGEST)
            return None if content is None else of(content)

        return self.answers.about(self.files.blob_id(path), question, examine)

    def is_file(self, path: str) -> bool:
        """Whether there is a file at a path."""
        return self.files.names(dirname(path)).get(basename(path)) is False
