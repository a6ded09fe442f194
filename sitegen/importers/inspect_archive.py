"""Reads Inspect's ``.eval`` archives, which hold a header, a file for each sample, and summaries of the samples.

Files are unpacked one at a time, with bounds: unpacked, an archive can be far larger than its size.
"""

import struct
import zlib
from collections.abc import Iterator
from importlib.util import find_spec
from io import BytesIO
from typing import Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from sitegen.data_files.reading import UNPACKER, UnreadableError, read_json
from sitegen.importers.tool_values import items, members, name_of, whole
from sitegen.model.outcomes import Unusable, Value
from sitegen.model.problems import Finding

MOST_BYTES: Final = 20_000_000
"""The most bytes of one unpacked file."""
_MOST_BYTES_TOGETHER: Final = 200_000_000  # the most bytes of all unpacked files together
MOST_FILES: Final = 50_000  # in one log

_ZSTANDARD_METHOD: Final = 93  # the compression method Zstandard, which Python's zipfile supports since 3.14
_LOCAL_HEADER: Final = struct.Struct("<4s22xHH")
_FAULTS: Final = (
    *(BadZipFile, EOFError, MemoryError, NotImplementedError, OSError, RuntimeError, ValueError),
    *(struct.error, zlib.error),
)
"""Raised by zipfile if an archive is damaged, encrypted, or compressed by an unsupported method."""


_DAMAGED: Final = "it is not a zip archive, or is damaged"


_TOO_LARGE: Final = Unusable("", "too large")  # stands for a file of an archive that exceeds a bound


class JsonArchive:
    """A zip archive with JSON files in it."""

    def __init__(self, content: bytes) -> None:
        """Raises UnreadableError if the content is not an archive."""
        self._content = memoryview(content)
        self._left = _MOST_BYTES_TOGETHER
        if content.count(b"PK\1\2") > MOST_FILES:
            raise UnreadableError(f"it holds more than {MOST_FILES:,} files", "Write fewer samples into one log.")
        try:
            self._archive = ZipFile(BytesIO(content))
        except _FAULTS:
            raise UnreadableError(_DAMAGED, "Write the file again.") from None
        files = self._archive.infolist()
        if sum(info.compress_size for info in files) > len(content):  # many names for the same bytes
            raise UnreadableError(_DAMAGED, "Write the file again.")
        # Inspect appends a new version of a file under the same name, so the last one counts.
        self._files = {info.filename: info for info in files}

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def below(self, folder: str) -> Iterator[str]:
        """Return the names of the JSON files in a folder, sorted."""
        return (name for name in sorted(self._files) if name.startswith(f"{folder}/") and name.endswith(".json"))

    def json(self, name: str) -> Value:
        """Return the value of one file; ``_TOO_LARGE`` if it is that. Raises UnreadableError."""
        most = min(MOST_BYTES, self._left)
        try:
            unpacked = self._unpacked(self._files[name], most + 1)
        except _FAULTS:
            raise UnreadableError(f"{name[:80]!r} in it cannot be unpacked", "Write the file again.") from None
        if len(unpacked) > most:
            return _TOO_LARGE
        self._left -= len(unpacked)
        return read_json(unpacked).value

    def _unpacked(self, info: ZipInfo, most: int) -> bytes:
        if info.compress_type in (ZIP_STORED, ZIP_DEFLATED):
            with self._archive.open(info) as file:
                return file.read(most)
        if info.compress_type != _ZSTANDARD_METHOD:  # the dictionary of LZMA can take 4 GB
            raise NotImplementedError
        if find_spec(UNPACKER) is None:
            raise UnreadableError(
                "it is packed by Zstandard, which needs a package that is not installed",
                "In a clone of sitegen: pip install '.[inspect]'",
            )
        from zstandard import ZstdDecompressor, ZstdError

        start = info.header_offset
        signature, name, extra = _LOCAL_HEADER.unpack_from(self._content, start)
        if signature != b"PK\3\4" or info.flag_bits & 1:
            raise BadZipFile
        start += _LOCAL_HEADER.size + name + extra
        packed = BytesIO(self._content[start : start + info.compress_size])
        try:
            with ZstdDecompressor(max_window_size=_MOST_BYTES_TOGETHER).stream_reader(
                packed, read_across_frames=True
            ) as stream:
                return stream.read(most)
        except (ZstdError, MemoryError):
            raise BadZipFile from None


_FIX: Final = "Let Inspect write the log again."


def unpacked(content: bytes, findings: list[Finding]) -> tuple[dict[str, Value], Iterator[Value]]:
    """Return the log of an archive in its JSON form, without samples, and the samples, which are unpacked one by one.

    Raises UnreadableError. Samples that cannot be read are reported in ``findings``.
    """
    archive = JsonArchive(content)
    log: dict[str, Value] = {}
    for name, key in (("header.json", ""), ("_journal/start.json", ""), ("reductions.json", "reductions")):
        if name in archive and (key or not log):
            value = archive.json(name)
            if value is _TOO_LARGE:
                raise UnreadableError("its header is too large", _FIX)
            log |= {key: value} if key else members(value)
    if "header.json" not in archive:  # a run that did not end has only the header that was written at its start
        if "_journal/start.json" not in archive:
            raise UnreadableError("it is not a log of Inspect: it has no header.json", _FIX)
        log.setdefault("status", "started")
    return log, _samples_of(archive, findings)


def _samples_of(archive: JsonArchive, findings: list[Finding]) -> Iterator[Value]:
    """Yield the samples. Samples that are too large are replaced by their summaries, which lack the output."""
    too_large = []
    for name in archive.below("samples"):
        try:
            sample = archive.json(name)
        except UnreadableError as error:
            findings.append(Finding("error", f"A sample cannot be read: {error.message}", _FIX, value=name[:200]))
            continue
        if sample is _TOO_LARGE:
            too_large.append(name.removeprefix("samples/").removesuffix(".json"))
        else:
            yield sample
    if not too_large:
        return
    message = f"Samples are too large to be read; their summaries count, without outputs: {len(too_large)}"
    findings.append(Finding("warning", message, "Log less of each sample.", value=", ".join(too_large[:5])))
    summaries = items(archive.json("summaries.json")) if "summaries.json" in archive else []
    names = frozenset(too_large)
    for summary in map(members, summaries):
        if f"{name_of(summary.get('id'))}_epoch_{whole(summary.get('epoch'))}" in names:
            yield summary
