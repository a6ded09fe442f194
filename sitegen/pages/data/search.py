"""The search index, and data for the scripts of pages, as classic scripts: ``fetch`` does not exist on ``file://``.

Iterations and edits, which are only ever added, form a log in commit order, divided into shards. A full shard never
changes, so one more commit rewrites only the last shard, and ``search/list.js`` if a new shard begins. Fields are in
files named by their digest, because most evals of a project have the same fields for most of its history. The values of
an eval, and its verdicts, are in a file that is written with its pages, and loaded when something is searched for.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from sitegen.model.frozen import grouped
from sitegen.model.outcomes import REDACTED
from sitegen.model.series import EvalInfo, EvalSummary, Series
from sitegen.model.site import RawFile
from sitegen.model.timeline import Edit, InstructionHistory, Snapshot
from sitegen.pages import links
from sitegen.pages.labels import ERROR_LABELS, moved_by, same_output, verdict_word
from sitegen.pages.other_pages import topics
from sitegen.text.values import written


def script_file(path: str, name: str, body: Any) -> RawFile:
    """A script that appends ``body`` to a list, the property ``name`` of the window.

    It is pure ASCII, so that no character in it can end a line or a string.
    """
    text = json.dumps(body, ensure_ascii=True, separators=(",", ":"))
    return RawFile(path, f"(self.{name}=self.{name}||[]).push({text});\n".encode("ascii"))


SHARD: Final = 2_000
"""Number of entries of the log in one file."""

_MOST_VALUES: Final = 5_000  # values and verdicts of an eval that search knows
LONGEST_VALUE: Final = 80  # characters of each of them


class SearchEntry(NamedTuple):
    """A search result."""

    title: str
    address: str
    note: str
    author: str = ""
    """Who made it; empty for a page."""
    day: str = ""
    """When its commit was made: ``2026-05-31``; empty for a page."""


def iteration_entry(info: EvalInfo, at: Snapshot, original: str | None = None) -> SearchEntry:
    """A point of an eval. ``original``: the label of the iteration that its output is a copy of."""
    return SearchEntry(
        title=f"{info.name}, {at.label}",
        address=links.report(info.id, at.slug),
        note=", ".join(filter(None, (same_output(original), at.commit.subject))),
        author=at.commit.author,
        day=at.commit.committed_at[:10],
    )


def edit_entry(edit: Edit) -> SearchEntry:
    """An edit of instructions. It links to its commit, whose address does not change when the file is renamed."""
    commit = edit.commit
    return SearchEntry(
        title=commit.subject,
        address=links.commit(commit.sha),
        note=f"{edit.path} {commit.short}",
        author=commit.author,
        day=commit.committed_at[:10],
    )


def shards(log: Sequence[SearchEntry], first: int = 0) -> tuple[RawFile, ...]:
    """The shards from number ``first`` on; ``log``: beginning with the first entry of that shard.

    The log is in commit order and only grows. After one more commit, the entries of the last shard and the new entries
    are sufficient.
    """
    pieces = enumerate((log[at : at + SHARD] for at in range(0, len(log), SHARD)), first)
    return tuple(
        script_file(f"search/{number}.js", "SEARCH", ["log", number, list(map(list, entries))])
        for number, entries in pieces
    )


def fields_file(attributes: tuple[str, ...]) -> RawFile:
    """Fields or cases, once for all evals that have the same: each with the name of its page, if it differs."""
    name = _attributes_digest(attributes)
    pages = [
        [attribute] if (page := links.slug(attribute)) == attribute else [attribute, page] for attribute in attributes
    ]
    return script_file(f"search/fields-{name}.js", "SEARCH", ["fields", name, pages])


def values_file(series: Series) -> RawFile:
    """The verdicts on outputs, newest first, then what cells should be and are, by field, and what these replaced.

    At most ``_MOST_VALUES``. What is no value of the newest point has its kind, and a verdict its day as well.
    """
    eval_id, fields, age = series.info.id, series.cells.by_attribute, 1
    found: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for at in reversed(series.points[-_MOST_VALUES:]):
        if verdict := at.change and at.change.verdict:
            said = f"{moved_by(verdict, series.specs[0])}{verdict_word(verdict, series.specs[0].higher_is_better)}"
            address, day = links.report(eval_id, at.snapshot.slug), at.snapshot.commit.committed_at[:10]
            found[at.snapshot.label, address, said] = "verdict", day
    while fields:
        for attribute, cells in fields.items():
            address, periods = links.field(eval_id, attribute), (cell.periods[-age] for cell in cells)
            texts = chain.from_iterable((written(at.expected), written(at.actual)) for at in periods)
            usable = (text[:LONGEST_VALUE] for text in texts if text and len(text) > 2 and text != REDACTED.literal)
            keys = ((attribute, address, text) for text in usable)
            for key in islice((key for key in keys if key not in found), _MOST_VALUES - len(found)):
                found[key] = ("earlier value",) * (age > 1)
        fields = grouped((of, cell) for of, cells in fields.items() for cell in cells if len(cell.periods) > age)
        age += 1
    rows = grouped(((name, address, of), text) for (name, address, text), of in found.items())
    body = [[name, address, texts, *of] for (name, address, of), texts in rows.items()]
    return script_file(links.search_values(eval_id), "SEARCH", ["values", eval_id, body])


def list_file(
    summaries: Iterable[EvalSummary],
    files: Iterable[InstructionHistory],
    fields: Iterable[tuple[str, tuple[str, ...], tuple[str, ...]]],
    entries: int,
) -> RawFile:
    """``search/list.js``: evals and their pages, instruction files, where the fields and cases are, shards.

    ``fields``: by ids of evals, all fields that were ever judged, and the cases, which have a page.

    Pages in the navigation are not included, because the script reads them from the navigation.
    """
    summaries, fields = tuple(summaries), tuple(fields)
    names = {summary.info.id: summary.info.name for summary in summaries}
    kinds = {summary.info.kind for summary in summaries}
    judged = {eval_id for eval_id, attributes, _ in fields if attributes}
    body: dict[str, Any] = {
        "evals": [
            [s.info.name, links.eval_trend(s.info.id), s.info.description[:120], " ".join(_words(s))] for s in summaries
        ],
        "pages": [list(entry[:3]) for entry in chain(_pages_of_site(kinds), *map(_pages_of_eval, summaries))],
        "files": [
            [file.path, links.instruction(file.path), "deleted" if file.deleted else "instructions"] for file in files
        ],
        "fields": [
            [names.get(eval_id, eval_id), address(eval_id, "").rpartition("/")[0], _attributes_digest(found)]
            for eval_id, attributes, cases in fields
            for address, found in ((links.field, attributes), (links.case, cases))
            if found
        ],
        "values": [[s.info.name, s.info.id, links.search_values(s.info.id)] for s in summaries if s.info.id in judged],
        "shards": -(-entries // SHARD),
    }
    return script_file("search/list.js", "SEARCH", ["list", 0, body])


def _pages_of_site(kinds: Collection[str]) -> Iterator[SearchEntry]:
    yield SearchEntry(
        "Fields over all evals", links.fields(), "trend, edits that moved it, flaky values, which flip often"
    )
    yield SearchEntry("Steps", links.regressions(), "regressions: what is worse than it was, regained, or rose")
    yield SearchEntry("Suspect labels", links.suspect_labels(), "labels of all evals that may be wrong")
    yield SearchEntry("Errors by type", f"{links.overview()}#evals", ", ".join(ERROR_LABELS.values()).lower())
    for anchor, topic in topics(kinds).items():
        yield SearchEntry(topic, f"{links.methods()}#{anchor}", "Methods: how it is computed")


def _words(summary: EvalSummary) -> Iterator[str]:
    """Words by which an eval is found, besides its name: the verdict on its newest output, what it lacks, models."""
    if summary.change and summary.change.verdict:
        yield summary.change.verdict.decision
    if summary.stale:
        yield "stale"
    if any(not is_reached for _, is_reached in summary.targets):
        yield "misses its target"
    yield from (f"model {name}" for name in (summary.usage.models if summary.usage else ()))


def _pages_of_eval(summary: EvalSummary) -> Iterator[SearchEntry]:
    """The pages of an eval besides its trend, its reports and the pages of its fields."""
    eval_id, name = summary.info.id, summary.info.name
    if summary.best_output:
        best = summary.headlines[summary.best_output.at]
        yield SearchEntry(f"{name}: best iteration", links.report(eval_id, best.slug), best.label)
    if summary.suspects and not summary.deleted:
        yield SearchEntry(
            "Suspect labels", f"{links.suspect_labels()}#section={quote(eval_id)}", f"{name}: labels that may be wrong"
        )
    if "flaky" in summary.metrics:
        newest = links.report(eval_id, summary.headlines[-1].slug)
        yield SearchEntry("Flaky cases", f"{newest}#flaky=1", f"{name}: repeats that differ")
    if summary.notes:
        yield SearchEntry("Notes", links.notes(eval_id), f"{name}: what people said about its cases")
    if summary.has_variants:
        yield SearchEntry("Compare variants", links.variants(eval_id), name)
    if summary.is_compared:
        compared = "iterations" if len(summary.headlines) > 1 else "answers"
        yield SearchEntry(f"Compare {compared}", links.compare(eval_id), name)
    if summary.steps and not summary.deleted:
        yield SearchEntry("Steps", f"{links.regressions()}#section={quote(eval_id)}", name)


def _attributes_digest(attributes: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(attributes).encode("utf-8", "surrogatepass")).hexdigest()[:12]
