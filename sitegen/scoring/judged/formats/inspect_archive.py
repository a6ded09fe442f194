"""Inspect's ``.eval`` archives: a header, a file for each sample, and their summaries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from sitegen.data_files.reading import UnreadableError
from sitegen.model.problems import Finding
from sitegen.model.values import Value
from sitegen.scoring.judged.formats.archive import JsonArchive, TooLargeError
from sitegen.scoring.judged.formats.json_values import items, members, name_of, whole

_FIX: Final = "Let Inspect write the log again."


class LogArchive(NamedTuple):
    """What is read of an archive at once; its samples are read one after the other."""

    header: dict[str, Value]
    reductions: Value
    files: JsonArchive

    def samples(self, findings: list[Finding]) -> Iterator[Value]:
        """Every sample of every epoch, as it stands in a log that is JSON."""
        return _samples_of(self.files, findings)


def unpacked(content: bytes) -> LogArchive:
    """An archive. Raises UnreadableError."""
    archive = JsonArchive(content)
    try:
        header = _header(archive)
        reductions = archive.json("reductions.json") if "reductions.json" in archive else None
    except TooLargeError:
        raise UnreadableError("its header is too large", _FIX) from None
    return LogArchive(header, reductions, archive)


def _header(archive: JsonArchive) -> dict[str, Value]:
    """What the log says of itself; of a run that did not end, what it said at its start."""
    if "header.json" in archive:
        return members(archive.json("header.json"))
    if "_journal/start.json" in archive:
        return {"status": "started", **members(archive.json("_journal/start.json"))}
    raise UnreadableError("it is no log of Inspect: it has no header.json", _FIX)


def _samples_of(archive: JsonArchive, findings: list[Finding]) -> Iterator[Value]:
    """The samples; of those that are too large what the log's summaries tell, which is all but the output."""
    too_large = []
    for name in archive.below("samples"):
        try:
            yield archive.json(name)
        except TooLargeError:
            too_large.append(name.removeprefix("samples/").removesuffix(".json"))
        except UnreadableError as error:
            findings.append(Finding("error", f"A sample cannot be read: {error.what}", _FIX, value=name[:200]))
    if not too_large:
        return
    message = f"Samples are too large to be read; their summaries count, without outputs: {len(too_large)}"
    findings.append(Finding("warning", message, "Log less of each sample.", value=", ".join(too_large[:5])))
    try:
        summaries = items(archive.json("summaries.json")) if "summaries.json" in archive else []
    except TooLargeError:
        summaries = []
    names = frozenset(too_large)
    for summary in map(members, summaries):
        if f"{name_of(summary.get('id'))}_epoch_{whole(summary.get('epoch'))}" in names:
            yield summary
