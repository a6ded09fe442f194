"""The globs by which a manifest names the runs of an eval: ``results/run-*.json`` or ``runs/*/responses.jsonl``.

A run is the folder that wildcards before ``**`` match, or, where only the file's own name has a wildcard, the file. Its
name is the part of the path that the wildcards match, together with the rest of the segment that holds the first
wildcard, and without the name of who answered: ``gpt-4o_v2.csv`` is of the run ``v2`` of ``{model}_v*.csv``.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from sitegen.history.folder_tree import FolderTree
from sitegen.model.frozen import Frozen
from sitegen.model.timeline import Blob
from sitegen.text.globs import answerers_in, compiled

_WILDCARD = re.compile(r"[*?\[]")
NOT_IN_A_SLUG: Final = r"[^a-z0-9._]+"
_TIME: Final = (
    r"(?<![0-9])(20[0-9]{2})[-_]?([01][0-9])[-_]?([0-3][0-9])[T_ -]?([0-2][0-9])[-:_]?([0-5][0-9])[-:_]?([0-5][0-9])"
    r"(?:[-.]?([0-9]{3})[0-9]*)?(Z|[-+]00[-:]?00|)(?![0-9])"
)
LONGEST_SLUG: Final = 60  # characters


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
    is_divided: bool = False
    """Whether the files of a run are in several places, since its name comes after that of who answered."""

    @property
    def inside(self) -> str:
        """The glob of all files in the folders of the runs; empty if a run is a file."""
        segments = self.glob.split("/")[: self.start.count("/") + self.depth]
        return "/".join((*segments, "**")) if self.is_folder else ""

    def name(self, inside: str) -> str | None:
        """Return the run that a path of the eval's folder belongs to; None if the glob does not match the path."""
        match = compiled((self.glob,)).fullmatch(inside)
        if match is None:
            return None
        end = len(inside)
        for group in range(len(match.groups()), 0, -1):
            inside = inside[: match.start(group)] + inside[match.end(group) :]
        rest = inside[len(self.start) :]
        name = "/".join(rest.split("/")[: self.depth]) if self.is_folder else rest[: len(rest) - len(self.ending)]
        return (name.strip("/-_. ") if len(inside) < end else name) or rest

    def names(self, folder: str, files: FolderTree) -> Iterator[str]:
        """Yield the run of each output among the files of an eval, which is in ``folder``."""
        start = len(folder) + 1 if folder else 0
        return (name for blob in files.blobs(folder) if (name := self.name(blob.path[start:])))

    def outputs(self, folder: str, name: str, files: FolderTree) -> tuple[Blob, ...]:
        """Return the files of a run, by path. ``files``: those of the eval, whose folder is ``folder``."""
        above = f"{folder}/" if folder else ""
        start = f"{above}{self.start}{name}"
        if self.is_divided:
            paths: Iterable[str] = sorted(blob.path for blob in files.blobs(f"{above}{self.start}".rstrip("/")))
        elif self.ending:
            paths = (f"{start}{self.ending}", start)
        else:
            paths = (start, *sorted(blob.path for blob in files.blobs(start)))
        blobs = ((path, files.get(path)) for path in paths if self.name(path[len(above) :]) == name)
        return tuple(Blob(path, oid) for path, oid in blobs if oid is not None)


@lru_cache(maxsize=256)
def run_glob(outputs: str) -> RunGlob:
    """Parse the glob that a manifest states."""
    segments = outputs.split("/")
    wild = [index for index, segment in enumerate(segments) if _WILDCARD.search(segment)]
    named = [index for index, segment in enumerate(segments) if answerers_in(segment)]
    end = segments.index("**") if "**" in segments else len(segments) - 1
    if named and any(index < named[0] for index in wild):
        end = min(end, named[0])
    folders = [index for index in wild if index < end]
    first = min((*named, wild[0]))
    is_divided = bool(named) and named[0] <= (folders or wild)[-1]
    start = "".join(f"{segment}/" for segment in segments[:first])
    if folders:
        depth = folders[-1] + 1 - first
        literal = max((*wild, *named)) == folders[-1] and not is_divided
        ending = "/" + "/".join(segments[folders[-1] + 1 :]) if literal else ""
        return RunGlob(glob=outputs, start=start, is_folder=True, depth=depth, ending=ending, is_divided=is_divided)
    last = segments[-1]
    tail = last[max((match.end() for match in re.finditer(r"\*|\?|\[[^\]]{0,200}\]|\{[a-z]+\}", last)), default=0) :]
    ending = tail if wild[-1] == len(segments) - 1 else ""
    return RunGlob(glob=outputs, start=start, is_folder=False, depth=0, ending=ending, is_divided=is_divided)


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
