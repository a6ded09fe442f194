"""The page that shows ground truth and output side by side, as one tree with the items of lists paired as scored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from sitegen.frozen import Frozen
from sitegen.model.outcomes import EXTRA_ITEM, MISSING_ITEM, Judgement
from sitegen.model.scorecards import ItemPair, Result
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.text.quotes import QuotedPassage

VALUES: Final = 2_000
"""Values that the page shows."""

_STEP: Final = re.compile(r'\[\d+\]|\["(?:[^"\\]|\\.)*"\]|\.?[^.\[]+')
_DEEPEST: Final = 12
"""Levels of the tree; what lies deeper is named by its path."""
_CORRECT: Final = ("correct", "true_negative")
_WHOLE: Final = {EXTRA_ITEM: "extra", MISSING_ITEM: "missing"}


class TreePlace(Frozen):
    """Where a value stands in the tree."""

    nodes: tuple[str, ...]
    """Keys of the nodes above it, the outermost first; an extra item has another key than the expected item there."""
    name: str
    """Below the innermost node."""
    items: tuple[int, ...]
    """Which of the nodes are list items."""
    item_name: str
    """The name of the innermost of them."""
    whole: str
    """``missing`` or ``extra`` if only one side has that item."""


class TreeNode:
    """A document, an object or a list item, with what lies below it. It is filled while the values are read."""

    def __init__(self, name: str) -> None:
        """A node without values yet."""
        self.name = name
        self.values: list[tuple[str, Judgement]] = []
        """(name below this node, the value) of what is no object and no list of objects."""
        self.nodes: dict[str, TreeNode] = {}
        self.pair: ItemPair | None = None
        """With which item of the output a list item was paired."""
        self.errors = 0
        """Of all values below."""
        self.judged = 0
        self.whole = ""
        """``missing`` or ``extra`` for a list item that only one side has."""

    def count(self) -> None:
        """Count the values, once all of them are there."""
        for node in self.nodes.values():
            node.count()
        below = self.nodes.values()
        self.judged = len(self.values) + sum(node.judged for node in below)
        wrong = sum(judgement.outcome not in _CORRECT for _, judgement in self.values)
        self.errors = wrong + sum(node.errors for node in below)


class SourcePicture(Frozen):
    """A page of the source, as the page shows it."""

    anchor: str
    title: str
    """``Page 3``, with the document where there are several."""
    address: str
    """Relative to the page."""
    width: int
    height: int


class SourceNote(Frozen):
    """Where the output says that a value stands in the source, and whether it does."""

    page: int | None
    quote: str
    """Empty: none is given, or the passage has it."""
    passage: QuotedPassage | None
    """The quote as it stands in the source."""
    anchor: str
    """Of the picture; empty without one."""
    remark: str
    """In words what is wrong with page or quote, or why the page is not shown; empty: nothing."""
    is_doubtful: bool = False
    """Whether the remark is a hint at a hallucination."""


class NotedValue(Frozen):
    """A value that the output gives a place in the source for."""

    node: TreeNode
    name: str = ""
    """Below the node; empty: the node itself."""


class TreeView(Frozen):
    """What ``pages/tree.html`` shows."""

    info: EvalInfo
    snapshot: Snapshot
    root: TreeNode
    report: str
    """Address of the report, relative to this page."""
    more: int
    """Values that are left out."""
    notes: Mapping[NotedValue, SourceNote] = MappingProxyType({})
    doubtful: frozenset[TreeNode] = frozenset()
    """The nodes with a doubtful note, their own or below."""
    pictures: tuple[SourcePicture, ...] = ()
    """The pages of the source that notes refer to."""
    nav: str = "evals"


def has_tree(info: EvalInfo, result: Result) -> bool:
    """Whether lists had items to pair, or the source can be shown; of others the report shows all there is to see."""
    return any(alignment.pairs for alignment in result.alignments) or bool(info.source and result.judgements)


def tree_page(info: EvalInfo, snapshot: Snapshot, result: Result) -> Page:
    """The page for one output."""
    view = TreeView(
        info=info,
        snapshot=snapshot,
        root=value_tree(result.judgements[:VALUES], result),
        report=links.report(info.id, snapshot.slug).rpartition("/")[2],
        more=max(0, len(result.judgements) - VALUES),
    )
    return Page(links.report_tree(info.id, snapshot.slug), "pages/tree.html", view)


def value_tree(judgements: Iterable[Judgement], result: Result) -> TreeNode:
    """All values by their paths. With several documents, each is a node of its own."""
    pairs = {
        (alignment.document, f"{alignment.path}[{pair.expected}]"): pair
        for alignment in result.alignments
        for pair in alignment.pairs
    }
    several = len(result.scorecard.documents) > 1
    root = TreeNode("")
    nodes: dict[tuple[str, ...], TreeNode] = {(): root}
    for judgement in judgements:
        note = judgement.note if judgement.note in _WHOLE else ""
        place = _tree_place(judgement.path, judgement.label, note)
        above: tuple[str, ...] = (judgement.document,) if several else ()
        way = (*above, *place.nodes)
        node = nodes.get(way)
        if node is None:
            if above not in nodes:
                nodes[above] = root.nodes[judgement.document] = TreeNode(judgement.document or "—")
            node = _add_nodes(nodes, above, place, judgement, pairs)
        if place.items:
            item = node if len(place.nodes) == place.items[-1] + 1 else nodes[way[: len(above) + place.items[-1] + 1]]
            item.name = place.item_name
            item.whole = place.whole or item.whole
        node.values.append((place.name, judgement))
    root.count()
    return root


def _add_nodes(
    nodes: dict[tuple[str, ...], TreeNode],
    above: tuple[str, ...],
    place: TreePlace,
    judgement: Judgement,
    pairs: Mapping[tuple[str, str], ItemPair],
) -> TreeNode:
    """The innermost node above a value; those that are not there yet are added."""
    node, path = nodes[above], ""
    for depth, key in enumerate(place.nodes):
        step = key[:-1] if place.whole == "extra" and depth == place.items[-1] else key
        path += step
        way = (*above, *place.nodes[: depth + 1])
        if way not in nodes:
            name = _name(judgement.path, judgement.label, path) if depth in place.items else step.removeprefix(".")
            nodes[way] = node.nodes[key] = TreeNode(name)
            nodes[way].pair = None if key != step else pairs.get((judgement.document, path))
        node = nodes[way]
    return node


@lru_cache(maxsize=8192)
def _tree_place(path: str, label: str, note: str) -> TreePlace:
    """The place of a value. Cached, because the next output has most values at the same places."""
    steps = _STEP.findall(path)[:_DEEPEST][:-1]
    items = tuple(depth for depth, step in enumerate(steps) if step[1:-1].isdigit())
    inside = len("".join(steps))
    item = "".join(steps[: items[-1] + 1]) if items else ""
    if items and note == EXTRA_ITEM:
        steps[items[-1]] += "+"
    return TreePlace(
        nodes=tuple(steps),
        name=path[inside:].removeprefix("."),
        items=items,
        item_name=_name(path, label, item),
        whole=_WHOLE.get(note, "") if items else "",
    )


def _name(path: str, label: str, above: str) -> str:
    """The path ``above`` with list items by their names, where the rest of the path has none."""
    rest = path[len(above) :]
    return label.removesuffix(rest) if label.endswith(rest) else above
