"""The page that shows ground truth and output side by side, as one tree with list items paired as in scoring.

The HTML of the tree is written by f-strings, as the tables of a report are.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from markupsafe import Markup

from sitegen.model.frozen import Frozen
from sitegen.model.metrics import Nouns
from sitegen.model.named_tuple import NamedTuple
from sitegen.model.scorecards import Result
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.pages.html.cells import LONGEST, text
from sitegen.pages.html.formats import bounded
from sitegen.pages.report.value_tree import TreeNode, value_tree
from sitegen.text.words import QuotedPassage

VALUES: Final = 2_000
"""Largest number of values on the page."""


class SourceNote(Frozen):
    """The place of a value in the source according to the output, and the result of its check."""

    page: int | None
    quote: str
    """The quote; empty if there is none, or if ``passage`` contains it."""
    passage: QuotedPassage | None
    """The quote in the text of the source."""
    anchor: str
    """Anchor of the picture; empty without a picture."""
    remark: str
    """The problem with page or quote, or why the page is not shown, in words; empty without a problem."""
    is_doubtful: bool = False
    """Whether the remark is a hint at a hallucination."""
    confidence: str = ""
    """As the output states it; empty if it states none."""


class PagePicture(NamedTuple):
    """A picture of a page of the source."""

    path: str
    """Address in the site."""
    oid: str
    """Id of its blob."""
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
    """Number of values that are left out."""
    notes: Mapping[tuple[TreeNode, str], SourceNote] = MappingProxyType({})
    """By node and name of a value below the node; the name is empty for the node itself."""
    doubtful: frozenset[TreeNode] = frozenset()
    """The nodes with a doubtful note at the node or below it."""
    pictures: tuple[tuple[str, PagePicture], ...] = ()
    """The pages of the source that notes refer to, each after its title; notes refer to the first as ``page-1``."""

    @property
    def tree_rows(self) -> Markup:
        """The values of the root, then a part that folds for each node below it, open where it has errors or doubts."""
        return Markup(f"{_values(self.root, self)}{''.join([_node(node, self) for node in self.root.nodes.values()])}")


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


def _node(node: TreeNode, view: TreeView) -> str:
    is_open = " open" if (node.errors and not node.whole) or node in view.doubtful else ""
    below = "".join([_node(child, view) for child in node.nodes.values()])
    source = f'<p class="src">{source_line(note)}</p>' if (note := view.notes.get((node, ""))) else ""
    return (
        f"<details{is_open}><summary><b>{text(node.name)}</b>{_pairing(node)} {_state(node, view.info.nouns)}</summary>"
        f"{source}{_values(node, view)}{below}</details>\n"
    )


def _state(node: TreeNode, nouns: Nouns) -> str:
    if node.whole:
        words = "missing from the output" if node.whole == "missing" else "only in the output"
        return f'<span class="pill bad">{words}</span>'
    if node.errors:
        return f'<span class="pill bad">{node.errors:,} of {node.judged:,} wrong</span>'
    noun = nouns.attribute if node.judged == 1 else nouns.attributes
    return f"<small>{node.judged:,} {text(noun)}, all right</small>"


def _pairing(node: TreeNode) -> str:
    """The item of the output with which a list item was compared, if it is not at the same index."""
    pair = node.pair
    if pair is None or (pair.expected == pair.actual and pair.paired_by != "agreement"):
        return ""
    return f" <small>[{pair.expected}], in the output [{pair.actual}], paired by {pair.paired_by}</small>"


def _values(node: TreeNode, view: TreeView) -> str:
    if not node.values:
        return ""
    if not view.notes:
        return f"<table>{''.join([f'{value.row}{value.stated}' for value in node.values])}</table>"
    notes = [view.notes.get((node, value.name)) for value in node.values]
    rows = [
        f"{value.row}{_source_row(note)}" if note else value.row for value, note in zip(node.values, notes, strict=True)
    ]
    return f"<table>{''.join(rows)}</table>"


def _source_row(note: SourceNote) -> str:
    return f"<tr class=src><td colspan=3>{source_line(note)}"


def source_line(note: SourceNote) -> str:
    """Page and quote of a value, with the words around the quote if the source is a text."""
    page = "" if note.page is None else f" p. {note.page}"
    if note.anchor:
        page = f' <a href="#{note.anchor}">{page.strip() or "page"}</a>'
    quote = ""
    if note.passage:
        before, inside, after = map(bounded, note.passage)
        quote = f" {before}<mark>{inside}</mark>{after}"
    elif note.quote:
        quote = f" <q>{bounded(note.quote, LONGEST)}</q>"
    remark = (
        f' <span class="pill{" bad" if note.is_doubtful else ""}">{text(note.remark)}</span>' if note.remark else ""
    )
    confidence = f" <small>confidence {text(note.confidence)}</small>" if note.confidence else ""
    source = f"<small>Source{page}</small>{quote}" if page or quote else ""
    return f"{source}{confidence}{remark}"
