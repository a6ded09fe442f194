"""Data files: the same numbers as on the pages, for programs. Full precision, no rounding; undefined is null.

Forms: ``sitegen/index/1`` and ``sitegen/eval-results/1``; ``series.py`` has those of a series. A key is never renamed
within a form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from sitegen import __version__, schemas
from sitegen.model.commits import WORKTREE
from sitegen.model.error_summaries import PatternSummary
from sitegen.model.scorecards import Result
from sitegen.model.series import EvalInfo
from sitegen.model.site import RawFile
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.text.json_bytes import to_json_bytes

if TYPE_CHECKING:
    from sitegen.pages.data.forms import ErrorPatternData, IndexDocument


def index_file(
    head: str,
    revision: str,
    evals: tuple[str, ...],
    instructions: tuple[str, ...],
    problems: int,
    patterns: Mapping[str, Sequence[PatternSummary]] = MappingProxyType({}),
) -> RawFile:
    """``data/index.json``: what the site holds. Ids and paths in the order given; ``patterns`` by the eval's id."""
    body: IndexDocument = {
        "schema": "sitegen/index/1",
        "head": head,
        "revision": revision,
        "evals": list(evals),
        "instructions": list(instructions),
        "problems": problems,
        "error_patterns": {eval_id: patterns_data(of_eval) for eval_id, of_eval in patterns.items()},
    }
    return RawFile(links.index_data(), to_json_bytes(body, indent=None))


def patterns_data(patterns: Iterable[PatternSummary]) -> list[ErrorPatternData]:
    """Error patterns as the index and the series have them."""
    return [
        {
            "name": pattern.name,
            "errors": pattern.errors,
            "of": pattern.total,
            "fields": pattern.fields,
            "since": pattern.since or None,
            "headline_without": pattern.without,
        }
        for pattern in patterns
    ]


def results_json(result: Result, info: EvalInfo, snapshot: Snapshot) -> bytes:
    """The whole result of one snapshot, in the form of its kind: every discrepancy, every pairing, every detail."""
    dirty = snapshot.commit.sha == WORKTREE
    # Imported here, because few reports need it, and it imports the documents of every kind.
    from sitegen.scoring.documents import results_document
    from sitegen.scoring.results_file import Metadata

    metadata = Metadata(
        iteration=snapshot.iteration,
        timestamp=snapshot.recorded_at,
        git_commit=None if dirty else snapshot.commit.sha,
        dirty=dirty,
        sitegen=__version__,
    )
    whole = results_document(info.kind, result, eval_id=info.id, metadata=metadata, thresholds=info.thresholds)
    return to_json_bytes(whole, indent=None)


def schema_files() -> Iterator[RawFile]:
    """Every schema, as it ships with sitegen."""
    for name in schemas.TITLES:
        yield RawFile(links.schema(schemas.file_name(name)), schemas.content(name))
