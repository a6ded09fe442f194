"""The page that shows ground truth and output side by side, as one tree with the items of lists paired as scored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

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


class SourcePicture(NamedTuple):
    """A page of the source, as the page shows it."""

    anchor: str
    title: str
    """``Page 3``, with the document where there are several."""
    address: str
    """Relative to the page."""
    width: int
    height: int


class SourceNote(NamedTuple):
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


class TreeView(NamedTuple):
    """What ``pages/tree.html`` shows."""

    info: EvalInfo
    snapshot: Snapshot
    root: TreeNode
    report: str
    """Address of the report, relative to this page."""
    more: int
    """Values that are left out."""
    notes: Mapping[tuple[TreeNode, str], SourceNote] = MappingProxyType({})
    """By node and name of a value below it; an empty name: of the node itself."""
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
    for judgement in judgements:
        wrong = judgement.outcome not in _CORRECT
        node = root
        way = [root]
        if several:
            node = root.nodes.setdefault(judgement.document, TreeNode(judgement.document or "—"))
            way.append(node)
        steps = _STEP.findall(judgement.path)[:_DEEPEST]
        items = [depth for depth, step in enumerate(steps[:-1]) if step[1:-1].isdigit()]
        path = ""
        for depth, step in enumerate(steps[:-1]):
            path += step
            extra = judgement.note == EXTRA_ITEM and items[-1:] == [depth]
            key = f"{step}+" if extra else step
            if key not in node.nodes:
                node.nodes[key] = TreeNode(_name(judgement, path) if depth in items else step.removeprefix("."))
                node.nodes[key].pair = None if extra else pairs.get((judgement.document, path))
            node = node.nodes[key]
            way.append(node)
            if items[-1:] == [depth]:
                node.name = _name(judgement, path)
                if extra or judgement.note == MISSING_ITEM:
                    node.whole = "extra" if extra else "missing"
        node.values.append((judgement.path[len(path) :].removeprefix("."), judgement))
        for above in way:
            above.judged += 1
            above.errors += wrong
    return root


def _name(judgement: Judgement, path: str) -> str:
    """The path with list items by their names, where the rest of the path has none."""
    rest = judgement.path[len(path) :]
    return judgement.label.removesuffix(rest) if judgement.label.endswith(rest) else path
