"""Turns one run of a log into ``raw-llm-run.json``, chunk by chunk, with every category in every paragraph."""

from __future__ import annotations

import json
from typing import Any, Final

from sitegen.data_files.reading import UnreadableError
from sitegen.frozen import Frozen
from sitegen.model.problems import Finding
from sitegen.scoring.highlights.chunks import Chunk
from sitegen.scoring.highlights.files import read_log
from sitegen.scoring.highlights.paragraphs import Paragraphs

CATEGORIES: Final = ("terms", "concepts", "examples")
"""The categories of every paragraph, unless the run uses only others."""


class Extract(Frozen):
    """One run of a log."""

    content: bytes
    """UTF-8 JSON, in a shape that ``chunks`` reads."""
    run: str | None
    chunks: int
    paragraphs: int
    highlights: int
    findings: tuple[Finding, ...]
    """Findings about skipped lines and about the other lines."""


def extract(log: bytes, run: str | None = None, name: str = "") -> Extract:
    """Extract a run from a log, by default the run of the last line. *name* is written into the file.

    Lines with the same ``chunkIndex`` become one chunk. The highlights of a paragraph that occurs several times are
    united at its first occurrence (rule 27). Raises UnreadableError if no line can be read, or if there is no such run.
    """
    all_chunks, findings = read_log(log)
    run_id = all_chunks[-1].run if run is None else run
    chunks = [chunk for chunk in all_chunks if chunk.run == run_id]
    if not chunks:
        run_ids = ", ".join(dict.fromkeys(str(chunk.run)[:40] for chunk in all_chunks if chunk.run is not None))
        fix = f"Ask for one of: {run_ids[:400]}." if run_ids else "Ask for no run: its lines name none."
        raise UnreadableError(f"it has no run {run_id!r}", fix)
    grouped = _grouped(chunks)
    paragraphs = [paragraph for _, below in grouped for paragraph in below.all()]
    used = dict.fromkeys(category for paragraph in paragraphs for category in paragraph.highlights or {})
    names = dict.fromkeys((*CATEGORIES, *used)) if not used or used.keys() & set(CATEGORIES) else used
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
        for index, below in grouped
    ]
    content = json.dumps(body, ensure_ascii=False, indent=2).encode() + b"\n"
    highlights = sum(len(texts) for paragraph in paragraphs for texts in (paragraph.highlights or {}).values())
    return Extract(
        content=content,
        run=run_id,
        chunks=len(grouped),
        paragraphs=len(paragraphs),
        highlights=highlights,
        findings=findings,
    )


def _grouped(chunks: list[Chunk]) -> list[tuple[int | str, Paragraphs]]:
    """The paragraphs by chunk index, in the order of the log. A chunk without an index gets its position."""
    grouped: dict[int | str, Paragraphs] = {}
    homes: dict[str, Paragraphs] = {}
    for place, chunk in enumerate(chunks):
        home = grouped.setdefault(place if chunk.number is None else chunk.number, Paragraphs(lambda message: None))
        for name, text, highlights in chunk.paragraphs:
            homes.setdefault(name, home).add(name, highlights, text)
    return list(grouped.items())
