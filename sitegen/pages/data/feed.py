"""``feed.xml``: the newest regressions, recoveries, improvements and new bests, as Atom (RFC 4287).

The id of an entry never changes, and its date is the date of its commit, so that a reader sees each entry once. If the
address of the published site is unknown, links are relative to the feed, which Atom allows.
"""

import re
from collections.abc import Iterable, Iterator
from heapq import nlargest
from typing import Final, Literal, TypeAlias

from markupsafe import escape

from sitegen.analysis.standing import ListedStep
from sitegen.model.changes import LEVELS, Step
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import ROUNDING, MetricSpec
from sitegen.model.series import EvalSummary, Headline
from sitegen.model.site import RawFile, SiteInfo
from sitegen.pages import links
from sitegen.pages.labels import CAUSES, exchanges, lost_words
from sitegen.text.plain import cut, line, xml_line
from sitegen.text.values import first_names, metric_text

ENTRIES: Final = 50  # entries of the feed

EntryKind: TypeAlias = Literal["regression", "recovery", "improvement", "best"]

_TITLES: Final[dict[EntryKind, str]] = {
    "regression": "Regression",
    "recovery": "Recovered",
    "improvement": "Better",
    "best": "New best",
}
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)")
_TAG: Final = "tag:sitegen,2026-01-01"


class FeedEntry(Frozen):
    """One change that the feed reports."""

    kind: EntryKind
    summary: EvalSummary
    at: Headline
    before: float | None
    """The value of one metric before the change."""
    after: float
    spec: MetricSpec
    step: Step | None = None

    @property
    def age(self) -> tuple[int, str, str, str]:
        """The order of entries; the newest is the largest."""
        return self.at.commit_position, self.summary.info.id, self.at.slug, self.kind

    def element(self, root: str) -> Iterator[str]:
        """The entry as lines of Atom."""
        info, at = self.summary.info, self.at
        report = root + links.report(info.id, at.slug)
        how = " (recorded)" if info.recorded else ""
        are_means = self.step is not None and self.step.noise and self.step.status in LEVELS
        of = f"{info.name}, {'mean ' if are_means else ''}{self.spec.label}"
        moved = " to ".join(metric_text(end, self.spec.unit) for end in (self.before, self.after) if end is not None)
        yield "<entry>"
        yield f"<id>{_TAG}:{self.kind}:{links.slug(info.id)}:{at.sha}:{at.slug}</id>"
        yield f"<title>{_xml_text(f'{_TITLES[self.kind]}: {of} {moved}{how}')}</title>"
        yield f"<updated>{at.committed_at}</updated>"
        yield f'<link rel="alternate" type="text/html" href="{escape(report)}"/>'
        yield f'<category term="{self.kind}"/>'
        yield f"<summary>{_xml_text(' '.join(self.sentences))}</summary>"
        yield "</entry>"

    @property
    def sentences(self) -> Iterator[str]:
        """What the entry says."""
        at = self.at
        yield f"{at.label}, commit {at.sha[:7]}."
        if self.step is None:
            among = " among comparable outputs" if at.comparable_since else ""
            rules = " as judged today" if self.after != at.values[0] else ""
            best = f"The best until now{among}{rules}."
            yield best if self.kind == "best" else "The level of before is regained."
            return
        yield f"{line(self.step.commit.subject, 200)}."
        step = self.step
        yield f"Changed: {', '.join(CAUSES[cause] for cause in step.causes)}."
        yield from exchanges(step.model, step.judge)
        if step.verdict and step.verdict.lost_fields:
            yield f"{lost_words(step.verdict)}."
        if step.edits:
            yield f"Instructions edited before it: {first_names([path for path, _ in step.edits], 3)}."
        if step.fields:
            yield f"Fields whose errors moved most: {first_names([moved.name for moved in step.fields], 3)}."


def feed_file(site: SiteInfo, head: Commit, summaries: Iterable[EvalSummary]) -> RawFile:
    """The newest entries of all evals that were not deleted. Uncommitted state is not reported."""
    entries = (entry for summary in summaries if not summary.deleted for entry in _eval_entries(summary))
    dated = (entry for entry in entries if entry.at.sha != WORKTREE and _DATE.fullmatch(entry.at.committed_at))
    newest = nlargest(ENTRIES, dated, key=lambda entry: entry.age)
    root = f"{site.base_url}/" if site.base_url else ""
    # The epoch is the date of uncommitted state alone, and of commits beyond the calendar.
    last = head.committed_at if _DATE.fullmatch(head.committed_at) else "1970-01-01T00:00:00Z"
    updated = newest[0].at.committed_at if newest else last
    title = _xml_text(f"{site.title}: what moved")
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>{_TAG}:feed:{links.slug(site.repository_url or site.title)}</id>",
        f"<title>{title}</title>",
        f"<updated>{updated}</updated>",
        *([f'<link rel="self" href="{escape(root + links.feed())}"/>'] if root else []),
        f'<link rel="alternate" type="text/html" href="{escape(root + links.regressions())}"/>',
        f'<generator version="{escape(site.version)}">sitegen</generator>',
        "<author><name>sitegen</name></author>",
        *(element for entry in newest for element in entry.element(root)),
        "</feed>",
    ]
    return RawFile(links.feed(), ("\n".join(lines) + "\n").encode())


def _eval_entries(summary: EvalSummary) -> Iterator[FeedEntry]:
    """The entries of one eval, unordered. A best output that is also a step is reported only as the step."""
    stepped = set()
    for step in summary.steps:
        if step.status not in (*LEVELS, "fell", "behind"):
            continue
        moved, metric = ListedStep(summary, step).metrics[0]
        risen: EntryKind = "improvement" if step.undoes is None else "recovery"
        kind: EntryKind = risen if step.status == "better" else "regression"
        # The metrics of a distance from the best output go on to the newest one.
        there = summary.values_now[step.at] if step.status == "behind" else None
        yield FeedEntry(
            kind=kind,
            summary=summary,
            at=summary.headlines[step.at],
            before=metric.before,
            after=metric.after if there is None else there,
            spec=moved,
            step=step,
        )
        stepped.add(step.at)
    yield from _regained_entries(summary)
    spec = summary.specs[0]
    values, best, sign = summary.values_now, summary.best, 1 if summary.specs[0].higher_is_better else -1
    for index in range(1, len(values)):
        at, earlier, value = summary.headlines[index], best[index - 1], values[index]
        is_new = best[index] == index != at.comparable_since and index not in stepped
        before = None if earlier is None else values[earlier]
        # An output that is as good over what both have, and has more documents or cases, may have a worse value.
        if is_new and before is not None and value is not None and sign * (value - before) > ROUNDING:
            yield FeedEntry(kind="best", summary=summary, at=at, before=before, after=value, spec=spec)


def _regained_entries(summary: EvalSummary) -> Iterator[FeedEntry]:
    """The ends of regressions that were regained without a step up. Of several with one end, the largest counts."""
    undone = {step.undoes for step in summary.steps}
    ends: dict[int, Step] = {}
    for step in sorted(summary.steps, key=lambda step: (step.metrics[0].points, step.at)):
        if step.status == "fixed" and step.until is not None and step.at not in undone:
            ends.setdefault(step.until, step)
    for until, step in ends.items():
        (spec, metric), at = ListedStep(summary, step).metrics[0], summary.headlines[until]
        value = at.values[summary.specs.index(spec)]
        if value is not None:
            yield FeedEntry(kind="recovery", summary=summary, at=at, before=metric.after, after=value, spec=spec)


def _xml_text(text: str) -> str:
    return str(escape(xml_line(cut(text, 1_000))))
