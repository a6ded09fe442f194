"""The pages of suspect ground truth: labels that most outputs contradict with the same value.

One page has the labels of all evals. Each eval also has its own page, with all of its labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from markupsafe import Markup
from msgspec.structs import replace

from sitegen.analysis.suspect_truth import (
    Certainty,
    SharedCause,
    SuspectLabel,
    by_cause,
    certainty,
    least_share,
)
from sitegen.frozen import Frozen
from sitegen.html.cells import shown_run, value
from sitegen.model.cells import State
from sitegen.model.commits import WORKTREE
from sitegen.model.error_summaries import SuspectTruth
from sitegen.model.series import EvalInfo, EvalSummary
from sitegen.model.site import Page
from sitegen.pages import links

LISTED: Final = 300
"""Number of labels on the page of all evals; each eval has the same share, its most certain ones."""

_NAMED: Final = 3
"""Number of fields that the heading of a shared cause names."""


class SuspectRow(Frozen):
    """One label. Addresses are relative to the root of the site."""

    number: int
    """Number of the label on the page, from 1, used in links."""
    info: EvalInfo
    suspect: SuspectTruth
    expected: Markup
    """The label, with differing words marked."""
    actual: Markup
    """The value on which the outputs agree, with differing words marked."""
    certainty: Certainty
    least: float
    """The least share of outputs that agree, 0..1."""
    field: str
    """Address of the attribute's history."""
    last_label: str
    """Label of the newest point that gave the value."""
    last_report: str
    sha: str
    """Id of the newest point's commit, whose ground truth has the line; empty for uncommitted changes."""


class CauseRows(Frozen):
    """Labels with a shared cause."""

    cause: SharedCause
    fields: tuple[str, ...]
    """The fields with the most labels."""
    more_fields: int
    evals: int
    rows: tuple[SuspectRow, ...]


class SuspectTruthView(Frozen):
    """What ``pages/suspect_truth.html`` shows."""

    info: EvalInfo | None
    """None on the page of all evals."""
    total: int
    evals: int
    """Number of evals with suspect labels."""
    single: tuple[SuspectRow, ...]
    """Labels without a shared cause, most certain first."""
    causes: tuple[CauseRows, ...]
    left_out: tuple[tuple[EvalInfo, int], ...]
    """The evals with more labels than are listed, and the number of further labels of each."""
    nav: str = "evals"

    @property
    def rows(self) -> tuple[SuspectRow, ...]:
        """All listed labels, in the order of the page."""
        return (*self.single, *(row for cause in self.causes for row in cause.rows))

    @property
    def corrected(self) -> list[SuspectRow]:
        """The labels whose line in the ground truth is known."""
        return [row for row in self.rows if row.suspect.correction]


def suspect_labels_page(summaries: Iterable[EvalSummary]) -> Page:
    """Make the page of the labels of all evals that are not deleted; there may be none."""
    with_suspects = [summary for summary in summaries if summary.suspects and not summary.deleted]
    share = LISTED // len(with_suspects) if with_suspects else LISTED
    return Page(links.suspect_labels(), "pages/suspect_truth.html", _view(with_suspects, max(1, share)))


def suspect_truth_page(summary: EvalSummary) -> Page:
    """The page of one eval, which has at least one suspect."""
    view = replace(_view([summary], len(summary.suspects)), info=summary.info)
    return Page(links.suspect_truth(summary.info.id), "pages/suspect_truth.html", view)


def _view(summaries: Sequence[EvalSummary], share: int) -> SuspectTruthView:
    """Make the view. *share*: the number of labels listed for each eval."""
    by_id = {summary.info.id: summary for summary in summaries}
    labels = [SuspectLabel(summary.info.id, suspect) for summary in summaries for suspect in summary.suspects[:share]]
    causes, without_cause = by_cause(sorted(labels, key=lambda label: -least_share(label.suspect)))
    number = 0

    def rows(labels: Iterable[SuspectLabel]) -> tuple[SuspectRow, ...]:
        nonlocal number
        listed = []
        for label in labels:
            number += 1
            listed.append(_suspect_row(number, by_id[label.eval_id], label.suspect))
        return tuple(listed)

    single = rows(without_cause)
    return SuspectTruthView(
        info=None,
        total=sum(len(summary.suspects) for summary in summaries),
        evals=len(summaries),
        single=single,
        causes=tuple(_cause_rows(cause, rows(cause.labels)) for cause in causes),
        left_out=tuple(
            (summary.info, len(summary.suspects) - share) for summary in summaries if len(summary.suspects) > share
        ),
    )


def _cause_rows(cause: SharedCause, rows: tuple[SuspectRow, ...]) -> CauseRows:
    fields = tuple(dict.fromkeys(label.suspect.attribute for label in cause.labels))
    return CauseRows(
        cause=cause,
        fields=fields[:_NAMED],
        more_fields=len(fields[_NAMED:]),
        evals=len({label.eval_id for label in cause.labels}),
        rows=rows,
    )


def _suspect_row(number: int, summary: EvalSummary, suspect: SuspectTruth) -> SuspectRow:
    state: State = "wrong_value" if suspect.expected else "hallucination"
    expected, actual = shown_run(state, suspect.expected, suspect.actual)
    eval_id, last, newest = summary.info.id, summary.headlines[suspect.last], summary.headlines[-1]
    return SuspectRow(
        number=number,
        info=summary.info,
        suspect=suspect,
        expected=Markup(value(expected)),
        actual=Markup(value(actual)),
        certainty=certainty(suspect),
        least=least_share(suspect),
        field=links.field(eval_id, suspect.attribute),
        last_label=last.label,
        last_report=links.report(eval_id, last.slug),
        sha="" if newest.sha == WORKTREE else newest.sha,
    )
