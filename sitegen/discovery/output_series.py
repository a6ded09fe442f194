"""Files that may be the outputs or results of one eval: one that is rewritten, or runs beside each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from sitegen.discovery.tracked import DATA, TrackedFile
from sitegen.history.globs import natural_order

_DATED = re.compile(
    r"(?<![0-9])20[0-9]{2}[-_]?[01][0-9](?:[-_]?[0-3][0-9])?(?![0-9])|(?<![0-9])1[5-9][0-9]{8}(?:[0-9]{3})?(?![0-9])"
)
"""A date, or seconds or milliseconds since 1970."""

_NUMBERED = re.compile(
    r"(?<![a-z0-9])(?:run|round|iteration|iter|exp|experiment|attempt|trial|batch|v|r)[-_ ]?[0-9]+", re.IGNORECASE
)
_ORDINAL = re.compile(r"[A-Za-z]{0,4}[-_]?(?=[0-9]{1,6}[-_])")
"""How the name of a folder begins that counts its runs and dates them: ``R003__2025-12-18``."""

_NUMBER = re.compile(r"[0-9]+")
_GLOB_SIGNS = re.compile(r"[*?\[\]\\]")

_PLACE = re.compile(
    r"eval|result|output|(?:^|[/_.-])runs?(?:[/_.-]|$)|bench|predict|extract|report|respon|scor|metric|experiment|"
    r"answer|judg|trace|accura|baseline|regression",
    re.IGNORECASE,
)
_TRUTH = re.compile(r"truth|gold|expected|answer[_-]?key|(?:^|[/_.-])gt(?:[/_.-]|$)", re.IGNORECASE)
_TRUTH_NAME = re.compile(r"label|reference|annotat|correct", re.IGNORECASE)
"""Words that say so in the name of a file, and something else in that of a folder."""

_NO_RESULTS = re.compile(
    r"(?:^|/)(?:package(?:-lock)?\.json|tsconfig[^/]*\.json|jsconfig\.json|components\.json|composer\.json|turbo\.json|vercel\.json|"
    r"[^/]*lock[^/]*\.(?:json|ya?ml)|pnpm-workspace\.yaml|mkdocs\.ya?ml|(?:docker-)?compose[^/]*\.ya?ml|[^/]*\.schema\.json|schema\.json|"
    r"[^/]*config[^/]*\.(?:json|ya?ml)|manifest\.(?:json|ya?ml)|renovate\.json|settings[^/]*\.json|environment\.ya?ml)$"
    r"|[^/]*(?:checkpoint|intermediate|partial|backup)[^/]*$|(?:^|/)(?:fixtures?|testdata|test[_-]data|schemas?|i18n|locales?|translations?)/|(?:^|/)\.",
    re.IGNORECASE,
)
"""Settings of tools, data of tests, and whatever is hidden."""

_TESTS = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/", re.IGNORECASE)
_EVALS_OF_TESTS = re.compile(r"/(?:evals?|evaluations?|runs?|prompts?)/", re.IGNORECASE)
"""What tests of code lie beside is data of tests, unless a folder says that it is not."""

LEAST_RUNS: Final = 2


class OutputSeries(NamedTuple):
    """One file, or the runs that a glob names."""

    folder: str
    """Where an eval with these outputs lies; empty for the top."""
    outputs: str
    """Relative to the folder: the file, or the glob."""
    files: tuple[TrackedFile, ...]
    """In the order of their names; one, unless these are runs."""

    @property
    def newest(self) -> TrackedFile:
        """The one that is looked into: of runs, the last by name."""
        return self.files[-1]

    @property
    def is_glob(self) -> bool:
        """Whether these are runs."""
        return len(self.files) > 1

    @property
    def deleted(self) -> bool:
        """Whether none of the files is there any more."""
        return all(file.deleted for file in self.files)

    @property
    def versions(self) -> int:
        """How many outputs it is at most."""
        return sum(file.versions for file in self.files)

    @property
    def path(self) -> str:
        """The file, or the glob, from the root."""
        return f"{self.folder}/{self.outputs}" if self.folder else self.outputs

    @property
    def hinted(self) -> bool:
        """Whether the place sounds like results."""
        return is_result_by_name(self.path)


def is_truth_by_name(path: str) -> bool:
    """Whether a path sounds like expected values."""
    return _TRUTH.search(path) is not None or _TRUTH_NAME.search(path.rpartition("/")[2]) is not None


def is_result_by_name(path: str) -> bool:
    """Whether a path sounds like results of a run."""
    return _PLACE.search(path) is not None


def data_files(files: Iterable[TrackedFile]) -> tuple[TrackedFile, ...]:
    """Those that may hold outputs, expected values or results."""
    return tuple(
        file
        for file in files
        if file.ending in DATA
        and not _NO_RESULTS.search(file.path)
        and not _GLOB_SIGNS.search(file.path)
        and (not _TESTS.search(file.path) or _EVALS_OF_TESTS.search(file.path))
    )


def output_series(files: Iterable[TrackedFile]) -> tuple[OutputSeries, ...]:
    """Runs first, those with most of them before others; then single files, those that were written most often first.

    A file that is there counts before one that was deleted. A file of a glob of runs is no series of its own.
    """
    runs: list[OutputSeries] = []
    left = [(file, run_globs_of(file.path)) for file in files]
    alone: list[OutputSeries] = []
    while left:
        grouped: dict[str, list[tuple[TrackedFile, tuple[str, ...]]]] = {}
        for file, globs in left:
            if globs:
                grouped.setdefault(globs[0], []).append((file, globs[1:]))
            else:
                alone.append(OutputSeries(file.folder, file.name, (file,)))
        left = []
        for glob, members in grouped.items():
            if len(members) < LEAST_RUNS:
                left += members
            else:
                runs.append(_runs(glob, [file for file, _ in members]))
    return (*sorted(runs, key=_order), *sorted(alone, key=_order))


def _order(series: OutputSeries) -> tuple[bool, bool, int, str]:
    return series.deleted, not series.hinted, -series.versions, series.path


def _runs(glob: str, members: list[TrackedFile]) -> OutputSeries:
    """Of runs that are there and runs that were deleted, those that are there."""
    segments = glob.split("/")
    wild = next(place for place, segment in enumerate(segments) if "*" in segment)
    folder = "/".join(segments[:wild])
    return OutputSeries(
        folder, "/".join(segments[wild:]), tuple(sorted(members, key=lambda file: natural_order(file.path)))
    )


def run_globs_of(path: str) -> tuple[str, ...]:
    """The globs of the runs that a path may be one of, the widest first; empty if nothing in it looks like a run.

    A folder, or the name of the file, with a date, or with a number behind a word for runs, may be a run's. What varies
    is left open: everything from the date or the number on, but for the ending of a file.
    """
    segments = path.split("/")
    globs = []
    for place, segment in enumerate(segments):
        is_file = place == len(segments) - 1
        stem, dot, ending = segment.rpartition(".") if is_file else (segment, "", "")
        match = _DATED.search(stem) or _NUMBERED.search(stem)
        if match is None:
            continue
        number = _NUMBER.search(stem, match.start())
        ordinal = None if is_file else _ORDINAL.match(stem)
        start = ordinal.end() if ordinal else number.start() if number else match.start()
        globs.append("/".join((*segments[:place], f"{stem[:start]}*{dot}{ending}", *segments[place + 1 :])))
    return tuple(globs)


def near(files: Iterable[TrackedFile], folder: str) -> Iterator[TrackedFile]:
    """Files by how near they lie to a folder: those of it and below it first, then those of the folders above."""
    above = [folder]
    while above[-1]:
        above.append(above[-1].rpartition("/")[0])
    place = {each: index for index, each in enumerate(above)}

    def distance(file: TrackedFile) -> tuple[int, int, str]:
        at = file.folder
        steps = 0
        while at not in place:
            at, steps = at.rpartition("/")[0], steps + 1
        return place[at], steps, file.path

    return iter(sorted(files, key=distance))
