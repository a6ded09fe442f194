"""The page of suspect ground truth: labels of all evals that most outputs contradict with the same value.

``pages/suspect_truth.html`` reads the model itself, and calls the functions of this module for what the model lacks.
"""

from collections.abc import Iterable
from typing import Final

from markupsafe import Markup, escape
from msgspec.structs import replace

from sitegen.analysis.suspect_truth import ONE_LINE, SharedCause, by_cause, patch_of
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import State
from sitegen.model.series import EvalSummary, SuspectTruth
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.pages.html.cells import shown_run, value

LISTED_LABELS: Final = 1_000
"""Number of labels on the page; each eval has the same share, those that most outputs contradict."""

NAMED_FIELDS: Final = 3
"""Number of fields that the row of a cause names."""


class SuspectTruthView(Frozen):
    """What ``pages/suspect_truth.html`` shows."""

    summaries: dict[str, EvalSummary]
    """The evals with labels that outputs contradict, by id."""
    share: int
    """Number of labels of each eval that are listed."""
    causes: tuple[SharedCause, ...]

    @property
    def shared(self) -> list[SharedCause]:
        """What several labels have in common that need not be wrong each."""
        return [cause for cause in self.causes if cause.name not in ("", ONE_LINE)]

    @property
    def labels(self) -> tuple[SuspectTruth, ...]:
        """All listed labels that nobody judged right, in the order of the page."""
        return tuple(label for cause in self.causes for label in cause.labels if label.judged != "right")


def suspect_labels_page(summaries: Iterable[EvalSummary]) -> Page:
    """Make the page of the labels of all evals that are not deleted; there may be none."""
    with_suspects = [summary for summary in summaries if summary.suspects + summary.upheld and not summary.deleted]
    share = max(1, LISTED_LABELS // len(with_suspects)) if with_suspects else LISTED_LABELS
    labels = [replace(label, eval_id=at.info.id) for at in with_suspects for label in at.suspects[:share] + at.upheld]
    by_id = {summary.info.id: summary for summary in with_suspects}
    view = SuspectTruthView(summaries=by_id, share=share, causes=by_cause(labels))
    return Page(links.suspect_labels(), "pages/suspect_truth.html", view)


def sides(suspect: SuspectTruth) -> tuple[Markup, Markup]:
    """The label, and the value on which the outputs agree, with differing words marked."""
    state: State = "wrong_value" if suspect.expected else "hallucination"
    expected, actual = shown_run(state, suspect.expected, suspect.actual)
    return Markup(value(expected)), Markup(value(actual))


def patch(labels: Iterable[SuspectTruth]) -> tuple[Markup, int]:
    """A patch that corrects labels, and how many. A parser of HTML drops carriage returns that are not spelled out."""
    text, number = patch_of(labels)
    return Markup(escape(text).replace("\r", Markup("&#13;"))), number
