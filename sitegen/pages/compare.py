"""Two iterations of an eval side by side: is the later one better, in which fields, and in which values.

The newest iteration is compared here with the previous one and with the best one. The browser compares any other pair
from the data of the page, or states that it cannot. Only ``assets/js/compare.js`` writes tables: without scripts the
page gives verdicts, metrics, numbers of values and edits, and says where the values are.

The browser only counts. The verdict on a pair is the text that the page shows (``answer``). Tables contain the fate of
a cell by its states before and after (``_fates``), and the imbalance of flips that is more than chance
(``least_discordant``).

There are too many pairs to judge all of them. The judged pairs are neighbours, the newest and the best, and both sides
of each step: all pairs that other pages link to. ``sitegen compare`` judges any other pair.
"""

from __future__ import annotations

import shlex
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlencode

from markupsafe import Markup
from msgspec.structs import replace

from sitegen.analysis.change import best_points, changes
from sitegen.analysis.deltas import comparable_since
from sitegen.analysis.flips import fate_of
from sitegen.analysis.noise.samples import interval_of, is_counted
from sitegen.analysis.series import series_of
from sitegen.analysis.slices import answerers, averaged, part_of
from sitegen.importers.case import BETWEEN
from sitegen.model.changes import Change, ChangeVerdict
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.model.outcomes import Fate, Period
from sitegen.model.scorecards import Result
from sitegen.model.series import Point, Series
from sitegen.model.site import Page, RawFile
from sitegen.model.timeline import Blob, Edit
from sitegen.pages import labels, links
from sitegen.pages.compare_cells import FEWEST, STATES, CellSource
from sitegen.pages.edit import RenderedPatch
from sitegen.pages.effects import FlippedFields, fields_and_passages, verdict_pill
from sitegen.pages.html.cells import text
from sitegen.pages.html.charts import around_zero
from sitegen.pages.html.formats import bounded, date
from sitegen.pages.labels import SAME_OUTPUT, in_both, moved_by, own_unit, smallest_change
from sitegen.pages.report.why_rows import because
from sitegen.stats.counts import error_numbers
from sitegen.text.plain import cut, day, line
from sitegen.text.values import short_digest

EDITS: Final = 8
"""Number of commits with edits that are listed; further ones are counted."""

FATES: Final[tuple[Fate, ...]] = ("broken", "fixed", "still_wrong", "appeared", "vanished")
"""Fates in the order of the page; the data has their indices in this tuple."""

POINTS: Final = 5_000
"""Largest number of points that can be chosen: the newest ones."""

_NAMED: Final = 200  # largest number of commits with edits that the page can name: the newest ones


_ROOT: Final = "../../"  # the way from a page of comparisons to the root of the site

_NEIGHBOURS: Final = 60  # largest number of pairs of neighbours that are judged: the newest ones


class CompareData(Frozen):
    """The data that the script of the compare page reads."""

    page: dict[str, Any] | None
    """Data in the page; None if there is no choice."""
    pieces: tuple[RawFile, ...] = ()
    """Files beside the page, oldest points first; empty if the page has all points, or if they would be too large."""
    earlier: tuple[int, ...] = ()
    """The points that are compared with the newest one: the previous one and, if that is another, the best one."""
    choosable: int = 0
    """Number of points that can be compared with each other; 0 if only the pairs of the page can be compared."""
    edits: tuple[EditingCommit, ...] = ()
    """The result of ``editing_commits``, which the pairs of the page need as well; empty without data."""
    changes: Mapping[tuple[int, int], Change] = MappingProxyType({})
    """The changes between the pairs of points that are judged, by their indices."""


def compare_data(
    series: Series, pairs: Iterable[tuple[int, int]], piece: int = 0, paged: Container[str] = ()
) -> CompareData:
    """The data of an eval.

    ``pairs``: the points of pairs to which other pages link, such as those of its steps. ``piece``: the number of the
    first file beside the page. ``paged``: the cases that have a page.
    """
    nouns, last, headline = series.info.nouns, len(series.points) - 1, series.specs[0].name
    if last + 1 < FEWEST:
        return CompareData(None)
    since = comparable_since([point.scorecard for point in series.points], [headline])[headline]
    best = best_points(series.points, series.specs[:1])[headline][-2] if since[last] != last else None
    earlier = tuple(dict.fromkeys(place for place in (last - 1, best) if place is not None))
    pairs, judges = tuple(pairs), _judges(series.points)
    details = [_point_block(series, index, judge) for index, judge in enumerate(judges)]
    anchors = {0, last, *earlier, *(place for _, place in series.baselines)}
    linked = anchors.union(*pairs)
    source = CellSource(series, details, paged)
    embedded, block = source.embedded((linked, anchors))
    pieces = source.pieces(piece) if len(embedded) < len(details) else {}
    piece_of = {place: number for number, places in enumerate(pieces, piece) for place in places}
    edits, first = editing_commits(series), max(0, last + 1 - POINTS)
    held, since_earlier = set(embedded), [(place, last) for place in earlier]
    since_baselines = [(place, last) for _, place in series.baselines if place < last]
    neighbours = [(place - 1, place) for place in embedded if place - 1 in held][-_NEIGHBOURS:]
    of_page = sorted({*neighbours, *(pair for pair in pairs if held.issuperset(pair) and len({*pair}) > 1)})
    judged = changes(series, [*since_earlier, *since_baselines, *of_page])
    listed = [place for place in range(last + 1) if place >= first or place in held]
    judged_names = {name for point in series.points if point.scorecard.usage for name in point.scorecard.usage.graded}
    graded = [place for place, spec in enumerate(series.specs) if spec.name in judged_names]
    points: list[dict[str, Any] | list[Any]] = []
    for place in listed:
        of, number = details[place], piece_of.get(place)
        if place in held:
            points.append(of if number is None else {**of, "piece": number})
        else:  # a point that the page can name, and whose cells are in a piece or omitted
            value = of["values"][0] and float(f"{of['values'][0]:.6g}")
            points.append([*map(of.get, ("slug", "label", "day", "again")), value, number, of.get("same")])
    page = {
        "points": points,
        "older": last + 1 - len(listed),
        "best": details[earlier[-1]]["slug"],
        "judged": _answers(series, {pair: judged[pair] for pair in sorted(judged) if held.issuperset(pair)}),
        **_edit_lists(edits, listed),
        "metrics": [[spec.label, int(spec.higher_is_better), spec.unit, int(spec.is_share)] for spec in series.specs],
        # The metrics that a judge graded, which cannot be compared between judges.
        **({"graded": graded} if graded else {}),
        "noun": [nouns.document, nouns.documents, f"{nouns.value.capitalize()}s"],
        "fates": [_fates(held=False), _fates(held=True)],
        "errors": list(nouns.errors),
        "block": block,
    }
    choosable = len(piece_of) or len(embedded)
    return CompareData(
        page=page, pieces=tuple(pieces.values()), earlier=earlier, choosable=choosable, edits=edits, changes=judged
    )


def answers_data(series: Series, result: Result, piece: int, paged: Container[str] = ()) -> CompareData:
    """The data of the variants and models of the newest output, with its ``result``, as if they were its iterations.

    ``piece``, ``paged``: as for ``compare_data``.
    """
    sides = answerers(result.scorecard)
    sorts = [[axis for axis, _ in side] for side in sides]
    snapshots = []
    for side in sides:
        label = BETWEEN.join(value if sorts[0] == sorts[-1] or side[1:] else f"{axis}: {value}" for axis, value in side)
        name = ",".join(map("=".join, side))
        output = {"label": label, "slug": name, "outputs": (Blob(name, name),), "cause": ("outputs",)}
        snapshots.append(replace(series.points[-1].snapshot, **output))
    found = series_of(series.info, series.specs, snapshots, [part_of(result, dict(side)) for side in sides])
    headline = series.specs[0].name
    points = [replace(point, interval=interval_of(point.scorecard, headline)) for point in found.points]
    alike = [(one, two) for one, two in combinations(range(len(sides)), 2) if sorts[one] == sorts[two]]
    sides_of_answers = replace(found, points=tuple(points), specs=found.defined_specs)
    return compare_data(sides_of_answers, alike[:_NEIGHBOURS], piece, paged)


def answer(series: Series, pair: tuple[int, int], verdict: ChangeVerdict | None) -> tuple[Markup, bool]:
    """The word for a change between two points, its reason and interval; whether it says what was fixed and broke."""
    info, spec = series.info, series.specs[0]
    before, after = (text(series.points[place].snapshot.label) for place in pair)
    if info.recorded:
        unknown = "Runs recorded the numbers of both: whether the change is more than chance is unknown."
        return Markup(f"<p class=answer>{unknown}</p>"), False
    if verdict is None:
        return Markup(f"<p class=answer>{SAME_OUTPUT}</p>"), False
    apart = text(labels.apart_words(verdict, *(series.points[place].scorecard for place in pair), spec=spec))
    said = sentence((before, after), verdict, spec, info.nouns)
    states_flips = is_counted(spec.name) and labels.moved_words(verdict, spec, info.nouns) in said
    words = f"<p class=answer{' data-moved' * states_flips}>{said}{apart}."
    if abs(verdict.change or 0) < (verdict.detectable or 0) and (least := smallest_change(verdict, spec)):
        words += f" {least[0].upper()}{text(least[1:])}."
    return Markup(f"{words}</p>{_picture(spec, verdict)}"), states_flips


def sentence(sides: tuple[str, str], verdict: ChangeVerdict, spec: MetricSpec, nouns: Nouns) -> Markup:
    """The verdict on a change from one side to another; both are safe HTML."""
    before, after = sides
    why = because(verdict, spec, nouns, f"{_ROOT}{links.methods()}")
    return Markup(f"From {before} to {after}: {text(moved_by(verdict, spec))}{verdict_pill(verdict, spec)}{why}")


def _picture(spec: MetricSpec, verdict: ChangeVerdict) -> str:
    """The interval of the change around zero, which the sentence above has in words, with a scale below it."""
    interval, change = verdict.interval, verdict.change
    if interval is None or change is None:
        return ""
    scale = max(abs(interval.low), abs(interval.high), abs(change))
    if not scale:
        return ""
    sure = verdict.decision in ("better", "worse")
    tone = "n" if not sure else "u" if (change > 0) is spec.higher_is_better else "d"
    drawn = around_zero((interval.low, interval.high), change, scale, tone)
    low, high = own_unit(-scale, spec), own_unit(scale, spec)
    return (
        f"<div class=around>{drawn}<div class=ends aria-hidden=true><span>{low}</span><span>no change</span>"
        f"<span>{high}</span></div></div>"
    )


def _answers(series: Series, judged: Mapping[tuple[int, int], Change]) -> dict[str, list[Any]]:
    """What the build judged of pairs, by both slugs.

    The first is safe HTML: the word for the change, its reason and its interval. If the two points do not have the same
    documents or ground truth, a sentence on these follows, and the changes of all metrics over what is common.
    """
    answers: dict[str, list[Any]] = {}
    for pair, change in judged.items():
        before, after = (series.points[place].snapshot for place in pair)
        html, _ = answer(series, pair, change.verdict)
        answers[f"{before.slug} {after.slug}"] = [html]
        if (both := in_both(change, series)) or change.overlap.verdict != "comparable":
            answers[f"{before.slug} {after.slug}"] += [both, *(change.of(spec.name) for spec in series.specs)]
    return answers


def _edit_lists(commits: Sequence[EditingCommit], listed: Sequence[int]) -> dict[str, Any]:
    """The commits that edited instructions, each before one of the listed points, and the paths that they edited."""
    named = commits[-_NAMED:]
    paths = {path: index for index, path in enumerate(dict.fromkeys(path for row in named for path in row.paths))}
    edits = [
        [
            bisect_left(listed, row.point),
            row.commit.short,
            commit_file(row.commit),
            cut(row.commit.subject, 120),
            [paths[path] for path in row.paths],
        ]
        for row in named
    ]
    return {"edits": edits, "paths": list(map(shell_word, paths)), "unnamed": len(commits) - len(named)}


def _fates(*, held: bool) -> list[list[int | None]]:
    """The fate of a cell by its states before and after; None if it is wrong at neither point."""
    runs = [Period(start=0, state=state, expected="", actual="") for state in STATES]
    fates = ((fate_of(before, after, held) for after in runs) for before in runs)
    return [[None if fate is None else FATES.index(fate) for fate in row] for row in fates]


def _judges(points: Sequence[Point]) -> list[str]:
    """The judges of each point, with a digest of the rubrics that ever changed.

    A document keeps its last rubric while points lack it, so that points that only have fewer documents compare equal.
    """
    rubrics = [{each.name: each.rubric for each in point.scorecard.documents if each.rubric} for point in points]
    first = {name: rubric for of_point in reversed(rubrics) for name, rubric in of_point.items()}
    changed = dict.fromkeys(name for of_point in rubrics for name, rubric in of_point.items() if rubric != first[name])
    current, judges_by_point = {name: first[name] for name in changed}, []
    for point, own in zip(points, rubrics, strict=True):
        current |= {name: own[name] for name in changed if name in own}
        judges = point.scorecard.usage.judges if point.scorecard.usage else ()
        digest = f"rubrics {short_digest(' '.join(current.values()))}" if current and own else ""
        judges_by_point.append(", ".join(filter(None, (", ".join(judges)[:160], digest))))
    return judges_by_point


def side_head(series: Series, index: int) -> Markup:
    """What stands above a side behind its name: the end of a paragraph with its report, and further paragraphs."""
    point, copied = series.points[index], series.copied_label(index)
    at, card, commit = point.snapshot, point.scorecard, commit_file(point.snapshot.commit)
    tag, link = ("a", f' href="{text(commit)}"') if commit else ("span", "")
    sha = f"<{tag} class=sha{link}>{at.commit.short}</{tag}>"
    models = f" · {bounded(', '.join(card.usage.models), 160)}" if card.usage and card.usage.models else ""
    copy = f" <span class=pill>{text(labels.same_output(copied))}</span>" if copied else ""
    spread = averaged(series.specs[0], card)
    return Markup(
        f'<a href="{text(at.slug)}.html">{text(at.label)}</a>{copy}</p><p>{bounded(at.commit.subject, 160)}</p>'
        f'<p class="muted small">{sha} {date(at.commit.committed_at)}{models}</p>'
        + (f'<p class="muted small">{text(series.specs[0].label)}: {text(spread)}</p>' if spread else "")
    )


def _point_block(series: Series, index: int, judge: str) -> dict[str, Any]:
    point = series.points[index]
    at, card, first = point.snapshot, point.scorecard, point.first_with_output
    return {
        "head": side_head(series, index),
        "slug": at.slug,
        "label": at.label,
        "commit": commit_file(at.commit),
        "short": at.commit.short,
        "day": day(at.commit.committed_at),
        "again": int("outputs" not in at.cause),
        "values": [card.metric(spec.name) for spec in series.specs],
        "errors": error_numbers(card.counts),
        **({"judge": judge} if judge else {}),
        **({} if first is None else {"same": series.points[first].snapshot.slug}),
        "range": labels.span(point.interval),
    }


class EditingCommit(Frozen):
    """A commit that edited instructions which drive the eval."""

    point: int
    """Index of the first point after the edit, which is between this point and the previous one."""
    commit: Commit
    paths: tuple[str, ...]


def editing_commits(series: Series) -> tuple[EditingCommit, ...]:
    """The commits that edited instructions of an eval, oldest first."""
    commits = []
    for index, point in enumerate(series.points):
        # In the order of commits; a position is hashed faster than a whole commit.
        for edits in grouped((edit.commit.position, edit) for edit in point.edits).values():
            paths = tuple(dict.fromkeys([edit.path for edit in edits])) if len(edits) > 1 else (edits[0].path,)
            commits.append(EditingCommit(point=index, commit=edits[0].commit, paths=paths))
    return tuple(commits)


def commit_file(commit: Commit) -> str:
    """Address of the page of a commit, relative to the page of comparisons; empty for uncommitted changes."""
    return "" if commit.sha == WORKTREE else _ROOT + links.commit(commit.sha)


def shell_word(path: str) -> str:
    """A path as a command in the terminal needs it."""
    return shlex.quote(line(path, 300))


class CompareView(Frozen):
    """What ``pages/compare.html`` shows."""

    series: Series
    data: CompareData
    answers: CompareData | None = None
    """The variants and models of the newest output; None if there is nothing to compare."""
    prompts: Mapping[int, dict[str, RenderedPatch]] = {}
    """How instructions differ between the earlier points and the newest, by file, as far as the page has room."""

    def change(self, earlier: int) -> Change:
        """What became of the eval from an earlier point to the newest."""
        return self.data.changes[earlier, len(self.series.points) - 1]

    def verdict(self, earlier: int) -> tuple[Markup, bool]:
        """The answer for the change since an earlier point; whether it says what was fixed and broke."""
        return answer(self.series, (earlier, len(self.series.points) - 1), self.change(earlier).verdict)

    @property
    def passages(self) -> FlippedFields:
        """The addresses of the passages of all diffs."""
        diffs = ((index, path, patch) for index, files in self.prompts.items() for path, patch in files.items())
        return fields_and_passages((), {f"{index} {path}": patch.hunks for index, path, patch in diffs})

    def diff_of(self, earlier: int, edits: Iterable[EditingCommit]) -> str:
        """The command that shows all edits since an earlier point as one diff."""
        ends = (self.series.points[at].snapshot.commit for at in (earlier, -1))
        paths = dict.fromkeys(shell_word(path) for of_commit in edits for path in of_commit.paths)
        sides = " ".join(commit.short for commit in ends if commit.sha != WORKTREE)
        return f"git diff {sides} -- {' '.join(paths)}"


def compare_page(
    series: Series,
    data: CompareData,
    draw: Callable[[Sequence[Edit], Commit], dict[str, RenderedPatch]] | None = None,
    answers: CompareData | None = None,
) -> Page:
    """The page of an eval with two points or more, or with ``answers`` of several variants or models to compare.

    ``draw`` draws edits since a commit as diffs, if they are shown.
    """
    commits = {at: series.points[at].snapshot.commit for at in data.earlier}
    prompts = {at: draw(edits_since(series, at), commit) for at, commit in commits.items()} if draw else {}
    view = CompareView(series=series, data=data, answers=answers, prompts=prompts)
    return Page(links.compare(series.info.id), "pages/compare.html", view)


def address(where: Mapping[str, str]) -> str:
    """The address of the answers with a value on each of some axes beside the best others."""
    return f"compare.html#{urlencode({'m': ','.join(map('='.join, where.items()))})}"


def edits_since(series: Series, index: int) -> list[Edit]:
    """The edits from a point to the newest, with those of one file as one: from its first text to its last."""
    spans: dict[str, tuple[Edit, Edit]] = {}  # the first edit of each file and the last, by its path then
    for edit in (edit for point in series.points[index + 1 :] for edit in point.edits):
        moved = spans.pop(edit.old.path, None) if edit.status == "renamed" and edit.old else None
        first, _ = moved or spans.get(edit.path, (edit, edit))
        spans[edit.path] = (first, edit)
    return [
        edit if edit is first else replace(edit, status="combined", old=first.old)
        for first, edit in spans.values()
        if edit is first or (first.old and edit.new)
    ]
