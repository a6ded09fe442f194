"""The pages of the invented sample, written to a folder the way a build writes them."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from sitegen.analysis.blame import field_summaries
from sitegen.analysis.causes import causes_of, count_causes
from sitegen.analysis.flips import flips
from sitegen.analysis.regressions import steps_of
from sitegen.config.models import Mute
from sitegen.engine.summary import summary_file
from sitegen.engine.worker_context import Renderer
from sitegen.model.changes import Moved
from sitegen.model.commits import WORKTREE
from sitegen.model.metrics import Metric
from sitegen.model.outcomes import WRONG, Cell, CellFlip, Flips, Period
from sitegen.model.series import EvalSummary, Point, Series
from sitegen.model.site import Page, RawFile
from sitegen.model.timeline import CommitRecord, InstructionHistory
from sitegen.pages.commit import CommitView, EvalMove, commit_effect
from sitegen.pages.compare import compare_data, compare_page
from sitegen.pages.data import exports, search
from sitegen.pages.data.feed import feed_file
from sitegen.pages.data.series import series_files
from sitegen.pages.field import fields_page
from sitegen.pages.instructions import EditEffects, FileEdit
from sitegen.pages.other_pages import NO_JEKYLL, failed_page, methods_page, not_found_page, problems_page, score_changes
from sitegen.pages.overview.page import SiteCounts
from sitegen.pages.regressions import regressions_page
from sitegen.pages.report import tree_source
from sitegen.pages.report.page import ReportView
from sitegen.pages.report.report_rows import rows_file
from sitegen.pages.report.tree import PagePicture, TreeView, tree_page
from sitegen.pages.report.tree_source import citations, with_source
from sitegen.pages.trend.page import TrendView
from sitegen.pages.trend.trend_rows import older_rows
from sitegen.scoring.evidence import Evidence
from sitegen.text.patch import PatchLine
from sitegen.text.words import SearchedText
from tests import pages_sample as sample
from tests.browser import diff_pages
from tests.pictures import png

COUNTS = SiteCounts(commits=121, edits=14, better=9, worse=3, problems=count_causes(causes_of(sample.PROBLEMS)))
FLIPS = Flips((("consignee.city", 2), ("route.eta", 1)), (("remarks", 1),), (("consignee.city", 3), ("incoterm", 1)))
FIXED = tuple(
    CellFlip(
        fate="fixed",
        cell=Cell(document=text, path=text, attribute="remarks", extra=False, periods=(WAS,)),
        before=WAS,
        after=Period(start=1, state="correct", expected=WAS.expected, actual=WAS.expected),
    )
    for text in sample.NASTY
    for WAS in [Period(start=0, state="wrong_value", expected=f'"{text[:150]}"', actual=f'"{text[:150]}?"')]
)


SCAN = PagePicture(path=f"evals/{sample.series().info.id}/source/2.png", oid="2", width=1200, height=100)


@cache
def _evals() -> tuple[Series, ...]:
    return (sample.series(), sample.single(), sample.none_yet(), sample.long(), sample.gone())


@cache
def _summaries() -> tuple[EvalSummary, ...]:
    return tuple(map(sample.summary, _evals()))


@cache
def pages() -> tuple[Page, ...]:
    """One page of every sort, or several where they differ in more than their data."""
    series, every, head = sample.series(), _evals(), sample.commit(120)
    latest = tuple(
        EditEffects((FileEdit(edit, edit.path),), sample.effects(series, edit.commit.position // 2))
        for edit in map(sample.edit, (115, 105, 95, 1))
    )
    fallen = _fallen(_falls())
    muted = Mute(eval=fallen.info.id, commit=fallen.steps[0].commit.sha, why=sample.SCRIPT)
    lines = (
        PatchLine("removed", sample.LONG * 9, old=1, new=None),
        PatchLine("added", sample.LONG * 8, old=None, new=1),
    )
    undo = (latest[0].edits[0], lines, 2), "git checkout HEAD~1 -- waybill.md", latest[0].effects
    more = {"score_changes": score_changes(sample.PROBLEMS), "undo": undo}
    out = [
        sample.overview_page(_summaries(), head, COUNTS, latest, **more),
        *_uncommitted(series),
        problems_page(causes_of(sample.PROBLEMS), tuple(one.info for one in every), head, "main"),
        regressions_page((_summaries()[0], _summaries()[3], fallen), (muted,), {}),
        methods_page((("fields", sample.SPECS),)),
        fields_page(
            [
                replace(summary, fields=field_summaries(one))
                for one, summary in (*zip(every, _summaries(), strict=True), (_nasty_cells(series), _summaries()[0]))
            ],
            latest,
        ),
        not_found_page(None),
        failed_page("failed.html", sample.PROBLEMS[0]),
    ]
    for one in every:
        steps = steps_of(one)
        out.append(sample.trend(one, steps=(*(replace(step, at=step.at // 2) for step in steps), *steps)))
    out += [_report(series, index) for index in (0, 30, 59)]
    out += [_nasty(series), _sourced(series)]
    out.append(_report(sample.single(), 0, ("f-001", "f-002", "f-003")))
    out += [
        _compared(_with_flips_of_cells(series)),
        _compared(sample.long()),
        *sample.field_pages(series)[:2],
        *sample.field_pages(_nasty_cells(series)),
        *diff_pages.pages(),
    ]
    return tuple(out)


def _compared(series: Series) -> Page:
    return compare_page(series, compare_data(series, ()))


def _uncommitted(series: Series) -> Iterator[Page]:
    """The overview of a watched site: after an edit with all that may be said of it, and before any."""
    before, after = series.points[-2:]
    nasty = Flips(
        fixed=tuple((text, number) for number, text in enumerate(sample.NASTY[:6])),
        broken=tuple((text, 4) for text in sample.NASTY[:6]),
        appeared=(("a", 1),),
    )
    after_flips = sample.compared(before, after, FLIPS)
    assert after_flips.change is not None
    found = commit_effect(replace(series, specs=series.specs[:3]), before, after_flips, after_flips.change)
    found = replace(found, change=replace(found.change, flips=nasty))
    ends = sample.headline(before), (sample.headline(after),)
    move = EvalMove(series.info, series.specs[:3], *ends, ("outputs",), found)
    record = CommitRecord(
        commit=replace(sample.commit(121), sha=WORKTREE), changes=(), other_changes=2, snapshots=(), edits=()
    )
    view = CommitView(record=record, moves=(move,), changed=(), names={})
    summaries, head = _summaries()[:1], sample.commit(120)
    for name, uncommitted in (("edited", view), ("unedited", None)):
        page = sample.overview_page(summaries, head, COUNTS, uncommitted=uncommitted, worktree=True)
        yield replace(page, path=f"{name}.html")


def _with_flips_of_cells(series: Series) -> Series:
    """The series, with changes that count the cells that the page of comparisons lists."""
    first, *others = series.points
    points = (sample.with_flips(point, flips(series.cells, at, at + 1)) for at, point in enumerate(others))
    return replace(series, points=(first, *points))


def _nasty_cells(series: Series) -> Series:
    """Names, paths, documents and values that a page must survive."""
    runs = tuple(
        Period(start=index, state="wrong_value", expected=f'"{text[:150]}', actual=f'"{text[:149]}?')
        for index, text in enumerate(sample.NASTY[: len(series.points)])
    )
    cells = (
        Cell(document=text, path=f"{text}[0]", attribute=sample.SCRIPT, extra=index % 2 == 1, periods=runs)
        for index, text in enumerate(sample.NASTY)
    )
    return replace(series, cells=sample.cell_map(len(series.points), tuple(cells)))


def more_pages() -> list[Page]:
    """What those pages lead to, of which there are many alike."""
    evals = (sample.series(), sample.single(), sample.long(), sample.gone())
    falls = _falls()
    named = _cells_named(sample.series(), tuple(one.attribute for one in sample.nasty_judgements()))
    return [
        *(page for one in (*evals, named) for page in sample.field_pages(one)),
        _compared(_nasty_cells(sample.gone())),
        _compared(falls),
        *(_report(sample.series(), index) for index in (17, 58)),
    ]


def _cells_named(series: Series, attributes: tuple[str, ...]) -> Series:
    """A cell that is wrong for each of these attributes."""
    cells = (
        Cell(
            document="",
            path=name,
            attribute=name,
            extra=False,
            periods=(Period(start=0, state="omission", expected="1", actual=""),),
        )
        for name in dict.fromkeys(attributes)
    )
    return replace(series, cells=sample.cell_map(len(series.points), tuple(cells)))


@cache
def _falls() -> Series:
    """An eval that fell twice and rose once."""
    levels = [0.9] * 20 + [0.6] * 10 + [0.9] * 10 + [0.4] * 20
    points = tuple(
        replace(point, scorecard=replace(point.scorecard, metrics=(Metric("f1", level),)))
        for point, level in zip(sample.points(len(levels)), levels, strict=True)
    )
    return replace(sample.series(), info=replace(sample.none_yet().info, name=sample.SCRIPT), points=points)


def _fallen(falls: Series) -> EvalSummary:
    """Its summary, with names that a page must survive."""
    one = sample.summary(falls)
    edits = tuple((text, sample.commit(3).sha) for text in sample.NASTY)
    fields = tuple(Moved(text, 1.0, 4.5) for text in sample.NASTY[:3])
    steps = (
        replace(step, commit=replace(step.commit, subject=sample.LONG), edits=edits, fields=fields, documents=(3, 5))
        for step in one.steps
    )
    return replace(one, steps=tuple(steps))


def raw_files() -> list[RawFile]:
    """Files without a template."""
    every, summaries = _evals(), _summaries()
    log = [search.iteration_entry(one.info, at) for one in every for at in one.history.snapshots] + [
        search.edit_entry(sample.edit(at)) for at in range(1, 120, 5)
    ]
    fields = [(one.info.id, sample.FIELDS, ()) for one in every if one.points]
    edits = (sample.edit(1),)
    files = [
        InstructionHistory(sample.edit(1).path, edits),
        InstructionHistory("prompts/hazard classes.md", edits, deleted=True),
    ]
    out = [
        NO_JEKYLL,
        RawFile(SCAN.path, png(SCAN.width, SCAN.height, 200)),
        exports.index_file("0" * 40, "main", summaries, tuple(file.path for file in files), 4),
        search.list_file(summaries, files, fields, len(log)),
        search.fields_file(sample.FIELDS),
        *search.shards(log),
        *(search.values_file(one) for one in every if one.points),
        feed_file(sample.SITE, sample.commit(120), summaries),
        summary_file(sample.SITE, sample.commit(120), summaries, (), (), ()),
    ]
    for one in every:
        out += series_files(one)
    return out


def _report(series: Series, index: int, documents: tuple[str, ...] = ("",)) -> Page:
    point = series.points[index]
    before: Point | None = series.points[index - 1] if index else None
    judged = sample.judgements(index + 1, 60 if index > 50 else 400, documents)
    result = replace(sample.result(judged), scorecard=point.scorecard)
    wrong = frozenset(
        (one.document, one.path) for one in sample.judgements(index, 300, documents) if one.outcome in WRONG
    )
    if before:
        point = sample.compared(before, point, FLIPS)
    since, fixed = sample.since(index - 1, wrong), FIXED if before else ()
    return sample.report(series, point, before, result, wrong_since=since, fixed=fixed).page


def _nasty(series: Series) -> Page:
    judged = sample.nasty_judgements() + sample.judgements(3, 900, ("f-1", "f-2", "f-3"), 12)
    result = sample.result(judged)
    point = sample.compared(series.points[40], replace(series.points[41], scorecard=result.scorecard), FLIPS)
    return sample.report(series, point, series.points[40], result, problems=sample.PROBLEMS).page


def _sourced(series: Series) -> Page:
    """Ground truth beside output, with quotes from a text, a page as a picture, and a page that there is not."""
    documents = ("f-001", "f-002")
    page = tree_page(series.info, series.points[7].snapshot, sample.result(sample.judgements(8, 200, documents)))
    assert isinstance(page.view, TreeView)
    evidence = {
        "f-001": {"waybill.number": Evidence(1, "waybill  MSKU-2025"), "totals.freight": Evidence(1, sample.SCRIPT)},
        "f-002": {"cargo[0]": Evidence(2, "25 kg"), "totals.freight": Evidence(3, "")},
    }
    text = SearchedText(f"{sample.LONG}\nWaybill no: waybill MSKU-2025-00417\n")
    cited = tuple(citations(page.view.root, evidence, several=True))
    pages: dict[str, dict[int | None, tree_source.SourcePage]] = {"f-001": {1: text}, "f-002": {2: SCAN}}
    return Page(page.path, page.template, with_source(page.view, cited, pages))


def write(folder: Path, renderer: Renderer, with_more: bool = True) -> None:
    """Every page and file below ``folder``, or those without what they lead to."""
    for page in (*(more_pages() if with_more else ()), *pages()):
        _write(folder / page.path, renderer.render(page))
        if isinstance(page.view, ReportView) and (rows := rows_file(page.view)):
            _write(folder / rows.path, rows.content)
        if isinstance(page.view, TrendView) and (rows := older_rows(page.view)):
            _write(folder / rows.path, rows.content)
    for file in (*raw_files(), *renderer.assets()):
        _write(folder / file.path, file.content)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
