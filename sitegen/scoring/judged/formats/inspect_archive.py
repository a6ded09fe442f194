"""Reads Inspect's ``.eval`` archives, which hold a header, a file for each sample, and summaries of the samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from sitegen.data_files.reading import UnreadableError
from sitegen.model.problems import Finding
from sitegen.model.values import Value
from sitegen.scoring.judged.formats.archive import JsonArchive, TooLargeError
from sitegen.scoring.judged.formats.json_values import items, members, name_of, whole

_FIX: Final = "Let Inspect write the log again."


class UnpackedLog(NamedTuple):
    """The content of an archive."""

    log: dict[str, Value]
    """The log in its JSON form, without samples."""
    samples: Iterator[Value]
    """The samples of every epoch, unpacked one by one."""


def unpacked(content: bytes, findings: list[Finding]) -> UnpackedLog:
    """Return the content of an archive.

    Raises UnreadableError. Samples that cannot be read are reported in *findings*.
    """
    archive = JsonArchive(content)
    try:
        log = _header(archive)
        if "reductions.json" in archive:
            log["reductions"] = archive.json("reductions.json")
    except TooLargeError:
        raise UnreadableError("its header is too large", _FIX) from None
    return UnpackedLog(log, _samples_of(archive, findings))


def _header(archive: JsonArchive) -> dict[str, Value]:
    """Return the header. A run that did not end has only the header that was written at its start."""
    if "header.json" in archive:
        return members(archive.json("header.json"))
    if "_journal/start.json" in archive:
        return {"status": "started", **members(archive.json("_journal/start.json"))}
    raise UnreadableError("it is no log of Inspect: it has no header.json", _FIX)


def _samples_of(archive: JsonArchive, findings: list[Finding]) -> Iterator[Value]:
    """Yield the samples. Samples that are too large are replaced by their summaries, which lack the output."""
    too_large = []
    for name in archive.below("samples"):
        try:
            yield archive.json(name)
        except TooLargeError:
            too_large.append(name.removeprefix("samples/").removesuffix(".json"))
        except UnreadableError as error:
            findings.append(Finding("error", f"A sample cannot be read: {error.message}", _FIX, value=name[:200]))
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
