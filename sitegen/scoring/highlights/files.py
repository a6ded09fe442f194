"""Whole files: the gold standard, and the one run of an output that counts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from sitegen.data_files.json_reader import parse_json, read_json
from sitegen.data_files.reading import UnreadableError, text_of
from sitegen.model.problems import Finding
from sitegen.model.usage import RunUsage
from sitegen.scoring.highlights.chunks import About, Chunk, ChunkReader
from sitegen.scoring.highlights.paragraphs import Paragraph, Paragraphs
from sitegen.scoring.scorer import File

_LINES: Final = (".ndjson", ".jsonl")


class Gold(NamedTuple):
    """The gold standard."""

    paragraphs: tuple[Paragraph, ...]
    """Annotated or not, in the order of the file."""
    findings: tuple[Finding, ...]


class HighlightsOutput(NamedTuple):
    """The run of an output that counts."""

    chunks: tuple[Chunk, ...]
    run: str | None
    """None: its lines name no run."""
    runs: tuple[str | None, ...]
    """Every run of the output, in the order in which they began."""
    unreadable: str
    """Why nothing of it can be read; empty if something can."""
    findings: tuple[Finding, ...]
    beside: RunUsage | None = None
    """What a file that holds this run alone states of the whole of it."""


def read_gold(file: File | None) -> Gold:
    """Read the gold standard. Raises UnreadableError if it cannot be read, or annotates nothing yet."""
    if file is None or file.content is None:
        raise UnreadableError((file.reason if file else "") or "the file is missing", "Add the gold standard.")
    return _parse_gold(file.path.lower().endswith(_LINES), file.content)


@lru_cache(maxsize=16)
def _parse_gold(lines: bool, content: bytes) -> Gold:
    """The same gold standard usually serves many outputs."""
    chunks, findings, _ = _read_chunks(lines, content, "ground_truth")
    paragraphs, _ = united_paragraphs(chunks)
    if all(paragraph.highlights is None for paragraph in paragraphs):
        raise UnreadableError("it annotates no paragraph", "Give at least one paragraph its highlights.")
    return Gold(paragraphs, findings)


def read_output(files: tuple[File, ...], run: str | None) -> HighlightsOutput:
    """Read an output, of which one run counts: the one asked for, else that of the last line. Never raises."""
    chunks: list[Chunk] = []
    findings: list[Finding] = []
    reasons = [] if files else [_missing()]
    readable = False
    beside: RunUsage | None = None
    for file in files:
        try:
            if file.content is None:
                raise _missing(file.reason)
            of_file, odd, beside = _read_chunks(file.path.lower().endswith(_LINES), file.content, "output")
        except UnreadableError as error:
            reasons.append(error)
        else:
            readable = True
            chunks += of_file
            findings += odd
    runs = tuple(dict.fromkeys(chunk.run for chunk in chunks))
    counting = run if run is not None else (chunks[-1].run if chunks else None)
    if readable and run is not None and run not in runs:
        reasons.append(_NoRunError(f"it has no run {run[:80]!r}", _known_runs(runs)))
        readable = False
    findings[:0] = [
        Finding(
            severity="error",
            what=f"The output cannot be read: {error.what}",
            fix=error.fix,
            line=error.line,
            about=_about(error),
        )
        for error in reasons
    ]
    return HighlightsOutput(
        chunks=tuple(chunk for chunk in chunks if chunk.run == counting),
        run=counting,
        runs=runs,
        unreadable="" if readable else reasons[0].what,
        findings=tuple(findings),
        beside=beside if len(runs) == len(files) == 1 else None,
    )


class _NoRunError(UnreadableError):
    """The output is in order, and has not the run that the settings ask for."""


def _about(error: UnreadableError) -> Literal["output", "settings"]:
    return "settings" if isinstance(error, _NoRunError) else "output"


def united_paragraphs(chunks: Iterable[Chunk]) -> tuple[tuple[Paragraph, ...], tuple[str, ...]]:
    """Every paragraph once, its highlights united (rule 27), and the ids of those that more than one chunk has."""
    every = Paragraphs(lambda message: None)
    seen: set[str] = set()
    again: dict[str, None] = {}
    for chunk in chunks:
        for name, text, highlights in chunk.paragraphs:
            if name in seen:
                again[name] = None
            seen.add(name)
            every.add(name, highlights, text)
    return every.all(), tuple(again)


def read_log(content: bytes) -> tuple[tuple[Chunk, ...], tuple[Finding, ...]]:
    """The chunks of a log, one a line. Raises UnreadableError if no line can be read.

    A line that cannot be read is a finding with its number, and the others count.
    """
    return _read_chunks(True, content, "output")[:2]


class _Read(NamedTuple):
    """The chunks of one file."""

    chunks: tuple[Chunk, ...]
    findings: tuple[Finding, ...]
    beside: RunUsage | None = None


def _read_chunks(lines: bool, content: bytes, about: About) -> _Read:
    reader = ChunkReader(about)
    if not lines:
        value, odd = read_json(content)
        whole = reader.file(value)
        return _Read(whole, (*(finding._replace(about=about) for finding in odd), *reader.findings), reader.beside)
    chunks: list[Chunk] = []
    findings: list[Finding] = []
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value, odd = parse_json(text_of(line), number)
            chunks.append(reader.line(value, number))
        except UnreadableError as error:
            message = f"Line {number} cannot be read: {error.what}"
            findings.append(Finding(severity="error", what=message, fix=error.fix, line=number, about=about))
        else:
            findings += [finding._replace(line=number, about=about) for finding in odd]
    if not chunks:
        first = findings[0] if findings else Finding("error", "It is empty", "Write one chunk a line.")
        raise UnreadableError(first.what[0].lower() + first.what[1:], first.fix, first.line)
    return _Read(tuple(chunks), (*findings, *reader.findings))


def _missing(reason: str = "") -> UnreadableError:
    return UnreadableError(reason or "the output is missing", "Make the output again.")


def _known_runs(runs: tuple[str | None, ...]) -> str:
    named = [run[:40] for run in runs if run is not None]
    return f"Ask for one of: {', '.join(named[:20])}." if named else "Ask for no run: its lines name none."
