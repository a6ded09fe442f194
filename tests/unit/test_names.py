"""A name of a class means one thing in all of ``sitegen/``, so that a search for it finds one definition."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "sitegen"


def test_every_class_has_a_name_of_its_own():
    places = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{file.relative_to(PACKAGE)}:{node.lineno}")
    assert len(places) > 100
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_values_with_more_than_three_fields_are_built_by_keyword():
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(PACKAGE.rglob("*.py"))}
    classes = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    values = {node.name for node in classes if _is_value(node)}
    positional = [
        f"{file.relative_to(PACKAGE)}:{call.lineno} {call.func.id}"
        for file, tree in trees.items()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in values
        if len(call.args) > 3 and not any(isinstance(argument, ast.Starred) for argument in call.args)
    ]
    assert len(values) > 100
    assert positional == []


VAGUE = {
    *("came", "made", "said", "told", "one", "each", "some", "found", "brought", "taken", "wanted", "known", "given"),
    *("kept", "shown", "what", "things"),
}
WRITTEN_KEYS = {("scoring/results_file.py", "what"), ("scoring/highlights/document.py", "found")}
"""Keys of files that programs read, whose names cannot change within a major version."""


def test_no_function_parameter_or_variable_has_a_name_that_says_nothing():
    names = {
        (file.relative_to(PACKAGE).as_posix(), name)
        for file in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for name in _named_by(node)
    }
    assert len(names) > 1000
    assert {(file, name) for file, name in names if name.strip("_") in VAGUE} == WRITTEN_KEYS


def _named_by(node: ast.AST) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
            return [name]
        case _:
            return []


def _is_value(node: ast.ClassDef) -> bool:
    return any("NamedTuple" in ast.unparse(base) for base in node.bases) or any(
        "dataclass" in ast.unparse(decorator) for decorator in node.decorator_list
    )
