"""What a reader of sitegen has to hold in the head, counted. A number may fall; one that rises needs a decision record.

``python -m tests.unit.test_budgets`` prints the counts.
"""

import ast
import collections
import functools
import re
from pathlib import Path
from typing import Final

TOP = Path(__file__).parents[2]

REACHED: Final = {
    "lines of sitegen/": 62_953,
    "modules of sitegen/": 284,
    "classes": 496,
    "classes in pages/": 70,
    "fields of classes": 2_199,
    "functions": 3_430,
    "parameters": 4_923,
    "functions with more than 6 parameters": 1,
    "private functions of at most 6 lines used once": 28,
    "kinds of kept values": 10,
    "modules that write rows as f-strings": 4,
    "public constants named in one module only": 6,
    "lines of templates, styles and scripts": 8_187,
    "template lines over 160 characters": 0,
    "lines of tests": 39_889,
    "patches of attributes in tests": 44,
    "constructions with over 3 positional values in tests": 8,
}
"""The most that there may be of each, which is what there was when it was last lowered."""

ROW = re.compile(r"""f?["']<t[rdh]\b""")
"""A string that begins a row or a cell of a table."""

Trees = dict[Path, ast.Module]


def counts() -> dict[str, int]:
    package, tests = parsed("sitegen"), parsed("tests")
    return {**_of_package(package, tests), **_of_templates(TOP / "site_templates"), **_of_tests(tests)}


@functools.cache
def parsed(folder: str) -> Trees:
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted((TOP / folder).rglob("*.py"))}


def _of_package(trees: Trees, tests: Trees) -> dict[str, int]:
    nodes = _nodes(trees)
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    of_pages = _nodes({file: tree for file, tree in trees.items() if "pages" in file.relative_to(TOP).parts})
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    parameters = [_parameters(node) for node in functions]
    texts = [file.read_text(encoding="utf-8") for file in trees]
    words = collections.Counter(word for text in texts for word in re.findall(r"\w+", text))
    return {
        "lines of sitegen/": lines_in(trees),
        "modules of sitegen/": len(trees),
        "classes": len(classes),
        "classes in pages/": sum(isinstance(node, ast.ClassDef) for node in of_pages),
        "fields of classes": sum(isinstance(item, ast.AnnAssign) for node in classes for item in node.body),
        "functions": len(functions),
        "parameters": sum(parameters),
        "functions with more than 6 parameters": sum(number > 6 for number in parameters),
        "private functions of at most 6 lines used once": sum(
            _is_private(node.name) and _length(node) <= 6 and words[node.name] == 2 for node in functions
        ),
        "kinds of kept values": sum(map(_declares_kept_values, nodes)),
        "modules that write rows as f-strings": sum(len(ROW.findall(text)) >= 3 for text in texts),
        "public constants named in one module only": constants_named_once(trees, tests),
    }


def _of_templates(folder: Path) -> dict[str, int]:
    files = [file for file in sorted(folder.rglob("*")) if file.suffix in (".html", ".css", ".js", ".xml")]
    html = [file for file in files if file.suffix == ".html"]
    return {
        "lines of templates, styles and scripts": lines_in(files),
        "template lines over 160 characters": sum(
            len(line) > 160 for file in html for line in file.read_text(encoding="utf-8").splitlines()
        ),
    }


def _of_tests(trees: Trees) -> dict[str, int]:
    calls = [node for node in _nodes(trees) if isinstance(node, ast.Call)]
    return {
        "lines of tests": lines_in(trees),
        "patches of attributes in tests": sum(
            isinstance(call.func, ast.Attribute) and call.func.attr == "setattr" for call in calls
        ),
        "constructions with over 3 positional values in tests": sum(
            bool(re.match("[A-Z][a-z]", ast.unparse(call.func))) and isinstance(call.func, ast.Name)
            for call in calls
            if len(call.args) > 3
        ),
    }


def _nodes(trees: Trees) -> list[ast.AST]:
    return [node for tree in trees.values() for node in ast.walk(tree)]


def lines_in(files: Trees | list[Path]) -> int:
    return sum(file.read_text(encoding="utf-8").count("\n") for file in files)


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return sum(argument.arg not in ("self", "cls") for argument in every)


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _declares_kept_values(node: ast.AST) -> bool:
    if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Call):
        return False
    return ast.unparse(node.value.func).partition("[")[0] == "CachedKind"


def constants_named_once(trees: Trees, tests: Trees) -> int:
    """Public constants that are named in no other module, and in no test."""
    users: dict[str, int] = collections.Counter()
    for file in trees:
        users.update(set(re.findall(r"\b[A-Z][A-Z_]{2,}\b", file.read_text(encoding="utf-8"))))
    tested = {word for file in tests for word in re.findall(r"\w+", file.read_text(encoding="utf-8"))}
    constants = {
        node.target.id
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        if re.fullmatch("[A-Z][A-Z0-9_]+", node.target.id)
    }
    return sum(users[name] == 1 and name not in tested for name in constants)


def test_there_is_no_more_than_was_reached() -> None:
    counted = counts()
    assert {what: number for what, number in counted.items() if number > REACHED[what]} == {}
    assert counted.keys() == REACHED.keys()
    assert counted["classes"] > counted["classes in pages/"] > 0
    assert counted["functions"] > counted["private functions of at most 6 lines used once"] > 0


def test_values_with_more_than_three_fields_are_built_by_keyword() -> None:
    """So that every argument says what it is."""
    classes = [node for node in _nodes(parsed("sitegen")) if isinstance(node, ast.ClassDef)]
    values = {"NamedTuple", "Frozen", "FrozenObject"}
    while more := {node.name for node in classes if _extends(node, values)} - values:
        values |= more
    positional = [
        f"{file.relative_to(TOP)}:{call.lineno} {ast.unparse(call)}"
        for file, tree in parsed("sitegen").items()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and len(call.args) > 1
        if len(call.args) > 3 or any(isinstance(item, ast.Starred) for item in call.args)
        if ast.unparse(call.func).rpartition(".")[2] in values
    ]
    assert len(values) > 300
    assert positional == []


def _extends(node: ast.ClassDef, values: set[str]) -> bool:
    """Whether a class is a value: it extends one, or is a dataclass."""
    bases = {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}
    return bool(bases & values) or any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)


if __name__ == "__main__":
    for what, number in counts().items():
        print(f"{what:55} {number:7,} of {REACHED[what]:7,}")
