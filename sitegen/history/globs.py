"""Globs over whole paths, as ``.gitignore`` and ``pathlib`` read them, compiled to one regular expression.

``*`` and ``?`` match within a folder, ``**`` between slashes matches any number of folders, ``[a-z]`` and ``[!a-z]``
are sets, ``{a,b}`` is one of several texts, a backslash makes the next character literal, and a slash at the end
matches everything below.

A manifest can name the runs of an eval by a glob, ``results/run-*.json`` or ``runs/*/responses.jsonl``. A run is the
folder that wildcards before ``**`` match, or, where only the file's own name has a wildcard, the file. Its name is the
part of the path that the wildcards match, together with the rest of the segment that holds the first wildcard.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from sitegen.history.folder_tree import FolderTree
from sitegen.model.frozen import Frozen
from sitegen.model.timeline import Blob

_SPECIAL = re.compile(r"[*?\[{\\]")
_PART = re.compile(
    r"(?P<star>\*+)|(?P<any>\?)|(?P<set>\[[!^]?\]?[^\]/]{0,200}\])|(?P<texts>\{[^{}/,]{1,99}(?:,[^{}/,]{1,99}){1,20}\})"
    r"|\\(?P<plain>.)",
    re.DOTALL,
)
_SEGMENT = re.compile(r"((?:\\.|[^/])+|(?=/))(/?)", re.DOTALL)


@lru_cache(maxsize=256)
def compiled(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern whose ``fullmatch`` accepts every path that a glob matches. Without globs it accepts none."""
    return re.compile("|".join(f"(?:{_glob_expression(glob)})" for glob in globs) or r"(?!)", re.DOTALL)


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether a path matches one of the globs."""
    return compiled(tuple(globs)).fullmatch(path) is not None


def literal_prefix(glob: str) -> str:
    """Return the folder that holds all matches of a glob, or the file if it has no wildcards; empty for the root."""
    glob = _normal_glob(glob)
    special = _SPECIAL.search(glob)
    if special is None:
        return glob
    return glob[: special.start()].rpartition("/")[0]


def literal_prefixes(globs: Iterable[str]) -> tuple[str, ...]:
    """Return the folders and files that hold all matches of the globs, sorted; empty if these can be anywhere."""
    prefixes = sorted(set(map(literal_prefix, globs)))
    return () if "" in prefixes else tuple(prefixes)


def _normal_glob(glob: str) -> str:
    glob = glob.removeprefix("./").lstrip("/")
    return glob + "**" if glob.endswith("/") else glob


def _glob_expression(glob: str) -> str:
    pieces = [""]
    for segment, slash in _SEGMENT.findall(_normal_glob(glob)):
        if segment != "**":
            pieces[-1] += _segment_expression(segment) + slash
        elif slash:
            pieces.append("")
        else:
            pieces[-1] += ".+"
    return _between_wildcards("(?:[^/]+/)*", pieces)


def _segment_expression(segment: str) -> str:
    pieces, end = [""], 0
    for match in _PART.finditer(segment):
        pieces[-1] += re.escape(segment[end : match.start()])
        end = match.end()
        if match["star"]:
            pieces.append("")
        else:
            pieces[-1] += _characters(match)
    pieces[-1] += re.escape(segment[end:])
    return _between_wildcards("[^/]*", pieces)


def _between_wildcards(wildcard: str, pieces: list[str]) -> str:
    """The expression of ``pieces`` with a wildcard between each two of them.

    A piece with wildcards on both sides is matched where it occurs first, and nowhere else: any later place leaves less
    to the pieces after it. Without this, the time for one path grows with its length to the power of the wildcards.
    """
    first, *between = pieces
    if not between:
        return first
    *between, last = between
    return f"{first}{''.join(f'(?>{wildcard}?{piece})' for piece in between)}{wildcard}{last}"


def _characters(match: re.Match[str]) -> str:
    if match["any"]:
        return "[^/]"
    if match["plain"]:
        return re.escape(match["plain"])
    if match["texts"]:
        return f"(?:{'|'.join(map(re.escape, match['texts'][1:-1].split(',')))})"
    content = match["set"][1:-1]
    negated = content[0] in "!^"
    content = (content[1:] if negated else content).replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]")
    content = content.replace("&&", r"\&&").replace("||", r"\||").replace("~~", r"\~~").replace("--", r"\--")
    return f"(?!/)[{'^' if negated else ''}{content}]"


_WILDCARD = re.compile(r"[*?\[]")
_NOT_IN_A_SLUG: Final = r"[^a-z0-9._]+"
_TIME: Final = (
    r"(?<![0-9])(20[0-9]{2})[-_]?([01][0-9])[-_]?([0-3][0-9])[T_ -]?([0-2][0-9])[-:_]?([0-5][0-9])[-:_]?([0-5][0-9])"
    r"(?:[-.]?([0-9]{3})[0-9]*)?(Z|[-+]00[-:]?00|)(?![0-9])"
)
_LONGEST_SLUG: Final = 60  # characters


class RunGlob(Frozen):
    """The glob of an eval's outputs, relative to its folder."""

    glob: str
    start: str
    """The beginning of every path, up to the segment with the first wildcard: ``results/``."""
    is_folder: bool
    """Whether a run is a folder, whose files together are one output."""
    depth: int
    """Number of segments in the name of a run that is a folder; 0 for a file, whose name has all segments after
    ``start``."""
    ending: str
    """The end of every path, outside the run's name: ``.json``, or ``/responses.jsonl`` after a folder."""

    @property
    def inside(self) -> str:
        """The glob of all files in the folders of the runs; empty if a run is a file."""
        segments = self.glob.split("/")[: self.start.count("/") + self.depth]
        return "/".join((*segments, "**")) if self.is_folder else ""

    def name(self, inside: str) -> str | None:
        """Return the run that a path of the eval's folder belongs to; None if the glob does not match the path."""
        if compiled((self.glob,)).fullmatch(inside) is None:
            return None
        rest = inside[len(self.start) :]
        if self.is_folder:
            return "/".join(rest.split("/")[: self.depth])
        return rest[: len(rest) - len(self.ending)] or rest

    def names(self, folder: str, files: FolderTree) -> Iterator[str]:
        """Yield the run of each output among the files of an eval, which is in ``folder``."""
        start = len(folder) + 1 if folder else 0
        return (name for blob in files.blobs(folder) if (name := self.name(blob.path[start:])))

    def folder_name(self, inside: str) -> str | None:
        """Return the name of the run whose folder has this path in the eval's folder; None if there is no such run."""
        name = inside[len(self.start) :]
        is_run = self.is_folder and bool(self.ending) and self.name(f"{inside}{self.ending}") == name
        return name if is_run else None

    def outputs(self, folder: str, name: str, files: FolderTree) -> tuple[Blob, ...]:
        """Return the files of a run, by path. ``files``: those of the eval, whose folder is ``folder``."""
        above = f"{folder}/" if folder else ""
        start = f"{above}{self.start}{name}"
        if self.ending:
            paths: Iterable[str] = (f"{start}{self.ending}", start)
        else:
            paths = (start, *sorted(blob.path for blob in files.blobs(start)))
        blobs = ((path, files.get(path)) for path in paths if self.name(path[len(above) :]) == name)
        return tuple(Blob(path, oid) for path, oid in blobs if oid is not None)


@lru_cache(maxsize=256)
def run_glob(outputs: str) -> RunGlob:
    """Parse the glob that a manifest states."""
    segments = outputs.split("/")
    wild = [index for index, segment in enumerate(segments) if _WILDCARD.search(segment)]
    end = segments.index("**") if "**" in segments else len(segments) - 1
    folders = [index for index in wild if index < end]
    start = "".join(f"{segment}/" for segment in segments[: wild[0]])
    if folders:
        depth = folders[-1] + 1 - wild[0]
        literal = wild[-1] == folders[-1]
        ending = "/" + "/".join(segments[folders[-1] + 1 :]) if literal else ""
        return RunGlob(glob=outputs, start=start, is_folder=True, depth=depth, ending=ending)
    last = segments[-1]
    tail = last[max((match.end() for match in re.finditer(r"\*|\?|\[[^\]]{0,200}\]", last)), default=0) :]
    return RunGlob(
        glob=outputs, start=start, is_folder=False, depth=0, ending=tail if wild[-1] == len(segments) - 1 else ""
    )


def slug_of_run(name: str, number: int) -> str:
    """Return the file name of a run's report without its suffix: ``0007-run-2025-10-01t06-51-41``."""
    words = re.sub(_NOT_IN_A_SLUG, "-", name.lower())[:_LONGEST_SLUG].strip("-.")
    return f"{number:04d}-{words}" if words else f"{number:04d}"


def time_in(name: str, committed_at: str) -> str | None:
    """Return the date and time in a run's name, as ISO 8601; None if it has no valid one.

    A time without ``Z``, or the offset ``+00-00`` in any spelling, is in the time zone of the commit that added the
    run; a name does not show the sign of any other offset. A date alone is not enough: the instructions may have
    been edited on that day before or after the run.
    """
    match = re.search(_TIME, name)
    if match is None:
        return None
    *parts, fraction, utc = match.groups()
    zone = UTC if utc else datetime.fromisoformat(committed_at).tzinfo
    year, month, day, hour, minute, second = map(int, parts)
    try:
        moment = datetime(year, month, day, hour, minute, second, int(fraction or 0) * 1000, zone)
    except ValueError:
        return None
    return moment.isoformat(timespec="milliseconds" if fraction else "seconds")
