"""An invented project for tests of pages: evals, instructions and results as models, without git and without scoring.

Deterministic: a small generator of its own instead of ``random``, so that no Python version changes a number.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

from msgspec.structs import replace

from sitegen.analysis.blame import Blame
from sitegen.analysis.cells import CellTracker
from sitegen.analysis.change import best_points, change_between
from sitegen.analysis.edits import OutputEdits
from sitegen.analysis.effects import best_output
from sitegen.analysis.flips import flips
from sitegen.analysis.noise.samples import interval_of
from sitegen.analysis.regressions import steps_of
from sitegen.analysis.standing import standings
from sitegen.model.changes import Change, ChangeVerdict, DeltaParts, Ends, MetricDelta, Overlap
from sitegen.model.commits import Commit
from sitegen.model.metrics import Counts, Metric
from sitegen.model.outcomes import (
    ERROR_TYPES,
    Cell,
    CellKey,
    CellMap,
    Flips,
    Judgement,
    Outcome,
    Period,
    Unusable,
    Value,
)
from sitegen.model.problems import Finding, Problem
from sitegen.model.scorecards import (
    AlignmentPanel,
    AlignmentRow,
    DocumentScore,
    FieldScore,
    NotePanel,
    Panel,
    Result,
    Scorecard,
    Status,
    TablePanel,
)
from sitegen.model.series import Effect, EvalInfo, EvalSummary, Headline, Point, Series, SuspectTruth
from sitegen.model.site import Page, SiteInfo
from sitegen.model.timeline import Blob, Cause, Edit, EvalHistory, Snapshot
from sitegen.pages.field import field_page, last_change
from sitegen.pages.instructions import EditEffects
from sitegen.pages.overview.page import OverviewView, SiteCounts
from sitegen.pages.report.page import ReportView
from sitegen.pages.trend.page import trend_page
from sitegen.stats.counts import FIELD_ACCURACY, RATIOS, error_numbers, f1, tally, total
from tests.sites import renderer_of

SITE = SiteInfo(
    title="Freight desk",
    version="0.1.0",
    repository_url="https://example.org/freight/desk",
    base_url="https://example.org/desk",
)

_RATIOS = (*RATIOS, FIELD_ACCURACY)
SPECS = tuple(ratio.spec for ratio in _RATIOS)

SCRIPT = "</script><script>alert(1)</script>"
RTL = "שלום \u202eevil\u202c עולם"
LONG = "lorem ipsum dolor sit amet " * 200
INVISIBLE = "Zero\u200bwidth\u2060join"
EMOJI = "👩🏽‍🚀 crew & <b>cargo</b>"
NASTY = (SCRIPT, RTL, LONG, INVISIBLE, EMOJI, "\"' onmouseover=alert(1)", "{{ 7 * 7 }}", "javascript:alert(1)")

FIELDS = (
    *("waybill.number", "waybill.issued_on", "waybill.currency"),
    *("shipper.name", "shipper.city", "shipper.country", "shipper.tax_id"),
    *("consignee.name", "consignee.city", "consignee.country", "consignee.phone"),
    *("cargo[].description", "cargo[].packages", "cargo[].weight_kg", "cargo[].hazard_class", "cargo[].amount"),
    *("route.port_of_loading", "route.port_of_discharge", "route.vessel", "route.eta"),
    *("totals.packages", "totals.weight_kg", "totals.freight", "remarks", "incoterm"),
)

_SUBJECTS = (
    "Read totals from the last page",
    "Say how dates are written",
    "Ask for the port code, not the city",
    "Correct the ground truth of two waybills",
    "Shorten the section on hazard classes",
    "Add an example with a blank consignee",
    "Try the extraction again",
    "Name the unit of every weight",
)
_AUTHORS = ("Mina Okafor", "Tomás Ruiz", "Ji-woo Han")


class _Dice:
    """A linear congruential generator: the same numbers everywhere."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, bound: int) -> int:
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % bound


def commit(position: int, subject: str | None = None) -> Commit:
    """The commit at a position of the first-parent line."""
    sha = hashlib.sha1(b"%d" % position).hexdigest()
    month, day = divmod(position * 2, 28)
    return Commit(
        sha=sha,
        position=position,
        author=_AUTHORS[position % len(_AUTHORS)],
        committed_at=f"2025-{month % 12 + 1:02}-{day + 1:02}T{8 + position % 10:02}:12:45+01:00",
        subject=subject if subject is not None else _SUBJECTS[position % len(_SUBJECTS)],
    )


def edit(position: int, path: str = ".claude/instructions/waybill.md") -> Edit:
    """A modification of one instruction file."""
    return Edit(
        commit=commit(position),
        path=path,
        status="modified",
        old=Blob(path, f"{position:040x}"),
        new=Blob(path, f"{position + 1:040x}"),
    )


_EXPECTED: dict[str, Value] = {
    "waybill.number": "MSKU-2025-00417",
    "waybill.issued_on": "2025-03-14",
    "shipper.name": "Havn & Sønner Eksport AS",
    "consignee.city": "Valparaíso",
    "cargo[].description": "Dried cod, first quality, in cartons of 25 kg",
    "cargo[].packages": 120,
    "cargo[].weight_kg": Decimal("3000.50"),
    "cargo[].amount": Decimal("18450.00"),
    "totals.freight": Decimal("2140.75"),
    "route.port_of_loading": "NOAES",
}
_ACTUAL: dict[str, Value] = {
    "waybill.number": "MSKU-2025-00471",
    "waybill.issued_on": "14.03.2025",
    "shipper.name": "Havn and Sonner Export AS",
    "consignee.city": "Valparaiso",
    "cargo[].description": "Dried cod, second quality, in cartons of 20 kg",
    "cargo[].packages": "120",
    "cargo[].weight_kg": Decimal("300.05"),
    "cargo[].amount": Decimal("1845.00"),
    "totals.freight": Decimal("2410.75"),
    "route.port_of_loading": "Ålesund",
}


def judgement(path: str, outcome: Outcome, expected: Value = None, actual: Value = None, **more: Any) -> Judgement:
    """One value judged. ``more``: its document, a note and the like."""
    found = {"document": "", "attribute": re.sub(r"\[\d+]", "[]", path), **more}
    return Judgement(path=path, outcome=outcome, expected=expected, actual=actual, **found)


def cell(document: str, path: str, *periods: Period, extra: bool = False, named_path: str = "") -> Cell:
    """A cell with these periods."""
    return Cell(
        document=document,
        path=path,
        attribute=re.sub(r"\[\d+]", "[]", path),
        extra=extra,
        periods=periods,
        named_path=named_path,
    )


def judgements(seed: int, wrong_in_1000: int, documents: tuple[str, ...] = ("",), items: int = 4) -> list[Judgement]:
    """Every field of every document judged, about ``wrong_in_1000`` of them wrong."""
    dice = _Dice(seed)
    out = []
    for document in documents:
        for attribute in FIELDS:
            for index in range(items if "[]" in attribute else 1):
                path = attribute.replace("[]", f"[{index}]")
                expected = _EXPECTED.get(attribute, f"Value of {attribute}")
                if dice.below(1000) >= wrong_in_1000:
                    blank = dice.below(12) == 0
                    value = None if blank else expected
                    out.append(
                        judgement(path, "true_negative" if blank else "correct", value, value, document=document)
                    )
                else:
                    out.append(_wrong(dice, document, path, attribute, expected))
    return out


def _wrong(dice: _Dice, document: str, path: str, attribute: str, expected: Value) -> Judgement:
    kind: Outcome = ERROR_TYPES[(0, 0, 1, 2, 2, 2, 3)[dice.below(7)]]
    if kind == "omission":
        return judgement(path, kind, expected, document=document)
    if kind == "hallucination":
        note = ("expected blank", "not in ground truth")[dice.below(2)]
        return judgement(path, kind, None, _ACTUAL.get(attribute, "Made up"), document=document, note=note)
    if kind == "format_error":
        return judgement(path, kind, 120, "one hundred and twenty", document=document)
    return judgement(path, kind, expected, _ACTUAL.get(attribute, f"{expected} or so"), document=document)


def metrics_of(counts: Counts) -> tuple[Metric, ...]:
    """The metrics of ``SPECS``."""
    return tuple(Metric(ratio.name, ratio.of(counts)) for ratio in _RATIOS)


def card(documents: Mapping[str, Counts] | None = None, /, **more: Any) -> Scorecard:
    """A scorecard with the F1 of documents that have these counts. ``more``: further fields, or others than these."""
    scores = tuple(DocumentScore(name, "scored", counts) for name, counts in (documents or {}).items())
    whole = total(score.counts for score in scores)
    own = {"status": "scored", "counts": whole, "metrics": (Metric("f1", f1(whole)),), "documents": scores}
    return Scorecard(**{**own, "fields": (), **more})


def scorecard(judged: list[Judgement], status: Status = "scored", findings: tuple[Finding, ...] = ()) -> Scorecard:
    """Counts and metrics of judgements."""
    counts = tally(judged)
    documents = dict.fromkeys(one.document for one in judged)
    attributes = dict.fromkeys(one.attribute for one in judged)
    return Scorecard(
        status=status,
        counts=counts,
        metrics=metrics_of(counts),
        documents=tuple(
            DocumentScore(name, status, tally([one for one in judged if one.document == name])) for name in documents
        ),
        fields=tuple(FieldScore(name, tally([one for one in judged if one.attribute == name])) for name in attributes),
        findings=findings,
        expected_values=counts.tp + counts.fn,
        algorithm="greedy",
    )


def snapshot(number: int, at: Commit, cause: tuple[Cause, ...] = ("outputs",), **more: object) -> Snapshot:
    """One iteration of an eval below ``evals/waybills``."""
    label = f"iteration-{number:03}"
    base = Snapshot(
        iteration=number,
        label=label,
        slug=f"{number:04}" if "outputs" in cause else f"{number:04}-{at.sha[:7]}",
        commit=at,
        cause=cause,
        outputs=(Blob(f"evals/waybills/results/{label}/extracted.json", f"{number:040x}"),),
        ground_truth=Blob("evals/waybills/ground_truth.csv", "a" * 40),
        mapping=Blob("evals/field_mapping.yaml", "b" * 40),
    )
    return replace(base, **more)


def unreadable(judged: list[Judgement]) -> Scorecard:
    """Every expected value omitted: what an output that cannot be read scores."""
    omitted = [replace(one, outcome="omission", actual=None) for one in judged if one.outcome != "hallucination"]
    finding = Finding(
        severity="error", message="The output is no JSON: it ends inside a string.", fix="Extract again.", line=1
    )
    return scorecard(omitted, "unreadable", (finding,))


@cache
def points(number: int = 60, documents: tuple[str, ...] = ("",)) -> tuple[Point, ...]:
    """Points that get better, with a setback, an unreadable output, a missing ground truth and re-scored iterations.

    Of a single document, today's ground truth would find fewer errors in the outputs before it was changed.
    """
    out: list[Point] = []
    followed = cells(number, documents)
    for index in range(number):
        judged = _judged(index, documents)
        card = scorecard(judged)
        cause: tuple[Cause, ...] = ("outputs",)
        if index == 17:
            card = unreadable(judged)
        if index == 30:
            finding = Finding("error", "The ground truth has the column `eta` twice.", "Remove one of the columns.")
            card = Scorecard(
                status="no_ground_truth",
                counts=Counts(),
                metrics=tuple(Metric(s.name, None) for s in SPECS),
                documents=(),
                fields=(),
                findings=(finding,),
            )
        if index in (24, 51):
            cause = ("ground_truth", "mapping") if index == 24 else ("settings",)
        edits = (edit(2 * index + 1),) if index % 5 == 2 else ()
        if index % 15 == 7:
            edits = (*edits, edit(2 * index + 1, "prompts/hazard classes.md"))
        at = snapshot(index + 1 if cause[0] == "outputs" else index, commit(2 * index + 2), cause)
        now = scorecard(judged[5:]) if index < 24 and card.status == "scored" and len(documents) == 1 else card
        before = out[-1] if out else None
        point = Point(snapshot=at, scorecard=card, edits=edits, now=now, stale=index == 51, interval=interval_of(card))
        out.append(compared(before, point, flips(followed, index - 1, index)) if before else point)
    return with_edits_beside(out)


def with_edits_beside(points: Sequence[Point]) -> tuple[Point, ...]:
    edits = OutputEdits([point.snapshot for point in points], [edit for point in points for edit in point.edits])
    return tuple(replace(point, beside=beside) for point, beside in zip(points, edits.beside, strict=True))


def _judged(index: int, documents: tuple[str, ...]) -> list[Judgement]:
    wrong = max(90, 420 - 7 * index + (130 if 38 <= index < 46 else 0) + (index * 37) % 50)
    return judgements(index + 1, wrong, documents)


def cell_map(number: int, some: tuple[Cell, ...]) -> CellMap:
    """Cells of so many points, each of which has the documents that any of its cells is in."""
    documents: dict[str, tuple[int, ...]] = {}
    for name in dict.fromkeys(cell.document for cell in some):
        states = [[cell.at(point) for cell in some if cell.document == name] for point in range(number)]
        held = [any(period is not None and period.state != "absent" for period in here) for here in states]
        documents[name] = tuple(at for at in range(number) if held[at] != (at > 0 and held[at - 1]))
    return CellMap(tuple(range(number)), some, documents)


@cache
def cells(number: int = 60, documents: tuple[str, ...] = ("",)) -> CellMap:
    """The cells of ``points``, and of those again and again."""
    follower = CellTracker()
    for index in range(number):
        at = index % 60
        judged = _judged(at, documents)
        if at == 17:
            judged = [replace(one, outcome="omission", actual=None) for one in judged if one.outcome != "hallucination"]
        follower.follow([] if at == 30 else judged, () if at == 30 else documents)
    return follower.cells()


def history(eval_id: str, some: tuple[Point, ...], deleted: bool = False) -> EvalHistory:
    """The history behind points."""
    return EvalHistory(
        id=eval_id,
        kind="fields",
        layout="iterations",
        snapshots=tuple(p.snapshot for p in some),
        renamed_from=("waybill",),
        deleted=deleted,
    )


WAYBILLS = EvalInfo(
    "waybills",
    "Waybills",
    "Scanned ocean waybills of six carriers, one document an iteration",
    thresholds={"f1": 0.9, "recall": 0.85},
    metadata={"features": "line items, blanks", "pdf": "samples/waybill-7.pdf", "note": SCRIPT},
)
RECEIPTS = EvalInfo("receipts", "Receipts", "Fuel receipts, photographed")
CUSTOMS = EvalInfo("customs", "Customs declarations " + EMOJI, "", thresholds={"f1": 0.95})


@cache
def series(number: int = 60) -> Series:
    """The eval that most pages show."""
    some = points(number)
    return Series(info=WAYBILLS, history=history("waybills", some), specs=SPECS, points=some, cells=cells(number))


@cache
def single() -> Series:
    """An eval with one point and three documents."""
    some = points(1, ("f-001", "f-002", "f-003"))
    return Series(
        info=RECEIPTS,
        history=history("receipts", some),
        specs=SPECS,
        points=some,
        cells=cells(1, ("f-001", "f-002", "f-003")),
    )


@cache
def long(number: int = 500) -> Series:
    """An eval with many points: the sixty of ``points`` again and again, in later commits."""
    some = points()
    out = [
        replace(point, snapshot=snapshot(index + 1, commit(2 * index + 2)), edits=point.edits if index < 60 else ())
        for index in range(number)
        for point in (some[index % 60],)
    ]
    return Series(
        info=EvalInfo("manifests", "Manifests"),
        history=history("manifests", tuple(out)),
        specs=SPECS,
        points=tuple(out),
        cells=cells(number),
    )


@cache
def gone() -> Series:
    """An eval that the newest commit no longer has."""
    some = points(3)
    return Series(
        info=EvalInfo("étiquettes", "Parcel labels"),
        history=history("étiquettes", some, deleted=True),
        specs=SPECS,
        points=some,
        cells=cells(3),
    )


def none_yet() -> Series:
    """An eval with ground truth and no output."""
    return Series(info=CUSTOMS, history=history("customs", ()), specs=SPECS, points=())


def headline(point: Point) -> Headline:
    """A point in a few numbers."""
    at, card = point.snapshot, point.scorecard
    return Headline(
        commit_position=at.commit.position,
        sha=at.commit.sha,
        slug=at.slug,
        label=at.label,
        status=card.status,
        values=tuple(card.metric(spec.name) for spec in SPECS[:3]),
        errors=error_numbers(card.counts),
    )


def overview_page(
    summaries: tuple[EvalSummary, ...],
    head: Commit,
    counts: SiteCounts,
    latest: tuple[EditEffects, ...] = (),
    **more: Any,
) -> Page:
    """The overview of these evals, of which no loss is muted."""
    evals = standings(summaries, ())
    view = OverviewView(
        summaries=summaries, evals=evals, head=head, revision="main", counts=counts, latest=latest, **more
    )
    return view.page


def html_of(page: Page) -> str:
    """The HTML of a page of the site of the samples."""
    return renderer_of(SITE).render(page).decode()


def view_of(page: Page) -> Any:
    """The view model of a page, whose class only its template and its test know."""
    return page.view


def trend(one: Series, **parts: Any) -> Page:
    """Its trend page, with these parts of the summary."""
    best = best_points(one.points, one.specs[:1])[one.specs[0].name]
    return trend_page(one, EvalSummary(info=one.info, specs=one.specs, headlines=(), best=best, **parts))


def field_pages(one: Series) -> list[Page]:
    """The page of each field."""
    blame = Blame(one.cells, [point.snapshot for point in one.points], lambda _: result([]))
    return [
        field_page(replace(one, points=one.points[: last_change(cells) + 1]), blame, attribute, cells)
        for attribute, cells in one.cells.by_attribute.items()
    ]


def summary(one: Series) -> EvalSummary:
    """A series in a few numbers."""
    best = best_points(one.points, one.specs[:1])[one.specs[0].name]
    return EvalSummary(
        info=one.info,
        specs=one.specs[:3],
        headlines=tuple(map(headline, one.points)),
        deleted=one.history.deleted,
        steps=steps_of(one),
        best_output=best_output(one, best[-1] if best else None, [(commit(0),)] * len(one.points)),
        best=best,
    )


def effects(one: Series, at: int) -> tuple[Effect, ...]:
    """What stands before and after the point with an index."""
    heads = [headline(p) for p in one.points]
    before = heads[at - 1] if at else None
    of_one = Effect(info=one.info, before=before, after=heads[at], specs=SPECS[:1])
    return of_one, replace(of_one, info=RECEIPTS, before=None)


def nasty_judgements() -> list[Judgement]:
    """One discrepancy for each string that a page must survive, in values, paths and documents."""

    def remark(place: int, text: str) -> Judgement:
        of_text = {"attribute": "remarks", "document": text[:40], "note": text[:60]}
        return judgement(f"remarks[{place}]", "wrong_value", text, text[::-1], **of_text)

    return [
        *map(remark, range(len(NASTY)), NASTY),
        judgement('extra["a.b<c>"].x', "hallucination", None, [1, {"a": SCRIPT}]),
        judgement("totals.freight", "format_error", Decimal("1E+3"), Unusable("NaN", "NaN")),
        judgement("incoterm", "omission", "FOB", "   "),
        judgement("hidden\udcff", "wrong_value", True, False),
    ]


def result(judged: list[Judgement], panels: tuple[Panel, ...] = ()) -> Result:
    """A result with an alignment and panels of every kind."""
    rows = (
        AlignmentRow(expected=0, actual=0, similarity=1.0, paired_by="key", label="Dried cod, in cartons of 25 kg"),
        AlignmentRow(
            expected=1, actual=2, similarity=0.857142, paired_by="agreement", label="Stockfish <first quality>"
        ),
        AlignmentRow(expected=2, label="Cod roe"),
        AlignmentRow(actual=1, label="Pallets"),
        AlignmentRow(actual=3),
    )
    own: tuple[Panel, ...] = (
        AlignmentPanel(document="", path="cargo", algorithm="greedy", threshold=0.8, rows=rows),
        NotePanel("Two columns of the ground truth are not mapped."),
        TablePanel(
            title="Unmapped columns",
            note="not scored",
            columns=(("Column", "code"), ("Rows", "number")),
            rows=(("eta_2", "4"),),
        ),
    )
    return Result(scorecard(judged, findings=FINDINGS), tuple(judged), panels or own)


FINDINGS = (
    replace(Finding("warning", "The column `eta_2` is not mapped.", "Map it in csv_to_json, or ignore it."), line=1),
    replace(Finding("note", "The key `remarks` occurs twice; the last one counts.", "Write it once."), line=12),
)

OF_OUTPUT = Problem("error", "The output is no JSON: it ends inside a string.", "Extract again.")
OF_TRUTH = Problem("warning", "The column `eta_2` is not mapped.", "Map it, or ignore it.")
STRANGER = Problem("note", f"A stranger in the folder: {SCRIPT}", "Nothing.")
AT_ONE = {"line": 1, "eval_id": "waybills"}
PROBLEMS = (
    replace(OF_OUTPUT, path="evals/waybills/results/iteration-018/extracted.json", commit=commit(36).sha, **AT_ONE),
    replace(OF_TRUTH, path="evals/waybills/ground_truth.csv", commit=commit(4).sha, **AT_ONE),
    replace(STRANGER, path="evals/waybills/results/old\udcff", eval_id="waybills"),
    Problem("warning", "The history is cut off.", "Fetch the whole history: git fetch --unshallow."),
)


NO_FLIPS = Flips()


def compared(before: Point, after: Point, flips: Flips = NO_FLIPS) -> Point:
    """*after* held against *before*: the outputs moved it by more than the whole, the truth took some back."""
    one, other = before.scorecard, after.scorecard
    both = one.documents and other.documents
    shared = Overlap(len(other.documents) if both else 0)
    changes = [(spec.name, one.metric(spec.name), other.metric(spec.name)) for spec in SPECS]
    metrics = (
        MetricDelta(name, None, None)
        if first is None or last is None
        else MetricDelta(name, last - first, DeltaParts(1.5 * (last - first), 0.5 * (first - last), 0.0))
        for name, first, last in changes
    )
    judged = change_between(before, after, flips, headline=SPECS[0])
    return replace(after, change=replace(judged, overlap=shared, metrics=tuple(metrics)))


def with_flips(point: Point, flips: Flips) -> Point:
    """The point, with these cells that flipped since the one before it."""
    return replace(point, change=replace(point.change or Change(Overlap(1), ()), flips=flips))


def verdict(**more: Any) -> ChangeVerdict:
    """A change for the worse, beyond chance. ``more``: what is otherwise."""
    counts = {"fixed": 2, "broken": 9, "counted": (2, 9), "p_value": 0.04, "detectable": 0.05}
    own = {"decision": "worse", "why": "beyond chance", "change": -0.02, "unit": "documents", "n": 9, **counts}
    return ChangeVerdict(**{**own, "interval": Ends(-0.04, -0.01), **more})


def since(index: int, wrong: frozenset[tuple[str, str]]) -> dict[CellKey, int]:
    """Values that are wrong since a point, by (document, path)."""
    return {(*cell, is_extra): index for cell in wrong for is_extra in (False, True)}


def suspect(
    attribute: str, expected: str, actual: str, agreeing: int = 9, outputs: int = 9, **more: Any
) -> SuspectTruth:
    """A label that may be wrong, of one value of an attribute."""
    found = SuspectTruth(
        document="",
        path=attribute,
        attribute=attribute.replace("[0]", "[]"),
        expected=expected,
        actual=actual,
        agreeing=(0, *[1] * (agreeing - 1)),
        outputs=outputs,
    )
    return replace(found, **more)


def report(series: Series, point: Point, previous: Point | None, result: Result, **more: Any) -> ReportView:
    """The report of a point of a series. ``more``: other fields of the view."""
    at = point.snapshot.commit.position
    snapshots = [one.snapshot for one in series.points if one.snapshot.commit.position <= at]
    fields = {"info": series.info, "specs": series.specs, "limit": 50, "snapshots": snapshots, **more}
    return ReportView(**fields, point=point, previous=previous, result=result)
