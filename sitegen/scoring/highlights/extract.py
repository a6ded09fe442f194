"""A log made into ``raw-llm-run.json``: one run, chunk by chunk, every category of every paragraph filled."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from sitegen.data_files.reading import UnreadableError
from sitegen.model.problems import Finding
from sitegen.scoring.highlights.chunks import Chunk
from sitegen.scoring.highlights.files import read_log
from sitegen.scoring.highlights.paragraphs import Paragraphs

CATEGORIES: Final = ("terms", "concepts", "examples")
"""What every paragraph has, unless the run uses none of them and others instead."""


class Extract(NamedTuple):
    """One run of a log."""

    content: bytes
    """UTF-8 JSON, in a shape that scoring reads."""
    run: str | None
    chunks: int
    paragraphs: int
    highlights: int
    findings: tuple[Finding, ...]
    """Lines that were passed over, and what was odd in the others."""


def extract(log: bytes, run: str | None = None, name: str = "") -> Extract:
    """Take one run, by default that of the last line, out of a log. ``name`` is written into the file.

    Lines with the same ``chunkIndex`` make one chunk; of a paragraph that stands several times the highlights are
    united where it stands first (rule 27). Raises UnreadableError if no line can be read, or the log has no such run.
    """
    every, findings = read_log(log)
    run_id = every[-1].run if run is None else run
    chunks = [chunk for chunk in every if chunk.run == run_id]
    if not chunks:
        run_ids = ", ".join(dict.fromkeys(str(chunk.run)[:40] for chunk in every if chunk.run is not None))
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
    """Chunks by index, in the order of the log; a chunk without one is numbered by its place."""
    grouped: dict[int | str, Paragraphs] = {}
    homes: dict[str, Paragraphs] = {}
    for place, chunk in enumerate(chunks):
        home = grouped.setdefault(place if chunk.number is None else chunk.number, Paragraphs(lambda message: None))
        for name, text, highlights in chunk.paragraphs:
            homes.setdefault(name, home).add(name, highlights, text)
    return list(grouped.items())
