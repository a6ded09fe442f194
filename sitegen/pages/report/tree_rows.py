"""HTML of the tree of ground truth and output, written by f-strings as the tables of a report are."""

from __future__ import annotations

from markupsafe import Markup

from sitegen.html.cells import text, value_cell
from sitegen.html.values import shown_pair
from sitegen.model.metrics import Nouns
from sitegen.model.outcomes import Judgement
from sitegen.pages.labels import ERROR_LABELS
from sitegen.pages.report.tree import TreeNode


def tree(root: TreeNode, nouns: Nouns) -> Markup:
    """The values of the root, then a part that folds for each node below it, open where something is wrong."""
    return Markup(f"{_values(root)}{''.join([_node(node, nouns) for node in root.nodes.values()])}")


def _node(node: TreeNode, nouns: Nouns) -> str:
    is_open = " open" if node.errors and not node.whole else ""
    below = "".join([_node(child, nouns) for child in node.nodes.values()])
    return (
        f"<details{is_open}><summary><b>{text(node.name)}</b>{_pairing(node)} {_state(node, nouns)}</summary>"
        f"{_values(node)}{below}</details>\n"
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
    """Which item of the output a list item was compared with, where that is not the one at the same place."""
    pair = node.pair
    if pair is None or (pair.expected == pair.actual and pair.paired_by != "agreement"):
        return ""
    return f" <small>[{pair.expected}], in the output [{pair.actual}], paired by {pair.paired_by}</small>"


def _values(node: TreeNode) -> str:
    if not node.values:
        return ""
    return f"<table>{''.join([_value_row(name, judgement) for name, judgement in node.values])}</table>"


def _value_row(name: str, judgement: Judgement) -> str:
    expected, actual = shown_pair(judgement)
    kind = judgement.outcome
    label = ERROR_LABELS.get(kind)  # type: ignore[arg-type]
    mark = f"<span class=vh> {label}</span>" if label else ""
    wrong = " class=w" if label else ""
    if kind == "true_negative":
        return f"<tr><th scope=row>{text(name)}<td><i>blank</i><td><i>blank</i>"
    return f"<tr{wrong}><th scope=row>{text(name)}{mark}{value_cell(expected)}{value_cell(actual)}"
