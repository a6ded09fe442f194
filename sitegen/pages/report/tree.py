"""The page that shows ground truth and output side by side, as one tree with list items paired as in scoring."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from markupsafe import Markup

from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import ERROR_TYPES, EXTRA_ITEM, MISSING_ITEM, Judgement
from sitegen.model.scorecards import AlignmentRow, Result
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.pages.html.cells import LONGEST_NAME, RowCache, text, value_cells
from sitegen.pages.html.formats import bounded, path
from sitegen.pages.labels import ERROR_LABELS
from sitegen.pages.report.discrepancies import likely_items, placed_error
from sitegen.text.values import as_text
from sitegen.text.words import QuotedPassage

_STEP: Final = re.compile(r'\[\d+\]|\["(?:[^"\\]|\\.)*"\]|\.?[^.\[]+')
_DEEPEST: Final = 12  # number of levels of the tree; deeper values are named by their paths
_WHOLE: Final = {EXTRA_ITEM: "not expected", MISSING_ITEM: "missing"}


class TreePlace(Frozen):
    """The place of values in the tree: their nodes."""

    nodes: tuple[str, ...]
    """Keys of the nodes above it, the outermost first; an extra item has another key than the expected item there."""
    items: tuple[int, ...]
    """Indices of the nodes that are list items."""
    item_name: str
    whole: str
    """``missing`` or ``not expected`` if only one side has that item."""


class TreeValue(Frozen):
    """A value in the tree; the same object for the same judgement in any report."""

    place: TreePlace
    name: str
    """Its name below the innermost node."""
    judgement: Judgement
    row: str
    stated: str
    """The row of the evidence that the output states for it; empty if it states none."""

    def __len__(self) -> int:
        return len(self.row) + len(self.stated)


class TreeNode:
    """A document, an object or a list item, with the nodes and values below it. It is filled while values are read."""

    def __init__(self, name: str) -> None:
        """A node without values yet."""
        self.name = name
        self.values: list[TreeValue] = []
        """The values directly below this node."""
        self.nodes: dict[str, TreeNode] = {}
        self.pair: AlignmentRow | None = None
        """The item of the output with which a list item was paired."""
        self.errors = 0
        """Number of errors of all values below."""
        self.errors_before = 0
        """Number of errors that the page shows before it, without those of items that only one side has."""
        self.judged = 0
        self.whole = ""
        """``missing`` or ``not expected`` for a list item that only one side has."""
        self.guess = ""
        """The missing item that one that is not expected may be (``likely_items``)."""

    def count(self, before: int = 0) -> None:
        """Count the values, once all are added. ``before``: ``errors_before``."""
        self.errors_before = before
        self.errors = sum([value.judgement.outcome in ERROR_TYPES for value in self.values])
        before += self.errors
        below = self.nodes.values()
        for node in below:
            node.count(before)
            before += 0 if node.whole else node.errors
            self.errors += node.errors
        self.judged = len(self.values) + sum(node.judged for node in below)


def value_tree(judgements: Sequence[Judgement], result: Result) -> TreeNode:
    """The tree of all values by path. With several documents, each is a separate node."""
    pairs = {
        (alignment.document, f"{alignment.path}[{pair.expected}]"): pair
        for alignment in result.alignments
        for pair in alignment.pairs
    }
    several = len(result.scorecard.documents) > 1
    likely = likely_items([placed_error(one) for one in judgements if one.note in (MISSING_ITEM, EXTRA_ITEM)])
    root = TreeNode("")
    nodes: dict[tuple[str, ...], TreeNode] = {(): root}
    node, last, document = root, None, ""
    for judgement, value in zip(judgements, tree_value.rows_of(judgements), strict=True):
        place = value.place
        if place == last and judgement.document == document:
            node.values.append(value)
            continue
        last, document = place, judgement.document
        above: tuple[str, ...] = (document,) if several else ()
        way = (*above, *place.nodes)
        if way not in nodes:
            if above not in nodes:
                nodes[above] = root.nodes[document] = TreeNode(document or "—")
            _add_nodes(nodes, above, place, judgement, pairs)
        node = nodes[way]
        if place.items:
            item = node if len(place.nodes) == place.items[-1] + 1 else nodes[way[: len(above) + place.items[-1] + 1]]
            item.name = place.item_name
            item.whole = place.whole or item.whole
            item.guess = (
                likely.get((document, placed_error(judgement).item), "") if judgement.note == EXTRA_ITEM else ""
            )
        node.values.append(value)
    root.count()
    return root


def _add_nodes(
    nodes: dict[tuple[str, ...], TreeNode],
    above: tuple[str, ...],
    place: TreePlace,
    judgement: Judgement,
    pairs: Mapping[tuple[str, str], AlignmentRow],
) -> None:
    node, path = nodes[above], ""
    for depth, key in enumerate(place.nodes):
        step = key[:-1] if place.whole == _WHOLE[EXTRA_ITEM] and depth == place.items[-1] else key
        path += step
        way = (*above, *place.nodes[: depth + 1])
        if way not in nodes:
            name = _name(judgement, path) if depth in place.items else step.removeprefix(".")
            nodes[way] = node.nodes[key] = TreeNode(name)
            nodes[way].pair = None if key != step else pairs.get((judgement.document, path))
        node = nodes[way]


def _tree_place(judgement: Judgement) -> tuple[TreePlace, str]:
    """The place of a value by its path, and the name of the value there."""
    path, note = judgement.path, judgement.note
    steps = _STEP.findall(path)[:_DEEPEST][:-1]
    items = tuple(depth for depth, step in enumerate(steps) if step[1:-1].isdigit())
    inside = len("".join(steps))
    item = "".join(steps[: items[-1] + 1]) if items else ""
    if items and note == EXTRA_ITEM:
        steps[items[-1]] += "+"
    place = TreePlace(
        nodes=tuple(steps), items=items, item_name=_name(judgement, item), whole=_WHOLE.get(note, "") if items else ""
    )
    return place, path[inside:].removeprefix(".")


def _name(judgement: Judgement, above: str) -> str:
    """The path ``above`` with list items by name, if the rest of the path has no list items."""
    rest = judgement.path[len(above) :]
    return judgement.label.removesuffix(rest) if judgement.label.endswith(rest) else above


def _tree_value(judgement: Judgement) -> TreeValue:
    kind = judgement.outcome
    place, own_name = _tree_place(judgement)
    name = path(own_name)
    if kind == "true_negative":
        row = f"<tr><th scope=row>{name}<td class=c-expected><i>blank</i><td class=c-actual><i>blank</i>"
    elif kind == "correct":
        same = " class=same" if as_text(judgement.expected) == as_text(judgement.actual) else ""
        row = f"<tr{same}><th scope=row>{name}{value_cells(judgement)}"
    else:
        row = f"<tr class=w><th scope=row>{name}<span class=vh> {ERROR_LABELS[kind]}</span>{value_cells(judgement)}"
    stated = (
        f"<tr class=src><td colspan=3><small>states {text(judgement.evidence)}</small>" if judgement.evidence else ""
    )
    return TreeValue(place=place, name=own_name, judgement=judgement, row=row, stated=stated)


tree_value: Final = RowCache[Judgement, TreeValue](_tree_value)
"""The value of a judgement, with its row."""


VALUES: Final = 2_000
"""Largest number of values on the page."""

_OPEN_ERRORS: Final = 30  # number of errors in open parts of the tree after which the further parts are folded


class SourceNote(Frozen):
    """The place of a value in the source according to the output, and the result of its check."""

    page: int | None
    quote: str
    """The quote; empty if there is none, or if ``passage`` contains it."""
    passage: QuotedPassage | None
    anchor: str
    """Anchor of the picture; empty without a picture."""
    remark: str
    """The problem with page or quote, or why the page is not shown, in words; empty without a problem."""
    is_doubtful: bool = False
    """Whether the remark is a hint at a hallucination."""
    confidence: str = ""
    """As the output states it; empty if it states none."""

    @property
    def source_line(self) -> str:
        """Page and quote of a value, with the words around the quote if the source is a text."""
        page = "" if self.page is None else f" p. {self.page}"
        if self.anchor:
            page = f' <a href="#{self.anchor}">{page.strip() or "page"}</a>'
        quote = ""
        if self.passage:
            before, inside, after = map(bounded, self.passage)
            quote = f" {before}<mark>{inside}</mark>{after}"
        elif self.quote:
            quote = f" <q>{bounded(self.quote, LONGEST_NAME)}</q>"
        remark = (
            f' <span class="pill{" bad" if self.is_doubtful else ""}">{text(self.remark)}</span>' if self.remark else ""
        )
        confidence = f" <small>confidence {text(self.confidence)}</small>" if self.confidence else ""
        source = f"<small>Source{page}</small>{quote}" if page or quote else ""
        return f"{source}{confidence}{remark}"


class PagePicture(NamedTuple):
    """A picture of a page of the source."""

    path: str
    """Address in the site."""
    oid: str
    width: int
    height: int


class TreeView(Frozen):
    """What ``pages/tree.html`` shows."""

    info: EvalInfo
    snapshot: Snapshot
    root: TreeNode
    report: str
    """Address of the report, relative to this page."""
    more: int
    notes: Mapping[tuple[TreeNode, str], SourceNote] = MappingProxyType({})
    """By node and name of a value below the node; the name is empty for the node itself."""
    doubtful: frozenset[TreeNode] = frozenset()
    """The nodes with a doubtful note at the node or below it."""
    pictures: tuple[tuple[str, PagePicture], ...] = ()
    """The pages of the source that notes refer to, each after its title; notes refer to the first as ``page-1``."""

    @property
    def tree_rows(self) -> Markup:
        """The values of the root, then a part that folds for each node below it, the first with errors open."""
        return Markup(f"{self._values(self.root)}{''.join(map(self._node, self.root.nodes.values()))}")

    def _node(self, node: TreeNode) -> str:
        is_wrong = node.errors and not node.whole and node.errors_before < _OPEN_ERRORS
        is_open = " open" if is_wrong or node in self.doubtful else ""
        below = "".join([self._node(child) for child in node.nodes.values()])
        source = f'<p class="src">{note.source_line}</p>' if (note := self.notes.get((node, ""))) else ""
        pair, paired, nouns = node.pair, "", self.info.nouns
        if pair and (pair.expected != pair.actual or pair.paired_by == "agreement"):
            places = f"[{pair.expected}] in the ground truth, [{pair.actual}] in the output"
            paired = f" <small>({places}, paired by {pair.paired_by})</small>"
        if node.whole:
            state = f'<span class="pill bad">{node.whole}</span>{node.guess and f"<small>{text(node.guess)}</small>"}'
        elif node.errors:
            state = f'<span class="pill bad">{node.errors:,} of {node.judged:,} wrong</span>'
        else:
            noun = nouns.attribute if node.judged == 1 else nouns.attributes
            state = f"<small>{node.judged:,} {text(noun)}, all right</small>"
        return (
            f"<details{is_open}><summary><b>{text(node.name)}</b> {state}{paired}</summary>"
            f"{source}{self._values(node)}{below}</details>\n"
        )

    def _values(self, node: TreeNode) -> str:
        if not node.values:
            return ""
        if not self.notes:
            return f"<table>{''.join([f'{value.row}{value.stated}' for value in node.values])}</table>"
        notes = [self.notes.get((node, value.name)) for value in node.values]
        rows = [
            f"{value.row}<tr class=src><td colspan=3>{note.source_line}" if note else value.row
            for value, note in zip(node.values, notes, strict=True)
        ]
        return f"<table>{''.join(rows)}</table>"


def has_tree(info: EvalInfo, result: Result) -> bool:
    """Whether there are paired list items, or a source to show; otherwise the report already shows everything."""
    return any(alignment.pairs for alignment in result.alignments) or bool(info.source and result.judgements)


def tree_page(info: EvalInfo, snapshot: Snapshot, result: Result) -> Page:
    """The page for one output."""
    view = TreeView(
        info=info,
        snapshot=snapshot,
        root=value_tree(result.judgements[:VALUES], result),
        report=links.file_name(links.report(info.id, snapshot.slug)),
        more=max(0, len(result.judgements) - VALUES),
    )
    return Page(links.report_tree(info.id, snapshot.slug), "pages/tree.html", view)
