"""Groups data files into series of outputs: a file that is overwritten repeatedly, or runs that match one glob."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from sitegen.model.frozen import Frozen
from sitegen.recognition.files import DATA, TrackedFile
from sitegen.text.plain import natural_order

_DATED = re.compile(
    r"(?<![0-9])20[0-9]{2}[-_]?[01][0-9](?:[-_]?[0-3][0-9])?(?![0-9])|(?<![0-9])1[5-9][0-9]{8}(?:[0-9]{3})?(?![0-9])"
)
"""Matches a date, or seconds or milliseconds since 1970."""

_NUMBERED = re.compile(
    r"(?<![a-z0-9])(?:run|round|iteration|iter|exp|experiment|attempt|trial|batch|durchlauf|lauf|v|r)[-_ ]?[0-9]+",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"[A-Za-z]{0,4}[-_]?(?=[0-9]{1,6}[-_])")
"""Matches the start of a folder's name with both a counter and a date: ``R003__2025-12-18``."""

_NUMBER = re.compile(r"[0-9]+")
_GLOB_SIGNS = re.compile(r"[*?\[\]\\]")

_PLACE = re.compile(
    r"eval|result|output|(?:^|[/_.-])runs?(?:[/_.-]|$)|bench|predict|extract|report|respon|scor|metric|experiment|"
    r"answer|judg|trace|accura|baseline|regression|(?:^|[/_.-])(?:leader)?board",
    re.IGNORECASE,
)
_TRUTH = re.compile(r"truth|gold|expected|answer[_-]?key|(?:^|[/_.-])gt(?:[/_.-]|$)", re.IGNORECASE)
_TRUTH_NAME = re.compile(r"label|reference|annotat|correct", re.IGNORECASE)
"""Words that suggest expected values in the name of a file, but not in the name of a folder."""

_NO_RESULTS = re.compile(
    r"(?:^|/)(?:package(?:-lock)?\.json|tsconfig[^/]*\.json|jsconfig\.json|components\.json|composer\.json|turbo\.json|vercel\.json|"
    r"[^/]*lock[^/]*\.(?:json|ya?ml)|pnpm-workspace\.yaml|mkdocs\.ya?ml|(?:docker-)?compose[^/]*\.ya?ml|[^/]*\.schema\.json|schema\.json|"
    r"[^/]*config[^/]*\.(?:json|ya?ml)|manifest\.(?:json|ya?ml)|renovate\.json|settings[^/]*\.json|environment\.ya?ml)$"
    r"|[^/]*(?:checkpoint|intermediate|partial|backup)[^/]*$|(?:^|/)(?:fixtures?|testdata|test[_-]data|schemas?|i18n|locales?|translations?)/|(?:^|/)\.",
    re.IGNORECASE,
)
"""Matches settings of tools, test data and hidden files."""

_TESTS = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/", re.IGNORECASE)
_EVALS_OF_TESTS = re.compile(r"/(?:evals?|evaluations?|runs?|prompts?)/", re.IGNORECASE)
"""Matches folders below test folders in which files are results of evals nevertheless."""

_LEAST_RUNS: Final = 2


class OutputSeries(Frozen):
    """A file that is overwritten, or the runs that a glob matches."""

    folder: str
    """The folder of an eval with these outputs; empty for the root."""
    outputs: str
    """The file or the glob, relative to the folder."""
    files: tuple[TrackedFile, ...]
    """Sorted by name; more than one only for runs."""

    @property
    def newest(self) -> TrackedFile:
        """The only file, or the last run by name."""
        return self.files[-1]

    @property
    def is_glob(self) -> bool:
        """Whether the outputs are runs."""
        return len(self.files) > 1

    @property
    def deleted(self) -> bool:
        """Whether every file was deleted."""
        return all(file.deleted for file in self.files)

    @property
    def versions(self) -> int:
        """The largest possible number of outputs."""
        return sum(file.versions for file in self.files)

    @property
    def path(self) -> str:
        """The path of the file or the glob, relative to the root."""
        return f"{self.folder}/{self.outputs}" if self.folder else self.outputs

    @property
    def hinted(self) -> bool:
        """Whether the path suggests results."""
        return is_result_by_name(self.path)


def is_truth_by_name(path: str) -> bool:
    """Whether a path suggests expected values."""
    return _TRUTH.search(path) is not None or _TRUTH_NAME.search(path.rpartition("/")[2]) is not None


def is_result_by_name(path: str) -> bool:
    """Whether a path suggests the results of a run."""
    return _PLACE.search(path) is not None


def data_files(files: Iterable[TrackedFile]) -> tuple[TrackedFile, ...]:
    """Return the files that may hold outputs, expected values or results."""
    return tuple(
        file
        for file in files
        if file.ending in DATA
        and not _NO_RESULTS.search(file.path)
        and not _GLOB_SIGNS.search(file.path)
        and (not _TESTS.search(file.path) or _EVALS_OF_TESTS.search(file.path))
    )


def output_series(files: Iterable[TrackedFile]) -> tuple[OutputSeries, ...]:
    """Return series of runs, then single files; within both, those with the most versions first and deleted ones last.

    A file belongs to the widest glob that at least ``_LEAST_RUNS`` files share; without such a glob it is a series of
    its own.
    """
    runs: list[OutputSeries] = []
    single_files: list[OutputSeries] = []
    remaining = [(file, run_globs_of(file.path)) for file in files]
    while remaining:
        by_glob: dict[str, list[tuple[TrackedFile, tuple[str, ...]]]] = {}
        for file, globs in remaining:
            if globs:
                by_glob.setdefault(globs[0], []).append((file, globs[1:]))
            else:
                single_files.append(OutputSeries(file.folder, file.name, (file,)))
        remaining = []  # files whose glob matches too few runs try their next narrower glob
        for glob, members in by_glob.items():
            if len(members) < _LEAST_RUNS:
                remaining += members
            else:
                runs.append(_series_of_runs(glob, [file for file, _ in members]))
    return (*sorted(runs, key=_most_likely_first), *sorted(single_files, key=_most_likely_first))


def _most_likely_first(series: OutputSeries) -> tuple[bool, bool, int, str]:
    return series.deleted, not series.hinted, -series.versions, series.path


def _series_of_runs(glob: str, files: list[TrackedFile]) -> OutputSeries:
    """Make the series of a glob, in the first folder above its wildcard."""
    segments = glob.split("/")
    wild = next(index for index, segment in enumerate(segments) if "*" in segment)
    in_order = tuple(sorted(files, key=lambda file: natural_order(file.path)))
    return OutputSeries("/".join(segments[:wild]), "/".join(segments[wild:]), in_order)


def run_globs_of(path: str) -> tuple[str, ...]:
    """Return the globs of runs that a path may belong to, widest first; empty if no part of it looks like a run.

    A segment looks like a run if it has a date, or a number after a word for runs. The wildcard replaces the date or
    number and everything after it, except the suffix of a file.
    """
    segments = path.split("/")
    globs = []
    for index, segment in enumerate(segments):
        is_file = index == len(segments) - 1
        stem, dot, ending = segment.rpartition(".") if is_file else (segment, "", "")
        match = _DATED.search(stem) or _NUMBERED.search(stem)
        if match is None:
            continue
        number = _NUMBER.search(stem, match.start())
        ordinal = None if is_file else _ORDINAL.match(stem)
        start = ordinal.end() if ordinal else number.start() if number else match.start()
        globs.append("/".join((*segments[:index], f"{stem[:start]}*{dot}{ending}", *segments[index + 1 :])))
    return tuple(globs)


def nearest_first(files: Iterable[TrackedFile], folder: str) -> list[TrackedFile]:
    """Sort files by distance from a folder: first files in and below it, then files in and below each parent."""
    ancestors = [folder]
    while ancestors[-1]:
        ancestors.append(ancestors[-1].rpartition("/")[0])
    levels_up = {ancestor: level for level, ancestor in enumerate(ancestors)}

    def distance(file: TrackedFile) -> tuple[int, int, str]:
        ancestor, levels_down = file.folder, 0
        while ancestor not in levels_up:
            ancestor, levels_down = ancestor.rpartition("/")[0], levels_down + 1
        return levels_up[ancestor], levels_down, file.path

    return sorted(files, key=distance)
