"""Data files: the same numbers as on the pages, for programs. Full precision, no rounding; undefined is null.

Badges show the headline of an eval as a small picture for a README, and as an endpoint of shields.io.

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
import json
from typing import Final, Literal, TypedDict

from markupsafe import escape

from sitegen.model.series import EvalSummary
from sitegen.text.plain import encodable, line
from sitegen.text.values import metric_text


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
        "series": {eval_id: links.series_data(eval_id) for eval_id in evals},
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


_NO_SCORE: Final = "no score"

MET, MISSED, NEUTRAL, UNDEFINED = "2a7f3f", "b3261e", "1f63a8", "5f6368"
"""Hexadecimal colours: target reached, target missed, no target, undefined. White text is readable on each."""

LONGEST: Final = 40
"""Largest number of characters of an eval's name."""

_WIDE: Final = frozenset("MWmw@%")
_NARROW: Final = frozenset("Iijlft.,:;'|! ()[]")
_HEIGHT: Final = 20
_PAD: Final = 6


class BadgeEndpoint(TypedDict):
    """An eval's headline metric in the form that badge services read."""

    schemaVersion: Literal[1]
    label: str
    message: str
    """The value with three digits, or ``no score``."""
    color: str
    """Six hexadecimal digits."""


def badge(summary: EvalSummary) -> BadgeEndpoint:
    """The headline metric of the newest point, coloured by the eval's target if it has one."""
    spec = summary.specs[0]
    label = f"{line(encodable(summary.info.name), LONGEST)} {spec.label}{' (recorded)' if spec.recorded else ''}"
    value = summary.headlines[-1].values[0] if summary.headlines and not summary.without_output else None
    least = spec.target(summary.info.thresholds)
    color = UNDEFINED
    if value is not None:
        color = NEUTRAL if least is None else MET if spec.reaches(value, least) else MISSED
    message = _NO_SCORE if value is None else metric_text(value, unit=spec.unit)
    return {"schemaVersion": 1, "label": label, "message": message, "color": color}


def badge_files(summary: EvalSummary) -> Iterator[RawFile]:
    """The picture and the endpoint of an eval's badge."""
    drawn_badge = badge(summary)
    yield RawFile(links.badge(summary.info.id), svg(drawn_badge).encode())
    yield RawFile(links.badge_data(summary.info.id), json.dumps(drawn_badge, ensure_ascii=False).encode() + b"\n")


def svg(drawn_badge: BadgeEndpoint) -> str:
    """A self-contained picture: it fetches no font, script or address."""
    left, right = (_width(text) + 2 * _PAD for text in (drawn_badge["label"], drawn_badge["message"]))
    label, message = escape(drawn_badge["label"]), escape(drawn_badge["message"])
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" role="img" \
aria-label="{label}: {message}">
<title>{label}: {message}</title>
<clipPath id="r"><rect width="{left + right}" height="{_HEIGHT}" rx="3"/></clipPath>
<g clip-path="url(#r)"><path fill="#444" d="M0 0h{left}v{_HEIGHT}H0z"/>\
<path fill="#{drawn_badge["color"]}" d="M{left} 0h{right}v{_HEIGHT}H{left}z"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11" text-rendering="geometricPrecision">
<text x="{_PAD}" y="14" textLength="{left - 2 * _PAD}">{label}</text>
<text x="{left + _PAD}" y="14" textLength="{right - 2 * _PAD}">{message}</text>
</g>
</svg>
"""


def _width(text: str) -> int:
    """The approximate width of a text, in px; the font in use is stretched to it."""
    return round(
        sum(10 if letter in _WIDE else 4 if letter in _NARROW else 7 if letter.isascii() else 11 for letter in text)
    )
