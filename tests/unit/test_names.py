"""Values with more than three fields are built by keyword, so that every argument says what it is."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "sitegen"


def test_values_with_more_than_three_fields_are_built_by_keyword():
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(PACKAGE.rglob("*.py"))}
    classes = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    values = {"NamedTuple", "Frozen", "FrozenObject"}
    while more := {node.name for node in classes if _extends(node, values)} - values:
        values |= more
    positional = [
        f"{file.relative_to(PACKAGE)}:{call.lineno} {ast.unparse(call)}"
        for file, tree in trees.items()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in values
        if len(call.args) > 3 or (len(call.args) > 1 and any(isinstance(item, ast.Starred) for item in call.args))
    ]
    assert len(values) > 300
    assert positional == []


def _extends(node: ast.ClassDef, values: set[str]) -> bool:
    """Whether a class is a value: it extends one, or is a dataclass."""
    bases = {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}
    return bool(bases & values) or any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)
