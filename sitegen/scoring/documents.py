"""The results of any kind as the document that ``--json`` prints, ``--save`` keeps and the site's data files hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Final, TypeAlias

from sitegen.model.scorecards import Result
from sitegen.scoring.fields_document import fields_part
from sitegen.scoring.highlights.document import highlights_part
from sitegen.scoring.judged.document import judged_part
from sitegen.scoring.responses.document import responses_part
from sitegen.scoring.results_file import Metadata, ResultsHead, ResultsTail, problem_rows, usage_row

Document: TypeAlias = ResultsTail
"""The document of any kind: what ``document_type`` makes."""


@dataclass(frozen=True, slots=True)
class NumberRow:
    """One number, and which way it is taken to be better."""

    name: str
    value: float | None
    higher_is_better: bool


@dataclass(frozen=True, kw_only=True)
class RecordedPart:
    """What is written of kind ``recorded`` alone."""

    form: ClassVar = "sitegen/recorded-results/1"

    numbers: tuple[NumberRow, ...]
    """As the run wrote them, the headline first."""


def recorded_part(result: Result) -> RecordedPart:
    """Of one result."""
    card = result.scorecard
    return RecordedPart(
        numbers=tuple(NumberRow(spec.name, card.metric(spec.name), spec.higher_is_better) for spec in card.specs)
    )


_PARTS: Final[dict[str, Callable[[Result], Any]]] = {
    "fields": fields_part,
    "highlights": highlights_part,
    "judged": judged_part,
    "recorded": recorded_part,
}
"""By kind. Kinds of installed packages are written as ``fields``."""


def results_document(
    kind: str,
    result: Result,
    *,
    eval_id: str,
    metadata: Metadata,
    thresholds: Iterable[tuple[str, float]] = (),
    methods: Sequence[str] = (),
) -> Document:
    """The document of one result.

    ``methods`` are those of kind ``responses`` to report on; empty: all. Raises ConfigurationError if there is no such
    method.
    """
    card = result.scorecard
    if kind == "responses":
        part: Any = responses_part(result, thresholds, methods)
    else:
        part = _PARTS.get(kind, fields_part)(result)
    of_kind: Any = type(part)
    written: Document = document_type(of_kind)(
        schema=part.form,
        eval_id=eval_id,
        status=card.status,
        **{field.name: getattr(part, field.name) for field in fields(part)},
        usage=usage_row(card.usage),
        problems=problem_rows(card.findings),
        metadata=metadata,
    )
    return written


@cache
def document_type(part: Any) -> type[Any]:
    """The type of a whole document: the head and the tail that all share, around the part of one kind.

    Fields are written in the order in which they are declared, which is that of the base classes from the last one on.
    """
    whole = type(f"{part.__name__}Document", (ResultsTail, part, ResultsHead), {"__doc__": "The whole file."})
    return dataclass(frozen=True, kw_only=True)(whole)
