"""HTML of the tree of ground truth and output, written by f-strings as the tables of a report are."""

from __future__ import annotations

from markupsafe import Markup

from sitegen.html.cells import LONGEST, text, value_cells
from sitegen.html.formats import bounded
from sitegen.model.metrics import Nouns
from sitegen.model.outcomes import Judgement
from sitegen.pages.labels import ERROR_LABELS
from sitegen.pages.report.tree import NotedValue, SourceNote, TreeNode, TreeView


def tree(view: TreeView) -> Markup:
    """The values of the root, then a part that folds for each node below it, open where it has errors or doubts."""
    return Markup(f"{_values(view.root, view)}{''.join([_node(node, view) for node in view.root.nodes.values()])}")


def _node(node: TreeNode, view: TreeView) -> str:
    is_open = " open" if (node.errors and not node.whole) or node in view.doubtful else ""
    below = "".join([_node(child, view) for child in node.nodes.values()])
    source = f'<p class="src">{source_line(note)}</p>' if (note := view.notes.get(NotedValue(node))) else ""
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
    rows = [_value_row(name, judgement) for name, judgement in node.values]
    if view.notes:
        notes = [view.notes.get(NotedValue(node, name)) for name, _ in node.values]
        rows = [row + _source_row(note) if note else row for row, note in zip(rows, notes, strict=True)]
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
    return f"<small>Source{page}</small>{quote}{remark}"


def _value_row(name: str, judgement: Judgement) -> str:
    kind = judgement.outcome
    if kind == "true_negative":
        return f"<tr><th scope=row>{text(name)}<td><i>blank</i><td><i>blank</i>"
    if kind == "correct":
        return f"<tr><th scope=row>{text(name)}{value_cells(judgement)}"
    return f"<tr class=w><th scope=row>{text(name)}<span class=vh> {ERROR_LABELS[kind]}</span>{value_cells(judgement)}"
