"""Reads the ground truth and the run of an output that counts, by the ``settings`` of the eval (rules 27 and 28).

The settings choose categories, a range of paragraphs, and a run. ``extract`` writes one run of a log as a file.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from msgspec.structs import replace

from sitegen.config.findings import read_keys, settings_finding
from sitegen.data_files.reading import LINES, UnreadableError, ending, parse_json, read_json, text_of
from sitegen.model.frozen import Frozen
from sitegen.model.problems import Finding, Parsed
from sitegen.model.usage import RunUsage
from sitegen.scoring.highlights_chunks import Chunk, ChunkReader, Paragraph, Paragraphs, ReadSide, normalised_id
from sitegen.scoring.kinds import File, content_of
from sitegen.text.plain import counted, normal_form


@lru_cache(maxsize=16)  # many outputs usually have the same ground truth
def read_gold(file: File | None) -> Parsed[tuple[Paragraph, ...]]:
    """Read all paragraphs of the ground truth, also those that are not annotated, in the order of the file.

    Raises UnreadableError if it cannot be read, or annotates no paragraph yet.
    """
    content = content_of(file, "the file is missing", "Add the ground truth.")
    is_lines = file is not None and ending(file.path) in LINES
    chunks, findings, _ = read_chunks(is_lines, content, "ground_truth")
    paragraphs, _ = united_paragraphs(chunks)
    if all(paragraph.highlights is None for paragraph in paragraphs):
        raise UnreadableError("it annotates no paragraph", "Give at least one paragraph its highlights.")
    return Parsed(paragraphs, findings)


def united_paragraphs(chunks: Iterable[Chunk]) -> tuple[tuple[Paragraph, ...], tuple[str, ...]]:
    """Return every paragraph of the chunks once, with united highlights (rule 27), and the ids of repeated ones."""
    united = Paragraphs()
    counts: Counter[str] = Counter()
    for chunk in chunks:
        for name, text, highlights in chunk.paragraphs:
            counts[name] += 1
            united.add(name, highlights, text)
    return united.all(), tuple(name for name, count in counts.items() if count > 1)


def read_chunks(
    is_lines: bool, content: bytes, about: ReadSide
) -> tuple[tuple[Chunk, ...], tuple[Finding, ...], RunUsage | None]:
    """Read the chunks of one file, with findings about it and the usage that it states beside them.

    Lines that cannot be read are reported with their number, and the others count. Raises UnreadableError if nothing
    can be read.
    """
    reader = ChunkReader(about)
    if not is_lines:
        value, odd = read_json(content)
        of_file = reader.file(value)
        return of_file, (*(replace(finding, about=about) for finding in odd), *reader.findings), reader.beside
    chunks: list[Chunk] = []
    findings: list[Finding] = []
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value, odd = parse_json(text_of(line), number)
            chunks.append(reader.line(value, number))
        except UnreadableError as error:
            findings.append(replace(error.finding(f"Line {number}", about), line=number))
        else:
            findings += [replace(finding, line=number, about=about) for finding in odd]
    if not chunks:
        first = findings[0] if findings else Finding("error", "It is empty", "Write one chunk a line.")
        raise UnreadableError(first.message[0].lower() + first.message[1:], first.fix, first.line)
    return tuple(chunks), (*findings, *reader.findings), None


def existing_runs(runs: tuple[str | None, ...]) -> str:
    """Return what to do about a run that is none of these."""
    names = [run[:40] for run in runs if run is not None]
    return f"Ask for one of: {', '.join(names[:20])}." if names else "Leave out the run: no line names one."


_CATEGORIES: Final = ("terms", "concepts", "examples")
"""The categories of every paragraph, unless the run uses only others."""


def extract(log: bytes, run: str | None, name: str) -> tuple[bytes, str, tuple[Finding, ...]]:
    """Extract a run from a log, by default the run of the last line. ``name``: written into the file.

    Returns UTF-8 JSON in a shape that ``highlights_chunks`` reads, what it holds in words, and findings about skipped
    and other lines.

    Lines with the same ``chunkIndex`` become one chunk. The highlights of a paragraph that occurs several times are
    united at its first occurrence (rule 27). Raises UnreadableError if no line can be read, or if there is no such run.
    """
    all_chunks, findings, _ = read_chunks(True, log, "output")
    run_id = all_chunks[-1].run if run is None else run
    chunks = [chunk for chunk in all_chunks if chunk.run == run_id]
    if not chunks:
        raise UnreadableError(
            f"it has no run {run_id!r}", existing_runs(tuple(dict.fromkeys(chunk.run for chunk in all_chunks)))
        )
    grouped: dict[int | str, Paragraphs] = {}  # by index; a chunk without one gets its position
    homes: dict[str, Paragraphs] = {}
    for place, chunk in enumerate(chunks):
        home = grouped.setdefault(place if chunk.number is None else chunk.number, Paragraphs())
        for paragraph_id, text, found in chunk.paragraphs:
            homes.setdefault(paragraph_id, home).add(paragraph_id, found, text)
    paragraphs = [paragraph for below in grouped.values() for paragraph in below.all()]
    used = dict.fromkeys(category for paragraph in paragraphs for category in paragraph.highlights or {})
    names = dict.fromkeys((*_CATEGORIES, *used)) if not used or used.keys() & set(_CATEGORIES) else used
    body: dict[str, Any] = {"name": name} if name else {}
    if run_id is not None:
        body["run_id"] = run_id
    body["chunks"] = [
        {
            "chunk_id": f"chunk_{index}" if isinstance(index, int) else index,
            "paragraphs": {paragraph.id: paragraph.text for paragraph in below.all()},
            "llm_output": {
                paragraph.id: {category: list((paragraph.highlights or {}).get(category, ())) for category in names}
                for paragraph in below.all()
            },
        }
        for index, below in grouped.items()
    ]
    content = json.dumps(body, ensure_ascii=False, indent=2).encode() + b"\n"
    highlights = sum(len(texts) for paragraph in paragraphs for texts in (paragraph.highlights or {}).values())
    counts = ((len(grouped), "chunk"), (len(paragraphs), "paragraph"), (highlights, "highlight"))
    of_run = "" if run_id is None else f" of run {run_id}"
    return content, f"{', '.join(counted(*count) for count in counts)}{of_run}", findings


KEYS: Final = ("categories", "range", "run_id")

_RANGE: Final = re.compile(r"\s*([0-9]{1,18})\s*-\s*([0-9]{1,18})\s*")
_TRAILING: Final = re.compile(r"[0-9]+\Z")


class Settings(Frozen):
    """The scope of an eval."""

    categories: tuple[str, ...] = ()
    """Empty for every category of either side."""
    range: tuple[int, int] | None = None
    """The trailing numbers of the ids of the first and the last paragraph, both inclusive; None for every one."""
    run: str | None = None
    """None for the newest run."""

    def has_category(self, category: str) -> bool:
        """Whether a category is in scope."""
        return not self.categories or category in self.categories

    def has_paragraph(self, name: str) -> bool:
        """Whether a paragraph is in scope. Ids without a trailing number are in no range."""
        if self.range is None:
            return True
        number = _TRAILING.search(name)
        if number is None or len(number[0].lstrip("0")) > 18:
            return False
        return self.range[0] <= int(number[0].lstrip("0") or "0") <= self.range[1]


@lru_cache(maxsize=64)
def read_settings(settings: str) -> Parsed[Settings]:
    """Read the canonical JSON of the settings. Whatever is invalid is left out and reported. Never raises."""
    stated, unknown = read_keys(settings, KEYS)
    findings = [*unknown]
    categories, span, run_id = (stated.get(key) for key in KEYS)
    listed = categories if isinstance(categories, list) else []
    names = tuple(normal_form(name) for name in listed if isinstance(name, str))
    if categories is not None and (not names or len(names) < len(listed)):
        names = ()
        fix = 'Write a list such as ["terms", "concepts"].'
        findings.append(settings_finding("'categories' is not a list of names", fix, "categories"))
    match = _RANGE.fullmatch(span) if isinstance(span, str) else None
    bounds = (int(match[1]), int(match[2])) if match and int(match[1]) <= int(match[2]) else None
    if span is not None and bounds is None:
        fix = 'Write two numbers such as "1-8".'
        findings.append(settings_finding("'range' does not go from a lower to a higher number", fix, "range"))
    run = normalised_id(run_id)
    if run_id is not None and run is None:
        fix = "Write the id of a run of the log."
        findings.append(settings_finding("'run_id' is neither text nor a whole number", fix, "run_id"))
    return Parsed(Settings(names, bounds, run), tuple(findings))
